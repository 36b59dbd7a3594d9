#include "ai/extractive/language.hpp"

#include "ai/extractive/tokens.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace indx {
namespace {

constexpr std::size_t kMaxLanguageBytes = 20000;
constexpr int kFewestHits = 3;

struct Profile {
  std::string_view code, words;
};
/// The commonest words of each language. What another language has too tells them apart only
/// together with the rest, so English has its own short ones: "How do I add it to …" is no Polish.
constexpr std::array kProfiles = {
    Profile{"en",
            " the and of to is that it for with was this are from which be by i do how what my "},
    Profile{"de", " der die und das ist nicht mit ein eine auf für sich dem den wird werden "},
    Profile{"fr", " le les et des est une pour dans pas que qui du au sur avec sont "},
    Profile{"es", " el los y las una por para que es del con se más como pero está "},
    Profile{"it", " il di che è per una non sono della gli nel con più anche dei alla "},
    Profile{"pt", " o os e não uma para com que do da em mais são dos ao das "},
    Profile{"nl", " de het een van en is niet dat op voor met zijn aan ook worden wordt "},
    Profile{"sv", " och att det är som på en för inte av med den till har jag om "},
    Profile{"ru", " и в не на что с по это как из для он она но или к "},
    Profile{"pl", " i w nie na się z do jest że to jak dla po są od ale "}};

/// A script that only one language of note is written in.
std::string_view language_of_letter(char32_t c) {
  if ((c >= 0x3040 && c <= 0x30FF)) return "ja";
  if (c >= 0xAC00 && c <= 0xD7AF) return "ko";
  if (c >= 0x4E00 && c <= 0x9FFF) return "zh";
  if (c >= 0x0370 && c <= 0x03FF) return "el";
  if (c >= 0x0590 && c <= 0x05FF) return "he";
  if (c >= 0x0600 && c <= 0x06FF) return "ar";
  if (c >= 0x0E00 && c <= 0x0E7F) return "th";
  if (c >= 0x0900 && c <= 0x097F) return "hi";
  return {};
}

std::string language_by_script(std::string_view text) {
  std::map<std::string_view, int> counts;
  int letters = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = decode_at(text, at);
    at += point.length;
    if (!is_letter(point.value)) continue;
    ++letters;
    if (const auto code = language_of_letter(point.value); !code.empty()) ++counts[code];
  }
  if (counts.contains("ja")) {  // Han letters among Kana are Japanese
    counts["ja"] += counts["zh"];
    counts["zh"] = 0;
  }
  for (const auto& [code, count] : counts)
    if (count > 4 && 2 * count > letters) return std::string(code);
  return {};
}

}  // namespace

std::string language_of(std::string_view text) {
  text = prefix_at_grapheme(text, kMaxLanguageBytes);
  if (auto code = language_by_script(text); !code.empty()) return code;
  std::array<int, kProfiles.size()> hits{};
  for (const auto& token : tokenize(text)) {
    const auto word = " " + token.folded + " ";
    for (std::size_t i = 0; i < kProfiles.size(); ++i)
      if (kProfiles[i].words.find(word) != std::string_view::npos) ++hits[i];
  }
  const auto best = std::max_element(hits.begin(), hits.end());
  const int most = *best;
  if (most < kFewestHits) return {};
  const auto rivals =
      std::count_if(hits.begin(), hits.end(), [&](int count) { return 10 * count > 8 * most; });
  return rivals == 1 ? std::string(kProfiles[static_cast<std::size_t>(best - hits.begin())].code)
                     : std::string();
}

}  // namespace indx
