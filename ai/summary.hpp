#pragma once
#include "ai/provider.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace indx {

/// How a summary is wanted (rows C2 to C5).
struct SummaryOptions {
  std::string style = "neutral";  ///< neutral | bullets | executive | technical
  std::string length = "medium";  ///< short | medium | long
  std::string language, audience;
  bool with_tldr = true, with_key_points = true, with_questions = true;
};
/// 50, 200 or 600.
std::int64_t target_tokens(const std::string& length);

/// A part of a note in a prompt.
struct SummarySource {
  std::string path, title;
  std::string id;  ///< hash of bytes that the text is part of
  std::string text;
};
/// A point that a model makes, with what it gives as support: a snippet of a note, or the name of a
/// citation that it was shown.
struct ClaimedPoint {
  std::string text;
  std::vector<Json> support;  ///< `{path, snippet}`, or a name such as `c3`
};
struct SummaryReply {
  std::string tldr, text;
  std::vector<ClaimedPoint> points;
  std::vector<std::string> questions;
};

/// Over parts of notes: the whole work when everything fits into one prompt, else one part of it,
/// whose points the reduction uses.
GenerateRequest summary_prompt(const std::vector<SummarySource>& sources,
                               const SummaryOptions& options, const AiConfig& config,
                               std::int64_t seed, int max_tokens);
/// Tokens that the prompt takes besides its sources; what a source takes besides its text.
std::int64_t summary_overhead(const SummaryOptions& options);
std::int64_t source_overhead(const SummarySource& source);

/// A summary of a part, as the reduction sees it: its citations have names, `[c3]`.
struct PartialSummary {
  std::string text;
  struct Point {
    std::string text;
    std::vector<std::string> names, snippets;  ///< of its citations
  };
  std::vector<Point> points;
  std::vector<std::string> questions;
};
std::string partial_text(const PartialSummary& partial);
/// Over partial summaries; a point may only name citations that they hold.
GenerateRequest reduce_prompt(const std::vector<PartialSummary>& partials,
                              const SummaryOptions& options, const AiConfig& config,
                              std::int64_t seed, int max_tokens);
std::int64_t reduce_overhead(const SummaryOptions& options);

Result<SummaryReply> parse_summary_reply(const GenerateReply& reply);

}  // namespace indx
