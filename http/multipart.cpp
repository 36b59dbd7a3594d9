#include "http/multipart.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kMaxFormHead = 16U << 10U;
constexpr std::size_t kMaxFieldBytes = 64U << 10U;
constexpr std::size_t kMaxFormParts = 64;
constexpr std::size_t kFormBlock = 1U << 20U;

Error malformed_form(const std::string& why) {
  return invalid(cat("The multipart body is malformed: ", why, "."),
                 {{"header", "Content-Type"}, {"expected", "multipart/form-data"}});
}

/// `name="a\"b"; filename="x.png"` → the value of one parameter; empty when it is not there.
std::string parameter_of(std::string_view header, std::string_view wanted) {
  std::size_t at = header.find(';');
  while (at != header.npos && at < header.size()) {
    const auto equals = header.find('=', at + 1);
    if (equals == header.npos) return {};
    const auto name = to_lower(trim(header.substr(at + 1, equals - at - 1)));
    std::string value;
    std::size_t end = equals + 1;
    if (end < header.size() && header[end] == '"') {
      for (++end; end < header.size() && header[end] != '"'; ++end) {
        // browsers send `%22` for a quote; a backslash only escapes a quote or itself
        const bool is_escape = header[end] == '\\' && end + 1 < header.size() &&
                               (header[end + 1] == '"' || header[end + 1] == '\\');
        if (is_escape) ++end;
        value += header[end];
      }
      end = header.find(';', end);
    } else {
      end = header.find(';', end);
      value = std::string(trim(header.substr(equals + 1, end - equals - 1)));
    }
    if (name == wanted) return value;
    at = end;
  }
  return {};
}

/// Finds text in a file block by block.
class FormScanner {
 public:
  explicit FormScanner(const FileBytes& body) : body_(body) {}

  /// Where `mark` stands at or after `from` and is followed by the end of its line, or by `--`;
  /// nullopt: nowhere. Anything else that begins like it belongs to the file.
  Result<std::optional<std::uint64_t>> find(std::string_view mark, std::uint64_t from) const {
    for (; from < body_.size(); from += kFormBlock) {
      const std::string block = INDX_TRY(body_.read(from, kFormBlock + mark.size() + 2));
      for (auto at = block.find(mark); at < kFormBlock; at = block.find(mark, at + 1)) {
        const auto after = std::string_view(block).substr(at + mark.size(), 2);
        if (after == "\r\n" || after == "--") return std::optional<std::uint64_t>(from + at);
      }
    }
    return std::optional<std::uint64_t>();
  }

 private:
  const FileBytes& body_;
};

}  // namespace

std::string form_boundary(const std::string& content_type) {
  if (to_lower(trim(content_type.substr(0, content_type.find(';')))) != "multipart/form-data")
    return {};
  return parameter_of(content_type, "boundary");
}

Result<FormData> read_form_data(const FileBytes& body, const std::string& boundary) {
  if (boundary.empty() || boundary.size() > 70) return malformed_form("it has no boundary");
  const FormScanner scanner(body);
  const std::string first = "--" + boundary, next = "\r\n--" + boundary;
  const auto start = INDX_TRY(scanner.find(first, 0));
  if (!start) return malformed_form("its boundary is not in the body");
  if (*start > 0 && INDX_TRY(body.read(*start - 2, 2)) != "\r\n")
    return malformed_form("text stands before the boundary");
  FormData form;
  std::size_t field_bytes = 0;
  std::uint64_t at = *start + first.size();
  for (std::size_t count = 0;; ++count) {
    const std::string after = INDX_TRY(body.read(at, 2));
    if (after == "--") return form;
    if (count == kMaxFormParts) return malformed_form(cat("more than ", kMaxFormParts, " parts"));
    const std::string head = INDX_TRY(body.read(at + 2, kMaxFormHead));
    const auto head_end = head.starts_with("\r\n") ? std::size_t{0} : head.find("\r\n\r\n");
    if (head_end == head.npos) return malformed_form("a part has no end of its headers");
    const auto begin = at + 2 + head_end + (head_end == 0 ? 2 : 4);
    const auto end = INDX_TRY(scanner.find(next, begin));
    if (!end) return malformed_form("the last boundary is missing");

    std::string disposition;
    for (const auto& line : split(head.substr(0, head_end), '\n'))
      if (to_lower(trim(line.substr(0, line.find(':')))) == "content-disposition")
        disposition = std::string(trim(line.substr(line.find(':') + 1)));
    const auto name = parameter_of(disposition, "name");
    if (!to_lower(disposition).starts_with("form-data") || name.empty() || !is_valid_utf8(name))
      return malformed_form("a part has no name");
    const bool is_file = disposition.find("filename") != disposition.npos;
    if (is_file) {
      auto file_name = parameter_of(disposition, "filename");
      if (!is_valid_utf8(file_name)) return malformed_form("a file name is not UTF-8");
      form.files.push_back({name, std::move(file_name), body.part(begin, *end - begin)});
    } else {
      field_bytes += *end - begin;
      if (field_bytes > kMaxFieldBytes) return malformed_form("its fields are longer than 64 kB");
      auto text = INDX_TRY(body.read(begin, *end - begin));
      if (!is_valid_utf8(text)) return malformed_form("a field is not UTF-8 text");
      form.fields.emplace_back(name, std::move(text));
    }
    at = *end + next.size();
  }
}

}  // namespace indx
