#include "vault/frontmatter.hpp"

#include "base/text.hpp"
#include "tests/fuzz/claims.hpp"
#include "vault/line_ends.hpp"
#include "vault/yaml_tree.hpp"

#include <algorithm>

/// Input: note, key, value (JSON, else a text). Setting and deleting one property keeps the body,
/// every other property and, where the block is plain enough to tell, every byte of their lines.

namespace indx::fuzz {
namespace {

bool is_list_key(std::string_view key) {
  const auto folded = fold_case(key);
  return folded == "tags" || folded == "aliases" || folded == "cssclasses";
}

Json as_written(std::string_view key, const Json& value) {
  return is_list_key(key) && value.is_primitive() && !value.is_null() ? Json::array({value})
                                                                      : value;
}

std::string key_in(const Json& values, std::string_view key) {
  if (values.contains(key)) return std::string(key);
  for (const auto& [name, value] : values.items())
    if (fold_case(name) == fold_case(key)) return name;
  return std::string(key);
}

Json without(Json values, const std::string& key) {
  values.erase(key);
  return values;
}

/// A new property may come between an entry and the comments after it.
std::string_view without_comments_at_end(std::string_view entry) {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < entry.size();) {
    const std::size_t end = line_end_of(entry, at);
    const auto line = trim(entry.substr(at, end - at));
    at = next_line_of(entry, end);
    if (!line.empty() && line[0] != '#') kept = end;
  }
  return entry.substr(0, kept);
}

/// The lines of each property, where each begins with its plain name in column 0; empty when the
/// block is spelled in another way.
std::vector<std::pair<std::string, std::string_view>> plain_entries(std::string_view bytes,
                                                                    const Frontmatter& block) {
  std::vector<std::pair<std::string, std::string_view>> entries;
  std::vector<std::size_t> begins;
  for (std::size_t at = block.content_begin; at < block.content_end;) {
    const std::size_t end = line_end_of(bytes, at);
    const auto line = bytes.substr(at, end - at);
    const auto colon =
        line.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    if (colon != line.npos && colon > 0 && line[colon] == ':') {
      entries.emplace_back(std::string(line.substr(0, colon)), std::string_view());
      begins.push_back(at);
    }
    at = next_line_of(bytes, end);
  }
  std::vector<std::string> read;
  for (const auto& [name, value] : block.values.items()) read.push_back(name);
  if (read.size() != entries.size()) return {};
  begins.push_back(block.content_end);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].first != read[i]) return {};
    entries[i].second = without_comments_at_end(bytes.substr(begins[i], begins[i + 1] - begins[i]));
  }
  return entries;
}

/// The texts of all entries but one stand in the block, in their order.
bool keeps_entries(std::string_view before, const Frontmatter& block, std::string_view after,
                   const std::string& but) {
  std::size_t at = 0;
  for (const auto& [name, text] : plain_entries(before, block)) {
    if (name == but) continue;
    at = after.find(text, at);
    if (at == after.npos) return false;
    at += text.size();
  }
  return true;
}

void check_block(std::string_view bytes, const Frontmatter& block) {
  CLAIM(block.begin <= block.content_begin && block.content_begin <= block.content_end &&
        block.content_end <= block.body_begin && block.body_begin <= bytes.size());
  CLAIM(block.exists || block.values.empty());
  CLAIM(!block.error || block.values.empty());
  CLAIM(block.values.is_object());
}

void check(std::string_view bytes, std::string_view key, const Json& value) {
  const Frontmatter block = parse_frontmatter(bytes);
  check_block(bytes, block);
  std::vector<std::string> invalid;
  property_tags(block.values, false, &invalid);
  property_aliases(block.values, true);
  const auto body = bytes.substr(block.body_begin);
  const auto name = key_in(block.values, key);

  if (const auto after = set_frontmatter(bytes, key, value); after.has_value()) {
    const Frontmatter now = parse_frontmatter(*after);
    check_block(*after, now);
    CLAIM(now.exists && !now.error);
    CLAIM(after->substr(now.body_begin) == body);
    CLAIM(after->substr(0, block.begin) == bytes.substr(0, block.begin));
    CLAIM(now.values.contains(name) &&
          now.values.at(name) == as_read_back(name, as_written(name, value)));
    CLAIM(without(now.values, name) == without(block.values, name));
    CLAIM(keeps_entries(bytes, block, *after, name));
    const auto again = set_frontmatter(*after, key, value);
    CLAIM(again.has_value() && *again == *after);
  } else {
    CLAIM(after.error().reason == Reason::ParseFailed || after.error().reason == Reason::NotUtf8 ||
          after.error().reason == Reason::ValidationFailed);
  }
  if (const auto after = delete_frontmatter(bytes, key); after.has_value()) {
    const Frontmatter now = parse_frontmatter(*after);
    CLAIM(!now.error);
    CLAIM(after->substr(now.body_begin) == body);
    CLAIM(now.values == without(block.values, name));
    CLAIM(keeps_entries(bytes, block, *after, name));
    if (!block.values.contains(name)) CLAIM(*after == bytes);
  }
}

}  // namespace
}  // namespace indx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const indx::fuzz::Parts parts(FUZZ_INPUT(data, size));
  auto value = indx::Json::parse(parts[2], nullptr, false);
  if (value.is_discarded()) value = std::string(parts[2]);
  indx::fuzz::check(parts[0], parts[1], value);
  return 0;
}
