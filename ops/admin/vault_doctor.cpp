#include "ops/admin/index_named.hpp"
#include "ops/define.hpp"
#include "ops/doctor.hpp"
#include "ops/operations.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace indx {
namespace vault_doctor_op {

struct Input {
  bool fix = false;
  int limit = 200;
};
struct Row {
  std::string kind, severity, path, message, advice;
  static Fields<Row> fields() {
    return {field("kind", &Row::kind, "What is wrong, for programs: `index_stale`."),
            field("severity", &Row::severity,
                  "`error`: only a backup brings it back. `warning`: the index, which can be made "
                  "again. `notice`: left over, without harm.",
                  one_of({"error", "warning", "notice"})),
            field("path", &Row::path, "Note or file of the index folder; left out: no single one.",
                  optional),
            field("message", &Row::message, "What is there and what should be."),
            field("advice", &Row::advice, "What to do.")};
  }
};
struct Looked {
  std::int64_t files = 0, versions = 0, jobs = 0;
  static Fields<Looked> fields() {
    return {field("files", &Looked::files, "Files of the vault."),
            field("versions", &Looked::versions, "Kept texts of notes."),
            field("jobs", &Looked::jobs, "Jobs.")};
  }
};
struct Output {
  bool healthy = true;
  std::int64_t total = 0;
  std::map<std::string, std::int64_t> kinds;
  std::vector<Row> findings;
  bool truncated = false;
  std::int64_t fixed = 0;
  Looked looked_at;
};

std::string_view severity_name(Finding::Severity severity) {
  return severity == Finding::Severity::Error     ? "error"
         : severity == Finding::Severity::Warning ? "warning"
                                                  : "notice";
}

/// As the result of a step, which a resumed job gets instead of another look.
Json to_json(const Checkup& checkup, std::size_t limit) {
  Json rows = Json::array(), kinds = Json::object();
  Json paths = Json::array();  // that indexing anew may mend
  std::set<std::string> in_index;
  bool is_whole_index = false;
  for (const auto& finding : checkup.findings) {
    kinds[finding.kind] = kinds.value(finding.kind, 0) + 1;
    if (finding.is_in_index()) {
      in_index.insert(finding.path);
      is_whole_index = is_whole_index || finding.path.empty();
    }
    if (rows.size() >= limit) continue;
    Json row{{"kind", finding.kind},
             {"severity", severity_name(finding.severity)},
             {"message", finding.message},
             {"advice", finding.advice}};
    if (!finding.path.empty()) row["path"] = finding.path;
    rows.push_back(std::move(row));
  }
  const bool is_bad = std::any_of(
      checkup.findings.begin(), checkup.findings.end(),
      [](const Finding& finding) { return finding.severity != Finding::Severity::Notice; });
  // Beyond that, indexing all again is no slower and needs no list.
  constexpr std::size_t kMostPaths = 10'000;
  if (!is_whole_index && in_index.size() <= kMostPaths)
    for (const auto& path : in_index) paths.push_back(path);
  return {{"healthy", !is_bad},
          {"total", checkup.total},
          {"kinds", std::move(kinds)},
          {"findings", std::move(rows)},
          {"truncated", checkup.total > static_cast<std::int64_t>(limit)},
          {"looked_at",
           {{"files", checkup.files}, {"versions", checkup.versions}, {"jobs", checkup.jobs}}},
          {"in_index", in_index.size()},
          {"paths", std::move(paths)}};
}

Result<Json> examine(Context& ctx, std::string_view key, const Input& in) {
  return ctx.step(key, Json{{"limit", in.limit}}, [&]() -> Result<Json> {
    return to_json(INDX_TRY(ctx.doctor().examine()), static_cast<std::size_t>(in.limit));
  });
}

Status index_all(Context& ctx, const std::string& key, bool reset_db) {
  Index::Reindex request{.rebuild = true, .reset_db = reset_db};
  request.once = [&](const std::function<Result<Json>()>& empty) {
    return ctx.step(key + "/empty", Json::object(), empty);
  };
  INDX_TRY(ctx.step(key, Json::object(), [&] { return ctx.index().reindex(request); }));
  return {};
}

Result<Output> run(Context& ctx, const Input& in) {
  Json checkup = INDX_TRY(examine(ctx, "examine", in));
  const auto first = checkup["in_index"].get<std::int64_t>();
  // From the mildest to the strongest; each only when the one before was not enough.
  for (int attempt = 0; in.fix && attempt < 3 && checkup["in_index"] != 0; ++attempt) {
    const auto number = std::to_string(attempt + 1);
    const auto paths = checkup["paths"].get<std::vector<std::string>>();
    if (attempt == 0 && !paths.empty())
      INDX_TRY(index_named(ctx, "fix_1/", paths, true));
    else
      INDX_TRY(index_all(ctx, "fix_" + number, attempt == 2));
    checkup = INDX_TRY(examine(ctx, "examine_after_" + number, in));
  }
  Output out;
  out.fixed = first - checkup["in_index"].get<std::int64_t>();
  out.healthy = checkup["healthy"];
  out.total = checkup["total"];
  out.truncated = checkup["truncated"];
  Codec<std::map<std::string, std::int64_t>>::decode(checkup["kinds"], out.kinds);
  Codec<std::vector<Row>>::decode(checkup["findings"], out.findings);
  Codec<Looked>::decode(checkup["looked_at"], out.looked_at);
  return out;
}

}  // namespace vault_doctor_op

Operation vault_doctor() {
  using namespace vault_doctor_op;
  return define<Input, Output>({
      .name = "vault_doctor",
      .summary = "Check the index and everything kept beside it against the files.",
      .guidance =
          "Reads every file again and compares each row of the index with what it must be; checks "
          "both databases, kept versions, open writes, jobs and files left over. Takes as long as "
          "indexing anew, and for that time as much space as the index twice. `fix` brings the "
          "index up to date and touches nothing else. On the command line a difference ends with "
          "code 1.",
      .scopes = {Scope::VaultAdmin},
      .route = {"POST", "/v1/vault/doctor"},
      .cli = "doctor",
      .execution = Execution::Job,
      .effect = Effect::Writes,
      .is_idempotent = true,
      .tool_group = "vault_manage",
      .input = {field("fix", &Input::fix, "Index again what differs; notes stay untouched.",
                      optional),
                field("limit", &Input::limit, "Most findings to list; all are counted.",
                      between(1, 10000), optional)},
      .output = {field("healthy", &Output::healthy,
                       "Nothing is wrong, notices apart; after `fix`: nothing any more."),
                 field("total", &Output::total, "How many findings there are."),
                 field("kinds", &Output::kinds, "How many of each kind."),
                 field("findings", &Output::findings, "The findings, in order of kind and path."),
                 field("truncated", &Output::truncated, "Whether there are more than are listed."),
                 field("fixed", &Output::fixed, "Files of the index that `fix` put right."),
                 field("looked_at", &Output::looked_at, "How much was checked.")},
      .verdict = "healthy",
      .list = "findings",
      .handler = run,
  });
}

}  // namespace indx
