#include "app/io/git/curl_outcome.hpp"

#include <curl/curl.h>

namespace purgatory::io {

namespace {

fetch_class late(git::transfer_phase phase) {
  switch (phase) {
  case git::transfer_phase::resolving:
    return fetch_class::dns;
  case git::transfer_phase::connecting:
    return fetch_class::refused;
  case git::transfer_phase::securing:
    return fetch_class::tls;
  default:
    return fetch_class::timeout;
  }
}

} // namespace

fetch_class curl_outcome(int code, git::transfer_phase phase,
                         bool address_refused) {
  if (address_refused && phase <= git::transfer_phase::connecting)
    return fetch_class::policy;
  switch (static_cast<CURLcode>(code)) {
  case CURLE_COULDNT_RESOLVE_HOST:
    return fetch_class::dns;
  case CURLE_COULDNT_CONNECT:
    return fetch_class::refused;
  case CURLE_OPERATION_TIMEDOUT:
    return late(phase);

  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CERTPROBLEM:
  case CURLE_SSL_CIPHER:
  case CURLE_SSL_ISSUER_ERROR:
  case CURLE_SSL_INVALIDCERTSTATUS:
  case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
  case CURLE_SSL_CLIENTCERT:
  case CURLE_USE_SSL_FAILED:
    return fetch_class::tls;

  // A connection that breaks off may be whole the next time: not the pack's
  // fault.
  case CURLE_GOT_NOTHING:
  case CURLE_SEND_ERROR:
  case CURLE_RECV_ERROR:
  case CURLE_PARTIAL_FILE:
  case CURLE_HTTP2:
  case CURLE_HTTP2_STREAM:
  case CURLE_SSL_SHUTDOWN_FAILED:
  case CURLE_AGAIN:
    // A handshake cut short is a failed handshake.
    return phase == git::transfer_phase::securing ? fetch_class::tls
                                                  : fetch_class::server;

  // Answers, but not in HTTP as we know it.
  case CURLE_UNSUPPORTED_PROTOCOL: // Also: HTTP/0.9.
  case CURLE_WEIRD_SERVER_REPLY:
    return fetch_class::unsupported;

  case CURLE_URL_MALFORMAT:
  case CURLE_TOO_MANY_REDIRECTS:
  case CURLE_REMOTE_ACCESS_DENIED:
    return fetch_class::policy;
  case CURLE_BAD_CONTENT_ENCODING:
    return fetch_class::corrupt;
  case CURLE_FILESIZE_EXCEEDED:
    return fetch_class::oversize;
  case CURLE_LOGIN_DENIED:
  case CURLE_AUTH_ERROR:
    return fetch_class::auth;
  default:
    // Memory, our proxy, our certificate store, our callbacks, or a code of
    // a protocol that is switched off.
    return fetch_class::internal;
  }
}

} // namespace purgatory::io
