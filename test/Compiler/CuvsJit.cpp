//===- CuvsJit.cpp - A metric as rapids.cuvs.ivf_flat.metric.v1, on the host -===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CuvsJit.h"

#include "annudf/Target/Translate.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

using namespace annudf;
using namespace annudf::test;

struct CuvsJit::Implementation {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

CuvsJit::CuvsJit(const std::string &text) : implementation(new Implementation) {
  static const bool ready =
      !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler keep(&context, [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      fault += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto take = [&](auto value) {
    if (!value)
      fault += llvm::toString(value.takeError()) + "\n";
    return value ? std::optional(std::move(*value)) : std::nullopt;
  };
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!ready || !module)
    return;
  mlir::FailureOr<std::string> bytes =
      translateToHostBitcode(*module, "", "", {ANNUDF_CUVS_METRIC_ABI_ID, "sym"});
  if (mlir::failed(bytes))
    return;
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto code = take(llvm::parseBitcodeFile(llvm::MemoryBufferRef(*bytes, "metric"), *llvmContext));
  auto jit = take(llvm::orc::LLJITBuilder().create());
  if (!code || !jit)
    return;
  implementation->jit = std::move(*jit);
  llvm::orc::LLJIT &session = *implementation->jit;
  (*code)->setDataLayout(session.getDataLayout());
  const size_t parameters = (*code)->getFunction("sym")->arg_size();
  auto symbols = take(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      session.getDataLayout().getGlobalPrefix()));
  if (!symbols)
    return;
  session.getMainJITDylib().addGenerator(std::move(*symbols));
  if (llvm::Error error = session.addIRModule(
          llvm::orc::ThreadSafeModule(std::move(*code), std::move(llvmContext))))
    fault += llvm::toString(std::move(error)) + "\n";
  auto found = take(session.lookup("sym"));
  if (!found)
    return;
  if (parameters == 3)
    plain = found->toPtr<CuvsMetric *>();
  else
    full = found->toPtr<CuvsMetricOfCapture *>();
}

CuvsJit::~CuvsJit() = default;

#if defined(__clang__) // Code of the JIT has no signature in front, for which UBSan looks.
__attribute__((no_sanitize("function")))
#endif
float CuvsJit::operator()(float x, float y, float acc, const float *capture, int64_t dim) const {
  return plain ? plain(x, y, acc) : full(x, y, acc, capture, dim);
}
