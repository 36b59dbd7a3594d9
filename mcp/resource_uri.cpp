#include "mcp/resource_uri.hpp"

#include "base/json_depth.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace indx {
namespace {

using Kind = ResourceUri::Kind;

constexpr std::string_view kVaultScheme = "vault://", kAiScheme = "ai://";
constexpr std::string_view kSummary = "summary/", kMap = "moc/";
constexpr std::size_t kMaxUriBytes = 16'384;  // every path fits, each of its bytes as %XX
constexpr std::string_view kGlobCharacters = "*?[{";
/// Arguments that may follow a path, where `?` may also be part of a name.
constexpr std::array<std::string_view, 6> kArguments = {"cursor", "limit",  "view",
                                                        "block",  "format", "this_path"};

/// A first segment with a meaning of its own; files in folders of these names need `vault:///`.
struct Synthetic {
  std::string_view prefix;
  Kind kind;
  bool has_path;
};
constexpr std::array<Synthetic, 7> kSynthetic = {{{"search", Kind::Search, false},
                                                  {"graph/backlinks", Kind::Backlinks, true},
                                                  {"graph/forward", Kind::Forward, true},
                                                  {"graph", Kind::Graph, false},
                                                  {"tags", Kind::Tags, false},
                                                  {"canvas", Kind::Canvas, true},
                                                  {"base", Kind::Base, true}}};

std::string_view first_segment(std::string_view text) { return text.substr(0, text.find('/')); }

bool is_synthetic_name(std::string_view segment) {
  return std::any_of(kSynthetic.begin(), kSynthetic.end(),
                     [&](const auto& row) { return first_segment(row.prefix) == segment; });
}

/// The rest behind the scheme, which is written in any case.
std::optional<std::string_view> after_scheme(std::string_view uri, std::string_view scheme) {
  if (uri.size() < scheme.size() || to_lower(uri.substr(0, scheme.size())) != scheme)
    return std::nullopt;
  return uri.substr(scheme.size());
}

/// One segment, decoded and in NFC; nullopt for one that no file can have.
std::optional<std::string> file_segment(std::string_view raw) {
  const std::string segment = percent_decode(raw);
  const bool is_name = !segment.empty() && segment != "." && segment != ".." &&
                       segment.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (!is_name || !is_valid_utf8(segment)) return std::nullopt;
  return to_nfc(segment);
}

Error bad_segment() { return invalid("The URI holds a path segment that no file can have."); }

Result<std::string> parse_path(std::string_view raw) {
  if (raw.empty()) return invalid("The URI names no file: give vault://Folder/Note.md.");
  std::vector<std::string> segments;
  for (const std::string& part : split(raw, '/')) {
    auto segment = file_segment(part);
    if (!segment) return bad_segment();
    segments.push_back(std::move(*segment));
  }
  return join(segments, "/");
}

/// `q=a%20b&mode=hybrid`; `+` is a space, as forms write it.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> query;
  for (const std::string& part : split(text, '&')) {
    if (part.empty()) continue;
    const std::string spaced = replace_all(part, "+", " ");
    const auto equals = spaced.find('=');
    const std::string value = equals == std::string::npos ? "" : spaced.substr(equals + 1);
    query.emplace_back(percent_decode(spaced.substr(0, equals)), percent_decode(value));
  }
  return query;
}

/// Where the arguments begin behind a path whose `?` may be raw; npos: there are none.
std::size_t find_arguments(std::string_view text) {
  const auto mark = text.rfind('?');
  if (mark == text.npos) return mark;
  const auto key = text.substr(mark + 1, text.substr(mark + 1).find('='));
  const bool is_argument = std::find(kArguments.begin(), kArguments.end(), key) != kArguments.end();
  return is_argument ? mark : text.npos;
}

Error not_offered() {
  return not_found(
      "There is no such resource. Files in a folder of this name have URIs like "
      "vault:///folder/Note.md.");
}

/// A URI whose first segment is the name of a synthetic resource.
Result<ResourceUri> parse_synthetic(std::string_view rest) {
  for (const Synthetic& row : kSynthetic) {
    if (!rest.starts_with(row.prefix)) continue;
    std::string_view tail = rest.substr(row.prefix.size());
    ResourceUri found{.kind = row.kind, .path = {}, .query = {}, .scope = {}};
    if (row.has_path) {
      if (!tail.starts_with('/')) continue;
      tail.remove_prefix(1);
    } else if (!tail.empty() && !tail.starts_with('?')) {
      continue;
    }
    const auto mark = row.has_path ? find_arguments(tail) : tail.find('?');
    if (mark != tail.npos) found.query = parse_query(tail.substr(mark + 1));
    if (row.has_path) found.path = INDX_TRY(parse_path(tail.substr(0, mark)));
    return found;
  }
  return not_offered();
}

Result<ResourceUri> parse_ai(std::string_view rest) {
  const bool is_summary = rest.starts_with(kSummary);
  if (!is_summary && !rest.starts_with(kMap))
    return not_found("There is no such resource; those of AI are ai://summary/… and ai://moc/….");
  const std::string text = percent_decode(rest.substr(is_summary ? kSummary.size() : kMap.size()));
  Json scope = parse_shallow_json(text);
  if (!scope.is_object())
    return invalid(
        R"(Behind ai://summary/ and ai://moc/ stands a percent-encoded AiScope, such as )"
        R"({"kind":"glob","path_glob":"Projects/**"}.)");
  return ResourceUri{.kind = is_summary ? Kind::Summary : Kind::Map,
                     .path = {},
                     .query = {},
                     .scope = std::move(scope)};
}

/// The pattern of a glob: encoded characters stand for themselves.
Result<std::string> parse_glob(std::string_view raw) {
  std::vector<std::string> segments;
  for (const std::string& part : split(raw, '/')) {
    if (!file_segment(part)) return bad_segment();
    std::string segment;
    for (std::size_t at = 0; at < part.size();) {
      const std::string one = percent_decode(std::string_view(part).substr(at, 3));
      const bool is_encoded = part[at] == '%' && one.size() == 1;
      const char c = is_encoded ? one[0] : part[at];
      const bool is_literal = is_encoded && kGlobCharacters.find(c) != std::string_view::npos;
      segment += is_literal ? cat('[', c, ']') : std::string(1, c);
      at += is_encoded ? 3 : 1;
    }
    segments.push_back(to_nfc(segment));
  }
  return join(segments, "/");
}

/// With `takes_globs` what can be watched.
Result<ResourceUri> parse_uri(std::string_view uri, bool takes_globs) {
  if (uri.size() > kMaxUriBytes)
    return invalid(cat("The URI is longer than ", kMaxUriBytes, " bytes."));
  if (const auto ai = after_scheme(uri, kAiScheme)) return parse_ai(*ai);
  auto rest = after_scheme(uri, kVaultScheme);
  if (!rest) return not_found("Resources of this server have URIs like vault://Folder/Note.md.");
  const bool is_path = rest->starts_with('/');
  if (is_path) rest->remove_prefix(1);
  if (!is_path && is_synthetic_name(percent_decode(rest->substr(0, rest->find_first_of("/?")))))
    return parse_synthetic(*rest);
  ResourceUri found;
  const bool is_folder = rest->empty() || rest->ends_with('/');
  if (takes_globs && (is_folder || rest->find('*') != rest->npos)) {
    found.kind = Kind::Glob;
    found.path = INDX_TRY(parse_glob(is_folder ? cat(*rest, "**") : std::string(*rest)));
  } else {
    found.path = INDX_TRY(parse_path(*rest));
  }
  return found;
}

}  // namespace

std::string vault_uri(std::string_view path) {
  return cat(kVaultScheme, is_synthetic_name(first_segment(path)) ? "/" : "",
             percent_encode(path, true));
}

std::string ai_uri(ResourceUri::Kind kind, const Json& scope) {
  return cat(kAiScheme, kind == Kind::Map ? kMap : kSummary, percent_encode(json_text(scope)));
}

Result<ResourceUri> parse_resource_uri(std::string_view uri) { return parse_uri(uri, false); }

Result<ResourceUri> parse_watched_uri(std::string_view uri) { return parse_uri(uri, true); }

}  // namespace indx
