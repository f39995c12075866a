#include "annudf/cpp/trace.hpp"

// REFUSED: a linked function takes and returns float, double, std::int32_t, std::uint32_t,
const annudf::linked<float(float, short)> scaled("scaled", {annudf::cuda_source("")});
