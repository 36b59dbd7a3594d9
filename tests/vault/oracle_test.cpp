// Compares parse_note with the oracles of the shared vault packs: what two independent parsers
// agreed on.
#include "base/text.hpp"
#include "vault/markdown.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <unistd.h>

namespace indx {
namespace {

namespace fs = std::filesystem;

fs::path packs_folder() {
  const char* chosen = std::getenv("INDX_PACKS");
  return chosen != nullptr ? chosen : INDX_PACKS_DEFAULT;
}

/// A pack unpacked into a temp folder, removed at the end.
struct OraclePack {
  explicit OraclePack(const std::string& name) {
    root = fs::temp_directory_path() / ("indx-oracle-" + std::to_string(::getpid()) + "-" + name);
    fs::create_directories(root);
    const std::string packs = packs_folder().string(), to = root.string();
    const std::string command = "tar -xzf '" + packs + "/" + name + ".tar.gz' -C '" + to +
                                "' && gunzip -c '" + packs + "/oracle-" + name + ".json.gz' > '" +
                                to + "/oracle.json'";
    ready = std::system(command.c_str()) == 0;
    if (!ready) return;
    std::ifstream file(root / "oracle.json");
    notes = Json::parse(file)["notes"];
    vault = root / name / "vault";
  }
  ~OraclePack() {
    std::error_code ignored;
    fs::remove_all(root, ignored);
  }
  OraclePack(const OraclePack&) = delete;
  OraclePack& operator=(const OraclePack&) = delete;

  std::string read(const std::string& path) const {
    std::ifstream file(vault / path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }

  fs::path root, vault;
  Json notes;
  bool ready = false;
};

bool is_disputed(const Json& note, const std::string& field) {
  return note.contains("dispute") && note["dispute"].contains(field);
}

/// `line tag` of what the oracle leaves open: to be counted neither for nor against.
std::multiset<std::string> unclear_tags(const Json& note) {
  std::multiset<std::string> tags;
  for (const Json& item : note.value("tags_unclear", Json::array()))
    if (item.contains("line"))
      tags.insert(cat(item["line"].get<int>(), " ", item["tag"].get<std::string>()));
  return tags;
}

std::string without(const std::multiset<std::string>& unclear,
                    const std::vector<std::string>& lines) {
  std::vector<std::string> kept;
  for (const std::string& line : lines)
    if (unclear.count(line) == 0) kept.push_back(line);
  return join(kept, "\n");
}

std::string oracle_headings(const Json& note) {
  std::vector<std::string> lines;
  for (const Json& one : note.value("headings", Json::array()))
    lines.push_back(cat(one["line"].get<int>(), " ", one["level"].get<int>(), " ",
                        one["text"].get<std::string>()));
  return join(lines, "\n");
}

std::string our_headings(const ParsedNote& note) {
  std::vector<std::string> lines;
  for (const Heading& one : note.headings)
    lines.push_back(cat(one.line, " ", one.level, " ", one.text));
  return join(lines, "\n");
}

std::vector<std::string> oracle_tags(const Json& note) {
  std::vector<std::string> lines;
  for (const Json& one : note.value("tags", Json::array()))
    lines.push_back(cat(one[0].get<int>(), " ", one[1].get<std::string>()));
  return lines;
}

std::vector<std::string> our_tags(const ParsedNote& note) {
  std::vector<std::string> lines;
  for (const TagUse& one : note.tags)
    if (one.line > 0) lines.push_back(cat(one.line, " ", one.tag));
  return lines;
}

std::string oracle_tasks(const Json& note) {
  std::vector<std::string> lines;
  for (const Json& one : note.value("tasks", Json::array()))
    lines.push_back(cat(one["line"].get<int>(), " ", one["status"].get<std::string>(), " ",
                        one["text"].get<std::string>()));
  return join(lines, "\n");
}

std::string our_tasks(const ParsedNote& note) {
  std::vector<std::string> lines;
  for (const Task& one : note.tasks) lines.push_back(cat(one.line, " ", one.mark, " ", one.text));
  return join(lines, "\n");
}

std::string oracle_wikilinks(const Json& note) {
  std::vector<std::string> lines;
  for (const Json& one : note.value("wl", Json::array())) {
    std::string sub =
        one.contains("block") ? "^" + one["block"].get<std::string>() : one.value("heading", "");
    lines.push_back(cat(one["line"].get<int>(), " ", one.value("embed", false) ? "!" : "",
                        one["target"].get<std::string>(), "#", sub));
  }
  return join(lines, "\n");
}

std::string our_wikilinks(const ParsedNote& note) {
  std::vector<std::string> lines;
  for (const Link& one : note.links)
    if (one.syntax == LinkSyntax::Wiki && one.line > 0)
      lines.push_back(
          cat(one.line, " ", one.kind == LinkKind::Embed ? "!" : "", one.target, "#", one.subpath));
  return join(lines, "\n");
}

std::string oracle_blocks(const Json& note) {
  std::set<std::string> ids;
  for (const Json& one : note.value("blocks", Json::array()))
    ids.insert(one["id"].get<std::string>());
  return join({ids.begin(), ids.end()}, " ");
}

std::string our_blocks(const ParsedNote& note) {
  std::set<std::string> ids;
  for (const Block& one : note.blocks) ids.insert(one.id);
  return join({ids.begin(), ids.end()}, " ");
}

void compare_with_oracle(const std::string& name) {
  if (!fs::exists(packs_folder() / (name + ".tar.gz"))) {
    WARN("skipped: pack absent");
    return;
  }
  const OraclePack pack(name);
  REQUIRE(pack.ready);
  for (const auto& [path, expected] : pack.notes.items()) {
    INFO(name << "/" << path);
    const ParsedNote note = parse_note(pack.read(path));
    if (!is_disputed(expected, "headings")) CHECK(our_headings(note) == oracle_headings(expected));
    const auto unclear = unclear_tags(expected);
    if (!is_disputed(expected, "tags"))
      CHECK(without(unclear, our_tags(note)) == without(unclear, oracle_tags(expected)));
    if (!is_disputed(expected, "tasks")) CHECK(our_tasks(note) == oracle_tasks(expected));
    if (!is_disputed(expected, "wl")) CHECK(our_wikilinks(note) == oracle_wikilinks(expected));
    CHECK(our_blocks(note) == oracle_blocks(expected));
    if (expected.contains("fm") && expected["fm"].is_object() && !is_disputed(expected, "fm") &&
        !is_disputed(expected, "fm_js_yaml"))
      CHECK(note.frontmatter.values == expected["fm"]);
    if (expected.value("fm_error", false)) CHECK(note.frontmatter.error);
  }
}

}  // namespace

TEST_CASE("headings, tags, tasks and wikilinks equal the oracle: jsoncanvas", "[vault][A37]") {
  compare_with_oracle("d1-jsoncanvas");
}
TEST_CASE("headings, tags, tasks and wikilinks equal the oracle: meetings", "[vault][A37]") {
  compare_with_oracle("d1-meetings");
}
TEST_CASE("headings, tags, tasks and wikilinks equal the oracle: multilingual", "[vault][A37]") {
  compare_with_oracle("d1-multilingual");
}
TEST_CASE("headings, tags, tasks and wikilinks equal the oracle: contributing", "[vault][A37]") {
  compare_with_oracle("d1-tasks-contributing");
}
TEST_CASE("headings, tags, tasks and wikilinks equal the oracle: demo", "[vault][A37]") {
  compare_with_oracle("d1-tasks-demo");
}
TEST_CASE("headings, tags, tasks and wikilinks equal the oracle: docs", "[vault][A37]") {
  compare_with_oracle("d1-tasks-docs");
}
TEST_CASE("headings, tags, tasks and wikilinks equal the oracle: weird", "[vault][A37]") {
  compare_with_oracle("d1-weird");
}

}  // namespace indx
