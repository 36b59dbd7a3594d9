#include "actors/note_write.hpp"

#include "base/text.hpp"
#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace indx {
namespace {

/// A vault with one note and the state database of one instance; `restart` is a crash and the next
/// start.
struct WriteFixture {
  WriteFixture() {
    std::filesystem::create_directories(folder.path() + "/.indx");
    folder.write("a.md", "# A\n");
    restart("first");
  }
  void restart(const std::string& instance) {
    state.reset();
    auto opened = State::open(
        {.dir = folder.path() + "/.indx", .instance = instance, .kinds = {{"ai_tag", 1, false}}},
        clock, random);
    REQUIRE(opened);
    state = std::move(*opened);
  }
  Lease claim_job() {
    JobRequest request;
    request.kind = "ai_tag";
    request.input = Json::object();
    request.owner = {.subject = "tok_1", .surface = "api"};
    const auto enqueued = state->enqueue(request);
    INFO((enqueued ? "" : enqueued.error().message));
    REQUIRE(enqueued);
    const auto jobs = state->claim(1);
    REQUIRE(jobs);
    REQUIRE(jobs->size() == 1);
    return {jobs->front().id, jobs->front().lease, state->settings.instance};
  }
  NoteWrite plan(const std::optional<Lease>& lease) {
    NoteChange change{.kind = NoteChange::Kind::Patch, .path = NotePath::parse("a.md").value()};
    change.ops = {{.kind = PatchKind::AppendBody, .markdown = "more"}};
    WriteRequest request{.change = change, .actor = "api", .subject = "tok_1", .lease = lease};
    if (lease) request.step_key = "apply/a.md", request.step_inputs_hash = "h";
    auto planned = plan_write(vault, request, clock, random);
    REQUIRE(planned);
    return std::move(*planned);
  }
  std::vector<std::string> told() {
    std::vector<std::string> kinds;
    const auto events = state->events.after(0, {"note.*"}, "", 100);
    REQUIRE(events);
    for (const auto& event : *events) kinds.push_back(event.kind);
    return kinds;
  }

  TempFolder folder;
  SystemClock clock;
  SeededRandom random{1};
  Vault vault = Vault::open(folder.path(), Durability::Off).value();
  std::unique_ptr<State> state;
};

}  // namespace

TEST_CASE_METHOD(WriteFixture,
                 "a crash between the file and its confirmation keeps the write and the job's step",
                 "[actors][A13][C81][E5]") {
  const Lease lease = claim_job();
  auto write = plan(lease);
  std::string displaced;
  REQUIRE(begin_write(*state, write));
  REQUIRE(perform_write(vault, write, &displaced).value());

  restart("second");
  REQUIRE(settle_writes(*state, vault));

  const auto step = state->queue.find_step(lease.job, "apply/a.md", "h");
  REQUIRE(step);
  REQUIRE(step->has_value());
  CHECK((**step)["etag"] == write.outcome.etag);
  CHECK(told() == std::vector<std::string>{"note.updated"});
  CHECK(state->intents.open_intents().value().empty());
  REQUIRE(settle_writes(*state, vault));
  CHECK(told().size() == 1);
}

TEST_CASE_METHOD(WriteFixture,
                 "a crash before the file was touched drops the write and tells nothing",
                 "[actors][A13]") {
  auto write = plan(std::nullopt);
  REQUIRE(begin_write(*state, write));

  restart("second");
  REQUIRE(settle_writes(*state, vault));

  CHECK(vault.read(write.outcome.path)->bytes == "# A\n");
  CHECK(told().empty());
  CHECK(state->intents.open_intents().value().empty());
}

TEST_CASE_METHOD(WriteFixture, "an edit by somebody else that came before the replace is not lost",
                 "[actors][A11]") {
  auto write = plan(std::nullopt);
  REQUIRE(begin_write(*state, write));
  folder.write("a.md", "# Edited outside\n");
  std::string displaced;

  const auto performed = perform_write(vault, write, &displaced);

  REQUIRE(performed);
  CHECK_FALSE(*performed);
  CHECK(vault.read(write.outcome.path)->bytes == "# Edited outside\n");
  REQUIRE(abandon_write(*state, write, displaced));
  CHECK(state->intents.open_intents().value().empty());
}

TEST_CASE_METHOD(WriteFixture, "a write made again after a crash keeps one before-image",
                 "[actors][C81]") {
  REQUIRE(begin_write(*state, plan(std::nullopt)));
  restart("second");
  REQUIRE(settle_writes(*state, vault));

  auto again = plan(std::nullopt);
  std::string displaced;
  REQUIRE(begin_write(*state, again));
  REQUIRE(perform_write(vault, again, &displaced).value());
  REQUIRE(finish_write(*state, again.intent, again.outcome));

  CHECK(state->versions.list("a.md")->size() == 1);
}

TEST_CASE_METHOD(WriteFixture,
                 "an edit that a crash caught between the exchange and its check comes back",
                 "[actors][A13]") {
  auto write = plan(std::nullopt);
  REQUIRE(begin_write(*state, write));
  folder.write("a.md", *write.after);
  folder.write(write.intent.temp_name, "# Edited outside\n");

  restart("second");
  REQUIRE(settle_writes(*state, vault));

  CHECK(vault.read(write.outcome.path)->bytes == "# Edited outside\n");
  CHECK(state->intents.open_intents().value().empty());
  CHECK(told().empty());
  CHECK(state->versions.list("a.md")->size() == 2);
}

TEST_CASE_METHOD(WriteFixture, "a temp file that a crash left half-written is nobody's edit",
                 "[actors][A13]") {
  for (const std::size_t length : {0U, 1U, 5U}) {
    auto write = plan(std::nullopt);
    REQUIRE(begin_write(*state, write));
    folder.write(write.intent.temp_name, write.after->substr(0, length));

    restart(cat("start-", length));
    REQUIRE(settle_writes(*state, vault));

    CHECK(vault.read(write.outcome.path)->bytes == "# A\n");
    CHECK(state->intents.open_intents().value().empty());
    CHECK(state->versions.list("a.md")->size() == 1);
  }
}

TEST_CASE_METHOD(WriteFixture, "the before-image of a confirmed write is kept as a version",
                 "[actors]") {
  auto write = plan(std::nullopt);
  std::string displaced;
  REQUIRE(begin_write(*state, write));
  REQUIRE(perform_write(vault, write, &displaced).value());
  REQUIRE(finish_write(*state, write.intent, write.outcome));

  const auto versions = state->versions.list("a.md");
  REQUIRE(versions);
  REQUIRE(versions->size() == 1);
  CHECK(state->versions.read(versions->front().id).value() == "# A\n");
  CHECK(vault.read(write.outcome.path)->etag == write.outcome.etag);
}

}  // namespace indx
