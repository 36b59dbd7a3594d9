#pragma once
#include "base/lazy.hpp"
#include "jobs/retry_policy.hpp"
#include "ops/context.hpp"
#include "ops/schema.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

enum class Execution : std::uint8_t {
  Inline,  ///< answered now
  Job,     ///< enqueued
  Sized    ///< in place up to its limit, else a job
};
enum class Effect : std::uint8_t {
  Reads,
  Writes,      ///< changes notes or settings
  Destructive  ///< may lose something a person made: the CLI wants --yes
};

/// What a server has of the two roles of AI (row D2).
struct AiRoles {
  bool chat = false;        ///< answers come from a model, or from the builtin rules
  bool embeddings = false;  ///< texts get vectors
  bool any() const { return chat || embeddings; }
};
/// Which of them an operation cannot do without.
enum class AiRole : std::uint8_t { Chat, Embeddings, Either };
bool has_role(const AiRoles& roles, AiRole role);
/// For `required_role`: `chat`, `embeddings`; of Either the one that does more.
std::string_view name(AiRole role);

/// What a handler asks of its Context.
enum class Needs : std::uint8_t {
  Engine,  ///< anything
  Files    ///< principal, configuration, clock, and reading: notes().read, parse and exists,
           ///< files().open. For reads that are answered inline; a command answers them without an
           ///< engine
};

struct Route {
  std::string method;   ///< GET
  std::string pattern;  ///< /v1/notes/{path}; `{path}` may hold slashes and stands for the rest up
                        ///< to the next literal
};

/// For a list whose rows do not all have the same columns: the field of a row that holds its
/// cells, an object, and the list of the answer that names them in order, as `{id, name}`.
struct CellColumns {
  std::string cells = {}, columns = {};
};

/// A flag of the command line that says a field in a shorter way, or sets others with it.
struct CliFlag {
  std::string name;     ///< `note`
  std::string field;    ///< `path`, `write.path`; empty: a switch for `also`
  Json also;            ///< members that it sets in the input: {mode: note}
  std::string summary;  ///< for the help
};

/// How the jobs of an operation run.
struct JobPolicy {
  milliseconds time_limit{0};  ///< of one try; 0: none
  int max_running = 0;         ///< at once; 0: any number
  RetryPolicy retry = {};
  bool resumes_other_versions = false;
  /// Requests with the same text are one job while it lives; empty function or text: each is its
  /// own.
  std::function<std::string(const Json& input)> unique_key = {};
  OnDuplicate on_duplicate = OnDuplicate::Join;
  /// Id of the job whose writes its job undoes; empty function or text: none.
  std::function<std::string(const Json& input)> reverts = {};
};

/// The reason of a gap in a list that a later page fills.
inline constexpr std::string_view kComesLater = "budget";

struct Failure {
  Reason reason;
  std::string when;
};

/// One capability, declared once. REST routes, MCP tools, CLI verbs, OpenAPI and docs are loops
/// over these.
struct Operation {
  std::string name;      ///< `note_read`: also the MCP tool, the job kind and the log name
  std::string title;     ///< for people, under 60 bytes; empty: made from the summary or the name
  std::string summary;   ///< one sentence: what it does
  std::string guidance;  ///< for agents: when to use it and when not
  std::vector<Scope> scopes;
  /// Scopes that depend on the input (apply needs write); empty function: none.
  std::function<std::vector<Scope>(const Json& input)> extra_scopes;
  Route route;
  std::string cli;                          ///< `note get`
  std::vector<std::string> cli_positional;  ///< fields given without a flag, in order
  std::vector<CliFlag> cli_flags;  ///< beside those of the fields; they win over short forms
  /// An object of the input with `if_not_exists`, which names a note that the call replaces. The
  /// command line asks for --yes where that note exists. Empty: none.
  std::string cli_replaces;
  /// What follows the words in a true call, as a shell reads it: `Projects/Plan.md --from 3`.
  /// Empty: nothing is required but the path of a note.
  std::string example;
  Execution execution = Execution::Inline;
  std::size_t inline_limit = 1;
  Effect effect = Effect::Reads;
  Needs needs = Needs::Engine;
  bool is_idempotent = false;  ///< the same call twice changes nothing more
  /// Inputs to which a person should say yes first, on a surface that can ask; empty function:
  /// those of a destructive operation that are no trial. Few: nothing that can be had back with one
  /// call.
  std::function<bool(const Json& input)> wants_consent;
  bool needs_provider = false;  ///< answers, and is listed, only with its `role`
  AiRole role = AiRole::Chat;
  /// Inputs that it answers though there is a model for embeddings alone (R17); empty function:
  /// none.
  std::function<bool(const Json& input)> answers_without_chat;
  bool is_ai = false;  ///< advertised only with some role, though it may answer without (ai_status)
  /// The tool of MCP that does it when `action` is its name (ops/tool_group.hpp); empty: it is a
  /// tool of its own.
  std::string tool_group;
  bool reads_index = false;  ///< what it answers is out of the index of the vault
  bool takes_file = false;   ///< the call comes with a file, which is the body of a request
  bool gives_file = false;   ///< the answer comes with a file, which is the body of a response
  int version = 1;           ///< of the step layout (G4)
  JobPolicy job;
  Lazy<SchemaNode> input, output;  ///< most are never looked at
  /// The output field whose items a surface may stream one by one; empty: the answer is no list,
  /// or its items alone would say too little.
  std::string list;
  /// The output field that tells why items are not in the list: `{reason, …}` each. Those with
  /// kComesLater are in a later page. Empty: none.
  std::string list_gaps;
  CellColumns cells;  ///< of the list; empty: the fields of its items are the columns
  /// A text of the output that is the whole answer when it is there, such as CSV; a command prints
  /// it as it is. Empty: none.
  std::string text;
  /// One line that tells the answer, made of nothing but these two; empty function: a surface makes
  /// one from the output's shape.
  std::function<std::string(const Json& input, const Json& output)> told;
  /// A yes-or-no field of the output; `false` ends the command line with 1. Empty: an answer is a
  /// success.
  std::string verdict;
  std::vector<Failure> failures;
  int success_status = 200;  ///< 201 for things that are made

  /// Decodes, runs, encodes. The input was validated against `input` (defaults filled in).
  std::function<Result<Json>(Context& ctx, const Json& input)> handler;
  /// Sized: how many units the call touches.
  std::function<Result<std::size_t>(Context& ctx, const Json& input)> size;
  /// Sized: false for an input that is small whatever the vault holds, so that it is answered like
  /// an inline call; empty function: never.
  std::function<bool(const Json& input)> may_be_large;

  /// Whether its list comes in pages that can be asked for one after another.
  bool has_pages() const {
    return !list.empty() && output->find("next_cursor") != nullptr &&
           input->find("cursor") != nullptr && input->find("limit") != nullptr;
  }
  /// What the lines of a list say behind its items: `{"left_out": {…}}` for each gap that no later
  /// page fills.
  std::vector<Json> gap_lines(const Json& output_data) const;
  /// The text that this output is; null: it has none.
  const std::string* text_of(const Json& output_data) const;
  /// The largest page that it gives, at most `most`.
  int page_size(int most) const;

  /// Whether it answers where these roles are configured.
  bool is_available(const AiRoles& roles) const { return !needs_provider || has_role(roles, role); }
  /// Whether it answers at least some inputs.
  bool is_listed(const AiRoles& roles) const {
    return is_available(roles) || (answers_without_chat && roles.any());
  }
  /// The refusal where it does not: `ai_unavailable` {required_role}.
  Error lacks_role() const;
  /// Whether a person should say yes to a call with this input first.
  bool asks_person(const Json& input_data) const;
  /// Whether some call of it does.
  bool may_ask_person() const { return wants_consent || effect == Effect::Destructive; }
  /// Whether an Idempotency-Key means something: the call changes something or may cost money
  /// (G16).
  bool takes_idempotency_key() const { return effect != Effect::Reads || needs_provider; }
  /// Whether its answer can be told while it is made (AiStream).
  bool streams_answer() const { return is_ai && route.method == "POST"; }
  /// Whether a call may take long enough for its events to be worth a stream.
  bool tells_events() const {
    return execution != Execution::Inline || needs_provider || streams_answer();
  }
  /// In front of the events `complete` and `error`, one of which ends a streamed call: `ai.` for
  /// what the AI operations answer (rows D42, D43), nothing else.
  std::string stream_prefix() const;
};

/// What the queue is asked for a call of an operation, by its policy. Secret arguments are apart
/// from the others; a key that lets a caller join or change a live job is the caller's alone.
JobRequest job_request(const Operation& operation, Json input, JobOwner owner,
                       const JobsConfig& config);

/// `forbidden` when the caller lacks one of the scopes that a call of the operation wants.
Status check_scopes(const Operation& operation, const Principal& principal,
                    const std::vector<Scope>& wanted);

/// The explicit list of operations, in the order of the docs. Copies share it.
class Registry {
 public:
  explicit Registry(std::vector<Operation> operations);
  const std::vector<Operation>& all() const { return *operations_; }
  const Operation* find(std::string_view name) const;
  /// Those a principal may call at all: filtered by scope, and by the roles of AI that there are.
  std::vector<const Operation*> visible_to(const Principal& principal, const AiRoles& roles) const;

 private:
  std::shared_ptr<const std::vector<Operation>> operations_;  // shared: with the copies
};

/// Every operation of the product.
Registry make_registry();

}  // namespace indx
