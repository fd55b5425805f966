// The key logs and embedded secrets of an input, read ahead of its packets where that can be done.
//
// In:        paths of captures and key logs.
// Out:       the keys, the embedded ones too where the captures open twice (else they come while the packets do); warnings of
//            key logs without a secret.
// Ownership: owns the keys.
// Errors:    a Complaint where a key log can't be read, a capture can't be opened or is none.
#pragma once

#include <string>
#include <vector>

#include "analyze/input.h"
#include "analyze/key_log_file.h"
#include "base/complaint.h"
#include "tls/key_log.h"

namespace tlstrata::analyze {

struct Inputs {
  tls::KeyLog keys;
  std::vector<KeyLogFile> followed_key_logs;  // not read yet: they grow
  std::vector<std::string> warnings;          // file names in them are hostile
  bool has_secrets = false;                   // the embedded ones are among the keys, so that workers can share them
};

Checked<Inputs> open_inputs(const Input& input);

}  // namespace tlstrata::analyze
