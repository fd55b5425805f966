// An axis: figures to places, and the ticks that people can read.
//
// In:      a range of figures in one unit, places in picture units.
// Out:     linear ticks at 1, 2 or 5 times a power of ten; logarithmic ones at 1, 2 and 5 (only 1 over many decades).
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

namespace tlstrata::report {

class Axis {
 public:
  enum class Kind : unsigned char { linear, logarithmic };

  // low < high; low > 0 where logarithmic. `from` and `to` are where these lie.
  Axis(Kind kind, double low, double high, double from, double to);

  [[nodiscard]] double place(double figure) const;
  [[nodiscard]] bool contains(double figure) const { return figure >= low_ && figure <= high_; }
  // About as many as asked for.
  [[nodiscard]] std::vector<double> ticks(int about) const;
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }

 private:
  Kind kind_;
  double low_;
  double high_;
  double from_;
  double to_;
};

// "0", "0.5", "1,500": no more digits than the figure has.
std::string tick_label(double figure);

}  // namespace tlstrata::report
