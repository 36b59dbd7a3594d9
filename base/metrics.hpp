#pragma once
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace indx {

/// A number that only grows. Copies are the same counter; so for the two below.
class CounterMetric {
 public:
  explicit CounterMetric(prometheus::Counter& counter) : counter_(&counter) {}
  void add(double by = 1) const;

 private:
  prometheus::Counter* counter_;
};

/// A number that goes up and down.
class GaugeMetric {
 public:
  explicit GaugeMetric(prometheus::Gauge& gauge) : gauge_(&gauge) {}
  void set(double value) const;
  void add(double by) const;

 private:
  prometheus::Gauge* gauge_;
};

/// How often a number fell into which range.
class HistogramMetric {
 public:
  explicit HistogramMetric(prometheus::Histogram& histogram) : histogram_(&histogram) {}
  void observe(double value) const;

 private:
  prometheus::Histogram* histogram_;
};

/// Metrics of one name that differ in their labels. Label values come from short lists that the
/// program knows (kinds, route patterns), never from what users write; past `kMostLabelled`
/// combinations they are all `other`. A known combination costs a shared lock and a look-up.
template <typename Metric>
class LabelledMetric {
 public:
  static constexpr std::size_t kMostLabelled = 2000;
  using Values = std::vector<std::string>;
  explicit LabelledMetric(std::function<Metric(const Values&)> make) : make_(std::move(make)) {}

  /// Values in the order in which the labels are declared.
  Metric of(std::initializer_list<std::string_view> values) {
    std::string key;
    for (const auto value : values) key.append(value).push_back('\0');
    {
      const std::shared_lock lock(mutex_);
      if (const auto known = made_.find(key); known != made_.end()) return known->second;
    }
    const std::unique_lock lock(mutex_);
    Values all(values.begin(), values.end());
    if (made_.size() >= kMostLabelled && !made_.contains(key)) {
      all.assign(values.size(), "other");
      key.clear();  // no combination of values has this key
    }
    const auto known = made_.find(key);
    return known != made_.end() ? known->second : made_.emplace(key, make_(all)).first->second;
  }

 private:
  const std::function<Metric(const Values&)> make_;
  std::shared_mutex mutex_;
  std::unordered_map<std::string, Metric> made_;
};

struct MetricInfo {
  std::string name, type, help;
  std::vector<std::string> labels;
};

/// The numbers of one running engine, for Prometheus; docs/metrics.md explains each. Thread-safe;
/// counting takes atomic additions.
class Metrics {
  struct Impl;
  std::unique_ptr<Impl> impl_;  // first: the metrics belong to it

 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  LabelledMetric<GaugeMetric> jobs;                  ///< kind, state
  LabelledMetric<HistogramMetric> job_wait_seconds;  ///< kind
  LabelledMetric<HistogramMetric> job_run_seconds;   ///< kind
  LabelledMetric<CounterMetric> jobs_finished;       ///< kind, state
  LabelledMetric<CounterMetric> job_retries;         ///< kind
  LabelledMetric<CounterMetric> job_snoozes;         ///< kind
  CounterMetric job_steps, job_leases_lost;
  GaugeMetric state_queue_depth;
  HistogramMetric commit_changes, commit_seconds;
  LabelledMetric<GaugeMetric> wal_bytes;  ///< database
  GaugeMetric event_streams, event_lag;
  CounterMetric event_streams_dropped;
  LabelledMetric<CounterMetric> http_requests;           ///< method, route, status family
  LabelledMetric<HistogramMetric> http_request_seconds;  ///< method, route
  CounterMetric http_rate_limited;
  LabelledMetric<CounterMetric> model_calls;           ///< provider, outcome
  LabelledMetric<HistogramMetric> model_wait_seconds;  ///< limit
  LabelledMetric<CounterMetric> model_calls_put_off;   ///< limit
  GaugeMetric model_calls_waiting;
  LabelledMetric<CounterMetric> ai_cache_lookups;  ///< outcome
  GaugeMetric ai_cache_bytes, ai_spend_today;
  LabelledMetric<CounterMetric> ai_tokens;    ///< provider, direction
  LabelledMetric<CounterMetric> ai_cost_usd;  ///< provider
  CounterMetric ai_calls_refused;
  GaugeMetric resident_bytes, start_seconds;

  /// Everything as text, format 0.0.4. What has no value yet is left out.
  std::string text() const;
  /// Everything that there can be, by name.
  std::vector<MetricInfo> list() const;
};

/// The media type of `text()`.
inline constexpr std::string_view kMetricsMediaType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace indx
