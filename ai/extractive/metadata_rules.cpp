#include "ai/extractive/metadata_rules.hpp"

#include "ai/extractive/language.hpp"
#include "ai/extractive/tokens.hpp"
#include "ai/value_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr double kWritten = 0.95;   ///< the note has the field under this name
constexpr double kByRule = 0.8;     ///< a rule for this key
constexpr double kMentioned = 0.5;  ///< the text names it
constexpr std::size_t kMinLeadPoints = 20;
constexpr int kWordsPerMinute = 200;
constexpr std::size_t kMaxFound = 50;

bool is_any_of(const std::string& key, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

/// Without the marks of links and emphasis around the whole of it.
std::string_view bare(std::string_view text) {
  text = trim(text);
  for (const std::string_view mark : {"**", "__", "*", "_", "`", "\""})
    if (text.size() > 2 * mark.size() && text.starts_with(mark) && text.ends_with(mark))
      text = text.substr(mark.size(), text.size() - 2 * mark.size());
  if (text.size() > 4 && text.starts_with("[[") && text.ends_with("]]") &&
      text.find("]]") == text.size() - 2) {
    text = text.substr(2, text.size() - 4);
    if (const auto bar = text.find('|'); bar != text.npos) text = text.substr(bar + 1);
  }
  return text;
}

class MetadataRules {
 public:
  explicit MetadataRules(const MetadataTask& task)
      : task_(task), note_(task.bytes), candidates_(field_candidates(task.bytes, note_)) {}

  MetadataReply run() {
    MetadataReply reply;
    reply.source = "extractive";
    for (const auto& field : task_.fields) reply.values[field.key] = find(field);
    return reply;
  }

 private:
  FieldValue find(const MetadataField& field) const {
    const auto key = field_key(field.key);
    for (const auto rule : {&MetadataRules::from_properties, &MetadataRules::from_fields,
                            &MetadataRules::by_key, &MetadataRules::by_mention})
      if (auto value = (this->*rule)(field, key)) return std::move(*value);
    return {};
  }

  using Found = std::optional<FieldValue>;

  static FieldValue made(Json value, double confidence, std::string rule,
                         std::vector<Evidence> evidence) {
    return {std::move(value), confidence, "extractive: " + std::move(rule) + ".",
            std::move(evidence)};
  }

  Evidence title_evidence() const { return {task_.title, 0, "", 0, 0}; }

  /// A property of another spelling: `dueDate` for `due_date`. Its line in the block is the quote.
  Found from_properties(const MetadataField& field, const std::string& key) const {
    for (const auto& [name, value] : task_.properties.items()) {
      if (field_key(name) != key || value.is_null()) continue;
      std::string why;
      auto checked = checked_value(field, value, &why);
      if (!checked && value.is_string())
        checked = value_of_text(field, value.get<std::string>(), task_.day);
      if (!checked) continue;
      const auto at = task_.bytes.find("\n" + name);
      if (at == std::string::npos || at >= note_.body_begin()) continue;
      const auto end = std::min(task_.bytes.size(), task_.bytes.find('\n', at + 1));
      return made(std::move(*checked), kWritten, "property `" + name + "`",
                  {note_.evidence(at + 1, end)});
    }
    return std::nullopt;
  }

  Found from_fields(const MetadataField& field, const std::string& key) const {
    Json list = Json::array();
    std::vector<Evidence> evidence;
    std::string_view origin;
    for (const auto& candidate : candidates_) {
      const bool is_list = field.type == "list";
      const bool is_part = candidate.origin == FieldOrigin::Section ||
                           candidate.origin == FieldOrigin::Table ||
                           candidate.origin == FieldOrigin::Task;
      if (candidate.key != key || (is_part && !is_list)) continue;
      auto value = value_of_text(field, candidate.text, task_.day);
      if (!value) continue;
      if (!is_list)
        return made(std::move(*value), kWritten, std::string(name(candidate.origin)),
                    {note_.evidence(candidate.begin, candidate.end)});
      origin = name(candidate.origin);
      for (const auto& item : *value)
        if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
      if (evidence.size() < 3) evidence.push_back(note_.evidence(candidate.begin, candidate.end));
    }
    if (list.empty()) return std::nullopt;
    return made(std::move(list), kWritten, std::string(origin), std::move(evidence));
  }

  Found by_key(const MetadataField& field, const std::string& key) const {
    if (field.type == "string") return text_by_key(key);
    if (field.type == "number") return number_by_key(key);
    if (field.type == "list") return list_by_key(field, key);
    if (field.type == "date") return date_by_key(key);
    return std::nullopt;
  }

  Found text_by_key(const std::string& key) const {
    if (key == "title") return made(task_.title, kByRule, "title of the note", {title_evidence()});
    if (is_any_of(key, {"description", "summary", "abstract", "excerpt"}))
      if (auto lead = lead_sentence(note_)) {
        Json text = std::string(bare(lead->quote));
        return made(std::move(text), kByRule, "lead sentence", {std::move(*lead)});
      }
    if (is_any_of(key, {"language", "lang"}))
      if (auto code = language_of(prose()); !code.empty())
        if (auto lead = lead_sentence(note_))
          return made(std::move(code), kByRule, "commonest words", {std::move(*lead)});
    if (is_any_of(key, {"url", "link", "website", "source"}))
      return first_of(addresses("http"), "first address");
    if (is_any_of(key, {"email", "mail"})) return first_of(emails(), "first address");
    return std::nullopt;
  }

  /// Counts have no line that says them; the title stands for the note.
  Found number_by_key(const std::string& key) const {
    const auto count = [&](std::int64_t value, const char* rule) {
      return made(value, kByRule, rule, {title_evidence()});
    };
    if (is_any_of(key, {"word count", "word"})) return count(words(), "words counted");
    if (is_any_of(key, {"reading time", "reading minute"}))
      return count((words() + kWordsPerMinute - 1) / kWordsPerMinute, "200 words a minute");
    if (is_any_of(key, {"open task", "task open"})) return count(task_.open_tasks, "tasks counted");
    if (is_any_of(key, {"done task", "task done"})) return count(task_.done_tasks, "tasks counted");
    if (is_any_of(key, {"link count", "outgoing link"}))
      return count(static_cast<std::int64_t>(task_.links.size()), "links counted");
    return std::nullopt;
  }

  Found list_by_key(const MetadataField& field, const std::string& key) const {
    if (field.item_type != "string") return std::nullopt;
    if (is_any_of(key, {"link", "related", "outgoing link"}) && !task_.links.empty())
      return made(task_.links, kByRule, "links of the note", link_evidence());
    if (is_any_of(key, {"person", "people", "attendee", "participant"}))
      return all_of(mentions(), "names after `@`");
    if (is_any_of(key, {"url", "website"})) return all_of(addresses("http"), "addresses");
    if (is_any_of(key, {"email"})) return all_of(emails(), "addresses");
    return std::nullopt;
  }

  /// A date near a word of the key, else, for a key that is just `date`, the day of the note or the
  /// first date in it.
  Found date_by_key(const std::string& key) const {
    const auto words = split(key, ' ');
    std::size_t at = note_.body_begin();
    std::optional<Evidence> first;
    std::string first_date;
    while (at < task_.bytes.size()) {
      const auto stop = std::min(task_.bytes.size(), task_.bytes.find('\n', at));
      const auto line = std::string_view(task_.bytes).substr(at, stop - at);
      if (const auto date = find_date(line)) {
        const auto evidence = note_.evidence(at + date->begin, at + date->end);
        if (!first) first = evidence, first_date = date->date;
        const auto before = " " + phrase_key(line.substr(0, date->begin)) + " ";
        const bool is_named = std::any_of(words.begin(), words.end(), [&](const auto& word) {
          return word != "date" && word.size() > 2 && before.find(" " + word) != before.npos;
        });
        if (is_named) return made(date->date, kByRule, "date behind a word of the key", {evidence});
      }
      at = stop + 1;
    }
    if (!is_any_of(key, {"date", "day", "created", "date created"})) return std::nullopt;
    if (!task_.day.empty()) return made(task_.day, kByRule, "day of the note", {title_evidence()});
    if (first) return made(first_date, kMentioned, "first date", {*first});
    return std::nullopt;
  }

  /// An enumeration's value that stands in the text as words, when only one of them does.
  Found by_mention(const MetadataField& field, const std::string&) const {
    if (field.type != "enum") return std::nullopt;
    Found found;
    const auto tokens = tokenize(note_.prose());
    for (const auto& value : field.allowed) {
      const auto wanted =
          split(fold_case(replace_all(replace_all(value, "-", " "), "_", " ")), ' ');
      for (std::size_t i = 0; i + wanted.size() <= tokens.size(); ++i) {
        const bool fits = std::equal(
            wanted.begin(), wanted.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i),
            [](const auto& word, const Token& t) { return word == t.folded; });
        if (!fits) continue;
        if (found) return std::nullopt;
        found = made(value, kMentioned, "the text names it",
                     {note_.sentence_around(tokens[i].begin, tokens[i + wanted.size() - 1].end)});
        break;
      }
    }
    return found;
  }

  std::string_view prose() const {
    return std::string_view(note_.prose()).substr(note_.body_begin());
  }
  std::int64_t words() const { return static_cast<std::int64_t>(tokenize(note_.prose()).size()); }

  std::vector<Evidence> link_evidence() const {
    const auto at = task_.bytes.find("[[", note_.body_begin());
    const auto end = at == std::string::npos ? at : task_.bytes.find("]]", at);
    if (end == std::string::npos) return {title_evidence()};
    return {note_.evidence(at, end + 2)};
  }

  static Found first_of(std::vector<Evidence> found, const char* rule) {
    if (found.empty()) return std::nullopt;
    Json value = found[0].quote;
    return made(std::move(value), kByRule, rule, {std::move(found[0])});
  }
  static Found all_of(std::vector<Evidence> found, const char* rule) {
    if (found.empty()) return std::nullopt;
    Json list = Json::array();
    for (const auto& one : found) {
      Json item = one.quote.starts_with('@') ? one.quote.substr(1) : one.quote;
      if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
    }
    if (found.size() > 3) found.resize(3);
    return made(std::move(list), kByRule, rule, std::move(found));
  }

  std::vector<Evidence> addresses(std::string_view scheme) const {
    std::vector<Evidence> found;
    const std::string_view text = task_.bytes;
    for (auto at = text.find(scheme, note_.body_begin());
         at != text.npos && found.size() < kMaxFound; at = text.find(scheme, at + 1)) {
      const auto rest = text.substr(at);
      if (!rest.starts_with("http://") && !rest.starts_with("https://")) continue;
      auto end = std::min(text.size(), text.find_first_of(" \t\r\n<>)]\"`", at));
      while (end > at && std::string_view(".,;:!?").find(text[end - 1]) != std::string_view::npos)
        --end;
      found.push_back(note_.evidence(at, end));
    }
    return found;
  }

  std::vector<Evidence> emails() const {
    constexpr std::string_view kAllowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-";
    std::vector<Evidence> found;
    const std::string_view text = task_.bytes;
    for (auto at = text.find('@', note_.body_begin()); at != text.npos && found.size() < kMaxFound;
         at = text.find('@', at + 1)) {
      auto begin = at;
      while (begin > note_.body_begin() && kAllowed.find(text[begin - 1]) != kAllowed.npos) --begin;
      auto end = std::min(text.size(), text.find_first_not_of(kAllowed, at + 1));
      while (end > at && text[end - 1] == '.') --end;
      const auto domain = text.substr(at + 1, end - at - 1);
      if (begin == at || domain.find('.') == domain.npos) continue;
      found.push_back(note_.evidence(begin, end));
    }
    return found;
  }

  /// `@Ana`, in prose and not inside of an address.
  std::vector<Evidence> mentions() const {
    std::vector<Evidence> found;
    const std::string_view text = note_.prose();
    for (auto at = text.find('@', note_.body_begin()); at != text.npos && found.size() < kMaxFound;
         at = text.find('@', at + 1)) {
      if (at > 0 && std::string_view(" \t\n\x1E(").find(text[at - 1]) == std::string_view::npos)
        continue;
      auto end = at + 1;
      while (end < text.size()) {
        const auto point = decode_at(text, end);
        if (!is_letter(point.value) && !is_digit(point.value) && point.value != '_' &&
            point.value != '-')
          break;
        end += point.length;
      }
      if (end > at + 1) found.push_back(note_.evidence(at, end));
    }
    return found;
  }

  const MetadataTask& task_;
  const NoteText note_;
  const std::vector<FieldCandidate> candidates_;
};

}  // namespace

MetadataReply extractive_metadata(const MetadataTask& task) { return MetadataRules(task).run(); }

std::optional<Json> value_of_text(const MetadataField& field, std::string_view text,
                                  std::string_view day) {
  text = bare(text);
  Json raw;
  if (field.type == "number") {
    const auto number = number_of_text(text, true);
    if (!number) return std::nullopt;
    raw = *number;
  } else if (field.type == "boolean") {
    const auto value = boolean_of_text(text);
    if (!value) return std::nullopt;
    raw = *value;
  } else if (field.type == "enum") {
    const auto folded = fold_case(text);
    const auto it = std::find_if(field.allowed.begin(), field.allowed.end(),
                                 [&](const auto& one) { return fold_case(one) == folded; });
    if (it == field.allowed.end()) return std::nullopt;
    raw = *it;
  } else if (field.type == "list") {
    MetadataField item = field;
    item.type = field.item_type;
    item.min = item.max = std::nullopt;
    raw = Json::array();
    for (const auto& part : split(text, ',')) {
      if (trim(part).empty()) continue;
      const auto value = value_of_text(item, part, day);
      if (!value) return std::nullopt;
      raw.push_back(*value);
    }
  } else {
    raw = std::string(text);
  }
  std::string why;
  auto value = checked_value(field, raw, &why);
  if (!value && field.type == "date")
    if (const auto date = relative_date(text, day)) return Json(*date);
  return value;
}

std::optional<Evidence> lead_sentence(const NoteText& note) {
  return lead_sentence(note, note.body_begin(), note.prose().size());
}

std::optional<Evidence> lead_sentence(const NoteText& note, std::size_t at, std::size_t end) {
  const auto prose = std::string_view(note.prose()).substr(0, end);
  while (at < prose.size()) {
    auto stop = std::min(prose.size(), prose.find(kHardBreak, at));
    // Paragraphs end at blank lines too.
    if (const auto gap = prose.find("\n\n", at); gap < stop) stop = gap;
    const auto begin = prose.find_first_not_of(" \t\r\n,\x1E", at);
    if (begin < stop && !note.is_heading(begin)) {
      const auto sentence = note.sentence_around(begin, begin + decode_at(prose, begin).length);
      const bool is_list = std::string_view("-*+>|").find(prose[begin]) != std::string_view::npos;
      const bool is_label = sentence.quote.find("::") != std::string::npos;
      if (!is_list && !is_label && count_code_points(sentence.quote) >= kMinLeadPoints)
        return sentence;
    }
    at = stop + 1;
  }
  return std::nullopt;
}

}  // namespace indx
