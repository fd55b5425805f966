// `load --predict`: what DNS says of the server's groups decides which key share each offer is sent with.
//
// In:      the options of a load. Out: its key shares, set where there is a prediction; else they stay the first group's.
// Errors:  usage, for what load would refuse too. A record that is wrong is no error.
// Threads: blocks for the resolver's time-out at most.
#pragma once

#include <string>
#include <vector>

#include "base/complaint.h"
#include "load/load.h"
#include "probe/predict.h"
#include "report/json.h"

namespace tlstrata::cli {

struct LoadPrediction {
  std::string name;                            // that was asked for; empty: the server is an address, nothing was
  std::vector<probe::Prediction> predictions;  // one for each configuration, from one answer
};

Checked<LoadPrediction> predict_key_shares(load::Options& options, const std::string& resolver);

std::string prediction_line(const LoadPrediction& prediction);
report::Json prediction_json(const LoadPrediction& prediction);

}  // namespace tlstrata::cli
