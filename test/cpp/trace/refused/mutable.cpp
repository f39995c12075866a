#include "annudf/cpp/trace.hpp"

// REFUSED: a metric is a function (x, y, acc, ctx) or (x, y, acc) with parameters of type auto, not
// mutable
std::string text() {
  return annudf::trace_metric(
      "m", [n = 0](auto x, auto y, auto acc) mutable { return acc + x * y + n++; });
}
