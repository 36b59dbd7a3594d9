#pragma once
#include "base/result.hpp"
#include "jobs/job.hpp"
#include "vault/note_query.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

enum class Scope : std::uint8_t { VaultRead, VaultWrite, VaultAdmin };
std::string_view name(Scope scope);  ///< `vault:read`
std::optional<Scope> parse_scope(std::string_view name);

/// Where a call came in; also the `actor` of its events.
enum class Surface : std::uint8_t { Api, Cli, Mcp, Ui };
std::string_view name(Surface surface);  ///< `api`
std::optional<Surface> parse_surface(std::string_view name);

/// Who calls, and what they may do. `vault:admin` includes write, write includes read.
struct Principal {
  std::string subject;  ///< token id, or `local` for the owner of the files, by token too
  Surface surface = Surface::Api;
  std::set<Scope> scopes;
  std::vector<std::string> path_globs;  ///< empty: the whole vault
  std::string request_id;

  bool has(Scope scope) const;
  PathScope path_scope() const { return {path_globs, {}}; }
  /// Makes it one that sees some folders alone: under a subject of its own, since jobs, tasks and
  /// events of the same name tell of other folders too, and without admin.
  void bind_to(std::vector<std::string> globs);
};
JobOwner to_owner(const Principal& principal);
Principal to_principal(const JobOwner& owner);

}  // namespace indx
