#include "vault/note_path.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace indx {
namespace {

constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::size_t kMaxSegmentBytes = 255;

Error bad_path(std::string_view why, std::string_view input) {
  return invalid(cat("The path ", why, "."),
                 Json{{"path", replace_invalid_utf8(input.substr(0, 300))}});
}

bool has_drive_letter(std::string_view path) {
  const auto is_ascii_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return path.size() >= 2 && path[1] == ':' && is_ascii_letter(path[0]) &&
         (path.size() == 2 || path[2] == '/' || path[2] == '\\');
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::string ascii_upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

/// `CON`, `nul.md`, `COM1.txt`: Windows opens the device, whatever the extension.
bool is_device_name(std::string_view segment) {
  const std::string base = ascii_upper(trim(segment.substr(0, segment.find('.'))));
  if (base == "CON" || base == "PRN" || base == "AUX" || base == "NUL") return true;
  return base.size() == 4 && (base.compare(0, 3, "COM") == 0 || base.compare(0, 3, "LPT") == 0) &&
         base[3] >= '1' && base[3] <= '9';
}

Status check_segment(std::string_view segment) {
  const auto refuse = [&](std::string_view why) -> Status {
    return invalid(cat("The name `", segment, "` ", why, "; choose another name."),
                   Json{{"name", segment}});
  };
  if (segment.size() > kMaxSegmentBytes) return refuse("is longer than 255 bytes");
  for (const char c : segment) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) return refuse("holds a control character");
    if (std::string_view("#^[]|\\:*?\"<>").find(c) != std::string_view::npos)
      return refuse(cat("holds the character `", c, "`, which breaks links or other systems"));
  }
  for (std::size_t at = 0; at + 1 < segment.size(); ++at)  // C1 controls, U+0080 to U+009F
    if (segment[at] == '\xC2' && static_cast<unsigned char>(segment[at + 1]) < 0xA0)
      return refuse("holds a control character");
  if (segment.back() == '.' || segment.back() == ' ') return refuse("ends in a dot or a space");
  if (is_device_name(segment)) return refuse("is a device name on Windows");
  return {};
}

}  // namespace

Result<NotePath> NotePath::parse(std::string_view input) {
  if (input.find('\0') != std::string_view::npos) return bad_path("holds a NUL byte", input);
  if (!is_valid_utf8(input)) return bad_path("is not valid UTF-8", input);
  if (input.size() > kMaxPathBytes) return bad_path("is longer than 4096 bytes", input);
  if (has_drive_letter(input))
    return bad_path("names a drive; paths are relative to the vault", input);
  if (input.substr(0, 2) == "\\\\")
    return bad_path("names a network share; paths are relative to the vault", input);

  const std::string text = to_nfc(replace_all(input, "\xC2\xA0", " "));
  std::vector<std::string_view> segments;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("/\\", begin), text.size());
    const std::string_view segment = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (segment.empty() || segment == ".") continue;
    if (segment != "..") {
      segments.push_back(segment);
    } else if (segments.empty()) {
      return bad_path("leaves the vault", input);
    } else {
      segments.pop_back();
    }
  }
  if (segments.empty()) return bad_path("is empty", input);
  std::string path;
  for (const auto segment : segments) path.append(path.empty() ? "" : "/").append(segment);
  if (has_drive_letter(path))
    return bad_path("names a drive; paths are relative to the vault", input);
  return NotePath(std::move(path));
}

std::string_view NotePath::name() const {
  const std::string_view path = path_;
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string_view NotePath::stem() const {
  return is_note() ? name().substr(0, name().size() - 3) : name();
}

std::string_view NotePath::folder() const {
  const std::size_t slash = path_.rfind('/');
  return slash == std::string::npos ? std::string_view() : std::string_view(path_).substr(0, slash);
}

std::string_view NotePath::extension() const {
  const std::string_view last = name();
  const std::size_t dot = last.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : last.substr(dot + 1);
}

bool NotePath::is_note() const {
  return path_.size() > 3 && ends_with(ascii_upper(name()), ".MD") && name().size() > 3;
}

bool NotePath::is_ignored() const {
  for (std::size_t begin = 0; begin < path_.size();) {
    const std::size_t end = std::min(path_.find('/', begin), path_.size());
    if (is_ignored_segment(std::string_view(path_).substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

Status NotePath::check_creatable() const {
  if (is_ignored())
    return invalid(cat("`", path_, "` is a hidden or temporary path; indx does not write there."));
  for (const auto& segment : split(path_, '/')) {
    Status checked = check_segment(segment);
    if (!checked) return checked;
  }
  return {};
}

bool is_ignored_segment(std::string_view segment) {
  if (segment.empty()) return false;
  if (segment.front() == '.' || segment.back() == '~') return true;
  if (segment == "node_modules" || segment == "4913") return true;
  if (segment.size() > 1 && segment.front() == '#' && segment.back() == '#') return true;
  return ends_with(segment, ".swp") || ends_with(segment, ".tmp");
}

}  // namespace indx
