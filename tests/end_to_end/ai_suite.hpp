#pragma once
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/model_server.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace indx {

/// One call of each AI operation on one small vault, those that write last: what is asked before
/// does not depend on when the index takes a write up.
struct SuiteCall {
  std::string name, target;
  Json input;
};

inline void fill_suite_vault(const TempFolder& vault) {
  vault.write("Garden.md",
              "# Garden\n\nOwner: Ana\n\nCompost warms the heap in winter.\n\nSee [[Tools]].\n");
  vault.write("Roses.md", "# Roses\n\nRoses are pruned in early spring.\n");
  vault.write("Tools.md", "# Tools\n\nA sturdy fork turns the compost heap in winter.\n");
}

inline std::vector<SuiteCall> suite_calls() {
  const Json garden{{"kind", "note"}, {"path", "Garden.md"}};
  const Json all{{"kind", "glob"}, {"path_glob", "*.md"}};
  const Json record{{"type", "object"}, {"properties", {{"owner", {{"type", "string"}}}}}};
  const Json fields = Json::array({{{"key", "owner"}, {"type", "string"}}});
  return {
      {"ai_summarize", "/v1/ai/summarize", {{"scope", all}}},
      {"ai_ask", "/v1/ai/ask", {{"question", "When are roses pruned?"}}},
      {"ai_relate",
       "/v1/ai/relate",
       {{"source", {{"kind", "path"}, {"path", "Garden.md"}}}, {"propose_links", true}}},
      {"ai_extract", "/v1/ai/extract", {{"scope", garden}, {"schema", record}}},
      {"ai_toc",
       "/v1/ai/toc",
       {{"mode", "moc"}, {"scope", all}, {"group_by", "folder"}, {"write", {{"path", "Map.md"}}}}},
      {"ai_metadata", "/v1/ai/metadata", {{"scope", garden}, {"fields", fields}, {"apply", true}}},
      {"ai_tag", "/v1/ai/tag", {{"scope", all}, {"apply", true}}}};
}

/// What the model answers to them, by the name of the form that each asks for; tags it finds
/// itself.
inline void script_suite(ModelServer& model) {
  const auto quote = [](const char* key, const char* place, const char* snippet) {
    return Json::array({{{key, place}, {"snippet", snippet}}});
  };
  const Json point{{"text", "Compost warms."},
                   {"citations", quote("path", "Garden.md", "Compost warms the heap")}};
  const Json edge{{"note", "n1"},
                  {"relation", "same_topic"},
                  {"confidence", 0.9},
                  {"rationale", "Both are about the heap."},
                  {"citations", quote("note", "source", "Compost warms the heap")}};
  const Json owner{{"value", "Ana"},
                   {"confidence", 0.9},
                   {"rationale", "It stands there."},
                   {"quotes", {"Owner: Ana"}}};
  const std::vector<std::pair<std::string, Json>> replies = {
      {"summary",
       {{"tldr", "It warms."},
        {"text", "Compost warms the heap in winter."},
        {"key_points", Json::array({point})},
        {"open_questions", Json::array()}}},
      {"answer",
       {{"is_answerable", true},
        {"answer", "In early spring."},
        {"confidence", "high"},
        {"citations", quote("path", "Roses.md", "pruned in early spring")},
        {"followups", Json::array()}}},
      {"relations", {{"relations", Json::array({edge})}}},
      {"record",
       {{"data", {{"owner", "Ana"}}},
        {"confidence", 0.9},
        {"citations", Json::array({{{"field", "/owner"}, {"quote", "Owner: Ana"}}})}}},
      {"toc", {{"groups", Json::array({{{"id", "g1"}, {"title", "Everything"}}})}}},
      {"metadata", {{"fields", {{"owner", owner}}}}}};
  for (const auto& [schema, reply] : replies)
    model.script({{"if_schema", schema}, {"reply", reply}, {"times", 100}});
}

/// Waits until every chunk has its vector.
inline void embed_suite(const RunningServer& server) {
  const auto job = server.start_job("/v1/vault/embed", Json::object());
  CHECK(server.wait_for_job(job)["state"] == "succeeded");
}

}  // namespace indx
