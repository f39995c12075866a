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
