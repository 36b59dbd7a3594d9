#include "store/token_store.hpp"

#include "base/hash.hpp"
#include "store/columns.hpp"

namespace indx {
namespace {

std::vector<std::string> string_list(const std::string& column) {
  std::vector<std::string> list;
  for (const auto& item : json_value(column))
    if (item.is_string()) list.push_back(item.get<std::string>());
  return list;
}

TokenRecord read_token(const Database::Statement& row) {
  return {.id = row.text(0),
          .name = row.text(1),
          .scopes = string_list(row.text(2)),
          .path_globs = string_list(row.text(3)),
          .created_at = time_at(row, 4),
          .last_used_at = optional_time_at(row, 5),
          .revoked_at = optional_time_at(row, 6)};
}

}  // namespace

Status TokenStore::add(const TokenRecord& record, const std::string& secret) {
  if (secret.empty()) return invalid("A token needs a secret.");
  INDX_TRY(db_.prepare("INSERT INTO tokens (id, name, secret_sha256, scopes, path_globs, "
                       "created_at, last_used_at, "
                       "revoked_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")
               .bind(record.id, record.name, sha256_hex(secret), json_text(record.scopes),
                     json_text(record.path_globs), to_millis(record.created_at),
                     optional_millis(record.last_used_at), optional_millis(record.revoked_at))
               .run());
  return {};
}

// The index finds candidates by 32 bits of the hash; the rest is compared in constant time.
Result<std::optional<TokenRecord>> TokenStore::find(const std::string& secret) {
  const std::string hash = sha256_hex(secret);
  auto query = db_.prepare(
      "SELECT id, name, scopes, path_globs, created_at, last_used_at, revoked_at, secret_sha256 "
      "FROM tokens "
      "WHERE substr(secret_sha256, 1, 8) = ?1 AND revoked_at IS NULL");
  query.bind(hash.substr(0, 8));
  while (INDX_TRY(query.step()))
    if (equal_in_constant_time(query.text(7), hash)) return std::optional(read_token(query));
  return std::optional<TokenRecord>();
}

Result<std::vector<TokenRecord>> TokenStore::list() {
  auto query = db_.prepare(
      "SELECT id, name, scopes, path_globs, created_at, last_used_at, revoked_at FROM tokens ORDER "
      "BY created_at, id");
  std::vector<TokenRecord> tokens;
  while (INDX_TRY(query.step())) tokens.push_back(read_token(query));
  return tokens;
}

Result<bool> TokenStore::revoke(const std::string& id, Timestamp now) {
  const auto changed =
      INDX_TRY(db_.prepare("UPDATE tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL")
                   .bind(id, to_millis(now))
                   .run());
  return changed > 0;
}

Status TokenStore::touch(const std::string& id, Timestamp now) {
  INDX_TRY(db_.prepare("UPDATE tokens SET last_used_at = ?2 WHERE id = ?1")
               .bind(id, to_millis(now))
               .run());
  return {};
}

}  // namespace indx
