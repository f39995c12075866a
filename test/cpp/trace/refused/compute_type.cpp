#include "annudf/cpp/trace.hpp"

// REFUSED: hooks see coordinates as float, double or std::int32_t
std::string text() {
  return annudf::trace_metric(
      "m", annudf::hooks{.compute = annudf::compute<unsigned>,
                         .initial = 0U,
                         .update = [](auto x, auto y, auto acc) { return acc + x * y; }});
}
