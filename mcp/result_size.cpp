#include "mcp/result_size.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/json_rpc.hpp"

#include <string_view>

namespace indx {
namespace {

/// The string or list that makes `value` long: what cutting should start with.
Json* longest_part(Json& value, std::string& path) {
  if (value.is_string()) return &value;
  if (!value.is_structured() || value.empty()) return nullptr;
  Json* longest = nullptr;
  std::string step;
  std::size_t longest_size = 0, total = 0;
  const auto look = [&](Json& child, std::string name) {
    const std::size_t size = json_size(child);
    total += size;
    if (longest && size <= longest_size) return;
    longest = &child;
    longest_size = size;
    step = std::move(name);
  };
  if (value.is_object()) {
    for (auto& [key, child] : value.items()) look(child, path.empty() ? key : "." + key);
  } else {
    std::size_t index = 0;
    for (auto& child : value) look(child, cat('[', index++, ']'));
    if (longest_size * 2 <= total || !(longest->is_string() || longest->is_structured()))
      return &value;
  }
  const std::size_t length = path.size();
  path += step;
  if (Json* part = longest_part(*longest, path)) return part;
  path.resize(length);
  return value.is_array() ? &value : nullptr;
}

/// The length of the longest prefix that takes at most `budget` bytes as JSON.
std::size_t prefix_in_json(std::string_view text, std::size_t budget) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    used += c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r' ? 2 : c < 0x20 ? 6 : 1;
    if (used > budget) return i;
  }
  return text.size();
}

std::string cut_string(Json& value, std::size_t excess) {
  const std::string text = value.get<std::string>();
  const std::size_t size = json_size(value);
  constexpr std::size_t kMarkerBytes = 80;
  const std::size_t budget = size > excess + kMarkerBytes ? size - excess - kMarkerBytes : 0;
  const std::string_view kept = prefix_at_grapheme(text, prefix_in_json(text, budget));
  value =
      cat(kept, "\n[indx cut this text here: ", kept.size(), " of ", text.size(), " bytes shown]");
  return cat("shows ", kept.size(), " of ", text.size(), " bytes");
}

std::string cut_list(Json& value, std::size_t excess) {
  const std::size_t all = value.size();
  std::size_t removed = 0;
  while (!value.empty() && removed < excess) {
    removed += json_size(value.back()) + 1;
    value.erase(value.size() - 1);
  }
  return cat("shows ", value.size(), " of ", all, " items");
}

}  // namespace

std::size_t json_size(const Json& value) { return dump_rpc(value).size(); }

Json cut_to_size(Json value, std::size_t max_bytes, std::vector<std::string>* cuts) {
  constexpr int kMaxCuts = 64;
  for (int i = 0; i < kMaxCuts; ++i) {
    const std::size_t size = json_size(value);
    if (size <= max_bytes) break;
    std::string path;
    Json* part = longest_part(value, path);
    constexpr std::size_t kWorthCutting = 200;  // shorter text would grow by the marker
    if (part == nullptr || part->empty()) break;
    if (part->is_string() && part->get_ref<const std::string&>().size() < kWorthCutting) break;
    const std::string done =
        part->is_string() ? cut_string(*part, size - max_bytes) : cut_list(*part, size - max_bytes);
    if (cuts) cuts->push_back(cat(path.empty() ? "the result" : path, ' ', done));
  }
  return value;
}

}  // namespace indx
