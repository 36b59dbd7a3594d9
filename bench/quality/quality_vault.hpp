#pragma once
#include "bench/engine.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace indx::quality {

enum class Embeds { No, Yes };

/// An engine in this process over `folder/vault`, with the builtin provider, indexed and, where
/// asked for, with a vector for every chunk when constructed. Calls go through the registry as a
/// user's do.
class QualityVault {
 public:
  QualityVault(const std::filesystem::path& folder, Embeds embeds);
  QualityVault(const QualityVault&) = delete;
  QualityVault& operator=(const QualityVault&) = delete;
  ~QualityVault();

  bool has(const std::string& operation) const;
  /// The result of the owner's call; a job is waited for.
  Result<Json> call(const std::string& operation, const Json& input) const;
  /// The bytes of a file of the vault.
  std::string bytes(const std::string& path) const;
  const std::filesystem::path& vault() const { return vault_; }

 private:
  void embed() const;

  std::filesystem::path vault_;
  Registry registry_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace indx::quality
