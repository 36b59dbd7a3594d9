#pragma once
#include "ops/define.hpp"

namespace indx {

/// A token in answers; never with its secret.
struct TokenView {
  std::string id, name;
  std::vector<std::string> scopes, path_globs;
  std::string created_at;
  std::optional<std::string> last_used_at, revoked_at;

  static Fields<TokenView> fields() {
    return {
        field("id", &TokenView::id, "Public name of the token."),
        field("name", &TokenView::name, "What it is for."),
        field("scopes", &TokenView::scopes, "What it may do.",
              one_of({"vault:read", "vault:write", "vault:admin"})),
        field("path_globs", &TokenView::path_globs, "Where; empty: the whole vault."),
        field("created_at", &TokenView::created_at, "ISO 8601."),
        field("last_used_at", &TokenView::last_used_at, "ISO 8601.", nullable),
        field("revoked_at", &TokenView::revoked_at, "ISO 8601; null while it works.", nullable)};
  }
};

}  // namespace indx
