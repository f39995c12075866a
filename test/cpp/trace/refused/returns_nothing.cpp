#include "annudf/cpp/trace.hpp"

// REFUSED: this hook returns nothing; return the accumulator, in finalize the distance
std::string text() {
  return annudf::trace_metric("m", [](auto x, auto y, auto acc) { acc += x * y; });
}
