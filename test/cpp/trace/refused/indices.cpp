#include "annudf/cpp/trace.hpp"

// REFUSED: a capture takes one index an extent
std::string text() {
  return annudf::trace_metric(
      "m", [w = annudf::capture<float>("w", annudf::query, annudf::dim)](
               auto x, auto y, auto acc, auto ctx) { return acc + w(ctx.dim) * x * y; });
}
