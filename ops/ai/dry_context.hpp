#pragma once
#include "ops/context.hpp"
#include "ops/retrieval.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace indx {

/// What models would have been asked.
struct CountedCalls {
  std::int64_t calls = 0, input_tokens = 0, output_tokens = 0;
  void add(const GenerateRequest& request);  ///< with an answer as long as it may be
};

/// A Context for finding out what a call would ask of models: notes and index are the real ones,
/// but a prompt is counted instead of sent, an embedder is not asked (so it retrieves by words),
/// what would write or start a job is refused, no step is stored and no event told. It says that it
/// can generate, also where the real one cannot: preparing prompts takes less than doing without.
/// One thread.
class DryContext : public Context {
 public:
  explicit DryContext(Context& real);
  ~DryContext() override;
  CountedCalls& counted() { return counted_; }
  /// Whether something was asked for that an estimate does not do: from there on the handler went
  /// another way than it would.
  bool has_refused() const { return has_refused_; }

  const Principal& principal() const override { return real_.principal(); }
  const Config& config() const override { return real_.config(); }
  const Clock& clock() const override { return real_.clock(); }
  const CancelToken& cancel() const override { return real_.cancel(); }
  bool is_job() const override { return false; }

  Notes& notes() override;
  Index& index() override { return real_.index(); }
  Links& links() override { return real_.links(); }
  Versions& versions() override { return real_.versions(); }
  Lists& lists() override { return real_.lists(); }
  Retrieval& retrieval() override;
  Files& files() override { return real_.files(); }
  Doctor& doctor() override { return real_.doctor(); }
  Jobs& jobs() override { return real_.jobs(); }
  Models& models() override;
  Tokens& tokens() override { return real_.tokens(); }

  Result<Json> step(std::string_view key, const Json& inputs,
                    const std::function<Result<Json>()>& fn) override;
  using Context::map;
  Result<std::vector<Result<Json>>> map(std::string_view phase, const std::vector<MapItem>& items,
                                        const MapFn& fn, const MapOptions& options) override;
  Status sleep(std::string_view key, milliseconds time) override;
  Result<std::vector<Result<Json>>> run_children(std::string_view key,
                                                 const std::vector<ChildJob>& children,
                                                 MapOptions::OnFailure on_failure) override;
  Result<WriteOutcome> write_step(std::string_view key, const NoteChange& change) override;
  void progress(const JobProgress& progress) override;
  void emit(const std::string& kind, const Json& data) override;

 private:
  class DryNotes;
  class DryModels;
  class DryRetrieval;

  Error refuse();

  Context& real_;
  CountedCalls counted_;
  bool has_refused_ = false;
  std::unique_ptr<DryNotes> notes_;
  std::unique_ptr<DryModels> models_;
  std::unique_ptr<DryRetrieval> retrieval_;
};

}  // namespace indx
