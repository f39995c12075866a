# The libraries that annudf takes from the system, as Debian 12 packages them; scripts/gpu artifacts packs them for a machine that
# has none (CMAKE_PREFIX_PATH). What is missing is named with its package.
function(annudf_require package version debian use)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "annudf needs ${package} ${version} or newer (${use}), and none was found (set ${package}_DIR or CMAKE_PREFIX_PATH for "
      "one in an unusual place). On Debian or Ubuntu: apt-get install ${debian}; or run scripts/test, which installs what is missing")
  endif()
endfunction()

find_package(Threads REQUIRED)
if(ANNUDF_BUILD_TOOLS)
  find_package(CLI11 2.1 CONFIG QUIET)
  annudf_require(CLI11 2.1 libcli11-dev "arguments of the commands")
endif()
if(ANNUDF_BUILD_TESTS)
  find_package(GTest 1.12 CONFIG QUIET)
  annudf_require(GTest 1.12 libgtest-dev "unit tests")
  find_package(nlohmann_json 3.11 CONFIG QUIET)
  annudf_require(nlohmann_json 3.11 nlohmann-json3-dev "CBOR and JSON of the tests")
endif()
