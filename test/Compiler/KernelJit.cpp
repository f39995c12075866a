//===- KernelJit.cpp - Kernels of a gpu.module on the CPU -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelJit.h"

#include "HostJit.h"
#include "PlainCode.h"

#include "annudf/InitAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/IR/IRBuilder.h"

#include <barrier>
#include <map>
#include <thread>

using namespace mlir;
using namespace annudf::test;

/// The running block's. Blocks run one after another.
static std::barrier<> *running = nullptr;
extern "C" __attribute__((visibility("default"))) void annudf_test_barrier() {
  running->arrive_and_wait();
}

namespace {
/// A kernel as a function: behind its own parameters are its places, then the block's memory.
enum Place : unsigned { Thread, BlockX, BlockY, GridX, kPlaces };

struct Function {
  unsigned threads = 0;
  /// What the block shares: bytes, and words of a descriptor.
  std::vector<std::pair<size_t, size_t>> shared;
  void (*run)(void **parameters) = nullptr;
};

constexpr const char *kPacked = "annudf_test_packed_";
} // namespace

struct KernelJit::Implementation {
  std::map<std::string, Function> functions;
  std::unique_ptr<PlainCode> code;
};

static Place placeOf(Operation *op) {
  if (isa<gpu::ThreadIdOp>(op))
    return Thread;
  if (isa<gpu::GridDimOp>(op))
    return GridX;
  return cast<gpu::BlockIdOp>(op).getDimension() == gpu::Dimension::x ? BlockX : BlockY;
}

static Function toFunction(OpBuilder &builder, gpu::GPUFuncOp kernel) {
  Function made;
  made.threads = static_cast<unsigned>(kernel.getKnownBlockSizeAttr()[0]);
  Block &body = kernel.getBody().front();
  const Location loc = kernel.getLoc();
  SmallVector<Type> types(kernel.getFunctionType().getInputs());
  types.append(kPlaces, builder.getIndexType());
  for (unsigned i = 0; i < kPlaces; ++i)
    body.insertArgument(kernel.getNumArguments() + i, builder.getIndexType(), loc);
  for (BlockArgument shared : body.getArguments().drop_front(types.size())) {
    auto type = cast<MemRefType>(shared.getType());
    made.shared.emplace_back(static_cast<size_t>(type.getNumElements()) *
                                 type.getElementTypeBitWidth() / 8,
                             3 + 2 * static_cast<size_t>(type.getRank()));
    shared.setType(MemRefType::get(type.getShape(), type.getElementType()));
    types.push_back(shared.getType());
  }
  const unsigned places = kernel.getFunctionType().getNumInputs();
  kernel->walk([&](Operation *op) {
    builder.setInsertionPoint(op);
    if (isa<gpu::ThreadIdOp, gpu::BlockIdOp, gpu::GridDimOp>(op))
      op->replaceAllUsesWith(ValueRange(body.getArgument(places + placeOf(op))));
    else if (isa<gpu::BarrierOp>(op))
      func::CallOp::create(builder, loc, "annudf_test_barrier", TypeRange());
    else if (isa<gpu::ReturnOp>(op))
      func::ReturnOp::create(builder, loc);
    else
      return;
    op->erase();
  });
  builder.setInsertionPoint(kernel->getParentOp());
  auto function =
      func::FuncOp::create(builder, loc, kernel.getName(), builder.getFunctionType(types, {}));
  function.getBody().takeBody(kernel.getBody());
  return made;
}

/// void packed(void **parameters): calls a function with what they point to.
static void addPacked(llvm::Module &module, const std::string &name) {
  llvm::Function *called = module.getFunction(name);
  llvm::IRBuilder<> b(module.getContext());
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  auto *packed =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, kPacked + name, module);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", packed));
  llvm::SmallVector<llvm::Value *> values;
  for (llvm::Argument &argument : called->args()) {
    llvm::Value *at = b.CreateConstGEP1_32(b.getPtrTy(), packed->getArg(0), argument.getArgNo());
    values.push_back(b.CreateLoad(argument.getType(), b.CreateLoad(b.getPtrTy(), at)));
  }
  b.CreateCall(called, values);
  b.CreateRetVoid();
}

KernelJit::KernelJit(const std::string &text, const std::string &pipeline)
    : implementation(new Implementation) {
  DialectRegistry registry;
  annudf::registerAllDialects(registry);
  annudf::registerAllPasses();
  PlainCode::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    fault += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  FailureOr<OpPassManager> parsed = parsePassPipeline(pipeline);
  PassManager passes(&context);
  if (failed(parsed) || !module) {
    fault += "no module, or no pipeline\n";
    return;
  }
  static_cast<OpPassManager &>(passes) = *parsed;
  if (failed(passes.run(*module)))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module->getBody());
  auto barrier = func::FuncOp::create(builder, module->getLoc(), "annudf_test_barrier",
                                      builder.getFunctionType({}, {}));
  barrier.setPrivate();
  std::vector<std::string> names;
  for (auto kernels : llvm::make_early_inc_range(module->getOps<gpu::GPUModuleOp>())) {
    for (auto kernel : kernels.getOps<gpu::GPUFuncOp>()) {
      names.push_back(kernel.getName().str());
      implementation->functions[names.back()] = toFunction(builder, kernel);
    }
    kernels.erase();
  }
  implementation->code =
      std::make_unique<PlainCode>(*module, /*optimize=*/true, [&](llvm::Module &code) {
        for (const std::string &name : names)
          addPacked(code, name);
      });
  for (auto &[name, function] : implementation->functions)
    function.run = reinterpret_cast<void (*)(void **)>(implementation->code->find(kPacked + name));
  fault += implementation->code->fault;
}

KernelJit::~KernelJit() = default;

/// Calls a thread's part of a block.
ANNUDF_CALLS_JIT static void runThread(const Function &function, std::vector<void *> parameters,
                                       int64_t thread, size_t places) {
  parameters[places + Thread] = &thread;
  function.run(parameters.data());
}

void KernelJit::launch(const std::string &kernel, unsigned gridX, unsigned gridY,
                       const std::vector<void *> &parameters) const {
  const Function &function = implementation->functions.at(kernel);
  int64_t grid[] = {0, 0, 0, gridX};
  std::vector<void *> all = parameters;
  for (int64_t &place : grid)
    all.push_back(&place);
  // Sizes and strides are static, and so not read.
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::vector<void *>> descriptors;
  for (auto [bytes, words] : function.shared) {
    memory.emplace_back(bytes);
    descriptors.emplace_back(words);
    descriptors.back()[0] = descriptors.back()[1] = memory.back().data();
  }
  for (std::vector<void *> &descriptor : descriptors)
    for (void *&word : descriptor)
      all.push_back(static_cast<void *>(&word));
  for (grid[BlockY] = 0; grid[BlockY] < gridY; ++grid[BlockY])
    for (grid[BlockX] = 0; grid[BlockX] < gridX; ++grid[BlockX]) {
      std::barrier<> block(function.threads);
      running = &block;
      std::vector<std::jthread> threads;
      threads.reserve(function.threads);
      for (unsigned i = 0; i < function.threads; ++i)
        threads.emplace_back([&, i] { runThread(function, all, i, parameters.size()); });
    }
}
