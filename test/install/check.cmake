# Installs BUILD into WORK, builds a consumer of each component against it and runs that and the installed command.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

set(configure "${CMAKE_COMMAND}" -S "${CONSUMER}" -G "${GENERATOR}" "-DCMAKE_C_COMPILER=${C_COMPILER}"
  "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DVERSION=${VERSION}" "-DLINK_OPTIONS=${LINK_OPTIONS}")

# consume(COMPONENT source expected LIBRARIES... ): its program, given a metric, prints what `expected` matches.
function(consume component source expected)
  run(${configure} -B "${WORK}/${component}" "-DCOMPONENT=${component}" "-DSOURCE=${source}" "-DLIBRARIES=${ARGN}")
  run("${CMAKE_COMMAND}" --build "${WORK}/${component}")
  run("${WORK}/${component}/consumer" "${METRIC}")
  if(NOT text MATCHES "${expected}")
    message(FATAL_ERROR "the consumer of ${component} says: ${text}")
  endif()
endfunction()

# refuse(COMPONENT expected OPTIONS...): find_package says why it is not there.
function(refuse component expected)
  file(REMOVE_RECURSE "${WORK}/refused")
  execute_process(COMMAND ${configure} -B "${WORK}/refused" "-DCOMPONENT=${component}" ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(FIND "${text}" "${expected}" at)
  if(status EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "component ${component}: expected '${expected}', got: ${text}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
file(GLOB_RECURSE python "${WORK}/prefix/*_core*")
if(python)
  message(FATAL_ERROR "the wheel's files were installed, too: ${python}")
endif()
# Headers name others by the paths that they are installed under.
file(GLOB_RECURSE installed "${WORK}/prefix/include/*")
if(NOT installed MATCHES "AnnudfOps.td" OR NOT installed MATCHES "AnnudfOps.h.inc")
  message(FATAL_ERROR "the dialect's definitions were not installed: ${installed}")
endif()

consume(C c.c "annudf ${VERSION}" annudf::annudf)
consume(Runtime runtime.cpp "4 rows of 2 dims" annudf::runtime)
consume(Compiler compiler.cpp "metric l2" annudf::compiler)
consume(MLIR mlir.cpp "metric l2" annudf::AnnudfTransforms)
consume(MLIR mlir_c.c "^annudf\n.*llvm.func @annudf1_scan_update_a32_x32" annudf::AnnudfCAPI)
# A compiler with a dialect of its own, and its tests, which compile and search.
run(${configure} -S "${OUTSIDE}" -B "${WORK}/outside")
run("${CMAKE_COMMAND}" --build "${WORK}/outside")
run("${PYTHON}" "${LIT}" -v "${OUTSIDE}/test" --param "out=${WORK}/outside/test" --param "python=${PYTHON}"
  --param "tools=${WORK}/outside,${WORK}/prefix/bin,${LLVM_TOOLS}")
refuse(Fortran "has no component 'Fortran': there are C;Runtime;MLIR;Compiler")
refuse(MLIR "has no component 'MLIR': it needs LLVM/MLIR 22, which was not found (set MLIR_DIR; Debian: libmlir-22-dev llvm-22-dev)"
  -DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON)
run("${WORK}/prefix/bin/annudf" --version)
