#pragma once
#include "base/text.hpp"

#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace indx::test {

/// Metrics read back from their text, or what is wrong with the text.
struct MetricsText {
  struct Sample {
    std::string name;
    std::map<std::string, std::string> labels;
    double value = 0;
  };
  std::map<std::string, std::string> types;  ///< by family
  std::vector<Sample> samples;
  std::string fault;

  /// The sum of the samples with this name whose labels include these; nullopt: there is none.
  std::optional<double> value(const std::string& name,
                              const std::map<std::string, std::string>& labels = {}) const {
    std::optional<double> sum;
    for (const auto& sample : samples) {
      bool fits = sample.name == name;
      for (const auto& [key, value] : labels)
        fits = fits && sample.labels.contains(key) && sample.labels.at(key) == value;
      if (fits) sum = sum.value_or(0) + sample.value;
    }
    return sum;
  }
};

inline bool is_metric_name(const std::string& text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:") == text.npos;
}

/// `{a="b",c="d"}` from `at` on, which moves behind it; false when it is none.
inline bool read_labels(const std::string& line, std::size_t& at,
                        std::map<std::string, std::string>& labels) {
  if (at >= line.size() || line[at] != '{') return true;
  ++at;
  while (at < line.size() && line[at] != '}') {
    const auto equals = line.find("=\"", at);
    if (equals == line.npos || !is_metric_name(line.substr(at, equals - at))) return false;
    std::string& value = labels[line.substr(at, equals - at)];
    if (!value.empty()) return false;  // twice
    at = equals + 2;
    while (at < line.size() && line[at] != '"') {
      const bool is_escape = line[at] == '\\';
      if (is_escape &&
          (at + 1 >= line.size() || std::string("\\\"n").find(line[at + 1]) == std::string::npos))
        return false;
      value += is_escape ? (line[at + 1] == 'n' ? '\n' : line[at + 1]) : line[at];
      at += is_escape ? 2 : 1;
    }
    if (at >= line.size()) return false;
    ++at;
    if (at < line.size() && line[at] == ',') ++at;
  }
  if (at >= line.size()) return false;
  ++at;
  return true;
}

/// Strict reading of format 0.0.4: each family announced once by HELP and TYPE before its samples,
/// which stand together; names and labels well formed; buckets that grow up to `+Inf`, the count.
inline MetricsText parse_metrics(const std::string& text) {
  MetricsText result;
  const auto fail = [&result](const std::string& what, const std::string& line) {
    if (result.fault.empty()) result.fault = cat(what, ": ", line);
  };
  if (!text.ends_with('\n')) fail("no end of line", "");
  std::string family, helped;
  std::set<std::string> seen;
  for (const auto& line : split(text, '\n')) {
    if (line.empty()) continue;
    if (line.starts_with("# HELP ")) {
      helped = line.substr(7, line.find(' ', 7) - 7);
      continue;
    }
    if (line.starts_with("# TYPE ")) {
      const auto words = split(line, ' ');
      if (words.size() != 4 || words[2] != helped) {
        fail("TYPE without its HELP", line);
        continue;
      }
      family = words[2];
      if (!result.types.emplace(family, words[3]).second) fail("family announced twice", line);
      if (words[3] != "counter" && words[3] != "gauge" && words[3] != "histogram")
        fail("unknown type", line);
      continue;
    }
    MetricsText::Sample sample;
    std::size_t at = line.find_first_of("{ ");
    if (at == line.npos) {
      fail("no value", line);
      continue;
    }
    sample.name = line.substr(0, at);
    const auto rest = sample.name.starts_with(family) ? sample.name.substr(family.size()) : "?";
    const bool is_histogram = result.types[family] == "histogram";
    const bool is_known =
        is_histogram ? rest == "_bucket" || rest == "_sum" || rest == "_count" : rest.empty();
    if (!is_metric_name(sample.name) || !is_known) fail("sample outside its family", line);
    if (!read_labels(line, at, sample.labels)) fail("bad labels", line);
    char* end = nullptr;
    const auto number = line.substr(std::min(at + 1, line.size()));
    sample.value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0') fail("bad number", line);
    if (!seen.insert(line.substr(0, at)).second) fail("sample given twice", line);
    result.samples.push_back(std::move(sample));
  }
  std::map<std::string, double> last_bucket;
  for (const auto& sample : result.samples) {
    if (!sample.name.ends_with("_bucket")) continue;
    auto others = sample.labels;
    const auto bound = others["le"];
    others.erase("le");
    std::string key = sample.name.substr(0, sample.name.size() - 7);
    const auto count = result.value(key + "_count", others);
    for (const auto& [name, value] : others) key += cat(",", name, "=", value);
    if (bound.empty() || sample.value < last_bucket[key]) fail("buckets do not grow", key);
    last_bucket[key] = sample.value;
    if (bound == "+Inf" && count != sample.value) fail("+Inf is not the count", key);
  }
  return result;
}

}  // namespace indx::test
