#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace indx {

/// Reads the text of one member out of a JSON object while the object still comes: what a model
/// writes for people, as plain text, without white space at its ends. Any bytes may come in any
/// pieces, cut inside of characters and escapes too. What stands in front of the object (a code
/// fence) is passed over. A member that is no text, or of an inner object, gives nothing; of two
/// with the name the first counts. JSON that is broken gives what was read up to there, perhaps
/// more: only the parser of the whole answer knows.
class ProseDelta {
 public:
  explicit ProseDelta(std::string member) : member_(std::move(member)) {}

  /// The text that `bytes` complete, valid UTF-8; empty: none yet.
  std::string feed(std::string_view bytes);

 private:
  enum class At : std::uint8_t { Front, Between, Key, Skipped, Prose, End };
  enum class Escape : std::uint8_t { None, Begun, Hex };

  void take(char byte);
  void take_between(char byte);
  void take_in_text(char byte);
  void take_escaped(char byte);
  void end_text();
  void add_unit(char32_t unit);
  void add_text(std::string_view text);
  void add_raw(char byte);
  void flush_raw(bool is_end);

  const std::string member_;
  At at_ = At::Front;
  int depth_ = 0;
  bool is_key_next_ = false;  ///< of the outer object
  bool is_wanted_ = false;    ///< the value that comes is the member's
  std::string key_;           ///< as far as it may be the member's name
  Escape escape_ = Escape::None;
  char32_t hex_ = 0, high_ = 0;  ///< an escape under way; the first half of a pair
  int digits_ = 0;
  std::string raw_;  ///< bytes of a character that is not complete
  bool has_begun_ = false;
  std::string spaces_, out_;  ///< white space that may be the end; what `feed` gives
};

}  // namespace indx
