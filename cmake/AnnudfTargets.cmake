set(precompiled OFF)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT ANNUDF_COVERAGE)
  set(precompiled ON)
endif()
option(ANNUDF_PRECOMPILED_HEADERS "Read the headers of MLIR and others once a build (clang)" ${precompiled})
if(ANNUDF_PRECOMPILED_HEADERS)
  # CMake's own has the header once more, in the build's folder, by which no other build would be served.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
  # The compiler and its standard library.
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" --version OUTPUT_VARIABLE ANNUDF_COMPILED_BY)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/headers/version.cpp" CONTENT "#include <version>\n__GLIBCXX__ _LIBCPP_VERSION")
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -E -P "${PROJECT_BINARY_DIR}/headers/version.cpp" OUTPUT_VARIABLE library)
  string(APPEND ANNUDF_COMPILED_BY "${library}")
endif()
# annudf_add_headers(name [EXECUTABLES] OF versions HEADERS...): headers of those versions that are read once, into a precompiled header for all targets of
# annudf_use_headers(target name): libraries, or executables, compiled with the same options. A file includes what it uses all the same:
# g++ and the preset coverage build without.
function(annudf_add_headers name)
  cmake_parse_arguments(ARG "EXECUTABLES" "OF" "" ${ARGN})
  if(ANNUDF_PRECOMPILED_HEADERS)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/headers/${name}.cpp" CONTENT "")
    add_library(${name} OBJECT "${PROJECT_BINARY_DIR}/headers/${name}.cpp")
    target_precompile_headers(${name} PRIVATE ${ARG_UNPARSED_ARGUMENTS})
    # As paths of the build are in it, one that another folder made would not do; to ccache it is what it was made of.
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
    string(SHA256 sum "${ARG_UNPARSED_ARGUMENTS} ${ARG_OF} ${ANNUDF_COMPILED_BY}")
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum" CONTENT "${sum}")
    if(ARG_EXECUTABLES)
      set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${name} PRIVATE -fPIE)
    endif()
  endif()
endfunction()
function(annudf_use_headers target name)
  if(ANNUDF_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()
annudf_add_headers(annudf_std_headers OF C++20
  <algorithm> <atomic> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map> <memory> <mutex> <optional> <span>
  <stdexcept> <string> <string_view> <thread> <utility> <vector>)

# What a program does not reach is left out of it, and what libannudf does not name stays its own. The same with and without
# ANNUDF_STATIC_LLVM, so that ccache serves the wheel what a build has compiled.
set(ANNUDF_LIBRARY_OPTIONS -ffunction-sections -fdata-sections -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)

# annudf_add_library(name SOURCES... [LINK libs...]): a static library of the artifact or runtime layers.
function(annudf_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  target_compile_options(${name} PRIVATE ${ANNUDF_LIBRARY_OPTIONS})
  annudf_use_headers(${name} annudf_std_headers)
endfunction()

# annudf_add_unittest(name SOURCES... [MLIR sources...] [OPTIMISED sources...] [LINK libs...] [LABELS labels...] [SHORT regex]): a GoogleTest
# binary, each test a ctest test.
#   MLIR       include MLIR's headers, and so follow its flags; the others may catch annudf::Error
#   OPTIMISED  compute for longer than it takes to optimise them
#   SHORT      tests of which there is a long form, for the label short
include(GoogleTest)
function(annudf_add_unittest name)
  cmake_parse_arguments(ARG "ALONE" "SHORT" "MLIR;OPTIMISED;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS} ${ARG_OPTIMISED} ${ARG_MLIR})
  if(ARG_MLIR)
    set_source_files_properties(${ARG_MLIR} PROPERTIES COMPILE_OPTIONS -fno-rtti)
    set_source_files_properties(${ARG_UNPARSED_ARGUMENTS} PROPERTIES SKIP_PRECOMPILE_HEADERS ON) # Other flags.
    annudf_use_headers(${name} annudf_mlir_test_headers)
  else()
    annudf_use_headers(${name} annudf_test_headers)
  endif()
  target_compile_options(${name} PRIVATE ${ANNUDF_TEST_OPTIONS})
  set_source_files_properties(${ARG_OPTIMISED} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main nlohmann_json::nlohmann_json)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/test")
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  gtest_discover_tests(${name} PROPERTIES TIMEOUT 300 DISCOVERY_TIMEOUT 60)
  set(alone FALSE)
  if(ARG_ALONE) # It measures what other tests would change.
    set(alone TRUE)
  endif()
  # Not through PROPERTIES, which would take the second of several labels for the name of another property.
  set(labels "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
  file(WRITE "${labels}" "if(${name}_TESTS)\n  set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${ARG_LABELS}\" RUN_SERIAL ${alone})\nendif()\n")
  if(ARG_SHORT)
    file(APPEND "${labels}" "foreach(test IN LISTS ${name}_TESTS)\n  if(test MATCHES \"${ARG_SHORT}\")\n"
      "    set_tests_properties(\"\${test}\" PROPERTIES LABELS \"${ARG_LABELS};short\")\n  endif()\nendforeach()\n")
  endif()
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels}")
endfunction()
