#include "vault/html_block.hpp"

#include "vault/line_marks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace indx {
namespace {

std::string lower_word(std::string_view text, std::size_t at) {
  std::string word;
  for (; at < text.size() && word.size() < 12 &&
         (is_ascii_letter(text[at]) || is_ascii_number(text[at]));
       ++at)
    word += static_cast<char>(text[at] >= 'A' && text[at] <= 'Z' ? text[at] - 'A' + 'a' : text[at]);
  return word;
}

constexpr std::array<std::string_view, 62> kBlockTags = {
    "address",  "article",  "aside",    "base",       "basefont", "blockquote", "body",   "caption",
    "center",   "col",      "colgroup", "dd",         "details",  "dialog",     "dir",    "div",
    "dl",       "dt",       "fieldset", "figcaption", "figure",   "footer",     "form",   "frame",
    "frameset", "h1",       "h2",       "h3",         "h4",       "h5",         "h6",     "head",
    "header",   "hr",       "html",     "iframe",     "legend",   "li",         "link",   "main",
    "menu",     "menuitem", "nav",      "noframes",   "ol",       "optgroup",   "option", "p",
    "param",    "section",  "source",   "summary",    "table",    "tbody",      "td",     "tfoot",
    "th",       "thead",    "title",    "tr",         "track",    "ul"};

/// A complete open or closing tag and nothing else on the line (HTML block of kind 7).
bool is_lone_tag(std::string_view text) {
  std::size_t i = 1;
  const auto skip_blanks = [&] {
    const std::size_t from = i;
    while (i < text.size() && is_blank_char(text[i])) ++i;
    return i > from;
  };
  const auto rest_is_blank = [&] {
    return text.find_first_not_of(" \t", i) == std::string_view::npos;
  };
  const bool closing = i < text.size() && text[i] == '/';
  if (closing) ++i;
  if (i >= text.size() || !is_ascii_letter(text[i])) return false;
  while (i < text.size() &&
         (is_ascii_letter(text[i]) || is_ascii_number(text[i]) || text[i] == '-'))
    ++i;
  if (closing) {
    skip_blanks();
    return i < text.size() && text[i++] == '>' && rest_is_blank();
  }
  while (true) {
    const bool spaced = skip_blanks();
    if (i >= text.size()) return false;
    if (text[i] == '>') return ++i, rest_is_blank();
    if (text[i] == '/')
      return i + 1 < text.size() && text[i + 1] == '>' && (i += 2, rest_is_blank());
    if (!spaced || !(is_ascii_letter(text[i]) || text[i] == '_' || text[i] == ':')) return false;
    while (i < text.size() &&
           (is_ascii_letter(text[i]) || is_ascii_number(text[i]) ||
            std::strchr("_.:-", text[i]) != nullptr) &&
           text[i] != '\0')
      ++i;
    const std::size_t name_end = i;
    skip_blanks();
    if (i >= text.size() || text[i] != '=') {
      i = name_end;
      continue;
    }
    ++i;
    skip_blanks();
    if (i >= text.size()) return false;
    if (text[i] == '"' || text[i] == '\'') {
      i = text.find(text[i], i + 1);
      if (i == std::string_view::npos) return false;
      ++i;
    } else {
      const std::size_t from = i;
      while (i < text.size() &&
             std::string_view(" \t\"'=<>`").find(text[i]) == std::string_view::npos)
        ++i;
      if (i == from) return false;
    }
  }
}

bool contains_ignoring_case(std::string_view text, std::string_view lower) {
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  };
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(), same) != text.end();
}

}  // namespace

int html_block_kind(std::string_view text, bool in_paragraph) {
  if (text.size() < 2 || text[0] != '<') return 0;
  if (text.substr(0, 4) == "<!--") return 2;
  if (text[1] == '?') return 3;
  if (text.substr(0, 9) == "<![CDATA[") return 5;
  if (text[1] == '!') return text.size() > 2 && is_ascii_letter(text[2]) ? 4 : 0;
  const std::size_t name_at = text[1] == '/' ? 2 : 1;
  const std::string name = lower_word(text, name_at);
  const std::size_t after = name_at + name.size();
  if (!name.empty()) {
    const bool ends = after >= text.size() || is_blank_char(text[after]) || text[after] == '>';
    if (ends && name_at == 1 &&
        (name == "script" || name == "pre" || name == "style" || name == "textarea"))
      return 1;
    if ((ends || text.substr(after, 2) == "/>") &&
        std::binary_search(kBlockTags.begin(), kBlockTags.end(), name))
      return 6;
  }
  return !in_paragraph && is_lone_tag(text) ? 7 : 0;
}

bool ends_html_block(int kind, std::string_view text) {
  switch (kind) {
    case 1:
      return contains_ignoring_case(text, "</script>") || contains_ignoring_case(text, "</pre>") ||
             contains_ignoring_case(text, "</style>") ||
             contains_ignoring_case(text, "</textarea>");
    case 2:
      return text.find("-->") != std::string_view::npos;
    case 3:
      return text.find("?>") != std::string_view::npos;
    case 4:
      return text.find('>') != std::string_view::npos;
    case 5:
      return text.find("]]>") != std::string_view::npos;
    default:
      return false;
  }
}

}  // namespace indx
