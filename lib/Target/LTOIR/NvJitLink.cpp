//===- NvJitLink.cpp - LTO-IR to PTX, to look at --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Target/NvJitLink.h"

#include "annudf/Support/CudaFiles.h"
#include "annudf/Support/Fork.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <mutex>

using namespace llvm;
using namespace annudf;

struct NvJitLink::Functions {
  using Handle = void *;
  int (*create)(Handle *, uint32_t, const char **);
  int (*destroy)(Handle *);
  int (*addData)(Handle, int, const void *, size_t, const char *);
  int (*complete)(Handle);
  int (*ptxSize)(Handle, size_t *);
  int (*ptx)(Handle, char *);
  int (*cubinSize)(Handle, size_t *);
  int (*cubin)(Handle, char *);
  int (*logSize)(Handle, size_t *);
  int (*log)(Handle, char *);

  /// Empty, or which function the library lacks.
  std::string bind(void *library) {
    CudaSymbols get(library);
    get(create, "nvJitLinkCreate");
    get(destroy, "nvJitLinkDestroy");
    get(addData, "nvJitLinkAddData");
    get(complete, "nvJitLinkComplete");
    get(ptxSize, "nvJitLinkGetLinkedPtxSize");
    get(ptx, "nvJitLinkGetLinkedPtx");
    get(cubinSize, "nvJitLinkGetLinkedCubinSize");
    get(cubin, "nvJitLinkGetLinkedCubin");
    get(logSize, "nvJitLinkGetErrorLogSize");
    get(log, "nvJitLinkGetErrorLog");
    return get.complaint();
  }
};

NvJitLink::~NvJitLink() = default; // The library stays.

Expected<std::shared_ptr<const NvJitLink>> NvJitLink::load() {
  static PerProcess<std::mutex> mutex;
  static std::shared_ptr<const NvJitLink> loaded;
  std::lock_guard<std::mutex> lock(mutex.get());
  if (loaded)
    return loaded;
  std::shared_ptr<NvJitLink> linker(new NvJitLink);
  linker->functions = std::make_unique<Functions>();
  const CudaLibrary library = openCudaLibrary(
      cudaLibraryCandidates("libnvJitLink.so.13", "ANNUDF_NVJITLINK"),
      [&](void *handle, const std::string &) { return linker->functions->bind(handle); });
  if (!library.handle)
    return createStringError(inconvertibleErrorCode(),
                             "nvJitLink of CUDA 13 not found; looked at " + library.searched);
  loaded = std::move(linker);
  return loaded;
}

Expected<std::string> NvJitLink::linkToPtx(ArrayRef<StringRef> pieces, int sm) const {
  SmallVector<Piece> all;
  for (StringRef piece : pieces)
    all.push_back({Kind::LtoIr, piece});
  auto ptx = link(all, sm, /*toPtx=*/true);
  if (ptx)
    ptx->resize(std::strlen(ptx->c_str()));
  return ptx;
}

Expected<std::string> NvJitLink::linkToCubin(ArrayRef<Piece> pieces, int sm) const {
  return link(pieces, sm, /*toPtx=*/false);
}

Expected<std::string> NvJitLink::link(ArrayRef<Piece> pieces, int sm, bool toPtx) const {
  const Functions &link = *functions;
  const std::string arch = "-arch=sm_" + std::to_string(sm);
  const char *options[] = {arch.c_str(), "-lto", "-ptx"};
  Functions::Handle handle = nullptr;
  if (const int code = link.create(&handle, toPtx ? 3 : 2, options))
    return createStringError(inconvertibleErrorCode(), "nvJitLink does not start for sm_" +
                                                           Twine(sm) + " (error " + Twine(code) +
                                                           ")");
  scope_exit destroy([&] { link.destroy(&handle); });
  auto fail = [&](int code) {
    size_t size = 0;
    SmallString<256> log;
    if (link.logSize(handle, &size) == 0 && size > 1) {
      log.resize(size);
      (void)link.log(handle, log.data());
    }
    std::string why = StringRef(log.c_str()).trim().str();
    for (char &c : why)
      c = c == '\n' ? ' ' : c;
    return createStringError(inconvertibleErrorCode(), "nvJitLink cannot link it for sm_" +
                                                           Twine(sm) + " (error " + Twine(code) +
                                                           ")" + (why.empty() ? "" : ": " + why));
  };
  for (const Piece &piece : pieces)
    if (const int code = link.addData(handle, static_cast<int>(piece.kind), piece.bytes.data(),
                                      piece.bytes.size(), "code"))
      return fail(code);
  if (const int code = link.complete(handle))
    return fail(code);
  size_t size = 0;
  if (const int code = (toPtx ? link.ptxSize : link.cubinSize)(handle, &size))
    return fail(code);
  std::string result(size, '\0');
  if (const int code = (toPtx ? link.ptx : link.cubin)(handle, result.data()))
    return fail(code);
  return result;
}
