// A run's state for monitoring systems.
//
// In:      Progress. Out: text in the OpenMetrics format, or in the older one of Prometheus, whose parsers differ in how
//          counters are declared.
// Units:   seconds, as both formats want it.
// Threads: pure functions.
// Source:  OpenMetrics 1.0.0; Prometheus' "Exposition formats", text format 0.0.4.
#pragma once

#include <string>

#include "load/worker.h"

namespace tlstrata::load {

enum class MetricsFormat : std::uint8_t { openmetrics, prometheus };

std::string metrics_text(const Progress& progress, const Plan& plan, MetricsFormat format);

}  // namespace tlstrata::load
