#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"
#include "tests/support/indexed_links.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

struct OneNote : FakeWorld {
  explicit OneNote(const std::string& text) { files["a.md"] = text; }
};
constexpr const char* kSampleNote =
    "---\ntitle: Plan\ntags: [work]\n---\n# First\n```\n# no heading\n```\n- [x] done\n[[b|shown]] "
    "#tag ^id1\n";

TEST_CASE("note_read answers with path, etag, frontmatter, outline and body",
          "[ops][A11][A16][A18]") {
  OneNote world(kSampleNote);

  const auto note = run_operation(world, note_read(), Json{{"path", "/a.md"}});

  REQUIRE(note);
  CHECK((*note)["path"] == "a.md");
  CHECK((*note)["etag"] == world.etag("a.md"));
  CHECK((*note)["title"] == "Plan");
  CHECK((*note)["frontmatter"] == Json{{"title", "Plan"}, {"tags", {"work"}}});
  CHECK((*note)["outline"] ==
        Json::array({{{"level", 1}, {"text", "First"}, {"line", 5}, {"slug", "first"}}}));
  CHECK((*note)["body"].get<std::string>().starts_with("# First\n"));
  CHECK_FALSE(note->contains("links"));
  CHECK((*note)["encoding"] == "utf-8");
}

TEST_CASE("each part of include narrows or widens what note_read gives", "[ops][A16]") {
  OneNote world(kSampleNote);
  const auto read = [&](const Json& include) {
    return *run_operation(world, note_read(), Json{{"path", "a.md"}, {"include", include}});
  };

  CHECK_FALSE(read({"outline"}).contains("body"));
  CHECK(read({"tags"})["tags"] == Json({"work", "tag"}));
  CHECK(read({"links"})["links"][0]["target"] == "b");
  CHECK(read({"links"})["links"][0]["display"] == "shown");
  CHECK(read({"tasks"})["tasks"][0]["is_done"] == true);
  CHECK(read({"blocks"})["blocks"][0]["id"] == "id1");
  CHECK_FALSE(run_operation(world, note_read(), Json{{"path", "a.md"}, {"include", {"nothing"}}}));
}

TEST_CASE("note_outline gives what note_read gives with include=outline", "[ops][A18]") {
  OneNote world(kSampleNote);

  const Json outline = *run_operation(world, note_outline(), Json{{"path", "a.md"}});
  const Json note =
      *run_operation(world, note_read(), Json{{"path", "a.md"}, {"include", {"outline"}}});

  for (const auto& [key, value] : outline.items()) CHECK(note[key] == value);
}

TEST_CASE("bytes that are no text are read as base64", "[ops]") {
  OneNote world("# hi\n\xff\xfe\n");

  const Json note = *run_operation(world, note_read(), Json{{"path", "a.md"}});

  CHECK(note["encoding"] == "binary");
  CHECK(base64_decode(note["body"].get<std::string>()).bytes == world.files["a.md"]);
}

TEST_CASE("a path that leaves the vault is refused by each operation on notes", "[ops][A2]") {
  OneNote world("x");
  for (const auto& operation :
       {note_read(), note_outline(), note_exists(), note_write(), note_patch(), note_delete(),
        link_forward(), link_backlinks(), unlinked_mentions(), graph_neighbors()}) {
    INFO(operation.name);
    Json input{{"path", "../x.md"}};
    if (operation.input->find("body") != nullptr) input["body"] = "y";
    if (operation.input->find("ops") != nullptr)
      input["ops"] = Json::array({{{"op", "append_body"}, {"markdown", "y"}}});

    const auto answer = run_operation(world, operation, input);

    REQUIRE_FALSE(answer);
    CHECK(answer.error().reason == Reason::ValidationFailed);
  }
}

TEST_CASE("note_exists tells without an error", "[ops][A19]") {
  OneNote world("x");

  CHECK((*run_operation(world, note_exists(), Json{{"path", "a.md"}}))["exists"] == true);
  CHECK((*run_operation(world, note_exists(), Json{{"path", "b.md"}}))["exists"] == false);
}

TEST_CASE("note_write creates, replaces and refuses under if_not_exists and if_match",
          "[ops][A11][A20]") {
  FakeWorld world;
  const auto write = [&](Json more) {
    Json input{{"path", "n.md"}, {"body", "one\n"}};
    input.update(more);
    return run_operation(world, note_write(), input);
  };

  CHECK((*write(Json::object()))["created"] == true);
  CHECK(world.files["n.md"] == "one\n");
  CHECK(write({{"if_not_exists", true}}).error().reason == Reason::Conflict);
  CHECK(write({{"if_match", "0000000000000000"}}).error().reason == Reason::EtagMismatch);
  const Json done = *write({{"body", "two\n"}, {"if_match", "\"" + world.etag("n.md") + "\""}});
  CHECK(done["created"] == false);
  CHECK(done["etag"] == world.etag("n.md"));
}

TEST_CASE("`*` as if_match means any version, but there must be one", "[ops][A11]") {
  OneNote world("---\nk: 1\n---\n# Old\n");
  IndexedLinks indexed(world.files);
  world.links = &indexed;
  const auto write = [&](const std::string& path) {
    return run_operation(world, note_write(),
                         Json{{"path", path}, {"body", "# Old\n"}, {"if_match", "*"}});
  };
  const auto patch = [&](const Json& op) {
    return run_operation(world, note_patch(),
                         Json{{"path", "a.md"}, {"ops", Json::array({op})}, {"if_match", "*"}});
  };

  const auto missing = write("none.md");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().reason == Reason::EtagMismatch);
  CHECK_FALSE(world.files.contains("none.md"));
  CHECK(write("a.md"));
  CHECK(patch({{"op", "append_body"}, {"markdown", "x"}}));
  bool is_first = true;
  world.before_write = [&](const std::string&) {
    if (std::exchange(is_first, false)) world.files["a.md"] += "late\n";
  };
  CHECK(patch({{"op", "rename_heading"}, {"from", "Old"}, {"to", "New"}}));
  CHECK(world.files["a.md"] == "---\nk: 1\n---\n# New\nx\nlate\n");
  world.before_write = {};
  CHECK(run_operation(world, note_delete(), Json{{"path", "a.md"}, {"if_match", "*"}}));
  CHECK(world.files.empty());
}

TEST_CASE("note_write and note_patch write notes only, and say what writes the rest", "[ops]") {
  FakeWorld world;
  world.files = {{"c.canvas", "{}"}, {"q.base", "views: []\n"}, {"p.png", "text"}, {"A.MD", "x\n"}};
  const auto old = world.files;
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"c.canvas", "canvas_write and canvas_patch"},
      {"C.CANVAS", "canvas_write and canvas_patch"},
      {"q.base", "attachment_write"},
      {"p.png", "attachment_write"},
      {"d/Foo", "did you mean `d/Foo.md`?"},
      {"Notes v1.2", "did you mean `Notes v1.2.md`?"}};
  for (const auto& operation : {note_write(), note_patch()})
    for (const auto& [path, advice] : refused) {
      INFO(operation.name << " " << path);
      Json input{{"path", path}};
      if (operation.input->find("body") != nullptr)
        input["body"] = "junk";
      else
        input["ops"] = Json::array({{{"op", "append_body"}, {"markdown", "junk"}}});

      const auto answer = run_operation(world, operation, input);

      REQUIRE_FALSE(answer);
      CHECK(answer.error().reason == Reason::ValidationFailed);
      INFO(answer.error().message);
      CHECK(answer.error().message.find(advice) != std::string::npos);
    }
  CHECK(world.files == old);
  CHECK(run_operation(world, note_write(), Json{{"path", "A.MD"}, {"body", "y\n"}}));
  CHECK(world.files["A.MD"] == "y\n");
}

TEST_CASE("a note is moved to the name of a note only", "[ops]") {
  OneNote world("x\n");
  IndexedLinks indexed(world.files);
  world.links = &indexed;

  const auto moved = run_operation(world, note_move(), Json{{"from", "a.md"}, {"to", "d/b"}});

  REQUIRE_FALSE(moved);
  CHECK(moved.error().reason == Reason::ValidationFailed);
  CHECK(moved.error().message.find("`d/b.md`") != std::string::npos);
  CHECK(world.writes.empty());
}

TEST_CASE("note_write keeps, replaces or removes the property block", "[ops][A20]") {
  OneNote world("---\na: 1\n---\nold\n");
  const auto write = [&](Json more) {
    Json input{{"path", "a.md"}, {"body", "new\n"}};
    input.update(more);
    return run_operation(world, note_write(), input);
  };

  REQUIRE(write(Json::object()));
  CHECK(world.files["a.md"] == "---\na: 1\n---\nnew\n");
  REQUIRE(write({{"frontmatter", {{"b", 2}}}}));
  CHECK(world.files["a.md"] == "---\nb: 2\n---\nnew\n");
  REQUIRE(write({{"frontmatter", nullptr}}));
  CHECK(world.files["a.md"] == "new\n");
}

TEST_CASE("note_patch runs its steps in order and answers with the whole note",
          "[ops][A15][A27][A28][A29][A30][A31]") {
  OneNote world("---\na: 1 # kept\nb: 2\n---\nbody\n");

  const auto note =
      run_operation(world, note_patch(),
                    Json{{"path", "a.md"},
                         {"ops",
                          {{{"op", "set_frontmatter"}, {"key", "c"}, {"value", {"x"}}},
                           {{"op", "delete_frontmatter"}, {"key", "b"}},
                           {{"op", "append_body"}, {"markdown", "last"}},
                           {{"op", "prepend_body"}, {"markdown", "first"}}}}});

  REQUIRE(note);
  CHECK(world.files["a.md"] == "---\na: 1 # kept\nc:\n  - x\n---\nfirst\n\nbody\n\nlast\n");
  CHECK((*note)["etag"] == world.etag("a.md"));
  CHECK((*note)["body"] == "first\n\nbody\n\nlast\n");
  CHECK((*note)["frontmatter"] == Json{{"a", 1}, {"c", {"x"}}});
  CHECK((*note)["changed"] == true);
  CHECK(world.writes.size() == 1);
}

TEST_CASE("note_patch refuses empty ops, and steps with missing or foreign fields", "[ops][A27]") {
  OneNote world("body\n");
  const auto patch = [&](const Json& ops) {
    return run_operation(world, note_patch(), Json{{"path", "a.md"}, {"ops", ops}});
  };

  CHECK(patch(Json::array()).error().reason == Reason::ValidationFailed);
  CHECK(patch({{{"op", "append_body"}}}).error().details["path"] == "ops[0].markdown");
  CHECK(patch({{{"op", "append_body"}, {"markdown", "x"}, {"key", "k"}}}).error().details["path"] ==
        "ops[0].key");
  CHECK(patch({{{"op", "set_frontmatter"}, {"key", "k"}}}).error().details["path"] ==
        "ops[0].value");
  CHECK(patch({{{"op", "melt"}}}).error().details["path"] == "ops[0].op");
  CHECK(world.files["a.md"] == "body\n");
}

TEST_CASE("a dry run shows the difference and the note as it would be, and writes nothing",
          "[ops][A96]") {
  OneNote world("body\n");

  const Json note = *run_operation(world, note_patch(),
                                   Json{{"path", "a.md"},
                                        {"dry_run", true},
                                        {"ops", {{{"op", "append_body"}, {"markdown", "more"}}}}});

  CHECK(world.files["a.md"] == "body\n");
  CHECK(note["body"] == "body\n\nmore\n");
  CHECK(note["diff"].get<std::string>().find("+more") != std::string::npos);
  CHECK(note["dry_run"] == true);
}

TEST_CASE("note_delete removes a note once", "[ops][A21]") {
  OneNote world("x");

  CHECK(run_operation(world, note_delete(), Json{{"path", "a.md"}, {"if_match", "stale"}})
            .error()
            .reason == Reason::EtagMismatch);
  CHECK(run_operation(world, note_delete(), Json{{"path", "a.md"}}));
  CHECK(run_operation(world, note_delete(), Json{{"path", "a.md"}}).error().reason ==
        Reason::NotFound);
}

TEST_CASE("note_list passes its filters on and pages without gap or repeat", "[ops][A17][A26]") {
  FakeWorld world;
  for (int i = 100; i < 120; ++i) world.files["n/" + std::to_string(i) + ".md"] = "x";
  world.files["other.md"] = "x";
  std::vector<std::string> paths;
  Json cursor = "";

  while (!cursor.is_null()) {
    const Json page = *run_operation(world, note_list(),
                                     Json{{"path_glob", "n/**"}, {"limit", 7}, {"cursor", cursor}});
    for (const auto& row : page["notes"]) paths.push_back(row["path"].get<std::string>());
    cursor = page["next_cursor"];
  }

  CHECK(paths.size() == 20);
  CHECK(std::is_sorted(paths.begin(), paths.end()));
}

TEST_CASE("vault_search answers with hits and falls back from hybrid with a warning",
          "[ops][A60][A61][A62]") {
  OneNote world("a runbook here");

  const Json found =
      *run_operation(world, vault_search(), Json{{"q", "runbook"}, {"mode", "hybrid"}});

  CHECK(found["mode_used"] == "lexical");
  CHECK(found["warnings"] == Json({"embeddings_unavailable"}));
  CHECK(found["results"][0]["path"] == "a.md");
  CHECK(found["results"][0]["matched_in"] == Json({"body"}));
  CHECK(found["results"][0]["snippet"] == "**runbook**");
  CHECK_FALSE(run_operation(world, vault_search(), Json{{"q", "x"}, {"mode", "psychic"}}));
}

TEST_CASE("tag_list gives counts, most used first, page by page", "[ops][A49][A26]") {
  FakeWorld world;
  world.files = {{"a.md", "#one #two\n"}, {"b.md", "#two #three\n"}};

  const Json first = *run_operation(world, tag_list(), Json{{"limit", 2}});
  const Json second =
      *run_operation(world, tag_list(), Json{{"limit", 2}, {"cursor", first["next_cursor"]}});

  CHECK(first["tags"][0] == Json{{"tag", "two"}, {"count", 2}, {"count_nested", 2}});
  CHECK(first["tags"][1]["tag"] == "one");
  CHECK(second["tags"][0]["tag"] == "three");
  CHECK(second["next_cursor"].is_null());
  CHECK_FALSE(run_operation(world, tag_list(), Json{{"cursor", "made up"}}));
}

TEST_CASE("link_forward says what each link reaches", "[ops][A45]") {
  FakeWorld world;
  IndexedLinks indexed({{"a.md", "[[b|shown]] [[gone]]\n"}, {"b.md", "x"}});
  world.links = &indexed;

  const Json links = (*run_operation(world, link_forward(), Json{{"path", "a.md"}}))["links"];

  CHECK(links[0]["path"] == "b.md");
  CHECK(links[0]["resolved"] == true);
  CHECK(links[0]["display"] == "shown");
  CHECK(links[1]["resolved"] == false);
  CHECK_FALSE(links[1].contains("path"));
}

TEST_CASE("a walk over the links of a note goes on where it was when the note changes",
          "[ops][A26][A45]") {
  FakeWorld world;
  IndexedLinks indexed(std::map<std::string, std::string>{{"a.md", "[[one]] [[two]] [[three]]\n"}});
  world.links = &indexed;
  const auto page = [&](const std::string& cursor) {
    return *run_operation(world, link_forward(),
                          Json{{"path", "a.md"}, {"limit", 2}, {"cursor", cursor}});
  };

  const Json first = page("");
  indexed.index().put("a.md", "[[zero]] [[one]] [[two]] [[two]] [[three]]\n");
  const Json second = page(first["next_cursor"].get<std::string>());

  CHECK(first["total"] == 3);
  CHECK(second["links"][0]["target"] == "two");
  CHECK(second["links"][1]["target"] == "three");
  CHECK_FALSE(run_operation(world, link_forward(), Json{{"path", "a.md"}, {"cursor", "eA=="}}));
}

TEST_CASE("link_resolve reads links in every spelling", "[ops][A45]") {
  FakeWorld world;
  IndexedLinks indexed({{"a b.md", "# H\n"}, {"d/s.md", "# Own\n"}});
  world.links = &indexed;
  const auto ask = [&](const std::string& link, const std::string& source = "") {
    return *run_operation(world, link_resolve(), Json{{"link", link}, {"source", source}});
  };

  for (const auto* link : {"[[a b#H|x]]", "![[A B#h]]", "a b#H", "[t](a%20b.md#H)"}) {
    INFO(link);
    CHECK(ask(link)["path"] == "a b.md");
    CHECK(ask(link)["line"] == 1);
    CHECK(ask(link)["subpath"].get<std::string>().size() == 1);
  }
  CHECK(ask("#Own", "d/s.md")["path"] == "d/s.md");
  CHECK(ask("[x](https://a.b)")["external"] == true);
  CHECK(ask("nobody")["resolved"] == false);
  for (const auto* lost : {"nobody", "nobody#H", "a b#None", "[x](https://a.b)"})
    CHECK(ask(lost)["subpath_resolved"] == false);
  for (const auto* reached : {"a b", "a b#H"}) CHECK(ask(reached)["subpath_resolved"] == true);
  CHECK_FALSE(run_operation(world, link_resolve(), Json{{"link", "#Own"}}));
  CHECK_FALSE(run_operation(world, link_resolve(), Json{{"link", "[[a]] [[b]]"}}));
}

TEST_CASE("tag_rename lists what it would do, then does it", "[ops][A51]") {
  FakeWorld world;
  world.files = {{"a.md", "---\ntags: [proj]\n---\n#proj/x `#proj`\n"},
                 {"b.md", "#project\n```query\ntag:#project\n```\n"},
                 {"q.md", "```query\ntag:#proj\n```\n"},
                 {"v.base", "filters: file.hasTag(\"proj\")\n"},
                 {"w.base", "filters: project\n"}};
  const auto old_bytes = world.files["a.md"];
  IndexedLinks indexed(world.files);
  world.links = &indexed;

  const Json planned = *run_operation(world, tag_rename(),
                                      Json{{"from", "#proj"}, {"to", "work"}, {"dry_run", true}});
  CHECK(world.writes.empty());
  const Json done = *run_operation(world, tag_rename(), Json{{"from", "#proj"}, {"to", "work"}});

  CHECK(planned["changed"][0]["path"] == "a.md");
  CHECK(planned["changed"][0]["count"] == 2);
  for (const Json& row : {planned["changed"][0], done["changed"][0]}) {
    CHECK(row["old_etag"] == etag_of(old_bytes));
    CHECK(row["etag"] == world.etag("a.md"));
    CHECK(row["old_size"] == old_bytes.size());
    CHECK(row["size"] == world.files["a.md"].size());
  }
  CHECK(done["changed"].size() == 1);
  CHECK(done["also_mentions"] == Json({"q.md", "v.base"}));
  CHECK(world.files["a.md"] == "---\ntags: [work]\n---\n#work/x `#proj`\n");
  CHECK(world.files["b.md"].starts_with("#project\n"));
  CHECK(run_operation(world, tag_rename(), Json{{"from", "proj"}, {"to", "12"}})
            .error()
            .details["path"] == "to");
}

TEST_CASE("tag_rename leaves a note that changed meanwhile and says so", "[ops][A51]") {
  FakeWorld world;
  world.files = {{"a.md", "#x\n"}, {"b.md", "#x\n"}};
  IndexedLinks indexed(world.files);
  world.links = &indexed;
  world.before_write = [&](const std::string& path) {
    if (path == "a.md") world.files["a.md"] = "edited #x\n";
  };

  const Json done = *run_operation(world, tag_rename(), Json{{"from", "x"}, {"to", "y"}});

  CHECK(done["failed"][0]["code"] == "etag_mismatch");
  CHECK(world.files["a.md"] == "edited #x\n");
  CHECK(world.files["b.md"] == "#y\n");
}

TEST_CASE("a rename that meets an error that passes is tried again as a job, and tells of it else",
          "[ops]") {
  FakeWorld world;
  world.files = {{"a.md", "#x\n"}};
  IndexedLinks indexed(world.files);
  world.links = &indexed;
  world.write_error = make_error(Reason::Unavailable, "The disk is full.");
  const Json input{{"from", "x"}, {"to", "y"}};

  CHECK(run_operation(world, tag_rename(), input, true).error().reason == Reason::Unavailable);
  const Json told = *run_operation(world, tag_rename(), input);
  CHECK(told["failed"][0]["code"] == "unavailable");
}

TEST_CASE("tag_rename runs as a job over 20 notes", "[ops][A51]") {
  FakeWorld world;
  for (int i = 0; i < 21; ++i) world.files[std::to_string(i) + ".md"] = "#x\n";
  IndexedLinks indexed(world.files);
  world.links = &indexed;
  FakeContext context(world);
  const Operation operation = tag_rename();

  CHECK(*operation.size(context, *validate(operation.input, Json{{"from", "x"}, {"to", "y"}})) >
        operation.inline_limit);
}

TEST_CASE("property_rename changes names and nothing else", "[ops][A28]") {
  FakeWorld world;
  world.files = {{"a.md", "---\n# c\nStatus:   open # why\n'x y': [1]\n---\nstatus\n"},
                 {"b.md", "---\n{\"status\": 1, \"k\": 2}\n---\n"},
                 {"c.md", "---\nstatus: 1\nstate: 2\n---\n"},
                 {"d.md", "---\nother: status\n---\n"},
                 {"v.base", "filters: status == 1\n"}};
  const auto before = world.files;
  IndexedLinks indexed(world.files);
  world.links = &indexed;
  const Json input{{"from", "status"}, {"to", "state"}};
  Json dry = input;
  dry["dry_run"] = true;

  const Json planned = *run_operation(world, property_rename(), dry);
  CHECK(world.files == before);
  const Json done = *run_operation(world, property_rename(), input);

  CHECK(planned["changed"].size() == 2);
  CHECK(planned["changed"][0]["diff"].get<std::string>().find("+state:   open # why") !=
        std::string::npos);
  CHECK(world.files["a.md"] == "---\n# c\nstate:   open # why\n'x y': [1]\n---\nstatus\n");
  CHECK(world.files["b.md"] == "---\n{\"state\": 1, \"k\": 2}\n---\n");
  CHECK(world.files["c.md"] == before.at("c.md"));
  CHECK(done["failed"][0]["path"] == "c.md");
  CHECK(done["failed"][0]["code"] == "conflict");
  CHECK(done["also_mentions"] == Json({"v.base"}));
  CHECK_FALSE(run_operation(world, property_rename(), Json{{"from", "a"}, {"to", " "}}));
}

TEST_CASE("a rename tells of notes whose property block it cannot read", "[ops][A28][A51]") {
  FakeWorld world;
  world.files = {{"a.md", "---\nold: 1\ntags: [x]\n---\n"},
                 {"bad.md", "---\nold: [1\ntags: [x\n---\n#x\n"},
                 {"other.md", "---\nolder: [1\ntitle: the old x\n---\n"}};
  IndexedLinks indexed(world.files);
  world.links = &indexed;

  const Json property =
      *run_operation(world, property_rename(), Json{{"from", "Old"}, {"to", "new"}});
  const Json tag = *run_operation(world, tag_rename(), Json{{"from", "x"}, {"to", "y"}});

  for (const auto& done : {property, tag}) {
    INFO(done.dump());
    CHECK(done["partial"] == true);
    REQUIRE(done["failed"].size() == 1);
    CHECK(done["failed"][0]["path"] == "bad.md");
    CHECK(done["failed"][0]["code"] == "parse_failed");
  }
  CHECK(property["changed"].size() == 1);
  CHECK(indexed.turns == 2);
}

}  // namespace
}  // namespace indx
