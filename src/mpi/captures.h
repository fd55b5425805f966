// Which captures an analysis over ranks is of, in which order, and how large they are.
//
// In:        files, folders and a list, as they stand on the command line.
// Out:       paths: files in their order, a folder's captures in order of name (what is named like one: .pcap, .pcapng, .cap
//            anywhere in its name, so that packed and rotated ones are among them), then the list's.
// Units:     bytes; 0 where a file can't be looked at, which is found out when it is read.
// Ownership: values.
// Errors:    Complaint: a folder or list that can't be read, nothing in it, standard input, a result folder.
// Threads:   no state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/complaint.h"

namespace tlstrata::mpi {

// `list`: a file with one path a line; empty: none.
Checked<std::vector<std::string>> find_captures(const std::vector<std::string>& arguments, const std::string& list);

std::uint64_t size_of(const std::string& path);

}  // namespace tlstrata::mpi
