#include "store/search_cursor.hpp"

#include "base/text.hpp"

#include <cstring>

namespace indx {
namespace {

Error damaged_search_cursor() {
  return invalid("The cursor is damaged; start again without it.", {{"field", "cursor"}});
}

/// Ascending ids as their distances, seven bits a byte, the lowest first.
std::string pack_ids(const FileIds& ids) {
  std::string bytes;
  std::int64_t before = 0;
  for (const auto id : ids) {
    auto left = static_cast<std::uint64_t>(id - before);
    for (; left >= 0x80U; left >>= 7U) bytes += static_cast<char>((left & 0x7FU) | 0x80U);
    bytes += static_cast<char>(left);
    before = id;
  }
  return bytes;
}

std::optional<FileIds> unpack_ids(std::string_view bytes) {
  constexpr unsigned kMaxShift = 42;  // so that the sum of all stays far below 2^62
  FileIds ids;
  std::int64_t before = 0;
  std::uint64_t distance = 0;
  unsigned shift = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (shift > kMaxShift) return std::nullopt;
    distance |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    shift += 7;
    if ((byte & 0x80U) != 0) continue;
    if (distance == 0 || ids.size() == kMaxGivenHits) return std::nullopt;
    before += static_cast<std::int64_t>(distance);
    ids.push_back(before);
    distance = 0;
    shift = 0;
  }
  return shift == 0 ? std::optional(std::move(ids)) : std::nullopt;
}

/// All bits of a score, so that the place is the same one.
std::string score_bits(double score) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &score, sizeof bits);
  return std::to_string(bits);
}

std::optional<SearchPlace> read_place(const Json& position) {
  const auto tier = position.value("t", Json()), score = position.value("s", Json()),
             id = position.value("i", Json());
  const auto digits = score.is_string() ? score.get<std::string>() : std::string();
  if (!tier.is_number_integer() || !id.is_number_integer() || digits.empty() ||
      digits.size() > 20 || digits.find_first_not_of("0123456789") != digits.npos)
    return std::nullopt;
  SearchPlace place{tier.get<int>(), 0, id.get<std::int64_t>()};
  const std::uint64_t bits = std::strtoull(digits.c_str(), nullptr, 10);
  std::memcpy(&place.score, &bits, sizeof bits);
  return place;
}

}  // namespace

Result<SearchCursor> read_search_cursor(const std::string& text, const std::string& question_hash) {
  const auto dot = text.find('.');
  const auto position = INDX_TRY(decode_cursor(text.substr(0, dot), question_hash));
  const auto some = position.value("o", Json()), generation = position.value("g", Json()),
             numbering = position.value("n", Json());
  if (!some.is_boolean() || !generation.is_string() || !numbering.is_string())
    return damaged_search_cursor();
  SearchCursor cursor;
  cursor.with_some = some.get<bool>();
  cursor.generation = generation.get<std::string>();
  cursor.numbering = numbering.get<std::string>();
  cursor.given = std::nullopt;
  if (dot == text.npos) {
    cursor.last = read_place(position);
    if (!cursor.last) return damaged_search_cursor();
    return cursor;
  }
  const auto bytes = bytes_of_url_text(text.substr(dot + 1));
  if (bytes) cursor.given = unpack_ids(*bytes);
  if (!cursor.given) return damaged_search_cursor();
  return cursor;
}

std::string write_search_cursor(const SearchCursor& cursor, const std::string& question_hash) {
  Json position = {{"o", cursor.with_some}, {"g", cursor.generation}, {"n", cursor.numbering}};
  if (cursor.given && cursor.given->size() <= kMaxGivenHits) {
    auto text =
        cat(encode_cursor(position, question_hash), '.', url_text_of(pack_ids(*cursor.given)));
    if (text.size() <= kMaxSearchCursorBytes) return text;
  }
  position["t"] = cursor.last->tier;
  position["s"] = score_bits(cursor.last->score);
  position["i"] = cursor.last->id;
  return encode_cursor(std::move(position), question_hash);
}

}  // namespace indx
