#pragma once
#include "base/clock.hpp"
#include "store/database.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

struct TokenRecord {
  std::string id;  ///< `tok_` + 16 hex: public
  std::string name;
  std::vector<std::string> scopes;      ///< `vault:read` `vault:write` `vault:admin`
  std::vector<std::string> path_globs;  ///< empty: the whole vault
  Timestamp created_at;
  std::optional<Timestamp> last_used_at, revoked_at;
};

/// Tokens `indx_<32 hex>`, stored as SHA-256 of the secret (it has 128 random bits, so no slow hash
/// is needed).
class TokenStore {
 public:
  explicit TokenStore(Database& db) : db_(db) {}
  Status add(const TokenRecord& record, const std::string& secret);
  /// The live token with this secret, compared in constant time.
  Result<std::optional<TokenRecord>> find(const std::string& secret);
  Result<std::vector<TokenRecord>> list();
  /// False when there is no live token with that id.
  Result<bool> revoke(const std::string& id, Timestamp now);
  Status touch(const std::string& id, Timestamp now);

 private:
  Database& db_;
};

}  // namespace indx
