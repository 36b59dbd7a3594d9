#pragma once
#include "bench/quality/packs.hpp"
#include "bench/quality/report.hpp"

namespace indx::quality {

/// What docs/quality.md describes, each with its bars.
void measure_retrieval(Packs& packs, Report& report);
void measure_ask(Packs& packs, Report& report);
void measure_tag(Packs& packs, Report& report);
void measure_relate(Packs& packs, Report& report);
void measure_summarize(Packs& packs, Report& report);

}  // namespace indx::quality
