//===- Texts.h - Device code that is compiled at run time ----- -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_TARGET_CUDASOURCE_TEXTS_H
#define ANNUDF_LIB_TARGET_CUDASOURCE_TEXTS_H

namespace annudf {

/// annudf_abi.h, annudf_tables.h, Preamble.cuh and Peer.cuh of this build, embedded by CMake.
extern const char *const kAbiHeader, *const kTablesHeader;
extern const char *const kPreamble;
extern const char *const kPeer;

} // namespace annudf

#endif // ANNUDF_LIB_TARGET_CUDASOURCE_TEXTS_H
