#include "mcp/resource_methods.hpp"

#include "base/text.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/synthetic_resources.hpp"

#include <optional>
#include <utility>

namespace indx {
namespace {

constexpr int kResourcePageSize = 200;

/// `{limit, cursor?}`
Json page_input(const std::string& cursor) {
  Json input = {{"limit", kResourcePageSize}};
  if (!cursor.empty()) input["cursor"] = cursor;
  return input;
}

Error missing_resource() { return not_found("No such resource."); }

Error still_made(const std::string& job_id) {
  return make_error(Reason::InProgress,
                    "The resource is still being made. Read it again in a minute; what is ready by "
                    "then is not made twice.",
                    {{"job_id", job_id}});
}

Result<Json> contents_of(const ResourceUri& target, const std::string& uri, const Answer& answer) {
  if (!is_bytes(target)) return json_contents(uri, *answer.result);
  if (!answer.file) return file_contents(uri, target.path, note_bytes(*answer.result));
  if (answer.file->size() > kMaxResourceBytes)
    return resource_too_large(target.path, answer.file->size());
  return file_contents(uri, target.path, INDX_TRY(answer.file->read_all()));
}

}  // namespace

void answer_resource_error(const McpRequest& request, const Error& error, const std::string& uri) {
  const bool is_missing = error.reason == Reason::NotFound || error.reason == Reason::Forbidden;
  if (is_missing && !uri.empty()) {
    const bool is_modern = request.peer.protocol && request.peer.protocol->era == Era::Modern;
    return request.call->answer_fault(is_modern ? kRpcInvalidParams : kRpcResourceNotFound,
                                      missing_resource().message, {{"uri", uri}});
  }
  const bool is_theirs = is_missing || error.code() == ErrorCode::InvalidArgument ||
                         error.code() == ErrorCode::TooLarge ||
                         error.code() == ErrorCode::Unprocessable;
  Json data = error.to_json();
  if (!uri.empty()) data["uri"] = uri;
  request.call->answer_fault(is_theirs ? kRpcInvalidParams : kRpcInternalError, error.message,
                             std::move(data));
}

std::vector<McpMethod> ResourceMethods::methods() {
  return {{.name = "resources/list", .run = [this](const McpRequest& request) { list(request); }},
          {.name = "resources/templates/list",
           .run = [this](const McpRequest& request) { list_templates(request); }},
          {.name = "resources/read", .run = [this](const McpRequest& request) { read(request); }}};
}

/// One page of resources/list while it is filled.
struct ResourceMethods::Page {
  McpRequest request;
  const Operation* files = nullptr;  ///< null: there is no list of them
  ResourceCursor cursor;
  Json entries = Json::array();

  void add(const Json& rows) {
    for (Json& entry : resource_entries(rows, *request.peer.protocol))
      entries.push_back(std::move(entry));
  }
  void answer(const std::optional<ResourceCursor>& next) {
    Json result = {{"resources", std::move(entries)}};
    if (next) result["nextCursor"] = write_resource_cursor(*next);
    request.call->answer_result(std::move(result));
  }
};

void ResourceMethods::list(const McpRequest& request) const {
  const Operation* notes = operation_behind(services_, request, "note_list");
  if (!notes) return;
  const auto text = string_member(request.message.params, "cursor");
  auto cursor = read_resource_cursor(text.value_or(""));
  if (!cursor) return answer_resource_error(request, cursor.error(), "");
  const auto page = std::make_shared<Page>(Page{
      request, services_.dispatcher.registry().find("attachment_list"), *cursor, Json::array()});
  if (page->cursor.is_behind_notes) return add_files(page);
  if (page->cursor.list_cursor.empty())
    page->entries = synthetic_entries(services_.dispatcher.registry(), request.peer.principal,
                                      services_.dispatcher.ai_roles(), *request.peer.protocol);
  add_notes(page);
}

void ResourceMethods::add_notes(const std::shared_ptr<Page>& page) const {
  const Operation* notes = services_.dispatcher.registry().find("note_list");
  services_.dispatcher.call(
      make_call(page->request.peer, *notes, page_input(page->cursor.list_cursor),
                page->request.call->token()),
      [this, page](const Answer& answer) {
        if (!answer.result) return answer_resource_error(page->request, answer.result.error(), "");
        page->add(answer.result->value("notes", Json::array()));
        if (const auto next = string_member(*answer.result, "next_cursor"))
          return page->answer(ResourceCursor{false, *next});
        page->cursor = {true, ""};
        add_files(page);  // so that the last page is known to be the last one
      });
}

void ResourceMethods::add_files(const std::shared_ptr<Page>& page) const {
  if (!page->files) return page->answer(std::nullopt);
  Call call = make_call(page->request.peer, *page->files, page_input(page->cursor.list_cursor),
                        page->request.call->token());
  call.is_next_page = true;
  services_.dispatcher.call(std::move(call), [page](const Answer& answer) {
    if (!answer.result) return answer_resource_error(page->request, answer.result.error(), "");
    page->add(answer.result->value("attachments", Json::array()));
    const auto next = string_member(*answer.result, "next_cursor");
    page->answer(next ? std::optional(ResourceCursor{true, *next}) : std::nullopt);
  });
}

void ResourceMethods::list_templates(const McpRequest& request) const {
  request.call->answer_result(
      resource_templates(services_.dispatcher.registry(), request.peer.principal,
                         services_.dispatcher.ai_roles(), *request.peer.protocol));
}

/// One resources/read in work.
struct ResourceMethods::Read {
  McpRequest request;
  std::string uri;  ///< as the client wrote it
  ResourceUri target;
};

void ResourceMethods::read(const McpRequest& request) const {
  const auto uri = string_member(request.message.params, "uri");
  if (!uri || uri->empty())
    return request.call->answer_fault(kRpcInvalidParams,
                                      "params.uri must be the URI of a resource.");
  const auto target = parse_resource_uri(*uri);
  if (!target) return answer_resource_error(request, target.error(), *uri);
  const std::string_view name = operation_name_of(*target);
  const Operation* operation = services_.dispatcher.registry().find(name);
  if (!operation) return answer_resource_error(request, missing_resource(), *uri);
  if (!operation_behind(services_, request, name)) return;
  if (!operation->is_listed(services_.dispatcher.ai_roles()))
    return answer_resource_error(request, operation->lacks_role(), *uri);
  auto input = operation_input(*target, *operation);
  if (!input) return answer_resource_error(request, input.error(), *uri);
  run(std::make_shared<const Read>(Read{request, *uri, *target}), *operation, std::move(*input));
}

void ResourceMethods::run(const std::shared_ptr<const Read>& read, const Operation& operation,
                          Json input) const {
  const auto& call = read->request.call;
  Call work = make_call(read->request.peer, operation, std::move(input), call->token());
  if (operation.execution != Execution::Inline) {
    work.keep = true;  // who reads again profits from what is done by then
    give_up_after_wait(read);
  }
  services_.dispatcher.call(
      std::move(work),
      [read](const Answer& answer) {
        const auto& request = read->request;
        if (request.call->is_ended()) return;
        if (!answer.result) return answer_resource_error(request, answer.result.error(), read->uri);
        if (answer.is_accepted)
          return answer_resource_error(request, still_made(answer.job_id), read->uri);
        auto contents = contents_of(read->target, read->uri, answer);
        if (!contents) return answer_resource_error(request, contents.error(), read->uri);
        request.call->answer_result(std::move(*contents));
      },
      [call, peer = read->request.peer, &dispatcher = services_.dispatcher](const Event& event) {
        if (!event.job_id.empty() && !call->set_job(event.job_id))
          cancel_job(dispatcher, peer, event.job_id);
      });
}

void ResourceMethods::give_up_after_wait(const std::shared_ptr<const Read>& read) const {
  services_.deadlines.after(services_.options.job_wait, [weak = std::weak_ptr(read)] {
    const auto waiting = weak.lock();
    if (!waiting || waiting->request.call->is_ended()) return;
    answer_resource_error(waiting->request, still_made(waiting->request.call->job_id()),
                          waiting->uri);
  });
}

}  // namespace indx
