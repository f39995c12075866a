//===- Printable.h - Text of files on its way to a terminal -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_SUPPORT_PRINTABLE_H
#define ANNUDF_SUPPORT_PRINTABLE_H

#include <string>
#include <string_view>

namespace annudf {

enum class Lines {
  Escape, ///< A line break is escaped too: the text is one line.
  Keep    ///< Line breaks and tabs stay.
};

/// `text` as valid UTF-8 that a terminal shows and does not obey: control characters,
/// those that turn the direction of writing or break lines, and bytes that are no UTF-8
/// are written as \x1b or \u{202e}. Names, paths and messages that a tool prints go
/// through it, for they may come from a file that someone else made.
std::string printable(std::string_view text, Lines lines = Lines::Escape);

/// Whether `text` is valid UTF-8 (RFC 3629: shortest forms, no surrogates).
bool isUtf8(std::string_view text);

/// Whether printable() would change nothing.
bool isPrintable(std::string_view text, Lines lines = Lines::Escape);

} // namespace annudf

#endif // ANNUDF_SUPPORT_PRINTABLE_H
