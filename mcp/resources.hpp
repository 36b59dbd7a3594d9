#pragma once
#include "base/json.hpp"
#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace indx {

/// Notes as MCP resources (mcp.md section 10, point 10): URIs and results as values.

/// `vault://Daily/A%20b.md`; `vault:///path` where the first folder is named like a synthetic
/// resource.
std::string vault_uri(std::string_view path);

/// The vault path a URI names, decoded and in NFC, or why it names none. Both encoded and raw forms
/// are accepted.
Result<std::string> path_of_vault_uri(std::string_view uri);

/// The body of resources/templates/list.
Json resource_templates();

/// resources/list from the output of note_list.
Json resource_page(const Json& note_list_output);

/// The input of note_read that gives the exact bytes.
Json note_read_input(const std::string& path);

/// resources/read from the output of note_read: its `raw`, base64 when `encoding` is binary.
Json resource_contents(const std::string& uri, const std::string& path,
                       const Json& note_read_output);

}  // namespace indx
