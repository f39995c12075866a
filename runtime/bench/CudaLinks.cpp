//===- CudaLinks.cpp - Links of the GPU bench, timed or replaced ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaLinks.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/support/Clock.h"
#include "annudf/runtime/support/DiskCache.h"
#include "cuda/driver/Driver.h"
#include "cuda/link/LinkedScans.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::runtime::cuda;
using Clock = std::chrono::steady_clock;

bench::CacheFolder::CacheFolder() {
  char folder[] = "/tmp/annudf-bench-XXXXXX";
  if (!::mkdtemp(folder))
    throw Error(ErrorKind::Environment, "cannot make a folder in /tmp");
  path = folder;
  ::setenv("ANNUDF_CACHE_DIR", folder, 1);
}

bench::CacheFolder::~CacheFolder() {
  ::unsetenv("ANNUDF_CACHE_DIR");
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

void bench::timeLinks(const Metric &metric, annudf_element element, const std::string &dtype) {
  const auto context = std::make_shared<Context>(0);
  const ContextScope scope(*context);
  constexpr int kTimes = 9;
  for (const ScanEntry &entry : entriesFor(metric.artifact, context->sm(), element)) {
    const ScanTarget target = {element, context->sm(), entry};
    std::map<std::string, std::vector<double>> ms;
    for (int i = 0; i < kTimes; ++i) {
      const CacheFolder folder;
      std::unique_ptr<LinkedScans> scans;
      for (const char *what : {"link", "disk", "memory"}) {
        if (*what != 'm')
          scans = std::make_unique<LinkedScans>();
        bool made = false;
        const auto start = Clock::now();
        const auto found = scans->get(metric, target, made);
        std::unique_ptr<Module> module;
        if (made) {
          module = std::make_unique<Module>(context, found->cubin.data());
          (void)module->function(target.entry.kernel);
        }
        ms[what].push_back(msSince(start));
        if (made && found->fromDisk != (*what == 'd'))
          throw Error(ErrorKind::Environment, "the cache on disk does not work: " + found->fault);
      }
    }
    std::printf(
        "{\"what\":\"links\",\"metric\":\"%s\",\"dtype\":\"%s\",\"kernel\":\"%s\",\"sm\":%d",
        metric.artifact.manifest.name.c_str(), dtype.c_str(), entry.kernel, context->sm());
    for (auto &[what, times] : ms) {
      const double first = times[0];
      std::sort(times.begin(), times.end());
      std::printf(",\"%s_first_ms\":%.4f,\"%s_ms\":%.4f", what.c_str(), first, what.c_str(),
                  times[times.size() / 2]);
    }
    std::printf("}\n");
    std::fflush(stdout);
  }
  ::setenv("ANNUDF_CACHE_DISABLE", "1", 1);
}

void bench::replaceByHand(const Metric &metric, annudf_element element, const std::string &path,
                          const CacheFolder &) {
  std::ifstream file(path, std::ios::binary);
  const std::string cubin((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const int sm = std::make_shared<Context>(0)->sm();
  LinkedScans linked;
  int replaced = 0;
  for (const ScanEntry &entry : entriesFor(metric.artifact, sm, element)) {
    if (cubin.find(std::string(entry.kernel) + '\0') == std::string::npos)
      continue;
    bool made = false;
    std::string fault;
    const std::string key = linked.get(metric, {element, sm, entry}, made)->key;
    if (!DiskCache::ofEnvironment().store(key, cubin, fault)) {
      fault.insert(0, ": ").insert(0, path).insert(0, "cannot keep ");
      throw Error(ErrorKind::Environment, fault);
    }
    ++replaced;
  }
  std::printf("{\"what\":\"by hand\",\"kernels\":%d}\n", replaced);
}
