#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"
#include "tests/support/indexed_links.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

Result<Json> patched_note(FakeWorld& world, const Json& ops, Json more = Json::object()) {
  Json input{{"path", "a.md"}, {"ops", ops}};
  input.update(more);
  return run_operation(world, note_patch(), input);
}

TEST_CASE("note_patch takes every step on sections, blocks and tasks",
          "[ops][A15][A27][A32][A33][A34][A35][A36]") {
  FakeWorld world;
  world.files["a.md"] =
      "# One\ntext ^p\n\n# Two\n- [ ] task\n\n## Sub\ns\n\n# Three\n| a |\n| - |\n\n^t\n";
  IndexedLinks indexed(world.files);
  world.links = &indexed;

  const auto note = patched_note(
      world,
      {{{"op", "insert_before_heading"}, {"heading", "Two"}, {"markdown", "before"}},
       {{"op", "insert_after_heading"}, {"heading", "# One"}, {"markdown", "after"}},
       {{"op", "replace_block"}, {"block_id", "^p"}, {"markdown", "block"}},
       {{"op", "set_task"}, {"line", 9}},
       {{"op", "replace_section"}, {"heading_path", {"Two", "Sub"}}, {"markdown", "new"}},
       {{"op", "append_to_section"}, {"heading", "Two"}, {"markdown", "end"}},
       {{"op", "append_table_row"}, {"block_id", "t"}, {"cells", {"1"}}},
       {{"op", "rename_heading"}, {"from", "One"}, {"to", "First"}},
       {{"op", "move_section"}, {"heading", "Three"}, {"target", "First"}, {"position", "before"}},
       {{"op", "delete_section"}, {"heading", "Sub"}}});

  INFO((note ? "" : note.error().to_json().dump()));
  REQUIRE(note);
  CHECK(
      world.files["a.md"] ==
      "# Three\n| a |\n| - |\n| 1 |\n\n^t\n\n# First\nafter\n\nblock ^p\n\nbefore\n\n# Two\n- [x] "
      "task\n");
  CHECK((*note)["body"] == world.files["a.md"]);
  CHECK((*note)["etag"] == world.etag("a.md"));
  CHECK((*note)["anchors"] == Json::array({{{"from", "One"},
                                            {"to", "First"},
                                            {"from_slug", "one"},
                                            {"to_slug", "first"},
                                            {"line", 1}}}));
}

TEST_CASE("a failing step leaves the note and names its index", "[ops][A27][A38]") {
  FakeWorld world;
  world.files["a.md"] = "# A\n## D\n# B\n## D\n";
  const std::string before = world.files["a.md"];

  const auto missing =
      patched_note(world, {{{"op", "append_body"}, {"markdown", "x"}},
                           {{"op", "replace_section"}, {"heading", "Missing"}, {"markdown", "y"}}});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().reason == Reason::TargetNotFound);
  CHECK(missing.error().details["op_index"] == 1);
  CHECK(missing.error().details["candidates"].size() == 4);

  const auto ambiguous =
      patched_note(world, {{{"op", "replace_section"}, {"heading", "D"}, {"markdown", "y"}}});
  CHECK(ambiguous.error().reason == Reason::Ambiguous);
  CHECK(ambiguous.error().details["candidates"][1]["line"] == 4);
  CHECK(world.files["a.md"] == before);
}

TEST_CASE("a step must have its fields and no others", "[ops][A27]") {
  FakeWorld world;
  world.files["a.md"] = "# A\n";
  for (const Json& step :
       {Json{{"op", "replace_section"}, {"markdown", "x"}},
        Json{{"op", "replace_section"}, {"heading", "A"}},
        Json{{"op", "replace_section"},
             {"heading", "A"},
             {"heading_path", {"A"}},
             {"markdown", "x"}},
        Json{{"op", "rename_heading"}, {"heading", "A"}, {"to", "B"}}, Json{{"op", "set_task"}},
        Json{{"op", "append_body"}, {"markdown", "x"}, {"line", 1}}}) {
    INFO(step.dump());
    const auto refused = patched_note(world, Json::array({step}));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().reason == Reason::ValidationFailed);
  }
}

TEST_CASE("a dry run shows the diff, sizes and etags and writes nothing", "[ops][A27]") {
  FakeWorld world;
  world.files["a.md"] = "# A\nx\n";

  const auto shown =
      patched_note(world, {{{"op", "replace_section"}, {"heading", "A"}, {"markdown", "longer"}}},
                   {{"dry_run", true}});

  REQUIRE(shown);
  CHECK((*shown)["diff"].get<std::string>().find("+longer") != std::string::npos);
  CHECK((*shown)["old_size"] == 6);
  CHECK((*shown)["size"] == 11);
  CHECK((*shown)["old_etag"] == world.etag("a.md"));
  CHECK(world.writes.empty());
}

TEST_CASE("note_read gives one section or block", "[ops][A16][A42]") {
  FakeWorld world;
  world.files["a.md"] = "---\nk: 1\n---\n# A\n#one text ^p\n## S\n- [ ] t [[l]]\n# B\n#two\n# A\n";
  const auto read = [&](Json more) {
    Json input{{"path", "a.md"}};
    input.update(more);
    return run_operation(world, note_read(), input);
  };

  const auto section = read({{"heading", "A"}, {"occurrence", 1}});
  REQUIRE(section);
  CHECK((*section)["body"] == "#one text ^p\n## S\n- [ ] t [[l]]\n");
  CHECK((*section)["section"]["line"] == 4);
  CHECK((*section)["section"]["end_line"] == 7);
  CHECK_FALSE(section->contains("frontmatter"));
  const auto parts =
      read({{"heading", "S"}, {"include", {"tags", "tasks", "links", "outline", "blocks"}}});
  CHECK((*parts)["tags"].empty());
  CHECK((*parts)["tasks"].size() == 1);
  CHECK((*parts)["links"].size() == 1);
  CHECK((*parts)["outline"].size() == 1);
  CHECK((*parts)["blocks"].empty());
  CHECK((*read({{"block_id", "p"}}))["body"] == "#one text ^p");
  CHECK((*read({{"anchor", "A#S"}}))["body"] == "- [ ] t [[l]]\n");
  CHECK((*read({{"anchor", "a-1"}}))["section"]["line"] == 10);
  CHECK(read({{"heading", "A"}}).error().reason == Reason::Ambiguous);
  CHECK(read({{"heading", "C"}}).error().reason == Reason::TargetNotFound);
  CHECK(read({{"block_id", "q"}}).error().details["candidates"][0]["block_id"] == "p");
  CHECK(read({{"heading", "A"}, {"block_id", "p"}}).error().reason == Reason::ValidationFailed);
}

TEST_CASE("note_read tells the type of each property", "[ops][A16]") {
  FakeWorld world;
  world.files["a.md"] = "---\nt: x\nn: 1\nb: true\nd: 2026-03-16\nl: [a]\nTags: [z]\ne:\n---\n";

  const auto note =
      run_operation(world, note_read(), Json{{"path", "a.md"}, {"include", {"properties"}}});

  REQUIRE(note);
  std::vector<std::string> types;
  for (const Json& one : (*note)["properties"]) types.push_back(one["type"].get<std::string>());
  CHECK(types ==
        std::vector<std::string>{"text", "number", "checkbox", "date", "list", "tags", "empty"});
}

TEST_CASE("the addresses of document_map read the section they stand for", "[ops][A38][A42]") {
  FakeWorld world;
  world.files["a.md"] = "---\nk: 1\n---\n# A\n## B\nx\n## B\ny ^p\n# A\nz ^p\n";

  const auto map = run_operation(world, document_map(), Json{{"path", "a.md"}});

  REQUIRE(map);
  CHECK((*map)["etag"] == world.etag("a.md"));
  CHECK((*map)["blocks"].size() == 1);
  CHECK((*map)["duplicate_blocks"].size() == 1);
  CHECK((*map)["properties"][0]["name"] == "k");
  CHECK((*map)["lines"] == 10);
  for (const Json& heading : (*map)["headings"]) {
    Json input{{"path", "a.md"}, {"heading_path", heading["heading_path"]}};
    if (heading.contains("occurrence")) input["occurrence"] = heading["occurrence"];
    const auto section = run_operation(world, note_read(), input);
    REQUIRE(section);
    CHECK((*section)["section"]["line"] == heading["line"]);
    CHECK((*section)["section"]["end_line"] == heading["end_line"]);
    CHECK((*section)["body"].get<std::string>().size() == heading["size"]);
  }
}

TEST_CASE("notes_read fits its budget, says what is left and goes on from there", "[ops]") {
  FakeWorld world;
  for (int i = 0; i < 30; ++i)
    world.files[cat("n/", i < 10 ? "0" : "", i, ".md")] = std::string(200, 'x') + "\n";
  world.files["n/05b.md"] = std::string(5000, 'y') + "\n";
  for (const bool by_glob : {true, false}) {
    Json input{{"max_bytes", 2048}, {"limit", 7}, {"include", {"body"}}};
    if (by_glob) {
      input["path_glob"] = "n/**";
    } else {
      input["paths"] = Json::array({"missing.md"});
      for (const auto& [path, bytes] : world.files) input["paths"].push_back(path);
    }
    std::vector<std::string> seen;
    int cut = 0, missing = 0;
    for (int call = 0; call < 40; ++call) {
      const auto page = run_operation(world, notes_read(), input);
      REQUIRE(page);
      CHECK((*page)["bytes"] <= 2048);
      for (const Json& note : (*page)["notes"]) {
        seen.push_back(note["path"].get<std::string>());
        cut += note.contains("truncated") ? 1 : 0;
      }
      for (const Json& one : (*page)["left_out"]) missing += one["reason"] == "not_found" ? 1 : 0;
      if ((*page)["next_cursor"].is_null()) break;
      input["cursor"] = (*page)["next_cursor"];
    }
    CHECK(seen.size() == world.files.size());
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    CHECK(cut == 1);
    CHECK(missing == (by_glob ? 0 : 1));
  }
  CHECK((*run_operation(world, notes_read(), Json::object()))["notes"].size() > 1);
  CHECK_FALSE(
      run_operation(world, notes_read(), Json{{"paths", {"n/01.md"}}, {"path_glob", "n/**"}}));
}

TEST_CASE("the lines of notes_read tell what is missing for good, not what comes later", "[ops]") {
  FakeWorld world;
  world.files["a.md"] = std::string(900, 'x');
  world.files["b.md"] = std::string(900, 'y');
  const auto page = run_operation(
      world, notes_read(),
      Json{{"paths", {"a.md", "none.md", "b.md"}}, {"max_bytes", 1500}, {"include", {"body"}}});
  REQUIRE(page);
  REQUIRE((*page)["left_out"].size() == 2);

  const auto lines = notes_read().gap_lines(*page);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == Json{{"left_out", {{"path", "none.md"}, {"reason", "not_found"}}}});
}

}  // namespace
}  // namespace indx
