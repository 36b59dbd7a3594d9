#pragma once
#include "base/file_bytes.hpp"
#include "base/result.hpp"

#include <string>
#include <utility>
#include <vector>

namespace indx {

/// The parts of a multipart/form-data body (RFC 7578).
struct FormData {
  std::vector<std::pair<std::string, std::string>> fields;  ///< name and text, in order
  struct File {
    std::string field, name;  ///< `name` as the sender gives it
    FileBytes bytes;          ///< a part of the body's file
  };
  std::vector<File> files;
};

/// The `boundary` of a Content-Type; empty when the type is not multipart/form-data.
std::string form_boundary(const std::string& content_type);

/// Cuts a body that was received whole. Constant memory but for the fields, which may have 64 kB
/// together. `validation_failed` for what is no well-formed form.
Result<FormData> read_form_data(const FileBytes& body, const std::string& boundary);

}  // namespace indx
