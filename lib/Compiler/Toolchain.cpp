//===- Toolchain.cpp - What code can be made for, and by what -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Compiler/Compiler.h"
#include "annudf/Target/LibDevice.h"
#include "annudf/Target/LibNvvm.h"
#include "annudf/Target/Nvptx.h"
#include "annudf/Target/Translate.h"

#include "llvm/Config/llvm-config.h"

using namespace annudf;

const std::vector<int> &annudf::supportedArchs() {
  static const std::vector<int> archs(supportedSmVersions().begin(), supportedSmVersions().end());
  return archs;
}

std::string annudf::describeLibNvvm(std::string *searched) {
  auto nvvm = LibNvvm::load();
  if (nvvm)
    return "libNVVM " + (*nvvm)->release() + " (" + (*nvvm)->path() + ")";
  std::string why = llvm::toString(nvvm.takeError());
  if (searched)
    *searched = why;
  return "";
}

std::string annudf::describeNvptx(std::string *why) {
  if (std::string missing = whyNoNvptx(); !missing.empty()) {
    if (why)
      *why = missing;
    return "";
  }
  auto device = libDevice("");
  return "LLVM " LLVM_VERSION_STRING +
         (device ? ", libdevice " + (*device)->getBufferIdentifier().str()
                 : ", without math functions: " + llvm::toString(device.takeError()));
}

const char *annudf::llvmVersion() { return LLVM_VERSION_STRING; }
