#include "ai/embed/convert_model.hpp"
#include "ai/embed/model_file.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

/// Writes the model file that the program maps, from the folder of the published package. Takes the
/// place of an old one at once, since a running program may have that mapped.
int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: convert_model PACKAGE_FOLDER MODEL_FILE\n");
    return 2;
  }
  const auto bytes = indx::embed::convert_model(argv[1], indx::embed::kSourceSha256);
  if (!bytes) {
    std::fprintf(stderr, "convert_model: %s\n", bytes.error().message.c_str());
    return 1;
  }
  const std::filesystem::path target(argv[2]), temp(target.string() + ".new");
  std::error_code failure;
  std::filesystem::create_directories(target.parent_path(), failure);
  {
    std::ofstream out(temp, std::ios::binary | std::ios::trunc);
    out.write(bytes->data(), static_cast<std::streamsize>(bytes->size()));
    out.close();
    if (!out) {
      std::fprintf(stderr, "convert_model: %s cannot be written\n", temp.c_str());
      return 1;
    }
  }
  std::filesystem::rename(temp, target, failure);
  if (failure) {
    std::fprintf(stderr, "convert_model: %s: %s\n", target.c_str(), failure.message().c_str());
    return 1;
  }
  return 0;
}
