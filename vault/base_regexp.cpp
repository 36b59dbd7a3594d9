#include "vault/base_regexp.hpp"

#include "base/text.hpp"

#include <re2/re2.h>
#include <vector>

namespace indx {
namespace {

constexpr std::int64_t kMaxRegexpMemory = 2 << 20;
constexpr std::size_t kMaxPatternBytes = 4096;

/// The spellings of JavaScript that RE2 writes otherwise: named groups and `\u` escapes.
std::string re2_spelling(std::string_view pattern) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      const auto hex = pattern.substr(i + 2, 4);
      if (pattern[i + 1] == 'u' && hex.size() == 4 &&
          hex.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos) {
        ((out += "\\x{") += hex) += '}';
        i += 5;
      } else {
        out += pattern.substr(i++, 2);
      }
    } else if (pattern.substr(i, 3) == "(?<" && i + 3 < pattern.size() && pattern[i + 3] != '=' &&
               pattern[i + 3] != '!') {
      out += "(?P<";
      i += 2;
    } else {
      out += pattern[i];
    }
  }
  return out;
}

/// Appends `replacement` with its references filled in.
void expand_replacement(std::string& out, std::string_view replacement,
                        const std::vector<re2::StringPiece>& groups) {
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    const char next = i + 1 < replacement.size() ? replacement[i + 1] : '\0';
    if (replacement[i] != '$' || (next != '$' && next != '&' && (next < '1' || next > '9'))) {
      out += replacement[i];
      continue;
    }
    ++i;
    if (next == '$') {
      out += '$';
      continue;
    }
    const auto group = next == '&' ? 0 : static_cast<std::size_t>(next - '0');
    if (group < groups.size())
      out.append(groups[group].data() == nullptr ? "" : groups[group].data(), groups[group].size());
    else
      (out += '$') += next;
  }
}

}  // namespace

struct BaseRegexp::Program {
  std::string pattern, flags;
  RE2 regexp;
};

BaseRegexp::BaseRegexp(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

Result<BaseRegexp> BaseRegexp::compile(std::string_view pattern, std::string_view flags) {
  if (pattern.size() > kMaxPatternBytes) return invalid("The regular expression is too long.");
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kMaxRegexpMemory);
  std::string prefix;
  for (const char flag : flags) {
    if (std::string_view("gimsuy").find(flag) == std::string_view::npos)
      return invalid(cat("The regular expression has an unknown flag `", flag, "`."));
    if (flag == 'i') options.set_case_sensitive(false);
    if (flag == 'm') prefix += "(?m)";
    if (flag == 's') options.set_dot_nl(true);
  }
  auto program = std::shared_ptr<const Program>(new Program{
      std::string(pattern), std::string(flags), RE2(prefix + re2_spelling(pattern), options)});
  if (!program->regexp.ok())
    return invalid(cat("The regular expression cannot be used: ", program->regexp.error(),
                       ". Look-around and references to groups are not supported."));
  return BaseRegexp(std::move(program));
}

const std::string& BaseRegexp::pattern() const { return program_->pattern; }
const std::string& BaseRegexp::flags() const { return program_->flags; }

bool BaseRegexp::matches(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), program_->regexp);
}

Result<std::string> BaseRegexp::replace(std::string_view text, std::string_view replacement,
                                        std::size_t max_bytes) const {
  const re2::StringPiece input(text.data(), text.size());
  std::vector<re2::StringPiece> groups(
      static_cast<std::size_t>(program_->regexp.NumberOfCapturingGroups()) + 1);
  std::string out;
  std::size_t copied = 0, at = 0;
  const bool is_global = flags().find('g') != std::string::npos;
  while (at <= text.size() &&
         program_->regexp.Match(input, at, text.size(), RE2::UNANCHORED, groups.data(),
                                static_cast<int>(groups.size()))) {
    const auto begin = static_cast<std::size_t>(groups[0].data() - text.data());
    const auto end = begin + groups[0].size();
    out += text.substr(copied, begin - copied);
    expand_replacement(out, replacement, groups);
    copied = end;
    if (out.size() > max_bytes) return make_error(Reason::TooLarge, "The text becomes too long.");
    if (!is_global) break;
    at = end;
    if (groups[0].empty()) {  // step over one whole code point
      ++at;
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) ++at;
    }
  }
  out += text.substr(std::min(copied, text.size()));
  if (out.size() > max_bytes) return make_error(Reason::TooLarge, "The text becomes too long.");
  return out;
}

}  // namespace indx
