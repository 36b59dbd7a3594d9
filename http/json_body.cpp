#include "http/json_body.hpp"

#include "base/number_text.hpp"
#include "base/text.hpp"

#include <set>
#include <vector>

namespace indx {
namespace {

constexpr int kMaxDepth = 100;

struct BodyRefusal {
  std::string why;
};

}  // namespace

Result<Json> parse_json_body(const std::string& text) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto check = [&keys](int depth, Json::parse_event_t event, Json& value) {
    const bool is_start =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (is_start && depth >= kMaxDepth)
      throw BodyRefusal{cat("The body is nested deeper than ", kMaxDepth, " levels.")};
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw BodyRefusal{cat("The body has the key `", value.get<std::string>(), "` twice.")};
    return true;
  };
  if (const auto zero = text.find('\0'); zero != text.npos)
    return invalid(cat("The body is not JSON (byte ", zero + 1, ")."), {{"byte", zero + 1}});
  try {
    Json body = Json::parse(text, check);
    if (const auto number = oversized_integer(text)) return number_too_large("The body", *number);
    return body;
  } catch (const BodyRefusal& refusal) {
    return invalid(refusal.why);
  } catch (const Json::parse_error& e) {
    return invalid(cat("The body is not JSON (byte ", e.byte, ")."), {{"byte", e.byte}});
  } catch (const Json::exception&) {
    return invalid(
        "The body holds a value that JSON cannot carry here, such as a number out of range.");
  }
}

}  // namespace indx
