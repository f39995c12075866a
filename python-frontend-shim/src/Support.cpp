//===- Support.cpp - From the C API to Python -----------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <nanobind/stl/string.h>

namespace annudf::python {

/// Looked up each time: a reference kept here would outlive the interpreter.
static nb::object errorsAttr(const char *name) {
  return nb::module_::import_("annudf.errors").attr(name);
}

static void raiseObject(const nb::object &exception) {
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

/// Text of the library may quote a source or the name of a file that is no UTF-8.
static nb::object decode(const char *text, size_t size) {
  PyObject *decoded = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(size), "backslashreplace");
  if (!decoded)
    throw nb::python_error();
  return nb::steal(decoded);
}

void raise(const char *name, const std::string &message) {
  raiseObject(errorsAttr(name)(decode(message.data(), message.size())));
  std::abort(); // raiseObject throws.
}

/// With what the library says of the argument at fault.
[[noreturn]] static void raiseLast(const char *name, const std::string &message) {
  // Copied first: what Python runs meanwhile may call the library again.
  const annudf_argument_fault &fault = *annudf_last_argument_fault();
  const std::pair<const char *, std::string> texts[] = {
      {"argument", fault.argument}, {"value", fault.value}, {"allowed", fault.allowed}};
  const nb::object exception = errorsAttr(name)(decode(message.data(), message.size()));
  for (const auto &[attribute, text] : texts)
    if (!text.empty())
      exception.attr(attribute) = decode(text.data(), text.size());
  raiseObject(exception);
  std::abort(); // raiseObject throws.
}

std::string toPath(nb::handle path) {
  PyObject *bytes = nullptr;
  if (!PyUnicode_FSConverter(path.ptr(), &bytes))
    throw nb::python_error();
  const nb::bytes owner = nb::steal<nb::bytes>(bytes);
  return {owner.c_str(), owner.size()};
}

void check(Outcome outcome) {
  if (outcome == ANNUDF_OK)
    return;
  const std::string message = annudf_last_error();
  switch (outcome.status) {
  case ANNUDF_USAGE:
    raiseLast("ArgumentError", message);
  case ANNUDF_INPUT:
    raiseLast("InputError", message);
  case ANNUDF_ENVIRONMENT:
    raise("UnavailableError", message);
  case ANNUDF_COMPILE:
    raise("CompileError", message);
  case ANNUDF_INTERRUPTED:
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  default:
    raise("Error", "internal error of annudf, please report it: " + message);
  }
}

void check(Outcome outcome, const annudf_diagnostics *diagnostics) {
  if (outcome == ANNUDF_COMPILE) {
    const char *message = annudf_last_error();
    raiseObject(errorsAttr("CompileError")(decode(message, std::char_traits<char>::length(message)),
                                           toPython(diagnostics)));
  }
  check(outcome);
}

static const char *severityName(annudf_severity severity) {
  switch (severity) {
  case ANNUDF_SEVERITY_ERROR:
    return "error";
  case ANNUDF_SEVERITY_WARNING:
    return "warning";
  case ANNUDF_SEVERITY_REMARK:
    return "remark";
  }
  throw std::logic_error("a severity that annudf._core does not know");
}

nb::list toPython(const annudf_diagnostics *diagnostics) {
  nb::list list;
  const nb::object make = errorsAttr("Diagnostic");
  for (size_t i = 0; i < annudf_diagnostics_count(diagnostics); ++i) {
    annudf_diagnostic one = {};
    one.size = sizeof one;
    check(atOnce(annudf_diagnostics_get(diagnostics, i, &one)));
    list.append(make(severityName(one.severity), one.rule,
                     decode(one.message, std::char_traits<char>::length(one.message)),
                     decode(one.file, std::char_traits<char>::length(one.file)), one.line,
                     one.column));
  }
  return list;
}

std::tuple<Artifact, DiagnosticList> finish(Outcome outcome, annudf_artifact *artifact,
                                            annudf_diagnostics *diagnostics) {
  const DiagnosticsPtr owner(diagnostics);
  Artifact result{ArtifactPtr(artifact)};
  check(outcome, diagnostics);
  return {std::move(result), toPython(diagnostics)};
}

std::vector<const char *> pointers(const Names &names) {
  std::vector<const char *> result;
  for (const std::string &name : names)
    result.push_back(name.c_str());
  return result;
}

nb::bytes toBytes(const annudf_buffer *buffer) {
  return nb::bytes(annudf_buffer_data(buffer), annudf_buffer_size(buffer));
}

nb::str toText(const annudf_buffer *buffer) {
  return nb::str(decode(annudf_buffer_data(buffer), annudf_buffer_size(buffer)));
}

int32_t parseElement(const std::string &name) {
  int32_t element = 0;
  check(atOnce(annudf_element_parse(name.c_str(), &element)));
  return element;
}

int32_t parseCoarse(const std::string &name) {
  int32_t coarse = 0;
  check(atOnce(annudf_coarse_parse(name.c_str(), &coarse)));
  return coarse;
}

annudf_place placeOf(const Backend *backend, Stream stream) {
  if (!stream)
    return {};
  return {ANNUDF_MEMORY_CUDA, backend ? annudf_backend_get(backend->handle.get())->device : 0,
          *stream};
}

annudf_vectors vectorsAt(uintptr_t address, int64_t rows, int64_t dims, const std::string &element,
                         const annudf_place &place) {
  return {sizeof(annudf_vectors),
          reinterpret_cast<const void *>(address),
          rows,
          dims,
          parseElement(element),
          place};
}

annudf_ids idsAt(uintptr_t address, int64_t count) {
  return {sizeof(annudf_ids), reinterpret_cast<const int64_t *>(address), count, {}};
}

int Progress::report(void *self, const char *stage, double done) {
  return static_cast<Progress *>(self)->report(stage, done);
}

int Progress::report(const char *newStage, double done) {
  const Clock::time_point now = Clock::now();
  // At 1 the next step cannot be undone: the last look for a signal is now.
  const bool milestone = done >= 1 || (function && stage != newStage);
  if (!milestone && now - last < kPause)
    return 0;
  last = now;
  stage = newStage;
  nb::gil_scoped_acquire held;
  try {
    if (function)
      (*function)(newStage, done);
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
    return 0;
  } catch (nb::python_error &error) {
    raised.emplace(std::move(error));
    return 1;
  }
}

void Progress::check(Outcome outcome) {
  if (raised) {
    nb::python_error error = std::move(*raised);
    raised.reset();
    throw error;
  }
  python::check(outcome);
}

} // namespace annudf::python
