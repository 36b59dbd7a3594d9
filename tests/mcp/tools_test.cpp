#include "mcp/tools.hpp"

#include "mcp/json_rpc.hpp"
#include "mcp/result_size.hpp"
#include "tests/support/fake_mcp_dispatcher.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace indx {
namespace {

const Protocol& latest() { return protocols().front(); }

const Operation& fake_operation(std::string_view name) {
  static const FakeMcpDispatcher dispatcher;
  const Operation* operation = dispatcher.registry().find(name);
  REQUIRE(operation);
  return *operation;
}

Tool fake_tool(std::string_view name) {
  static const FakeMcpDispatcher dispatcher;
  const auto tool = find_tool(dispatcher.registry(), name);
  REQUIRE(tool);
  return *tool;
}

Json fake_descriptor(std::string_view name, const Protocol& protocol = latest()) {
  return tool_descriptor(fake_tool(name), FakeMcpDispatcher::principal("w", {Scope::VaultAdmin}),
                         protocol);
}

std::string text_at(const Json& result, std::size_t index) {
  return result["content"].at(index)["text"].get<std::string>();
}

}  // namespace

TEST_CASE("every tool states all four hints, derived from its effect", "[mcp][B3]") {
  const Json read = fake_descriptor("note_read")["annotations"];
  CHECK(read["readOnlyHint"] == true);
  CHECK(read["destructiveHint"] == false);
  CHECK(read["idempotentHint"] == true);
  CHECK(read["openWorldHint"] == false);

  const Json write = fake_descriptor("note_write")["annotations"];
  CHECK(write["readOnlyHint"] == false);
  CHECK(write["destructiveHint"] == false);
  CHECK(write["idempotentHint"] == false);

  CHECK(fake_descriptor("note_delete")["annotations"]["destructiveHint"] == true);
  CHECK(fake_descriptor("vault_reindex")["annotations"]["idempotentHint"] == true);
}

TEST_CASE("a tool's schemas are the portable projections of the operation's", "[mcp][B3]") {
  FakeMcpDispatcher dispatcher;
  for (const Operation& operation : dispatcher.registry().all()) {
    if (!operation.tool_group.empty()) continue;
    const Json tool = fake_descriptor(operation.name);
    CHECK(tool["inputSchema"] == to_portable_schema(operation.input));
    CHECK(tool["inputSchema"]["type"] == "object");
    CHECK(tool["inputSchema"]["additionalProperties"] == false);
    CHECK(tool.contains("outputSchema") != operation.needs_provider);
    if (operation.needs_provider) continue;
    CHECK(tool["outputSchema"]["type"] == "object");
    if (operation.execution == Execution::Inline)
      CHECK(tool["outputSchema"] == to_portable_output(operation.output));
  }
}

TEST_CASE("the output schema of a tool that may become a job admits the job", "[mcp]") {
  const Json schema = fake_descriptor("vault_reindex")["outputSchema"];

  CHECK_FALSE(schema.contains("required"));
  CHECK(schema["properties"].contains("job_id"));
  CHECK(schema["properties"].contains("indexed"));
}

TEST_CASE("an old protocol gets no structured content, title or output schema", "[mcp]") {
  const Protocol& old = *find_protocol("2025-03-26");
  const Json tool = fake_descriptor("note_read", old);
  const Json result = tool_result(fake_operation("note_write"), {{"path", "a.md"}}, {}, old);

  CHECK_FALSE(tool.contains("outputSchema"));
  CHECK(tool["annotations"].contains("title"));
  CHECK_FALSE(tool.contains("title"));
  CHECK_FALSE(result.contains("structuredContent"));
  CHECK(text_at(result, 1) == R"({"path":"a.md"})");
  CHECK(tool.contains("annotations"));
  CHECK_FALSE(fake_descriptor("note_read", *find_protocol("2024-11-05")).contains("annotations"));
}

TEST_CASE("a result carries the same facts as a summary, as JSON text and structured",
          "[mcp][B4]") {
  const Json output = {{"notes", {{{"path", "a.md"}}, {{"path", "b.md"}}}}, {"next_cursor", "c"}};
  const Json result = tool_result(fake_operation("note_list"), output, {}, latest());

  CHECK(text_at(result, 0) ==
        "Found 2 notes on this page; pass next_cursor as cursor for more. First: a.md.");
  CHECK(Json::parse(text_at(result, 1)) == output);
  CHECK(result["structuredContent"] == output);
  CHECK(result["isError"] == false);
  CHECK(result == tool_result(fake_operation("note_list"), output, {}, latest()));
}

TEST_CASE("repaired arguments are named in the result", "[mcp]") {
  const auto arguments =
      tool_arguments(fake_tool("note_list"), {{"limit", "5"}, {"cursor", nullptr}});
  REQUIRE(arguments);
  CHECK(arguments->input == Json{{"limit", 5}});
  CHECK(arguments->repaired.size() == 2);

  const Json result = tool_result(fake_operation("note_list"), {{"notes", Json::array()}},
                                  arguments->repaired, latest());
  CHECK(result["_meta"]["indx/repaired"].size() == 2);
}

TEST_CASE("arguments sent as JSON text are read, and other kinds are refused with advice",
          "[mcp]") {
  const auto text = tool_arguments(fake_tool("note_read"), R"({"path":"a.md"})");
  REQUIRE(text);
  CHECK(text->input["path"] == "a.md");

  const auto list = tool_arguments(fake_tool("note_read"), Json::array());
  REQUIRE_FALSE(list);
  CHECK(list.error().reason == Reason::ValidationFailed);
}

TEST_CASE("every error is text with code, message, details and a next step, never structured",
          "[mcp][B5]") {
  const Registry registry = make_registry();
  std::vector<const Operation*> failed = {nullptr};
  for (const Operation& operation : registry.all()) failed.push_back(&operation);
  const std::vector<Json> all_details = {Json::object(),
                                         {{"path", "a.md"}},
                                         {{"id", "01J"}},
                                         {{"path", "a.md"}, {"version", 3}},
                                         {{"view", "Open"}},
                                         {{"retry_after_s", 2}},
                                         {{"required_scopes", {"vault:write"}}}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(Reason::kCount); ++i)
    for (const Operation* operation : failed)
      for (const Json& details : all_details) {
        const Error error = make_error(static_cast<Reason>(i), "What happened.", details);
        INFO(error.name() << " of " << (operation ? operation->name : "nothing") << " "
                          << details.dump());
        const Json result = tool_error(error, operation);

        CHECK(result["isError"] == true);
        CHECK(Json::parse(text_at(result, 0)) ==
              Json{{"code", error.name()}, {"message", "What happened."}, {"details", details}});
        REQUIRE(result["content"].size() == 2);
        CHECK(text_at(result, 1).size() > 20);
        CHECK(text_at(result, 1).ends_with('.'));
        CHECK_FALSE(result.contains("structuredContent"));
        if (error.is_retryable() && error.reason != Reason::AiQuotaExceeded)
          CHECK(text_at(result, 1).find("repeat it") != std::string::npos);
      }
  const auto limited = make_error(Reason::RateLimited, "Too many.", {{"retry_after_s", 7}});
  CHECK(text_at(tool_error(limited), 1).find("wait 7 s") != std::string::npos);
  CHECK(text_at(tool_error(make_error(Reason::EtagMismatch, "x")), 1).find("if_match") !=
        std::string::npos);
}

TEST_CASE("advice after an error fits what failed", "[mcp][B5]") {
  const auto advice = [](const Error& error, const char* operation) {
    const Json result = tool_error(error, operation ? &fake_operation(operation) : nullptr);
    return result["content"].size() > 1 ? text_at(result, 1) : std::string();
  };
  const Error note = not_found("No such file.", {{"path", "a.md"}});
  CHECK(advice(note, "note_read").find("vault_search") != std::string::npos);
  CHECK(advice(note, nullptr).find("vault_search") != std::string::npos);

  const Error job = not_found("No such job.", {{"id", "01J"}});
  CHECK(advice(job, "job_cancel").find("job_list") != std::string::npos);
  CHECK(advice(job, "job_cancel").find("vault_search") == std::string::npos);
  CHECK(advice(job, "token_create").find("token_list") != std::string::npos);
  CHECK(advice(job, nullptr).find("vault_search") == std::string::npos);
  const Error version = not_found("No version 3.", {{"path", "a.md"}, {"version", 3}});
  CHECK(advice(version, "note_read").find("note_history") != std::string::npos);

  const Error scope = make_error(Reason::Forbidden, "x", {{"required_scopes", {"vault:write"}}});
  CHECK(advice(scope, "note_write").find("a token with the scopes") != std::string::npos);
  const Error place = make_error(Reason::Forbidden, "It is hidden.", {{"path", ".obsidian/x.md"}});
  CHECK(advice(place, "note_write").find("scopes") == std::string::npos);

  const std::string declined =
      advice(make_error(Reason::ConfirmationRequired, "The person declined."), "note_delete");
  CHECK(declined.find("nothing was changed") != std::string::npos);
  CHECK(declined.find("with confirmation") == std::string::npos);
  CHECK(
      advice(make_error(Reason::Unauthorized, "Who are you?"), nullptr).find("token is missing") !=
      std::string::npos);
}

TEST_CASE("a refused call of a group is about the action that was asked for", "[mcp]") {
  const Operation& first = fake_operation("note_read");
  const Operation& second = fake_operation("job_cancel");
  const Tool tool{"group", &tool_groups().front(), {&first, &second}};
  const Json asked = {{"action", "job_cancel"}}, unknown = {{"action", "nothing"}}, list = {1};

  CHECK(asked_operation(tool, &asked).name == "job_cancel");
  CHECK(asked_operation(tool, &unknown).name == "note_read");
  CHECK(asked_operation(tool, &list).name == "note_read");
  CHECK(asked_operation(tool, nullptr).name == "note_read");
}

TEST_CASE("a call without an action is told those that its caller may use", "[mcp][B9]") {
  const Registry registry = make_registry();
  const auto tool = find_tool(registry, "vault_lists");
  REQUIRE(tool);
  const auto said = [&](std::set<Scope> scopes, const Json& arguments) {
    const Principal caller = FakeMcpDispatcher::principal("c", std::move(scopes));
    const auto meant = tool_arguments(*tool, arguments, &caller);
    REQUIRE_FALSE(meant);
    return meant.error().to_json().dump();
  };
  for (const Json& none : std::vector<Json>{Json::object(), {{"action", "nothing"}}}) {
    CHECK(said({Scope::VaultRead}, none).find("task_list") != std::string::npos);
    CHECK(said({Scope::VaultRead}, none).find("token_list") == std::string::npos);
    CHECK(said({Scope::VaultAdmin}, none).find("token_list") != std::string::npos);
  }
}

TEST_CASE("a long body is cut alike in text and structured, and both say so", "[mcp][B4]") {
  const std::string body(60'000, 'a');
  const Json result =
      tool_result(fake_operation("note_read"), {{"path", "a.md"}, {"body", body}}, {}, latest());

  CHECK(text_at(result, 0).size() + text_at(result, 1).size() < 40'000);
  CHECK(text_at(result, 0).find("of 60000 bytes") != std::string::npos);
  CHECK(text_at(result, 0).find("vault://<path>") != std::string::npos);
  const Json told = Json::parse(text_at(result, 1));
  CHECK(told["body"].get<std::string>().find("[indx cut this text here") != std::string::npos);
  CHECK(text_at(result, 0).ends_with(told["result_cut"].get<std::string>()));
  CHECK(told == result["structuredContent"]);
  CHECK(result["_meta"]["indx/cut"].size() == 1);
}

TEST_CASE("how to see the rest of a cut result is said by what the tool takes", "[mcp][B4]") {
  const Registry registry = make_registry();
  const auto advice = [&](const char* name, const Json& output, const Json& input = Json::object(),
                          const std::string& job_id = "") {
    const Operation* operation = registry.find(name);
    REQUIRE(operation);
    return text_at(tool_result(*operation, output, {}, latest(), input, job_id), 0);
  };
  const std::string text(60'000, 'a');

  const std::string job = advice(
      "job_get", {{"job", {{"id", "01J"}, {"state", "succeeded"}, {"result", {{"text", text}}}}}},
      {{"id", "01J"}});
  CHECK(job.find("`indx job get 01J`") != std::string::npos);  // a text has no pages
  CHECK(job.find("limit") == std::string::npos);
  CHECK(job.find("heading") == std::string::npos);
  const std::string ai = advice("ai_summarize", {{"summary", {{"text", text}}}});
  CHECK(ai.find("narrower scope") != std::string::npos);
  CHECK(ai.find("heading") == std::string::npos);
  const Json rows(std::vector<std::string>(1000, std::string(60, 'a')));
  const std::string listed =
      advice("job_get", {{"job", {{"id", "01J"}, {"result", {{"rows", rows}}}}}}, {{"id", "01J"}});
  CHECK(listed.find("action job_result, id 01J and list rows.") != std::string::npos);
  const std::string note = advice("note_read", {{"path", "a.md"}, {"body", text}});
  CHECK(note.find("fewer include parts, one heading") != std::string::npos);
  CHECK(note.find("limit") == std::string::npos);
  const std::string list = advice("note_list", {{"notes", {{{"path", text}}}}});
  CHECK(list.find("a lower limit") != std::string::npos);
  CHECK(list.find("heading") == std::string::npos);
}

TEST_CASE("the summary says what counts, in words that fit the number", "[mcp][B4]") {
  const Registry registry = make_registry();
  const auto summary = [&](const char* name, const Json& output) {
    const Operation* operation = registry.find(name);
    REQUIRE(operation);
    return text_at(tool_result(*operation, output, {}, latest()), 0);
  };

  CHECK(summary("job_get", {{"job",
                             {{"id", "01J"},
                              {"kind", "ai_tag"},
                              {"state", "running"},
                              {"progress", {{"done", 12}, {"total", 50}, {"unit", "notes"}}},
                              {"error", nullptr}}}}) ==
        "Job 01J (ai_tag): running, 12 of 50 notes done.");
  CHECK(summary("job_get", {{"job",
                             {{"id", "01J"},
                              {"kind", "ai_tag"},
                              {"state", "failed"},
                              {"progress", {{"done", 3}, {"total", nullptr}, {"unit", "notes"}}},
                              {"error", {{"code", "ai_unavailable"}}}}}}) ==
        "Job 01J (ai_tag): failed, 3 notes done; its error is ai_unavailable.");
  CHECK(summary("job_revert", {{"job", "01J"},
                               {"dry_run", false},
                               {"restored", {{{"path", "a.md"}}}},
                               {"changed_since", {{{"path", "b.md"}}}},
                               {"missing_version", Json::array()},
                               {"hidden", 2},
                               {"diffs_left_out", 0}}) ==
        "Undid job 01J: 1 file restored, 1 left as changed since, 2 hidden from you and left.");
  CHECK(
      summary("job_revert", {{"job", "01J"},
                             {"dry_run", false},
                             {"message", "It is undone already: every file is as before the job."},
                             {"restored", Json::array()},
                             {"changed_since", {{{"path", "a.md"}}}}}) ==
      "Nothing of job 01J was undone. It is undone already: every file is as before the job.");
  CHECK(summary("ai_ask", {{"answer", "I don't know based on the indexed vault."},
                           {"confidence", "low"},
                           {"citations", Json::array()},
                           {"warnings", {"unsupported_question"}}}) ==
        "The notes do not answer this question, so there is no answer and no citation.");
  CHECK(summary("ai_ask", {{"answer", "Late frost."},
                           {"confidence", "high"},
                           {"citations", {{{"path", "a.md"}}}},
                           {"warnings", Json::array()}}) ==
        "Answer from 1 citation (confidence high): Late frost.");
  CHECK(summary("tag_list", {{"tags", {{{"tag", std::string(200, 't')}}}}}) ==
        "Found 1 tag. First: " + std::string(120, 't') + "…");
  CHECK(summary("tag_rename", {{"from", "a"},
                               {"to", "b"},
                               {"dry_run", false},
                               {"changed", {{{"path", "a.md"}}}},
                               {"failed", Json::array()}}) == "Renamed a to b in 1 note.");
  CHECK(summary("property_rename", {{"from", "a"},
                                    {"to", "b"},
                                    {"dry_run", true},
                                    {"changed", {{{"path", "a.md"}}, {{"path", "b.md"}}}},
                                    {"failed", {{{"path", "c.md"}}}}}) ==
        "Dry run, nothing was written: a to b would change 2 notes. 1 note left as before; "
        "`failed` says why.");
  CHECK(summary("link_unresolved", {{"unresolved", {{{"target", "Gone"}}}}}) ==
        "Found 1 broken link target. First: Gone.");
  CHECK(summary("property_list", {{"properties", {{{"name", "due"}}}}}) ==
        "Found 1 property. First: due.");
  CHECK(summary("ai_tag", {{"suggestions", Json::array()},
                           {"estimate",
                            {{"notes", 9},
                             {"calls", 3},
                             {"input_tokens", 4000},
                             {"output_tokens", 900},
                             {"cost_usd", 0.02}}}}) ==
        "Estimate of ai_tag, nothing was done: notes 9, model calls 3, tokens 4000 in and at most "
        "900 out, at most 0.02 USD.");
  CHECK(summary("note_similar",
                {{"path", "a.md"}, {"notes", Json::array()}, {"warnings", Json::array()}}) ==
        "note_similar: path a.md, no notes.");
  CHECK(summary("ai_summarize", {{"scope_resolved", {{"kind", "glob"}, {"count", 3}}},
                                 {"source", "extractive"},
                                 {"warnings", Json::array()}}) ==
        "ai_summarize: notes in scope 3, source extractive.");
  Json tagged = {{"scope_resolved", {{"count", 2}}},
                 {"suggestions",
                  {{{"path", "a.md"}, {"tags", {{{"tag", "x"}}}}},
                   {{"path", "b.md"}, {"tags", Json::array()}}}}};
  CHECK(summary("ai_tag", tagged) ==
        "ai_tag: found tags for 1 of 2 notes; nothing was written, that takes `apply`.");
  tagged["applied"] = Json::array({{{"path", "a.md"}}});
  CHECK(summary("ai_tag", tagged) == "ai_tag: found tags for 1 of 2 notes, and wrote 1.");
  const Json counts = {
      {"notes", 5}, {"files", 7}, {"tags", 2}, {"links", 9}, {"unresolved_links", 1}};
  CHECK(summary("vault_status", {{"counts", counts}, {"indexing", {{"state", "idle"}}}}) ==
        "Notes: 5, files: 7, tags: 2, links: 9 (unresolved: 1). The index is complete.");
  CHECK(summary("vault_status", {{"counts", counts},
                                 {"indexing", {{"state", "indexing"}, {"done", 3}, {"total", 7}}}})
            .find("still being built: 3 of 7 files are done; ask again soon.") !=
        std::string::npos);
}

TEST_CASE("while the index is filled, every summary of what reads it says so", "[mcp]") {
  constexpr std::string_view kSaid = "The index is still being built; ask again soon.";
  const Registry registry = make_registry();
  int seen = 0;
  for (const Operation& operation : registry.all()) {
    if (!operation.reads_index) continue;
    INFO(operation.name);
    Json output = {{"indexing", true}};
    if (!operation.list.empty()) output[operation.list] = Json::array();
    CHECK(text_at(tool_result(operation, output, {}, latest()), 0).ends_with(kSaid));
    output["indexed"] = {{"done", 1200}, {"total", 50000}};
    CHECK(text_at(tool_result(operation, output, {}, latest()), 0)
              .ends_with("The index is still being built (indexing, 1200 of 50000 files); ask "
                         "again soon."));
    for (const char* key : {"indexing", "indexed"}) output.erase(key);
    CHECK(text_at(tool_result(operation, output, {}, latest()), 0).find(kSaid) ==
          std::string::npos);
    ++seen;
  }
  CHECK(seen > 5);
}

TEST_CASE("cutting takes whole items off long lists and never splits a character", "[mcp]") {
  std::vector<std::string> cuts;
  Json rows = Json::array();
  for (int i = 0; i < 1000; ++i)
    rows.push_back({{"path", "Folder/Note " + std::to_string(i) + ".md"}});
  const Json list = cut_to_size({{"notes", rows}}, 5000, &cuts);
  CHECK(list.dump().size() <= 5000);
  CHECK(list["notes"].size() > 50);
  REQUIRE(cuts.size() == 1);
  CHECK(cuts[0].find("of 1000 items") != std::string::npos);

  std::string text;
  for (int i = 0; i < 4000; ++i) text += "日";
  const Json japanese = cut_to_size({{"body", text}}, 2000, nullptr);
  CHECK(dump_rpc(japanese).size() <= 2000);
  CHECK(dump_rpc(japanese).find("\xEF\xBF\xBD") == std::string::npos);
}

TEST_CASE("the instructions say how to work and fit in 2 kB", "[mcp][B1]") {
  const std::string text(server_instructions());

  CHECK(text.size() < 2048);
  for (const char* word :
       {"Paths", "note_patch", "Search before you read", "Read before you write", "if_match"})
    CHECK(text.find(word) != std::string::npos);
  CHECK(server_info(latest())["name"] == "indx");
  CHECK(server_info(latest())["version"] == "0.1.0");
}

}  // namespace indx
