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

std::vector<std::string> segments_of(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return split(path, '/');
}

std::vector<RoutePart> parts_of(std::string_view pattern) {
  std::vector<RoutePart> parts;
  for (auto& text : segments_of(pattern)) {
    if (!text.starts_with('{') || !text.ends_with('}')) {
      parts.push_back({std::move(text), RoutePart::Takes::Literal});
      continue;
    }
    text = text.substr(1, text.size() - 2);
    const auto takes = takes_segments(text) ? RoutePart::Takes::Segments : RoutePart::Takes::One;
    parts.push_back({std::move(text), takes});
  }
  return parts;
}

/// Segments of `path` that each part of `pattern` takes, shortest first; empty: no match.
std::vector<std::size_t> match_pattern(const std::vector<RoutePart>& pattern,
                                       const std::vector<std::string>& path, std::size_t p = 0,
                                       std::size_t s = 0) {
  using Takes = RoutePart::Takes;
  if (path.size() - s < pattern.size() - p) return {};
  const auto& part = pattern[p];
  if (part.takes == Takes::Literal && part.text != path[s]) return {};
  const std::size_t left = path.size() - s;
  if (p + 1 == pattern.size())
    return left == 1 || part.takes == Takes::Segments ? std::vector{left}
                                                      : std::vector<std::size_t>{};
  const std::size_t most = part.takes == Takes::Segments ? left : 1;
  for (std::size_t taken = 1; taken <= most; ++taken) {
    auto rest = match_pattern(pattern, path, p + 1, s + taken);
    if (rest.empty()) continue;
    rest.insert(rest.begin(), taken);
    return rest;
  }
  return {};
}

/// First the literals decide, by their number (`{from}/move` beats `{path}`) and then by their
/// place from the left; then fewer segments in one capture.
bool is_more_specific(const std::vector<RoutePart>& a, const std::vector<RoutePart>& b) {
  const auto literals = [](const std::vector<RoutePart>& pattern) {
    return std::count_if(pattern.begin(), pattern.end(), [](const RoutePart& part) {
      return part.takes == RoutePart::Takes::Literal;
    });
  };
  if (literals(a) != literals(b)) return literals(a) > literals(b);
  return std::lexicographical_compare(
      b.begin(), b.end(), a.begin(), a.end(),
      [](const RoutePart& x, const RoutePart& y) { return x.takes > y.takes; });
}

Result<Captures> decode_captures(const std::vector<RoutePart>& pattern,
                                 const std::vector<std::string>& path) {
  const auto taken = match_pattern(pattern, path);
  Captures captures;
  std::size_t at = 0;
  for (std::size_t i = 0; i < pattern.size(); at += taken[i++]) {
    if (pattern[i].takes == RoutePart::Takes::Literal) continue;
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
      return invalid("The address is not UTF-8 text.", {{"field", pattern[i].text}});
    captures[pattern[i].text] = std::move(value);
  }
  return captures;
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
  Entry entry{method, pattern, parts_of(pattern), std::move(handler)};
  const auto place = std::upper_bound(
      entries_.begin(), entries_.end(), entry,
      [](const Entry& a, const Entry& b) { return is_more_specific(a.pattern, b.pattern); });
  entries_.insert(place, std::move(entry));
}

bool Router::leads_to(const HttpRequest& request, const std::set<std::string>& patterns) const {
  // Most requests carry no body, and no pattern has their method.
  const auto first = patterns.lower_bound(request.method + " ");
  if (first == patterns.end() || !first->starts_with(request.method + " ")) return false;
  const auto* entry = find(request.method, segments_of(request.path));
  return entry != nullptr && patterns.contains(cat(entry->method, " ", entry->text));
}

const Router::Entry* Router::find(const std::string& method,
                                  const std::vector<std::string>& path) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.method == method && !match_pattern(entry.pattern, path).empty();
  });
  return found == entries_.end() ? nullptr : &*found;
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
