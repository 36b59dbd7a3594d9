#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "ops/define.hpp"
#include "store/database.hpp"
#include "tests/actors/engine_fixture.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <thread>

namespace indx {
namespace {

using VaultBytes = std::map<std::string, std::string>;

struct ChangesInput {
  Json changes;
};
struct ChangesOutput {
  int done = 0;
};

/// Does a list of `{path, body}` (a write), `{path}` (a delete) and `{path, to}` (a move), each as
/// a step.
Result<ChangesOutput> make_changes(Context& ctx, const ChangesInput& in) {
  ChangesOutput out;
  for (const auto& row : in.changes) {
    auto path = INDX_TRY(NotePath::parse(row.at("path").get<std::string>()));
    NoteChange change{.kind = NoteChange::Kind::Delete, .path = std::move(path)};
    if (row.contains("to")) {
      change.kind = NoteChange::Kind::Move;
      change.to = INDX_TRY(NotePath::parse(row["to"].get<std::string>()));
    } else if (row.contains("body")) {
      change.kind = NoteChange::Kind::Restore;
      change.body = row["body"].get<std::string>();
    }
    INDX_TRY(ctx.write_step(cat("change/", out.done++), change));
  }
  return out;
}

struct HoldInput {};

/// Runs until it is cancelled.
Result<ChangesOutput> hold_on(Context& ctx, const HoldInput& /*in*/) {
  while (!ctx.cancel().is_cancelled()) std::this_thread::sleep_for(milliseconds(1));
  return make_error(Reason::Cancelled, "Cancelled.");
}

Registry with_changes() {
  auto operations = make_registry().all();
  operations.push_back(define<ChangesInput, ChangesOutput>(
      {.name = "test_changes",
       .summary = "Change files.",
       .scopes = {Scope::VaultWrite},
       .route = {"POST", "/v1/test/changes"},
       .execution = Execution::Job,
       .effect = Effect::Writes,
       .input = {field("changes", &ChangesInput::changes, "What to do, in order.")},
       .output = {field("done", &ChangesOutput::done, "How many were done.")},
       .handler = make_changes}));
  operations.push_back(
      define<HoldInput, ChangesOutput>({.name = "test_hold",
                                        .summary = "Wait for a cancel.",
                                        .scopes = {Scope::VaultWrite},
                                        .route = {"POST", "/v1/test/hold"},
                                        .execution = Execution::Job,
                                        .effect = Effect::Writes,
                                        .input = {},
                                        .output = {field("done", &ChangesOutput::done, "Nothing.")},
                                        .handler = hold_on}));
  return Registry(std::move(operations));
}

/// What a person sees: all files but hidden ones.
VaultBytes visible_bytes(const TempFolder& folder) {
  namespace fs = std::filesystem;
  VaultBytes files;
  for (auto it = fs::recursive_directory_iterator(folder.path()); it != fs::end(it); ++it) {
    if (it->path().filename().string().starts_with('.')) {
      it.disable_recursion_pending();
      continue;
    }
    if (!it->is_regular_file()) continue;
    const auto path = fs::relative(it->path(), folder.path()).string();
    files[path] = folder.read(path);
  }
  return files;
}

struct RevertVault {
  TempFolder folder;
  std::unique_ptr<ServedVault> served;

  void serve() {
    served.reset();
    served = std::make_unique<ServedVault>(
        folder, [](Config& config) { config.versions_per_note = 1; }, with_changes());
  }
  /// What a job that renamed a tag in this many notes found and left.
  struct Renamed {
    VaultBytes before, after;
    std::string job;
  };
  Renamed rename_garden(int notes) {
    for (int i = 0; i < notes; ++i)
      folder.write(cat("n", i, ".md"),
                   cat("---\r\ntags: [garden]\r\n---\r\nNote ", i, " #garden\r\n"));
    const auto before = visible_bytes(folder);
    serve();
    const auto job = served->run_job("tag_rename", {{"from", "garden"}, {"to", "yard"}});
    const auto after = visible_bytes(folder);
    REQUIRE(after != before);
    return {before, after, job};
  }
  Json revert(const std::string& id) { return served->ask("job_revert", {{"id", id}}); }
  std::string revert_job(const std::string& id) {
    return served->run_job("job_revert", {{"id", id}});
  }
  std::string change(const Json& changes) {
    return served->run_job("test_changes", {{"changes", changes}});
  }
};

std::set<std::string> paths_in(const Json& rows) {
  std::set<std::string> paths;
  for (const auto& row : rows) paths.insert(row["path"].get<std::string>());
  return paths;
}

}  // namespace

TEST_CASE_METHOD(RevertVault, "a job is undone byte for byte, and its undo can be undone",
                 "[actors][revert]") {
  const auto [before, after, renamed] = rename_garden(5);

  const auto undo = revert_job(renamed);

  CHECK(visible_bytes(folder) == before);
  const auto original = served->ask("job_get", {{"id", renamed}})["job"];
  CHECK(original["reverted_by"] == Json({undo}));
  const auto record = served->ask("job_get", {{"id", undo}})["job"];
  CHECK(record["reverts"] == renamed);
  CHECK(record["result"]["restored"].size() == 5);
  CHECK(record["result"]["restored"][0]["action"] == "restored");
  CHECK(record["result"]["partial"] == false);
  const auto again = revert(undo);
  CHECK(again["restored"].size() == 5);
  CHECK(visible_bytes(folder) == after);
}

TEST_CASE_METHOD(RevertVault, "a note that was edited since is listed and left alone",
                 "[actors][revert]") {
  const auto [before, after, renamed] = rename_garden(4);
  const auto left = etag_of(folder.read("n1.md"));
  folder.write("n1.md", "Edited by hand.\n");
  std::filesystem::remove(folder.path() + "/n2.md");

  const auto shown = served->ask("job_revert", {{"id", renamed}, {"dry_run", true}});
  CHECK(paths_in(shown["restored"]) == std::set<std::string>{"n0.md", "n3.md"});
  CHECK(shown["restored"][0]["diff"].get<std::string>().find("+Note 0 #garden") !=
        std::string::npos);
  CHECK(folder.read("n0.md") != before.at("n0.md"));
  const auto report = revert(renamed);

  CHECK(report["partial"] == true);
  CHECK(paths_in(report["restored"]) == std::set<std::string>{"n0.md", "n3.md"});
  CHECK(paths_in(report["changed_since"]) == std::set<std::string>{"n1.md", "n2.md"});
  CHECK(paths_in(shown["changed_since"]) == paths_in(report["changed_since"]));
  for (const auto& row : report["changed_since"]) {
    if (row["path"] == "n2.md") {
      CHECK_FALSE(row.contains("actual"));
      continue;
    }
    CHECK(row["expected"] == left);
    CHECK(row["actual"] == etag_of("Edited by hand.\n"));
  }
  CHECK(folder.read("n1.md") == "Edited by hand.\n");
  CHECK_FALSE(served->has_file("n2.md"));
  CHECK(folder.read("n0.md") == before.at("n0.md"));
}

TEST_CASE_METHOD(RevertVault, "a move is undone with the links that followed it",
                 "[actors][revert]") {
  folder.write("a.md", "# A\n\n[own](sub/b.md)\n");
  folder.write("sub/b.md", "[[a]] and [a](../a.md)\n");
  folder.write("c.md", "[[a|A]]\n");
  const auto before = visible_bytes(folder);
  serve();
  const auto moved = served->run_job("note_move", {{"from", "a.md"}, {"to", "far/z.md"}});
  const auto after = visible_bytes(folder);
  REQUIRE(after.contains("far/z.md"));
  REQUIRE(after.at("c.md") != before.at("c.md"));

  const auto undo = revert_job(moved);

  CHECK(visible_bytes(folder) == before);
  REQUIRE(revert(undo).contains("restored"));
  CHECK(visible_bytes(folder) == after);
}

TEST_CASE_METHOD(RevertVault, "a moved file stays where its old name is taken, and what needs it",
                 "[actors][revert]") {
  folder.write("a.md", "old a\n");
  folder.write("p.md", "old p\n");
  serve();
  const auto job = change({{{"path", "a.md"}, {"body", "new a\n"}},
                           {{"path", "a.md"}, {"to", "b.md"}},
                           {{"path", "p.md"}},
                           {{"path", "b.md"}, {"to", "p.md"}}});
  folder.write("b.md", "somebody's b\n");

  const auto shown = served->ask("job_revert", {{"id", job}, {"dry_run", true}});
  const auto report = revert(job);

  CHECK(report["restored"].empty());
  CHECK(report["changed_since"].size() == 2);  // what is at p.md now, and the p.md before
  CHECK(paths_in(shown["changed_since"]) == paths_in(report["changed_since"]));
  CHECK(visible_bytes(folder) == VaultBytes{{"b.md", "somebody's b\n"}, {"p.md", "new a\n"}});
}

TEST_CASE_METHOD(RevertVault, "what a job made goes to the trash, what it deleted is made again",
                 "[actors][revert]") {
  folder.write("old.md", "old\n");
  folder.write("taken.md", "taken before\n");
  folder.write("dir/in.md", "inside\n");
  const auto before = visible_bytes(folder);
  serve();
  const auto job = change({{{"path", "made.md"}, {"body", "made\n"}},
                           {{"path", "old.md"}},
                           {{"path", "dir"}, {"to", "folder"}},
                           {{"path", "folder/in.md"}, {"body", "changed inside\n"}}});

  const auto report = revert(job);

  CHECK(visible_bytes(folder) == before);
  std::map<std::string, std::string> actions;
  for (const auto& row : report["restored"])
    actions[row["path"].get<std::string>()] = row["action"].get<std::string>();
  CHECK(actions == std::map<std::string, std::string>{{"made.md", "trashed"},
                                                      {"old.md", "made_again"},
                                                      {"dir/in.md", "restored"},
                                                      {"dir", "moved"}});
  CHECK(folder.read(".trash/made.md") == "made\n");

  const auto second = change({{{"path", "taken.md"}}});
  folder.write("taken.md", "somebody's\n");
  const auto refused = revert(second);
  CHECK(refused["changed_since"][0]["actual"] == etag_of("somebody's\n"));
  CHECK(folder.read("taken.md") == "somebody's\n");
}

TEST_CASE_METHOD(RevertVault, "what was undone already is left alone", "[actors][revert]") {
  folder.write("a.md", "one\n");
  serve();
  const auto first = change({{{"path", "a.md"}, {"body", "two\n"}}});
  CHECK(revert(first)["restored"].size() == 1);
  const auto again = revert(first);
  CHECK(again["changed_since"].size() == 1);
  CHECK(again["changed_since"][0]["message"] == "It is as before the job already.");
  CHECK(again["message"] == "It is undone already: every file is as before the job.");
  CHECK(folder.read("a.md") == "one\n");
}

TEST_CASE_METHOD(RevertVault, "a job that was undone and tried again writes and is undone again",
                 "[actors][revert]") {
  folder.write("a.md", "one\n");
  serve();
  const Json changes{{{"path", "a.md"}, {"body", "two\n"}}, {{"path", "b.md"}}};
  const auto id = served->call("test_changes", {{"changes", changes}}, true).job_id;
  REQUIRE(comes_true([&] { return served->state_of(id) == "failed"; }));  // there is no b.md
  REQUIRE(folder.read("a.md") == "two\n");
  REQUIRE(revert(id)["restored"].size() == 1);
  folder.write("b.md", "three\n");

  REQUIRE(served->works("job_retry", {{"id", id}}));
  REQUIRE(comes_true([&] { return served->state_of(id) == "succeeded"; }));

  CHECK(folder.read("a.md") == "two\n");
  CHECK_FALSE(served->has_file("b.md"));
  const auto report = revert(id);
  CHECK(report["partial"] == false);
  CHECK(folder.read("a.md") == "one\n");
  CHECK(folder.read("b.md") == "three\n");
}

TEST_CASE_METHOD(RevertVault, "a job that still runs is not undone", "[actors][revert]") {
  serve();
  const auto held = served->call("test_hold", Json::object(), true).job_id;
  REQUIRE(comes_true([&] { return served->state_of(held) == "running"; }));

  const auto refused = revert(held);

  CHECK(refused["code"] == "conflict");
  CHECK(refused["message"].get<std::string>().find("cancel it first") != std::string::npos);
  REQUIRE(served->works("job_cancel", {{"id", held}}));
  REQUIRE(comes_true([&] { return served->state_of(held) == "cancelled"; }));
  CHECK(revert(held).contains("restored"));
}

TEST_CASE_METHOD(RevertVault, "a job that wrote nothing has nothing to undo", "[actors][revert]") {
  serve();
  const auto none = change(Json::array());

  const auto answer = served->call("job_revert", {{"id", none}});

  CHECK(answer.job_id.empty());
  REQUIRE(answer.result);
  CHECK((*answer.result)["restored"].empty());
  CHECK((*answer.result)["message"].get<std::string>().find("wrote no file") != std::string::npos);
  CHECK(revert("nobody")["code"] == "not_found");
}

TEST_CASE_METHOD(RevertVault,
                 "files outside of the caller's globs are counted, not named or undone",
                 "[actors][revert]") {
  const auto [before, after, renamed] = rename_garden(3);
  Call call;
  call.operation = served->registry.find("job_revert");
  call.input = {{"id", renamed}};
  call.principal = served->dispatcher->authenticate(served->engine->owner_token()).value();
  call.principal.path_globs = {"n0.md"};

  const auto answer = served->dispatcher->call_and_wait(call);

  REQUIRE(answer.result);
  CHECK((*answer.result)["hidden"] == 2);
  CHECK(paths_in((*answer.result)["restored"]) == std::set<std::string>{"n0.md"});
  CHECK(answer.result->dump().find("n1.md") == std::string::npos);
  CHECK(folder.read("n0.md") == before.at("n0.md"));
  CHECK(folder.read("n1.md") == after.at("n1.md"));
}

TEST_CASE_METHOD(RevertVault, "a file whose version is gone is listed and left alone",
                 "[actors][revert]") {
  const auto [before, after, renamed] = rename_garden(3);
  served.reset();
  {
    auto db = Database::open(folder.path() + "/.indx/state.db", {});
    REQUIRE(db);
    REQUIRE(db->prepare("DELETE FROM versions WHERE path = 'n1.md'").run());
  }
  serve();

  const auto report = revert(renamed);

  CHECK(paths_in(report["missing_version"]) == std::set<std::string>{"n1.md"});
  CHECK(report["restored"].size() == 2);
  CHECK(report["partial"] == true);
  CHECK(folder.read("n1.md") == after.at("n1.md"));
  CHECK(folder.read("n2.md") == before.at("n2.md"));
}

TEST_CASE_METHOD(RevertVault, "an undo that a stop interrupted goes on with what is left",
                 "[actors][revert][E5]") {
  constexpr int kNotes = 200;
  const auto garden = rename_garden(kNotes);
  const auto started = served->call("job_revert", {{"id", garden.job}}, true);
  REQUIRE(started.result);
  REQUIRE(comes_true([&] { return folder.read("n0.md") == garden.before.at("n0.md"); }));

  serve();

  CHECK(comes_true([&] { return served->state_of(started.job_id) == "succeeded"; }));
  CHECK(visible_bytes(folder) == garden.before);
  const auto result = served->ask("job_get", {{"id", started.job_id}})["job"]["result"];
  CHECK(result["restored"].size() == kNotes);
  CHECK(result["changed_since"].empty());
}

namespace {

/// A job of random writes, deletes and, where wanted, moves, each of which is possible when it
/// comes.
Json random_changes(SeededRandom& random, VaultBytes model, bool with_moves) {
  Json changes = Json::array();
  const auto pick = [&](std::size_t count) { return random.next() % count; };
  const auto any_path = [&] { return cat(pick(3) == 0 ? "d/" : "", "f", pick(12), ".md"); };
  for (std::size_t i = 0, count = 1 + pick(25); i < count; ++i) {
    const auto path = any_path();
    const auto kind = pick(with_moves ? 4 : 3);
    if (kind == 1 && model.contains(path)) {
      changes.push_back({{"path", path}});
      model.erase(path);
    } else if (kind == 3 && model.contains(path)) {
      const auto to = any_path();
      if (model.contains(to)) continue;
      changes.push_back({{"path", path}, {"to", to}});
      model[to] = model[path];
      model.erase(path);
    } else if (kind != 3) {
      const auto body = cat("job ", random.next(), "\n");
      changes.push_back({{"path", path}, {"body", body}});
      model[path] = body;
    }
  }
  return changes;
}

}  // namespace

TEST_CASE_METHOD(RevertVault,
                 "after an undo untouched files are as before and edited ones as edited",
                 "[actors][revert]") {
  const auto seed = GENERATE(range(1, 9));
  const bool with_moves = seed % 2 == 0;
  SeededRandom random(static_cast<std::uint64_t>(seed));
  INFO(seed);
  for (int i = 0; i < 8; ++i)
    folder.write(cat(i % 3 == 0 ? "d/" : "", "f", i, ".md"), cat("before ", i, "\n"));
  serve();
  for (int round = 0; round < 4; ++round) {
    const auto before = visible_bytes(folder);
    const auto changes = random_changes(random, before, with_moves);
    INFO(changes.dump());
    const auto job = change(changes);
    REQUIRE_FALSE(job.empty());
    std::map<std::string, std::optional<std::string>> edited;
    for (const auto& [path, bytes] : visible_bytes(folder)) {
      if (with_moves && round % 2 == 0) break;
      const auto what = random.next() % 4;
      if (what == 0) {
        edited[path] = cat("edited ", random.next(), "\n");
        folder.write(path, *edited[path]);
      } else if (what == 1 && !with_moves) {
        edited[path] = std::nullopt;
        std::filesystem::remove(folder.path() + "/" + path);
      }
    }

    const auto shown = served->ask("job_revert", {{"id", job}, {"dry_run", true}});
    const auto report = revert(job);

    INFO(report.dump());
    REQUIRE(report.contains("restored"));
    CHECK(report["failed"].empty());
    CHECK(report["missing_version"].empty());
    CHECK(paths_in(shown["restored"]) == paths_in(report["restored"]));
    CHECK(paths_in(shown["changed_since"]) == paths_in(report["changed_since"]));
    const auto now = visible_bytes(folder);
    if (!with_moves) {
      auto expected = before;
      for (const auto& [path, bytes] : edited) {
        if (bytes)
          expected[path] = *bytes;
        else
          expected.erase(path);
      }
      CHECK(now == expected);
      continue;
    }
    if (edited.empty()) CHECK(now == before);
    std::multiset<std::string> contents;
    for (const auto& [path, bytes] : now) contents.insert(bytes);
    for (const auto& [path, bytes] : edited) CHECK(contents.count(*bytes) == 1);
  }
}

}  // namespace indx
