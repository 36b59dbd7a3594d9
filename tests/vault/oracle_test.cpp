// Compares parse_note with the oracles of the shared vault packs: what two independent parsers
// agreed on.
#include "base/text.hpp"
#include "vault/markdown.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
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
    if (one.syntax == LinkSyntax::Wiki && one.kind != LinkKind::Property)
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

/// What the application found in one note, and what we find, in one form; lines count from 1.
using Facts = std::map<std::string, std::vector<std::string>>;

int line_in_cache(const Json& item) { return item["position"]["start"]["line"].get<int>() + 1; }

/// `list.0` of a property's item without its number: ours is the name of the property.
std::string without_item_numbers(std::string key) {
  while (true) {
    const auto digits = key.find_last_not_of("0123456789");
    if (digits == key.npos || digits + 1 == key.size() || key[digits] != '.') return key;
    key.resize(digits);
  }
}

Facts facts_of_cache(const Json& cache) {
  Facts facts;
  const auto each = [&](const std::string& list, const auto& add) {
    for (const Json& one : cache.value(list, Json::array())) add(one);
  };
  each("headings", [&](const Json& one) {
    facts["headings"].push_back(cat(line_in_cache(one), " ", one["level"].get<int>(), " ",
                                    one["heading"].get<std::string>()));
  });
  each("tags", [&](const Json& one) {
    facts["tags"].push_back(cat(line_in_cache(one), " ", one["tag"].get<std::string>().substr(1)));
  });
  for (const std::string list : {"links", "embeds"})
    each(list, [&](const Json& one) {
      facts[list].push_back(cat(line_in_cache(one), " ", one["link"].get<std::string>()));
    });
  each("listItems", [&](const Json& one) {
    if (one.contains("task"))
      facts["tasks"].push_back(cat(line_in_cache(one), " ", one["task"].get<std::string>()));
  });
  each("frontmatterLinks", [&](const Json& one) {
    facts["properties"].push_back(cat(without_item_numbers(one["key"].get<std::string>()), " ",
                                      one["link"].get<std::string>()));
  });
  for (const Json& block : cache.value("blocks", Json::object()))
    facts["blocks"].push_back(cat(line_in_cache(block), " ", block["id"].get<std::string>()));
  return facts;
}

Facts facts_of_note(const ParsedNote& note) {
  Facts facts;
  for (const Heading& one : note.headings)
    facts["headings"].push_back(cat(one.line, " ", one.level, " ", one.text));
  for (const TagUse& one : note.tags)
    if (one.line > 0) facts["tags"].push_back(cat(one.line, " ", one.tag));
  for (const Link& one : note.links) {
    if (one.external) continue;
    const std::string target = one.target + (one.subpath.empty() ? "" : "#" + one.subpath);
    if (one.kind == LinkKind::Property)
      facts["properties"].push_back(cat(one.key, " ", target));
    else
      facts[one.kind == LinkKind::Embed ? "embeds" : "links"].push_back(cat(one.line, " ", target));
  }
  for (const Task& one : note.tasks) facts["tasks"].push_back(cat(one.line, " ", one.mark));
  for (const Block& one : note.blocks) facts["blocks"].push_back(cat(one.line, " ", one.id));
  return facts;
}

/// The same with the keys of all objects sorted, as the cache has them.
Json with_sorted_keys(const Json& value) {
  if (!value.is_structured()) return value;
  if (value.is_array()) {
    Json items = Json::array();
    for (const Json& item : value) items.push_back(with_sorted_keys(item));
    return items;
  }
  std::map<std::string, Json> sorted;
  for (const auto& [key, item] : value.items()) sorted[key] = with_sorted_keys(item);
  Json object = Json::object();
  for (auto& [key, item] : sorted) object[key] = std::move(item);
  return object;
}

std::string facts_as_text(Facts facts) {
  std::string text;
  for (auto& [field, lines] : facts) {
    std::sort(lines.begin(), lines.end());
    text += cat(field, ":\n", join(lines, "\n"), "\n");
  }
  return text;
}

}  // namespace

TEST_CASE("notes read as the application's own caches say", "[vault][A37]") {
  const auto packed = packs_folder() / "oracle-obsidian-cache.json.gz";
  if (!fs::exists(packed)) {
    WARN("skipped: pack absent");
    return;
  }
  const auto plain =
      fs::temp_directory_path() / ("indx-cache-" + std::to_string(::getpid()) + ".json");
  const std::string command = "gunzip -c '" + packed.string() + "' > '" + plain.string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream file(plain);
  const Json files = Json::parse(file)["files"];
  fs::remove(plain);

  CHECK(files.size() == 62);
  for (const auto& [name, entry] : files.items()) {
    INFO(name);
    const ParsedNote note = parse_note(entry["fileContents"].get<std::string>());
    const Json& cache = entry["cachedMetadata"];
    CHECK(facts_as_text(facts_of_note(note)) == facts_as_text(facts_of_cache(cache)));
    const Json properties =
        cache.contains("frontmatter") ? cache["frontmatter"] : Json(Json::object());
    CHECK(with_sorted_keys(note.frontmatter.values) == with_sorted_keys(properties));
  }
}

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
