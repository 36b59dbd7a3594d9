#include "ai/embed/convert_model.hpp"

#include "ai/embed/model_file.hpp"
#include "base/hash.hpp"
#include "tests/support/temp_dir.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <string>

namespace indx::embed {
namespace {

/// A package whose graph names these weights.
struct Package {
  TempDir folder;
  std::string model, shard, vocabulary;

  explicit Package(const Json& weights, std::size_t shard_bytes,
                   std::size_t pieces = kVocabularySize)
      : shard(shard_bytes, '\0') {
    const Json group{{"paths", {"shard1"}}, {"weights", weights}};
    model = Json({{"weightsManifest", Json::array({group})}}).dump();
    vocabulary = Json(std::vector<Json>(pieces, Json::array({"x", nullptr}))).dump();
    write("model.json", model);
    write("shard1", shard);
    write("vocab.json", vocabulary);
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() + "/" + name, std::ios::binary) << text;
  }
  std::string hash() const { return sha256_hex(model + shard + vocabulary); }
};

Json weight(const std::string& name, const Json& shape) {
  return {{"name", name}, {"shape", shape}, {"dtype", "float32"}};
}

Error error_of(const Package& package, const std::string& hash) {
  const auto bytes = convert_model(package.folder.path(), hash);
  REQUIRE_FALSE(bytes);
  return bytes.error();
}

}  // namespace

TEST_CASE("weights with another hash than the expected one are not converted", "[ai]") {
  const Package package(Json::array({weight("a", {2, 3})}), 24);

  const auto error = error_of(package, std::string(kSourceSha256));

  CHECK(error.reason == Reason::ParseFailed);
  CHECK(error.message.find(package.hash()) != std::string::npos);
}

TEST_CASE("weights of another shape are not converted, whatever their hash", "[ai]") {
  const std::string table = "module/Embeddings_en";
  const Package absent(Json::array({weight("a", {2, 3})}), 24);
  const Package turned(Json::array({weight(table, {256, 8002})}), 256 * 8002 * 4);
  const Package short_shard(Json::array({weight(table, {8002, 256})}), 100);
  const Package long_shard(Json::array({weight("a", {2, 3})}), 28);
  const Package few_pieces(Json::array({weight("a", {2, 3})}), 24, 10);

  CHECK(error_of(absent, absent.hash()).message.find(table + " is missing") != std::string::npos);
  CHECK(error_of(turned, turned.hash()).message.find(table) != std::string::npos);
  CHECK(error_of(short_shard, short_shard.hash()).message.find("larger") != std::string::npos);
  CHECK(error_of(long_shard, long_shard.hash()).message.find("too long") != std::string::npos);
  CHECK(error_of(few_pieces, few_pieces.hash()).message.find("10 pieces") != std::string::npos);
}

TEST_CASE("a package with a file missing, broken, or out of its folder is refused", "[ai]") {
  const TempDir empty;
  const Package broken(Json::array(), 0), outside(Json::array(), 0);
  broken.write("model.json", "{\"weightsManifest\": [");
  outside.write("model.json", R"({"weightsManifest": [{"paths": ["../shard1"], "weights": []}]})");

  const auto absent = convert_model(empty.path(), kSourceSha256);
  REQUIRE_FALSE(absent);
  CHECK(absent.error().reason == Reason::NotFound);
  CHECK(error_of(broken, broken.hash()).reason == Reason::ParseFailed);
  CHECK(error_of(outside, outside.hash()).message.find("another folder") != std::string::npos);
}

}  // namespace indx::embed
