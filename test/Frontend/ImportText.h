//===- ImportText.h - Runs annudf-import-frontend on text -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_FRONTEND_IMPORTTEXT_H
#define ANNUDF_TEST_FRONTEND_IMPORTTEXT_H

#include <string>

namespace annudf::test {

/// What became of a module in the frontend form.
struct Imported {
  bool parsed = false;   ///< The text is a module that verifies.
  bool imported = false; ///< The pass accepted it.
  bool isValid = false;  ///< The result verifies as MLIR.
  bool accepted = false; ///< annudf-verify-abi accepted it.
  std::string text;      ///< The result, if it was imported.
  std::string messages;  ///< All diagnostics, a line each, with their locations.
};

Imported importText(const std::string &text);

} // namespace annudf::test

#endif // ANNUDF_TEST_FRONTEND_IMPORTTEXT_H
