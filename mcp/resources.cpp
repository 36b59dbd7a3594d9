#include "mcp/resources.hpp"

#include "base/media_type.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace indx {
namespace {

constexpr std::string_view kScheme = "vault://";
constexpr std::size_t kMaxUriBytes = 8192;
/// First segments with a meaning of their own; notes in folders of these names need `vault:///`.
constexpr std::array<std::string_view, 5> kSynthetic = {"search", "graph", "tags", "canvas",
                                                        "base"};

bool is_synthetic(std::string_view segment) {
  return std::find(kSynthetic.begin(), kSynthetic.end(), segment) != kSynthetic.end();
}

bool has_scheme(std::string_view uri) {
  return uri.size() >= kScheme.size() && to_lower(uri.substr(0, kScheme.size())) == kScheme;
}

}  // namespace

std::string vault_uri(std::string_view path) {
  const std::string_view first = path.substr(0, path.find('/'));
  const std::string encoded = percent_encode(path, true);
  return cat(kScheme, is_synthetic(first) ? "/" : "", encoded);
}

Result<std::string> path_of_vault_uri(std::string_view uri) {
  if (uri.size() > kMaxUriBytes) return invalid("The URI is longer than 8192 bytes.");
  if (!has_scheme(uri))
    return invalid("Resources of this server have URIs like vault://Folder/Note.md.");
  std::string_view rest = uri.substr(kScheme.size());
  const bool is_path = rest.starts_with('/');
  if (is_path) rest.remove_prefix(1);
  if (rest.empty()) return invalid("The URI names no note: give vault://Folder/Note.md.");
  if (!is_path && is_synthetic(rest.substr(0, rest.find_first_of("/?"))))
    return not_found(
        "This resource is not offered. Notes in a folder of this name have URIs like "
        "vault:///folder/Note.md.");

  std::vector<std::string> segments;
  for (const std::string& raw : split(rest, '/')) {
    const std::string segment = percent_decode(raw);
    const bool is_name = !segment.empty() && segment != "." && segment != ".." &&
                         segment.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
    if (!is_name || !is_valid_utf8(segment))
      return invalid("The URI holds a path segment that no note can have.");
    segments.push_back(to_nfc(segment));
  }
  return join(segments, "/");
}

Json resource_templates() {
  return {
      {"resourceTemplates",
       Json::array(
           {{{"uriTemplate", "vault://{+path}"},
             {"name", "note"},
             {"title", "Note or file of the vault"},
             {"description",
              "The exact bytes of a note by its vault-relative path, percent-encoded by segment."},
             {"mimeType", "text/markdown"}}})}};
}

Json resource_page(const Json& note_list_output) {
  Json resources = Json::array();
  for (const auto& [key, rows] : note_list_output.items()) {
    if (!rows.is_array()) continue;
    for (const Json& row : rows) {
      if (!row.is_object() || !row.contains("path") || !row["path"].is_string()) continue;
      const auto path = row["path"].get<std::string>();
      Json resource = {{"uri", vault_uri(path)}, {"name", path}};
      if (row.contains("title") && row["title"].is_string()) resource["title"] = row["title"];
      resource["mimeType"] = media_type_of(path);
      if (row.contains("size") && row["size"].is_number_integer()) resource["size"] = row["size"];
      resources.push_back(std::move(resource));
    }
  }
  Json page = {{"resources", std::move(resources)}};
  if (note_list_output.contains("next_cursor") && note_list_output["next_cursor"].is_string())
    page["nextCursor"] = note_list_output["next_cursor"];
  return page;
}

Json note_read_input(const std::string& path) {
  return {{"path", path}, {"include", Json::array({"raw"})}};
}

Json resource_contents(const std::string& uri, const std::string& path,
                       const Json& note_read_output) {
  const auto text_of = [&](const char* key) {
    const auto found = note_read_output.find(key);
    return found != note_read_output.end() && found->is_string() ? found->get<std::string>()
                                                                 : std::string();
  };
  Json content = {{"uri", uri}};
  std::string text = text_of("raw");
  if (text_of("encoding") == "binary") {
    content["mimeType"] = path.ends_with(".md") ? "application/octet-stream" : media_type_of(path);
    content["blob"] = std::move(text);
    return {{"contents", Json::array({std::move(content)})}};
  }
  content["mimeType"] = media_type_of(path);
  content["text"] = std::move(text);
  return {{"contents", Json::array({std::move(content)})}};
}

}  // namespace indx
