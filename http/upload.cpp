#include "http/upload.hpp"

#include "base/text.hpp"
#include "http/multipart.hpp"
#include "http/rest.hpp"

#include <atomic>

namespace indx {
namespace {

constexpr int kMaxUploads = 32;

/// Fields of a form count as those of the query do, and neither may contradict the other.
Status add_form_fields(const Operation& operation, const FormData& form, Json& input) {
  for (const auto& [name, text] : form.fields) {
    const auto* property = operation.input->find(name);
    if (property == nullptr)
      return invalid(
          cat("The form has a field `", name, "`, which ", operation.name, " does not take."),
          {{"path", name}, {"actual", "unknown field"}});
    Json value = INDX_TRY(parse_text_value(property->schema, name, {text}));
    if (input.contains(name) && input[name] != value)
      return invalid(cat("`", name, "` is given twice, and the form says something else."),
                     {{"path", name}});
    input[name] = std::move(value);
  }
  return {};
}

/// One of the few bodies that may be on their way into files at a time.
std::shared_ptr<FileBytes> counted(FileBytes bytes,
                                   const std::shared_ptr<std::atomic<int>>& uploads) {
  ++*uploads;
  return std::shared_ptr<FileBytes>(new FileBytes(std::move(bytes)), [uploads](FileBytes* gone) {
    delete gone;
    --*uploads;
  });
}

}  // namespace

Result<std::shared_ptr<const Upload>> read_upload(const Operation& operation,
                                                  const HttpRequest& request, Json& input) {
  if (!request.body_file)
    return invalid(cat(operation.name, " needs a file as its body."), {{"path", "body"}});
  const auto type = request.header("content-type");
  const auto boundary = form_boundary(type);
  if (boundary.empty()) {
    if (type.starts_with("multipart/"))
      return invalid("The body must be the file itself, or multipart/form-data with a boundary.",
                     {{"header", "Content-Type"}});
    return std::make_shared<const Upload>(Upload{*request.body_file, {}});
  }
  FormData form = INDX_TRY(read_form_data(*request.body_file, boundary));
  if (form.files.size() != 1)
    return invalid(cat("The form must have one file; it has ", form.files.size(), "."),
                   {{"path", "body"}, {"expected", 1}, {"actual", form.files.size()}});
  INDX_TRY(add_form_fields(operation, form, input));
  auto& file = form.files[0];
  return std::make_shared<const Upload>(Upload{std::move(file.bytes), std::move(file.name)});
}

PlanBody plan_bodies(const Router& router, Dispatcher& dispatcher, const std::string& folder,
                     std::uint64_t max_bytes, std::uint64_t max_file_bytes) {
  std::set<std::string> routes;
  for (const auto& operation : dispatcher.registry().all())
    if (operation.takes_file)
      routes.insert(cat(operation.route.method, " ", operation.route.pattern));
  const auto uploads = std::make_shared<std::atomic<int>>(0);  // shared: with files on their way
  return [&router, &dispatcher, folder, max_bytes, max_file_bytes, routes = std::move(routes),
          uploads](const HttpRequest& head) -> BodyPlan {
    BodyPlan plan{max_bytes, nullptr, std::nullopt};
    if (!router.leads_to(head, routes)) return plan;
    SystemRandom random;
    const RequestId id{new_ulid(SystemClock().now(), random)};
    const auto admitted = admit_request(head, dispatcher);
    if (!admitted) {
      plan.refusal = error_response(admitted.error(), id);
    } else if (!admitted->has(Scope::VaultWrite)) {
      plan.refusal = error_response(
          make_error(Reason::Forbidden, "To send files the token needs the scope vault:write.",
                     {{"required_scopes", {"vault:write"}}}),
          id);
    } else if (*uploads >= kMaxUploads) {
      plan.refusal = error_response(
          make_error(Reason::Unavailable, "Too many files are coming in; try again in a moment.",
                     {{"retry_after_s", 1}}),
          id);
    } else if (auto file = FileBytes::make_temp(folder)) {
      plan.file = counted(std::move(*file), uploads);
      // a form has more around its file than the file
      plan.max_bytes = max_file_bytes + (std::uint64_t{128} << 10U);
    } else {
      plan.refusal = error_response(file.error(), id);
    }
    return plan;
  };
}

}  // namespace indx
