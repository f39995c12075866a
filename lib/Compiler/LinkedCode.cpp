//===- LinkedCode.cpp - Code of somebody else beside the hooks ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkedCode.h"

#include "CudaSource/Nvrtc.h"
#include "CudaSource/Program.h"

#include "annudf/ABI/Hooks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::compiler;

//===----------------------------------------------------------------------===//
// What it was made for
//===----------------------------------------------------------------------===//

/// Ten times the architecture, as CUDA 13.0 writes it into the header of LTO-IR.
static constexpr size_t kLtoIrArchOffset = 26;
/// e_flags of a 64-bit ELF file, in which a cubin has its architecture.
static constexpr size_t kElfFlagsOffset = 48;
/// From this ABI of cubins on it stands in the second byte; before that in the first.
static constexpr size_t kElfAbiOffset = 8;
static constexpr unsigned char kElfAbiOfSecondByte = 8;

/// "sm_90a" behind .target; 0 where there is none.
static int ptxArchitecture(StringRef ptx, std::string &suffix) {
  StringRef name = ptx.split(".target").second.ltrim();
  if (!name.consume_front("sm_"))
    return 0;
  int sm = 0;
  if (name.consumeInteger(10, sm))
    return 0;
  suffix = name.starts_with("a") ? "a" : name.starts_with("f") ? "f" : "";
  return sm;
}

/// 0 where it does not say.
static int architectureOf(ir::LinkKind kind, StringRef bytes, std::string &suffix) {
  switch (kind) {
  case ir::LinkKind::LtoIr: {
    const unsigned tenfold = llvm::support::endian::read16le(bytes.data() + kLtoIrArchOffset);
    return tenfold % 10 == 0 ? static_cast<int>(tenfold / 10) : 0;
  }
  case ir::LinkKind::Ptx:
    return ptxArchitecture(bytes, suffix);
  case ir::LinkKind::Cubin: {
    const uint32_t flags = llvm::support::endian::read32le(bytes.data() + kElfFlagsOffset);
    const auto abi = static_cast<unsigned char>(bytes[kElfAbiOffset]);
    return static_cast<int>((abi >= kElfAbiOfSecondByte ? flags >> 8 : flags) & 0xff);
  }
  case ir::LinkKind::CudaSource:
    return 0;
  }
  llvm_unreachable("a kind that the dialect does not have");
}

static bool isArchitecture(int sm) { return sm >= 50 && sm < 1000; }

//===----------------------------------------------------------------------===//
// Programs around it
//===----------------------------------------------------------------------===//

/// As CUDA C++ spells a number of the signature.
static StringRef spell(Type type) {
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  const bool isUnsigned = type.isUnsignedInteger();
  return type.getIntOrFloatBitWidth() == 64 ? (isUnsigned ? "unsigned long long" : "long long")
                                            : (isUnsigned ? "unsigned int" : "int");
}

/// Named as no function can be (E8), one of which they would hide.
static std::string parametersOf(FunctionType type, bool named) {
  std::string text;
  for (auto [i, input] : llvm::enumerate(type.getInputs()))
    text += (i ? ", " : "") + spell(input).str() + (named ? " annudf_a" + std::to_string(i) : "");
  return text;
}

/// Its declaration, before which no other can stand that differs.
static std::string declare(ir::ExternOp op) {
  const FunctionType type = op.getFunctionType();
  const std::string result = spell(type.getResult(0)).str();
  const std::string parameters = parametersOf(type, /*named=*/false);
  const std::string name = op.getSymName().str();
  switch (op.getConvention()) {
  case ir::ExternConvention::C:
    return "extern \"C\" __device__ " + result + " " + name + "(" + parameters + ");\n";
  case ir::ExternConvention::Numba:
    return "extern \"C\" __device__ int " + name + "(" + result + " *" +
           (parameters.empty() ? "" : ", ") + parameters + ");\n";
  }
  llvm_unreachable("a convention that the dialect does not have");
}

/// Hands over by value what numba's convention takes by pointer. Its status is dropped: numba's
/// exceptions need a kernel of numba's.
static std::string adapt(ir::ExternOp op) {
  const FunctionType type = op.getFunctionType();
  const std::string result = spell(type.getResult(0)).str();
  std::string call = op.getSymName().str() + "(&annudf_result";
  for (unsigned i = 0; i < type.getNumInputs(); ++i)
    call += ", annudf_a" + std::to_string(i);
  return declare(op) + "extern \"C\" __device__ " + result + " " + op.getCalledSymbol() + "(" +
         parametersOf(type, /*named=*/true) + ") {\n  " + result + " annudf_result;\n  " + call +
         ");\n  return annudf_result;\n}\n";
}

/// The hooks that NVVM IR defines.
static SmallVector<StringRef> hooksOf(StringRef ir) {
  SmallVector<StringRef> lines, hooks;
  ir.split(lines, '\n');
  for (StringRef line : lines)
    if (line.starts_with("define ") && line.contains("@annudf1_"))
      hooks.push_back(line.split('@').second.take_until([](char c) { return c == '('; }));
  return hooks;
}

/// What code of annudf's asks a linker for: every hook of every kind of metric, and what the
/// runtime defines.
static SmallVector<StringRef> reservedNames() {
  SmallVector<StringRef> names(std::begin(kRuntimeConstants), std::end(kRuntimeConstants));
  auto add = [&](auto, const char *symbol, auto) { names.push_back(symbol); };
  forEachFilterHook(add);
#define ANNUDF_ROWS_OF_WIDTHS(F, A, X)                                                             \
  forEachScanHook({A, X, static_cast<AccumulatorForm>((#F)[0])}, add);
  ANNUDF_HOOK_WIDTHS(ANNUDF_ROWS_OF_WIDTHS)
#undef ANNUDF_ROWS_OF_WIDTHS
  return names;
}

/// What a cubin defines for others. None where it cannot be read, which its linker will say.
static std::vector<std::string> namesOfCubin(StringRef bytes, bool weakToo = true) {
  std::vector<std::string> names;
  auto file = llvm::object::ELF64LEFile::create(bytes);
  auto sections = file ? file->sections() : file.takeError();
  if (!sections) {
    llvm::consumeError(sections.takeError());
    return names;
  }
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_SYMTAB)
      continue;
    auto symbols = file->symbols(&section);
    auto strings = file->getStringTableForSymtab(section);
    if (symbols && strings)
      for (const auto &symbol : *symbols) {
        auto name = symbol.getName(*strings);
        const auto binding = symbol.getBinding();
        if (name && symbol.isDefined() && binding != llvm::ELF::STB_LOCAL &&
            (weakToo || binding == llvm::ELF::STB_GLOBAL))
          names.push_back(name->str());
        llvm::consumeError(name.takeError());
      }
    llvm::consumeError(symbols.takeError());
    llvm::consumeError(strings.takeError());
  }
  return names;
}

/// A kernel that keeps every function as it is, since it stores their addresses: what nothing
/// calls no linker looks at. For libNVVM.
static std::string makeKernel(ArrayRef<LinkedFunction> functions, ArrayRef<StringRef> names) {
  std::string declarations, stores;
  llvm::StringSet<llvm::MallocAllocator> seen;
  auto keep = [&](StringRef name) {
    if (!seen.insert(name).second)
      return;
    declarations += "declare void @" + name.str() + "()\n";
    stores += "  store volatile i8* bitcast (void ()* @" + name.str() + " to i8*), i8** %out\n";
  };
  for (const LinkedFunction &function : functions) {
    keep(function.symbol);
    keep(function.called);
  }
  for (StringRef name : names)
    keep(name);
  const std::string probe = "@" + std::string(kProbeName);
  return "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-"
         "i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-"
         "n16:32:64\"\n"
         "target triple = \"nvptx64-nvidia-cuda\"\n"
         "@llvm.used = appending global [1 x i8*] [i8* bitcast (void (i8**)* " +
         probe + " to i8*)], section \"llvm.metadata\"\n" + declarations + "define void " + probe +
         "(i8** %out) {\n" + stores +
         "  ret void\n}\n"
         "!nvvm.annotations = !{!0}\n"
         "!0 = !{void (i8**)* " +
         probe +
         ", !\"kernel\", i32 1}\n"
         "!nvvmir.version = !{!1}\n!1 = !{i32 2, i32 0}\n";
}

//===----------------------------------------------------------------------===//
// LinkedCode
//===----------------------------------------------------------------------===//

void LinkedCode::dropUncalled() {
  llvm::StringSet<llvm::MallocAllocator> called;
  module.walk([&](ir::CallOp call) { called.insert(call.getCallee()); });
  for (ir::ExternOp declaration : llvm::to_vector(module.getOps<ir::ExternOp>()))
    if (!called.contains(declaration.getSymName()))
      declaration.erase();
}

bool LinkedCode::isEmpty() const {
  return const_cast<LinkedCode *>(this)->module.getOps<ir::ExternOp>().empty();
}

Fault LinkedCode::refuse(const std::string &symbol, const std::string &what) {
  const std::string all = "code linked for '" + symbol + "' " + what;
  auto declaration = module.lookupSymbol<ir::ExternOp>(symbol);
  return declaration ? messages.refuse(declaration.getLoc(), all) : messages.refuse(all);
}

std::optional<Fault> LinkedCode::compile(StringRef symbol, const std::string &program,
                                         const std::string &source, int sm) {
  const std::string before =
      "; before it stands " +
      StringRef(declare(module.lookupSymbol<ir::ExternOp>(symbol))).trim().str();
  if (const std::string why = findIncludedPath(source); !why.empty())
    return refuse(symbol.str(), "does not compile: " + why);
  auto nvrtc = Nvrtc::load();
  if (!nvrtc)
    return Fault{ErrorKind::Environment, llvm::toString(nvrtc.takeError())};
  auto made = (*nvrtc)->compile(program, sm, DeviceCode::LtoIr);
  if (!made)
    return Fault{ErrorKind::Environment, llvm::toString(made.takeError())};
  if (made->ok) {
    pieces.push_back({symbol.str(), Payload::linkedLtoIr(sm, "", {"nvrtc", (*nvrtc)->release()},
                                                         std::move(made->code))});
    return std::nullopt;
  }
  for (const annudf::Diagnostic &found : parseLog(made->log, source, "its source"))
    if (found.severity == annudf::Diagnostic::Severity::Error)
      return refuse(
          symbol.str(),
          "does not compile: " + (found.line ? "line " + std::to_string(found.line) + ": " : "") +
              found.message + before);
  return refuse(symbol.str(), "does not compile: " + StringRef(made->log).trim().str() + before);
}

std::optional<Fault> LinkedCode::add(ir::ExternOp declaration, ir::LinkKind kind, StringRef content,
                                     int sm) {
  const std::string symbol = declaration.getSymName().str();
  std::string suffix;
  PayloadKind payload = PayloadKind::LinkedLtoIr;
  switch (kind) {
  case ir::LinkKind::CudaSource:
    return compile(
        symbol, declare(declaration) + "#line 1 \"" + kSourceName + "\"\n" + content.str() + "\n",
        content.str(), sm);
  case ir::LinkKind::LtoIr:
    break;
  case ir::LinkKind::Ptx:
    payload = PayloadKind::LinkedPtx;
    break;
  case ir::LinkKind::Cubin:
    payload = PayloadKind::LinkedCubin;
    break;
  }
  const int made = architectureOf(kind, content, suffix);
  if (!isArchitecture(made))
    return refuse(symbol, "does not say which architecture it is for, as " +
                              ir::stringifyEnum(kind).str() + " of CUDA 13 does");
  // One library may be linked for several functions.
  for (const Piece &piece : pieces)
    if (piece.payload.kind == payload && piece.payload.bytes == content) {
      pieces.push_back({symbol, piece.payload});
      return std::nullopt;
    }
  pieces.push_back(
      {symbol, Payload::linked(payload, made, suffix, {"unknown", "0"}, content.str())});
  return std::nullopt;
}

std::optional<Fault> LinkedCode::prepare(SmallVectorImpl<int> &versions, bool isAsked) {
  int least = 0;
  for (auto declaration : module.getOps<ir::ExternOp>())
    for (size_t i = 0; i < declaration.getKinds().size(); ++i) {
      std::string suffix;
      const int sm = architectureOf(declaration.getKind(i), declaration.getContent(i), suffix);
      if (isAsked && isArchitecture(sm) && sm > versions.front())
        return refuse(declaration.getSymName().str(),
                      "is for sm_" + std::to_string(sm) + ", which is newer than sm_" +
                          std::to_string(versions.front()) + "; compile the metric for sm_" +
                          std::to_string(sm) + " or newer");
      least = std::max(least, sm);
    }
  llvm::erase_if(versions, [&](int sm) { return sm < least; });
  if (versions.empty())
    return Fault{ErrorKind::Input, origin + ": links code for sm_" + std::to_string(least) +
                                       ", and this annudf compiles for no such architecture"};
  for (auto declaration : module.getOps<ir::ExternOp>()) {
    for (size_t i = 0; i < declaration.getKinds().size(); ++i)
      if (auto fault =
              add(declaration, declaration.getKind(i), declaration.getContent(i), versions.front()))
        return fault;
    if (declaration.getConvention() == ir::ExternConvention::Numba)
      if (auto fault = compile(declaration.getSymName(), adapt(declaration), "", versions.front()))
        return fault;
  }
  return std::nullopt;
}

SmallVector<const LinkedCode::Piece *> LinkedCode::distinct() const {
  SmallVector<const Piece *> out;
  for (const Piece &piece : pieces)
    if (llvm::none_of(out, [&](const Piece *other) {
          return other->payload.kind == piece.payload.kind &&
                 other->payload.bytes == piece.payload.bytes;
        }))
      out.push_back(&piece);
  return out;
}

std::optional<Fault> LinkedCode::checkPrototype(const LinkedFunction &function,
                                                const std::string &linked) {
  SmallVector<StringRef> ptx = {linked};
  bool isFound = false;
  for (const Piece &piece : pieces) {
    if (piece.payload.kind == PayloadKind::LinkedPtx && piece.symbol == function.symbol)
      ptx.push_back(piece.payload.bytes);
    // Machine code has no prototypes to read.
    if (piece.payload.kind == PayloadKind::LinkedCubin)
      isFound |= llvm::is_contained(namesOfCubin(piece.payload.bytes), function.symbol);
  }
  for (StringRef text : ptx) {
    auto found = findLinkedPrototype(text, function.symbol, function.prototype);
    if (!found)
      return refuse(function.symbol, llvm::toString(found.takeError()));
    isFound |= *found;
  }
  if (!isFound)
    return refuse(function.symbol, "does not define it, as extern \"C\" has it");
  return std::nullopt;
}

/// A linker that finds a name twice takes one of them without a word where the other is weak.
std::optional<Fault> LinkedCode::checkNames(const NvJitLink &linker, StringRef probe,
                                            const std::string &linked, int sm) {
  auto refuseName = [&](const Piece &piece, const std::string &name) {
    return refuse(piece.symbol, "defines " + name + ", a name reserved for annudf; rename it");
  };
  const std::string ofLtoIr = findReservedName(namesOfPtx(linked));
  for (const Piece *piece : distinct()) {
    std::string name;
    if (piece->payload.kind == PayloadKind::LinkedPtx)
      name = findReservedName(namesOfPtx(piece->payload.bytes));
    if (piece->payload.kind == PayloadKind::LinkedCubin)
      name = findReservedName(namesOfCubin(piece->payload.bytes));
    if (piece->payload.kind == PayloadKind::LinkedLtoIr && !ofLtoIr.empty()) { // Which of them?
      auto alone = linker.linkToPtx({probe, piece->payload.bytes}, sm);
      name = alone ? findReservedName(namesOfPtx(*alone)) : "";
      llvm::consumeError(alone.takeError());
    }
    if (!name.empty())
      return refuseName(*piece, name);
  }
  if (!ofLtoIr.empty())
    return refuseName(pieces.front(), ofLtoIr);
  return std::nullopt;
}

/// LTO-IR counts as one piece: its linker refuses what stands there twice.
std::optional<Fault> LinkedCode::checkTwice(const std::string &linked) {
  llvm::StringSet<llvm::MallocAllocator> seen;
  for (const std::string &name : strongNamesOfPtx(linked))
    seen.insert(name);
  for (const LinkedFunction &function : linkedFunctionsOf(module))
    for (const std::string &name : namesOfPtx(linked))
      if (name == function.symbol || name == function.called) // Also a weak one: it is inlined.
        seen.insert(name);
  for (const Piece *piece : distinct()) {
    std::vector<std::string> names;
    if (piece->payload.kind == PayloadKind::LinkedPtx)
      names = strongNamesOfPtx(piece->payload.bytes);
    if (piece->payload.kind == PayloadKind::LinkedCubin)
      names = namesOfCubin(piece->payload.bytes, /*weakToo=*/false);
    for (const std::string &name : names)
      if (!seen.insert(name).second)
        return refuse(piece->symbol,
                      "defines " + name + ", as other code that is linked does; link one of them");
  }
  return std::nullopt;
}

std::optional<Fault> LinkedCode::check(const LibNvvm &nvvm, StringRef ir, StringRef hooks, int sm) {
  auto linker = NvJitLink::load();
  if (!linker) {
    messages.warn("the prototypes of linked code were not checked: " +
                  llvm::toString(linker.takeError()));
    return std::nullopt;
  }
  const std::vector<LinkedFunction> functions = linkedFunctionsOf(module);
  auto probe = nvvm.compile(makeKernel(functions, reservedNames()), sm, DeviceCode::LtoIr);
  if (!probe)
    return Fault{ErrorKind::Environment, llvm::toString(probe.takeError())};
  auto whole = nvvm.compile(makeKernel(functions, hooksOf(ir)), sm, DeviceCode::LtoIr);
  if (!whole)
    return Fault{ErrorKind::Environment, llvm::toString(whole.takeError())};
  SmallVector<StringRef> lto = {*probe};
  SmallVector<NvJitLink::Piece> all = {{NvJitLink::Kind::LtoIr, *whole},
                                       {NvJitLink::Kind::LtoIr, hooks}};
  for (const Piece *piece : distinct()) {
    const PayloadKind kind = piece->payload.kind;
    if (kind == PayloadKind::LinkedLtoIr)
      lto.push_back(piece->payload.bytes);
    all.push_back({kind == PayloadKind::LinkedPtx     ? NvJitLink::Kind::Ptx
                   : kind == PayloadKind::LinkedCubin ? NvJitLink::Kind::Cubin
                                                      : NvJitLink::Kind::LtoIr,
                   piece->payload.bytes});
  }
  auto linked = (*linker)->linkToPtx(lto, sm);
  if (!linked)
    return refuse(functions.front().symbol,
                  "cannot be linked: " + llvm::toString(linked.takeError()));
  if (auto fault = checkNames(**linker, *probe, *linked, sm))
    return fault;
  for (const LinkedFunction &function : functions)
    if (auto fault = checkPrototype(function, *linked))
      return fault;
  if (auto fault = checkTwice(*linked))
    return fault;
  auto cubin = (*linker)->linkToCubin(all, sm);
  if (!cubin)
    return refuse(functions.front().symbol,
                  "cannot be linked with the metric: " + llvm::toString(cubin.takeError()));
  return std::nullopt;
}

std::vector<Payload> LinkedCode::takePayloads() {
  std::vector<Payload> payloads;
  for (const Piece *piece : distinct())
    payloads.push_back(piece->payload);
  return payloads;
}
