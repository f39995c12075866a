#include "annudf/cpp/trace.hpp"

// REFUSED: no field of an accumulator of several is the distance; give the metric finalize(acc)
template <class T> struct Sums {
  T xy, xx;
};
std::string text() {
  return annudf::trace_metric(
      "m", annudf::hooks{.initial = Sums<float>{}, .update = [](auto x, auto y, auto acc) {
                           return Sums{acc.xy + x * y, acc.xx + x * x};
                         }});
}
