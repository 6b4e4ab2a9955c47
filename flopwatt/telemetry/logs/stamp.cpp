#include "flopwatt/telemetry/logs/stamp.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "flopwatt/telemetry/logs/text_line.hpp"

namespace flopwatt::telemetry {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads from the front of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_{text} {}
  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_any(std::string_view any) {
    if (rest_.empty() || any.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_blanks() {
    while (take(' ') || take('\t')) {
    }
  }
  /// Between `least` and `most` digits, no more of which may follow.
  std::optional<int> digits(std::size_t least, std::size_t most) {
    std::size_t n = 0;
    while (n < rest_.size() && is_digit(rest_[n])) ++n;
    if (n < least || n > most) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < n; ++i) value = 10 * value + (rest_[i] - '0');
    rest_.remove_prefix(n);
    return value;
  }
  /// Digits after the decimal sign, as nanoseconds.
  std::optional<nanoseconds> fraction() {
    std::int64_t value = 0;
    std::int64_t unit = 1'000'000'000;
    std::size_t n = 0;
    for (; n < rest_.size() && is_digit(rest_[n]); ++n) {
      unit /= 10;
      value += unit * (rest_[n] - '0');
    }
    if (n == 0 || n > 12) return std::nullopt;
    rest_.remove_prefix(n);
    return nanoseconds{value};
  }

 private:
  std::string_view rest_;
};

std::optional<days> date_of(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok() || year < 1970 || year > 2200) return std::nullopt;
  return std::chrono::sys_days{date}.time_since_epoch();
}

/// Year first with '-' or '/', eight digits, or day first with '.'.
std::optional<days> read_date(Cursor& cursor) {
  Cursor ahead = cursor;
  const auto year = ahead.digits(4, 4);
  if (year && (ahead.take('-') || ahead.take('/'))) {
    const auto month = ahead.digits(1, 2);
    if (!month || !ahead.take_any("-/")) return std::nullopt;
    const auto day = ahead.digits(1, 2);
    if (!day) return std::nullopt;
    cursor = ahead;
    return date_of(*year, *month, *day);
  }
  ahead = cursor;
  if (const auto all = ahead.digits(8, 8); all && !ahead.done()) {
    cursor = ahead;
    return date_of(*all / 10000, *all / 100 % 100, *all % 100);
  }
  ahead = cursor;
  const auto day = ahead.digits(1, 2);
  if (!day || !ahead.take('.')) return std::nullopt;
  const auto month = ahead.digits(1, 2);
  if (!month || !ahead.take('.')) return std::nullopt;
  const auto written = ahead.digits(4, 4);
  if (!written) return std::nullopt;
  cursor = ahead;
  return date_of(*written, *month, *day);
}

/// "10:00", "10:00:00", "10:00:00.123"
std::optional<nanoseconds> read_time_of_day(Cursor& cursor, bool seconds_needed) {
  const auto hour = cursor.digits(1, 2);
  if (!hour || *hour > 23 || !cursor.take(':')) return std::nullopt;
  const auto minute = cursor.digits(2, 2);
  if (!minute || *minute > 59) return std::nullopt;
  nanoseconds time = hours{*hour} + minutes{*minute};
  if (!cursor.take(':')) return seconds_needed ? std::nullopt : std::optional{time};
  const auto second = cursor.digits(2, 2);
  if (!second || *second > 60) return std::nullopt;  // 60: a leap second
  time += seconds{*second};
  if (cursor.take('.') || cursor.take(',')) {
    const auto fraction = cursor.fraction();
    if (!fraction) return std::nullopt;
    time += *fraction;
  }
  return time;
}

std::optional<seconds> read_zone(std::string_view text) {
  Cursor cursor{text};
  if (text == "Z" || text == "z" || text == "UTC" || text == "GMT") return seconds{0};
  const int sign = cursor.take('+') ? 1 : cursor.take('-') ? -1 : 0;
  if (sign == 0) return std::nullopt;
  Cursor together = cursor;
  if (const auto both = together.digits(4, 4)) {
    if (!together.done() || *both / 100 > 14 || *both % 100 > 59) return std::nullopt;
    return sign * (hours{*both / 100} + minutes{*both % 100});
  }
  const auto hour = cursor.digits(1, 2);
  if (!hour || *hour > 14) return std::nullopt;
  int minute = 0;
  if (cursor.take(':')) {
    const auto written = cursor.digits(2, 2);
    if (!written || *written > 59) return std::nullopt;
    minute = *written;
  }
  if (!cursor.done()) return std::nullopt;
  return sign * (hours{*hour} + minutes{minute});
}

/// What `date` prints in the C locale: "Wed May  6 10:00:00 UTC 2026", with "AM" or "PM" in that of the USA.
std::optional<Stamp> date_command_stamp(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::vector<std::string_view> words;
  split_words(text, words);
  const std::size_t n = words.size();
  if (n < 6 || n > 7) return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), words[1]);
  Cursor day_cursor{words[2]};
  Cursor time_cursor{words[3]};
  Cursor year_cursor{words[n - 1]};
  const auto day = day_cursor.digits(1, 2);
  const auto year = year_cursor.digits(4, 4);
  auto time = read_time_of_day(time_cursor, true);
  const auto zone = read_zone(words[n - 2]);
  if (month == kMonths.end() || !day || !year || !time || !zone) return std::nullopt;
  if (!day_cursor.done() || !year_cursor.done() || !time_cursor.done()) return std::nullopt;
  if (n == 7) {
    const bool afternoon = words[4] == "PM";
    if ((!afternoon && words[4] != "AM") || *time >= hours{13} || *time < hours{1}) return std::nullopt;
    *time = (*time >= hours{12} ? *time - hours{12} : *time) + (afternoon ? hours{12} : hours{0});
  }
  const auto date = date_of(*year, static_cast<int>(month - kMonths.begin()) + 1, *day);
  if (!date) return std::nullopt;
  return Stamp{*date + *time - *zone, StampKind::utc};
}

constexpr double kEarliest = 946'684'800;    // 2000-01-01
constexpr double kLatest = 4'102'444'800.0;  // 2100-01-01

std::optional<Stamp> number_stamp(std::string_view text, StampUnit unit) {
  // The whole part and the fraction apart: a double holds no nanosecond of an epoch.
  Cursor cursor{text};
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc{} || whole < 0) return std::nullopt;
  Cursor rest{text.substr(static_cast<std::size_t>(end - text.data()))};
  nanoseconds fraction{};  // of one unit, in 1e-9 of it
  if (rest.take('.') || rest.take(',')) {
    const auto read = rest.fraction();
    if (!read) return std::nullopt;
    fraction = *read;
  }
  if (!rest.done()) return std::nullopt;

  constexpr std::array<std::int64_t, 4> kNanoseconds{1'000'000'000, 1'000'000, 1'000, 1};
  const auto stamp = [&](std::size_t i, StampKind kind) -> std::optional<Stamp> {
    const std::int64_t per = kNanoseconds[i];
    if (static_cast<double>(whole) * static_cast<double>(per) > 9e18) return std::nullopt;
    return Stamp{nanoseconds{whole * per + fraction.count() / (1'000'000'000 / per)}, kind};
  };
  const auto is_date = [&](std::size_t i) {
    const double since_epoch = static_cast<double>(whole) * static_cast<double>(kNanoseconds[i]) * 1e-9;
    return since_epoch >= kEarliest && since_epoch <= kLatest;
  };
  if (unit != StampUnit::by_magnitude) {
    const std::size_t i = static_cast<std::size_t>(unit) - 1;
    return stamp(i, is_date(i) ? StampKind::utc : StampKind::relative);
  }
  for (std::size_t i = 0; i < kNanoseconds.size(); ++i) {
    if (is_date(i)) return stamp(i, StampKind::utc);
  }
  if (whole < 100'000'000) return stamp(0, StampKind::relative);
  return std::nullopt;
}

}  // namespace

std::optional<std::chrono::seconds> parse_utc_offset(std::string_view text) { return read_zone(text); }

std::optional<Stamp> parse_stamp(std::string_view text, StampUnit unit) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '"')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '"')) text.remove_suffix(1);
  if (text.empty() || text.size() > 64) return std::nullopt;
  if (!is_digit(text.front())) return date_command_stamp(text);

  Cursor cursor{text};
  if (const auto date = read_date(cursor)) {
    if (!cursor.take('T') && !cursor.take('t')) {
      if (!cursor.take(' ')) return std::nullopt;
      cursor.skip_blanks();
    }
    const auto time = read_time_of_day(cursor, false);
    if (!time) return std::nullopt;
    const nanoseconds moment = *date + *time;
    cursor.skip_blanks();
    if (cursor.done()) return Stamp{moment, StampKind::local};
    const auto zone = read_zone(cursor.rest());
    if (!zone) return std::nullopt;
    return Stamp{moment - *zone, StampKind::utc};
  }
  if (text.find(':') != std::string_view::npos) {
    Cursor clock{text};
    const auto time = read_time_of_day(clock, true);
    if (!time || !clock.done()) return std::nullopt;
    return Stamp{*time, StampKind::time_of_day};
  }
  return number_stamp(text, unit);
}

}  // namespace flopwatt::telemetry
