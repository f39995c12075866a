//===- Nvrtc.cpp - CUDA C++ to LTO-IR and PTX -----------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nvrtc.h"

#include "Texts.h"

#include "annudf/Support/CudaFiles.h"
#include "annudf/Support/Fork.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <mutex>

using namespace llvm;
using namespace annudf;

struct Nvrtc::Functions {
  using Program = void *;
  int (*version)(int *, int *);
  int (*archCount)(int *);
  int (*archs)(int *);
  int (*create)(Program *, const char *, const char *, int, const char *const *,
                const char *const *);
  int (*destroy)(Program *);
  int (*compile)(Program, int, const char *const *);
  int (*ptxSize)(Program, size_t *);
  int (*ptx)(Program, char *);
  int (*ltoSize)(Program, size_t *);
  int (*lto)(Program, char *);
  int (*logSize)(Program, size_t *);
  int (*log)(Program, char *);
  const char *(*errorString)(int);

  /// Empty, or which function the library lacks.
  std::string bind(void *library) {
    CudaSymbols get(library);
    get(version, "nvrtcVersion");
    get(archCount, "nvrtcGetNumSupportedArchs");
    get(archs, "nvrtcGetSupportedArchs");
    get(create, "nvrtcCreateProgram");
    get(destroy, "nvrtcDestroyProgram");
    get(compile, "nvrtcCompileProgram");
    get(ptxSize, "nvrtcGetPTXSize");
    get(ptx, "nvrtcGetPTX");
    get(ltoSize, "nvrtcGetLTOIRSize");
    get(lto, "nvrtcGetLTOIR");
    get(logSize, "nvrtcGetProgramLogSize");
    get(log, "nvrtcGetProgramLog");
    get(errorString, "nvrtcGetErrorString");
    return get.complaint();
  }
};

Nvrtc::~Nvrtc() = default; // The library stays: its threads may outlive us.

/// CUDA's headers beside the library, for sources that include cuda_fp16.h; empty if none.
static std::string headersBeside(StringRef library) {
  SmallString<256> folder;
  if (sys::fs::real_path(library, folder))
    return "";
  sys::path::remove_filename(folder);
  sys::path::append(folder, "..", "include");
  sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  SmallString<256> probe(folder);
  sys::path::append(probe, "cuda_fp16.h");
  return sys::fs::exists(probe) ? folder.str().str() : "";
}

Expected<std::shared_ptr<const Nvrtc>> Nvrtc::load() {
  static PerProcess<std::mutex> mutex;
  static std::shared_ptr<const Nvrtc> loaded;
  static std::string loadedFrom;
  std::lock_guard<std::mutex> lock(mutex.get());
  std::vector<std::string> candidates = cudaLibraryCandidates("libnvrtc.so.13", "ANNUDF_LIBNVRTC");
  if (loaded && is_contained(candidates, loadedFrom))
    return loaded;
  std::shared_ptr<Nvrtc> nvrtc;
  CudaLibrary library = openCudaLibrary(candidates, [&](void *handle, const std::string &file) {
    nvrtc.reset(new Nvrtc);
    return nvrtc->open(handle, file);
  });
  if (!library.handle)
    return createStringError(
        inconvertibleErrorCode(),
        "NVRTC of CUDA 13 not found; looked at " + library.searched +
            " (install the CUDA toolkit or the PyPI package nvidia-cuda-nvrtc, "
            "or name the library with ANNUDF_LIBNVRTC)");
  loaded = nvrtc;
  loadedFrom = library.path;
  return loaded;
}

/// Takes the library as ours: empty, or why it will not do.
std::string Nvrtc::open(void *handle, const std::string &file) {
  functions = std::make_unique<Functions>();
  if (std::string lacks = functions->bind(handle); !lacks.empty())
    return lacks;
  int major = 0, minor = 0, count = 0;
  functions->version(&major, &minor);
  if (major < 13)
    return "of CUDA " + std::to_string(major) + "." + std::to_string(minor) +
           ", needed is 13.0 or newer";
  functions->archCount(&count);
  architectures.resize(count);
  functions->archs(architectures.data());
  releaseName = std::to_string(major) + "." + std::to_string(minor);
  libraryPath = file;
  includeFolder = headersBeside(file);
  return "";
}

bool Nvrtc::supports(int sm) const { return is_contained(architectures, sm); }

Expected<Nvrtc::Result> Nvrtc::compile(const std::string &program, int sm, DeviceCode kind) const {
  const Functions &nvrtc = *functions;
  auto fail = [&](StringRef step, int code) {
    return createStringError(inconvertibleErrorCode(), "NVRTC " + releaseName + " cannot " + step +
                                                           ": " + nvrtc.errorString(code));
  };
  const char *headers[] = {kAbiHeader, kTablesHeader},
             *names[] = {"annudf_abi.h", "annudf/ABI/annudf_tables.h"};
  Functions::Program handle = nullptr;
  if (int code = nvrtc.create(&handle, program.c_str(), "annudf_generated", 2, headers, names))
    return fail("start", code);
  scope_exit destroy([&] { nvrtc.destroy(&handle); });
  const std::string arch = "-arch=sm_" + std::to_string(sm), include = "-I" + includeFolder;
  // No header of the folder that the process happens to be in: see findIncludedPath().
  SmallVector<const char *> options = {arch.c_str(), "-rdc=true", "-std=c++20", "-default-device",
                                       "--no-source-include"};
  if (!includeFolder.empty())
    options.push_back(include.c_str());
  if (kind == DeviceCode::LtoIr)
    options.push_back("-dlto");
  constexpr int kCompilationError = 6; // NVRTC_ERROR_COMPILATION
  const int outcome = nvrtc.compile(handle, options.size(), options.data());
  if (outcome != 0 && outcome != kCompilationError)
    return fail("compile", outcome);
  Result result;
  result.ok = outcome == 0;
  auto take = [&](auto sizeOf, auto get, std::string &text) {
    size_t size = 0;
    if (int code = sizeOf(handle, &size))
      return code;
    text.resize(size);
    return size > 0 ? get(handle, text.data()) : 0;
  };
  if (int code = take(nvrtc.logSize, nvrtc.log, result.log))
    return fail("give its log", code);
  while (!result.log.empty() && result.log.back() == '\0')
    result.log.pop_back();
  if (!result.ok)
    return result;
  const bool lto = kind == DeviceCode::LtoIr;
  if (int code = lto ? take(nvrtc.ltoSize, nvrtc.lto, result.code)
                     : take(nvrtc.ptxSize, nvrtc.ptx, result.code))
    return fail("give its result", code);
  if (!lto && !result.code.empty() && result.code.back() == '\0')
    result.code.pop_back();
  return result;
}
