#pragma once
#include "base/assert.hpp"

#include <filesystem>
#include <stdlib.h>
#include <string>

namespace indx {

/// An empty folder that goes with the object.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "indx-test-XXXXXX").string();
    INDX_ASSERT(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace indx
