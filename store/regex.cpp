#include "store/regex.hpp"

#include <re2/re2.h>

namespace indx {
namespace {

constexpr std::int64_t kMaxPatternMemory = 8 << 20;

re2::StringPiece as_piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct Regex::Impl {
  re2::RE2 pattern;
  Impl(std::string_view text, const re2::RE2::Options& options)
      : pattern(as_piece(text), options) {}
};

Regex::Regex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Regex::~Regex() = default;

std::shared_ptr<const Regex> Regex::compile(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxPatternMemory);
  auto impl = std::make_unique<Impl>(pattern, options);
  if (!impl->pattern.ok()) return nullptr;
  return std::shared_ptr<const Regex>(new Regex(std::move(impl)));  // NOLINT: private constructor
}

bool Regex::matches(std::string_view text) const {
  return re2::RE2::PartialMatch(as_piece(text), impl_->pattern);
}

std::optional<std::pair<std::size_t, std::size_t>> Regex::find(std::string_view text,
                                                               std::size_t from) const {
  re2::StringPiece found;
  if (from > text.size() ||
      !impl_->pattern.Match(as_piece(text), from, text.size(), re2::RE2::UNANCHORED, &found, 1))
    return std::nullopt;
  const auto begin = static_cast<std::size_t>(found.data() - text.data());
  return std::pair(begin, begin + found.size());
}

}  // namespace indx
