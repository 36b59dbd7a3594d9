#include "base/text.hpp"
#include "tests/fuzz/claims.hpp"
#include "vault/link_mentions.hpp"
#include "vault/link_resolver.hpp"
#include "vault/link_rewrite.hpp"
#include "vault/note_path.hpp"

#include <map>

/// Input: note, its path, new path of the moved file, then the paths of all files; the first of
/// them moves. After the rewriting every link reaches the file that it reached before, and no byte
/// outside of the links changed.

namespace indx::fuzz {
namespace {

void check_links_in(std::string_view text) {
  const bool is_utf8 = is_valid_utf8(text);
  for (const auto& link : links_in_text(text)) {
    CLAIM(is_range(text, is_utf8, link.begin, link.end));
    CLAIM(is_range(text, is_utf8, link.target_begin, link.target_end));
    if (link.target_begin < link.target_end)
      CLAIM(link.begin <= link.target_begin && link.target_end <= link.end);
  }
}

void check_mentions(std::string_view bytes, const std::vector<std::string>& names) {
  const bool is_utf8 = is_valid_utf8(bytes);
  std::size_t last = 0;
  for (const auto& place : find_mentions(bytes, names)) {
    CLAIM(is_range(bytes, is_utf8, place.begin, place.end) && place.begin >= last);
    last = place.end;
  }
}

/// The paths of the input that a vault can hold, each once.
std::vector<std::string> paths_of(const Parts& parts) {
  std::vector<std::string> paths;
  for (std::size_t i = 3; i < parts.size() && i < 20; ++i) {
    const auto path = NotePath::parse(parts[i]);
    if (path.has_value() && path->check_creatable().has_value()) paths.push_back(path->str());
  }
  return paths;
}

void check_rewrite(std::string_view bytes, const std::string& source, const std::string& to,
                   const std::vector<std::string>& paths) {
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& path : paths) {
    auto& same = files[name_key_of_path(path)];
    if (std::find(same.begin(), same.end(), path) != same.end()) return;
    if (path == to) return;
    same.push_back(path);
  }
  for (const auto& link : parse_note(bytes).links)
    if (const auto key = name_key_of_target(link.target)) files[*key];
  files[name_key_of_path(to)];
  const MoveWorld world({{paths.front(), to}}, files);
  const auto rewrite = rewrite_text_links(bytes, source, world, {});
  if (!rewrite.has_value()) {
    CLAIM(rewrite.error().reason == Reason::ParseFailed ||
          rewrite.error().reason == Reason::NotUtf8);
    return;
  }
  CLAIM(are_applicable(rewrite->edits, bytes.size()));
  const auto after = apply_edits(bytes, rewrite->edits);
  const auto before_links = parse_note(bytes).links, after_links = parse_note(after).links;
  CLAIM(before_links.size() == after_links.size());
  const auto& source_after = world.place_after(source);
  for (std::size_t i = 0; i < before_links.size(); ++i) {
    const auto &was = before_links[i], &is = after_links[i];
    CLAIM(was.subpath == is.subpath && was.kind == is.kind && was.external == is.external);
    if (was.external || was.target.empty()) continue;
    const auto reached = world.before(source, was.target, was.syntax);
    if (!reached || rewrite->problem) continue;
    const auto reaches = world.after(source_after, is.target, is.syntax);
    CLAIM(reaches && *reaches == world.place_after(*reached));
  }
}

void check(const Parts& parts) {
  check_links_in(parts[0]);
  const auto paths = paths_of(parts);
  check_mentions(parts[0], paths);
  const auto source = NotePath::parse(parts[1]), to = NotePath::parse(parts[2]);
  if (!source.has_value() || !to.has_value() || !to->check_creatable().has_value()) return;
  if (!source->check_creatable().has_value() || paths.empty()) return;
  auto all = paths;
  if (std::find(all.begin(), all.end(), source->str()) == all.end()) all.push_back(source->str());
  check_rewrite(parts[0], source->str(), to->str(), all);

  for (const bool in_brackets : {false, true}) {
    const auto written = encode_destination(to->str(), in_brackets);
    const auto links =
        links_in_text(in_brackets ? "[x](<" + written + ">)" : "[x](" + written + ")");
    CLAIM(links.size() == 1 && links[0].target == to->str() && !links[0].external);
  }
}

}  // namespace
}  // namespace indx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  indx::fuzz::check(indx::fuzz::Parts(FUZZ_INPUT(data, size)));
  return 0;
}
