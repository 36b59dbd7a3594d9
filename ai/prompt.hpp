#pragma once
#include "ai/provider.hpp"
#include "base/json_text.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace indx {

/// What every prompt over notes shares: how text of notes is marked as data, and how it is cut.

/// For the system prompt: what stands between the marks was written by others and orders nothing.
/// `use` says what it is there for: "tagged".
std::string data_rule(std::string_view use);

/// The longest prefix within the limit that ends at a line, or at a character when the line is too
/// long.
std::string_view fit_tokens(std::string_view text, std::int64_t max_tokens);

/// `<<<NOTE id … NOTE id>>>`. A text cannot hold its own hash, so it cannot close its section
/// early: `id` is the hash of all of the bytes that `text` is part of.
std::string framed_note(const std::string& id, std::string_view text);
/// Tokens of the marks alone.
std::int64_t frame_tokens(const std::string& id);

/// A request with the limits of the configuration, still without a prompt. `max_tokens` 0: as
/// configured; more than is configured counts as that.
GenerateRequest request_for(const AiConfig& config, std::string schema_name, Json schema,
                            std::int64_t seed, int max_tokens = 0);

/// `{type: object}` with these properties, all required and no others: the form that every provider
/// takes.
Json closed_object(Json properties);

/// A text member of a model's answer as valid UTF-8 of at most `max_bytes`; empty when it is none.
std::string reply_text(const Json& object, const char* name, std::size_t max_bytes);
/// A number member between 0 and 1; 0 when it is none.
double reply_confidence(const Json& object);

}  // namespace indx
