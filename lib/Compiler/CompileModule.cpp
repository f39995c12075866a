//===- CompileModule.cpp - From a metric's text to an artifact ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileModule.h"

#include "Manifest.h"

#include "annudf/Dialect/IR/Source.h"
#include "annudf/Dialect/Transforms/Passes.h"
#include "annudf/Target/Translate.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

using namespace mlir;
using namespace annudf;
using namespace annudf::compiler;

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Runs the jobs on as many threads as there are cores.
void runAll(ArrayRef<std::function<void()>> jobs) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++)
      jobs[i]();
  };
  size_t count = std::min<size_t>(jobs.size(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

/// One compile: a context of its own, so that callers may run several at once.
class Compilation {
public:
  Compilation(const std::string &origin, const CompileOptions &options, Artifact &artifact,
              std::vector<std::string> &warnings, CompileTimings &timings)
      : origin(origin), options(options), artifact(artifact), warnings(warnings), timings(timings),
        registry(makeRegistry()), context(registry, MLIRContext::Threading::DISABLED),
        handler(&context, [this](Diagnostic &diagnostic) { return record(diagnostic); }) {}

  std::optional<Fault> run(const std::string &source) {
    context.printOpOnDiagnostic(false); // The place says it, and a message is one line.
    Clock::time_point start = Clock::now();
    if (std::optional<Fault> fault = parse(source))
      return fault;
    timings.parseAndVerify = millisecondsSince(start);
    artifact.manifest = makeManifest(metric);
    if (options.ltoIr)
      if (std::optional<Fault> fault = compileForGpus())
        return fault;
    if (options.hostBitcode)
      if (std::optional<Fault> fault = compileForHost())
        return fault;
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    if (failed(writeBytecodeToFile(*module, os)))
      return fault();
    artifact.payloads.push_back(
        {PayloadKind::MlirBytecode, "", "llvm " LLVM_VERSION_STRING, std::move(bytes)});
    timings.total = millisecondsSince(start);
    return std::nullopt;
  }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }

  LogicalResult record(Diagnostic &diagnostic) {
    std::string text;
    llvm::raw_string_ostream os(text);
    auto print = [&](Location location, const Diagnostic &part) {
      if (auto place = location->findInstanceOf<FileLineColLoc>())
        os << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn();
      else
        os << origin;
      os << ": " << part;
    };
    print(diagnostic.getLocation(), diagnostic);
    for (Diagnostic &note : diagnostic.getNotes()) {
      os << "; ";
      print(note.getLocation(), note);
    }
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors += (errors.empty() ? "" : "\n") + text;
    else
      warnings.push_back(text);
    return success();
  }

  Fault fault() const {
    return {ErrorKind::Input, errors.empty() ? origin + ": cannot be compiled" : errors};
  }

  std::optional<Fault> parse(const std::string &source) {
    module = ir::parseModule(source, origin, &context);
    if (!module)
      return fault();
    if (std::optional<Fault> fault = selectMetric())
      return fault;
    PassManager manager(&context);
    manager.addPass(createVerifyABIPass());
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
    if (failed(manager.run(*module)))
      return fault();
    return std::nullopt;
  }

  /// An artifact holds one metric, so the others leave the module.
  std::optional<Fault> selectMetric() {
    auto metrics = llvm::to_vector(module->getOps<ir::MetricOp>());
    std::string known;
    for (ir::MetricOp candidate : metrics) {
      known += (known.empty() ? "" : ", ") + candidate.getSymName().str();
      if (options.metricName.empty() || candidate.getSymName() == options.metricName)
        metric = candidate;
    }
    if (metrics.empty())
      return Fault{ErrorKind::Input, origin + ": holds no annudf.metric"};
    if (options.metricName.empty() && metrics.size() > 1)
      return Fault{ErrorKind::Usage, origin + ": holds " + std::to_string(metrics.size()) +
                                         " metrics, name one of " + known};
    if (!metric)
      return Fault{ErrorKind::Usage,
                   origin + ": holds no metric '" + options.metricName + "'; there are " + known};
    for (ir::MetricOp other : metrics)
      if (other != metric)
        other.erase();
    return std::nullopt;
  }

  std::optional<Fault> compileForGpus() {
    SmallVector<int> versions;
    for (const std::string &arch : options.archs) {
      auto sm = parseSmVersion(arch);
      if (!sm)
        return Fault{ErrorKind::Usage, llvm::toString(sm.takeError())};
      if (!llvm::is_contained(versions, *sm))
        versions.push_back(*sm);
    }
    auto nvvm = LibNvvm::load();
    if (!nvvm) {
      std::string why = llvm::toString(nvvm.takeError());
      if (!versions.empty())
        return Fault{ErrorKind::Environment, why};
      warnings.push_back("no LTO-IR, so the artifact runs on CPUs only: " + why);
      return std::nullopt;
    }
    if (versions.empty())
      versions.assign(supportedSmVersions().begin(), supportedSmVersions().end());
    llvm::sort(versions);

    Clock::time_point start = Clock::now();
    FailureOr<std::string> ir = translateToNvvmIr(*module);
    if (failed(ir))
      return fault();
    timings.lower = millisecondsSince(start);
    start = Clock::now();
    std::optional<Fault> fault = runLibNvvm(**nvvm, *ir, versions);
    timings.libnvvm = millisecondsSince(start);
    return fault;
  }

  /// LTO-IR for every version; and PTX for the first, which tells what libNVVM made
  /// of the prototypes. The same text is read for all, so one look is enough.
  std::optional<Fault> runLibNvvm(const LibNvvm &nvvm, const std::string &ir,
                                  ArrayRef<int> versions) {
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
      if (llvm::Error error =
              checkPrototypes(prototypes.code, artifact.manifest.accumulatorWidth()))
        prototypes.why = llvm::toString(std::move(error));
    });
    for (auto [sm, result] : llvm::zip(versions, results))
      jobs.push_back([&nvvm, &ir, &take, sm, &result] {
        take(nvvm.compile(ir, sm, DeviceCode::LtoIr), result);
      });
    runAll(jobs);
    if (!prototypes.why.empty())
      return Fault{ErrorKind::Input, origin + ": " + prototypes.why};
    for (auto [sm, result] : llvm::zip(versions, results)) {
      if (!result.why.empty())
        return Fault{ErrorKind::Input, origin + ": " + result.why};
      artifact.payloads.push_back({PayloadKind::LtoIr, "sm_" + std::to_string(sm),
                                   "libnvvm " + nvvm.release(), std::move(result.code)});
    }
    return std::nullopt;
  }

  std::optional<Fault> compileForHost() {
    Clock::time_point start = Clock::now();
    FailureOr<std::string> bytes = translateToHostBitcode(*module);
    if (failed(bytes))
      return fault();
    artifact.payloads.push_back({PayloadKind::HostBitcode, llvm::sys::getDefaultTargetTriple(),
                                 "llvm " LLVM_VERSION_STRING, std::move(*bytes)});
    timings.host = millisecondsSince(start);
    return std::nullopt;
  }

  const std::string &origin;
  const CompileOptions &options;
  Artifact &artifact;
  std::vector<std::string> &warnings;
  CompileTimings &timings;
  std::string errors;
  DialectRegistry registry;
  MLIRContext context;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  ir::MetricOp metric;
};

} // namespace

std::optional<Fault>
annudf::compiler::compileModule(const std::string &source, const std::string &origin,
                                const CompileOptions &options, Artifact &artifact,
                                std::vector<std::string> &warnings, CompileTimings &timings) {
  return Compilation(origin, options, artifact, warnings, timings).run(source);
}

const std::vector<int> &annudf::supportedArchs() {
  static const std::vector<int> archs(supportedSmVersions().begin(), supportedSmVersions().end());
  return archs;
}

std::string annudf::describeLibNvvm(std::string *searched) {
  auto nvvm = LibNvvm::load();
  if (nvvm)
    return "libNVVM " + (*nvvm)->release() + " (" + (*nvvm)->path() + ")";
  std::string why = llvm::toString(nvvm.takeError());
  if (searched)
    *searched = why;
  return "";
}
