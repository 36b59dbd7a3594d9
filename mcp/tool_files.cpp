#include "mcp/tool_files.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace indx {
namespace {

constexpr const char* kTextField = "content_text";
constexpr const char* kBase64Field = "content_base64";
/// As base64 it still fits into a result.
constexpr std::uint64_t kMostBytesInResult = 24'000;
constexpr std::uint64_t kMostBytesOfImage = 512 * 1024;
/// Those that all hosts with pictures know.
constexpr std::array<std::string_view, 4> kImageTypes = {"image/png", "image/jpeg", "image/gif",
                                                         "image/webp"};

Result<std::string> bytes_of(const Json& arguments) {
  const auto field = [&](const char* name) -> const std::string* {
    const auto found = arguments.find(name);
    return found == arguments.end() ? nullptr : found->get_ptr<const std::string*>();
  };
  const std::string* text = field(kTextField);
  const std::string* base64 = field(kBase64Field);
  if ((text == nullptr) == (base64 == nullptr))
    return invalid("Give the file as `content_text` or as `content_base64`, one of them.",
                   {{"path", kTextField},
                    {"expected", "one of content_text, content_base64"},
                    {"actual", text ? "both" : "neither"}});
  if (text) return *text;
  Base64 decoded = base64_decode(*base64);
  if (decoded.ok) return std::move(decoded.bytes);
  return invalid("`content_base64` is not base64.",
                 {{"path", kBase64Field}, {"expected", "base64"}, {"actual", "other text"}});
}

}  // namespace

void add_file_fields(Json& properties) {
  properties[kTextField] = {{"type", "string"}, {"description", "The file, when it is text."}};
  properties[kBase64Field] = {{"type", "string"}, {"description", "Any other file, in base64."}};
}

Result<std::shared_ptr<const Upload>> take_file(Json& arguments) {
  const std::string bytes = INDX_TRY(bytes_of(arguments));
  arguments.erase(kTextField);
  arguments.erase(kBase64Field);
  std::error_code failed;
  const auto folder = std::filesystem::temp_directory_path(failed);
  if (failed) return internal_error("There is no folder for temporary files.");
  auto file = INDX_TRY(FileBytes::make_temp(folder.string()));
  INDX_TRY(file.append(bytes));
  return std::make_shared<const Upload>(Upload{std::move(file), {}});
}

void put_file(const FileBytes& bytes, Json& output) {
  if (bytes.size() > kMostBytesInResult) {
    output["left_out"] = cat("The file has ", bytes.size(),
                             " bytes, too many for a result. Read the resource vault://<path>.");
    return;
  }
  const auto content = bytes.read_all();
  if (!content) return;
  if (is_valid_utf8(*content) && content->find('\0') == std::string::npos)
    output[kTextField] = *content;
  else
    output[kBase64Field] = base64_encode(*content);
}

Json image_block(const FileBytes& bytes, const Json& output) {
  const std::string type = output.value("media_type", "");
  const bool is_known =
      std::find(kImageTypes.begin(), kImageTypes.end(), type) != kImageTypes.end();
  if (!is_known || bytes.size() > kMostBytesOfImage) return nullptr;
  const auto content = bytes.read_all();
  if (!content) return nullptr;
  return {{"type", "image"}, {"data", base64_encode(*content)}, {"mimeType", type}};
}

}  // namespace indx
