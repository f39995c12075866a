#include "annudf/cpp/trace.hpp"

// REFUSED: an unsigned number is its own absolute value
std::string text() {
  return annudf::trace_metric("m", annudf::hooks{.initial = 0U, .update = [](auto, auto, auto acc) {
                                                   return annudf::abs(acc);
                                                 }});
}
