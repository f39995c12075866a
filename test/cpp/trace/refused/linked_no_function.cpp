#include "annudf/cpp/trace.hpp"

// REFUSED: annudf::linked takes the type of a function: annudf::linked<float(float, float)>
const annudf::linked<float> scaled("scaled", {annudf::cuda_source("")});
