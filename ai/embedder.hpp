#pragma once
#include "base/cancel.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace indx {

class RemoteEmbedder;

/// Turns texts into vectors whose dot product says how alike in meaning they are. `embed` blocks;
/// call it where blocking is fine. Safe from several threads at once.
class Embedder {
 public:
  virtual ~Embedder() = default;

  /// Names the provider, the weights and the way texts are cut, such as `use-lite-en-512-i8-v1`. It
  /// is stored with every vector: vectors of another id are of another space and never compared.
  virtual std::string model_id() const = 0;

  /// Numbers in each vector; 0 while unknown, which is until the first reply of a remote model.
  virtual std::size_t dimension() const = 0;

  /// One vector of length 1 (L2) for each text, in their order; all numbers are 0 where a text
  /// holds nothing to embed (empty, or white space only). A text may be of any length. Where it has
  /// several lines, the first one is taken as what the rest is about (title and headings).
  /// Errors: `ai_unavailable` (no model there), `ai_provider_error` {provider, cause, …},
  /// `ai_input_too_large`, `cancelled`. All texts or none: there is no partial answer.
  virtual Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                        const CancelToken& cancel) = 0;

  /// Itself where its calls leave this process, so that they have to be counted and kept within
  /// limits; nullptr: it works here.
  virtual RemoteEmbedder* remote() { return nullptr; }
};

}  // namespace indx
