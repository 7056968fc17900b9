#include "libsync/git/http_date.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace purgatory::git {

namespace {

namespace ch = std::chrono;

constexpr std::array<std::string_view, 7> weekdays = {
  "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 12> months
  = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::size_t short_name = 3;

/// Reads a date from left to right; once something does not fit, nothing does.
class date_reader {
public:
  explicit date_reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool is_whole() const { return fits_ && rest_.empty(); }

  void skip(std::string_view expected) {
    fits_ = fits_ && rest_.starts_with(expected);
    if (fits_)
      rest_.remove_prefix(expected.size());
  }

  /// Exactly so many digits.
  int digits(std::size_t count) {
    int value = 0;
    fits_ = fits_ && rest_.size() >= count;
    for (std::size_t i = 0; fits_ && i < count; ++i) {
      fits_ = rest_[i] >= '0' && rest_[i] <= '9';
      value = value * 10 + (rest_[i] - '0');
    }
    if (fits_)
      rest_.remove_prefix(count);
    return value;
  }

  /// Two digits, or a blank and one.
  int padded() {
    if (!rest_.starts_with(' '))
      return digits(2);
    skip(" ");
    return digits(1);
  }

  unsigned month() {
    const auto* found = std::find_if(
      months.begin(), months.end(),
      [this](std::string_view name) { return rest_.starts_with(name); });
    fits_ = fits_ && found != months.end();
    if (!fits_)
      return 0;
    rest_.remove_prefix(short_name);
    return static_cast<unsigned>(found - months.begin()) + 1;
  }

  void time() {
    hour_ = digits(2);
    skip(":");
    minute_ = digits(2);
    skip(":");
    second_ = digits(2);
    // A leap second is the first one of the next minute.
    fits_ = fits_ && hour_ < 24 && minute_ < 60 && second_ <= 60;
  }

  [[nodiscard]] std::optional<unix_seconds> moment(int year, unsigned month,
                                                   int day) const {
    const ch::year_month_day date{ch::year{year}, ch::month{month},
                                  ch::day{static_cast<unsigned>(day)}};
    if (!is_whole() || !date.ok())
      return std::nullopt;
    const auto days = ch::sys_days{date}.time_since_epoch();
    return ch::seconds{days}.count() + hour_ * 3600 + minute_ * 60 + second_;
  }

private:
  std::string_view rest_;
  bool fits_ = true;
  int hour_ = 0;
  int minute_ = 0;
  int second_ = 0;
};

/// `Sun, 06 Nov 1994 08:49:37 GMT`
std::optional<unix_seconds> fixed_date(std::string_view text) {
  date_reader in{text};
  in.skip(", ");
  const auto day = in.digits(2);
  in.skip(" ");
  const auto month = in.month();
  in.skip(" ");
  const auto year = in.digits(4);
  in.skip(" ");
  in.time();
  in.skip(" GMT");
  return in.moment(year, month, day);
}

int year_of(unix_seconds now) {
  // Hostile clocks and tests: stay where a date has a year.
  constexpr unix_seconds first = 0;
  constexpr unix_seconds last = 253'402'300'799; // End of 9999.
  const ch::sys_seconds moment{ch::seconds{std::clamp(now, first, last)}};
  return static_cast<int>(
    ch::year_month_day{ch::floor<ch::days>(moment)}.year());
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`. A year more than 50 years ahead is one
/// of the past with the same digits.
std::optional<unix_seconds> rfc850_date(std::string_view text,
                                        unix_seconds now) {
  date_reader in{text};
  in.skip(", ");
  const auto day = in.digits(2);
  in.skip("-");
  const auto month = in.month();
  in.skip("-");
  const auto this_year = year_of(now);
  auto year = this_year / 100 * 100 + in.digits(2);
  if (year > this_year + 50)
    year -= 100;
  in.skip(" ");
  in.time();
  in.skip(" GMT");
  return in.moment(year, month, day);
}

/// `Sun Nov  6 08:49:37 1994`
std::optional<unix_seconds> asctime_date(std::string_view text) {
  date_reader in{text};
  in.skip(" ");
  const auto month = in.month();
  in.skip(" ");
  const auto day = in.padded();
  in.skip(" ");
  in.time();
  in.skip(" ");
  const auto year = in.digits(4);
  return in.moment(year, month, day);
}

} // namespace

std::optional<unix_seconds> parse_http_date(std::string_view text,
                                            unix_seconds now) {
  for (const auto name : weekdays) {
    if (text.starts_with(name))
      return rfc850_date(text.substr(name.size()), now);
    if (!text.starts_with(name.substr(0, short_name)))
      continue;
    const auto rest = text.substr(short_name);
    return rest.starts_with(',') ? fixed_date(rest) : asctime_date(rest);
  }
  return std::nullopt;
}

} // namespace purgatory::git
