#include "annudf/cpp/trace.hpp"

// REFUSED: switch cannot choose by a value of a metric's function
std::string text() {
  return annudf::trace_metric("m", annudf::hooks{.compute = annudf::compute<int>,
                                                 .initial = 0,
                                                 .update = [](auto x, auto y, auto acc) {
                                                   switch (x) {
                                                   case 1:
                                                     return acc;
                                                   }
                                                   return acc + y;
                                                 }});
}
