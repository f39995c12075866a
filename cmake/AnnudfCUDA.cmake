# The CUDA toolkit, if there is one. Only headers and nvcc are needed: libcuda and nvJitLink are found at run time.
# The PyPI packages of the toolkit serve as well, so that pip can build where none is installed; they hold no libcudart.so
# that CMake's own search would accept, so they are looked for beside it.
set(ANNUDF_CUDA "AUTO" CACHE STRING "Build the CUDA backend: AUTO, ON or OFF")
set(ANNUDF_HAVE_CUDA OFF)
set(ANNUDF_CUDA_WHY_NOT "switched off (ANNUDF_CUDA=OFF)")

# Sets the variables of FindCUDAToolkit that annudf uses, from the PyPI packages of the Python that builds.
macro(annudf_find_cuda_packages)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  execute_process(COMMAND "${Python3_EXECUTABLE}" -c
    "import importlib.util as u, os; s = u.find_spec('nvidia'); print(*[os.path.join(p, 'cu13') for p in (s.submodule_search_locations if s else [])], sep=';')"
    OUTPUT_VARIABLE ANNUDF_CUDA_PACKAGES OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  foreach(folder IN LISTS ANNUDF_CUDA_PACKAGES)
    if(EXISTS "${folder}/bin/nvcc" AND EXISTS "${folder}/nvvm/bin/cicc" AND EXISTS "${folder}/include/crt/host_config.h"
       AND EXISTS "${folder}/include/cuda.h" AND EXISTS "${folder}/include/nvJitLink.h")
      execute_process(COMMAND "${folder}/bin/nvcc" --version OUTPUT_VARIABLE text ERROR_QUIET)
      if(text MATCHES "V((13)\\.([0-9]+)\\.[0-9]+)")
        set(CUDAToolkit_FOUND ON)
        set(CUDAToolkit_NVCC_EXECUTABLE "${folder}/bin/nvcc")
        set(CUDAToolkit_INCLUDE_DIRS "${folder}/include")
        set(CUDAToolkit_VERSION "${CMAKE_MATCH_1}")
        set(CUDAToolkit_VERSION_MAJOR "${CMAKE_MATCH_2}")
        set(CUDAToolkit_VERSION_MINOR "${CMAKE_MATCH_3}")
        break()
      endif()
    endif()
  endforeach()
endmacro()

if(NOT ANNUDF_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit 13.0 QUIET)
  if(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE)
    annudf_find_cuda_packages()
  endif()
  if(CUDAToolkit_FOUND AND CUDAToolkit_NVCC_EXECUTABLE)
    set(ANNUDF_HAVE_CUDA ON)
  else()
    set(ANNUDF_CUDA_WHY_NOT "no CUDA toolkit of version 13 found (set CUDAToolkit_ROOT)")
    if(ANNUDF_CUDA STREQUAL "ON")
      message(FATAL_ERROR "ANNUDF_CUDA=ON, but ${ANNUDF_CUDA_WHY_NOT}")
    endif()
  endif()
endif()

# annudf_add_nvcc(output kind source FLAGS... [DEPENDS targets...]): a file of a kind that nvcc names: fatbin, ptx or ltoir.
function(annudf_add_nvcc output kind source)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  set(compile "${CUDAToolkit_NVCC_EXECUTABLE}" -${kind})
  if(ANNUDF_CCACHE)
    set(compile "${CMAKE_COMMAND}" -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_COMPILERTYPE=nvcc
      "CCACHE_COMPILERCHECK=string:nvcc ${CUDAToolkit_VERSION} ${kind}" ANNUDF_NVCC=${CUDAToolkit_NVCC_EXECUTABLE} ANNUDF_NVCC_MAKES=${kind}
      "${ANNUDF_CCACHE}" "${PROJECT_SOURCE_DIR}/cmake/nvcc-for-ccache" -c)
  endif()
  cmake_path(GET source FILENAME from)
  cmake_path(GET output FILENAME to)
  add_custom_command(OUTPUT "${output}"
    COMMAND ${compile} -std=c++17 -I "${PROJECT_SOURCE_DIR}/include" ${ARG_UNPARSED_ARGUMENTS} -MD -MF "${output}.d" "${source}" -o "${output}"
    DEPENDS "${source}" ${ARG_DEPENDS} DEPFILE "${output}.d" COMMENT "nvcc ${from} -> ${to}" VERBATIM)
endfunction()
