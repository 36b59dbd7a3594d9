#include "mcp/confirmation.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/task_calls.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace indx {
namespace {

constexpr const char* kAsk = "elicitation/create";
constexpr const char* kQuestion = "confirm";
constexpr std::size_t kMaxShownInput = 600;

/// A client that declares nothing but URLs cannot show a form.
bool can_show_form(const McpPeer& peer) {
  if (!peer.protocol->has_elicitation) return false;
  const Json* declared = member(peer.client_capabilities, "elicitation");
  if (!declared || !declared->is_object()) return false;
  return !declared->contains("url") || declared->contains("form");
}

/// Params of elicitation/create.
Json form_of(const McpPeer& peer, const Operation& operation, const Json& input) {
  const std::string shown = dump_rpc(mask_secrets(operation.input, input));
  Json form = {{"message", cat("Allow ", operation.name, "? ", operation.summary, "\n",
                               prefix_at_grapheme(shown, kMaxShownInput),
                               shown.size() > kMaxShownInput ? "…" : "")},
               {"requestedSchema",
                {{"type", "object"},
                 {"properties",
                  {{kQuestion,
                    {{"type", "boolean"},
                     {"title", "Do it"},
                     {"description", "Switched off, nothing is changed."},
                     {"default", false}}}}},
                 {"required", Json::array({kQuestion})}}}};
  if (peer.protocol->era == Era::Modern) form["mode"] = "form";
  return form;
}

enum class Consent : std::uint8_t { Given, Declined, Cancelled, Unclear };

Consent consent_of(const Json& response) {
  const auto action = string_member(response, "action").value_or("");
  if (action == "decline") return Consent::Declined;
  if (action == "cancel") return Consent::Cancelled;
  const Json* content = member(response, "content");
  const Json* answer = content ? member(*content, kQuestion) : nullptr;
  if (action != "accept" || !answer || !answer->is_boolean()) return Consent::Unclear;
  return answer->get<bool>() ? Consent::Given : Consent::Declined;
}

void refuse(const McpRequest& request, const Operation& operation, Consent consent) {
  const bool is_cancelled = consent == Consent::Cancelled;
  answer_call_error(
      request,
      make_error(is_cancelled ? Reason::Cancelled : Reason::ConfirmationRequired,
                 cat(is_cancelled                   ? "The question was closed"
                     : consent == Consent::Declined ? "The person declined"
                                                    : "The client gave no answer to the question",
                     "; ", operation.name, " changed nothing."),
                 {{"tool", operation.name}}));
}

}  // namespace

void Confirmation::ask_first(const McpRequest& request, const Operation& operation,
                             const Json& input, std::function<void()> go_on) const {
  const McpPeer& peer = request.peer;
  if (!operation.may_ask_person() || !can_show_form(peer)) return go_on();
  // First what anyone can see: a person is not asked for what cannot be done.
  const auto valid = validate(operation.input, input);
  if (!valid) return answer_call_error(request, valid.error(), &operation);
  if (!operation.asks_person(*valid)) return go_on();
  Json form = form_of(peer, operation, input);
  if (peer.protocol->era == Era::Modern)
    return ask_modern(request, operation, std::move(form), go_on);
  if (!request.call->can_notify())
    return answer_call_error(
        request,
        make_error(Reason::ConfirmationRequired,
                   cat("A person has to allow ", operation.name,
                       ", and without a stream nobody can be asked: accept text/event-stream."),
                   {{"tool", operation.name}, {"accept", "text/event-stream"}}),
        &operation);
  ask_legacy(request, operation, std::move(form), std::move(go_on));
}

void Confirmation::ask_legacy(const McpRequest& request, const Operation& operation, Json form,
                              std::function<void()> go_on) const {
  const auto is_settled = std::make_shared<std::atomic<bool>>(false);  // by an answer or by time
  request.call->ask(
      kAsk, std::move(form),
      [request, &operation, is_settled, go_on = std::move(go_on)](const Result<Json>& reply) {
        if (is_settled->exchange(true)) return;
        const Consent consent = reply ? consent_of(*reply) : Consent::Unclear;
        if (consent == Consent::Given) return go_on();
        refuse(request, operation, consent);
      });
  // An open call keeps its session, so a question must not stay for ever; nor must this keep them.
  McpRequest later = request;
  later.call.reset();
  later.peer.session.reset();
  deadlines_.after(RequestStates::kLifetime,
                   [later = std::move(later), weak = std::weak_ptr(request.call), &operation,
                    is_settled]() mutable {
                     later.call = weak.lock();
                     if (later.call && !is_settled->exchange(true))
                       refuse(later, operation, Consent::Unclear);
                   });
}

void Confirmation::ask_modern(const McpRequest& request, const Operation& operation, Json form,
                              const std::function<void()>& go_on) const {
  const auto& [peer, message, call] = request;
  if (const auto state = string_member(message.params, "requestState")) {
    const auto verdict = states_.check(*state, peer, message);
    if (verdict == RequestStates::Verdict::Altered)
      return call->answer_fault(kRpcInvalidParams,
                                "requestState is not what was given for this call. Call again "
                                "without it.");
    const Json* responses = member(message.params, "inputResponses");
    const Json* response = responses ? member(*responses, kQuestion) : nullptr;
    const Consent consent = response ? consent_of(*response) : Consent::Unclear;
    if (verdict == RequestStates::Verdict::Valid) {
      if (consent == Consent::Given && states_.use(*state)) return go_on();
      if (consent != Consent::Given && consent != Consent::Unclear && states_.use(*state))
        return refuse(request, operation, consent);  // a no is said once, as a yes is
    }
  }
  call->answer_result(
      {{"resultType", "input_required"},
       {"inputRequests", {{kQuestion, {{"method", kAsk}, {"params", std::move(form)}}}}},
       {"requestState", states_.make(peer, message)}});
}

}  // namespace indx
