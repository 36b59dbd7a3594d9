#pragma once
#include "ai/extractive/note_fields.hpp"
#include "ai/metadata.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace indx {

/// Properties without a model (builtin-ai.md section 4): front matter, then what the note says in
/// the form of a field, then rules for well-known keys (title, description, dates, language,
/// counts, links, people, addresses), then an enumeration's value that the text names. First hit
/// wins; each value tells its origin and quotes the note. Deterministic.
MetadataReply extractive_metadata(const MetadataTask& task);

/// Text as a value of the field's type, by the grammar of value_text.hpp; an enumeration's value in
/// any case, a list split at commas. `day`: what relative dates count from; empty: they are none.
std::optional<Json> value_of_text(const MetadataField& field, std::string_view text,
                                  std::string_view day);

/// The first sentence of the prose that is worth quoting: not a heading, not a label.
std::optional<Evidence> lead_sentence(const NoteText& note);
/// The same of bytes [begin, end).
std::optional<Evidence> lead_sentence(const NoteText& note, std::size_t begin, std::size_t end);

}  // namespace indx
