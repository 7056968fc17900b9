#define CAF_SUITE clone_url

#include "libsync/git/clone_url.hpp"

#include <caf/test/dsl.hpp>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <utility>

using namespace purgatory;
using namespace purgatory::git;

namespace {

using result = std::variant<clone_url, url_refusal>;
using pairs = std::vector<std::pair<std::string, std::string>>;

clone_url good(const std::string& text) {
  auto parsed = parse_clone_url(text);
  if (!std::holds_alternative<clone_url>(parsed))
    CAF_FAIL("refused: " << text);
  return std::get<clone_url>(std::move(parsed));
}

/// The canonical text, or why there is none.
std::string text_of(const result& parsed) {
  if (const auto* url = std::get_if<clone_url>(&parsed))
    return url->text.value;
  return std::get<url_refusal>(parsed) == url_refusal::malformed
           ? "malformed"
           : "unsupported";
}

std::string canonical(const std::string& text) {
  return text_of(parse_clone_url(text));
}

} // namespace

CAF_TEST(a_url_is_taken_apart) {
  const auto url = good("HTTPS://User:pw@Git.Example.ORG.:8443/a/b.git?x=1#y");
  CAF_CHECK_EQUAL(url.text.value, "https://git.example.org:8443/a/b.git?x=1");
  CAF_CHECK_EQUAL(url.scheme, "https");
  CAF_CHECK_EQUAL(url.host.value, "git.example.org");
  CAF_CHECK_EQUAL(url.port, 8443);
  CAF_CHECK_EQUAL(url.path, "/a/b.git?x=1");
  CAF_CHECK_EQUAL(url.origin(), "git.example.org:8443");
  CAF_CHECK_EQUAL(good("https://a.example/").port, 443);
  CAF_CHECK_EQUAL(good("http://a.example/").port, 80);
}

CAF_TEST(equal_places_have_equal_texts) {
  const pairs cases{
    {"https://h.example", "https://h.example/"},
    {"https://h.example:443/x", "https://h.example/x"},
    {"https://h.example:/x", "https://h.example/x"},
    {"https://h.example:0443/x", "https://h.example/x"},
    {"http://h.example:80/x", "http://h.example/x"},
    {"http://h.example:443/x", "http://h.example:443/x"},
    {"hTTps://H.EXAMPLE./X", "https://h.example/X"},
    {"https://u@h.example/x", "https://h.example/x"},
    {"https://:@h.example/x", "https://h.example/x"},
    {"https://a%40b:c@h.example/x", "https://h.example/x"},
    {"https://h.example/x#f?g", "https://h.example/x"},
    {"https://h.example?q", "https://h.example/?q"},
    {"https://h.example/x?", "https://h.example/x?"},
    {"https://h.example/a/./b/../c", "https://h.example/a/c"},
    {"https://h.example/../../x", "https://h.example/x"},
    {"https://h.example/a/..", "https://h.example/"},
    {"https://h.example/a/.", "https://h.example/a/"},
    {"https://h.example/a/%2e%2E/b", "https://h.example/b"},
    {"https://h.example//a//b", "https://h.example//a//b"},
    {"https://h.example/x.git/", "https://h.example/x.git/"},
    {"https://h.example/%7euser/%c3%a9", "https://h.example/~user/%C3%A9"},
    {"https://h.example/\u00e9", "https://h.example/%C3%A9"},
    {"https://h.example/my 🚀 repo.git",
     "https://h.example/my%20%F0%9F%9A%80%20repo.git"},
    {"https://h.example/a%2Fb", "https://h.example/a%2Fb"},
    {"https://h.example/a:b@c", "https://h.example/a:b@c"},
    {"https://h.example/%25", "https://h.example/%25"},
  };
  for (const auto& [text, expected] : cases)
    CAF_CHECK_EQUAL(canonical(text), expected);
}

CAF_TEST(hosts_have_one_key_whatever_way_they_are_written) {
  const pairs cases{
    {"Example.org", "example.org"},
    {"example.org.", "example.org"},
    {"u:p@example.org:8080", "example.org"},
    {"%65xample.org", "example.org"},
    {"under_score.example", "under_score.example"},
    {"localhost", "localhost"},
    {"b\u00fccher.example", "xn--bcher-kva.example"},
    {"B\u00dcCHER.example", "xn--bcher-kva.example"},
    {"bu\u0308cher.example", "xn--bcher-kva.example"}, // not yet composed
    {"b%C3%BCcher.example", "xn--bcher-kva.example"},
    {"XN--BCHER-KVA.example", "xn--bcher-kva.example"},
    {"fa\u00df.example", "xn--fa-hia.example"},
    {"\u4f8b\u3048\u3002\u30c6\u30b9\u30c8", "xn--r8jz45g.xn--zckzah"},
    {"\uff45xample.org", "example.org"}, // full width
    {"127.0.0.1", "127.0.0.1"},
    {"127.0.0.1.", "127.0.0.1"},
    {"2130706433", "127.0.0.1"},
    {"0x7f.1", "127.0.0.1"},
    {"0X7F000001", "127.0.0.1"},
    {"127.1", "127.0.0.1"},
    {"127.0.1", "127.0.0.1"},
    {"0177.0.0.1", "127.0.0.1"},
    {"017700000001", "127.0.0.1"},
    {"1.2.65535", "1.2.255.255"},
    {"4294967295", "255.255.255.255"},
    {"0", "0.0.0.0"},
    {"127\u30020\u30020\u30021", "127.0.0.1"}, // ideographic full stops
    {"\uff11\uff12\uff17.1", "127.0.0.1"},     // full-width digits
    {"%31%32%37.1", "127.0.0.1"},
    {"1.2.3.4a", "1.2.3.4a"},
    {"[::1]", "::1"},
    {"[::1]:8080", "::1"},
    {"[2001:DB8:0:0:1:0:0:1]", "2001:db8::1:0:0:1"},
    {"[2001:0db8::0001]", "2001:db8::1"},
    {"[2001:db8:0:1:1:1:1:1]", "2001:db8:0:1:1:1:1:1"},
    {"[::ffff:1.2.3.4]", "1.2.3.4"},
    {"[::FFFF:7f00:1]", "127.0.0.1"},
    {"[64:ff9b::7f00:1]", "64:ff9b::7f00:1"},
  };
  for (const auto& [host, key] : cases)
    CAF_CHECK_EQUAL(good("http://" + host + "/x").host.value, key);
}

CAF_TEST(ipv6_hosts_stand_in_brackets_in_texts_and_origins) {
  const auto url = good("http://u@[2001:DB8::1]:8080/x");
  CAF_CHECK_EQUAL(url.text.value, "http://[2001:db8::1]:8080/x");
  CAF_CHECK_EQUAL(url.origin(), "[2001:db8::1]:8080");
  CAF_CHECK_EQUAL(canonical("http://[::ffff:9.9.9.9]/x"), "http://9.9.9.9/x");
}

CAF_TEST(our_name_elsewhere_in_a_url_is_not_its_host) {
  CAF_CHECK_EQUAL(good("https://victim.example/x@other.example").host.value,
                  "victim.example");
  CAF_CHECK_EQUAL(good("https://victim.example@other.example/").host.value,
                  "other.example");
  CAF_CHECK_EQUAL(good("https://other.example/?@victim.example").host.value,
                  "other.example");
  CAF_CHECK_EQUAL(good("https://other.example#@victim.example").host.value,
                  "other.example");
  CAF_CHECK_EQUAL(good("https://victim.example.other.example/").host.value,
                  "victim.example.other.example");
}

CAF_TEST(other_schemes_are_unsupported) {
  for (const std::string text :
       {"git@host.example:path/x.git", "host.example:path/x.git",
        "user@[::1]:x.git", "ssh://git@h.example/x", "git://h.example/x",
        "ftp://h.example/x", "file:///etc/passwd", "nostr://npub1x/x",
        "htree://x/y", "git+https://h.example/x", "ext::sh -c id",
        "httpss://h.example/", "C:\\x", "data:,x"})
    CAF_CHECK_EQUAL(canonical(text), "unsupported");
}

CAF_TEST(malformed_texts_are_refused) {
  for (const std::string& text :
       std::vector<std::string>{"",
                                " ",
                                "x",
                                "/srv/git/x.git",
                                "./x:y",
                                "h.example/x",
                                "//h.example/x",
                                "://h.example/x",
                                "https:",
                                "https:/",
                                "https://",
                                "https:///x",
                                "https:h.example/x",
                                "https:/h.example/x",
                                " https://h.example/",
                                "https://@/x",
                                "https://:443/x",
                                "https://./x",
                                "https://../x",
                                "https://a..b/x",
                                "https://.a/x",
                                "https://a b/x",
                                "https://a\\b/x",
                                "https://a\\@b/x",
                                "https://u@v@h.example/x",
                                "https://%zz@h.example/",
                                "https://h.example:0/x",
                                "https://h.example:65536/x",
                                "https://h.example:8a/x",
                                "https://h.example:-1/x",
                                "https://h.example:+1/x",
                                "https://h.example:80:80/x",
                                "https://h%/x",
                                "https://h%2/x",
                                "https://h%00/x",
                                "https://%5B::1%5D/",
                                "https://h%2fx/",
                                "https://h%40x/",
                                "https://h!/x",
                                "https://h*/x",
                                "https://h,i/x",
                                "https://[::1/x",
                                "https://::1/x",
                                "https://[]/x",
                                "https://[::1]x/y",
                                "https://x[::1]/y",
                                "https://[::1%25eth0]/x",
                                "https://[v1.x]/x",
                                "https://[1.2.3.4]/x",
                                "https://[::12345]/x",
                                "https://256.0.0.1/",
                                "https://1.2.3.4.5/",
                                "https://1.2.3.256/",
                                "https://4294967296/",
                                "https://0x/",
                                "https://08.1.1.1/",
                                "https://a.1/",
                                "https://\xff/x",
                                "https://\xf0\x9f/x",
                                "https://h.example/%",
                                "https://h.example/%2",
                                "https://h.example/%gg",
                                "https://h.example/a\\b",
                                "https://h.example/?%x",
                                "https://h.example/a\nb",
                                "https://h.example/a\rb",
                                "https://h.example/a\tb",
                                "https://h.example/\x7f",
                                "https://h\x01/x",
                                std::string("https://h.example/\0x", 20),
                                "https://" + std::string(64, 'a') + ".example/",
                                "https://" + std::string(300, '.') + "/"})
    CAF_CHECK_EQUAL(canonical(text), "malformed");
}

CAF_TEST(length_is_limited_to_2048_bytes) {
  const std::string start = "https://h.example/";
  CAF_CHECK_EQUAL(canonical(start + std::string(2048 - start.size(), 'x')),
                  start + std::string(2048 - start.size(), 'x'));
  CAF_CHECK_EQUAL(canonical(start + std::string(2049 - start.size(), 'x')),
                  "malformed");
}

CAF_TEST(origins_are_compared_without_scheme_and_default_port) {
  const pairs cases{
    {"example.org", "example.org"},
    {"Example.ORG.", "example.org"},
    {"example.org:8443", "example.org:8443"},
    {"example.org:443", "example.org"},
    {"example.org:80", "example.org"},
    {"https://example.org", "example.org"},
    {"https://example.org:443/x?y#z", "example.org"},
    {"https://example.org:80/", "example.org:80"},
    {"wss://Relay.Example.org/path", "relay.example.org"},
    {"ws://relay.example.org:7777", "relay.example.org:7777"},
    {"ssh://git@example.org:22/x", "example.org:22"},
    {"[::1]:8080", "[::1]:8080"},
    {"127.1:8080", "127.0.0.1:8080"},
    {"b\u00fccher.example", "xn--bcher-kva.example"},
  };
  for (const auto& [text, origin] : cases)
    CAF_CHECK_EQUAL(parse_origin(text).value_or("none"), origin);
  for (const std::string& text : std::vector<std::string>{
         "", " ", "example.org/x", "https://", "https:///x", "://x", "::1",
         "a b", "example.org:0", "example.org:x", "a..b", "x\n",
         std::string(3000, 'x')})
    CAF_CHECK(!parse_origin(text));
  CAF_CHECK_EQUAL(parse_origin("wss://h.example").value_or("none"),
                  good("https://u@H.example:443/x").origin());
}

CAF_TEST(redirects_are_resolved_against_where_they_came_from) {
  const auto base = good("https://a.example:8443/x/y.git?q=1");
  const pairs cases{
    {"https://b.example/z", "https://b.example/z"},
    {"http://b.example/z", "http://b.example/z"},
    {"//b.example/z", "https://b.example/z"},
    {"/z", "https://a.example:8443/z"},
    {"z", "https://a.example:8443/x/z"},
    {"./z?r#f", "https://a.example:8443/x/z?r"},
    {"../z", "https://a.example:8443/z"},
    {"../../../z", "https://a.example:8443/z"},
    {"?r=2", "https://a.example:8443/x/y.git?r=2"},
    {"#f", "https://a.example:8443/x/y.git?q=1"},
    {"", "https://a.example:8443/x/y.git?q=1"},
    {"./a:b", "https://a.example:8443/x/a:b"},
    {"https://u:p@b.example/z", "https://b.example/z"},
    {"ftp://b.example/z", "unsupported"},
    {"file:///etc/passwd", "unsupported"},
    {"https:z", "malformed"},
    {"//", "malformed"},
    {"//b.example:0/", "malformed"},
    {"/a\r\nb", "malformed"},
    {"/%", "malformed"},
    {"/" + std::string(2048, 'x'), "malformed"},
  };
  for (const auto& [location, expected] : cases)
    CAF_CHECK_EQUAL(text_of(resolve_redirect(base, location)), expected);
}

CAF_TEST(canonical_texts_of_random_urls_stay_as_they_are) {
  const auto* given = std::getenv("PURGATORY_TEST_SEED");
  const auto seed = given ? std::strtoul(given, nullptr, 10) : 20260102UL;
  std::cerr << "seed " << seed << '\n';
  std::mt19937_64 random{seed};
  const std::vector<std::string> pieces{
    "https://", "http://", "a.example", "[::1]",  "[",      "]",
    "127.1",    "0x7f",    "\u00fc",    "@",      ":",      "443",
    "8080",     "/",       "//",        "..",     ".",      "%2e",
    "%41",      "%c3",     "%",         "?",      "#",      "\\",
    " ",        "x",       "xn--",      "\uff11", "\u3002", "\xff"};
  std::size_t accepted = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    std::string text = random() % 8 != 0 ? "https://a" : "";
    for (auto count = random() % 8; count > 0; --count)
      text += pieces[random() % pieces.size()];
    const auto parsed = parse_clone_url(text);
    const auto* url = std::get_if<clone_url>(&parsed);
    if (!url)
      continue;
    ++accepted;
    CAF_REQUIRE_EQUAL(canonical(url->text.value), url->text.value);
    CAF_REQUIRE_EQUAL(parse_origin(url->text.value).value_or("none"),
                      url->origin());
    CAF_REQUIRE(url->port != 0);
    CAF_REQUIRE(url->path.starts_with('/'));
    CAF_REQUIRE(url->text.value.find('@') == std::string::npos
                || url->text.value.find('@')
                     > url->text.value.find('/', sizeof("https://")));
  }
  CAF_CHECK(accepted > 2'000);
}
