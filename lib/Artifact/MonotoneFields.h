//===- MonotoneFields.h - That a distance only gets worse, as CBOR -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_ARTIFACT_MONOTONEFIELDS_H
#define ANNUDF_LIB_ARTIFACT_MONOTONEFIELDS_H

#include "Value.h"
#include "annudf/Artifact/Descriptor.h"

#include <functional>
#include <string>

namespace annudf {

/// The "monotone" map of docs/spec/artifact.md.
Map monotoneToFields(const MonotoneDistance &monotone);

/// \param fail  throws, saying what is wrong with a field: (".where", "must be a list").
MonotoneDistance
monotoneFromFields(const Value &fields,
                   const std::function<void(const std::string &, const std::string &)> &fail);

/// What must hold of it whatever its encoding: "" or what is wrong.
std::string faultOfMonotone(const MetricDescriptor &metric);

} // namespace annudf

#endif // ANNUDF_LIB_ARTIFACT_MONOTONEFIELDS_H
