#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace indx {

/// Row D73: the fields of AI answers that hold words of a model's own choice, by name. All other
/// texts are copied from the vault, chosen from a list, or codes and names. Those that say
/// `is_markdown` are documents; the others are sentences.
struct AiProseField {
  std::string_view name;
  bool is_markdown = false;
};
inline constexpr std::array kAiProseFields = {
    AiProseField{"text", true},
    AiProseField{"answer", true},
    AiProseField{"toc_markdown", true},
    AiProseField{"rationale"},
    AiProseField{"tldr"},
    AiProseField{"key_points"},
    AiProseField{"open_questions"},
    AiProseField{"followups"},
    AiProseField{"reason"},
    AiProseField{"description"},
};

inline bool is_ai_prose(std::string_view name) {
  return std::any_of(kAiProseFields.begin(), kAiProseFields.end(),
                     [&](const AiProseField& field) { return field.name == name; });
}
inline bool is_ai_markdown(std::string_view name) {
  return std::any_of(kAiProseFields.begin(), kAiProseFields.end(), [&](const AiProseField& field) {
    return field.name == name && field.is_markdown;
  });
}

}  // namespace indx
