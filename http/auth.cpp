#include "base/text.hpp"
#include "http/rest.hpp"

#include <algorithm>
#include <arpa/inet.h>

namespace indx {
namespace {

std::string lower_name(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

/// `127.0.0.1:8080` → `127.0.0.1`; empty unless what follows the host is a port and nothing else.
std::string host_without_port(const std::string& authority) {
  const auto end = authority.starts_with('[') ? authority.find(']') + 1 : authority.find(':');
  if (end >= authority.size()) return authority;
  const auto port = std::string_view(authority).substr(end);
  const bool is_port = port[0] == ':' && port.find_first_not_of("0123456789", 1) == port.npos;
  return is_port ? authority.substr(0, end) : "";
}

bool is_ipv4(const std::string& text) {
  in_addr address{};
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1;
}

/// A name that no other party's DNS can point here.
bool is_loopback_name(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  if (host.ends_with(".localhost")) return true;
  return host.starts_with("127.") && is_ipv4(host);
}

bool is_own_name(const HttpRequest& request, const std::string& authority) {
  const auto host = lower_name(host_without_port(authority));
  if (is_loopback_name(host)) return true;
  const auto& names = request.public_names;
  return names && std::find(names->begin(), names->end(), host) != names->end();
}

/// The forwarding process keeps only what its own caller may do.
Status narrow(Principal& principal, const std::string& scopes) {
  if (scopes.empty()) return {};
  std::set<Scope> kept;
  std::vector<std::string> globs;
  const auto& own = principal.path_globs;
  for (const auto& word : split(replace_all(scopes, ",", " "), ' ')) {
    if (word.empty()) continue;
    if (word.starts_with("path:")) {
      globs.push_back(percent_decode(word.substr(5)));
      if (own.empty() || std::find(own.begin(), own.end(), globs.back()) != own.end()) continue;
      return make_error(Reason::Forbidden,
                        cat("X-Indx-Scopes asks for ", word, ", which the token does not have."));
    }
    const auto scope = parse_scope(word);
    if (!scope) return invalid(cat("X-Indx-Scopes names no scope `", word, "`."));
    if (principal.has(*scope)) kept.insert(*scope);
  }
  principal.scopes = std::move(kept);
  if (!globs.empty() && globs != own) principal.bind_to(std::move(globs));
  return {};
}

}  // namespace

Result<Principal> authenticate_request(const HttpRequest& request, Dispatcher& dispatcher,
                                       Surface surface) {
  const auto header = request.header("authorization");
  const auto space = header.find(' ');
  if (header.empty())
    return make_error(Reason::Unauthorized,
                      "A token is needed. Send the header `Authorization: Bearer indx_…`; `indx "
                      "token create` makes one.");
  if (space == header.npos || lower_name(header.substr(0, space)) != "bearer")
    return make_error(Reason::Unauthorized, "Only `Authorization: Bearer indx_…` is understood.");
  Principal principal =
      INDX_TRY(dispatcher.authenticate(std::string(trim(std::string_view(header).substr(space)))));
  principal.surface = surface;
  principal.request_id = request.id.value;
  const auto named = parse_surface(request.header("x-indx-surface"));
  if (named && (request.is_local_socket || *named == Surface::Ui))
    principal.surface = *named;  // the page says that it is one
  if (request.is_local_socket) INDX_TRY(narrow(principal, request.header("x-indx-scopes")));
  return principal;
}

Status check_origin(const HttpRequest& request) {
  if (request.is_local_socket) return {};
  const auto host = request.header("host");
  if (request.is_loopback_listener && !host.empty() && !is_own_name(request, host))
    return make_error(Reason::Forbidden,
                      "The Host header names another machine. Use localhost or 127.0.0.1, or set "
                      "http.public_names to the name that it shall be served under.");
  const auto origin = request.header("origin");
  if (origin.empty()) return {};
  const bool is_web = origin.starts_with("http://") || origin.starts_with("https://");
  const auto authority = is_web ? origin.substr(origin.find("://") + 3) : "";
  const bool is_same = !request.is_loopback_listener && !authority.empty() &&
                       lower_name(authority) == lower_name(host);
  if (is_same || (!authority.empty() && is_own_name(request, authority))) return {};
  return make_error(Reason::Forbidden,
                    "Pages of other origins may not call this server. Behind a proxy, set "
                    "http.public_names to the name that browsers see.");
}

Result<Principal> admit_request(const HttpRequest& request, Dispatcher& dispatcher) {
  INDX_TRY(check_origin(request));
  return authenticate_request(request, dispatcher, Surface::Api);
}

}  // namespace indx
