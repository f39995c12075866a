#include "annudf/cpp/trace.hpp"

// REFUSED: a floating-point number does not become an integer field of the accumulator by itself
std::string text() {
  return annudf::trace_metric(
      "m",
      annudf::hooks{.initial = 0, .update = [](auto x, auto y, auto acc) { return acc + x * y; }});
}
