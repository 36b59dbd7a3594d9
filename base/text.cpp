#include "base/text.hpp"

#include <cctype>

namespace indx {
namespace {

bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// `{a,b}` written out; nested braces are not supported and stay literal. At most 64 alternatives.
std::vector<std::string> expand_braces(std::string_view pattern) {
  const auto open = pattern.find('{');
  const auto close = open == pattern.npos ? pattern.npos : pattern.find('}', open);
  if (close == pattern.npos) return {std::string(pattern)};
  // The rest is written out once, so the work is bounded by the cap at each level.
  const auto rests = expand_braces(pattern.substr(close + 1));
  std::vector<std::string> all;
  for (const auto& choice : split(pattern.substr(open + 1, close - open - 1), ','))
    for (const auto& rest : rests) {
      if (all.size() == 64) return all;
      all.push_back(cat(pattern.substr(0, open), choice, rest));
    }
  return all;
}

/// The length of the class `[...]` at the front of `pattern`, 0 if it is none; `*matches` tells
/// whether `c` is in it.
std::size_t match_class(std::string_view pattern, char c, bool* matches) {
  const auto close = pattern.find(']', 2);
  if (pattern.empty() || pattern[0] != '[' || close == pattern.npos) return 0;
  auto body = pattern.substr(1, close - 1);
  const bool negated = body[0] == '!' || body[0] == '^';
  if (negated) body.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (i + 2 < body.size() && body[i + 1] == '-') {
      found = found || (body[i] <= c && c <= body[i + 2]);
      i += 2;
    } else {
      found = found || body[i] == c;
    }
  }
  *matches = found != negated && c != '/';
  return close + 1;
}

/// Dynamic programming over (pattern, path): no pattern takes exponential time.
bool match_one(std::string_view pattern, std::string_view path) {
  std::vector<bool> row(path.size() + 1), next(path.size() + 1);
  row[0] = true;
  for (std::size_t p = 0; p < pattern.size();) {
    std::fill(next.begin(), next.end(), false);
    std::size_t used = 1;
    if (pattern.substr(p, 3) == "**/" &&
        (p == 0 || pattern[p - 1] == '/')) {  // nothing, or whole segments
      used = 3;
      bool seen = false;
      for (std::size_t i = 0; i <= path.size(); ++i) {
        if (row[i]) next[i] = true, seen = true;
        if (seen && i > 0 && path[i - 1] == '/') next[i] = true;
      }
    } else if (pattern.substr(p, 2) == "**") {
      used = 2;
      bool seen = false;
      for (std::size_t i = 0; i <= path.size(); ++i) next[i] = seen = seen || row[i];
    } else if (pattern[p] == '*') {
      bool seen = false;
      for (std::size_t i = 0; i <= path.size(); ++i) {
        seen = seen || row[i];
        next[i] = seen;
        if (i < path.size() && path[i] == '/') seen = false;
      }
    } else {
      for (std::size_t i = 0; i < path.size(); ++i) {
        bool in_class = false;
        const auto length = match_class(pattern.substr(p), path[i], &in_class);
        used = length > 0 ? length : 1;
        const bool same = length > 0          ? in_class
                          : pattern[p] == '?' ? path[i] != '/'
                                              : pattern[p] == path[i];
        if (row[i] && same) next[i + 1] = true;
      }
    }
    p += used;
    row.swap(next);
  }
  return row[path.size()];
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const auto end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == text.npos) return parts;
    begin = end + 1;
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string all;
  for (const auto& part : parts) {
    if (&part != &parts.front()) all += separator;
    all += part;
  }
  return all;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_ascii_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ascii_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t begin = 0;;) {
    const auto at = from.empty() ? text.npos : text.find(from, begin);
    out += text.substr(begin, at - begin);
    if (at == text.npos) return out;
    out += to;
    begin = at + from.size();
  }
}

bool glob_match(std::string_view pattern, std::string_view path) {
  for (const auto& one : expand_braces(pattern)) {
    const auto whole = !one.empty() && one.back() == '/' ? one + "**" : one;
    if (match_one(whole, path)) return true;
  }
  return false;
}

std::string glob_of_prefix(std::string_view prefix) {
  std::string glob;
  for (const char c : prefix)
    glob += std::string_view("*?[]{}").find(c) != std::string_view::npos ? '?' : c;
  return glob + "**";
}

std::string percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
        hex_value(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string percent_encode(std::string_view text, bool keep_slash) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 128 && std::isalnum(byte) != 0) || c == '-' || c == '.' || c == '_' || c == '~' ||
        (c == '/' && keep_slash)) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    }
  }
  return out;
}

}  // namespace indx
