# LLVM and MLIR 22, as Debian packages them: the shared libMLIR and libLLVM, and tablegen rules.
# MLIR's version file accepts only its exact release, so the major is checked here.
find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "annudf needs LLVM/MLIR 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
find_program(ANNUDF_CLANG NAMES clang++-22 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)

# annudf_add_compiler_library(name SOURCES... [DEPENDS targets...] [LINK libs...]): LLVM's conventions, no exceptions, no RTTI.
function(annudf_add_compiler_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE -fno-rtti -fno-exceptions)
  target_compile_definitions(${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
  # The packaged LLVM is a release build, and pass statistics have another layout without
  # NDEBUG: a debug build that left it out would write beyond them.
  target_compile_definitions(${name} PUBLIC $<$<NOT:$<CONFIG:Release>>:NDEBUG>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
