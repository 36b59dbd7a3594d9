#include "mcp/resources.hpp"

#include "base/hash.hpp"
#include "base/json_depth.hpp"
#include "base/json_text.hpp"
#include "base/media_type.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/resource_uri.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace indx {
namespace {

constexpr std::string_view kNotes = "n", kFiles = "f";
constexpr std::array<std::string_view, 4> kTextTypes = {"application/json", "application/yaml",
                                                        "application/xml", "image/svg+xml"};

bool is_text_type(std::string_view type) {
  return type.starts_with("text/") ||
         std::find(kTextTypes.begin(), kTextTypes.end(), type) != kTextTypes.end();
}

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == bytes.npos && is_valid_utf8(bytes);
}

Error no_cursor() { return invalid("This cursor was not given by this list."); }

}  // namespace

std::string write_resource_cursor(const ResourceCursor& cursor) {
  return base64_encode(
      Json::array({cursor.is_behind_notes ? kFiles : kNotes, cursor.list_cursor}).dump());
}

Result<ResourceCursor> read_resource_cursor(const std::string& text) {
  if (text.empty()) return ResourceCursor();
  const auto decoded = base64_decode(text);
  const Json parts = decoded.ok ? parse_shallow_json(decoded.bytes) : Json();
  const bool is_ours = parts.is_array() && parts.size() == 2 && parts[1].is_string() &&
                       (parts[0] == kFiles || parts[0] == kNotes);
  if (!is_ours) return no_cursor();
  return ResourceCursor{parts[0] == kFiles, parts[1].get<std::string>()};
}

Json resource_entries(const Json& rows, const Protocol& protocol) {
  Json resources = Json::array();
  for (const Json& row : rows) {
    if (!row.is_object() || !row.contains("path") || !row["path"].is_string()) continue;
    const auto path = row["path"].get<std::string>();
    Json resource = {{"uri", vault_uri(path)}, {"name", path}};
    const bool has_title = row.contains("title") && row["title"].is_string();
    if (has_title && protocol.has_structured_content) resource["title"] = row["title"];
    resource["mimeType"] = media_type_of(path);
    if (row.contains("size") && row["size"].is_number_integer()) resource["size"] = row["size"];
    resources.push_back(std::move(resource));
  }
  return resources;
}

Result<Json> file_contents(const std::string& uri, std::string_view path, std::string_view bytes) {
  if (bytes.size() > kMaxResourceBytes) return resource_too_large(path, bytes.size());
  const std::string_view type = media_type_of(path);
  const bool is_unknown = type == "application/octet-stream";
  Json content = {{"uri", uri}};
  if ((is_text_type(type) || is_unknown) && is_text(bytes)) {
    content["mimeType"] = is_unknown ? "text/plain" : type;
    content["text"] = bytes;
  } else {
    content["mimeType"] = type.starts_with("text/") ? "application/octet-stream" : type;
    content["blob"] = base64_encode(bytes);
  }
  return Json{{"contents", Json::array({std::move(content)})}};
}

Json json_contents(const std::string& uri, const Json& document) {
  Json content = {{"uri", uri}, {"mimeType", "application/json"}};
  content["text"] = json_text(document);
  return {{"contents", Json::array({std::move(content)})}};
}

Json note_bytes_input(const std::string& path) {
  return {{"path", path}, {"include", Json::array({"raw"})}};
}

std::string note_bytes(const Json& note_read_output) {
  const auto raw = note_read_output.find("raw");
  if (raw == note_read_output.end() || !raw->is_string()) return {};
  const bool is_binary = note_read_output.value("encoding", Json()) == "binary";
  return is_binary ? base64_decode(raw->get<std::string>()).bytes : raw->get<std::string>();
}

Error resource_too_large(std::string_view path, std::uint64_t size) {
  const bool is_note = media_type_of(path) == "text/markdown";
  return make_error(
      Reason::TooLarge,
      cat(path, " has ", size, " bytes; a resource gives at most ", kMaxResourceBytes, ". ",
          is_note ? "Read it by section: note_read with include [\"outline\"], then with `heading`."
                  : "Fetch parts of it over REST: GET /v1/files/{path} with a Range header."),
      {{"size", size}, {"max_bytes", kMaxResourceBytes}});
}

}  // namespace indx
