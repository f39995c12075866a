//===- CompileModule.cpp - From a metric's text to an artifact ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileModule.h"

#include "HookFunctions.h"
#include "LinkedCode.h"
#include "Manifest.h"
#include "Messages.h"
#include "Properties.h"
#include "RaiseVectors.h"
#include "Reproducer.h"
#include "Selection.h"

#include "annudf/Dialect/IR/Descriptor.h"
#include "annudf/Dialect/Transforms/Passes.h"
#include "annudf/Frontend/Diagnostics.h"
#include "annudf/Frontend/Passes.h"
#include "annudf/Frontend/Source.h"
#include "annudf/Support/Printable.h"
#include "annudf/Support/Threads.h"
#include "annudf/Target/LibDevice.h"
#include "annudf/Target/Nvptx.h"
#include "annudf/Target/Translate.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

#include <chrono>
#include <functional>

using namespace mlir;
using namespace annudf;
using namespace annudf::compiler;

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// One compile: a context of its own, so that callers may run several at once.
class Compilation {
public:
  Compilation(const std::string &origin, const CompileOptions &options, Findings &findings)
      : origin(origin), options(options), findings(findings),
        registry(makeRegistry(options.importFrontend)),
        context(registry, MLIRContext::Threading::DISABLED), messages(context, origin, findings) {
    context.printOpOnDiagnostic(false); // The place says it, and a message is one line.
  }

  std::optional<Fault> compile(const std::string &source, Artifact &artifact) {
    if (options.target.abi != ANNUDF_ABI_ID)
      return Fault{ErrorKind::Usage, "an artifact holds code of " ANNUDF_ABI_ID ", not of " +
                                         options.target.abi + "; lower the metric to it"};
    Clock::time_point start = Clock::now();
    if (std::optional<Fault> fault = parse(source))
      return fault;
    if (isa<ir::FunctionOp>(metric.getOperation()))
      return messages.refuse(
          "'" + metric.getSymName().str() +
          "' is a function, and an artifact holds a metric or a filter; lower it to "
          "ltoir, ptx or bitcode");
    findings.timings.parseAndVerify = millisecondsSince(start);
    artifact.manifest = makeManifest(metric, options.target);
    const bool linksCode = !linked->isEmpty();
    // A request for nothing but the host, or for a host by name, does not mean a GPU.
    if (linksCode && (!options.ltoIr || (options.hostBitcode && !options.hostTriples.empty())))
      return messages.refuse(
          "calls linked device code, which runs on a GPU only; leave host code out");
    if (options.ltoIr)
      if (std::optional<Fault> fault = compileForGpus(artifact))
        return fault;
    if (options.hostBitcode && !linksCode)
      if (std::optional<Fault> fault = compileForHost(artifact))
        return fault;
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    BytecodeWriterConfig bytecode; // Readers that know what the metric uses can read it.
    bytecode.setDialectVersion<ir::AnnudfDialect>(
        std::make_unique<ir::AnnudfVersion>(artifact.manifest.abiMinor));
    if (failed(writeBytecodeToFile(*module, os, bytecode)))
      return messages.fault();
    artifact.payloads.push_back(
        Payload::mlirBytecode({"llvm", LLVM_VERSION_STRING}, std::move(bytes)));
    findings.timings.total = millisecondsSince(start);
    return std::nullopt;
  }

  std::optional<Fault> lower(const std::string &source, Stage stage, std::string &code) {
    SmallVector<int> versions;
    if (std::optional<Fault> fault = selectArchs(versions))
      return fault;
    if (!options.target.isKnown())
      return Fault{ErrorKind::Usage, "there is no ABI '" + printable(options.target.abi) +
                                         "'; code is made for one of " + kTargetAbis};
    if (versions.size() > 1)
      return Fault{ErrorKind::Usage, "lowered for one architecture at a time, not for " +
                                         std::to_string(versions.size())};
    if (std::optional<Fault> fault = parse(source))
      return fault;
    const bool isFunctions = stage == Stage::Functions;
    if ((isFunctions || stage == Stage::Properties) && isa<ir::FunctionOp>(metric.getOperation()))
      return messages.refuse("'" + metric.getSymName().str() + "' is a function, and " +
                             (isFunctions ? "hooks" : "properties") +
                             " are of a metric or a filter");
    if (isPairwise() && stage != Stage::HostBitcode && stage != Stage::Mlir &&
        stage != Stage::Properties)
      return refusePairwise(isFunctions ? "functions for its hooks" : "code for a GPU");
    if (isFunctions) {
      PassManager inliner(&context);
      addHookFunctions(metric);
      inliner.addPass(createInlineHooksPass());
      if (failed(inliner.run(*module)))
        return messages.fault();
    }
    if (isFunctions || stage == Stage::Mlir) {
      llvm::raw_string_ostream os(code);
      module->print(os);
      return std::nullopt;
    }
    if (stage == Stage::Properties) {
      code = propertiesToJson(metric, messages);
      return std::nullopt;
    }
    CodeTarget target = options.target;
    if (target.symbol.empty())
      target.symbol = defaultSymbol(metric.getSymName());
    if (stage == Stage::HostBitcode && !linked->isEmpty())
      return messages.refuse(
          "calls linked device code, which runs on a GPU only; lower it to ltoir or ptx");
    if (stage == Stage::HostBitcode || stage == Stage::DeviceBitcode) {
      FailureOr<std::string> bytes = stage == Stage::HostBitcode
                                         ? translateToHostBitcode(*module, "", "", target)
                                         : translateToDeviceBitcode(*module, "", target);
      if (failed(bytes))
        return messages.fault();
      code = std::move(*bytes);
      return std::nullopt;
    }
    if (options.deviceBackend == DeviceBackend::Nvptx && stage != Stage::NvvmIr) {
      if (stage != Stage::Ptx)
        return Fault{ErrorKind::Usage, "the backend nvptx makes PTX and no LTO-IR"};
      return compileByNvptx(versions.empty() ? supportedSmVersions().front() : versions.front(),
                            target, shapeOfMetric(), code);
    }
    FailureOr<std::string> ir = translateToNvvmIr(*module, "", target);
    if (failed(ir))
      return loweringFault("annudf-to-nvvm");
    if (stage == Stage::NvvmIr) {
      code = std::move(*ir);
      return std::nullopt;
    }
    auto nvvm = LibNvvm::load();
    if (!nvvm)
      return Fault{ErrorKind::Environment, llvm::toString(nvvm.takeError())};
    if (versions.empty())
      versions.push_back(supportedSmVersions().front());
    if (target.isCuvsMetric()) {
      auto made = compileCuvsMetric(**nvvm, *ir, versions.front(), stage, target);
      if (!made)
        return messages.refuse(llvm::toString(made.takeError()));
      code = std::move(*made);
      return std::nullopt;
    }
    if (stage == Stage::LtoIr) {
      Artifact artifact;
      if (!isa<ir::FunctionOp>(metric.getOperation()))
        artifact.manifest = makeManifest(metric, options.target);
      std::optional<Fault> fault = runLibNvvm(**nvvm, *ir, versions, artifact);
      if (!fault)
        code = std::move(artifact.payloads.front().bytes);
      return fault;
    }
    auto ptx = (*nvvm)->compile(*ir, versions.front(), DeviceCode::Ptx);
    if (!ptx)
      return messages.refuse(llvm::toString(ptx.takeError()));
    code = std::move(*ptx);
    return std::nullopt;
  }

private:
  static DialectRegistry makeRegistry(bool importFrontend) {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    if (importFrontend)
      registerFrontendDialects(registry);
    return registry;
  }

  /// The verifier has accepted the module, and nothing that a user writes comes after it; but the
  /// name of the function for another ABI does.
  Fault loweringFault(StringRef pipeline) {
    if (options.target.abi != ANNUDF_ABI_ID)
      return messages.fault();
    return internalFault(*module, pipeline, messages.errors(), options.reproducer);
  }

  std::optional<Fault> parse(const std::string &source) {
    module = ir::parseModule(source, origin, &context);
    if (!module)
      return messages.fault();
    if (options.importFrontend) {
      PassManager importer(&context);
      importer.addPass(createImportFrontendPass());
      if (failed(importer.run(*module)))
        return messages.fault();
    }
    if (std::optional<Fault> fault = selectAndRaise())
      return fault;
    linked.emplace(*module, origin, messages);
    linked->dropUncalled();
    PassManager manager(&context);
    manager.addPass(createVerifyABIPass());
    manager.addPass(createInferCombinePass());
    if (!options.inlineCaptures.empty()) {
      std::unique_ptr<Pass> pass = createInlineCapturesPass();
      std::string why;
      if (failed(pass->initializeOptions(options.inlineCaptures, [&](const Twine &text) {
            why = text.str();
            return failure();
          })))
        return Fault{ErrorKind::Usage,
                     "options of annudf-inline-captures '" + options.inlineCaptures + "': " + why};
      manager.addPass(std::move(pass));
    }
    manager.addPass(createPackLanesPass());    // Sees the captures that are left.
    if (options.target.abi != ANNUDF_ABI_ID) { // What is baked in needs no place in it.
      VerifyABIPassOptions verify;
      verify.target = options.target.abi;
      manager.addPass(createVerifyABIPass(verify));
    }
    if (failed(manager.run(*module)))
      return messages.fault();
    if (afterVerification)
      afterVerification(*module);
    return std::nullopt;
  }

  /// A distance of vectors that is no single pass, or prepares a value that is none, stays as it
  /// was written.
  std::optional<Fault> selectAndRaise() {
    const Selection selection(origin, messages);
    if (std::optional<Fault> fault = selection.selectSource(*module, options.metricName, metric))
      return fault;
    const std::string wanted =
        options.metricName.empty() ? metric.getSymName().str() : options.metricName;
    if (mayRaise(metric, whyNotRaised)) {
      OwningOpRef<ModuleOp> asWritten(module->clone());
      if (!raiseVectors(*module, messages, whyNotRaised))
        module = std::move(asWritten);
    }
    return selection.keepOnly(*module, wanted, metric);
  }

  bool isPairwise() { return isa<ir::PairwiseOp>(metric.getOperation()); }
  Fault refusePairwise(const std::string &what) {
    return messages.refuse(metric.getLoc(), notRaised(metric.getSymName(), what, whyNotRaised));
  }

  std::optional<Fault> selectArchs(SmallVector<int> &versions) {
    for (const std::string &arch : options.archs) {
      auto sm = parseSmVersion(arch);
      if (!sm)
        return Fault{ErrorKind::Usage, llvm::toString(sm.takeError())};
      if (!llvm::is_contained(versions, *sm))
        versions.push_back(*sm);
    }
    llvm::sort(versions);
    return std::nullopt;
  }

  std::optional<Fault> compileForGpus(Artifact &artifact) {
    SmallVector<int> versions;
    if (std::optional<Fault> fault = selectArchs(versions))
      return fault;
    if (isPairwise()) {
      if (!versions.empty() || !options.hostBitcode || !linked->isEmpty())
        return refusePairwise("code for a GPU");
      messages.warn(notRaised(metric.getSymName(), "code for a GPU", whyNotRaised));
      return std::nullopt;
    }
    if (options.deviceBackend == DeviceBackend::Nvptx)
      return addPtx(versions, artifact);
    auto nvvm = LibNvvm::load();
    if (!nvvm) {
      std::string why = llvm::toString(nvvm.takeError());
      if (!versions.empty() || !linked->isEmpty())
        return Fault{ErrorKind::Environment, why};
      std::string warning = "no LTO-IR, so the artifact runs on CPUs only: " + why;
      messages.warn(warning);
      return std::nullopt;
    }
    if (versions.empty())
      versions.assign(supportedSmVersions().begin(), supportedSmVersions().end());

    if (!linked->isEmpty())
      if (std::optional<Fault> fault = linked->prepare(versions, !options.archs.empty()))
        return fault;
    Clock::time_point start = Clock::now();
    FailureOr<std::string> ir = translateToNvvmIr(*module, "", options.target);
    if (failed(ir))
      return loweringFault("annudf-to-nvvm");
    findings.timings.lower = millisecondsSince(start);
    start = Clock::now();
    std::optional<Fault> fault = runLibNvvm(**nvvm, *ir, versions, artifact);
    if (!fault && !linked->isEmpty())
      fault = linkCode(**nvvm, *ir, artifact);
    findings.timings.libnvvm = millisecondsSince(start);
    return fault;
  }

  /// PTX for each architecture, by LLVM alone.
  std::optional<Fault> addPtx(ArrayRef<int> versions, Artifact &artifact) {
    if (!linked->isEmpty())
      return Fault{ErrorKind::Usage, "calls linked device code, which the backend nvptx does not "
                                     "link; use the backend libnvvm"};
    for (int sm : versions.empty() ? supportedSmVersions().take_front() : versions) {
      std::string ptx;
      if (std::optional<Fault> fault =
              compileByNvptx(sm, options.target, shapeOf(artifact.manifest), ptx))
        return fault;
      artifact.payloads.push_back(Payload::ptx(sm, {"llvm", LLVM_VERSION_STRING}, std::move(ptx)));
    }
    return std::nullopt;
  }

  std::optional<Fault> compileByNvptx(int sm, const CodeTarget &target, const HookShape &shape,
                                      std::string &code) {
    FailureOr<std::string> ptx = translateToPtxByNvptx(*module, "", target, sm, shape);
    if (failed(ptx)) {
      Fault fault = messages.fault();
      if (auto device = libDevice(""); !device) { // A function of it is what was missing.
        llvm::consumeError(device.takeError());
        fault.kind = ErrorKind::Environment;
      }
      return fault;
    }
    code = std::move(*ptx);
    return std::nullopt;
  }

  /// The verifier knows all that hooks do, and nothing of what they call: then the artifact as
  /// a whole is not verified.
  std::optional<Fault> linkCode(const LibNvvm &nvvm, StringRef ir, Artifact &artifact) {
    const Payload &hooks = artifact.payloads.front();
    if (std::optional<Fault> fault = linked->check(nvvm, ir, hooks.bytes, hooks.sm))
      return fault;
    for (Payload &payload : linked->takePayloads())
      artifact.payloads.push_back(std::move(payload));
    artifact.manifest.verified.reset();
    return std::nullopt;
  }

  /// LTO-IR for every version; and PTX for the first, which tells what libNVVM made
  /// of the prototypes. The same text is read for all, so one look is enough.
  std::optional<Fault> runLibNvvm(const LibNvvm &nvvm, const std::string &ir,
                                  ArrayRef<int> versions, Artifact &artifact) {
    struct Result {
      std::string code, why;
    };
    std::vector<Result> results(versions.size());
    Result prototypes;
    auto take = [](llvm::Expected<std::string> code, Result &result) {
      if (code)
        result.code = std::move(*code);
      else
        result.why = llvm::toString(code.takeError());
    };
    std::vector<std::function<void()>> jobs;
    jobs.push_back([&] {
      take(nvvm.compile(ir, versions.front(), DeviceCode::Prototypes), prototypes);
      if (!prototypes.why.empty())
        return;
      if (llvm::Error error = checkDefinitions(prototypes.code, metric, shapeOf(artifact.manifest)))
        prototypes.why = llvm::toString(std::move(error));
    });
    for (auto [sm, result] : llvm::zip(versions, results))
      jobs.push_back([&nvvm, &ir, &take, sm, &result] {
        take(nvvm.compile(ir, sm, DeviceCode::LtoIr), result);
      });
    runJobs(jobs.size(), [&](size_t i) { jobs[i](); });
    if (!prototypes.why.empty())
      return messages.refuse(prototypes.why);
    for (auto [sm, result] : llvm::zip(versions, results)) {
      if (!result.why.empty())
        return messages.refuse(result.why);
      artifact.payloads.push_back(
          Payload::ltoIr(sm, "", {Producer::kLibNvvm, nvvm.release()}, std::move(result.code)));
    }
    return std::nullopt;
  }

  /// The code of that ABI, its prototype read back.
  static llvm::Expected<std::string> compileCuvsMetric(const LibNvvm &nvvm, const std::string &ir,
                                                       int sm, Stage stage,
                                                       const CodeTarget &target) {
    auto prototypes = nvvm.compile(ir, sm, DeviceCode::Prototypes);
    if (!prototypes)
      return prototypes.takeError();
    if (llvm::Error error =
            checkCuvsPrototype(*prototypes, target.symbol, takesCapture(ir, target.symbol)))
      return error;
    return nvvm.compile(ir, sm, stage == Stage::LtoIr ? DeviceCode::LtoIr : DeviceCode::Ptx);
  }

  HookShape shapeOfMetric() {
    return shapeOf(isa<ir::FunctionOp>(metric.getOperation())
                       ? Manifest()
                       : makeManifest(metric, options.target));
  }

  HookShape shapeOf(const Manifest &manifest) {
    HookShape shape = {manifest.hookWidths(), manifest.hooks, /*asksForElement=*/false,
                       manifest.isFilter()};
    for (const LinkedFunction &function : linkedFunctionsOf(*module))
      shape.externs.emplace_back(function.called, function.calledPrototype);
    return shape;
  }

  std::optional<Fault> compileForHost(Artifact &artifact) {
    Clock::time_point start = Clock::now();
    std::vector<std::string> triples = options.hostTriples;
    if (triples.empty())
      triples.push_back(llvm::sys::getDefaultTargetTriple());
    for (const std::string &triple : triples) {
      FailureOr<std::string> bytes = translateToHostBitcode(*module, "", triple, options.target);
      if (failed(bytes))
        return loweringFault("annudf-to-host");
      artifact.payloads.push_back(
          Payload::hostBitcode(triple, {"llvm", LLVM_VERSION_STRING}, std::move(*bytes)));
    }
    findings.timings.host = millisecondsSince(start);
    return std::nullopt;
  }

  const std::string &origin;
  const CompileOptions &options;
  Findings &findings;
  DialectRegistry registry;
  MLIRContext context;
  Messages messages;
  OwningOpRef<ModuleOp> module;
  ir::UdfOpInterface metric;
  std::string whyNotRaised; ///< A distance of vectors.
  std::optional<LinkedCode> linked;
};

} // namespace

std::optional<Fault> annudf::compiler::compileModule(const std::string &source,
                                                     const std::string &origin,
                                                     const CompileOptions &options,
                                                     Artifact &artifact, Findings &findings) {
  return Compilation(origin, options, findings).compile(source, artifact);
}

std::optional<Fault> annudf::compiler::lowerModule(const std::string &source,
                                                   const std::string &origin, Stage stage,
                                                   const CompileOptions &options, std::string &code,
                                                   Findings &findings) {
  return Compilation(origin, options, findings).lower(source, stage, code);
}
