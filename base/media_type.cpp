#include "base/media_type.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace indx {
namespace {

using Row = std::pair<std::string_view, std::string_view>;

// vault-rules 1.2, and what else lies in vaults.
constexpr std::array kTypes = {
    Row{"3gp", "video/3gpp"},
    Row{"avif", "image/avif"},
    Row{"base", "application/yaml"},
    Row{"bmp", "image/bmp"},
    Row{"canvas", "application/json"},
    Row{"css", "text/css"},
    Row{"csv", "text/csv"},
    Row{"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    Row{"epub", "application/epub+zip"},
    Row{"flac", "audio/flac"},
    Row{"gif", "image/gif"},
    Row{"gz", "application/gzip"},
    Row{"htm", "text/html"},
    Row{"html", "text/html"},
    Row{"ico", "image/vnd.microsoft.icon"},
    Row{"jpeg", "image/jpeg"},
    Row{"jpg", "image/jpeg"},
    Row{"js", "text/javascript"},
    Row{"json", "application/json"},
    Row{"m4a", "audio/mp4"},
    Row{"md", "text/markdown"},
    Row{"mkv", "video/x-matroska"},
    Row{"mov", "video/quicktime"},
    Row{"mp3", "audio/mpeg"},
    Row{"mp4", "video/mp4"},
    Row{"ogg", "audio/ogg"},
    Row{"ogv", "video/ogg"},
    Row{"pdf", "application/pdf"},
    Row{"png", "image/png"},
    Row{"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    Row{"svg", "image/svg+xml"},
    Row{"tar", "application/x-tar"},
    Row{"txt", "text/plain"},
    Row{"wav", "audio/wav"},
    Row{"webm", "video/webm"},
    Row{"webp", "image/webp"},
    Row{"xhtml", "application/xhtml+xml"},
    Row{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    Row{"xml", "application/xml"},
    Row{"yaml", "application/yaml"},
    Row{"yml", "application/yaml"},
    Row{"zip", "application/zip"},
};

}  // namespace

std::string_view media_type_of(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  const auto dot = name.rfind('.');
  if (dot == name.npos) return "application/octet-stream";
  const auto extension = to_lower(name.substr(dot + 1));
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const Row& row) { return row.first == extension; });
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

bool is_safe_to_show(std::string_view media_type) {
  if (media_type == "image/svg+xml") return false;
  return media_type.starts_with("image/") || media_type.starts_with("audio/") ||
         media_type.starts_with("video/") || media_type == "application/pdf" ||
         media_type == "text/plain";
}

}  // namespace indx
