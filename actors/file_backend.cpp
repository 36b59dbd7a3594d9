#include "actors/file_backend.hpp"

#include "actors/visible_files.hpp"
#include "ai/provider.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

#include <stdexcept>

namespace indx {
namespace {

/// The dispatcher turns it into `internal` and logs it.
[[noreturn]] void reach_beyond(const std::string& operation, const char* what) {
  throw std::logic_error(cat(operation, " says that it needs only files, and asks for ", what));
}

Error needs_engine(const char* what) {
  return internal_error(cat("Without an engine there are no ", what, "."));
}

/// The Context of an operation that needs only files.
class FileContext : public Context, private Notes, private Files {
 public:
  FileContext(const Config& config, const Clock& clock, const Vault& vault, Principal caller,
              CancelToken token, std::string operation)
      : config_(config),
        clock_(clock),
        principal_(std::move(caller)),
        cancel_(std::move(token)),
        operation_(std::move(operation)),
        visible_(vault, config, principal_.path_scope()) {}

  const Principal& principal() const override { return principal_; }
  const Config& config() const override { return config_; }
  const Clock& clock() const override { return clock_; }
  const CancelToken& cancel() const override { return cancel_; }
  bool is_job() const override { return false; }

  Notes& notes() override { return *this; }
  Files& files() override { return *this; }
  Index& index() override { reach_beyond(operation_, "the index"); }
  Links& links() override { reach_beyond(operation_, "links"); }
  Versions& versions() override { reach_beyond(operation_, "versions"); }
  Lists& lists() override { reach_beyond(operation_, "lists"); }
  Retrieval& retrieval() override { reach_beyond(operation_, "vectors"); }
  Doctor& doctor() override { reach_beyond(operation_, "the doctor"); }
  Jobs& jobs() override { reach_beyond(operation_, "jobs"); }
  Models& models() override { reach_beyond(operation_, "models"); }
  Tokens& tokens() override { reach_beyond(operation_, "tokens"); }

  Result<Json> step(std::string_view, const Json&,
                    const std::function<Result<Json>()>& fn) override {
    return fn();
  }
  Result<std::vector<Result<Json>>> map(std::string_view, const std::vector<MapItem>&, const MapFn&,
                                        const MapOptions&) override {
    reach_beyond(operation_, "lanes");
  }
  Status sleep(std::string_view, milliseconds) override { reach_beyond(operation_, "sleep"); }
  Result<std::vector<Result<Json>>> run_children(std::string_view, const std::vector<ChildJob>&,
                                                 MapOptions::OnFailure) override {
    reach_beyond(operation_, "jobs");
  }
  Result<WriteOutcome> write_step(std::string_view, const NoteChange&) override {
    reach_beyond(operation_, "a write");
  }
  void progress(const JobProgress&) override {}
  void emit(const std::string&, const Json&) override { reach_beyond(operation_, "events"); }

 private:
  // Notes
  Result<NoteFile> read(const NotePath& path) override { return visible_.read(path); }
  bool exists(const NotePath& path) override { return visible_.exists(path); }
  std::shared_ptr<const ParsedNote> parse(const NoteFile& file) override {
    return std::make_shared<const ParsedNote>(parse_note(file.bytes, {config_.legacy_properties}));
  }
  Result<WriteOutcome> write(const NoteChange&) override { reach_beyond(operation_, "a write"); }
  Result<std::vector<Json>> check_etags(
      const std::vector<std::pair<NotePath, std::string>>&) override {
    reach_beyond(operation_, "the writer");
  }
  // Files
  Result<Page<AttachmentRow>> list(AttachmentFilter, int, const std::string&) override {
    reach_beyond(operation_, "the index");
  }
  Result<OpenedFile> open(const NotePath& path) override {
    const Vault::Opened file = INDX_TRY(visible_.open(path));
    const std::string etag = INDX_TRY(etag_of_file(file.bytes));
    return OpenedFile{
        {file.info.path.str(), etag, file.info.size, from_millis(file.info.mtime_ns / 1'000'000)},
        file.bytes};
  }

  const Config& config_;
  const Clock& clock_;
  const Principal principal_;
  const CancelToken cancel_;
  const std::string operation_;
  const VisibleFiles visible_;
};

class FileBackend : public Backend {
 public:
  FileBackend(Config config, Vault vault, std::unique_ptr<Provider> provider)
      : config_(std::move(config)), vault_(std::move(vault)), provider_(std::move(provider)) {}

  const Config& config() const override { return config_; }
  const Clock& clock() const override { return clock_; }
  bool has_provider() const override { return provider_ != nullptr; }
  bool is_draining() const override { return false; }
  Json health() override {
    return {{"ready", true},
            {"state", "ready"},
            {"version", kVersion},
            {"provider", has_provider() ? provider_->name() : ""}};
  }
  std::unique_ptr<Context> make_context(const Principal& principal, const CancelToken& cancel,
                                        const std::string& operation,
                                        const std::optional<IdempotencyKey>&) override {
    return std::make_unique<FileContext>(config_, clock_, vault_, principal, cancel, operation);
  }

  Result<Principal> authenticate(const std::string&) override { return needs_engine("tokens"); }
  Status run_on_lane(std::function<void()>) override { return needs_engine("lanes"); }
  Result<Job> enqueue(const JobRequest&, const std::optional<IdempotencyKey>&) override {
    return needs_engine("jobs");
  }
  Result<Job> job(const JobId&) override { return needs_engine("jobs"); }
  Result<Job> cancel_job(const JobId&) override { return needs_engine("jobs"); }
  void add_waiter(const JobId&) override {}
  void remove_waiter(const JobId&) override {}
  Result<std::optional<Remembered>> claim_key(const std::string&, const IdempotencyKey&) override {
    return needs_engine("idempotency keys");
  }
  Status complete_key(const std::string&, const IdempotencyKey&, int, const Json&) override {
    return needs_engine("idempotency keys");
  }
  Status release_key(const std::string&, const IdempotencyKey&) override {
    return needs_engine("idempotency keys");
  }
  Result<std::unique_ptr<Subscription>> subscribe(const EventFilter&,
                                                  const std::optional<std::string>&,
                                                  std::function<bool(const Event&)>) override {
    return needs_engine("events");
  }
  std::string event_epoch() const override { return {}; }

 private:
  const Config config_;
  const Vault vault_;
  const std::unique_ptr<Provider> provider_;
  const SystemClock clock_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open_file_backend(const Config& config) {
  auto vault = INDX_TRY(Vault::open(config.vault_dir, config.durability));
  auto provider = INDX_TRY(make_provider(config.ai));
  return std::unique_ptr<Backend>(
      std::make_unique<FileBackend>(config, std::move(vault), std::move(provider)));
}

}  // namespace indx
