#include "annudf/cpp/trace.hpp"

// REFUSED: this hook returns a number where the accumulator has fields
template <class T> struct Sums {
  T xy, xx;
};
std::string text() {
  return annudf::trace_metric(
      "m", annudf::hooks{.initial = Sums<float>{},
                         .update = [](auto x, auto y, auto acc) { return acc.xy + x * y; },
                         .finalize = [](auto acc) { return acc.xy; }});
}
