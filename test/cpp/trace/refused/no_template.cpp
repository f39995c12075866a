#include "annudf/cpp/trace.hpp"

// REFUSED: an accumulator of several fields is a class template over the types of its fields
struct Sums {
  float xy, xx;
};
std::string text() {
  return annudf::trace_metric("m",
                              annudf::hooks{.initial = Sums{},
                                            .update = [](auto x, auto y, auto acc) { return acc; },
                                            .finalize = [](auto acc) { return acc.xy; }});
}
