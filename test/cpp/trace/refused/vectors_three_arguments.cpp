#include "annudf/cpp/trace.hpp"

// REFUSED: annudf::pairwise takes a function (a, b) or (a, b, ctx) with parameters of type auto
std::string text() {
  return annudf::trace_metric("m", annudf::pairwise{[](auto a) { return a[0]; }});
}
