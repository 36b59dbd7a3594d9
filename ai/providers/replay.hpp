#pragma once
#include "ai/remote_embedder.hpp"

namespace indx {

/// Fixtures are files `<key>.json` in a folder, each with a request and its reply; the key is the
/// hash of model and request, so that the same call finds the same file whoever answered it.
/// They hold prompts and answers in plain text, and never a key.

/// Passes calls on and keeps each successful reply. A reply that cannot be kept is `internal`.
std::unique_ptr<Provider> make_recording_provider(std::unique_ptr<Provider> inner,
                                                  std::string folder);
/// Answers from the fixtures; one that is missing is an `ai_provider_error` with the cause
/// `replay` and the key. `name` and `model` are those of the provider whose place it takes.
std::unique_ptr<Provider> make_replay_provider(std::string name, std::string model,
                                               std::string folder);

/// The same for vectors, with a fixture for each text.
std::unique_ptr<Embedder> make_recording_embedder(std::unique_ptr<RemoteEmbedder> inner,
                                                  std::string folder);
std::unique_ptr<Embedder> make_replay_embedder(std::string model_id, std::string folder);

}  // namespace indx
