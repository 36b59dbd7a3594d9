#pragma once
#include "ops/ai/ai_scope.hpp"
#include "ops/define.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace indx {

/// What every AI operation takes (rows C6, C48); the Input of an operation derives from it.
struct AiCallInput {
  AiScope scope;
  std::string language;
  std::optional<int> max_tokens;
  bool cite = true;
  std::int64_t seed = 0;
  bool cache = true;
  std::optional<std::int64_t> cache_ttl_seconds;
  bool stream = false;    ///< for the surface, which takes it out
  bool estimate = false;  ///< see ai_estimate.hpp

  /// What changes the answer to the same notes, for the inputs of steps.
  Json key() const {
    return Json{{"language", language},
                {"max_tokens", max_tokens.value_or(0)},
                {"cite", cite},
                {"seed", seed}};
  }
};
/// The same for those that may write (rows C81 to C87).
struct AiApplyInput : AiCallInput {
  bool apply = false;
  std::map<std::string, std::string> if_match;
  std::string if_match_mode = "stop";
};

/// The fields of AiCallInput but `scope`, which stands first. `language_text`: what `language` is
/// the language of.
template <typename Input>
Fields<Input> ai_call_fields(const char* language_text) {
  return {
      field<Input, std::string>("language", &Input::language, language_text, optional, plain,
                                length(0, 35)),
      field<Input, std::optional<int>>("max_tokens", &Input::max_tokens,
                                       "Most tokens of one model answer.", plain,
                                       between(1, 100000)),
      field<Input, bool>("cite", &Input::cite, "Give the lines that support each claim.", optional,
                         plain),
      field<Input, std::int64_t>("seed", &Input::seed,
                                 "Same input and seed: same output, as far as the model can.",
                                 optional, plain),
      field<Input, bool>("cache", &Input::cache,
                         "Whether an earlier answer of the model may be used, and this one kept.",
                         optional, plain),
      field<Input, std::optional<std::int64_t>>(
          "cache_ttl_seconds", &Input::cache_ttl_seconds,
          "How old such an answer may be, and how long this one is kept; left out: as configured.",
          for_programs, between(1, 315360000)),
      field<Input, bool>("stream", &Input::stream,
                         "Tell the answer while it is made: as server-sent events over REST, as "
                         "lines of JSON on the command line.",
                         optional, plain)};
}
template <typename Input>
Field<Input> ai_scope_field() {
  return field<Input, AiScope>("scope", &Input::scope, "Which notes.");
}
/// The guards of what is written; `apply` and `apply_mode` differ from operation to operation.
template <typename Input>
Fields<Input> ai_guard_fields() {
  return {field<Input, std::map<std::string, std::string>>(
              "if_match", &Input::if_match, "Path to etag: the versions that may be written.",
              optional, for_writing, length(0, 10000)),
          field<Input, std::string>("if_match_mode", &Input::if_match_mode,
                                    "On a mismatch: write nothing, or skip that note.", optional,
                                    for_writing, one_of({"stop", "skip"}))};
}

template <typename Struct>
Fields<Struct> joined(Fields<Struct> first, const Fields<Struct>& second,
                      const Fields<Struct>& third = {}) {
  first.insert(first.end(), second.begin(), second.end());
  first.insert(first.end(), third.begin(), third.end());
  return first;
}

/// How an AI operation can fail; those that write or cite add theirs.
std::vector<Failure> ai_failures(std::vector<Failure> own);

}  // namespace indx
