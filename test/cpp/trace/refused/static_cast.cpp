#include "annudf/cpp/trace.hpp"

// REFUSED: a recorded value is no plain number; write annudf::cast<T>(value)
std::string text() {
  return annudf::trace_metric(
      "m", [](auto x, auto y, auto acc) { return acc + static_cast<int>(x * y); });
}
