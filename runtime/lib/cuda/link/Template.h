//===- Template.h - Hooks written into a scan kernel's PTX ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most of a link was spent on optimising the scan kernel, which is the same for every metric. A
// template is that kernel, optimised and compiled to PTX when the library is built, with a line
// such as
//     annudf.update %r9, %r8, %r1, %r2, %r3, %r4, %rd5, %r6, %r7;
// for each call of a hook: result, then arguments (Hooks.cuh). A metric's hooks are compiled to PTX
// by themselves (HookText.cu), and their text takes the place of these lines.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_LINK_TEMPLATE_H
#define ANNUDF_RUNTIME_LIB_CUDA_LINK_TEMPLATE_H

#include <optional>
#include <string>
#include <string_view>

namespace annudf::runtime::cuda {

/// The edition of what fillTemplate() makes of the same texts. To be raised when it makes another,
/// else a kernel that was linked before, and is kept on disk, is taken for it.
inline constexpr int kFillEdition = 3;

/// \param text    a template, with the kernel `kernel` among others.
/// \param hooks   PTX of HookText.cu and Contract.cu linked with a metric.
/// \param waits   whether the kernel waits for the one before it (Overlap.cuh).
/// \returns PTX of the kernel and annudf_read_contract; nothing where a hook is more than
/// instructions on registers and loads: where it calls a function, as the assembler does for a
/// quotient, or has memory or tables of its own. Such a metric is linked as a whole.
std::optional<std::string> fillTemplate(std::string_view text, std::string_view kernel,
                                        std::string_view hooks, bool waits);

/// Issue slots of one update, by what each instruction of the hook takes of a processor that has
/// 128 lanes; nothing where that is not known: of a loop, or of a hook that is no template's.
/// \param hooks  as of fillTemplate.
std::optional<double> updateSlots(std::string_view hooks);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_LINK_TEMPLATE_H
