#include "annudf/cpp/trace.hpp"

// REFUSED: a filter returns a bool: compare, and join by && and ||
std::string text() {
  return annudf::trace_filter("f", [](auto ctx) { return ctx.row % 2; });
}
