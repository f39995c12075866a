# LLVM and MLIR 22, as Debian packages them, and tablegen rules. Two targets stand for them: annudf_llvm (the JIT) and
# annudf_mlir (the compiler). They are the shared libLLVM and libMLIR, or with ANNUDF_STATIC_LLVM their archives.
option(ANNUDF_STATIC_LLVM "Link LLVM and MLIR statically, for a library that runs where no LLVM is installed" OFF)

# MLIR's version file accepts only its exact release, so the major is checked here.
find_package(MLIR QUIET CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "annudf needs LLVM/MLIR 22, and no MLIR was found (set MLIR_DIR for one in an unusual place). "
    "On Debian or Ubuntu: apt-get install clang-22 lld-22 llvm-22-dev libmlir-22-dev mlir-22-tools zlib1g-dev libzstd-dev, "
    "from https://apt.llvm.org; or run scripts/test, which installs what is missing")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "annudf needs LLVM/MLIR 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
find_program(ANNUDF_CLANG NAMES clang++-22 HINTS ${LLVM_TOOLS_BINARY_DIR})
if(NOT ANNUDF_CLANG)
  message(FATAL_ERROR "annudf compiles its CPU scan to bitcode with clang 22, and no clang++-22 was found: apt-get install clang-22")
endif()

add_library(annudf_llvm INTERFACE)
add_library(annudf_mlir INTERFACE)
if(ANNUDF_STATIC_LLVM)
  include(AnnudfStaticLLVM)
else()
  target_link_libraries(annudf_llvm INTERFACE LLVM)
  target_link_libraries(annudf_mlir INTERFACE MLIR LLVM)
endif()

# What each target that includes MLIR's headers has: their folders, LLVM's conventions, no exceptions, no RTTI.
function(annudf_compiler_options name)
  # Where MLIR's headers are, an installed annudf asks its user's MLIR (annudfConfig.cmake).
  target_include_directories(${name} SYSTEM PUBLIC "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>" "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>")
  # They compile sooner, and a metric does not compile later: most of that is LLVM's work.
  target_compile_options(${name} PRIVATE -fno-rtti -fno-exceptions $<$<CONFIG:Release>:-O1>)
  target_compile_definitions(${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
  # The packaged LLVM is a release build, and pass statistics have another layout without
  # NDEBUG: a debug build that left it out would write beyond them.
  target_compile_definitions(${name} PUBLIC $<$<NOT:$<CONFIG:Release>>:NDEBUG>)
endfunction()

# MLIR's headers are most of what a file of the compiler takes to compile.
set(ANNUDF_MLIR_HEADERS
  <algorithm> <map> <optional> <string> <vector>
  <llvm/ADT/DenseMap.h> <llvm/ADT/STLExtras.h> <llvm/ADT/StringExtras.h> <llvm/ADT/TypeSwitch.h> <llvm/Support/raw_ostream.h>
  <mlir/Conversion/LLVMCommon/Pattern.h> <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/ControlFlow/IR/ControlFlowOps.h>
  <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/LLVMIR/LLVMDialect.h> <mlir/Dialect/Math/IR/Math.h> <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/Dominance.h> <mlir/IR/IRMapping.h> <mlir/IR/Matchers.h> <mlir/IR/PatternMatch.h>
  <mlir/Pass/Pass.h>)
annudf_add_headers(annudf_mlir_headers OF ${LLVM_PACKAGE_VERSION} ${ANNUDF_MLIR_HEADERS})
if(TARGET annudf_mlir_headers)
  annudf_compiler_options(annudf_mlir_headers)
endif()

# annudf_add_compiler_library(name SOURCES... [DEPENDS targets...] [LINK libs...]): LLVM's conventions, no exceptions, no RTTI.
function(annudf_add_compiler_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  annudf_compiler_options(${name})
  target_compile_options(${name} PRIVATE ${ANNUDF_LIBRARY_OPTIONS})
  target_include_directories(${name} PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  annudf_use_headers(${name} annudf_mlir_headers)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} annudf_mlir)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
