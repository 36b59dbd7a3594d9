#include "ai/remote_embedder.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace indx {

Result<std::vector<std::vector<float>>> RemoteEmbedder::embed_by(std::span<const std::string> texts,
                                                                 const Batch& batch) const {
  std::vector<std::size_t> places;  // of the texts that hold something
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (!trim(texts[i]).empty()) places.push_back(i);
  std::vector<std::vector<float>> vectors(texts.size());
  for (std::size_t begin = 0; begin < places.size(); begin += kEmbedBatch) {
    const auto end = std::min(begin + kEmbedBatch, places.size());
    std::vector<std::string> asked;
    for (auto i = begin; i < end; ++i) asked.push_back(texts[places[i]]);
    auto reply = INDX_TRY(batch(asked));
    if (reply.vectors.size() != asked.size())
      return make_error(Reason::AiProviderError, "The model gave another number of vectors.",
                        {{"provider", provider()},
                         {"upstream_status", 200},
                         {"upstream_message", ""},
                         {"cause", "parse"}});
    for (auto i = begin; i < end; ++i) vectors[places[i]] = std::move(reply.vectors[i - begin]);
  }
  for (auto& vector : vectors) vector.resize(dimension());
  return vectors;
}

Result<std::vector<std::vector<float>>> RemoteEmbedder::embed(std::span<const std::string> texts,
                                                              const CancelToken& cancel) {
  return embed_by(texts, [&](std::span<const std::string> batch) -> Result<EmbedReply> {
    return embed_batch(batch, cancel);
  });
}

}  // namespace indx
