#include "base/metrics.hpp"

#include "base/version.hpp"

#include <algorithm>
#include <chrono>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace indx {
namespace {

using LabelNames = std::vector<std::string>;
using Buckets = prometheus::Histogram::BucketBoundaries;

/// `count` bounds, each `factor` times the one before. Powers of two are printed in few digits.
Buckets bounds(double first, double factor, int count) {
  Buckets all;
  for (double bound = first; count > 0; --count, bound *= factor) all.push_back(bound);
  return all;
}

Buckets request_bounds() { return bounds(1.0 / 1024, 2, 16); }  // 1 ms to 32 s
Buckets commit_bounds() { return bounds(1.0 / 8192, 2, 16); }   // 0.1 ms to 4 s
Buckets job_bounds() { return bounds(1.0 / 256, 4, 12); }       // 4 ms to 4.5 h
Buckets change_bounds() { return bounds(1, 2, 12); }            // 1 to 2,048

prometheus::Labels labels_of(const LabelNames& names, const std::vector<std::string>& values) {
  prometheus::Labels labels;
  for (std::size_t i = 0; i < names.size(); ++i)
    labels.emplace(names[i], i < values.size() ? values[i] : "");
  return labels;
}

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  std::vector<MetricInfo> known;

  template <typename T>
  prometheus::Family<T>& family(prometheus::detail::Builder<T> builder, const char* type,
                                const std::string& name, const std::string& help,
                                const LabelNames& labels = {}) {
    known.push_back({name, type, help, labels});
    return builder.Name(name).Help(help).Register(registry);
  }

  CounterMetric counter(const std::string& name, const std::string& help) {
    return CounterMetric(
        family(prometheus::BuildCounter(), "counter", name, help).Add(prometheus::Labels{}));
  }
  GaugeMetric gauge(const std::string& name, const std::string& help) {
    return GaugeMetric(
        family(prometheus::BuildGauge(), "gauge", name, help).Add(prometheus::Labels{}));
  }
  HistogramMetric histogram(const std::string& name, const std::string& help,
                            const Buckets& buckets) {
    return HistogramMetric(family(prometheus::BuildHistogram(), "histogram", name, help)
                               .Add(prometheus::Labels{}, buckets));
  }
  LabelledMetric<CounterMetric> counters(const std::string& name, const LabelNames& labels,
                                         const std::string& help) {
    auto& all = family(prometheus::BuildCounter(), "counter", name, help, labels);
    return LabelledMetric<CounterMetric>([&all, labels](const std::vector<std::string>& values) {
      return CounterMetric(all.Add(labels_of(labels, values)));
    });
  }
  LabelledMetric<GaugeMetric> gauges(const std::string& name, const LabelNames& labels,
                                     const std::string& help) {
    auto& all = family(prometheus::BuildGauge(), "gauge", name, help, labels);
    return LabelledMetric<GaugeMetric>([&all, labels](const std::vector<std::string>& values) {
      return GaugeMetric(all.Add(labels_of(labels, values)));
    });
  }
  LabelledMetric<HistogramMetric> histograms(const std::string& name, const LabelNames& labels,
                                             const std::string& help, const Buckets& buckets) {
    auto& all = family(prometheus::BuildHistogram(), "histogram", name, help, labels);
    return LabelledMetric<HistogramMetric>(
        [&all, labels, buckets](const std::vector<std::string>& values) {
          return HistogramMetric(all.Add(labels_of(labels, values), buckets));
        });
  }
};

void CounterMetric::add(double by) const { counter_->Increment(by); }
void GaugeMetric::set(double value) const { gauge_->Set(value); }
void GaugeMetric::add(double by) const { gauge_->Increment(by); }
void HistogramMetric::observe(double value) const { histogram_->Observe(value); }

Metrics::Metrics()
    : impl_(std::make_unique<Impl>()),
      jobs(impl_->gauges("indx_jobs", {"kind", "state"}, "Jobs by kind and state.")),
      job_wait_seconds(impl_->histograms("indx_job_wait_seconds", {"kind"},
                                         "From the time a job was due to its start, each try.",
                                         job_bounds())),
      job_run_seconds(impl_->histograms("indx_job_run_seconds", {"kind"},
                                        "How long a try of a job ran.", job_bounds())),
      jobs_finished(impl_->counters("indx_jobs_finished_total", {"kind", "state"},
                                    "Jobs that reached a final state.")),
      job_retries(impl_->counters("indx_job_retries_total", {"kind"},
                                  "Tries that ended and will be made again.")),
      job_snoozes(impl_->counters("indx_job_snoozes_total", {"kind"},
                                  "Tries that ended because a provider asked to be left alone.")),
      job_steps(impl_->counter("indx_job_steps_total", "Results of steps that jobs committed.")),
      job_leases_lost(impl_->counter("indx_job_leases_lost_total",
                                     "Changes refused because their job had another owner.")),
      state_queue_depth(impl_->gauge("indx_state_queue_depth",
                                     "Changes of state.db that wait for their commit.")),
      commit_changes(impl_->histogram("indx_commit_changes", "Changes in one commit of state.db.",
                                      change_bounds())),
      commit_seconds(impl_->histogram("indx_commit_seconds", "How long a commit of state.db took.",
                                      commit_bounds())),
      wal_bytes(impl_->gauges("indx_wal_bytes", {"database"},
                              "Size of the write-ahead log of a database.")),
      event_streams(impl_->gauge("indx_event_streams", "Event streams that are open.")),
      event_lag(impl_->gauge("indx_event_lag",
                             "Newest event's id less that of the last one given to all streams.")),
      event_streams_dropped(impl_->counter("indx_event_streams_dropped_total",
                                           "Streams ended because they were read too slowly.")),
      http_requests(impl_->counters("indx_http_requests_total", {"method", "route", "status"},
                                    "Requests answered, by family of the status.")),
      http_request_seconds(impl_->histograms(
          "indx_http_request_seconds", {"method", "route"},
          "From a request, whole, to its answer or the head of a stream.", request_bounds())),
      http_rate_limited(
          impl_->counter("indx_http_rate_limited_total", "Requests refused with 429.")),
      model_calls(impl_->counters("indx_model_calls_total", {"provider", "outcome"},
                                  "Calls of a model: ok, or the reason of the failure.")),
      model_wait_seconds(impl_->histograms("indx_model_wait_seconds", {"limit"},
                                           "How long calls of a model waited for their turn.",
                                           job_bounds())),
      model_calls_put_off(impl_->counters("indx_model_calls_put_off_total", {"limit"},
                                          "Calls of a model whose turn was too far to wait for.")),
      model_calls_waiting(impl_->gauge("indx_model_calls_waiting",
                                       "Calls of a model that wait for their turn now.")),
      ai_cache_lookups(impl_->counters("indx_ai_cache_lookups_total", {"outcome"},
                                       "Questions to a model that were looked for among the kept "
                                       "answers: hit or miss.")),
      ai_cache_bytes(impl_->gauge("indx_ai_cache_bytes", "Size of ai-cache.db with its log.")),
      ai_spend_today(
          impl_->gauge("indx_ai_spend_today_usd", "Known cost of model calls since midnight UTC.")),
      ai_tokens(impl_->counters("indx_ai_tokens_total", {"provider", "direction"},
                                "Tokens of model calls, reported or estimated.")),
      ai_cost_usd(impl_->counters("indx_ai_cost_usd_total", {"provider"},
                                  "Known cost of model calls, in US dollars.")),
      ai_calls_refused(impl_->counter("indx_ai_calls_refused_total",
                                      "Model calls not made because of ai.daily_cost_usd.")),
      resident_bytes(
          impl_->gauge("process_resident_memory_bytes", "Resident memory of the process.")),
      start_seconds(impl_->gauge("process_start_time_seconds",
                                 "When the engine started, in seconds since 1970.")) {
  impl_->gauges("indx_build_info", {"version"}, "Always 1; the label says which program this is.")
      .of({kVersion})
      .set(1);
  start_seconds.set(
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

Metrics::~Metrics() = default;

std::string Metrics::text() const {
  // By name, so that two readings can be compared.
  auto families = impl_->registry.Collect();
  std::sort(families.begin(), families.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
  return static_cast<const prometheus::Serializer&>(prometheus::TextSerializer())
      .Serialize(families);
}

std::vector<MetricInfo> Metrics::list() const {
  auto all = impl_->known;
  std::sort(all.begin(), all.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
  return all;
}

}  // namespace indx
