#include "annudf/cpp/trace.hpp"

// REFUSED: a linked function takes as many arguments as the type that it was given
std::string text(const annudf::linked<float(float, float)> &scaled) {
  return annudf::trace_metric("m", [&](auto x, auto, auto acc) { return acc + scaled(x); });
}
