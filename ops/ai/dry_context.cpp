#include "ops/ai/dry_context.hpp"

#include "ai/rate_limit.hpp"

namespace indx {

void CountedCalls::add(const GenerateRequest& request) {
  ++calls;
  input_tokens += estimate_call_tokens(request) - request.max_output_tokens;
  output_tokens += request.max_output_tokens;
}

class DryContext::DryNotes : public Notes {
 public:
  DryNotes(DryContext& dry, Notes& real) : dry_(dry), real_(real) {}
  Result<NoteFile> read(const NotePath& path) override { return real_.read(path); }
  bool exists(const NotePath& path) override { return real_.exists(path); }
  std::shared_ptr<const ParsedNote> parse(const NoteFile& file) override {
    return real_.parse(file);
  }
  Result<WriteOutcome> write(const NoteChange&) override { return dry_.refuse(); }
  Result<std::vector<Json>> check_etags(
      const std::vector<std::pair<NotePath, std::string>>& expected) override {
    return real_.check_etags(expected);
  }

 private:
  DryContext& dry_;
  Notes& real_;
};

class DryContext::DryModels : public Models {
 public:
  DryModels(DryContext& dry, Models& real) : dry_(dry), real_(real) {}
  bool is_configured() const override { return real_.is_configured(); }
  std::string provider() const override { return real_.provider(); }
  std::string model() const override { return real_.model(); }
  bool can_generate() const override { return true; }
  Result<GenerateReply> generate(const GenerateRequest& request, const std::string&) override {
    dry_.counted_.add(request);
    return dry_.refuse();
  }
  Result<Json> usage_today() override { return real_.usage_today(); }

 private:
  DryContext& dry_;
  Models& real_;
};

class DryContext::DryRetrieval : public Retrieval {
 public:
  DryRetrieval(DryContext& dry, Retrieval& real) : dry_(dry), real_(real) {}
  Result<Vectors> vectors() override { return Vectors::Off; }
  Result<EmbeddingCounts> counts() override { return real_.counts(); }
  std::string model() override { return real_.model(); }
  Result<std::unique_ptr<RetrievalSource>> ask(const RetrievalQuestion& question, bool) override {
    return real_.ask(question, false);
  }
  Result<std::vector<NearChunk>> near_note(const NotePath& path, NoteFilter filter,
                                           std::size_t most_notes) override {
    return real_.near_note(path, std::move(filter), most_notes);
  }
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string>) override {
    return dry_.refuse();
  }
  Result<std::vector<ChunkToEmbed>> to_embed(const std::string&, int) override {
    return dry_.refuse();
  }
  Status keep(const std::vector<EmbeddedChunk>&) override { return dry_.refuse(); }
  Status forget_all() override { return dry_.refuse(); }
  Status forget_left_out() override { return dry_.refuse(); }
  Result<std::int64_t> tidy() override { return dry_.refuse(); }
  void end_pass() override {}

 private:
  DryContext& dry_;
  Retrieval& real_;
};

DryContext::DryContext(Context& real)
    : real_(real),
      notes_(std::make_unique<DryNotes>(*this, real.notes())),
      models_(std::make_unique<DryModels>(*this, real.models())),
      retrieval_(std::make_unique<DryRetrieval>(*this, real.retrieval())) {}
DryContext::~DryContext() = default;

Error DryContext::refuse() {
  has_refused_ = true;
  return make_error(Reason::Unavailable, "An estimate asks no model and writes nothing.");
}

Notes& DryContext::notes() { return *notes_; }
Models& DryContext::models() { return *models_; }
Retrieval& DryContext::retrieval() { return *retrieval_; }

Result<Json> DryContext::step(std::string_view, const Json&,
                              const std::function<Result<Json>()>& fn) {
  return fn();
}

Result<std::vector<Result<Json>>> DryContext::map(std::string_view,
                                                  const std::vector<MapItem>& items,
                                                  const MapFn& fn, const MapOptions&) {
  std::vector<Result<Json>> results;
  for (const auto& item : items) {
    if (cancel().is_cancelled())
      return make_error(Reason::Cancelled, "The estimate was cancelled.");
    results.push_back(fn(*this, item));
  }
  return results;
}

Status DryContext::sleep(std::string_view, milliseconds) { return {}; }

Result<std::vector<Result<Json>>> DryContext::run_children(std::string_view,
                                                           const std::vector<ChildJob>&,
                                                           MapOptions::OnFailure) {
  return refuse();
}

Result<WriteOutcome> DryContext::write_step(std::string_view, const NoteChange&) {
  return refuse();
}

void DryContext::progress(const JobProgress& progress) {
  JobProgress told = progress;
  told.model_calls = 0;
  real_.progress(told);
}

void DryContext::emit(const std::string&, const Json&) {}

}  // namespace indx
