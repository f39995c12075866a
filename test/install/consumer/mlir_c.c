/* Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A compiler in C: it registers the dialect and its passes with MLIR's C API, and runs them. */
#include <annudf-c/Dialect.h>

#include <mlir-c/IR.h>
#include <mlir-c/Pass.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(MlirStringRef text, void *stream) {
  fwrite(text.data, 1, text.length, (FILE *)stream);
}

static char *read(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, 1 << 16);
  if (file && text)
    text[fread(text, 1, (1 << 16) - 1, file)] = 0;
  if (file)
    fclose(file);
  return text;
}

static MlirStringRef stringOf(const char *text) { return mlirStringRefCreateFromCString(text); }

int main(int argc, char **argv) {
  MlirDialectHandle annudf = mlirGetDialectHandle__annudf__();
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  MlirContext context = mlirContextCreate();
  char *text = read(argv[argc - 1]);
  int status = 0;
  mlirDialectHandleInsertDialect(annudf, registry);
  mlirRegisterAnnudfDialects(registry);
  mlirRegisterAnnudfPasses();
  mlirRegisterAnnudfPasses(); /* Twice is no more than once. */
  mlirContextAppendDialectRegistry(context, registry);
  if (mlirDialectIsNull(mlirDialectHandleLoadDialect(annudf, context)))
    return 1;
  {
    MlirModule module = mlirModuleCreateParse(context, stringOf(text));
    MlirPassManager by_hand = mlirPassManagerCreate(context);
    MlirPassManager by_name = mlirPassManagerCreate(context);
    MlirOpPassManager pipeline = mlirPassManagerGetAsOpPassManager(by_name);
    if (mlirModuleIsNull(module))
      return 2;
    mlirPassManagerAddOwnedPass(by_hand, mlirCreateAnnudfTransformsVerifyABIPass());
    if (mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(by_hand, mlirModuleGetOperation(module))))
      status = 3;
    if (mlirLogicalResultIsFailure(mlirParsePassPipeline(
            pipeline, stringOf("builtin.module(annudf-to-host)"), print, stderr)) ||
        mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(by_name, mlirModuleGetOperation(module))))
      status = 4;
    print(mlirDialectHandleGetNamespace(annudf), stdout);
    printf("\n");
    mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);
    mlirPassManagerDestroy(by_name);
    mlirPassManagerDestroy(by_hand);
    mlirModuleDestroy(module);
  }
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  free(text);
  return status;
}
