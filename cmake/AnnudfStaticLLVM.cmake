# annudf_llvm and annudf_mlir as archives. Debian's exported MLIR targets name the shared libLLVM wherever they use LLVM,
# so that name is replaced in each target that annudf needs; two copies of LLVM in one process would not work.

# What the compiler includes, by folder of its headers; the rest follows from the targets' own dependencies.
set(ANNUDF_MLIR_LIBS
  MLIRArithDialect MLIRControlFlowDialect MLIRFuncDialect MLIRFuncInlinerExtension MLIRLLVMDialect
  MLIRMathDialect MLIRMemRefDialect MLIRSCFDialect MLIRUBDialect
  MLIRArithAttrToLLVMConversion MLIRControlFlowToLLVM MLIRControlFlowToSCF MLIRFuncToLLVM MLIRSCFToControlFlow MLIRTransforms
  MLIRParser MLIRBytecodeReader MLIRBytecodeWriter
  MLIRBuiltinToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation MLIRTargetLLVMIRExport)
# The tools' own libraries are linked by the tools only.
set(ANNUDF_MLIR_TOOL_LIBS MLIROptLib MLIRTranslateLib MLIRLspServerLib)
# The code generators are the host's and NVPTX.
llvm_map_components_to_libnames(ANNUDF_LLVM_LIBS
  analysis bitreader bitwriter core instcombine ipo linker native nativecodegen nvptxcodegen nvptxdesc nvptxinfo orcjit passes scalaropts support target targetparser
  transformutils)

# libLLVM's system libraries, as archives where there are some. Z3 serves clang's analyzer, which is not linked.
find_library(ANNUDF_LIBZ NAMES libz.a z REQUIRED)
find_library(ANNUDF_LIBZSTD NAMES libzstd.a zstd REQUIRED)
set_target_properties(LLVMSupport PROPERTIES
  INTERFACE_LINK_LIBRARIES "rt;${CMAKE_DL_LIBS};m;${ANNUDF_LIBZ};${ANNUDF_LIBZSTD};LLVMDemangle")

target_link_libraries(annudf_llvm INTERFACE ${ANNUDF_LLVM_LIBS})
target_link_libraries(annudf_mlir INTERFACE ${ANNUDF_MLIR_LIBS} annudf_llvm)

set(pending ${ANNUDF_MLIR_LIBS} ${ANNUDF_MLIR_TOOL_LIBS})
set(seen)
while(pending)
  list(POP_FRONT pending library)
  if(library IN_LIST seen)
    continue()
  endif()
  list(APPEND seen ${library})
  get_target_property(dependencies ${library} INTERFACE_LINK_LIBRARIES)
  if(NOT dependencies)
    continue()
  endif()
  list(TRANSFORM dependencies REPLACE "^LLVM$" "annudf_llvm")
  set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${dependencies}")
  foreach(dependency IN LISTS dependencies)
    if(dependency MATCHES "^MLIR" AND TARGET ${dependency})
      list(APPEND pending ${dependency})
    endif()
  endforeach()
endwhile()
