#include "app/io/git/curl_session.hpp"

#include "app/io/git/curl_outcome.hpp"
#include "app/io/git/curl_transfer.hpp"
#include "libsync/git/http_outcome.hpp"

#include <curl/curl.h>

#include <chrono>
#include <csignal>
#include <new>
#include <stdexcept>

namespace purgatory::io {

namespace {

using std::chrono::steady_clock;

constexpr long receive_buffer = 128L * 1024;

struct list_deleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using header_list = std::unique_ptr<curl_slist, list_deleter>;

header_list make_headers(const http_request& request) {
  header_list headers;
  const auto add = [&headers](const std::string& line) {
    auto* const list = curl_slist_append(headers.get(), line.c_str());
    if (list == nullptr)
      throw std::bad_alloc{};
    (void)headers.release(); // `list` is the same list, now longer.
    headers.reset(list);
  };
  add("Expect:"); // Do not wait for a go-ahead before a small body.
  for (const auto& line : request.headers)
    add(line);
  return headers;
}

/// Dates are read against our own clock.
std::optional<std::chrono::seconds>
retry_after_of(const curl_transfer& transfer) {
  const auto& text = transfer.retry_after();
  if (!text)
    return std::nullopt;
  using std::chrono::system_clock;
  return git::parse_retry_after(*text,
                                system_clock::to_time_t(system_clock::now()));
}

long milliseconds(duration span) {
  return static_cast<long>(
    std::chrono::duration_cast<std::chrono::milliseconds>(span).count());
}

} // namespace

struct curl_session::handles {
  CURLM* multi = nullptr;
  CURL* easy = nullptr;

  handles() : multi(curl_multi_init()), easy(curl_easy_init()) {
    if (multi == nullptr || easy == nullptr)
      throw std::runtime_error("libcurl does not start");
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 4L);
  }
  handles(const handles&) = delete;
  handles& operator=(const handles&) = delete;
  ~handles() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }

  void set_options(const fetch_settings& settings, const http_request& request,
                   const curl_slist* headers) const;
  CURLcode run(curl_transfer& current, const job_guard& guard,
               std::optional<fetch_class>& stopped) const;
};

curl_session::curl_session(const fetch_settings& settings)
  : settings_(settings) {
  // Once for the process. A peer that closes early must be an error code, not
  // a signal: TLS libraries and our pipes write without MSG_NOSIGNAL.
  static const bool started = [] {
    std::signal(SIGPIPE, SIG_IGN);
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  }();
  if (!started)
    throw std::runtime_error("libcurl does not start");
  handles_ = std::make_unique<handles>();
}

curl_session::~curl_session() = default;

void curl_session::handles::set_options(const fetch_settings& settings,
                                        const http_request& request,
                                        const curl_slist* headers) const {
  const auto set = [this](CURLoption option, auto value) {
    curl_easy_setopt(easy, option, value);
  };
  curl_easy_reset(easy); // Options only; connections stay.
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L); // A stuck resolver must not hold up a cancel.
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Empty texts switch off what the environment says.
  set(CURLOPT_PROXY, settings.proxy.c_str());
  set(CURLOPT_NOPROXY, "");
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(CURLOPT_BUFFERSIZE, receive_buffer);
  // The watch is stricter; this only covers what it can't see.
  const auto& limits = settings.timeouts;
  set(CURLOPT_CONNECTTIMEOUT_MS,
      milliseconds(limits.dns + limits.connect + limits.tls
                   + std::chrono::seconds{1}));
  set(CURLOPT_HTTPHEADER, headers);
  auto agent = settings.user_agent;
  if (!settings.contact_url.empty())
    agent += " (+" + settings.contact_url + ")";
  set(CURLOPT_USERAGENT, agent.c_str()); // libcurl copies texts.
  if (request.body == nullptr) {
    set(CURLOPT_ACCEPT_ENCODING, "gzip");
    return;
  }
  set(CURLOPT_POST, 1L);
  set(CURLOPT_POSTFIELDS, request.body->data());
  set(CURLOPT_POSTFIELDSIZE_LARGE,
      static_cast<curl_off_t>(request.body->size()));
}

CURLcode curl_session::handles::run(curl_transfer& current,
                                    const job_guard& guard,
                                    std::optional<fetch_class>& stopped) const {
  if (curl_multi_add_handle(multi, easy) != CURLM_OK)
    return CURLE_FAILED_INIT;
  int running = 1;
  while (!stopped) {
    if (curl_multi_perform(multi, &running) != CURLM_OK)
      return CURLE_FAILED_INIT;
    if (running == 0)
      break;
    stopped = guard.broken();
    if (!stopped)
      stopped = current.check(steady_clock::now());
    if (!stopped)
      curl_multi_poll(multi, nullptr, 0,
                      static_cast<int>(job_guard::poll_interval.count()),
                      nullptr);
  }
  int left = 0;
  while (const auto* message = curl_multi_info_read(multi, &left))
    if (message->msg == CURLMSG_DONE)
      return message->data.result;
  return CURLE_OK;
}

http_reply curl_session::perform(const http_request& request, http_body& body,
                                 const job_guard& guard,
                                 const std::function<void()>& before_send) {
  auto* const easy = handles_->easy;
  const auto headers = make_headers(request);
  curl_transfer current{settings_, body, before_send, guard.deadline};
  handles_->set_options(settings_, request, headers.get());
  current.attach(easy);
  std::optional<fetch_class> stopped;
  const auto code = handles_->run(current, guard, stopped);

  http_reply reply;
  reply.status = current.status();
  reply.bytes = current.bytes();
  reply.sent = current.sent();
  const char* redirect = nullptr;
  curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &redirect);
  if (redirect != nullptr && git::is_redirect(reply.status))
    reply.redirect_to = redirect;
  const char* peer = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &peer);
  if (peer != nullptr && reply.sent && settings_.proxy.empty())
    reply.peer = peer;
  const auto phase = current.phase();
  curl_multi_remove_handle(handles_->multi, easy);

  const bool long_error_page = code == CURLE_WRITE_ERROR && reply.status != 200;
  if (stopped || current.failure()) {
    reply.outcome
      = current.failure().value_or(stopped.value_or(fetch_class::internal));
    reply.detail = "stopped";
  } else if (code == CURLE_OK || current.stopped_by_body() || long_error_page) {
    const auto wait = retry_after_of(current);
    reply.outcome = git::http_outcome(reply.status, wait.has_value());
    if (reply.outcome == fetch_class::limited)
      reply.retry_after = wait;
    reply.detail = "HTTP " + std::to_string(reply.status);
  } else {
    reply.outcome = curl_outcome(code, phase, current.only_refused_addresses());
    reply.detail = curl_easy_strerror(code);
  }
  return reply;
}

} // namespace purgatory::io
