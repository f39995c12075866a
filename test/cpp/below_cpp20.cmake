# SOURCE, compiled by COMPILER as C++17, is refused by one error.
execute_process(COMMAND "${COMPILER}" -std=c++17 -fsyntax-only "-I${INCLUDE}" "${SOURCE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
set(expected "annudf.hpp needs C++20: -std=c++20, or target_compile_features(program PRIVATE cxx_std_20)")
string(FIND "${text}" "${expected}" at)
string(REGEX MATCHALL "error:" errors "${text}")
list(LENGTH errors count)
if(status EQUAL 0 OR at EQUAL -1 OR NOT count EQUAL 1)
  message(FATAL_ERROR "exit ${status}, ${count} errors: ${text}")
endif()
