#include "libsync/git/advertisement.hpp"

#include <algorithm>

namespace purgatory::git {

namespace {

constexpr std::string_view service_line = "# service=git-upload-pack";
constexpr std::size_t max_error_text = 256;

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_sha1(std::string_view id) {
  return id.size() == 40 && is_hex(id);
}

bool is_zero(std::string_view id) {
  return id.find_first_not_of('0') == std::string_view::npos;
}

} // namespace

bool advertisement_reader::feed(std::string_view chunk) {
  while (kind_ == advertisement_kind::reading && !chunk.empty()) {
    const auto before = chunk.size();
    const auto packet = packets_.next(chunk);
    bytes_ += before - chunk.size();
    if (bytes_ > limits_.max_bytes)
      end(advertisement_kind::oversize);
    else if (packet)
      on_pkt(*packet);
    else if (packets_.malformed())
      end(step_ == step::service ? advertisement_kind::not_smart
                                 : advertisement_kind::malformed);
  }
  // What follows a whole list is skipped, so that the connection stays usable.
  bytes_ += chunk.size();
  if (bytes_ > limits_.max_bytes)
    end(advertisement_kind::oversize);
  return kind_ == advertisement_kind::reading || is_usable();
}

bool advertisement_reader::is_usable() const {
  return kind_ == advertisement_kind::refs
         || kind_ == advertisement_kind::version2;
}

void advertisement_reader::finish() {
  if (kind_ != advertisement_kind::reading)
    return;
  // An empty body or a few bytes of text are no git at all; a list that
  // stops half way is.
  end(step_ == step::service ? advertisement_kind::not_smart
                             : advertisement_kind::malformed);
}

bool advertisement_reader::has_capability(std::string_view name) const {
  return capabilities_.contains(name);
}

void advertisement_reader::end(advertisement_kind kind) {
  kind_ = kind;
}

void advertisement_reader::on_pkt(const pkt& packet) {
  if (packet.kind == pkt_kind::data && packet.payload.starts_with("ERR ")) {
    error_text_ = without_newline(packet.payload.substr(4, max_error_text));
    end(advertisement_kind::error);
    return;
  }
  if (step_ == step::service) {
    on_service(packet);
    return;
  }
  if (step_ == step::after_service) {
    step_ = step::refs;
    if (packet.kind == pkt_kind::flush)
      return;
  }
  if (packet.kind == pkt_kind::data)
    on_ref(without_newline(packet.payload));
  else if (packet.kind != pkt_kind::flush)
    end(advertisement_kind::malformed);
  else if (capabilities_.contains("version 2"))
    end(advertisement_kind::version2);
  else if (!has_capability("side-band-64k"))
    end(advertisement_kind::no_sideband);
  else
    end(advertisement_kind::refs);
}

void advertisement_reader::on_service(const pkt& packet) {
  if (packet.kind != pkt_kind::data)
    end(advertisement_kind::not_smart);
  else if (without_newline(packet.payload) == service_line)
    step_ = step::after_service;
  else if (without_newline(packet.payload) == "version 2") {
    // v2 allows the service line to be left out.
    step_ = step::refs;
    on_ref("version 2");
  } else
    end(advertisement_kind::not_smart);
}

void advertisement_reader::on_ref(std::string_view line) {
  if (++lines_ > limits_.max_refs) {
    end(advertisement_kind::oversize);
    return;
  }
  if (line == "version 1")
    return;
  if (line == "version 2" || has_capability("version 2")) {
    if (line == "object-format=sha256")
      end(advertisement_kind::sha256);
    else
      capabilities_.emplace(line);
    return;
  }
  if (line.starts_with("shallow ")) {
    shallow_ = true;
    return;
  }
  if (first_ref_) {
    first_ref_ = false;
    const auto zero = line.find('\0');
    if (zero == std::string_view::npos) {
      end(advertisement_kind::no_sideband);
      return;
    }
    on_first_ref(line.substr(zero + 1));
    line = line.substr(0, zero);
  }
  if (kind_ != advertisement_kind::reading)
    return;
  const auto space = line.find(' ');
  if (space == 64 && is_hex(line.substr(0, 64)))
    end(advertisement_kind::sha256);
  else if (space == std::string_view::npos
           || !add_tip(line.substr(0, space), line.substr(space + 1)))
    end(advertisement_kind::malformed);
}

void advertisement_reader::on_first_ref(std::string_view capabilities) {
  while (!capabilities.empty()) {
    const auto word = capabilities.substr(0, capabilities.find(' '));
    if (word.starts_with("object-format=") && word != "object-format=sha1") {
      end(advertisement_kind::sha256);
      return;
    }
    if (!word.empty())
      capabilities_.emplace(word);
    capabilities.remove_prefix(std::min(word.size() + 1, capabilities.size()));
  }
}

bool advertisement_reader::add_tip(std::string_view id, std::string_view name) {
  if (!is_sha1(id) || name.empty())
    return false;
  // A repository without refs sends one line that only carries capabilities.
  if (is_zero(id))
    return name == "capabilities^{}";
  if (auto [at, fresh] = seen_.emplace(std::string{id}); fresh)
    tips_.push_back(*at);
  return true;
}

} // namespace purgatory::git
