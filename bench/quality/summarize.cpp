#include "ai/extractive/language.hpp"
#include "ai/note_text.hpp"
#include "base/unicode.hpp"
#include "bench/quality/lexrank.hpp"
#include "bench/quality/metrics.hpp"
#include "bench/quality/quality_vault.hpp"
#include "bench/quality/rouge.hpp"
#include "bench/quality/sentences.hpp"
#include "bench/quality/tasks.hpp"
#include "vault/frontmatter.hpp"

#include <map>
#include <optional>

namespace indx::quality {
namespace {

constexpr int kFewestSections = 3;
constexpr std::size_t kFewestSentences = 3;
constexpr char32_t kLastLatinLetter = 0x24F;

struct SummaryCase {
  std::string path, reference;
};

/// The sentences in a row, up to `limit`.
std::string lead(const std::vector<PlainSentence>& sentences, std::size_t limit) {
  std::string text;
  for (std::size_t i = 0; i < std::min(limit, sentences.size()); ++i)
    text += cat(i > 0 ? " " : "", sentences[i].text);
  return text;
}

/// The summary that the operation makes, or nothing and a failure.
std::optional<Json> summarized(const QualityVault& vault, const std::string& path,
                               const char* length, Report& report) {
  const auto answer = vault.call(
      "ai_summarize",
      {{"scope", {{"kind", "paths"}, {"paths", Json::array({path})}}}, {"length", length}});
  if (answer.has_value()) return (*answer)["summary"];
  report.fail(cat("summarize: ", path, ": ", answer.error().message));
  return std::nullopt;
}

/// Whether the prose and the description are English; pages of code mislead the test of a language.
bool is_english(std::string_view bytes, const std::string& description) {
  for (std::size_t at = 0; at < description.size();) {
    const CodePoint point = decode_at(description, at);
    if (is_letter(point.value) && point.value > kLastLatinLetter) return false;
    at += point.length;
  }
  const NoteText note(bytes);
  return language_of(std::string_view(note.prose()).substr(note.body_begin())) == "en";
}

/// English notes with a description, which is the reference and is taken out of the note.
std::vector<SummaryCase> described_notes(Packs& packs, const std::string& pack,
                                         const std::filesystem::path& to) {
  std::vector<SummaryCase> cases;
  const auto vault = packs.source(pack);
  for (const auto& path : notes_in(vault)) {
    auto bytes = read_text(vault / path);
    const auto frontmatter = parse_frontmatter(bytes);
    const Json* description = find_property(frontmatter.values, "description");
    if (description == nullptr || !description->is_string()) continue;
    const auto reference = description->get<std::string>();
    if (word_total(word_counts(reference)) < 4 || !is_english(bytes, reference)) continue;
    auto cut = delete_frontmatter(bytes, "description");
    if (!cut.has_value()) continue;  // a block that cannot be edited safely is left out
    bytes = replace_all(*cut, reference, "");
    if (plain_sentences(bytes).size() < kFewestSentences) continue;
    cases.push_back({cat(pack, '/', path), reference});
    write_text(to / "vault" / cases.back().path, bytes);
  }
  return cases;
}

void measure_descriptions(Packs& packs, Report& report) {
  const auto folder = packs.empty_folder();
  std::vector<SummaryCase> cases;
  for (const auto* pack : {"d1-multilingual", "scale-vba-docs"}) {
    auto some = described_notes(packs, pack, folder);
    report.add({.name = cat("summarize/description/notes/", pack),
                .value = static_cast<double>(some.size()),
                .unit = "notes"});
    cases.insert(cases.end(), some.begin(), some.end());
  }
  const QualityVault vault(folder, Embeds::No);
  std::vector<double> ours, tldr, lead_two, by_lexrank;
  for (const auto& one : cases) {
    const auto summary = summarized(vault, one.path, "short", report);
    const auto text = summary ? summary->value("text", std::string()) : std::string();
    const auto sentences = plain_sentences(vault.bytes(one.path));
    const auto two = lead(sentences, 2);
    ours.push_back(rouge1_f(text, one.reference));
    tldr.push_back(rouge1_f(summary ? summary->value("tldr", std::string()) : "", one.reference));
    lead_two.push_back(rouge1_f(two, one.reference));
    by_lexrank.push_back(
        rouge1_f(best_sentences(sentences, lexrank(sentences), word_total(word_counts(two))),
                 one.reference));
  }
  const double floor = mean(lead_two);
  report.add({.name = "summarize/description/rouge1",
              .value = mean(ours),
              .unit = "F",
              .floor = floor,
              .bar = 0.98 * floor,
              .bar_is_maximum = false,
              .n = ours.size()});
  report.add({.name = "summarize/description/tldr_rouge1",
              .value = mean(tldr),
              .unit = "F",
              .floor = floor,
              .n = tldr.size()});
  report.add({.name = "summarize/description/lexrank_rouge1",
              .value = mean(by_lexrank),
              .unit = "F",
              .floor = floor,
              .n = by_lexrank.size()});
}

/// The first sentence of each section; nothing when too few sections have one.
std::string section_leads(const std::vector<PlainSentence>& sentences) {
  std::string text;
  int sections = 0, last = -1;
  for (const auto& sentence : sentences) {
    if (sentence.section == last) continue;
    last = sentence.section;
    text += cat(text.empty() ? "" : " ", sentence.text);
    ++sections;
  }
  return sections < kFewestSections ? std::string() : text;
}

void measure_meetings(Packs& packs, Report& report) {
  const QualityVault vault(packs.folder("d1-meetings"), Embeds::No);
  std::vector<double> ours, by_lexrank;
  for (const auto& path : notes_in(vault.vault())) {
    if (!path.starts_with("meetings/")) continue;
    const auto sentences = plain_sentences(vault.bytes(path));
    const auto reference = section_leads(sentences);
    if (reference.empty()) continue;
    const auto summary = summarized(vault, path, "medium", report);
    const auto text = summary ? summary->value("text", std::string()) : std::string();
    // As many words as ours has: the measure likes one length more than another.
    const int words = word_total(word_counts(text));
    ours.push_back(rouge1_f(text, reference));
    by_lexrank.push_back(rouge1_f(best_sentences(sentences, lexrank(sentences), words), reference));
  }
  const double floor = mean(by_lexrank);
  report.add({.name = "summarize/meetings/rouge1",
              .value = mean(ours),
              .unit = "F",
              .floor = floor,
              .bar = above(floor),
              .bar_is_maximum = false,
              .n = ours.size()});
}

}  // namespace

void measure_summarize(Packs& packs, Report& report) {
  measure_descriptions(packs, report);
  measure_meetings(packs, report);
}

}  // namespace indx::quality
