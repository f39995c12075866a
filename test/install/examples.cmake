# Builds the examples in C++ by CXX_COMPILER, a project of their own that compares what each prints, against what
# check.cmake installed.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

get_filename_component(name "${CXX_COMPILER}" NAME)
set(folder "${WORK}/examples-${name}")
run("${CMAKE_COMMAND}" -S "${EXAMPLES}" -B "${folder}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
  "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wshadow -Werror ${LINK_OPTIONS}")
run("${CMAKE_COMMAND}" --build "${folder}")
run("${CTEST}" --test-dir "${folder}" --output-on-failure)
file(GLOB examples "${EXAMPLES}/*.cpp")
list(LENGTH examples count)
if(NOT text MATCHES "100% tests passed, 0 tests failed out of ${count}\n")
  message(FATAL_ERROR "the examples, compiled by ${name}: ${text}")
endif()
