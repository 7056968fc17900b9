#include "libsync/git/http_outcome.hpp"

namespace purgatory::git {

fetch_class http_outcome(int status, bool has_retry_after) {
  switch (status) {
  case 200:
    return fetch_class::ok;
  case 401:
  case 403:
    return fetch_class::auth;
  case 404:
  case 410:
    return fetch_class::no_repo;
  case 408:
    return fetch_class::timeout;
  case 429:
    return fetch_class::limited;
  case 503:
    return has_retry_after ? fetch_class::limited : fetch_class::server;
  default:
    break;
  }
  if (status >= 300 && status < 400)
    return fetch_class::policy;
  if (status >= 500 && status < 600)
    return fetch_class::server;
  // Other answers are those of a server that is no git server.
  return fetch_class::unsupported;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307
         || status == 308;
}

bool refuses_protocol(int status) {
  return status == 400 || status == 405 || status == 406 || status == 415
         || status == 501;
}

} // namespace purgatory::git
