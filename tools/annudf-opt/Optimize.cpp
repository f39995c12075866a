//===- Optimize.cpp - Reads a text with care, then runs passes ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Optimize.h"

#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Frontend/Diagnostics.h"
#include "annudf/Frontend/Source.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/ParseUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

/// What a reproducer names has to be a pass of annudf; the driver would say that there is no other.
static mlir::LogicalResult checkReproducer(llvm::StringRef text, const std::string &input,
                                           mlir::MLIRContext &context) {
  std::string pipeline;
  mlir::ParserConfig parser(&context, /*verifyAfterParse=*/false);
  parser.attachResourceParser("mlir_reproducer", [&](mlir::AsmParsedResourceEntry &entry) {
    mlir::FailureOr<std::string> value;
    if (entry.getKey() == "pipeline" && succeeded(value = entry.parseAsString()))
      pipeline = *value;
    return mlir::success();
  });
  mlir::Block module;
  std::string why;
  llvm::raw_string_ostream words(why);
  if (failed(mlir::parseSourceString(text, &module, parser, input)) || pipeline.empty() ||
      succeeded(mlir::parsePassPipeline(pipeline, words)))
    return mlir::success(); // For what else is wrong the driver has words.
  const llvm::StringRef fault = llvm::StringRef(why).split("error: ").second.split('\n').first;
  llvm::errs() << input << ": --run-reproducer runs passes of annudf alone, and in '" << pipeline
               << "' " << fault << "; run other passes by naming them in the command\n";
  return mlir::failure();
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
  // What a reproducer says of its passes, behind the module, is the driver's to read.
  const size_t end = config.shouldRunReproducer() ? part.rfind("{-#") : llvm::StringRef::npos;
  std::optional<std::string> read = annudf::ir::readText(part.take_front(end), input, &context);
  if (!read)
    return mlir::failure();
  text = std::move(*read);
  // Faults that a test expects are the driver's to compare.
  if (config.shouldVerifyDiagnostics())
    return mlir::success();
  if (end != llvm::StringRef::npos &&
      failed(checkReproducer(text + part.substr(end).str(), input, context)))
    return mlir::failure();
  // Sources of their own: `lines` still looks at those above.
  auto again = std::make_shared<llvm::SourceMgr>();
  again->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, input), llvm::SMLoc());
  mlir::ParserConfig parser(&context, config.shouldVerifyOnParsing());
  return mlir::success(
      bool(mlir::parseSourceFileForTool(again, parser, !config.shouldUseExplicitModule())));
}

mlir::LogicalResult annudf::opt::optimize(const std::string &input, const std::string &output,
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
  bounded.setPassPipelineSetupFn([&](mlir::PassManager &manager) {
    if (!config.shouldVerifyDiagnostics())
      manager.getContext()->getDiagEngine().registerHandler(
          annudf::ir::boundedHandler(whole, llvm::errs()));
    // Its canonicalizations keep upstream's from crashing, of a module without its operations too.
    manager.getContext()->loadDialect<annudf::ir::AnnudfDialect>();
    return config.setupPassPipeline(manager);
  });
  if (failed(mlir::MlirOptMain(results->os(), std::move(file), registry, bounded)))
    return mlir::failure();
  results->keep();
  return mlir::success();
}
