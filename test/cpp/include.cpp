// The header alone, as below_cpp20.cmake compiles it.
#include "annudf/annudf.hpp"
