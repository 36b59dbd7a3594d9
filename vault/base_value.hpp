#pragma once
#include "base/clock.hpp"
#include "base/json.hpp"
#include "vault/base_regexp.hpp"
#include "vault/moment_format.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace indx {

class BaseValue;

/// A point on the wall clock of the vault's place.
struct BaseDate {
  std::int64_t millis = 0;  ///< since 1970-01-01 00:00 as the wall clock shows it
  bool has_time = false;
};
/// Months stay months until they meet a date.
struct BaseDuration {
  std::int64_t months = 0;
  double millis = 0;
  double total_millis() const;  ///< a month counts as a twelfth of 365.2425 days
};
struct BaseLink {
  std::string target, subpath;  ///< as written; `subpath` without the first `#`
  std::optional<std::string> display;
  std::string source;  ///< path of the file in which it is to be resolved
  bool is_external = false;
};
/// A file of the vault, by its place among the rows of the query.
struct BaseFile {
  std::size_t row = 0;
};
/// What is shown and not compared: `html`, `image` or `icon`.
struct BaseMarkup {
  std::string kind, text;
};
/// Why there is no value.
struct BaseError {
  std::string message;
};
struct BaseList {
  std::vector<BaseValue> items;
  bool is_tags = false;  ///< `contains` finds nested tags too
};
struct BaseObject {
  std::vector<std::pair<std::string, BaseValue>> fields;
};

/// What an expression of a base gives (vault-rules 8). Texts, lists and objects are shared and
/// never changed, so that copies cost nothing.
class BaseValue {
 public:
  enum class Type : std::uint8_t {
    Null,
    Boolean,
    Number,
    Text,
    Date,
    Duration,
    List,
    Link,
    File,
    Object,
    Regexp,
    Markup,
    Error
  };
  BaseValue() = default;
  BaseValue(bool value) : value_(value) {}                   // NOLINT(google-explicit-constructor)
  BaseValue(double value) : value_(value) {}                 // NOLINT(google-explicit-constructor)
  BaseValue(std::string value);                              // NOLINT(google-explicit-constructor)
  BaseValue(const char*) = delete;                           // it would become a boolean
  BaseValue(BaseDate value) : value_(value) {}               // NOLINT(google-explicit-constructor)
  BaseValue(BaseDuration value) : value_(value) {}           // NOLINT(google-explicit-constructor)
  BaseValue(BaseList value);                                 // NOLINT(google-explicit-constructor)
  BaseValue(BaseLink value);                                 // NOLINT(google-explicit-constructor)
  BaseValue(BaseFile value) : value_(value) {}               // NOLINT(google-explicit-constructor)
  BaseValue(BaseObject value);                               // NOLINT(google-explicit-constructor)
  BaseValue(BaseRegexp value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  BaseValue(BaseMarkup value);                               // NOLINT(google-explicit-constructor)
  BaseValue(BaseError value) : value_(std::move(value)) {}   // NOLINT(google-explicit-constructor)
  static BaseValue text(std::string_view value) { return BaseValue(std::string(value)); }
  static BaseValue error(std::string_view message);  ///< cut to a readable length

  Type type() const { return static_cast<Type>(value_.index()); }
  bool is(Type wanted) const { return type() == wanted; }
  bool is_error() const { return is(Type::Error); }
  /// `number`, `text`, …: what `isType` compares and messages say.
  std::string_view type_name() const;

  bool boolean() const { return std::get<bool>(value_); }
  double number() const { return std::get<double>(value_); }
  const std::string& text() const { return *std::get<std::shared_ptr<const std::string>>(value_); }
  const BaseDate& date() const { return std::get<BaseDate>(value_); }
  const BaseDuration& duration() const { return std::get<BaseDuration>(value_); }
  const BaseList& list() const { return *std::get<std::shared_ptr<const BaseList>>(value_); }
  const BaseLink& link() const { return *std::get<std::shared_ptr<const BaseLink>>(value_); }
  const BaseFile& file() const { return std::get<BaseFile>(value_); }
  const BaseObject& object() const { return *std::get<std::shared_ptr<const BaseObject>>(value_); }
  const BaseRegexp& regexp() const { return std::get<BaseRegexp>(value_); }
  const BaseMarkup& markup() const { return *std::get<std::shared_ptr<const BaseMarkup>>(value_); }
  const BaseError& failure() const { return std::get<BaseError>(value_); }

  bool is_truthy() const;
  /// No value, or a text, list or object without content.
  bool is_empty() const;

 private:
  std::variant<std::monostate, bool, double, std::shared_ptr<const std::string>, BaseDate,
               BaseDuration, std::shared_ptr<const BaseList>, std::shared_ptr<const BaseLink>,
               BaseFile, std::shared_ptr<const BaseObject>, BaseRegexp,
               std::shared_ptr<const BaseMarkup>, BaseError>
      value_;
};

/// Where the vault's wall clock stands.
struct BaseClock {
  Timestamp now{};
  std::function<std::chrono::seconds(Timestamp)> utc_offset;  ///< east of UTC; empty: UTC
  BaseDate local(Timestamp time) const;
};

/// A property's value: texts that are dates or links become such, `source` is the file it is in.
/// Bounded by the depth of YAML.
BaseValue base_value_of(const Json& json, const std::string& source, bool is_tags = false);

/// `YYYY-MM-DD`, with `HH:mm`, `HH:mm:ss` or more after a space or `T`, with an offset; also
/// `YYYYMMDD`, `YYYYMMDDHHmm`, `YYYYMMDDHHmmss`. Nullopt: none of them, or no day of a calendar.
std::optional<BaseDate> parse_base_date(std::string_view text, const BaseClock& clock);
/// `1M`, `2 weeks`, `1d 12h`, `-3 days`.
std::optional<BaseDuration> parse_base_duration(std::string_view text);
/// The link that a whole text is: `[[a#b|c]]` or `[c](a#b)`.
std::optional<BaseLink> parse_base_link(std::string_view text, const std::string& source);

/// Nullopt: outside of the years 0 to 9999.
std::optional<BaseDate> add(BaseDate date, const BaseDuration& duration, int sign);
WallTime wall_time(const BaseDate& date);
BaseDate midnight_of(BaseDate date);
std::string format_base_date(const BaseDate& date);  ///< `YYYY-MM-DD` or `YYYY-MM-DDTHH:mm:ss`
std::string format_base_number(double number);       ///< as JavaScript writes it
std::string format_base_link(const BaseLink& link);  ///< as it stands in a note

/// JavaScript's: what texts that are numbers, dates, booleans and null count as in arithmetic.
std::optional<double> base_number_of(const BaseValue& value);

/// Less than, equal, greater: digits by value, letters without case.
int compare_natural(std::string_view folded_a, std::string_view folded_b);

}  // namespace indx
