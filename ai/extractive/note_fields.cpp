#include "ai/extractive/note_fields.hpp"

#include "ai/extractive/tokens.hpp"
#include "ai/value_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kMaxKeyBytes = 48;
constexpr std::size_t kMaxKeyWords = 5;
constexpr std::size_t kMaxValuesFound = 20000;

/// A line of the body without what begins a quote or a list item.
struct FieldLine {
  std::string_view text;  ///< trimmed
  std::size_t begin = 0;  ///< of `text` in the file
  bool is_item = false, is_heading = false;
  char task = 0;  ///< the mark of a task; 0: none
};

std::string_view trimmed_right(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

/// Takes `count` bytes and the blanks behind them off the front.
void drop_front(FieldLine& line, std::size_t count) {
  count = std::min(line.text.size(), count);
  while (count < line.text.size() && (line.text[count] == ' ' || line.text[count] == '\t')) ++count;
  line.text.remove_prefix(count);
  line.begin += count;
}

std::size_t list_mark(std::string_view text) {
  if (text.size() > 1 && std::string_view("-*+").find(text[0]) != std::string_view::npos &&
      text[1] == ' ')
    return 2;
  const auto digits = text.find_first_not_of("0123456789");
  const bool is_number = digits != text.npos && digits > 0 && digits < 4 &&
                         digits + 1 < text.size() && (text[digits] == '.' || text[digits] == ')') &&
                         text[digits + 1] == ' ';
  return is_number ? digits + 2 : 0;
}

FieldLine field_line(std::string_view bytes, std::size_t begin, std::size_t end,
                     const NoteText& note) {
  FieldLine line{trimmed_right(bytes.substr(begin, end - begin)), begin, false, false, 0};
  line.is_heading = note.is_heading(begin) && line.text.find('#') < 4;
  drop_front(line, 0);
  while (line.text.starts_with('>')) drop_front(line, 1);
  if (line.is_heading) {
    drop_front(line, std::min(line.text.size(), line.text.find_first_not_of('#')));
    while (line.text.ends_with('#'))
      line.text = trimmed_right(line.text.substr(0, line.text.size() - 1));
    return line;
  }
  if (const auto mark = list_mark(line.text); mark > 0) {
    line.is_item = true;
    drop_front(line, mark);
    if (line.text.size() > 3 && line.text[0] == '[' && line.text[2] == ']' && line.text[3] == ' ') {
      line.task = line.text[1];
      drop_front(line, 4);
    }
  }
  return line;
}

/// Whether the text may be a key: a few words that begin with a letter.
bool is_key(std::string_view text) {
  if (text.empty() || text.size() > kMaxKeyBytes) return false;
  if (!is_letter(decode_at(text, 0).value)) return false;
  if (text.find_first_of("[]()|`\".!?;,") != text.npos) return false;
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) < kMaxKeyWords;
}

class FieldFinder {
 public:
  FieldFinder(std::string_view bytes, const NoteText& note) : bytes_(bytes), note_(note) {}

  std::vector<FieldCandidate> run() {
    std::size_t at = note_.body_begin();
    while (at < bytes_.size() && found_.size() < kMaxValuesFound) {
      const auto stop = std::min(bytes_.size(), bytes_.find('\n', at));
      if (!is_code(at, stop)) take_line(field_line(bytes_, at, stop, note_));
      at = stop + 1;
    }
    std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.origin < b.origin;
    });
    return std::move(found_);
  }

 private:
  /// Lines of code are blanked in the prose.
  bool is_code(std::size_t begin, std::size_t end) const {
    const std::string_view prose = std::string_view(note_.prose()).substr(begin, end - begin);
    return !prose.empty() && prose.find_first_not_of(",\x1E") == prose.npos && bytes_[begin] != ',';
  }

  void add(std::string_view key, std::string_view text, FieldOrigin origin, int row = 0,
           int group = 0) {
    text = trimmed_right(text);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    auto normal = field_key(key);
    if (text.empty() || normal.empty()) return;
    const auto begin = static_cast<std::size_t>(text.data() - bytes_.data());
    found_.push_back(
        {std::move(normal), std::string(text), begin, begin + text.size(), origin, row, group});
  }

  void take_line(const FieldLine& line) {
    if (take_table(line)) return;
    header_.clear();
    if (line.text.empty()) {
      previous_ = {};
      return;
    }
    if (line.is_heading) {
      section_ = line.text;
      ++groups_;
      previous_ = {};
      return;
    }
    if (line.text.starts_with(": ") && !previous_.empty() && is_key(previous_)) {
      add(previous_, line.text.substr(2), FieldOrigin::Definition);
      return;
    }
    take_pairs(line);
    if (line.task != 0) take_task(line);
    if (line.is_item && !section_.empty())
      add(section_, line.text, FieldOrigin::Section, 0, groups_);
    if (!line.is_item && !line.text.starts_with('|')) {
      if (!previous_.empty()) section_ = {};  // the list of a heading stands right below it
      previous_ = line.text;
    }
  }

  /// `key:: value`, `[key:: value]`, `(key:: value)`, `**Key:** value`, `Key: value`.
  void take_pairs(const FieldLine& line) {
    const auto text = line.text;
    for (auto at = text.find("::"); at != text.npos; at = text.find("::", at + 2)) {
      const auto open = text.substr(0, at).find_last_of("[(");
      const char close = open == text.npos ? 0 : text[open] == '[' ? ']' : ')';
      const auto end = open == text.npos ? text.npos : text.find(close, at);
      if (open != text.npos && end != text.npos && is_key(text.substr(open + 1, at - open - 1))) {
        add(text.substr(open + 1, at - open - 1), text.substr(at + 2, end - at - 2),
            FieldOrigin::Inline);
      } else if (is_key(trim(text.substr(0, at)))) {
        add(text.substr(0, at), text.substr(at + 2), FieldOrigin::Inline);
        return;
      }
    }
    const auto colon = text.find(':');
    if (colon == text.npos || text.substr(colon).starts_with("::")) return;
    auto key = text.substr(0, colon), value = text.substr(colon + 1);
    const auto stars = std::min(key.size(), key.find_first_not_of("*_"));
    if (stars > 0 && stars <= 3) {
      const auto mark = key.substr(0, stars);
      key.remove_prefix(stars);
      if (value.starts_with(mark))
        value.remove_prefix(stars);  // **Key:** value
      else if (key.ends_with(mark))
        key.remove_suffix(stars);  // **Key**: value
      else
        return;
    }
    const bool is_apart = value.starts_with(' ') || value.starts_with('\t');
    if (is_apart && is_key(key)) add(key, value, FieldOrigin::Label);
  }

  /// `text`, `done` and `due` of a task, as one row.
  void take_task(const FieldLine& line) {
    const int row = ++rows_;
    auto text = line.text;
    const auto note_date = [&](std::string_view mark, std::string_view key) {
      const auto at = line.text.find(mark);
      if (at == line.text.npos) return;
      text = text.substr(0, std::min(text.size(), at));
      const auto rest = line.text.substr(at + mark.size());
      if (const auto date = find_date(rest.substr(0, std::min<std::size_t>(rest.size(), 40))))
        add(key, rest.substr(date->begin, date->end - date->begin), FieldOrigin::Task, row, 1);
    };
    for (const std::string_view mark : {"📅", "[due::", "(due::", "due::", "due:"})
      note_date(mark, "due");
    note_date("⏳", "scheduled");
    note_date("🛫", "start");
    note_date("✅", "completed");
    add("task", text, FieldOrigin::Task, row, 1);
    const auto mark = static_cast<std::size_t>(line.text.data() - bytes_.data());
    const auto bracket = bytes_.substr(0, mark).rfind('[');
    if (bracket != bytes_.npos) add("done", bytes_.substr(bracket, 3), FieldOrigin::Task, row, 1);
  }

  std::vector<std::string_view> cells_of(std::string_view text) const {
    std::vector<std::string_view> cells;
    if (text.starts_with('|')) text.remove_prefix(1);
    if (text.ends_with('|')) text.remove_suffix(1);
    for (;;) {
      auto bar = text.find('|');
      while (bar != text.npos && bar > 0 && text[bar - 1] == '\\') bar = text.find('|', bar + 1);
      cells.push_back(trim(text.substr(0, bar)));
      if (bar == text.npos) return cells;
      text.remove_prefix(bar + 1);
    }
  }

  /// A header, the line of dashes below it, then rows.
  bool take_table(const FieldLine& line) {
    if (line.text.find('|') == line.text.npos) {
      before_ = {};
      return false;
    }
    const bool is_ruler = line.text.find_first_not_of("|-: \t") == line.text.npos &&
                          line.text.find('-') != line.text.npos;
    if (is_ruler && !before_.empty()) {
      header_ = cells_of(before_);
      ++groups_;
      return true;
    }
    if (header_.empty()) {
      before_ = line.text;
      return false;
    }
    const auto cells = cells_of(line.text);
    const int row = ++rows_;
    for (std::size_t i = 0; i < std::min(cells.size(), header_.size()); ++i)
      add(header_[i], cells[i], FieldOrigin::Table, row, groups_);
    // A table of keys and values in two columns says the same as labels do.
    if (header_.size() == 2 && cells.size() == 2 && is_key(cells[0]))
      add(cells[0], cells[1], FieldOrigin::Label);
    return true;
  }

  const std::string_view bytes_;
  const NoteText& note_;
  std::vector<FieldCandidate> found_;
  std::vector<std::string_view> header_;  ///< of the table whose rows come; empty: none
  std::string_view before_;               ///< the line above, when it may be a table's header
  std::string_view previous_;             ///< the paragraph line above
  std::string_view section_;              ///< heading whose list may follow
  int rows_ = 0, groups_ = 1;
};

}  // namespace

std::string_view name(FieldOrigin origin) {
  switch (origin) {
    case FieldOrigin::Inline:
      return "inline field";
    case FieldOrigin::Label:
      return "label";
    case FieldOrigin::Table:
      return "table";
    case FieldOrigin::Definition:
      return "definition";
    case FieldOrigin::Section:
      return "list below a heading";
    case FieldOrigin::Task:
      return "task";
  }
  return "";
}

std::string field_key(std::string_view name) {
  std::string words;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_hump =
        i > 0 && name[i] >= 'A' && name[i] <= 'Z' && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if (is_hump) words += ' ';
    words += name[i] == '.' || name[i] == '*' ? ' ' : name[i];
  }
  return phrase_key(words);
}

std::vector<FieldCandidate> field_candidates(std::string_view bytes, const NoteText& note) {
  return FieldFinder(bytes, note).run();
}

}  // namespace indx
