#include "cli/mcp_checks.hpp"

#include "ai/provider.hpp"
#include "base/text.hpp"
#include "mcp/protocol.hpp"

#include <chrono>
#include <thread>

namespace indx {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kIndexingLimit{3'000}, kIndexingPause{100};
constexpr std::size_t kMaxCatalogBytes = 60'000;

std::string_view state_name(McpCheck::State state) {
  switch (state) {
    case McpCheck::State::Ok:
      return "ok";
    case McpCheck::State::Warn:
      return "warn";
    case McpCheck::State::Fail:
      break;
  }
  return "fail";
}

bool has_tool(const Json& tools, std::string_view name) {
  for (const Json& tool : tools)
    if (tool.is_object() && tool.value("name", "") == name) return true;
  return false;
}

/// The answer of a tool: its structured content, or why there is none.
Result<Json> structured_of(const Json& result) {
  if (!result.value("isError", false)) return result.value("structuredContent", Json::object());
  const Json content = result.value("content", Json::array());
  const bool has_text = content.is_array() && !content.empty() && content[0].is_object();
  return make_error(Reason::Internal, has_text ? content[0].value("text", "") : "no text");
}

Result<Json> ask_tool(const McpAsk& ask, std::string_view name, Json arguments) {
  const Result<Json> answer =
      ask("tools/call", Json{{"name", name}, {"arguments", std::move(arguments)}});
  return answer ? structured_of(*answer) : answer;
}

/// `no ai_* tools are listed.`, or which: some need no model for text.
std::string listed_ai_tools(const Json& catalog) {
  std::vector<std::string> names;
  for (const Json& tool : catalog.value("tools", Json::array()))
    if (const auto name = tool.value("name", ""); name.starts_with("ai_")) names.push_back(name);
  if (names.empty()) return "no ai_* tools are listed.";
  return cat("only these ai_* tools are listed: ", join(names, ", "), ".");
}

/// ` (3 of 120 files)`; empty: not counted yet.
std::string indexed_so_far(const Json& list) {
  const Json indexed = list.value("indexed", Json::object());
  const auto total = indexed.value("total", std::int64_t{0});
  return total == 0 ? ""
                    : cat(" (", indexed.value("done", std::int64_t{0}), " of ", total, " files)");
}

}  // namespace

void McpReport::ok(std::string name, std::string finding) {
  checks_.push_back({McpCheck::State::Ok, std::move(name), std::move(finding), ""});
}
void McpReport::warn(std::string name, std::string finding, std::string advice) {
  checks_.push_back(
      {McpCheck::State::Warn, std::move(name), std::move(finding), std::move(advice)});
}
void McpReport::fail(std::string name, std::string finding, std::string advice) {
  checks_.push_back(
      {McpCheck::State::Fail, std::move(name), std::move(finding), std::move(advice)});
}

bool McpReport::is_healthy() const {
  for (const McpCheck& check : checks_)
    if (check.state == McpCheck::State::Fail) return false;
  return true;
}

std::string McpReport::text() const {
  std::string text;
  for (const McpCheck& check : checks_) {
    const std::string state(state_name(check.state));
    text += cat(state, std::string(6 - state.size(), ' '), check.name, ": ",
                replace_all(check.finding, "\n", " "));
    if (!check.advice.empty()) text += cat("  -> ", check.advice);
    text += "\n";
  }
  return text;
}

Json McpReport::json() const {
  Json rows = Json::array();
  for (const McpCheck& check : checks_) {
    rows.push_back(
        {{"name", check.name}, {"state", state_name(check.state)}, {"finding", check.finding}});
    if (!check.advice.empty()) rows.back()["advice"] = check.advice;
  }
  return {{"ok", is_healthy()}, {"checks", std::move(rows)}};
}

Json initialize_params(std::string_view version) {
  return {{"protocolVersion", version},
          {"capabilities", Json::object()},
          {"clientInfo", {{"name", "indx mcp doctor"}, {"version", "1"}}}};
}

std::string newest_legacy_version() { return std::string(negotiate_protocol("").version); }

void check_catalog(McpReport& report, const Json& result) {
  const Json tools = result.value("tools", Json::array());
  if (!tools.is_array() || tools.empty())
    return report.fail("tools", "The catalog is empty.",
                       "Give the token or --scopes at least vault:read.");
  const std::size_t bytes = result.dump().size();
  const std::string finding = cat(tools.size(), " tools, ", bytes / 1000,
                                  " kB; reads: ", has_tool(tools, "note_read") ? "yes" : "no",
                                  ", writes: ", has_tool(tools, "note_write") ? "yes" : "no",
                                  ", admin: ", has_tool(tools, "vault_reindex") ? "yes" : "no");
  if (bytes > kMaxCatalogBytes)
    return report.warn("tools", finding,
                       "Hosts may cut so long a catalog; give fewer scopes where they do.");
  report.ok("tools", finding);
}

void check_ai(McpReport& report, const McpAsk& ask, const Json& catalog, const AiConfig* config) {
  const Result<Json> status = ask_tool(ask, "vault_status", Json::object());
  if (!status) return;  // as what is read next, which tells why
  const Json ai = status->value("ai", Json::object());
  if (ai.value("enabled", false))
    return report.ok("ai", cat(ai.value("provider", ""), ", model ", ai.value("model", "")));
  std::string listed = listed_ai_tools(catalog);
  if (!config)
    return report.ok("ai", cat("off: the server uses no provider, so ", listed,
                               " If one is configured there, the server's log says why."));
  if (config->provider.empty())
    return report.ok("ai", cat("off: no provider is configured, so ", listed));
  if (!config->enabled) return report.ok("ai", cat("off: ai.enabled is false, so ", listed));
  std::string lack = lack_of_provider(*config);
  if (lack.empty())
    lack =
        "the process that holds the vault has no provider; set INDX_AI_PROVIDER and its variables "
        "where that one is started";
  listed.front() = listed.front() == 'n' ? 'N' : 'O';
  report.warn("ai", cat("off: ", lack, ". ", listed), "");
}

void check_read(McpReport& report, const McpAsk& ask) {
  const auto is_indexing = [](const Json& list) { return list.value("indexing", Json()) == true; };
  const auto until = std::chrono::steady_clock::now() + kIndexingLimit;
  Result<Json> list = ask_tool(ask, "note_list", {{"limit", 1}});
  while (list && is_indexing(*list) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kIndexingPause);
    list = ask_tool(ask, "note_list", {{"limit", 1}});
  }
  if (!list)
    return report.fail("read", cat("note_list failed: ", list.error().message),
                       "`indx vault status` and `indx doctor` say more about the vault.");
  if (is_indexing(*list))
    return report.ok("read", cat("The first indexing is not done yet", indexed_so_far(*list),
                                 "; searches find more soon."));
  const bool has_notes = !list->value("notes", Json::array()).empty();
  if (has_notes) return report.ok("read", "A note of the vault can be listed.");
  report.warn("read", "The read worked, but there is no note to see.",
              "Check that --vault is the right folder and that `path:` scopes or the token's globs "
              "are not too narrow.");
}

}  // namespace indx
