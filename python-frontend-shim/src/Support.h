//===- Support.h - From the C API to Python -----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all files of annudf._core share: owners of the C API's objects, and statuses
// as exceptions of annudf.errors. Only the C API's headers are included here, so that
// the extension sees of libannudf what any other program sees.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_PYTHON_SUPPORT_H
#define ANNUDF_PYTHON_SUPPORT_H

#include "annudf-c/Compiler.h"
#include "annudf-c/annudf.h"

#include <nanobind/nanobind.h>
#include <nanobind/typing.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace annudf::python {

namespace nb = nanobind;

template <auto Destroy> struct Destroyer {
  template <class T> void operator()(T *object) const { Destroy(object); }
};
/// The same for an object whose end may wait for a lock or for a device.
template <auto Destroy> struct WaitingDestroyer {
  template <class T> void operator()(T *object) const {
    const nb::gil_scoped_release released;
    Destroy(object);
  }
};
using ArtifactPtr = std::unique_ptr<annudf_artifact, Destroyer<annudf_artifact_destroy>>;
using BackendPtr = std::unique_ptr<annudf_backend, WaitingDestroyer<annudf_backend_destroy>>;
using BufferPtr = std::unique_ptr<annudf_buffer, Destroyer<annudf_buffer_destroy>>;
using CapturesPtr = std::unique_ptr<annudf_captures, WaitingDestroyer<annudf_captures_destroy>>;
using DeviceBufferPtr =
    std::unique_ptr<annudf_device_buffer, WaitingDestroyer<annudf_device_buffer_destroy>>;
using DiagnosticsPtr = std::unique_ptr<annudf_diagnostics, Destroyer<annudf_diagnostics_destroy>>;
using EnvironmentPtr = std::unique_ptr<annudf_environment, Destroyer<annudf_environment_destroy>>;
using EventPtr = std::unique_ptr<annudf_event, WaitingDestroyer<annudf_event_destroy>>;
using FilterPtr = std::unique_ptr<annudf_filter, Destroyer<annudf_filter_destroy>>;
using IndexPtr = std::unique_ptr<annudf_ivf_flat_index, WaitingDestroyer<annudf_ivf_flat_destroy>>;

struct Artifact {
  ArtifactPtr handle;
};
struct Index {
  IndexPtr handle;
};
struct Backend {
  std::shared_ptr<annudf_backend> handle;
};
struct Captures {
  CapturesPtr handle;
};
struct Filter {
  FilterPtr handle;
};

/// Raises `name` of annudf.errors.
[[noreturn]] void raise(const char *name, const std::string &message);

/// How a call of the library ended. A call that waits with the GIL for a thread that wants the GIL
/// never ends, and Ctrl-C does not reach it; a build without the GIL stops there likewise, when its
/// collector waits for all threads. So `check` takes no plain status: a binding says by
/// `withoutGil` or `atOnce` which kind of call it makes, or does not compile.
class [[nodiscard]] Outcome {
public:
  bool operator==(annudf_status other) const { return status == other; }

private:
  explicit Outcome(annudf_status status) : status(status) {}
  template <class Call> friend auto withoutGil(Call call);
  friend Outcome atOnce(annudf_status status);
  friend void check(Outcome outcome);

  annudf_status status;
};

/// What `call` returns, made without the GIL; it touches no Python object. For whatever may wait
/// for a lock or a device, or takes its time.
template <class Call> auto withoutGil(Call call) {
  const nb::gil_scoped_release released;
  if constexpr (std::is_same_v<decltype(call()), annudf_status>)
    return Outcome(call());
  else
    return call();
}

/// Marks a call that looks something up in tables or in its own arguments: it takes no lock, waits
/// for no device, and reads no more than it returns.
inline Outcome atOnce(annudf_status status) { return Outcome(status); }

/// Raises what fits a failure with the library's own words. The GIL is held.
void check(Outcome outcome);

/// The same for calls that compile: a refusal carries its diagnostics.
void check(Outcome outcome, const annudf_diagnostics *diagnostics);

/// annudf.errors.Diagnostic objects.
nb::list toPython(const annudf_diagnostics *diagnostics);
using DiagnosticList = nb::typed<nb::list, nb::object>;

/// The end of every compile: an exception, or the artifact with what else was said.
std::tuple<Artifact, DiagnosticList> finish(Outcome outcome, annudf_artifact *artifact,
                                            annudf_diagnostics *diagnostics);

using Names = std::vector<std::string>;
/// As the C API takes them, for as long as `names` is.
std::vector<const char *> pointers(const Names &names);

nb::bytes toBytes(const annudf_buffer *buffer);
nb::str toText(const annudf_buffer *buffer);

/// The bytes of a path that is given as text, bytes or os.PathLike: names of files need not
/// be UTF-8.
std::string toPath(nb::handle path);

/// As the C API numbers it; ArgumentError for a name it does not know.
int32_t parseElement(const std::string &name);
int32_t parseCoarse(const std::string &name);

using ProgressFunction = nb::typed<nb::callable, void(nb::str, nb::float_)>;

/// What cannot be undone, done when `result` is read and not before. Python looks for
/// signals when a call has returned, so a call could not end the work: Ctrl-C would raise
/// where it is done already, and a retry would do it twice. It does not look after an
/// attribute was read, nor on the way out of a function; so `return work.result` either raises
/// and has done nothing, or hands its value to the caller, who is interrupted then.
class Work {
public:
  explicit Work(std::function<nb::object()> run) : run(std::move(run)) {}
  Work(std::function<void()> run, nb::object result)
      : Work([run = std::move(run), result = std::move(result)] {
          run();
          return result;
        }) {}
  nb::object result() const { return run(); }

private:
  std::function<nb::object()> run;
};

/// Tells Python how far a long call is, and looks for Ctrl-C. The call itself runs
/// without the GIL; every report takes it, so reports come a few times a second only.
class Progress {
public:
  explicit Progress(const std::optional<ProgressFunction> &function) : function(function) {}

  /// For annudf_progress and its `user`.
  static int report(void *self, const char *stage, double done);

  /// Raises what the function raised, or what fits a failure. The GIL is held.
  void check(Outcome outcome);

private:
  int report(const char *stage, double done);

  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{50};

  const std::optional<ProgressFunction> &function;
  std::optional<nb::python_error> raised;
  std::string stage;
  Clock::time_point last = Clock::now();
};

/// Where an array is: in memory of the backend's device, with the stream of the work on it, or,
/// where there is no stream, in host memory.
using Stream = std::optional<uint64_t>;
annudf_place placeOf(const Backend *backend, Stream stream);
/// A matrix at an address there.
annudf_vectors vectorsAt(uintptr_t address, int64_t rows, int64_t dims, const std::string &element,
                         const annudf_place &place = {});

/// Ids at a host address.
annudf_ids idsAt(uintptr_t address, int64_t count);

annudf_ivf_flat_search_stats emptyStats();

/// Address on a device, bytes, which device, and what keeps it.
using OnDevice = std::tuple<uintptr_t, size_t, int32_t, nb::object>;
/// Element type, shape, bytes in C order or where they are, and where the value came from.
using Value =
    std::tuple<std::string, std::vector<int64_t>, std::variant<nb::bytes, OnDevice>, std::string>;
using Values = nb::typed<nb::mapping, nb::str, Value>;

/// Named values as the C API takes them.
class NamedValues {
public:
  /// \param handsOver  whether the C call, which then has to come next, keeps host arrays: captures
  ///                   do, columns are copied.
  explicit NamedValues(const Values &values, bool handsOver);
  NamedValues(const NamedValues &) = delete;
  NamedValues &operator=(const NamedValues &) = delete;
  const annudf_capture_value *data() const { return list_.data(); }
  size_t size() const { return list_.size(); }

private:
  std::vector<std::pair<std::string, Value>> kept_; ///< Owns what the C structs point to.
  std::vector<annudf_capture_value> list_;
};

/// What a bind has made. Raises CaptureError for values that it refused.
Captures boundCaptures(const Outcome &status, annudf_captures *made);

/// The columns of an index, and captures that read them.
void addColumns(nb::module_ &module);
/// The builds that a backend offers.
void addBuilds(nb::class_<Backend> &backend);
/// Candidates ranked again.
void addRefine(nb::class_<Backend> &backend);
void addCompiler(nb::module_ &module);
void addDeviceUdf(nb::module_ &module);
/// What this machine offers.
void addEnvironment(nb::module_ &module);
void addFilters(nb::module_ &module);
void addIndex(nb::module_ &module);
void addSearch(nb::module_ &module);
void addStatistics(nb::module_ &module);
void addArrays(nb::module_ &module);

} // namespace annudf::python

#endif // ANNUDF_PYTHON_SUPPORT_H
