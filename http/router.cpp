#include "http/router.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "http/rest.hpp"
#include "ops/route_field.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace indx {
namespace {

using Captures = std::map<std::string, std::string>;

bool is_capture(std::string_view part) { return part.starts_with('{') && part.ends_with('}'); }

bool is_long_capture(std::string_view part) {
  return is_capture(part) && takes_segments(part.substr(1, part.size() - 2));
}

/// Segments of `path` that each part of `pattern` takes, shortest first; empty: no match.
std::vector<std::size_t> match_pattern(const std::vector<std::string>& pattern,
                                       const std::vector<std::string>& path, std::size_t p = 0,
                                       std::size_t s = 0) {
  if (p == pattern.size()) return {};
  const bool is_last = p + 1 == pattern.size();
  const std::size_t most = is_long_capture(pattern[p]) ? path.size() - std::min(s, path.size()) : 1;
  for (std::size_t taken = 1; taken <= most && s + taken <= path.size(); ++taken) {
    if (!is_capture(pattern[p]) && pattern[p] != path[s]) return {};
    if (is_last) {
      if (s + (is_long_capture(pattern[p]) ? path.size() - s : 1) != path.size()) return {};
      return {path.size() - s};
    }
    auto rest = match_pattern(pattern, path, p + 1, s + taken);
    if (rest.empty()) continue;
    rest.insert(rest.begin(), taken);
    return rest;
  }
  return {};
}

/// Larger is more specific: first the literals from the left, then fewer segments in one capture.
std::string specificity(const std::vector<std::string>& pattern) {
  std::string rank;
  for (const auto& part : pattern)
    rank += !is_capture(part) ? 'c' : is_long_capture(part) ? 'a' : 'b';
  return rank;
}

/// Literals decide by their number (`{from}/move` beats `{path}`), then by their place.
bool is_more_specific(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto x = specificity(a), y = specificity(b);
  const auto literals = [](const std::string& rank) {
    return std::count(rank.begin(), rank.end(), 'c');
  };
  return literals(x) != literals(y) ? literals(x) > literals(y) : x > y;
}

Result<Captures> decode_captures(const std::vector<std::string>& pattern,
                                 const std::vector<std::string>& path) {
  const auto taken = match_pattern(pattern, path);
  Captures captures;
  std::size_t at = 0;
  for (std::size_t i = 0; i < pattern.size(); at += taken[i++]) {
    if (!is_capture(pattern[i])) continue;
    std::string value;
    for (std::size_t k = 0; k < taken[i]; ++k) {
      const auto decoded = percent_decode(path[at + k]);
      const auto inner = k == 0 ? decoded.find_first_not_of('/') : 0;
      if (inner != decoded.npos && decoded.find('/', inner) != decoded.npos)
        return not_found(
            "An encoded slash is part of a name, and no note has such a name. Write / between "
            "folders.");
      value += (k == 0 ? "" : "/") + decoded;
    }
    if (value.empty()) return not_found("The address ends before the name of what is asked for.");
    if (!is_valid_utf8(value) || value.find('\0') != value.npos)
      return invalid("The address is not UTF-8 text.",
                     {{"field", pattern[i].substr(1, pattern[i].size() - 2)}});
    captures[pattern[i].substr(1, pattern[i].size() - 2)] = std::move(value);
  }
  return captures;
}

std::vector<std::string> segments_of(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return split(path, '/');
}

}  // namespace

std::string HttpRequest::header(const std::string& lower_case_name) const {
  const auto found = headers.find(lower_case_name);
  return found == headers.end() ? "" : found->second;
}

std::optional<std::string> HttpRequest::query_value(const std::string& name) const {
  for (const auto& [key, value] : query)
    if (key == name) return value;
  return std::nullopt;
}

std::uint64_t HttpResponse::body_size() const {
  std::uint64_t size = body.size();
  for (const auto& part : parts) size += part.text.size() + part.size;
  return size;
}

void Router::add(const std::string& method, const std::string& pattern, RouteHandler handler) {
  entries_.push_back({method, pattern, segments_of(pattern), std::move(handler)});
}

bool Router::leads_to(const HttpRequest& request, const std::set<std::string>& patterns) const {
  const auto* entry = find(request.method, segments_of(request.path));
  return entry != nullptr && patterns.contains(cat(entry->method, " ", entry->text));
}

const Router::Entry* Router::find(const std::string& method,
                                  const std::vector<std::string>& path) const {
  const Entry* best = nullptr;
  for (const auto& entry : entries_) {
    if (entry.method != method || match_pattern(entry.pattern, path).empty()) continue;
    if (best == nullptr || is_more_specific(entry.pattern, best->pattern)) best = &entry;
  }
  return best;
}

std::vector<std::string> Router::methods_for(const std::vector<std::string>& path) const {
  std::vector<std::string> methods;
  for (const auto& entry : entries_)
    if (!match_pattern(entry.pattern, path).empty()) methods.push_back(entry.method);
  if (std::find(methods.begin(), methods.end(), "GET") != methods.end())
    methods.emplace_back("HEAD");
  std::sort(methods.begin(), methods.end());
  methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
  return methods;
}

void Router::handle(const HttpRequest& request, Responder responder) const {
  const auto path = segments_of(request.path);
  const auto* entry = find(request.method, path);
  if (entry == nullptr && request.method == "HEAD") entry = find("GET", path);
  if (entry != nullptr) {
    responder.set_route(entry->text);
    const auto captures = decode_captures(entry->pattern, path);
    if (!captures) return responder.send(error_response(captures.error(), request.id));
    return entry->handler(request, *captures, std::move(responder));
  }
  const auto methods = methods_for(path);
  if (methods.empty())
    return responder.send(error_response(
        not_found(cat("No route ", request.path, ". GET /openapi.json lists the routes.")),
        request.id));
  auto response = error_response(
      make_error(Reason::MethodNotAllowed,
                 cat(request.method, " is not possible here; use ", join(methods, " or "), ".")),
      request.id);
  response.status = 405;
  response.headers.emplace_back("Allow", join(methods, ", "));
  responder.send(std::move(response));
}

}  // namespace indx
