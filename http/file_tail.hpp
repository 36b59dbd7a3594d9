#pragma once
#include "http/router.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// The parts of a response that are still to be sent, read from their file block by block.
class FileTail {
 public:
  FileTail() = default;
  explicit FileTail(HttpResponse response)
      : parts_(std::move(response.parts)), file_(std::move(response.file)) {}

  bool is_empty() const { return at_ == parts_.size(); }
  /// The file ended early or cannot be read: what was promised cannot be sent.
  bool is_broken() const { return is_broken_; }
  /// At least one byte, at most about 256 kB; empty at the end and when broken.
  std::string next_block();

 private:
  std::vector<HttpResponse::Part> parts_;
  std::shared_ptr<const FileBytes> file_;  // shared: with whoever answered
  std::size_t at_ = 0;
  bool is_broken_ = false;
};

}  // namespace indx
