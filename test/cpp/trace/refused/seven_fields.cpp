#include "annudf/cpp/trace.hpp"

// REFUSED: an accumulator has 1 to 6 fields
template <class T> struct Sums {
  T a, b, c, d, e, g, h;
};
std::string text() {
  return annudf::trace_metric("m",
                              annudf::hooks{.initial = Sums<float>{},
                                            .update = [](auto x, auto y, auto acc) { return acc; },
                                            .finalize = [](auto acc) { return acc.a; }});
}
