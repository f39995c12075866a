//===- LibNvvm.cpp - NVVM IR to LTO-IR and PTX ----------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Target/LibNvvm.h"

#include "annudf/Support/CudaFiles.h"
#include "annudf/Support/Fork.h"
#include "annudf/Target/LibDevice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

#include <mutex>

using namespace llvm;
using namespace annudf;

//===----------------------------------------------------------------------===//
// Architectures
//===----------------------------------------------------------------------===//

static constexpr int kSmVersions[] = {75, 80, 86, 89, 90, 100, 103, 120, 121};

ArrayRef<int> annudf::supportedSmVersions() { return kSmVersions; }

Expected<int> annudf::parseSmVersion(StringRef arch) {
  StringRef digits = arch;
  int sm = 0;
  if (digits.consume_front("sm_") && !digits.getAsInteger(10, sm) &&
      is_contained(kSmVersions, sm) && arch == "sm_" + std::to_string(sm))
    return sm;
  std::string known;
  for (int version : kSmVersions)
    known += (known.empty() ? "sm_" : ", sm_") + std::to_string(version);
  return createStringError(inconvertibleErrorCode(),
                           "unknown architecture '" + arch + "'; supported are " + known);
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

struct LibNvvm::Functions {
  using Program = void *;
  int (*version)(int *, int *);
  int (*irVersion)(int *, int *, int *, int *);
  int (*create)(Program *);
  int (*destroy)(Program *);
  int (*add)(Program, const char *, size_t, const char *);
  int (*addLazily)(Program, const char *, size_t, const char *);
  int (*verify)(Program, int, const char **);
  int (*compile)(Program, int, const char **);
  int (*resultSize)(Program, size_t *);
  int (*result)(Program, char *);
  int (*logSize)(Program, size_t *);
  int (*log)(Program, char *);
  const char *(*errorString)(int);

  /// Empty, or which function the library lacks.
  std::string bind(void *library) {
    CudaSymbols get(library);
    get(version, "nvvmVersion");
    get(irVersion, "nvvmIRVersion");
    get(create, "nvvmCreateProgram");
    get(destroy, "nvvmDestroyProgram");
    get(add, "nvvmAddModuleToProgram");
    get(addLazily, "nvvmLazyAddModuleToProgram");
    get(verify, "nvvmVerifyProgram");
    get(compile, "nvvmCompileProgram");
    get(resultSize, "nvvmGetCompiledResultSize");
    get(result, "nvvmGetCompiledResult");
    get(logSize, "nvvmGetProgramLogSize");
    get(log, "nvvmGetProgramLog");
    get(errorString, "nvvmGetErrorString");
    return get.complaint();
  }
};

namespace {

template <typename... Ts> Error makeError(const Ts &...parts) {
  std::string text;
  raw_string_ostream os(text);
  (os << ... << parts);
  return createStringError(inconvertibleErrorCode(), text);
}

/// libNVVM's log as one line.
std::string oneLine(StringRef log) {
  std::string text;
  for (char c : log.rtrim(StringRef("\n \0", 3)))
    text += c == '\n' ? ' ' : c;
  return text;
}

std::string replaceAll(StringRef text, StringRef from, StringRef to) {
  std::string result;
  while (true) {
    auto [before, after] = text.split(from);
    result += before;
    if (before.size() == text.size())
      return result;
    result += to;
    text = after;
  }
}

/// What the toolkit calls itself stands in a comment of the PTX it writes;
/// nvvmVersion() is that of the interface, 2.0 in every release.
StringRef releaseOf(StringRef ptx) {
  StringRef rest = ptx.split("release ").second;
  return rest.take_until([](char c) { return c == ',' || c == '\n'; });
}

constexpr StringLiteral kProbe =
    "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-"
    "i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
    "target triple = \"nvptx64-nvidia-cuda\"\n"
    "define void @probe() { ret void }\n"
    "!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}\n";

} // namespace

LibNvvm::~LibNvvm() = default; // The library stays: its threads may outlive us.

Expected<std::shared_ptr<const LibNvvm>> LibNvvm::load() {
  static PerProcess<std::mutex> mutex;
  static std::shared_ptr<const LibNvvm> loaded;
  static std::string loadedFrom;
  std::lock_guard<std::mutex> lock(mutex.get());
  std::vector<std::string> candidates =
      cudaLibraryCandidates("libnvvm.so.4", "ANNUDF_LIBNVVM", {"nvvm/lib64", "lib64"});
  if (loaded && is_contained(candidates, loadedFrom))
    return loaded;
  std::shared_ptr<LibNvvm> nvvm;
  CudaLibrary library = openCudaLibrary(candidates, [&](void *handle, const std::string &file) {
    nvvm.reset(new LibNvvm);
    return nvvm->open(handle, file);
  });
  if (!library.handle)
    return makeError(
        "libNVVM of CUDA 13 not found; looked at ", library.searched,
        " (install the CUDA toolkit or the PyPI package nvidia-nvvm, or name the library "
        "with ANNUDF_LIBNVVM)");
  loaded = nvvm;
  loadedFrom = library.path;
  return loaded;
}

/// Takes the library as ours: empty, or why it will not do.
std::string LibNvvm::open(void *handle, const std::string &file) {
  functions = std::make_unique<Functions>();
  if (std::string lacks = functions->bind(handle); !lacks.empty())
    return lacks;
  int major = 0, minor = 0, debugMajor = 0, debugMinor = 0;
  functions->irVersion(&major, &minor, &debugMajor, &debugMinor);
  if (major != 2)
    return "reads NVVM IR " + std::to_string(major) + "." + std::to_string(minor) +
           ", needed is 2.0";
  libraryPath = file;
  auto ptx = compile(kProbe, kSmVersions[0], DeviceCode::Ptx);
  if (!ptx)
    return toString(ptx.takeError());
  releaseName = releaseOf(*ptx).str();
  int release = 0;
  if (StringRef(releaseName).split('.').first.getAsInteger(10, release) || release < 13)
    return "of CUDA " + releaseName + ", needed is 13.0 or newer";
  return "";
}

Expected<std::string> LibNvvm::compile(StringRef ir, int sm, DeviceCode kind) const {
  const Functions &nvvm = *functions;
  Functions::Program program = nullptr;
  if (int code = nvvm.create(&program))
    return makeError("libNVVM cannot start: ", nvvm.errorString(code));
  scope_exit destroy([&] { nvvm.destroy(&program); });
  auto fail = [&](StringRef step, int code) {
    size_t size = 0;
    std::string log;
    if (!nvvm.logSize(program, &size) && size > 1) {
      log.resize(size);
      nvvm.log(program, log.data());
    }
    return makeError("libNVVM refused to ", step, " for sm_", sm, ": ", nvvm.errorString(code),
                     log.empty() ? "" : "; ", oneLine(log));
  };
  // A body stands in update once for every coordinate of a word, of every element
  // type; with a power in it, that would be most of the time of a compile.
  std::string outlined;
  if (kind == DeviceCode::Prototypes) {
    outlined = replaceAll(ir, " alwaysinline", " noinline");
    ir = outlined;
  }
  if (int code = nvvm.add(program, ir.data(), ir.size(), "metric"))
    return fail("read the metric", code);
  if (ir.contains("@__nv_")) {
    auto device = libDevice(libraryPath);
    if (!device)
      return device.takeError();
    StringRef bytes = (*device)->getBuffer();
    if (int code = nvvm.addLazily(program, bytes.data(), bytes.size(), "libdevice"))
      return fail("read libdevice", code);
  }
  std::string arch = "-arch=compute_" + std::to_string(sm);
  SmallVector<const char *, 2> options = {arch.c_str()};
  if (kind == DeviceCode::LtoIr)
    options.push_back("-gen-lto");
  if (kind == DeviceCode::Prototypes)
    options.push_back("-opt=0");
  // Each refuses what the other lets through.
  if (int code = nvvm.verify(program, options.size(), options.data()))
    return fail("verify the metric", code);
  if (int code = nvvm.compile(program, options.size(), options.data()))
    return fail("compile the metric", code);
  size_t size = 0;
  std::string result;
  if (int code = nvvm.resultSize(program, &size))
    return fail("give its result", code);
  result.resize(size);
  if (int code = nvvm.result(program, result.data()))
    return fail("give its result", code);
  if (kind != DeviceCode::LtoIr && !result.empty() && result.back() == '\0')
    result.pop_back();
  return result;
}
