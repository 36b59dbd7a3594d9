#include "base/unicode.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

#include <algorithm>
#include <tuple>

namespace indx {
namespace tag_list_op {

struct Input {
  std::string prefix, sort = "count";
  int limit = 1000;
  std::string cursor;
};
struct Row {
  std::string tag;
  int count = 0, count_nested = 0;
  static Fields<Row> fields() {
    return {field("tag", &Row::tag, "Without `#`, spelled as in its first use."),
            field("count", &Row::count, "Notes with exactly this tag."),
            field("count_nested", &Row::count_nested, "Notes with it or one below it.")};
  }
};
struct Output {
  std::vector<Row> tags;
  std::optional<std::string> next_cursor;
};

bool is_more_used(const TagCount& a, const TagCount& b) {
  return std::tie(b.count, a.tag) < std::tie(a.count, b.tag);
}
bool is_named_before(const TagCount& a, const TagCount& b) {
  const auto x = fold_case(a.tag), y = fold_case(b.tag);
  return std::tie(x, a.tag) < std::tie(y, b.tag);
}

Result<Output> run(Context& ctx, const Input& in) {
  auto tags = INDX_TRY(ctx.index().tags());
  if (const auto start = fold_case(plain_tag(in.prefix)); !start.empty())
    std::erase_if(tags,
                  [&](const TagCount& row) { return !fold_case(row.tag).starts_with(start); });
  const auto comes_before = in.sort == "name" ? is_named_before : is_more_used;
  std::sort(tags.begin(), tags.end(), comes_before);
  auto at = tags.cbegin();
  if (!in.cursor.empty()) {
    const Json position = INDX_TRY(read_cursor(in.cursor));
    if (!position.is_array() || position.size() != 2 || !position[0].is_number_integer() ||
        !position[1].is_string())
      return invalid("`cursor` is not one of tag_list.", Json{{"path", "cursor"}});
    const TagCount last{position[1].get<std::string>(), position[0].get<int>(), 0};
    at = std::upper_bound(tags.cbegin(), tags.cend(), last, comes_before);
  }
  Output out;
  for (; at != tags.cend() && out.tags.size() < static_cast<std::size_t>(in.limit); ++at)
    out.tags.push_back({at->tag, at->count, at->count_nested});
  if (at != tags.cend())
    out.next_cursor = make_cursor(Json::array({out.tags.back().count, out.tags.back().tag}));
  return out;
}

}  // namespace tag_list_op

Operation tag_list() {
  using namespace tag_list_op;
  return define<Input, Output>({
      .name = "tag_list",
      .title = "List tags",
      .summary = "List the tags of the vault with how many notes use each.",
      .guidance = "Look here before inventing a tag. For the notes of one tag use tag_notes.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/tags"},
      .is_idempotent = true,
      .reads_index = true,
      .input = {field("prefix", &Input::prefix, "Only tags that begin so, in any case.", optional,
                      length(0, 256)),
                field("sort", &Input::sort, "`count`: most used first.", optional,
                      one_of({"count", "name"})),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("tags", &Output::tags, "In the order asked for."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed, "The cursor is not one of ours."}},
      .handler = run,
  });
}

}  // namespace indx
