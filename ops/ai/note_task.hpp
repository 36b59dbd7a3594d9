#pragma once
#include "ai/metadata.hpp"
#include "ops/ai/ai_notes.hpp"

#include <string>

namespace indx {

/// What the vault knows of a note, for those who look for values in it. Its day is the date in its
/// name, else its property `date`.
MetadataTask note_task(const AiNote& source, const std::string& language);

}  // namespace indx
