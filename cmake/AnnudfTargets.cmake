# annudf_add_library(name SOURCES... [LINK libs...]): a static library of the artifact or runtime layers.
function(annudf_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# annudf_add_unittest(name SOURCES... [LINK libs...] [LABELS labels...]): a GoogleTest binary, each test a ctest test.
include(GoogleTest)
function(annudf_add_unittest name)
  cmake_parse_arguments(ARG "ALONE" "" "LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
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
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels}")
endfunction()

# annudf_add_headers(name [EXECUTABLES] HEADERS...): headers that are read once, into a precompiled header for all targets of
# annudf_use_headers(target name): libraries, or executables, compiled with the same options. A file includes what it uses all the same:
# the sanitizers' presets and g++ build without.
set(precompiled OFF)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT ANNUDF_SANITIZE AND NOT ANNUDF_COVERAGE)
  set(precompiled ON)
endif()
option(ANNUDF_PRECOMPILED_HEADERS "Read the headers of MLIR and others once a build (clang)" ${precompiled})
function(annudf_add_headers name)
  cmake_parse_arguments(ARG "EXECUTABLES" "" "" ${ARGN})
  if(ANNUDF_PRECOMPILED_HEADERS)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/headers/${name}.cpp" CONTENT "")
    add_library(${name} OBJECT "${PROJECT_BINARY_DIR}/headers/${name}.cpp")
    target_precompile_headers(${name} PRIVATE ${ARG_UNPARSED_ARGUMENTS})
    # Its bits are a part of what ccache knows its users' objects by, so they are the same each time; and as paths are in
    # them, one that another folder made would not do.
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
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
