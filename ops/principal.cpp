#include "ops/principal.hpp"

#include "base/text.hpp"

#include <array>

namespace indx {
namespace {

constexpr std::array<std::pair<Scope, std::string_view>, 3> kScopeNames = {
    {{Scope::VaultRead, "vault:read"},
     {Scope::VaultWrite, "vault:write"},
     {Scope::VaultAdmin, "vault:admin"}}};
constexpr std::array<std::pair<Surface, std::string_view>, 4> kSurfaceNames = {
    {{Surface::Api, "api"}, {Surface::Cli, "cli"}, {Surface::Mcp, "mcp"}, {Surface::Ui, "ui"}}};

template <typename Rows, typename Value>
std::string_view name_in(const Rows& rows, Value value) {
  for (const auto& [candidate, text] : rows)
    if (candidate == value) return text;
  return {};
}
template <typename Value, typename Rows>
std::optional<Value> value_in(const Rows& rows, std::string_view text) {
  for (const auto& [value, candidate] : rows)
    if (candidate == text) return value;
  return std::nullopt;
}

}  // namespace

std::string_view name(Scope scope) { return name_in(kScopeNames, scope); }
std::optional<Scope> parse_scope(std::string_view text) {
  return value_in<Scope>(kScopeNames, text);
}
std::string_view name(Surface surface) { return name_in(kSurfaceNames, surface); }
std::optional<Surface> parse_surface(std::string_view text) {
  return value_in<Surface>(kSurfaceNames, text);
}

bool Principal::has(Scope scope) const {
  // Scopes are ordered: each one includes those before it.
  for (const Scope held : scopes)
    if (held >= scope) return true;
  return false;
}

void Principal::bind_to(std::vector<std::string> globs) {
  subject += cat(" in ", join(globs, ", "));
  path_globs = std::move(globs);
  if (scopes.erase(Scope::VaultAdmin) > 0) scopes.insert({Scope::VaultRead, Scope::VaultWrite});
}

JobOwner to_owner(const Principal& principal) {
  JobOwner owner{principal.subject,
                 std::string(name(principal.surface)),
                 {},
                 principal.path_globs,
                 principal.request_id};
  for (const Scope scope : principal.scopes) owner.scopes.emplace_back(name(scope));
  return owner;
}

Principal to_principal(const JobOwner& owner) {
  Principal principal;
  principal.subject = owner.subject;
  principal.surface = parse_surface(owner.surface).value_or(Surface::Api);
  for (const auto& text : owner.scopes)
    if (const auto scope = parse_scope(text)) principal.scopes.insert(*scope);
  principal.path_globs = owner.path_globs;
  principal.request_id = owner.request_id;
  return principal;
}

}  // namespace indx
