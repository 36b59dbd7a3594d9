#include "actors/note_move.hpp"

#include "actors/link_journal.hpp"
#include "base/text.hpp"
#include "tests/support/process.hpp"
#include "vault/vault_move.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace indx {
namespace {

/// A vault and the state database of one instance; `restart` is a crash and the next start.
struct MoveFixture {
  MoveFixture() {
    std::filesystem::create_directories(folder.path() + "/.indx");
    folder.write("a.md", "# A\n");
    folder.write("d/x.md", "x\n");
    folder.write("d/e/y.png", "y\n");
    restart("first");
  }
  void restart(const std::string& instance) {
    state.reset();
    auto opened = State::open(
        {.dir = folder.path() + "/.indx", .instance = instance, .kinds = {{"note_move", 1, false}}},
        clock, random);
    REQUIRE(opened);
    state = std::move(*opened);
  }
  Result<NoteWrite> plan(const std::string& from, const std::string& to, const Json& journal = {},
                         const std::string& if_match = "") {
    NoteChange change{.kind = NoteChange::Kind::Move, .path = NotePath::parse(from).value()};
    change.to = NotePath::parse(to).value();
    change.journal = journal;
    change.if_match = if_match;
    return plan_write(vault, {.change = change, .actor = "api", .subject = "tok_1"}, clock, random);
  }
  Result<NoteWrite> patch(const std::string& path, const Json& journal) {
    NoteChange change{.kind = NoteChange::Kind::Patch, .path = NotePath::parse(path).value()};
    change.ops = {PatchOp{.kind = PatchKind::AppendBody, .markdown = "more"}};
    change.journal = journal;
    return plan_write(vault, {.change = change, .actor = "api", .subject = "tok_1"}, clock, random);
  }
  std::vector<std::string> told() {
    std::vector<std::string> kinds;
    for (const auto& event : state->events.after(0, {"note.*", "job.*"}, "", 100).value())
      kinds.push_back(event.kind);
    return kinds;
  }
  bool has(const std::string& path) const {
    return std::filesystem::exists(folder.path() + "/" + path);
  }

  TempFolder folder;
  SystemClock clock;
  SeededRandom random{1};
  Vault vault = Vault::open(folder.path(), Durability::Off).value();
  std::unique_ptr<State> state;
};

}  // namespace

TEST_CASE_METHOD(MoveFixture, "a crash behind the rename keeps the move, one before it drops it",
                 "[actors][A22]") {
  const bool is_folder = GENERATE(false, true);
  const std::string from = is_folder ? "d" : "a.md", to = is_folder ? "z/d2" : "z/b.md";
  auto write = plan(from, to).value();
  REQUIRE(begin_write(*state, write));
  restart("second");
  REQUIRE(settle_writes(*state, vault));
  CHECK(has(from));
  CHECK(told().empty());

  auto again = plan(from, to).value();
  std::string displaced;
  REQUIRE(begin_write(*state, again));
  REQUIRE(perform_write(vault, again, &displaced).value());
  restart("third");
  REQUIRE(settle_writes(*state, vault));
  REQUIRE(settle_writes(*state, vault));

  CHECK_FALSE(has(from));
  CHECK(has(is_folder ? "z/d2/e/y.png" : "z/b.md"));
  CHECK(told() == std::vector<std::string>{"note.moved"});
  CHECK(state->intents.open_intents().value().empty());
}

TEST_CASE_METHOD(MoveFixture, "what a crash left of a change becomes one job",
                 "[actors][A22][A36]") {
  const bool is_patch = GENERATE(false, true);
  const Json plan_json{{"sources", Json::array()}};
  const Json journal{{"key", "k"},
                     {"kind", "note_move"},
                     {"input", {{"from", "a.md"}, {"to", "b.md"}}},
                     {"path_globs", {"**"}},
                     {"plan", plan_json}};
  auto write = is_patch ? patch("a.md", journal).value() : plan("a.md", "b.md", journal).value();
  std::string displaced;
  REQUIRE(begin_write(*state, write));
  REQUIRE(perform_write(vault, write, &displaced).value());
  const bool is_settled = GENERATE(false, true);
  if (is_settled) {
    restart("between");
    REQUIRE(settle_writes(*state, vault));
  } else {
    REQUIRE(finish_write(*state, write.intent, write.outcome));
  }
  CHECK(find_journal(state->db, "k").value() == plan_json);
  CHECK(find_journal(state->db, "other").value().is_null());

  restart("second");
  REQUIRE(settle_writes(*state, vault));
  REQUIRE(settle_writes(*state, vault));

  CHECK(told() ==
        std::vector<std::string>{is_patch ? "note.updated" : "note.moved", "job.created"});
  const auto jobs = state->claim(1).value();
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].input == journal["input"]);
  CHECK(jobs[0].owner.path_globs == std::vector<std::string>{"**"});
  REQUIRE(end_journal(*state, "k"));
  CHECK(find_journal(state->db, "k").value().is_null());
  CHECK(state->intents.open_intents().value().empty());
}

TEST_CASE_METHOD(MoveFixture, "a rename that stopped half-way is finished", "[actors][A22]") {
  auto write = plan("a.md", "A.md").value();
  REQUIRE(begin_write(*state, write));
  std::filesystem::rename(folder.path() + "/a.md", folder.path() + "/" + write.intent.temp_name);

  restart("second");
  REQUIRE(settle_writes(*state, vault));

  CHECK(has("A.md"));
  CHECK(told() == std::vector<std::string>{"note.moved"});
}

TEST_CASE_METHOD(MoveFixture, "a move refuses what it would lose or break",
                 "[actors][A2][A22][M-12]") {
  folder.write("B.md", "2\n");
  const auto reason = [&](const std::string& from, const std::string& to,
                          const std::string& if_match = "") {
    const auto planned = plan(from, to, {}, if_match);
    return planned.has_value() ? Reason::kCount : planned.error().reason;
  };

  CHECK(reason("a.md", "b.md") == Reason::Conflict);
  CHECK(reason("a.md", "D") == Reason::Conflict);
  CHECK(reason("d", "d/e/f") == Reason::ValidationFailed);
  CHECK(reason("a.md", ".trash/a.md") == Reason::Forbidden);
  CHECK(reason("a.md", "x#y.md") == Reason::ValidationFailed);
  CHECK(reason("none.md", "b2.md") == Reason::NotFound);
  CHECK(reason("a.md", "c.md", "0000000000000000") == Reason::EtagMismatch);
  CHECK(reason("d", "D") == Reason::kCount);
  CHECK(reason("a.md", "A.md") == Reason::kCount);
}

TEST_CASE_METHOD(MoveFixture, "a plan refuses a place that the write could not reach",
                 "[actors][A11][A22]") {
  const TempFolder outside;
  std::filesystem::create_directory_symlink(outside.path(), folder.path() + "/away");
  std::filesystem::create_directory_symlink(folder.path() + "/d", folder.path() + "/within");

  for (const std::string place : {"away/b", "away/f/b", "within/b", "a.md/b", "d/x.md/f/b"}) {
    INFO(place);
    const auto reason = place.find(".md") == place.npos ? Reason::Forbidden : Reason::Conflict;
    const auto moved = plan("a.md", place + ".md");
    REQUIRE_FALSE(moved);
    CHECK(moved.error().reason == reason);
    NoteChange change{.kind = NoteChange::Kind::Write,
                      .path = NotePath::parse(place + ".md").value()};
    change.body = "new";
    change.dry_run = true;
    const auto created =
        plan_write(vault, {.change = change, .actor = "api", .subject = "tok_1"}, clock, random);
    REQUIRE_FALSE(created);
    CHECK(created.error().reason == reason);
  }
  CHECK(plan("a.md", "new/folders/b.md"));
}

TEST_CASE_METHOD(MoveFixture, "a file that changed under its guard goes back", "[actors][A11]") {
  auto write = plan("a.md", "b.md", {}, vault.read(NotePath::parse("a.md").value())->etag).value();
  REQUIRE(begin_write(*state, write));
  folder.write("a.md", "# Edited outside\n");
  std::string displaced;

  CHECK_FALSE(perform_write(vault, write, &displaced).value());

  CHECK(folder.read("a.md") == "# Edited outside\n");
  CHECK_FALSE(has("b.md"));
}

TEST_CASE_METHOD(MoveFixture, "the history of a file follows it", "[actors][A22]") {
  REQUIRE(state->versions.keep("d/x.md", "old\n", "", clock.now()));
  REQUIRE(state->versions.keep("d0/x.md", "other\n", "", clock.now()));
  auto write = plan("d", "z").value();
  std::string displaced;
  REQUIRE(begin_write(*state, write));
  REQUIRE(perform_write(vault, write, &displaced).value());
  REQUIRE(finish_write(*state, write.intent, write.outcome));

  CHECK(state->versions.list("z/x.md")->size() == 1);
  CHECK(state->versions.list("d/x.md")->empty());
  CHECK(state->versions.list("d0/x.md")->size() == 1);
}

}  // namespace indx
