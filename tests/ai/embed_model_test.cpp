#include "ai/embed/builtin_embedder.hpp"
#include "ai/embed/encoder.hpp"
#include "ai/embed/model_file.hpp"
#include "base/hash.hpp"
#include "tests/support/temp_dir.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace indx::embed {
namespace {

/// The model that the build made. Absent is a failure, unless the build was told to make none.
const ModelFile* built_model() {
  static const auto file = ModelFile::open(default_embedding_model_file());
  if (!INDX_EMBEDDING_MODEL) {
    WARN("skipped: this build was configured without the embedding model");
    return nullptr;
  }
  INFO((file ? std::string() : file.error().message));
  REQUIRE(file.has_value());
  return &*file;
}

std::unique_ptr<Embedder> built_embedder() {
  if (built_model() == nullptr) return nullptr;
  auto embedder = make_builtin_embedder();
  REQUIRE(embedder.has_value());
  return std::move(embedder).value();
}

Json goldens() {
  std::ifstream in(std::string(INDX_TEST_DATA) + "/embed_goldens.json");
  return Json::parse(in);
}

template <typename A, typename B>
double dot(const A& a, const B& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kDimension; ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

std::vector<std::vector<float>> embedded(Embedder& embedder,
                                         const std::vector<std::string>& texts) {
  auto vectors = embedder.embed(texts, CancelToken());
  REQUIRE(vectors.has_value());
  return std::move(vectors).value();
}

/// A file of the right shape that holds zeros, and pieces called x.
std::string blank_model(std::string_view source) {
  std::vector<std::string> contents;
  for (const auto& section : model_sections()) {
    const std::size_t numbers = std::size_t{section.rows} * section.width;
    std::string content;
    switch (section.kind) {
      case SectionKind::PackedInt8:
      case SectionKind::RowInt8:
        content.assign(numbers + section.rows * sizeof(float), '\0');
        break;
      case SectionKind::Float:
        content.assign(numbers * sizeof(float), '\0');
        break;
      case SectionKind::Double:
        content.assign(numbers * sizeof(double), '\0');
        break;
      case SectionKind::Text:
        for (std::size_t i = 0; i < numbers; ++i) content += "\x01x";
        break;
    }
    contents.push_back(content);
  }
  return model_file_bytes(contents, source);
}

constexpr std::size_t kHashPlace = 88, kContentPlace = 128;

std::string with_right_hash(std::string file) {
  const auto hash = etag_of(std::string_view(file).substr(kContentPlace));
  return file.replace(kHashPlace, hash.size(), hash);
}

std::string cause_of(const std::string& path) {
  const auto file = ModelFile::open(path);
  if (file) return "none";
  CHECK(file.error().reason == Reason::AiUnavailable);
  CHECK(file.error().details.value("required_role", "") == "embeddings");
  CHECK(file.error().message.starts_with("Semantic search is off: "));
  return file.error().details.value("cause", "");
}

}  // namespace

TEST_CASE("without the model's file there is no embedder, and the error says what that means",
          "[ai]") {
  const TempDir folder;

  const auto embedder = make_builtin_embedder(folder.path() + "/absent");

  REQUIRE_FALSE(embedder);
  CHECK(embedder.error().reason == Reason::AiUnavailable);
  CHECK(embedder.error().details == Json({{"required_role", "embeddings"}, {"cause", "missing"}}));
  CHECK(embedder.error().message.find("INDX_EMBEDDINGS_MODEL_FILE") != std::string::npos);
  CHECK(embedder.error().message.find(folder.path()) == std::string::npos);
}

TEST_CASE("a file that is damaged, of other weights or of another shape is refused", "[ai]") {
  const TempDir folder;
  const auto path = folder.path() + "/model";
  const auto cause = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    return cause_of(path);
  };
  const auto whole = blank_model(kSourceSha256);
  auto flipped = whole, shape = whole, version = whole, magic = whole, longer_text = whole;
  flipped[whole.size() / 2] ^= 1;
  shape[kContentPlace + 4] ^= 1;  // rows of the first section
  version[8] ^= 2;
  magic[0] = 'X';
  longer_text[whole.rfind("\x01x\x01x")] = 2;

  CHECK(cause(whole) == "none");
  CHECK(cause(flipped) == "damaged");
  CHECK(cause(whole.substr(0, whole.size() - 64)) == "damaged");
  CHECK(cause(whole.substr(0, 100)) == "damaged");
  CHECK(cause("") == "damaged");
  CHECK(cause(magic) == "damaged");
  CHECK(cause(with_right_hash(longer_text)) == "damaged");
  CHECK(cause(version) == "other_model");
  CHECK(cause(with_right_hash(shape)) == "other_model");
  CHECK(cause(blank_model(std::string(64, '0'))) == "other_model");
  CHECK(cause_of(folder.path()) == "unreadable");
}

TEST_CASE("a part that would lie outside of the file is refused", "[ai]") {
  const TempDir folder;
  const auto path = folder.path() + "/model";
  auto bytes = blank_model(kSourceSha256);
  bytes[kContentPlace + 16 + 6] = '\x7F';  // high in the offset of the first section
  std::ofstream(path, std::ios::binary) << with_right_hash(bytes);

  CHECK(cause_of(path) == "damaged");
}

TEST_CASE("texts are cut into the pieces that the reference has", "[ai]") {
  const auto* model = built_model();
  if (model == nullptr) return;
  const Tokenizer tokenizer(model->weights().vocabulary, model->weights().scores);

  const auto rows = goldens();
  CHECK(rows.size() > 30);
  for (const auto& row : rows) {
    INFO(row["text"]);
    CHECK(tokenizer.encode(row["text"].get<std::string>()) ==
          row["pieces"].get<std::vector<PieceId>>());
  }
}

TEST_CASE("vectors are within a cosine of .999 of the float reference, the same in all kernels",
          "[ai]") {
  const auto* model = built_model();
  if (model == nullptr) return;
  Workspace workspace;
  int compared = 0;

  for (const auto& row : goldens()) {
    if (!row.contains("vector")) continue;
    INFO(row["text"]);
    const auto pieces = row["pieces"].get<std::vector<PieceId>>();
    const auto reference = row["vector"].get<std::vector<double>>();
    std::array<float, kDimension> portable{};
    Encoder(model->weights(), portable_kernels()).encode(pieces, workspace, portable);
    CHECK(dot(portable, reference) > 0.999);
    CHECK(dot(portable, portable) == Approx(1));
    for (const auto* kernels : usable_kernels()) {
      INFO(kernels->name);
      std::array<float, kDimension> vector{};
      Encoder(model->weights(), *kernels).encode(pieces, workspace, vector);
      CHECK(vector == portable);
    }
    ++compared;
  }
  CHECK(compared == 8);
}

TEST_CASE("pieces past the 128th do not count, and a used workspace changes nothing", "[ai]") {
  const auto* model = built_model();
  if (model == nullptr) return;
  const Encoder encoder(model->weights(), *usable_kernels().front());
  std::vector<PieceId> pieces(300);
  std::iota(pieces.begin(), pieces.end(), PieceId{100});
  Workspace used, fresh;
  std::array<float, kDimension> all{}, first{}, fewer{};

  encoder.encode(pieces, used, all);
  encoder.encode(std::span(pieces).first(kMaxPieces), used, first);
  encoder.encode(std::span(pieces).first(kMaxPieces - 1), used, fewer);
  CHECK(all == first);
  CHECK_FALSE(all == fewer);

  std::array<float, kDimension> again{};
  encoder.encode(std::span(pieces).first(kMaxPieces - 1), fresh, again);
  CHECK(again == fewer);
}

TEST_CASE("the builtin embedder gives one vector of length 1 a text, in their order", "[ai]") {
  const auto embedder = built_embedder();
  if (!embedder) return;
  std::string pages;
  for (int i = 0; i < 200; ++i) pages += "The pump in the shed needs a new seal every spring. ";
  const std::vector<std::string> texts{"a note about pumps", pages,
                                       "Soil: roots\nSalt harms roots.", "\U0001F642"};

  const auto vectors = embedded(*embedder, texts);

  CHECK(embedder->model_id() == "use-lite-en-512-i8-v1");
  CHECK(embedder->dimension() == kDimension);
  REQUIRE(vectors.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    REQUIRE(vectors[i].size() == kDimension);
    CHECK(dot(vectors[i], vectors[i]) == Approx(1).epsilon(1e-5));
    CHECK(vectors[i] == embedded(*embedder, {texts[i]}).front());
  }
  CHECK(embedded(*embedder, {}).empty());
}

TEST_CASE("nothing to embed gives zeros, which are like no text", "[ai]") {
  const auto embedder = built_embedder();
  if (!embedder) return;

  for (const auto& vector : embedded(*embedder, {"", " \n\t "}))
    CHECK(vector == std::vector<float>(kDimension, 0.0F));
}

TEST_CASE("what means the same is nearer than what shares words only", "[ai]") {
  const auto embedder = built_embedder();
  if (!embedder) return;

  const auto v = embedded(*embedder, {"How do I bring back a note that I deleted?",
                                      "Restoring removed files from the trash",
                                      "The deleted scenes bring a light note to the film"});

  CHECK(dot(v[0], v[1]) > dot(v[0], v[2]));
}

TEST_CASE("embedding stops when it is cancelled", "[ai]") {
  const auto embedder = built_embedder();
  if (!embedder) return;
  const CancelToken cancel;
  cancel.cancel(CancelReason::Requested);

  const auto vectors = embedder->embed(std::vector<std::string>{"one"}, cancel);

  REQUIRE_FALSE(vectors);
  CHECK(vectors.error().reason == Reason::Cancelled);
}

TEST_CASE("several threads can embed at once", "[ai]") {
  const auto embedder = built_embedder();
  if (!embedder) return;
  const std::vector<std::string> texts{"first text", "a second one", "and the last"};
  const auto expected = embedded(*embedder, texts);
  std::vector<std::vector<std::vector<float>>> outcomes(4);
  std::vector<std::thread> threads;

  for (auto& outcome : outcomes)
    threads.emplace_back([&embedder, &texts, &outcome] {
      for (int i = 0; i < 5; ++i)
        outcome = embedder->embed(texts, CancelToken()).value_or(std::vector<std::vector<float>>());
    });
  for (auto& thread : threads) thread.join();

  for (const auto& outcome : outcomes) CHECK(outcome == expected);
}

}  // namespace indx::embed
