#define CAF_SUITE log
#include "actors/log.hpp"

#include <caf/test/dsl.hpp>

#include <sstream>

using namespace purgatory;

namespace {

struct captured {
  std::ostringstream out;

  captured(log::level threshold, log::format shape) {
    log::configure({threshold, shape, &out});
  }
  ~captured() { log::configure({}); }

  /// What follows the time stamp of the only line.
  std::string line(std::size_t skip) const { return out.str().substr(skip); }
};

constexpr std::size_t stamp
  = std::string_view{"2026-01-31T12:00:00.000Z "}.size();

} // namespace

CAF_TEST(a text line has level and text and quoted values and plain numbers) {
  captured lines{log::level::info, log::format::text};
  log::warn("Fetch failed",
            {{"identifier", identifier{"a \"b\""}}, {"oids_fetched", 7U}});
  CAF_CHECK_EQUAL(lines.line(stamp), "warning Fetch failed identifier=\"a "
                                     "\\\"b\\\"\" oids_fetched=7\n");
}

CAF_TEST(a json line is one object) {
  captured lines{log::level::info, log::format::json};
  log::info("Fetch succeeded", {{"url", "a\nb\x01\xff"}, {"left", -1}});
  CAF_CHECK_EQUAL(lines.line(35), "\"level\":\"info\",\"message\":\"Fetch "
                                  "succeeded\",\"url\":\"a\\nb\\u0001\\ufffd\","
                                  "\"left\":-1}\n");
}

CAF_TEST(lines below the threshold are not written until it is lowered) {
  captured lines{log::level::info, log::format::text};
  log::debug("one");
  CAF_CHECK(!log::enabled(log::level::debug));
  CAF_CHECK_EQUAL(lines.out.str(), "");
  log::set_level(log::level::debug);
  log::debug("two");
  CAF_CHECK_EQUAL(lines.line(stamp), "debug two\n");
}

CAF_TEST(no value breaks the line or reaches the terminal as a command) {
  CAF_CHECK_EQUAL(log::quoted("a\r\n\x1b[2J\\"), "\"a\\x0d\\n\\x1b[2J\\\\\"");
  CAF_CHECK_EQUAL(log::quoted("\xc2\x9b\xe2\x80\xa8"),
                  "\"\\xc2\\x9b\\xe2\\x80\\xa8\"");
  CAF_CHECK_EQUAL(log::quoted("gr\xc3\xbc\xc3\x9f \xf0\x9f\x8d\x92"),
                  "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x8d\x92\"");
  CAF_CHECK_EQUAL(log::quoted("cut \xf0\x9f"), "\"cut \\xf0\\x9f\"");
}
