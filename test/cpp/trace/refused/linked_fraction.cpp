#include "annudf/cpp/trace.hpp"

// REFUSED: a floating-point number does not become an integer argument of a linked function
std::string text(const annudf::linked<float(int)> &scaled) {
  return annudf::trace_metric("m", [&](auto x, auto, auto acc) { return acc + scaled(x); });
}
