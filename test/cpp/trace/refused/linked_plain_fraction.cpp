#include "annudf/cpp/trace.hpp"

// REFUSED: a floating-point number does not become an integer argument of a linked function
float number(const annudf::linked<float(int)> &scaled) { return scaled(1.5F); }
