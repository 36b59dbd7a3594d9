#include "actors/visible_files.hpp"

#include "base/text.hpp"

namespace indx {

Status VisibleFiles::check(const NotePath& path) const {
  if (scope_.allows(path.str())) return {};
  return make_error(Reason::Forbidden, cat("This token may not use ", path.str(), "."),
                    {{"path", path.str()}});
}

Vault::MayFollow VisibleFiles::may_follow() const {
  return [this](const NotePath& target) { return scope_.allows(target.str()); };
}

template <typename Find>
auto VisibleFiles::find(const NotePath& path, Find find) const -> decltype(find(path)) {
  INDX_TRY(check(path));
  auto found = find(path);
  if (found.has_value() || found.error().reason != Reason::NotFound ||
      !config_.case_insensitive_match)
    return found;
  const auto spelled = vault_.find_ignoring_case(path);
  if (!spelled) return found;
  INDX_TRY(check(*spelled));
  return find(*spelled);
}

Result<NoteFile> VisibleFiles::read(const NotePath& path) const {
  return find(path, [this](const NotePath& spelled) { return vault_.read(spelled, may_follow()); });
}

Result<Vault::Opened> VisibleFiles::open(const NotePath& path) const {
  return find(path,
              [this](const NotePath& spelled) { return vault_.open_file(spelled, may_follow()); });
}

bool VisibleFiles::exists(const NotePath& path) const {
  return check(path).has_value() && vault_.stat(path, may_follow()).has_value();
}

Error VisibleFiles::shown(const NotePath& path, Error error) const {
  const auto existing =
      error.details.is_object() ? error.details.find("existing") : error.details.end();
  if (existing == error.details.end() || !existing->is_string() ||
      scope_.allows(existing->get_ref<const std::string&>()))
    return error;
  error.message = cat(path.str(), " is taken, perhaps in another case; choose another name.");
  error.details.erase("existing");
  return error;
}

}  // namespace indx
