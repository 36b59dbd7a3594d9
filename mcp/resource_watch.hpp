#pragma once
#include "mcp/resource_uri.hpp"
#include "mcp/vault_changes.hpp"
#include "ops/operation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// One subscribed resource, as a value: what of the vault it depends on.
struct ResourceWatch {
  std::string uri;                 ///< as the client wrote it: updates carry the same text
  std::vector<std::string> paths;  ///< of files
  std::string glob;                ///< empty: none
  /// Whether updates name the file that changed instead of `uri`.
  bool names_files = false;

  /// For a resource that an operation answers: asked anew after a change, and compared.
  struct Question {
    std::string operation;
    Json input;
  };
  std::optional<Question> question;
};

/// `not_found`: nothing that could ever be there, or that the principal could ever read;
/// `ai_unavailable`: a resource of AI on a server without.
Result<ResourceWatch> make_watch(const std::string& uri, const Registry& registry,
                                 const Principal& principal, const AiRoles& roles);

/// What of an answer to the question has to differ for an update: not the scores of a search,
/// which move with every note; of an AI scope the notes.
Json compared_part(const ResourceWatch::Question& question, const Json& output);
/// The files that the answer was made from, of an AI scope; else nothing.
std::vector<std::string> paths_behind(const ResourceWatch::Question& question, const Json& output);

/// URIs to tell of, for watches without a question. At most `most` files are named one by one; of
/// more each watch tells once, of itself.
std::vector<std::string> updated_uris(const std::vector<ResourceWatch>& watches,
                                      const VaultChanges& changes, std::size_t most);

}  // namespace indx
