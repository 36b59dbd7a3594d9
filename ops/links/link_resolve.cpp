#include "base/text.hpp"
#include "ops/links.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"
#include "vault/markdown.hpp"

namespace indx {
namespace link_resolve_op {

struct Input {
  std::string link, source;
};
struct Output {
  std::string target;
  std::optional<std::string> subpath;
  bool external = false;
  std::optional<std::string> path;
  bool resolved = false, subpath_resolved = false;
  std::optional<int> to_line;
  std::vector<std::string> candidates, alias_of;
};

/// `[[a#b]]`, `![[a]]`, `[t](a.md)`, or what stands between the brackets of a wikilink.
Result<Link> read_link_text(const std::string& text) {
  const auto plain = std::string(trim(text));
  for (const auto& form : {plain, cat("[[", plain, "]]")}) {
    auto links = links_in_text(form);
    if (links.size() == 1 && links[0].begin == 0 && links[0].end == form.size())
      return std::move(links[0]);
  }
  return invalid("`link` is not one link: give `[[note#heading]]`, `[text](note.md)` or `note`.",
                 Json{{"path", "link"}, {"expected", "one link"}, {"actual", text}});
}

Result<Output> run(Context& ctx, const Input& in) {
  LinkQuestion question;
  question.link = INDX_TRY(read_link_text(in.link));
  if (!in.source.empty()) question.source = INDX_TRY(NotePath::parse(in.source)).str();
  Output out;
  out.target = question.link.target;
  out.external = question.link.external;
  if (!question.link.subpath.empty()) out.subpath = question.link.subpath;
  if (out.external) return out;
  if (question.link.target.empty() && question.source.empty())
    return invalid("A link to a heading of its own note needs `source`.", Json{{"path", "source"}});
  auto answer = INDX_TRY(ctx.links().resolve(question));
  out.path = std::move(answer.path);
  out.resolved = out.path.has_value();
  out.subpath_resolved = answer.subpath_resolved;
  out.candidates = std::move(answer.candidates);
  out.alias_of = std::move(answer.alias_of);
  if (answer.line > 0) out.to_line = answer.line;
  return out;
}

}  // namespace link_resolve_op

Operation link_resolve() {
  using namespace link_resolve_op;
  return define<Input, Output>({
      .name = "link_resolve",
      .summary = "Say which file, and which line of it, a link text reaches from a note.",
      .guidance =
          "Ask before writing a link. `candidates` are all files that the name may mean, the "
          "shortest path first; where they are several, write a path.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/links/resolve"},
      .cli_positional = {"link"},
      .example = "'[[Plan#Goals]]' --source Projects/Home.md",
      .is_idempotent = true,
      .reads_index = true,
      .tool_group = "note_explore",
      .input = {field("link", &Input::link,
                      "`[[note#heading]]`, `[text](note.md)`, or `note#^block`.", length(1, 4096)),
                field("source", &Input::source,
                      "Path of the note that holds the link; without it, a note at the root.",
                      vault_path, optional, length(0, 4096))},
      .output = {field("path", &Output::path, "The file that is reached; none when unresolved."),
                 field("resolved", &Output::resolved, "Whether a file is reached."),
                 field("line", &Output::to_line, "1-based line of what is reached in a note."),
                 field("subpath_resolved", &Output::subpath_resolved,
                       "Whether the heading or block, if any, is there too; false when no file is "
                       "reached."),
                 field("candidates", &Output::candidates, "Up to 50 files that the text may mean."),
                 field("alias_of", &Output::alias_of, "Notes that have the target as an alias."),
                 field("target", &Output::target, "As written, without the subpath."),
                 field("subpath", &Output::subpath, "Heading or ^block after the first `#`."),
                 field("external", &Output::external, "Leads out of the vault.")},
      .failures = {{Reason::ValidationFailed, "The text is not one link."},
                   {Reason::Forbidden, "The source is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
