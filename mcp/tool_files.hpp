#pragma once
#include "base/result.hpp"
#include "mcp/protocol.hpp"
#include "ops/files.hpp"
#include "ops/operation.hpp"

#include <memory>

namespace indx {

/// Files in tools: JSON has no bytes, so they travel as `content_text` or `content_base64`.

/// The fields of a tool that takes a file, added to the properties of its schema.
void add_file_fields(Json& properties);

/// Takes the file out of the arguments. Fails with `validation_failed` when there is none, or two,
/// or the text is not base64.
Result<std::shared_ptr<const Upload>> take_file(Json& arguments);

/// Puts the bytes of a file that came with an answer into its output, as far as they fit. The rest
/// is had by resources/read.
void put_file(const FileBytes& bytes, Json& output);

/// A picture that a model can look at, as a block of a result; null: the file is none, or large.
Json image_block(const FileBytes& bytes, const Json& output);

}  // namespace indx
