#include "vault/written_link.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/line_marks.hpp"

#include <string>

namespace indx {
namespace {

/// `x:` with two letters or more, or `//…`.
bool has_scheme(std::string_view target) {
  if (target.substr(0, 2) == "//") return true;
  if (target.empty() || !is_ascii_letter(target[0])) return false;
  std::size_t i = 1;
  while (i < target.size() && (is_ascii_letter(target[i]) || is_ascii_number(target[i]) ||
                               target[i] == '+' || target[i] == '.' || target[i] == '-'))
    ++i;
  return i >= 2 && i < target.size() && target[i] == ':';
}

std::string decoded(std::string_view text) {
  std::string plain = percent_decode(text);
  return is_valid_utf8(plain) ? plain : replace_invalid_utf8(text);
}

std::string without_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && is_ascii_punctuation(text[i + 1])) ++i;
    out += text[i];
  }
  return out;
}

}  // namespace

bool parse_wikilink(std::string_view content, Link& link, WrittenLink& written) {
  if (trim(content).empty()) return false;
  std::size_t bar = content.find('|');
  std::string_view path = content.substr(0, bar);
  if (bar == 0) {  // `[[|x]]`: the whole text is the target
    path = content;
    bar = std::string_view::npos;
  }
  if (bar != std::string_view::npos) {
    if (!path.empty() && path.back() == '\\') path.remove_suffix(1);
    const std::string_view shown = trim(content.substr(bar + 1));
    written.display = shown;
    if (!shown.empty()) link.display = replace_invalid_utf8(shown);
  }
  path = trim(path);
  link.external = path.find("://") != std::string_view::npos && has_scheme(path);
  const std::size_t hash = link.external ? std::string_view::npos : path.find('#');
  written.target = trim(path.substr(0, hash));
  link.target = replace_invalid_utf8(written.target);
  if (hash != std::string_view::npos) {
    written.subpath = trim(path.substr(hash + 1));
    link.subpath = replace_invalid_utf8(written.subpath);
  }
  return true;
}

bool parse_destination(std::string_view destination, Link& link) {
  const std::string text = without_escapes(destination);
  link.external = has_scheme(text);
  const std::size_t hash = link.external ? std::string_view::npos : text.find('#');
  link.target =
      link.external ? replace_invalid_utf8(text) : decoded(std::string_view(text).substr(0, hash));
  if (hash != std::string_view::npos)
    link.subpath = decoded(std::string_view(text).substr(hash + 1));
  return !link.target.empty() || !link.subpath.empty();
}

}  // namespace indx
