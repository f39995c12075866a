//===- annudf-opt.cpp - Runs annudf passes on MLIR ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Conversion/Passes.h"
#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Dialect/Transforms/Passes.h"
#include "annudf/Frontend/Diagnostics.h"
#include "annudf/Frontend/Passes.h"
#include "annudf/Frontend/Source.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/ParseUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

static void printVersion(llvm::raw_ostream &os) {
  os << "annudf-opt " ANNUDF_VERSION "\nLLVM " LLVM_VERSION_STRING "\n";
}

/// Parses `part` with annudf's care: what mlir-opt's driver says of a text has no bounds, and
/// after this it has nothing to say of it. The driver's own text is left in `text`.
static mlir::LogicalResult readPart(llvm::StringRef part, const std::string &input,
                                    const mlir::DialectRegistry &registry,
                                    const mlir::MlirOptMainConfig &config, std::string &text) {
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(part, input, false), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler lines(*sources, &context);
  context.getDiagEngine().registerHandler(annudf::ir::boundedHandler(part, llvm::errs()));
  std::optional<std::string> read = annudf::ir::readText(part, input, &context);
  if (!read)
    return mlir::failure();
  text = std::move(*read);
  // Faults that a test expects are the driver's to compare.
  if (config.shouldVerifyDiagnostics())
    return mlir::success();
  // Sources of their own: `lines` still looks at those above.
  auto again = std::make_shared<llvm::SourceMgr>();
  again->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, input), llvm::SMLoc());
  mlir::ParserConfig parser(&context, config.shouldVerifyOnParsing());
  return mlir::success(
      bool(mlir::parseSourceFileForTool(again, parser, !config.shouldUseExplicitModule())));
}

/// Reads the input with annudf's care, part by part where it is split, and leaves the rest
/// to mlir-opt's own driver.
static mlir::LogicalResult optimize(const std::string &input, const std::string &output,
                                    mlir::DialectRegistry &registry,
                                    const mlir::MlirOptMainConfig &config) {
  std::string why;
  std::unique_ptr<llvm::MemoryBuffer> file = mlir::openInputFile(input, &why);
  std::unique_ptr<llvm::ToolOutputFile> results = mlir::openOutputFile(output, &why);
  if (!file || !results) {
    llvm::errs() << why << "\n";
    return mlir::failure();
  }
  llvm::SmallVector<llvm::StringRef> parts = {file->getBuffer()};
  if (llvm::StringRef marker = config.inputSplitMarker();
      !marker.empty() && !mlir::isBytecode(*file)) {
    parts.clear();
    file->getBuffer().split(parts, marker);
  }
  std::string text;
  for (llvm::StringRef part : parts) {
    if (failed(readPart(part, input, registry, config, text)))
      return mlir::failure();
  }
  if (mlir::isBytecode(*file))
    file = llvm::MemoryBuffer::getMemBufferCopy(text, input);
  const llvm::StringRef whole = file->getBuffer(); // The driver keeps it.
  mlir::MlirOptMainConfig bounded = config;
  if (!config.shouldVerifyDiagnostics())
    bounded.setPassPipelineSetupFn([&](mlir::PassManager &manager) {
      manager.getContext()->getDiagEngine().registerHandler(
          annudf::ir::boundedHandler(whole, llvm::errs()));
      return config.setupPassPipeline(manager);
    });
  if (failed(mlir::MlirOptMain(results->os(), std::move(file), registry, bounded)))
    return mlir::failure();
  results->keep();
  return mlir::success();
}

int main(int argc, char **argv) {
  llvm::cl::SetVersionPrinter(printVersion);
  mlir::DialectRegistry registry;
  registry.insert<annudf::ir::AnnudfDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::scf::SCFDialect>();
  annudf::registerFrontendDialects(registry);
  mlir::func::registerInlinerExtension(registry);
  mlir::registerTransformsPasses();
  annudf::registerTransformsPasses();
  annudf::registerFrontendPasses();
  annudf::registerConversionPasses();
  annudf::registerConversionPipelines();
  const auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "annudf metric optimizer\n", registry);
  const auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  return mlir::asMainReturnCode(optimize(input, output, registry, config));
}
