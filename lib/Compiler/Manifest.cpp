//===- Manifest.cpp - What a scan must know, read off the metric ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include "annudf/Analysis/ProvedFacts.h"
#include "annudf/Dialect/IR/Descriptor.h"
#include "annudf/Support/Printable.h"

#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

Manifest annudf::compiler::makeManifest(UdfOpInterface udf, const CodeTarget &target) {
  Manifest manifest;
  static_cast<MetricDescriptor &>(manifest) = describe(udf);
  ProvedFacts::of(udf, target).addTo(manifest);
  manifest.requiredFeatures = featuresOf(manifest);
  manifest.abiMinor = minorOf(manifest);
  if (auto place = udf.getLoc()->findInstanceOf<FileLineColLoc>()) {
    manifest.sourceFile = printable(place.getFilename().str());
    manifest.sourceLine = place.getLine();
  }
  manifest.annudfVersion = ANNUDF_VERSION;
  manifest.verified = Verification{kRulesEdition, ANNUDF_VERSION};
  manifest.llvmVersion = LLVM_VERSION_STRING;
  return manifest;
}
