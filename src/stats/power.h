// What a measurement would have seen: the least true difference that its like finds with a stated power.
//
// Why:     "No difference seen" says nothing unless it says how large a one would have been.
// How:     The test compares one figure a block of two cells by Welch's t (permutation.h deals t's null distribution from
//          the blocks themselves; with the blocks that are needed anyway it is Student's to within what the tests show).
//          A true difference of c standard errors is found with the power that the noncentral t gives. The standard error
//          is itself an estimate of few blocks: used as if it were known it promises too much on average, so c is
//          the one whose power, averaged over what the estimate may be, is as promised.
// In:      one figure a block of each cell. Units: those of the figures.
// Absence: std::nullopt with fewer than two blocks on either side, or where nothing varies.
// Threads: pure functions.
// Source:  Welch 1947; Cohen 1988 (power); O'Hagan, Stevens and Campbell 2005 (assurance: power averaged over what is not
//          known).
#pragma once

#include <optional>
#include <span>

namespace tlstrata::stats {

struct StandardError {
  double value = 0;
  double degrees_of_freedom = 1;  // Welch and Satterthwaite's
};
// Of the difference of the two means of block figures.
std::optional<StandardError> standard_error(std::span<const double> sample, std::span<const double> base);

// The chance that a two-sided t test at level alpha finds a true difference of `errors` standard errors, in the right
// direction.
double power_of_t(double errors, double degrees_of_freedom, double alpha);

// The difference in true standard errors that is found with this power.
double detectable_errors(double degrees_of_freedom, double alpha, double power);
// The same in estimated ones.
double detectable_estimated_errors(double degrees_of_freedom, double alpha, double power);

}  // namespace tlstrata::stats
