#include "ai/provider.hpp"
#include "ai/providers/anthropic.hpp"
#include "ai/providers/gemini.hpp"
#include "ai/providers/http_provider.hpp"
#include "ai/providers/ollama.hpp"
#include "ai/providers/openai.hpp"
#include "ai/providers/replay.hpp"
#include "ai/remote_embedder.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace indx {
namespace {

/// The local rules of ai/extractive: they answer without `generate`.
class BuiltinProvider : public Provider {
 public:
  std::string name() const override { return "builtin"; }
  std::string model() const override { return "extractive"; }
  bool can_generate() const override { return false; }
  Result<GenerateReply> generate(const GenerateRequest&, const CancelToken&) override {
    return make_error(
        Reason::AiUnavailable,
        "The builtin provider has no chat model; set INDX_AI_PROVIDER and INDX_AI_MODEL.",
        {{"required_role", "chat"}});
  }
};

Upstream upstream_of(const AiConfig& config, const std::string& provider,
                     const std::string& model) {
  if (provider == "ollama") return {provider, config.ollama_base_url, model, "", ""};
  if (provider == "anthropic")
    return {provider, config.anthropic_base_url, model, config.anthropic_api_key,
            "INDX_ANTHROPIC_API_KEY"};
  if (provider == "gemini")
    return {provider, config.gemini_base_url, model, config.gemini_api_key, "INDX_GEMINI_API_KEY"};
  if (provider == "vercel-ai-gateway")
    return {provider, config.gateway_base_url, model, config.gateway_api_key,
            "INDX_AI_GATEWAY_KEY"};
  return {provider, config.openai_base_url, model, config.openai_api_key, "INDX_OPENAI_API_KEY"};
}

/// nullptr: no provider of that name speaks HTTP.
std::unique_ptr<WireFormat> format_of(const AiConfig& config, const std::string& provider,
                                      const std::string& model) {
  auto upstream = upstream_of(config, provider, model);
  if (provider == "openai")
    return make_openai_format(std::move(upstream), config.openai_structured_output);
  if (provider == "vercel-ai-gateway")
    return make_openai_format(std::move(upstream), "json_schema");
  if (provider == "ollama") return make_ollama_format(std::move(upstream));
  if (provider == "anthropic") return make_anthropic_format(std::move(upstream));
  if (provider == "gemini") return make_gemini_format(std::move(upstream));
  return nullptr;
}

/// Servers that take the place of the vendor's own may know no keys.
bool lacks_key(const AiConfig& config, const std::string& provider) {
  const AiConfig usual;
  const auto upstream = upstream_of(config, provider, "");
  return !upstream.key_variable.empty() && upstream.api_key.empty() &&
         upstream.base_url == upstream_of(usual, provider, "").base_url;
}

void warn_of_open_key(const Upstream& upstream) {
  if (upstream.api_key.empty() || is_loopback_url(upstream.base_url) ||
      !upstream.base_url.starts_with("http://"))
    return;
  log_warn(cat("The key of the provider ", upstream.provider,
               " goes over the network unencrypted; use an https:// address"));
}

Error unknown_provider(const std::string& name, const char* key) {
  return invalid(cat("There is no AI provider `", name,
                     "`; use builtin, openai, ollama, anthropic, gemini, vercel-ai-gateway or "
                     "replay."),
                 {{"key", key}, {"value", name}});
}

}  // namespace

const std::vector<ProviderTraits>& provider_traits() {
  using enum Support;
  static const auto* const all = new std::vector<ProviderTraits>{
      {"builtin", "Built in", true, false, No, Yes, No, No, No},
      {"ollama", "Ollama", true, false, Yes, Yes, Partial, No, No},
      {"openai", "OpenAI", false, true, Yes, Yes, Yes, Yes, Yes},
      {"anthropic", "Anthropic", false, true, Yes, No, Yes, No, No},
      {"gemini", "Google Gemini", false, true, Yes, Yes, Yes, Partial, Yes},
      {"vercel-ai-gateway", "Vercel AI Gateway", false, true, Yes, Yes, Yes, No, No},
      {"replay", "Recorded answers", true, false, Yes, Yes, No, No, No},
  };
  return *all;
}

std::string lack_of_provider(const AiConfig& config) {
  const auto& name = config.provider;
  if (!config.enabled || name.empty() || name == "builtin") return "";
  if (config.model.empty())
    return cat("the provider ", name, " needs a model; set INDX_AI_MODEL or ai.model");
  if (name == "replay" || config.test_replay || !lacks_key(config, name)) return "";
  return cat("the provider ", name, " needs a key; set ",
             upstream_of(config, name, "").key_variable);
}

Result<std::unique_ptr<Provider>> make_provider(const AiConfig& config) {
  using Made = std::unique_ptr<Provider>;
  const auto& name = config.provider;
  if (!config.enabled || name.empty()) return Made();
  if (name == "builtin") return Made(std::make_unique<BuiltinProvider>());
  auto format = format_of(config, name, config.model);
  if (!format && name != "replay") return unknown_provider(name, "INDX_AI_PROVIDER");
  // Each role may be unset (row D2): the vault is served without AI.
  if (const auto lack = lack_of_provider(config); !lack.empty()) {
    log_warn("AI is off: " + lack);
    return Made();
  }
  if (!format || config.test_replay)
    return make_replay_provider(name, config.model, config.fixtures_dir);
  warn_of_open_key(format->upstream());
  auto made = make_http_provider(config, std::move(format));
  if (config.test_record) return make_recording_provider(std::move(made), config.fixtures_dir);
  return made;
}

std::string usual_embedding_model(std::string_view provider) {
  if (provider == "ollama") return "nomic-embed-text";
  if (provider == "openai") return "text-embedding-3-small";
  if (provider == "vercel-ai-gateway") return "openai/text-embedding-3-small";
  if (provider == "gemini") return "gemini-embedding-001";
  return "";
}

Result<std::unique_ptr<Embedder>> make_remote_embedder(const AiConfig& config) {
  using Made = std::unique_ptr<Embedder>;
  const auto& name = config.embeddings_provider;
  if (!config.enabled || name.empty() || name == "builtin") return Made();
  auto model = config.embeddings_model;
  if (model.empty()) model = usual_embedding_model(name);
  if (name == "replay") return make_replay_embedder(model, config.fixtures_dir);
  auto format = format_of(config, name, model);
  if (!format) return unknown_provider(name, "INDX_EMBEDDINGS_PROVIDER");
  if (usual_embedding_model(name).empty())
    return invalid(cat("The provider ", name,
                       " has no embeddings; set INDX_EMBEDDINGS_PROVIDER to another one."),
                   {{"key", "INDX_EMBEDDINGS_PROVIDER"}, {"value", name}});
  if (config.test_replay) return make_replay_embedder(cat(name, '/', model), config.fixtures_dir);
  if (lacks_key(config, name)) {
    log_warn(cat("Semantic search is off: the provider ", name, " needs a key; set ",
                 format->upstream().key_variable));
    return Made();
  }
  warn_of_open_key(format->upstream());
  auto made = make_http_embedder(config, std::move(format));
  if (config.test_record) return make_recording_embedder(std::move(made), config.fixtures_dir);
  return Made(std::move(made));
}

}  // namespace indx
