//===- KernelKey.cpp - What decides what a link makes -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/KernelKey.h"

#include "annudf/Support/FieldDigest.h"

namespace annudf::runtime {

std::string KernelKey::digest() const {
  FieldDigest digest;
  digest.text("annudf kernel"); // No digest of anything else begins so.
  digest.text(abi).number(abiMajor).number(abiMinor).text(contract).text(payload);
  digest.text(rowElement).text(queryElement).text(compute).text(accumulator);
  digest.text(scan).text(linker).text(linkerVersion).number(options.size());
  for (const std::string &option : options)
    digest.text(option);
  return digest.text(arch).text(features).number(vectorBits).finish();
}

KernelKey metricKey(const MetricView &metric, const Payload &payload, ScanElements elements) {
  const Manifest &manifest = metric.artifact.manifest;
  KernelKey key;
  key.abi = manifest.abiId;
  key.abiMajor = manifest.abiMajor;
  key.abiMinor = manifest.abiMinor;
  key.contract = sha256Hex(encodeContract(manifest));
  FieldDigest code;
  code.text(payload.arch()).text(payload.bytes);
  if (payload.isHooksOfGpu())
    for (const Payload &linked : metric.artifact.payloads)
      if (linked.isLinked())
        code.text(toString(linked.kind)).text(linked.arch()).text(linked.bytes);
  key.payload = code.finish();
  key.rowElement = toString(elements.rows);
  key.queryElement = toString(elements.queries);
  key.compute = toString(manifest.compute);
  key.accumulator = toString(manifest.accumulator);
  return key;
}

} // namespace annudf::runtime
