// What the messages of a load are about. Each tag goes one way only.
#pragma once

namespace tlstrata::mpi {

inline constexpr int tag_hello = 1;     // to rank 0: who I am
inline constexpr int tag_folder = 2;    // from rank 0: where results go, or why there are none
inline constexpr int tag_ready = 3;     // to rank 0: warm, or why not
inline constexpr int tag_verdict = 4;   // from rank 0: all are ready, or why not
inline constexpr int tag_ping = 5;      // from rank 0
inline constexpr int tag_pong = 6;      // to rank 0: what my clock says
inline constexpr int tag_go = 7;        // from rank 0: when the schedule begins
inline constexpr int tag_progress = 8;  // to rank 0: totals so far
inline constexpr int tag_ended = 9;     // to rank 0: my files are whole
inline constexpr int tag_stop = 10;     // from rank 0: end now
inline constexpr int tag_bye = 11;      // from rank 0: nothing more will come
inline constexpr int tag_alive = 12;    // from rank 0: so it is

}  // namespace tlstrata::mpi
