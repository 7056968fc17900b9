#include "app/io/git/exchange.hpp"

#include "app/io/git/discovery.hpp"
#include "libsync/git/http_outcome.hpp"

#include <algorithm>
#include <utility>

namespace purgatory::io {

namespace {

/// Leads the pack out of the reply and into the child.
class reply_body final : public http_body {
public:
  reply_body(git::upload_pack_version version, index_pack& pack,
             const std::function<void()>& on_pack)
    : reader_(version, [this, &pack, &on_pack](std::string_view bytes) {
        if (!std::exchange(begun_, true))
          on_pack();
        return pack.write(bytes);
      }) {}

  bool take(std::string_view bytes) override { return reader_.feed(bytes); }
  bool has_begun() const override { return reader_.pack_bytes() > 0; }

  git::upload_pack_reader& reader() { return reader_; }

private:
  bool begun_ = false;
  git::upload_pack_reader reader_;
};

bool names_a_want(const std::optional<oid>& id, std::span<const oid> wants) {
  return id && std::find(wants.begin(), wants.end(), *id) != wants.end();
}

/// The class of a reply that came whole but brought no pack to judge.
fetch_class to_class(git::reply_state state) {
  switch (state) {
  case git::reply_state::not_our_ref: // …of something never asked for.
  case git::reply_state::error:
    return fetch_class::server;
  case git::reply_state::oversize:
    return fetch_class::oversize;
  case git::reply_state::not_v2:
  case git::reply_state::shallow:
  case git::reply_state::malformed:
    return fetch_class::corrupt;
  default:
    return fetch_class::internal;
  }
}

} // namespace

exchange_result exchange(curl_session& http, const fetch_settings& settings,
                         const exchange_order& order, const job_guard& guard,
                         const fetch_watch& watch) {
  const bool v2 = order.version == git::upload_pack_version::v2;
  const auto request = git::upload_pack_request(
    order.version, order.wants, order.haves, settings.user_agent);
  index_pack pack{settings, order.repository, order.into, guard};
  reply_body body{order.version, pack, watch.first_pack_byte};
  auto& reader = body.reader();
  http_request post{service_url(order.base, "/git-upload-pack", {}),
                    {"Content-Type: application/x-git-upload-pack-request",
                     "Accept: application/x-git-upload-pack-result"},
                    &request};
  if (v2)
    post.headers.emplace_back("Git-Protocol: version=2");
  const auto reply = http.perform(post, body, guard, watch.first_send);

  exchange_result result;
  result.bytes = reply.bytes;
  result.sent = reply.sent;
  result.retry_after = reply.retry_after;
  result.peer = reply.peer;
  result.detail = reply.detail;
  result.outcome = reply.outcome;
  if (guard.cancel.load()) {
    result.outcome = fetch_class::internal;
    return result;
  }
  // A pack that is whole counts, even if the connection then dragged on.
  if (reader.state() != git::reply_state::complete) {
    if (reply.outcome != fetch_class::ok) {
      result.ask_v0 = v2 && git::refuses_protocol(reply.status);
      return result;
    }
    reader.finish();
    result.detail += " " + reader.error_text();
    if (names_a_want(reader.missing(), order.wants)) {
      result.outcome = fetch_class::not_here;
      result.missing = reader.missing();
      return result;
    }
    result.v0_only = reader.state() == git::reply_state::not_v2;
    result.ask_v0 = result.v0_only
                    || (v2 && reader.state() == git::reply_state::error
                        && reader.pack_bytes() == 0);
    if (reader.state() != git::reply_state::stopped) {
      result.outcome = to_class(reader.state());
      return result;
    }
  }
  result.outcome = pack.finish();
  if (result.outcome != fetch_class::ok)
    result.detail = "index-pack: " + pack.detail();
  return result;
}

} // namespace purgatory::io
