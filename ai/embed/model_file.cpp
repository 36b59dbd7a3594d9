#include "ai/embed/model_file.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace indx::embed {

static_assert(std::endian::native == std::endian::little, "the file holds little-endian numbers");

namespace {

constexpr std::string_view kMagic = "INDXEMB\n";
constexpr std::uint32_t kFormatVersion = 1;
constexpr std::size_t kAlignment = 64;  // a cache line, and a vector of the widest kernel

struct FileHeader {
  char magic[8];
  std::uint32_t version, section_count;
  std::uint64_t file_bytes;
  char source_sha256[64];
  char content_hash[16];  ///< etag_of everything behind the header
  char reserved[24];
};
static_assert(sizeof(FileHeader) == 2 * kAlignment);

struct SectionEntry {
  SectionKind kind;
  std::uint32_t rows, width, reserved;
  std::uint64_t offset, bytes;  ///< offset from the start of the file
};
static_assert(sizeof(SectionEntry) == 32);

constexpr std::uint32_t kD = kDimension, kP = kPieceWidth, kF = kFeedForwardWidth;
constexpr Section kSections[] = {
    {"pieces", SectionKind::RowInt8, kTableRows, kP},
    {"rates", SectionKind::Float, 1, kP / 2},
    {"0/norm.scale", SectionKind::Float, 1, kP},
    {"0/norm.bias", SectionKind::Float, 1, kP},
    {"0/qkv", SectionKind::PackedInt8, 3 * kP, kP},
    {"0/qkv.bias", SectionKind::Float, 1, 3 * kP},
    {"0/output", SectionKind::PackedInt8, kD, kP},
    {"0/output.bias", SectionKind::Float, 1, kD},
    {"0/residual", SectionKind::PackedInt8, kD, kP},
    {"0/residual.bias", SectionKind::Float, 1, kD},
    {"0/feed_norm.scale", SectionKind::Float, 1, kD},
    {"0/feed_norm.bias", SectionKind::Float, 1, kD},
    {"0/widen", SectionKind::PackedInt8, kF, kD},
    {"0/widen.bias", SectionKind::Float, 1, kF},
    {"0/narrow", SectionKind::PackedInt8, kD, kF},
    {"0/narrow.bias", SectionKind::Float, 1, kD},
    {"1/norm.scale", SectionKind::Float, 1, kD},
    {"1/norm.bias", SectionKind::Float, 1, kD},
    {"1/qkv", SectionKind::PackedInt8, 3 * kD, kD},
    {"1/qkv.bias", SectionKind::Float, 1, 3 * kD},
    {"1/output", SectionKind::PackedInt8, kD, kD},
    {"1/output.bias", SectionKind::Float, 1, kD},
    {"1/feed_norm.scale", SectionKind::Float, 1, kD},
    {"1/feed_norm.bias", SectionKind::Float, 1, kD},
    {"1/widen", SectionKind::PackedInt8, kF, kD},
    {"1/widen.bias", SectionKind::Float, 1, kF},
    {"1/narrow", SectionKind::PackedInt8, kD, kF},
    {"1/narrow.bias", SectionKind::Float, 1, kD},
    {"last", SectionKind::PackedInt8, kD, kD},
    {"last.bias", SectionKind::Float, 1, kD},
    {"scores", SectionKind::Double, 1, kVocabularySize},
    {"vocabulary", SectionKind::Text, kVocabularySize, 1},
};
constexpr std::size_t kSectionCount = std::size(kSections);

/// Bytes of a section whose size its shape decides; 0 of a text.
std::uint64_t shape_bytes(const Section& section) {
  const std::uint64_t rows = section.rows, numbers = rows * section.width;
  switch (section.kind) {
    case SectionKind::PackedInt8:
    case SectionKind::RowInt8:
      return numbers + rows * sizeof(float);
    case SectionKind::Float:
      return numbers * sizeof(float);
    case SectionKind::Double:
      return numbers * sizeof(double);
    case SectionKind::Text:
      return 0;
  }
  return 0;
}

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

Error no_model(std::string_view what, std::string_view cause) {
  return make_error(
      Reason::AiUnavailable,
      cat("Semantic search is off: ", what,
          " Run scripts/setup and build again, or name the file in INDX_EMBEDDINGS_MODEL_FILE."),
      {{"required_role", "embeddings"}, {"cause", std::string(cause)}});
}
Error damaged() { return no_model("the file of the embedding model is damaged.", "damaged"); }
Error other_model() {
  return no_model("the file of the embedding model is for another version of this program.",
                  "other_model");
}

/// Where each section lies, once the whole file is known to be what the header says.
Result<std::array<SectionEntry, kSectionCount>> checked_sections(std::string_view file) {
  FileHeader header{};
  if (file.size() < sizeof header) return damaged();
  std::memcpy(&header, file.data(), sizeof header);
  if (std::string_view(header.magic, sizeof header.magic) != kMagic) return damaged();
  if (header.version != kFormatVersion || header.section_count != kSectionCount ||
      std::string_view(header.source_sha256, sizeof header.source_sha256) != kSourceSha256)
    return other_model();
  const auto content = file.substr(sizeof header);
  std::array<SectionEntry, kSectionCount> entries{};
  if (header.file_bytes != file.size() || content.size() < sizeof entries ||
      etag_of(content) != std::string_view(header.content_hash, sizeof header.content_hash))
    return damaged();
  std::memcpy(entries.data(), content.data(), sizeof entries);
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    const auto& entry = entries[i];
    const auto& section = kSections[i];
    if (entry.kind != section.kind || entry.rows != section.rows || entry.width != section.width)
      return other_model();
    if (entry.offset % kAlignment != 0 || entry.offset > file.size() ||
        entry.bytes > file.size() - entry.offset ||
        (section.kind != SectionKind::Text && entry.bytes != shape_bytes(section)))
      return damaged();
  }
  return entries;
}

Result<std::vector<std::string_view>> texts_of(std::string_view bytes, std::size_t count) {
  std::vector<std::string_view> texts;
  texts.reserve(count);
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = static_cast<unsigned char>(bytes[at++]);
    if (length == 0 || length > bytes.size() - at) return damaged();
    texts.push_back(bytes.substr(at, length));
    at += length;
  }
  if (texts.size() != count) return damaged();
  return texts;
}

/// Finds sections by name; every name it is asked for stands in kSections.
class Sections {
 public:
  Sections(std::string_view file, const std::array<SectionEntry, kSectionCount>& entries)
      : file_(file), entries_(entries) {}

  std::string_view bytes(std::string_view name) const {
    const auto& entry = entries_[index(name)];
    return file_.substr(entry.offset, entry.bytes);
  }
  Floats floats(std::string_view name) const {
    return {reinterpret_cast<const float*>(bytes(name).data()), kSections[index(name)].width};
  }
  Int8Matrix matrix(std::string_view name) const {
    const auto& section = kSections[index(name)];
    const char* begin = bytes(name).data();
    const std::size_t rows = section.rows, width = section.width;
    return {reinterpret_cast<const std::int8_t*>(begin),
            reinterpret_cast<const float*>(begin + rows * width), rows, width};
  }
  NormWeights norm(const std::string& name) const {
    return {floats(name + ".scale"), floats(name + ".bias")};
  }
  DenseWeights dense(const std::string& name) const {
    return {matrix(name), floats(name + ".bias")};
  }

 private:
  static std::size_t index(std::string_view name) {
    const auto* found = std::find_if(std::begin(kSections), std::end(kSections),
                                     [&](const Section& s) { return s.name == name; });
    INDX_ASSERT(found != std::end(kSections));
    return static_cast<std::size_t>(found - std::begin(kSections));
  }

  std::string_view file_;
  const std::array<SectionEntry, kSectionCount>& entries_;
};

Result<Weights> weights_of(std::string_view file) {
  const auto entries = INDX_TRY(checked_sections(file));
  const Sections sections(file, entries);
  Weights weights;
  weights.pieces = sections.matrix("pieces");
  weights.rates = sections.floats("rates");
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    const std::string layer = cat(i, "/");
    auto& into = weights.layers[i];
    into.norm = sections.norm(layer + "norm");
    into.qkv = sections.dense(layer + "qkv");
    into.output = sections.dense(layer + "output");
    if (i == 0) into.residual = sections.dense(layer + "residual");
    into.feed_norm = sections.norm(layer + "feed_norm");
    into.widen = sections.dense(layer + "widen");
    into.narrow = sections.dense(layer + "narrow");
  }
  weights.last = sections.dense("last");
  weights.scores = {reinterpret_cast<const double*>(sections.bytes("scores").data()),
                    kVocabularySize};
  weights.vocabulary = INDX_TRY(texts_of(sections.bytes("vocabulary"), kVocabularySize));
  return weights;
}

}  // namespace

std::span<const Section> model_sections() { return kSections; }

std::string model_file_bytes(std::span<const std::string> contents,
                             std::string_view source_sha256) {
  INDX_ASSERT(contents.size() == kSectionCount);
  INDX_ASSERT(source_sha256.size() == sizeof FileHeader::source_sha256);
  std::array<SectionEntry, kSectionCount> entries{};
  std::uint64_t end = aligned(sizeof(FileHeader) + sizeof entries);
  for (std::size_t i = 0; i < kSectionCount; ++i) {
    const auto& section = kSections[i];
    INDX_ASSERT(section.kind == SectionKind::Text || contents[i].size() == shape_bytes(section));
    entries[i] = {section.kind, section.rows, section.width, 0, end, contents[i].size()};
    end = aligned(end + contents[i].size());
  }
  std::string file(end, '\0');
  std::memcpy(file.data() + sizeof(FileHeader), entries.data(), sizeof entries);
  for (std::size_t i = 0; i < kSectionCount; ++i)
    std::memcpy(file.data() + entries[i].offset, contents[i].data(), contents[i].size());

  FileHeader header{};
  std::memcpy(header.magic, kMagic.data(), sizeof header.magic);
  header.version = kFormatVersion;
  header.section_count = kSectionCount;
  header.file_bytes = file.size();
  std::memcpy(header.source_sha256, source_sha256.data(), sizeof header.source_sha256);
  const auto hash = etag_of(std::string_view(file).substr(sizeof header));
  std::memcpy(header.content_hash, hash.data(), sizeof header.content_hash);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

struct ModelFile::Mapping {
  void* begin;
  std::size_t size;

  Mapping(void* place, std::size_t bytes) : begin(place), size(bytes) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(begin, size); }
};

ModelFile::ModelFile(std::unique_ptr<Mapping> mapping, std::unique_ptr<const Weights> weights)
    : mapping_(std::move(mapping)), weights_(std::move(weights)) {}
ModelFile::ModelFile(ModelFile&&) noexcept = default;
ModelFile& ModelFile::operator=(ModelFile&&) noexcept = default;
ModelFile::~ModelFile() = default;

Result<ModelFile> ModelFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return errno == ENOENT || errno == ENOTDIR
               ? no_model("there is no file of the embedding model.", "missing")
               : no_model("the file of the embedding model cannot be read.", "unreadable");
  struct stat state {};
  const bool is_file = ::fstat(fd, &state) == 0 && S_ISREG(state.st_mode);
  const auto size = is_file ? static_cast<std::size_t>(state.st_size) : 0;
  void* begin = size == 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  if (is_file && size == 0) return damaged();
  if (begin == MAP_FAILED)
    return no_model("the file of the embedding model cannot be read.", "unreadable");
  auto mapping = std::make_unique<Mapping>(begin, size);
  auto weights = INDX_TRY(weights_of({static_cast<const char*>(begin), size}));
  return ModelFile(std::move(mapping), std::make_unique<const Weights>(std::move(weights)));
}

}  // namespace indx::embed
