# `cmake --install`: libannudf with its C headers and CMake package, and the commands. What belongs in the wheel is the
# component "python" (python-frontend-shim), so that pip takes that alone.
include(CMakePackageConfigHelpers)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/annudf")

install(TARGETS annudf_shared EXPORT annudfTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY include/annudf-c DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES include/annudf/ABI/annudf_abi.h include/annudf/ABI/annudf_tables.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/annudf/ABI")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
foreach(tool annudf annudf-opt annudf-translate annudf-lsp-server)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endforeach()

install(EXPORT annudfTargets NAMESPACE annudf:: DESTINATION "${package}")
# libannudf needs nothing of its user, so the package is its targets.
file(WRITE "${PROJECT_BINARY_DIR}/annudfConfig.cmake" "include(\"\${CMAKE_CURRENT_LIST_DIR}/annudfTargets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/annudfConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/annudfConfig.cmake" "${PROJECT_BINARY_DIR}/annudfConfigVersion.cmake" DESTINATION "${package}")
