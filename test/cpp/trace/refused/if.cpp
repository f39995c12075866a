#include "annudf/cpp/trace.hpp"

// REFUSED: if, while, for, ?:, switch and std::min cannot choose by a value of a metric's function
// annudf::select(condition, a, b)
std::string text() {
  return annudf::trace_metric("m", [](auto x, auto y, auto acc) {
    if (x < y)
      return acc;
    return acc + x;
  });
}
