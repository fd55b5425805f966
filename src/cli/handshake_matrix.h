// `tlstrata handshake --matrix`: offers against servers' lists, as a table and as JSON.
//
// In:      a plan whose configurations are the cells, offer by offer. Out: what is printed and written.
// Errors:  the library's Complaint.
#pragma once

#include "base/complaint.h"
#include "cli/handshake_options.h"

namespace tlstrata::cli {

// What is crossed where the command line names no lists: six offers, six lists.
inline constexpr const char* matrix_offers =
    "X25519,X25519MLKEM768:X25519,X25519MLKEM768:X25519,X25519:X25519MLKEM768,MLKEM1024:X25519MLKEM768:X25519,"
    "secp256r1";
inline constexpr const char* matrix_shares = "X25519,X25519MLKEM768,X25519MLKEM768:X25519,X25519,MLKEM1024,secp256r1";
inline constexpr const char* matrix_servers =
    "X25519MLKEM768:X25519,X25519:X25519MLKEM768,X25519,MLKEM1024,X25519MLKEM768,secp256r1:X25519";

Checked<ExitCode> run_handshake_matrix(const HandshakeArguments& arguments);

}  // namespace tlstrata::cli
