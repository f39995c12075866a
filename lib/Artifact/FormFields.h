//===- FormFields.h - A form as CBOR map and back ------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_ARTIFACT_FORMFIELDS_H
#define ANNUDF_LIB_ARTIFACT_FORMFIELDS_H

#include "Value.h"
#include "annudf/Artifact/Descriptor.h"

#include <cmath>
#include <functional>
#include <string>

namespace annudf {

inline constexpr double kEtaF32 = 0x1p-150, kEtaF64 = 0x1p-1074;

inline constexpr struct {
  const char *name;
  Quadratic QuadraticForm::*of;
} kFormPolynomials[] = {{"exact", &QuadraticForm::exact},
                        {"size", &QuadraticForm::size},
                        {"small", &QuadraticForm::small},
                        {"largest", &QuadraticForm::largest}};

/// The same of form.lengths.
inline constexpr struct {
  const char *name;
  Quadratic QuadraticForm::Lengths::*of;
} kLengthPolynomials[] = {{"exact", &QuadraticForm::Lengths::exact},
                          {"size", &QuadraticForm::Lengths::size},
                          {"small", &QuadraticForm::Lengths::small}};

/// Only one of the two zeros: equal forms have equal bytes.
inline bool isNumber(double value) {
  return std::isfinite(value) && !(value == 0 && std::signbit(value));
}

/// "dim"
std::string spellIndex(const EntryIndex &index);

/// The "form" map of docs/spec/artifact.md.
Map formToFields(const QuadraticForm &form);

/// The same with what is in no file, as it would only repeat it: the texts that people read.
Map formToShow(const QuadraticForm &form);

/// \param fail  throws, saying what is wrong with a field: (".nodes[3]", "must be a list").
QuadraticForm
formFromFields(const Value &fields,
               const std::function<void(const std::string &, const std::string &)> &fail);

/// What must hold of a metric's form whatever its encoding: "" or what is wrong.
std::string faultOfForm(const MetricDescriptor &metric);

} // namespace annudf

#endif // ANNUDF_LIB_ARTIFACT_FORMFIELDS_H
