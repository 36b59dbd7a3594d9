#pragma once
#include <string>
#include <string_view>

namespace indx {

/// Rule 6.4 (JOIN): how inserted Markdown meets its neighbours. Internal to `vault/`.

bool is_blank_line(std::string_view line);
/// Without blank lines at both ends and without the last line end; every line end becomes `eol`.
std::string trimmed_markdown(std::string_view markdown, std::string_view eol);
/// Whether the last line holds text, whether or not it has a line end.
bool ends_in_text_line(std::string_view text);
/// Whether the text ends with a heading line.
bool ends_in_heading(std::string_view text);
/// The marker family of a list item line: the bullet, or the delimiter of a number; 0 for other
/// lines.
char item_family(std::string_view line);
/// A list item above and one below of the same marker family: no blank line goes between.
bool is_tight_list(std::string_view above, std::string_view below);
/// Whether a blank line goes between two pieces of Markdown that end and begin with text.
bool needs_blank_line(std::string_view above, std::string_view below);

/// The first line in [from, to) that is not blank, and the end of the last one (behind its line
/// end). Both are line borders; an all-blank range gives `to`, and `from`.
std::size_t after_blank_lines(std::string_view bytes, std::size_t from, std::size_t to);
std::size_t before_blank_lines(std::string_view bytes, std::size_t from, std::size_t to);

/// A place for an insertion: [from, to) goes, both are line borders of the body.
struct JoinPlace {
  std::size_t body_begin = 0, from = 0, to = 0;
  bool is_under_heading = false;
};
/// `added` (trimmed, not empty) at that place, with the blank lines that JOIN asks for.
std::string joined(std::string_view bytes, const JoinPlace& place, std::string_view added,
                   std::string_view eol);

}  // namespace indx
