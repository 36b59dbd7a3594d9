#include "bench/quality/metrics.hpp"
#include "bench/quality/quality_vault.hpp"
#include "bench/quality/sets.hpp"
#include "bench/quality/tasks.hpp"

#include <algorithm>
#include <map>

namespace indx::quality {
namespace {

constexpr const char* kUnknown = "I don't know based on the indexed vault.";

/// White space as single spaces: a sentence may run over lines.
std::string in_one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (is_space && (result.empty() || result.back() == ' ')) continue;
    result += is_space ? ' ' : c;
  }
  return std::string(trim(result));
}

/// Whether the note, at the version that the citation names, holds the snippet at its span and
/// line.
bool verifies(const QualityVault& vault, const Json& citation) {
  const auto path = citation.value("path", std::string());
  const auto note = vault.call("note_read", {{"path", path}});
  if (!note.has_value() || (*note)["etag"] != citation.value("etag", std::string())) return false;
  const auto span = citation.value("span", Json::array());
  if (span.size() != 2) return false;
  const auto bytes = vault.bytes(path);
  const auto begin = span[0].get<std::size_t>(), end = span[1].get<std::size_t>();
  if (begin >= end || end > bytes.size()) return false;
  const auto line =
      1 + std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  return citation.value("line", std::int64_t{0}) == line &&
         in_one_line(bytes.substr(begin, end - begin)) ==
             in_one_line(citation.value("snippet", std::string()));
}

struct Tally {
  std::vector<double> right_note, right_sentence, refused, unknown;  ///< 0 or 1 a question
  std::vector<double> verified;                                      ///< 0 or 1 a citation
};

void check_citations(const QualityVault& vault, const std::string& id, const Json& answer,
                     Tally& tally, Report& report) {
  for (const auto& citation : answer.value("citations", Json::array())) {
    tally.verified.push_back(verifies(vault, citation) ? 1 : 0);
    if (tally.verified.back() < 1) report.fail(cat(id, ": does not verify: ", citation.dump()));
  }
}

std::optional<Json> ask_vault(const QualityVault& vault, const Question& question, Report& report) {
  auto answer = vault.call("ai_ask", {{"question", question.text}});
  if (answer.has_value()) return std::move(*answer);
  report.fail(cat(question.id, ": ", answer.error().message));
  return std::nullopt;
}

void ask_answerable(const QualityVault& vault, const Question& question, Tally& tally,
                    Report& report) {
  const auto answer = ask_vault(vault, question, report);
  bool has_note = false, has_sentence = false;
  if (answer) {
    check_citations(vault, question.id, *answer, tally, report);
    const auto wanted = in_one_line(question.answer);
    for (const auto& citation : answer->value("citations", Json::array())) {
      if (!question.relevant.contains(citation.value("path", std::string()))) continue;
      has_note = true;
      // The marked sentence may be a part of what is quoted, or the other way round.
      const auto quoted = in_one_line(citation.value("snippet", std::string()));
      has_sentence = has_sentence || quoted.find(wanted) != quoted.npos ||
                     (!quoted.empty() && wanted.find(quoted) != wanted.npos);
    }
  }
  tally.right_note.push_back(has_note ? 1 : 0);
  tally.right_sentence.push_back(has_sentence ? 1 : 0);
  tally.refused.push_back(answer && answer->value("answer", std::string()) == kUnknown ? 1 : 0);
}

void ask_unanswerable(const QualityVault& vault, const Question& question, Tally& tally,
                      Report& report) {
  const auto answer = ask_vault(vault, question, report);
  if (answer) check_citations(vault, question.id, *answer, tally, report);
  tally.unknown.push_back(answer && answer->value("answer", std::string()) == kUnknown ? 1 : 0);
}

void show(Report& report, const char* name, const std::vector<double>& values,
          std::optional<double> bar) {
  report.add({.name = cat("ask/", name),
              .value = mean(values),
              .unit = "share",
              .bar = bar,
              .bar_is_maximum = false,
              .n = values.size()});
}

}  // namespace

void measure_ask(Packs& packs, Report& report) {
  std::map<std::string, std::pair<std::vector<Question>, std::vector<Question>>> by_pack;
  for (auto& question : retrieval_questions())
    if (!question.answer.empty()) by_pack[question.pack].first.push_back(question);
  for (auto& question : unanswerable_questions()) by_pack[question.pack].second.push_back(question);
  Tally tally;
  for (const auto& [pack, questions] : by_pack) {
    const QualityVault vault(packs.folder(pack), Embeds::Yes);
    if (!vault.has("ai_ask")) return report.fail("ask: there is no operation ai_ask");
    for (const auto& question : questions.first) ask_answerable(vault, question, tally, report);
    for (const auto& question : questions.second) ask_unanswerable(vault, question, tally, report);
  }
  if (tally.verified.empty()) report.fail("ask: no answer has a citation");
  show(report, "right_note_cited", tally.right_note, 0.80);
  show(report, "citations_that_verify", tally.verified, 1.0);
  show(report, "unanswerable_said_unknown", tally.unknown, 0.90);
  show(report, "answerable_said_unknown", tally.refused, {});
  show(report, "marked_sentence_cited", tally.right_sentence, {});
}

}  // namespace indx::quality
