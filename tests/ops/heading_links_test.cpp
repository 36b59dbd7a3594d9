#include "base/random.hpp"
#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"
#include "tests/support/indexed_links.hpp"
#include "vault/canvas_content.hpp"
#include "vault/link_rewrite.hpp"
#include "vault/subpath_rewrite.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

Json rename_op(const std::string& from, const std::string& to, int occurrence = 0) {
  Json op{{"op", "rename_heading"}, {"from", from}, {"to", to}};
  if (occurrence > 0) op["occurrence"] = occurrence;
  return op;
}

Result<Json> renamed(FakeWorld& world, const Json& ops, Json more = Json::object()) {
  IndexedLinks indexed(world.files, world.principal.path_scope());
  world.links = &indexed;
  Json input{{"path", "a.md"}, {"ops", ops}};
  input.update(more);
  auto result = run_operation(world, note_patch(), input);
  world.links = nullptr;
  return result;
}

/// A note with headings and files that link to it in every way.
struct LinkedHeadings {
  FakeWorld world;
  LinkedHeadings() {
    world.files = {
        {"a.md", "---\nself: \"[[a#Old]]\"\n---\n# Old\n## Sub\n[[#Old]] [[#Sub]] [[a#Old#Sub]]\n"},
        {"b.md", "[[a#Old|x]] [t](a.md#Old) `[[a#Old]]` [[d/c#Old]]\n"},
        {"c.canvas",
         R"({"nodes":[{"id":"1","type":"file","file":"a.md","subpath":"#Old"},{"id":"2","type":"text","text":"![[a#Old]]"}]})"},
        {"d/c.md", "# Old\n[[a#old#sub]] [[c#Old]] [[#Old]]\n"},
        {"other.md", "[[a]] [[a#Sub]] [[a#Nothing]]\n"}};
  }
};

}  // namespace

TEST_CASE_METHOD(LinkedHeadings, "links everywhere follow a heading that note_patch renames",
                 "[ops][A36]") {
  const auto old = world.files;
  const auto note = renamed(world, Json::array({rename_op("Old", "New name")}));

  INFO((note ? note->dump() : note.error().to_json().dump()));
  REQUIRE(note);
  CHECK(world.files["a.md"] ==
        "---\nself: \"[[a#New name]]\"\n---\n# New name\n## Sub\n[[#New name]] [[#Sub]] [[a#New "
        "name#Sub]]\n");
  CHECK(world.files["b.md"] == "[[a#New name|x]] [t](a.md#New%20name) `[[a#Old]]` [[d/c#Old]]\n");
  CHECK(
      world.files["c.canvas"] ==
      R"({"nodes":[{"id":"1","type":"file","file":"a.md","subpath":"#New name"},{"id":"2","type":"text","text":"![[a#New name]]"}]})");
  CHECK(world.files["d/c.md"] == "# Old\n[[a#New name#sub]] [[c#Old]] [[#Old]]\n");
  CHECK(world.files["other.md"] == old.at("other.md"));
  CHECK((*note)["etag"] == world.etag("a.md"));
  CHECK((*note)["relinked"].size() == 3);
  CHECK((*note)["relinked"][1] == Json{{"path", "c.canvas"},
                                       {"old_etag", etag_of(old.at("c.canvas"))},
                                       {"etag", world.etag("c.canvas")},
                                       {"old_size", old.at("c.canvas").size()},
                                       {"size", world.files["c.canvas"].size()},
                                       {"count", 2}});
  CHECK((*note)["partial"] == false);
  CHECK(world.writes == std::vector<std::string>{"a.md", "b.md", "c.canvas", "d/c.md"});
}

TEST_CASE_METHOD(LinkedHeadings, "a dry run shows what would follow and writes nothing",
                 "[ops][A36]") {
  const auto old = world.files;

  const auto note = renamed(world, Json::array({rename_op("Old", "New")}), {{"dry_run", true}});

  REQUIRE(note);
  CHECK(world.files == old);
  CHECK(world.writes.empty());
  CHECK((*note)["diff"].get<std::string>().find("+[[#New]] [[#Sub]]") != std::string::npos);
  REQUIRE((*note)["relinked"].size() == 3);
  CHECK((*note)["relinked"][0]["diff"].get<std::string>().find("+[[a#New|x]]") !=
        std::string::npos);
  CHECK((*note)["body"].get<std::string>().find("[[a#New#Sub]]") != std::string::npos);

  const auto done = renamed(world, Json::array({rename_op("Old", "New")}));
  REQUIRE(done);
  CHECK((*done)["etag"] == (*note)["etag"]);
  for (std::size_t i = 0; i < 3; ++i)
    for (const auto* key : {"old_etag", "etag", "old_size", "size"})
      CHECK((*done)["relinked"][i][key] == (*note)["relinked"][i][key]);
}

TEST_CASE_METHOD(LinkedHeadings, "a rename that fails leaves every file", "[ops][A36][A38]") {
  const auto old = world.files;

  CHECK(renamed(world, Json::array({rename_op("Old", "New")}), {{"if_match", "stale"}})
            .error()
            .reason == Reason::EtagMismatch);
  const auto missing =
      renamed(world, Json::array({rename_op("Old", "New"), rename_op("Old", "Newer")}));
  CHECK(missing.error().reason == Reason::TargetNotFound);
  CHECK(missing.error().details["op_index"] == 1);
  CHECK(renamed(world, Json::array({rename_op("Old", "New")}), {{"if_match", world.etag("a.md")}})
            .has_value());
  CHECK(world.files != old);
}

TEST_CASE_METHOD(LinkedHeadings, "a note that changes while it is renamed is looked at again",
                 "[ops][A36]") {
  bool is_first_of_a = true, is_first_of_b = true;
  world.before_write = [&](const std::string& path) {
    if (path == "a.md" && std::exchange(is_first_of_a, false))
      world.files["a.md"] += "[[#Old]] more\n";
    if (path == "b.md" && std::exchange(is_first_of_b, false))
      world.files["b.md"] += "[[a#Old]] late\n";
  };

  const auto note = renamed(world, Json::array({rename_op("Old", "New")}));

  REQUIRE(note);
  CHECK(world.files["a.md"].ends_with("[[a#New#Sub]]\n[[#New]] more\n"));
  CHECK(world.files["b.md"].ends_with("[[d/c#Old]]\n[[a#New]] late\n"));
}

TEST_CASE_METHOD(LinkedHeadings, "files that cannot follow are told, hidden ones without a name",
                 "[ops][A36][A81]") {
  world.files["bad.md"] = "[[a#Old]]\xFF";
  world.principal.path_globs = {"a.md", "bad.md", "b.md"};

  const auto note = renamed(world, Json::array({rename_op("Old", "New")}));

  REQUIRE(note);
  CHECK((*note)["failed"].size() == 1);
  CHECK((*note)["failed"][0]["path"] == "bad.md");
  CHECK((*note)["failed"][0]["code"] == "not_utf8");
  CHECK((*note)["partial"] == true);
  CHECK((*note)["warnings"] == Json::array({"links_outside_scope"}));
  CHECK((*note)["relinked"].size() == 1);
  CHECK(world.files["d/c.md"].find("#old#sub") != std::string::npos);
}

TEST_CASE_METHOD(LinkedHeadings, "renames follow one after the other, and into headings with links",
                 "[ops][A36]") {
  world.files["a.md"] = "# Old\n# See [[#Old]]\n";
  world.files["b.md"] = "[[a#Old]] [[a#See Old]]\n";

  const auto note = renamed(world, {rename_op("Old", "Middle"),
                                    {{"op", "append_body"}, {"markdown", "[[#Middle]]"}},
                                    rename_op("Middle", "New")});

  REQUIRE(note);
  CHECK(world.files["a.md"] == "# New\n# See [[#New]]\n[[#New]]\n");
  CHECK(world.files["b.md"] == "[[a#New]] [[a#See New]]\n");
}

TEST_CASE_METHOD(LinkedHeadings, "a rename that a crash interrupted goes on with the links",
                 "[ops][A36]") {
  world.files["b.md"] = "[[a#Old]]\n";
  Json journal;
  world.before_write = [&](const std::string& path) {
    if (path != "a.md") throw std::runtime_error("crash");
  };
  const auto old = world.files;
  const Json input{{"path", "a.md"}, {"ops", Json::array({rename_op("Old", "New")})}};
  IndexedLinks indexed(world.files);
  world.links = &indexed;
  world.on_journal = [&](const Json& kept) { journal = kept; };
  CHECK_THROWS(run_operation(world, note_patch(), input));
  REQUIRE(journal.is_object());
  CHECK(world.files["b.md"] == old.at("b.md"));
  world.before_write = {};
  indexed.journals[journal["key"]] = journal["plan"];

  const auto done = run_operation(world, note_patch(), journal["input"], true);

  INFO((done ? "" : done.error().to_json().dump()));
  REQUIRE(done);
  CHECK(world.files["a.md"].find("# New\n") != std::string::npos);
  CHECK(world.files["b.md"] == "[[a#New]]\n");
  CHECK(indexed.journals.empty());
}

TEST_CASE("links by block id keep their block when it is replaced", "[ops][A35]") {
  FakeWorld world;
  world.files = {{"a.md", "para ^p\n\n- one ^i\n  - child\n- two\n"},
                 {"b.md", "[[a#^p]] ![[a#^I]]\n"}};
  const auto linking = world.files["b.md"];

  const auto note =
      renamed(world, {{{"op", "replace_block"}, {"block_id", "p"}, {"markdown", "new\nlines"}},
                      {{"op", "replace_block"}, {"block_id", "^i"}, {"markdown", "first ^i"}}});

  REQUIRE(note);
  CHECK(world.files["a.md"] == "new\nlines ^p\n\n- first ^i\n- two\n");
  CHECK(world.files["b.md"] == linking);
  IndexedLinks indexed(world.files);
  for (const auto& link : indexed.forward(NotePath::parse("b.md").value()).value().links)
    CHECK((link.path == "a.md" && link.subpath_resolved));
}

TEST_CASE("links everywhere follow a block whose id changes", "[ops][A36]") {
  FakeWorld world;
  world.files = {
      {"a.md",
       "---\nself: \"[[a#^old]]\"\n---\n# H ^h\npara ^old\n\n| t |\n| - |\n\n^tab\n\n[[#^Old]] "
       "[[#^tab]] `[[#^old]]`\n\nsecond ^old\n"},
      {"b.md",
       "---\nup: \"[[a#^old]]\"\n---\n[[a#^OLD|x]] ![[a#^old]] [m](a.md#^old) [[d/c#^old]] "
       "[[a#^other]] [[a#old]]\n"},
      {"c.canvas",
       R"({"nodes":[{"id":"1","type":"file","file":"a.md","subpath":"#^old"},{"id":"2","type":"text","text":"![[a#^tab]]"}]})"},
      {"d/c.md", "one ^old\n\n[[#^old]] [[a#^h]]\n"}};
  const auto old = world.files;
  const Json ops = {{{"op", "rename_block"}, {"block_id", "^OLD"}, {"to", "^new-1"}},
                    {{"op", "rename_block"}, {"block_id", "tab"}, {"to", "sums"}},
                    {{"op", "rename_block"}, {"block_id", "h"}, {"to", "top"}}};

  const auto shown = renamed(world, ops, {{"dry_run", true}});
  REQUIRE(shown);
  CHECK(world.files == old);
  CHECK((*shown)["relinked"].size() == 3);
  const auto note = renamed(world, ops);

  INFO((note ? note->dump() : note.error().to_json().dump()));
  REQUIRE(note);
  CHECK(world.files["a.md"] ==
        "---\nself: \"[[a#^new-1]]\"\n---\n# H ^top\npara ^new-1\n\n| t |\n| - |\n\n^sums\n\n"
        "[[#^new-1]] [[#^sums]] `[[#^old]]`\n\nsecond ^old\n");
  CHECK(world.files["b.md"] ==
        "---\nup: \"[[a#^new-1]]\"\n---\n[[a#^new-1|x]] ![[a#^new-1]] [m](a.md#^new-1) "
        "[[d/c#^old]] [[a#^other]] [[a#old]]\n");
  CHECK(
      world.files["c.canvas"] ==
      R"({"nodes":[{"id":"1","type":"file","file":"a.md","subpath":"#^new-1"},{"id":"2","type":"text","text":"![[a#^sums]]"}]})");
  CHECK(world.files["d/c.md"] == "one ^old\n\n[[#^old]] [[a#^top]]\n");
  CHECK((*note)["etag"] == (*shown)["etag"]);
  CHECK((*note)["partial"] == false);
}

TEST_CASE("a block id that is taken or no id changes nothing", "[ops][A38]") {
  FakeWorld world;
  world.files = {{"a.md", "one ^p\n\ntwo ^q\n"}, {"b.md", "[[a#^p]]\n"}};
  const auto old = world.files;
  const auto rename = [&](const std::string& id, const std::string& to) {
    return renamed(world, {{{"op", "append_body"}, {"markdown", "x"}},
                           {{"op", "rename_block"}, {"block_id", id}, {"to", to}}})
        .error();
  };

  const auto taken = rename("p", "Q");
  CHECK(taken.reason == Reason::Conflict);
  CHECK(taken.details["line"] == 3);
  CHECK(taken.details["op_index"] == 1);
  CHECK(rename("p", "a b").reason == Reason::ValidationFailed);
  CHECK(rename("none", "n").reason == Reason::TargetNotFound);
  CHECK(world.files == old);
}

TEST_CASE_METHOD(LinkedHeadings, "a rename that many files follow runs as a job", "[ops][A36]") {
  for (int i = 0; i < 30; ++i) world.files[cat("n", i, ".md")] = "[[a#Old]] [[a#Sub]]\n";
  IndexedLinks indexed(world.files);
  world.links = &indexed;
  FakeContext context(world);
  const Operation operation = note_patch();
  const auto size = [&](const Json& op) {
    const auto input =
        validate(operation.input, Json{{"path", "a.md"}, {"ops", Json::array({op})}}).value();
    CHECK(operation.may_be_large(input) == (op["op"] != "append_body"));
    return operation.size(context, input).value();
  };

  CHECK(size(rename_op("Old", "New")) == 33);
  CHECK(size(rename_op("Old", "New")) > operation.inline_limit);
  CHECK(size({{"op", "append_body"}, {"markdown", "x"}}) == 0);
  CHECK(size(rename_op("Nowhere", "New")) == 0);
  CHECK(size({{"op", "rename_block"}, {"block_id", "nowhere"}, {"to", "n"}}) == 0);
}

namespace {

/// A random note and random files that link to its headings.
class HeadingVault {
 public:
  explicit HeadingVault(SeededRandom& random) : random_(random) {
    for (int i = 0; i < 7; ++i)
      note_ += cat(std::string(1 + random_.next() % 4, '#'), " ", pick(kNames), "\ntext\n\n");
    note_ += "block ^b\n\n";
    world_.files["a.md"] = note_ + random_links(4);
    world_.files["d/a.md"] = note_ + random_links(3);
    for (int i = 0; i < 3; ++i)
      world_.files[cat(i == 0 ? "d/" : "", "n", i, ".md")] =
          cat("---\nup: \"[[a#", random_subpath(), "]]\"\n---\n", random_links(6));
    Json nodes = Json::array();
    for (int i = 0; i < 4; ++i)
      nodes.push_back(i % 2 == 0
                          ? Json{{"id", cat(i)},
                                 {"type", "file"},
                                 {"file", "a.md"},
                                 {"subpath", "#" + random_subpath()}}
                          : Json{{"id", cat(i)}, {"type", "text"}, {"text", random_links(3)}});
    world_.files["c.canvas"] = Json{{"nodes", nodes}}.dump();
  }

  /// Whether every link could be kept.
  bool rename_and_check() {
    const auto before = parse_note(world_.files["a.md"]);
    const auto index = random_.next() % before.headings.size();
    const auto& text = before.headings[index].text;
    int occurrence = 0;
    for (std::size_t i = 0; i <= index; ++i) occurrence += before.headings[i].text == text ? 1 : 0;
    const auto to = pick(random_.next() % 3 == 0 ? kOddNames : kNames);
    const auto old_files = world_.files;

    const auto done = renamed(world_, Json::array({rename_op(text, to, occurrence)}));

    INFO("rename " << text << " (" << occurrence << ") to " << to << "\n" << old_files.at("a.md"));
    REQUIRE(done);
    const auto after = parse_note(world_.files["a.md"]);
    REQUIRE(after.headings.size() == before.headings.size());
    std::set<std::string> failed;
    for (const auto& row : (*done)["failed"]) failed.insert(row["path"].get<std::string>());
    for (const auto& [path, bytes] : world_.files)
      check_links(path, old_files, before, after, failed.contains(path));
    return failed.empty();
  }

  /// Every link to the block follows, and no other link changes.
  void rename_block_and_check(const std::string& to) {
    const auto old_files = world_.files;

    const auto done =
        renamed(world_, Json::array({{{"op", "rename_block"}, {"block_id", "b"}, {"to", to}}}));

    INFO((done ? "" : done.error().to_json().dump()));
    REQUIRE(done);
    CHECK((*done)["failed"].empty());
    for (const auto& [path, bytes] : world_.files) {
      INFO(path << ":\n" << old_files.at(path) << "\n=>\n" << bytes);
      const auto reached = target_index(old_files).reached(path);
      const auto old_links = links_of(path, old_files.at(path)), links = links_of(path, bytes);
      REQUIRE(links.size() == old_links.size());
      for (std::size_t i = 0; i < links.size(); ++i) {
        const bool follows = reached[i] == "a.md" && old_links[i].subpath == "^b";
        CHECK(links[i].target == old_links[i].target);
        CHECK(links[i].subpath == (follows ? "^" + to : old_links[i].subpath));
      }
    }
  }

 private:
  static inline const PathList kNames = {"A", "B", "C d", "E: f", "日本", "Long name here"};
  static inline const PathList kOddNames = {"See [[b|c]] x", "50%20 of `x`", "a|b # c",
                                            "New ^nid",      "*é*  (1)",     "\"q\""};

  const std::string& pick(const PathList& from) { return from[random_.next() % from.size()]; }

  std::string random_subpath() {
    switch (random_.next() % 6) {
      case 0:
        return "^b";
      case 1:
        return cat(pick(kNames), "#", pick(kNames));
      case 2:
        return cat(pick(kNames), "#", pick(kNames), "#", pick(kNames));
      default:
        return pick(kNames);
    }
  }
  std::string random_links(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const auto subpath = random_subpath();
      switch (random_.next() % 5) {
        case 0:
          text += cat("[[a#", subpath, "|shown]] ");
          break;
        case 1:
          text += cat("[t](a.md#", replace_all(subpath, " ", "%20"), ") ");
          break;
        case 2:
          text += cat("![[/a#", subpath, "]]\n");
          break;
        case 3:
          text += cat("[[#", subpath, "]] and [[d/a#", subpath, "]] ");
          break;
        default:
          text += cat("\n| [t](<a.md#", subpath, "> 'T') | [[a#", subpath, "\\|x]] |\n|-|-|\n\n");
      }
    }
    return text;
  }

  static std::vector<Link> links_of(const std::string& path, const std::string& bytes) {
    return is_canvas_path(path) ? canvas_content(bytes).note.links : parse_note(bytes).links;
  }
  /// The heading that a subpath reaches, by its number; nullopt: none, or a block.
  static std::optional<std::size_t> heading_at(const std::string& subpath, const ParsedNote& note) {
    NoteAnchors anchors;
    for (const auto& heading : note.headings)
      anchors.headings.push_back({heading.level, heading_key(without_block_id(heading.text)),
                                  static_cast<int>(anchors.headings.size())});
    const auto found = find_subpath(subpath, anchors);
    return found ? std::optional(static_cast<std::size_t>(*found)) : std::nullopt;
  }
  /// Whether any subpath of up to three parts reaches the heading.
  static bool is_reachable(std::size_t index, const ParsedNote& note) {
    PathList texts = {""};
    for (const auto& heading : note.headings)
      texts.push_back(heading_key(without_block_id(heading.text)));
    for (const auto& a : texts)
      for (const auto& b : texts)
        for (const auto& c : texts)
          if (heading_at(cat(a, "#", b, "#", c), note) == index) return true;
    return false;
  }

  void check_links(const std::string& path, const std::map<std::string, std::string>& old_files,
                   const ParsedNote& before, const ParsedNote& after, bool has_failed) {
    const auto old_links = links_of(path, old_files.at(path));
    const auto links = links_of(path, world_.files.at(path));
    INFO(path << ":\n" << old_files.at(path) << "\n=>\n" << world_.files.at(path));
    IndexFixture& index = target_index(old_files);
    const auto reached = index.reached(path);
    REQUIRE(reached.size() == old_links.size());
    // A heading with a link in it brings one.
    const std::size_t extra = links.size() - old_links.size();
    REQUIRE(extra <= (path == "a.md" ? 1 : 0));
    std::size_t at = 0;
    for (std::size_t i = 0; i < old_links.size(); ++i, ++at) {
      if (extra > 0 && links[at].target == "b") ++at;
      CHECK(links[at].target == old_links[i].target);
      if (reached[i] != "a.md") {
        CHECK(links[at].subpath == old_links[i].subpath);
        continue;
      }
      const auto was = heading_at(old_links[i].subpath, before);
      if (!was) continue;  // it reached nothing, or a block
      const auto now = heading_at(links[at].subpath, after);
      if (now == was) continue;
      INFO(old_links[i].subpath << " => " << links[at].subpath);
      CHECK(has_failed);
      CHECK_FALSE(is_reachable(*was, after));
    }
  }
  IndexFixture& target_index(const std::map<std::string, std::string>& files) {
    if (indexed_files_ != files) {
      index_ = std::make_unique<IndexFixture>();
      index_->put(files);
      indexed_files_ = files;
    }
    return *index_;
  }

  SeededRandom& random_;
  std::string note_;
  FakeWorld world_;
  std::unique_ptr<IndexFixture> index_;
  std::map<std::string, std::string> indexed_files_;
};

}  // namespace

TEST_CASE("random renames of headings keep every link's target", "[ops][A36][A43]") {
  SeededRandom random(31);
  int kept = 0, all = 0;
  for (int round = 0; round < 40; ++round) {
    HeadingVault vault(random);
    for (int step = 0; step < 2; ++step, ++all) kept += vault.rename_and_check() ? 1 : 0;
    vault.rename_block_and_check(cat("n", round));
  }
  CHECK(kept > all / 2);
}

}  // namespace indx
