#pragma once
#include "ai/providers/wire_format.hpp"

namespace indx {

/// Ollama's own format (`/api/chat`, `/api/embed`, `/api/tags`).
std::unique_ptr<WireFormat> make_ollama_format(Upstream upstream);

/// What answers at the address of Ollama.
struct OllamaServer {
  std::string version;
  std::vector<std::string> models;
};
/// Asks for it, within half a second a call; to be called only where the user wants to know.
/// nullopt: nobody is there, or it is no Ollama.
std::optional<OllamaServer> detect_ollama(const AiConfig& config, const CancelToken& cancel);

}  // namespace indx
