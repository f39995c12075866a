//===- WriteNvptxBodies.cpp - Random bodies by libNVVM and by NVPTX -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: annudf_write_nvptx_bodies FOLDER COUNT ARCH
//
// Writes COUNT random updates of test/Compiler/RandomBody.h as machine code of a kernel that
// evaluates the update of many samples: SEED.libnvvm.cubin and SEED.nvptx.cubin. Bodies that the
// verifier refuses for their size are passed over. NvptxBodies.cpp compares their results.
//
//===----------------------------------------------------------------------===//

#include "Compiler/RandomBody.h"

#include "annudf/Compiler/Compiler.h"
#include "annudf/Support/FileIO.h"
#include "annudf/Target/LibNvvm.h"
#include "annudf/Target/NvJitLink.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

using namespace annudf;

namespace {

/// A sample is five words: accumulator, x, y, dim and dims.
constexpr llvm::StringLiteral kEvaluate = R"(
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @annudf1_scan_update_a32_x32(i32, i32, i32, i32, i32, i64, i32, i32, i64*)
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define void @annudf_evaluate(i32* %samples, i32* %results, i32 %count) {
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul i32 %block, %threads
  %i = add i32 %first, %thread
  %inside = icmp ult i32 %i, %count
  br i1 %inside, label %evaluate, label %end
evaluate:
  %w0 = mul i32 %i, 5
  %w1 = add i32 %w0, 1
  %w2 = add i32 %w0, 2
  %w3 = add i32 %w0, 3
  %w4 = add i32 %w0, 4
  %p0 = getelementptr i32, i32* %samples, i32 %w0
  %p1 = getelementptr i32, i32* %samples, i32 %w1
  %p2 = getelementptr i32, i32* %samples, i32 %w2
  %p3 = getelementptr i32, i32* %samples, i32 %w3
  %p4 = getelementptr i32, i32* %samples, i32 %w4
  %acc = load i32, i32* %p0
  %x = load i32, i32* %p1
  %y = load i32, i32* %p2
  %dim = load i32, i32* %p3
  %dims = load i32, i32* %p4
  %value = call i32 @annudf1_scan_update_a32_x32(i32 %acc, i32 %x, i32 %y, i32 %dim, i32 %dims, i64 0, i32 0, i32 0, i64* null)
  %result = getelementptr i32, i32* %results, i32 %i
  store i32 %value, i32* %result
  br label %end
end:
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (i32*, i32*, i32)* @annudf_evaluate, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
)";

template <typename T> T expect(llvm::Expected<T> value) {
  if (!value)
    throw Error(ErrorKind::Environment, llvm::toString(value.takeError()));
  return std::move(*value);
}

void link(const Artifact &artifact, int sm, const std::string &path) {
  const Payload &hooks = *artifact.findHooksOfGpu(sm);
  const auto kind =
      hooks.kind == PayloadKind::Ptx ? NvJitLink::Kind::Ptx : NvJitLink::Kind::LtoIr;
  static const std::string kernel =
      expect(expect(LibNvvm::load())->compile(kEvaluate, sm, DeviceCode::LtoIr));
  static const std::shared_ptr<const NvJitLink> linker = expect(NvJitLink::load());
  writeFile(path, expect(linker->linkToCubin(
                      {{NvJitLink::Kind::LtoIr, kernel}, {kind, hooks.bytes}}, sm)));
}

int write(const std::string &folder, int count, const std::string &arch) {
  std::filesystem::create_directories(folder);
  const int sm = std::atoi(arch.c_str() + 3);
  int written = 0, large = 0;
  for (uint32_t seed = 0; written < count; ++seed) {
    const test::RandomBody body(seed);
    CompileOptions options;
    options.archs = {arch};
    options.hostBitcode = false;
    try {
      for (auto [backend, name] : {std::pair(DeviceBackend::LibNvvm, ".libnvvm"),
                                   std::pair(DeviceBackend::Nvptx, ".nvptx")}) {
        options.deviceBackend = backend;
        link(compileMetric(body.metric(), "seed " + std::to_string(seed), options), sm,
             folder + "/" + std::to_string(seed) + name + ".cubin");
      }
    } catch (const Error &error) {
      if (std::string(error.what()).find("[S5]") == std::string::npos || ++large > count)
        throw;
      continue; // Too many loops.
    }
    ++written;
  }
  std::printf("%d random updates by both backends for %s, %d passed over: %s\n", written,
              arch.c_str(), large, folder.c_str());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4 || std::atoi(argv[2]) < 1) {
    std::fprintf(stderr, "usage: annudf_write_nvptx_bodies FOLDER COUNT ARCH\n");
    return 2;
  }
  try {
    return write(argv[1], std::atoi(argv[2]), argv[3]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "annudf_write_nvptx_bodies: %s\n", error.what());
    return 1;
  }
}
