//===- WriteProvedBodies.cpp - Compiles random metrics that have a form ---===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: annudf_write_proved_bodies FOLDER COUNT [ARCH]
//
// Random updates of test/Analysis/RandomFormula.h, in turns smallest and largest first, one after
// another until COUNT of them are proved quadratic forms; each eleventh is a cosine or a
// correlation of RandomRatio.h, as it is. Into FOLDER, which it makes, it writes SEED.annudf of
// each: host bitcode; or LTO-IR for ARCH, then finalized in turns by nothing, a negation and a
// square root, which CPUs do not multiply. ProvedBodies.cpp searches with them.
//
//===----------------------------------------------------------------------===//

#include "RandomRatio.h"

#include "Analysis/RandomFormula.h"

#include "annudf/Compiler/Compiler.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

using namespace annudf;

namespace {

/// Each eleventh is one; all of these are proved.
bool isRatio(uint32_t seed) { return seed % 11 == 3; }

std::string metricOf(uint32_t seed, bool finalizes) {
  if (isRatio(seed))
    return test::RandomRatio(seed).metric("m" + std::to_string(seed));
  std::string text = test::RandomFormula(seed).metric("m" + std::to_string(seed));
  if (seed % 2)
    text.replace(text.find("order(min)"), std::strlen("order(min)"), "order(max)");
  static constexpr const char *kFinalize[] = {"", "arith.negf", "math.sqrt"};
  const std::string finalize = kFinalize[finalizes ? seed / 2 % 3 : 0];
  if (!finalize.empty())
    text.insert(text.rfind('}'), "  annudf.finalize (%end: f32) {\n    %r = " + finalize +
                                     " %end : f32\n    annudf.yield %r : f32\n  }\n");
  return test::RandomFormula::helpers() + text;
}

int write(const std::string &folder, int count, const char *arch) {
  CompileOptions options;
  options.ltoIr = arch != nullptr, options.hostBitcode = !arch;
  if (arch)
    options.archs = {arch};
  std::filesystem::create_directories(folder);
  int written = 0, ratios = 0;
  uint32_t seed = 0;
  for (; written < count; ++seed) {
    const Artifact artifact =
        compileMetric(metricOf(seed, arch != nullptr), "seed " + std::to_string(seed), options);
    if (!artifact.manifest.form && isRatio(seed))
      throw Error(ErrorKind::Usage, "the ratio of seed " + std::to_string(seed) +
                                        " is not proved:\n" + metricOf(seed, arch != nullptr));
    if (!artifact.manifest.form)
      continue;
    ratios += isRatio(seed);
    writeArtifact(artifact, folder + "/" + std::to_string(seed) + ".annudf");
    ++written;
  }
  std::printf("%d of %u random metrics are proved quadratic forms, %d of them normalised: %s\n",
              written, seed, ratios, folder.c_str());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  int count = 0;
  if (argc < 3 || argc > 4 || argv[1][0] == '-' ||
      std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), count).ptr !=
          argv[2] + std::strlen(argv[2]) ||
      count < 1) {
    std::fprintf(stderr, "usage: annudf_write_proved_bodies FOLDER COUNT [ARCH]\n");
    return 2;
  }
  try {
    return write(argv[1], count, argc > 3 ? argv[3] : nullptr);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "annudf_write_proved_bodies: %s\n", error.what());
    return 1;
  }
}
