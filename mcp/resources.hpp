#pragma once
#include "base/json.hpp"
#include "base/result.hpp"
#include "mcp/protocol.hpp"
#include "ops/principal.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Files of the vault as MCP resources: lists and results as values.

/// Most bytes of a file that one resource gives.
inline constexpr std::size_t kMaxResourceBytes = 8U << 20U;

/// Where a walk of resources/list goes on: notes first, then the other files, each by path.
struct ResourceCursor {
  bool is_behind_notes = false;
  std::string list_cursor;  ///< of the list that is walked; empty: from its start
};
std::string write_resource_cursor(const ResourceCursor& cursor);
/// Empty text is the start; `validation_failed` for what is no cursor of ours.
Result<ResourceCursor> read_resource_cursor(const std::string& text);

/// Entries of resources/list from the rows of note_list or attachment_list: objects with `path`,
/// and maybe `title` and `size`.
Json resource_entries(const Json& rows, const Protocol& protocol);

/// resources/read from bytes as they are: text where the type of the file says so and the bytes
/// are UTF-8, else a base64 blob. `too_large` above kMaxResourceBytes.
Result<Json> file_contents(const std::string& uri, std::string_view path, std::string_view bytes);
/// resources/read from a JSON document.
Json json_contents(const std::string& uri, const Json& document);

/// The input of note_read that gives the exact bytes.
Json note_bytes_input(const std::string& path);
/// Those bytes, from its output.
std::string note_bytes(const Json& note_read_output);

/// Says how to go on when a resource is larger than is given in one piece.
Error resource_too_large(std::string_view path, std::uint64_t size);

}  // namespace indx
