#include "annudf/cpp/trace.hpp"

// REFUSED: a metric is a function (x, y, acc, ctx) or (x, y, acc) with parameters of type auto
std::string text() {
  return annudf::trace_metric("m", [](auto x, auto y) { return x * y; });
}
