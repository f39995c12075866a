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

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

using namespace annudf;

namespace {

template <typename T> T expect(llvm::Expected<T> value) {
  if (!value)
    throw Error(ErrorKind::Environment, llvm::toString(value.takeError()));
  return std::move(*value);
}

void link(const Artifact &artifact, int sm, const std::string &path) {
  const Payload &hooks = *artifact.findHooksOfGpu(sm);
  const auto kind = hooks.kind == PayloadKind::Ptx ? NvJitLink::Kind::Ptx : NvJitLink::Kind::LtoIr;
  // By nvcc: nvJitLink drops a kernel that libNVVM itself was given.
  static const std::string kernel = readFile(ANNUDF_EVALUATE_LTOIR, 1 << 20);
  static const std::shared_ptr<const NvJitLink> linker = expect(NvJitLink::load());
  writeFile(path, expect(linker->linkToCubin(
                      {{NvJitLink::Kind::LtoIr, kernel}, {kind, hooks.bytes}}, sm)));
}

int write(const std::string &folder, int count, const std::string &arch) {
  std::filesystem::create_directories(folder);
  const int sm = expect(parseSmVersion(arch));
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
  int count = 0;
  if (argc != 4 ||
      std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), count).ec != std::errc() ||
      count < 1) {
    std::fprintf(stderr, "usage: annudf_write_nvptx_bodies FOLDER COUNT ARCH\n");
    return 2;
  }
  try {
    return write(argv[1], count, argv[3]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "annudf_write_nvptx_bodies: %s\n", error.what());
    return 1;
  }
}
