#include "cli/vault_paths.hpp"

#include "base/text.hpp"

#include <filesystem>
#include <optional>
#include <system_error>

namespace indx {
namespace {

std::optional<std::string> path_below(const std::filesystem::path& path,
                                      const std::filesystem::path& folder) {
  auto relative = path.lexically_relative(folder).generic_string();
  if (relative.empty() || relative == ".." || relative.starts_with("../")) return std::nullopt;
  return relative;
}

/// As it is written, else with the links on the way to it followed; a link at its end is the file.
std::optional<std::string> path_in_vault(const std::string& text, const std::string& vault_dir) {
  std::error_code failure;
  const auto path = std::filesystem::path(text).lexically_normal();
  const auto folder = std::filesystem::absolute(vault_dir, failure).lexically_normal();
  if (auto found = path_below(path, folder)) return found;
  const auto real_folder = std::filesystem::canonical(folder, failure);
  if (failure) return std::nullopt;
  const auto real_parent = std::filesystem::weakly_canonical(path.parent_path(), failure);
  if (failure) return std::nullopt;
  return path_below(real_parent / path.filename(), real_folder);
}

Result<std::string> relative_to_vault(const std::string& text, const std::string& vault_dir) {
  if (!text.starts_with('/')) return text;
  if (!vault_dir.empty())
    if (auto found = path_in_vault(text, vault_dir)) return std::move(*found);
  return invalid(
      cat("`", text, "` ",
          vault_dir.empty() ? "is absolute, and where the server keeps its vault is not known here"
                            : "is outside of the vault",
          ". Paths are relative to the vault, such as `Projects/Plan.md`."),
      Json{{"path", text}});
}

Status make_relative(const SchemaNode& node, Json& value, const std::string& vault_dir) {
  if (node.is_vault_path && value.is_string()) {
    value = INDX_TRY(relative_to_vault(value.get<std::string>(), vault_dir));
  } else if (node.is_vault_path && value.is_array()) {
    for (auto& item : value)
      if (item.is_string()) item = INDX_TRY(relative_to_vault(item.get<std::string>(), vault_dir));
  } else if (value.is_object()) {
    for (const auto& property : node.properties) {
      const auto member = value.find(property.name);
      if (member != value.end()) INDX_TRY(make_relative(property.schema, *member, vault_dir));
    }
  }
  return {};
}

}  // namespace

Result<Json> with_vault_paths(const SchemaNode& schema, Json input, const std::string& vault_dir) {
  INDX_TRY(make_relative(schema, input, vault_dir));
  return input;
}

}  // namespace indx
