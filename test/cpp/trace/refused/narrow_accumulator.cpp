#include "annudf/cpp/trace.hpp"

// REFUSED: an accumulator, or a field of it, is a float, double, std::int32_t, std::uint32_t or
// std::int64_t
std::string text() {
  return annudf::trace_metric(
      "m", annudf::hooks{.compute = annudf::compute<int>,
                         .initial = std::int16_t(0),
                         .update = [](auto x, auto y, auto acc) { return acc + x * y; }});
}
