//===- Support.cpp - Errors and buffers of the C API ----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf-c/Support.h"

#include "Wrap.h"

#include "annudf/Support/Printable.h"

using namespace annudf;
using namespace annudf::capi;

/// A failure is reported even when its text cannot be kept.
static thread_local std::string lastError;
static thread_local const char *lastErrorText = "";
static thread_local ArgumentFault lastFault;
static thread_local annudf_argument_fault lastFaultTexts = {"", "", ""};

annudf_status capi::fail(annudf_status status, const char *text,
                         const ArgumentFault *fault) noexcept {
  lastFaultTexts = {"", "", ""};
  try {
    // It may quote a file or a path, of any bytes.
    lastError = printable(text, Lines::Keep);
    lastErrorText = lastError.c_str();
    if (fault) {
      lastFault = *fault;
      lastFaultTexts = {lastFault.argument.c_str(), lastFault.value.c_str(),
                        lastFault.allowed.c_str()};
    }
  } catch (...) {
    lastErrorText = "out of memory";
  }
  return status;
}

annudf_status capi::toStatus(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Usage:
    return ANNUDF_USAGE;
  case ErrorKind::Input:
    return ANNUDF_INPUT;
  case ErrorKind::Environment:
    return ANNUDF_ENVIRONMENT;
  case ErrorKind::Interrupted:
    return ANNUDF_INTERRUPTED;
  }
  return ANNUDF_INTERNAL;
}

void capi::Call::refuse(const std::string &what) const {
  throw Error(ErrorKind::Usage, std::string(function) + ": " + what);
}

const char *annudf_status_name(annudf_status status) {
  switch (status) {
  case ANNUDF_OK:
    return "ok";
  case ANNUDF_USAGE:
    return "usage";
  case ANNUDF_INPUT:
    return "input";
  case ANNUDF_ENVIRONMENT:
    return "environment";
  case ANNUDF_INTERRUPTED:
    return "interrupted";
  case ANNUDF_COMPILE:
    return "compile";
  case ANNUDF_INTERNAL:
    return "internal";
  }
  return "unknown";
}

const char *annudf_last_error(void) { return lastErrorText; }

const annudf_argument_fault *annudf_last_argument_fault(void) { return &lastFaultTexts; }

const char *annudf_version(void) { return ANNUDF_VERSION; }

uint32_t annudf_capi_version(void) { return ANNUDF_CAPI_MAJOR << 16 | ANNUDF_CAPI_MINOR; }

const char *annudf_buffer_data(const annudf_buffer *buffer) {
  return buffer ? buffer->bytes.c_str() : nullptr;
}

size_t annudf_buffer_size(const annudf_buffer *buffer) { return buffer ? buffer->bytes.size() : 0; }

void annudf_buffer_destroy(annudf_buffer *buffer) { delete buffer; }

/// The name of any number, also one that the enum cannot hold; null if no row that may be used has
/// it.
template <typename Enum> static const char *nameOf(int32_t value) {
  const TableRow *row = tableOf<Enum>().find(int64_t(value));
  return row && row->since != TableRow::kReserved ? row->spelling : nullptr;
}

template <typename Enum> static int32_t parse(const char *text) {
  std::string why;
  if (const auto value = parseSpelling<Enum>(text, &why))
    return *value;
  throw Error(ErrorKind::Usage, tableOf<Enum>().noun + (" " + why));
}

const char *annudf_element_name(int32_t element) { return nameOf<annudf_element>(element); }

const char *annudf_coarse_name(int32_t coarse) { return nameOf<annudf_coarse>(coarse); }

annudf_status annudf_element_parse(const char *name, int32_t *element) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(name, "name");
    call.refuseNull(element, "element");
    *element = parse<annudf_element>(name);
  });
}

annudf_status annudf_coarse_parse(const char *name, int32_t *coarse) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(name, "name");
    call.refuseNull(coarse, "coarse");
    *coarse = parse<annudf_coarse>(name);
  });
}
