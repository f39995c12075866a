//===- Processor.cpp - The processor that scans are made for ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Processor.h"

#include "annudf/Support/Error.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

using namespace llvm;
using annudf::ErrorKind;

namespace {

std::unique_ptr<MCSubtargetInfo> subtargetOf(const Triple &triple, const std::string &cpu) {
  static std::once_flag once;
  std::call_once(once, [] { InitializeNativeTarget(); });
  std::string fault;
  const Target *target = TargetRegistry::lookupTarget(triple, fault);
  if (!target)
    throw annudf::Error(ErrorKind::Environment, "LLVM cannot make code for this host: " + fault);
  return std::unique_ptr<MCSubtargetInfo>(target->createMCSubtargetInfo(triple, cpu, ""));
}

/// What a processor has that this machine lacks, in the order of the alphabet.
std::vector<std::string> lackedOf(const MCSubtargetInfo &processor) {
  std::vector<std::string> lacked;
  for (const StringMapEntry<bool> &feature : sys::getHostCPUFeatures())
    if (!feature.getValue() && processor.checkFeatures("+" + feature.getKey().str()))
      lacked.push_back(feature.getKey().str());
  std::sort(lacked.begin(), lacked.end());
  return lacked;
}

} // namespace

std::string annudf::runtime::cpu::askedProcessor() {
  const char *const given = std::getenv("ANNUDF_PROCESSOR");
  const std::string asked = given ? given : "";
  if (asked.empty())
    return asked;
  const Triple triple(sys::getProcessTriple());
  // LLVM complains on the terminal of a name that it does not know.
  if (!subtargetOf(triple, "")->isCPUStringValid(asked))
    throw Error(ErrorKind::Usage,
                "ANNUDF_PROCESSOR is '" + asked +
                    "', which LLVM does not know; give one that llc -mcpu=help lists, or unset it");
  const std::vector<std::string> lacked = lackedOf(*subtargetOf(triple, asked));
  if (!lacked.empty())
    throw Error(ErrorKind::Usage, "ANNUDF_PROCESSOR is '" + asked +
                                      "', which this machine cannot run: it lacks " +
                                      lacked.front());
  return asked;
}
