//===- annudf-c/annudf.hpp - The C API for C++ ---------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C API with owners instead of handles, spans instead of pointers and one exception
// instead of statuses. Header-only, C++20; needs libannudf and nothing else. What calls do
// is said in the C headers. docs/cpp.md has an example.
//
// Objects own what they name and are moved, not copied; their const functions may be called
// from several threads at once. As the C API, this is 0.x: a minor may change it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_C_ANNUDF_HPP
#define ANNUDF_C_ANNUDF_HPP

#include "annudf-c/annudf.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace annudf {
inline namespace v0 {

/// One remark of the compiler.
struct Diagnostic {
  annudf_severity severity = ANNUDF_SEVERITY_ERROR;
  std::string file, rule, message; ///< rule: its label in docs/abi.md, "L2"; "" if none.
  int line = 0, column = 0;        ///< From 1; 0 where the place is not known.
};

/// What every failing call throws.
class Error : public std::runtime_error {
public:
  Error(annudf_status code, const std::string &what, std::vector<Diagnostic> diagnostics = {})
      : std::runtime_error(what), code_(code), diagnostics_(std::move(diagnostics)) {}

  annudf_status code() const noexcept { return code_; }
  /// Label of the rule that a metric broke; "" where none did.
  std::string rule() const { return first().rule; }
  /// Where, in a metric's source; file "" and 0 where it is not known.
  std::string file() const { return first().file; }
  int line() const { return first().line; }
  int column() const { return first().column; }
  /// All that the compiler had to say.
  const std::vector<Diagnostic> &diagnostics() const noexcept { return diagnostics_; }

private:
  Diagnostic first() const {
    for (const Diagnostic &one : diagnostics_)
      if (one.severity == ANNUDF_SEVERITY_ERROR)
        return one;
    return {};
  }
  annudf_status code_;
  std::vector<Diagnostic> diagnostics_;
};

/// Called by the thread that made the call, with what runs and the part done, 0 to 1. False
/// stops the work with Error(ANNUDF_INTERRUPTED); what it throws comes out of the call.
using Progress = std::function<bool(std::string_view stage, double done)>;

namespace detail {

template <auto Destroy> struct Destroyer {
  template <class T> void operator()(T *object) const noexcept { Destroy(object); }
};
template <class T, auto Destroy> using Owner = std::unique_ptr<T, Destroyer<Destroy>>;
using BufferOwner = Owner<annudf_buffer, annudf_buffer_destroy>;
using DiagnosticsOwner = Owner<annudf_diagnostics, annudf_diagnostics_destroy>;

inline void check(annudf_status status) {
  if (status != ANNUDF_OK)
    throw Error(status, annudf_last_error());
}

inline std::vector<Diagnostic> toVector(const annudf_diagnostics *list) {
  std::vector<Diagnostic> all;
  for (size_t i = 0; i < annudf_diagnostics_count(list); ++i) {
    annudf_diagnostic one = {};
    one.size = sizeof one;
    check(annudf_diagnostics_get(list, i, &one));
    all.push_back({one.severity, one.file, one.rule, one.message, one.line, one.column});
  }
  return all;
}

/// Text of a call that makes a buffer.
template <class Call> std::string text(Call call) {
  annudf_buffer *made = nullptr;
  check(call(&made));
  const BufferOwner owner(made);
  return {annudf_buffer_data(made), annudf_buffer_size(made)};
}

/// Takes a Progress through C: an exception waits until the call has returned.
class Reporting {
public:
  explicit Reporting(const Progress &progress) : progress_(progress) {}
  annudf_progress function() const { return progress_ ? &report : nullptr; }
  void *user() { return this; }
  void check(annudf_status status) const {
    if (raised_)
      std::rethrow_exception(raised_);
    detail::check(status);
  }

private:
  static int report(void *user, const char *stage, double done) noexcept {
    auto &self = *static_cast<Reporting *>(user);
    try {
      return self.progress_(stage, done) ? 0 : 1;
    } catch (...) {
      self.raised_ = std::current_exception();
      return 1;
    }
  }
  const Progress &progress_;
  std::exception_ptr raised_;
};

template <class T> constexpr const char *dtypeOf() {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, long double>,
                "values of captures are numbers of at most 64 bits");
  if constexpr (std::is_same_v<T, bool>)
    return "b1";
  else if constexpr (std::is_same_v<T, float>)
    return "f32";
  else if constexpr (std::is_same_v<T, double>)
    return "f64";
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? "i8" : "u8";
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? "i16" : "u16";
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? "i32" : "u32";
  else if constexpr (sizeof(T) == 8)
    return std::is_signed_v<T> ? "i64" : "u64";
  else
    static_assert(sizeof(T) == 0, "numbers of this width are no values of captures");
}

} // namespace detail

/// A float16 by its bits.
struct Half {
  uint16_t bits;
};

/// A row-major, contiguous matrix that stays the caller's.
struct Vectors {
  const void *data = nullptr;
  int64_t rows = 0, dims = 0;
  annudf_element element = ANNUDF_ELEMENT_F32;

  Vectors() = default;
  Vectors(const void *data, int64_t rows, int64_t dims, annudf_element element)
      : data(data), rows(rows), dims(dims), element(element) {}
  Vectors(std::span<const float> all, int64_t dims) : Vectors(all, dims, ANNUDF_ELEMENT_F32) {}
  Vectors(std::span<const Half> all, int64_t dims) : Vectors(all, dims, ANNUDF_ELEMENT_F16) {}
  Vectors(std::span<const int8_t> all, int64_t dims) : Vectors(all, dims, ANNUDF_ELEMENT_I8) {}
  Vectors(std::span<const uint8_t> all, int64_t dims) : Vectors(all, dims, ANNUDF_ELEMENT_U8) {}

  annudf_vectors c() const { return {sizeof(annudf_vectors), data, rows, dims, element}; }

private:
  template <class T>
  Vectors(std::span<const T> all, int64_t dims, annudf_element element)
      : data(all.data()), dims(dims), element(element) {
    if (dims <= 0 || int64_t(all.size()) % dims != 0)
      throw Error(ANNUDF_USAGE, std::to_string(all.size()) + " coordinates are no rows of " +
                                    std::to_string(dims) + " dims");
    rows = int64_t(all.size()) / dims;
  }
};

//===-- Metrics -----------------------------------------------------------===//

struct CompileOptions {
  std::string origin = "metric";       ///< What places in diagnostics call the source.
  std::vector<std::string> archs = {}; ///< "sm_90", ...; empty: all, where libNVVM is found.
  std::string metricName = {};         ///< Which of several.
  std::string inlineCaptures = {};     ///< As annudf_compile_options.
  bool ltoIr = true;                   ///< Code for GPUs.
  bool hostCode = true;                ///< Code for CPUs.
};

/// A compiled metric.
class Artifact {
public:
  /// Compiles text of the dialect. \throws Error with rule and place where it is refused.
  /// \param warnings  if not null, gets what was said nevertheless.
  static Artifact compile(std::string_view source, const CompileOptions &options = {},
                          std::vector<Diagnostic> *warnings = nullptr) {
    std::vector<const char *> archs;
    for (const std::string &arch : options.archs)
      archs.push_back(arch.c_str());
    annudf_compile_options c = {};
    c.size = sizeof c;
    c.archs = archs.data(), c.arch_count = archs.size();
    c.metric_name = options.metricName.c_str();
    c.inline_captures = options.inlineCaptures.c_str();
    c.skip_lto_ir = !options.ltoIr, c.skip_host_bitcode = !options.hostCode;
    annudf_artifact *made = nullptr;
    annudf_diagnostics *said = nullptr;
    const annudf_status status =
        annudf_compile(source.data(), source.size(), options.origin.c_str(), &c, &made, &said);
    Artifact artifact(made);
    const detail::DiagnosticsOwner owner(said);
    std::vector<Diagnostic> list = detail::toVector(said);
    if (status != ANNUDF_OK)
      throw Error(status, annudf_last_error(), std::move(list));
    if (warnings)
      *warnings = std::move(list);
    return artifact;
  }
  static Artifact load(const std::string &path) {
    annudf_artifact *made = nullptr;
    detail::check(annudf_artifact_load(path.c_str(), &made));
    return Artifact(made);
  }
  static Artifact fromBytes(std::span<const std::byte> bytes, const std::string &origin) {
    annudf_artifact *made = nullptr;
    detail::check(annudf_artifact_from_bytes(bytes.data(), bytes.size(), origin.c_str(), &made));
    return Artifact(made);
  }
  void save(const std::string &path) const {
    detail::check(annudf_artifact_save(c(), path.c_str()));
  }

  std::string bytes() const {
    return detail::text([&](annudf_buffer **out) { return annudf_artifact_to_bytes(c(), out); });
  }
  std::string manifest() const { ///< JSON.
    return detail::text([&](annudf_buffer **out) { return annudf_artifact_manifest(c(), out); });
  }
  std::string name() const { return annudf_artifact_name(c()); }
  std::string digest() const { return annudf_artifact_digest(c()); }
  bool hasHostCode() const { return annudf_artifact_has_host_code(c()); }
  bool isVerified() const { return annudf_artifact_is_verified(c()); }
  std::vector<std::string> archs() const {
    std::vector<std::string> all;
    for (size_t i = 0; i < annudf_artifact_arch_count(c()); ++i)
      all.emplace_back(annudf_artifact_arch(c(), i));
    return all;
  }
  const annudf_artifact *c() const { return handle_.get(); }

private:
  explicit Artifact(annudf_artifact *handle) : handle_(handle) {}
  detail::Owner<annudf_artifact, annudf_artifact_destroy> handle_;
};

//===-- Captures ----------------------------------------------------------===//

/// What the symbolic extents of captures stand for.
struct Extents {
  int64_t dims = 0, rows = 0, queries = 0;
};

/// A value for one capture; arrays stay the caller's until bound.
class CaptureValue {
public:
  template <class T> static CaptureValue scalar(std::string name, T value) {
    CaptureValue made(std::move(name), detail::dtypeOf<T>(), sizeof value);
    made.scalar_.resize(sizeof value);
    std::char_traits<char>::copy(reinterpret_cast<char *>(made.scalar_.data()),
                                 reinterpret_cast<const char *>(&value), sizeof value);
    return made;
  }
  /// \param shape    empty: one-dimensional.
  /// \param strides  in bytes; empty: C order, without gaps.
  template <class T>
  static CaptureValue array(std::string name, std::span<const T> values,
                            std::vector<int64_t> shape = {}, std::vector<int64_t> strides = {}) {
    CaptureValue made(std::move(name), detail::dtypeOf<T>(), values.size_bytes());
    made.data_ = values.data();
    made.shape_ = shape.empty() ? std::vector<int64_t>{int64_t(values.size())} : std::move(shape);
    made.strides_ = std::move(strides);
    return made;
  }
  /// An array in memory of a CUDA device, in C order.
  /// \param owner  keeps it alive while the captures or a search with them may read it.
  static CaptureValue device(std::string name, std::string dtype, uint64_t address,
                             std::vector<int64_t> shape, uint64_t bytes, int32_t device,
                             std::shared_ptr<const void> owner = nullptr) {
    CaptureValue made(std::move(name), std::move(dtype), bytes);
    made.data_ = reinterpret_cast<const void *>(static_cast<uintptr_t>(address));
    made.shape_ = std::move(shape);
    made.onDevice_ = true, made.device_ = device, made.owner_ = std::move(owner);
    return made;
  }
  /// Where it came from, for messages.
  CaptureValue &&from(std::string origin) && {
    origin_ = std::move(origin);
    return std::move(*this);
  }

  /// Lives as long as this object; to be bound once.
  annudf_capture_value c() const {
    annudf_capture_value value = {};
    value.size = sizeof value;
    value.name = name_.c_str(), value.dtype = dtype_.c_str();
    value.shape = shape_.data(), value.rank = int32_t(shape_.size());
    value.strides = strides_.empty() ? nullptr : strides_.data();
    value.data = scalar_.empty() ? data_ : scalar_.data(), value.bytes = bytes_;
    value.origin = origin_.empty() ? nullptr : origin_.c_str();
    if (onDevice_) {
      value.memory = ANNUDF_MEMORY_CUDA, value.device = device_;
      value.owner = new std::shared_ptr<const void>(owner_);
      value.release = [](void *kept) { delete static_cast<std::shared_ptr<const void> *>(kept); };
    }
    return value;
  }

private:
  CaptureValue(std::string name, std::string dtype, size_t bytes)
      : name_(std::move(name)), dtype_(std::move(dtype)), bytes_(bytes) {}
  std::string name_, dtype_, origin_;
  std::vector<int64_t> shape_, strides_;
  std::vector<std::byte> scalar_;
  const void *data_ = nullptr;
  size_t bytes_ = 0;
  bool onDevice_ = false;
  int32_t device_ = 0;
  std::shared_ptr<const void> owner_;
};

/// Values bound to a metric's captures.
class Captures {
public:
  static Captures bind(const Artifact &artifact, const Extents &extents,
                       std::span<const CaptureValue> values, bool allowNonFinite = false) {
    std::vector<annudf_capture_value> list;
    list.reserve(values.size());
    for (const CaptureValue &value : values)
      list.push_back(value.c());
    const annudf_extents sizes = {sizeof sizes, extents.dims, extents.rows, extents.queries};
    const annudf_captures_options options = {sizeof options, allowNonFinite};
    annudf_captures *made = nullptr;
    detail::check(
        annudf_captures_bind(artifact.c(), &sizes, list.data(), list.size(), &options, &made));
    return Captures(made);
  }
  static Captures bind(const Artifact &artifact, const Extents &extents,
                       std::initializer_list<CaptureValue> values, bool allowNonFinite = false) {
    return bind(artifact, extents, std::span(values.begin(), values.size()), allowNonFinite);
  }
  std::string digest() const { return annudf_captures_digest(c()); }
  const annudf_captures *c() const { return handle_.get(); }

private:
  explicit Captures(annudf_captures *handle) : handle_(handle) {}
  detail::Owner<annudf_captures, annudf_captures_destroy> handle_;
};

//===-- Devices -----------------------------------------------------------===//

/// Device memory; it outlives its backend.
class DeviceBuffer {
public:
  uint64_t address() const { return annudf_device_buffer_address(handle_.get()); }
  uint64_t size() const { return annudf_device_buffer_size(handle_.get()); }

private:
  friend class Backend;
  explicit DeviceBuffer(annudf_device_buffer *handle) : handle_(handle) {}
  detail::Owner<annudf_device_buffer, annudf_device_buffer_destroy> handle_;
};

/// Where searches run.
class Backend {
public:
  static Backend cpu(int32_t threads = 0) {
    annudf_backend *made = nullptr;
    detail::check(annudf_backend_create_cpu(threads, &made));
    return Backend(made);
  }
  static Backend cuda(int32_t device = 0) {
    annudf_backend *made = nullptr;
    detail::check(annudf_backend_create_cuda(device, &made));
    return Backend(made);
  }
  std::string describe() const { return annudf_backend_describe(c()); }
  int32_t device() const { return annudf_backend_device(c()); } ///< -1 for the CPU.
  int32_t arch() const { return annudf_backend_arch(c()); }     ///< 90 for sm_90; 0 for the CPU.
  /// Makes the kernel of metric and element type, so that no search waits for it.
  void precompile(const Artifact &artifact, annudf_element element) const {
    detail::check(annudf_ivf_flat_precompile(c(), artifact.c(), element, nullptr));
  }
  DeviceBuffer allocate(uint64_t bytes, uint64_t stream = 0) const {
    annudf_device_buffer *made = nullptr;
    detail::check(annudf_device_allocate(c(), bytes, stream, &made));
    return DeviceBuffer(made);
  }
  void copy(uint64_t destination, uint64_t source, uint64_t bytes, uint64_t stream = 0) const {
    detail::check(annudf_device_copy(c(), destination, source, bytes, stream));
  }
  void synchronize(uint64_t stream = 0) const {
    detail::check(annudf_device_synchronize(c(), stream));
  }
  annudf_backend *c() const { return handle_.get(); }

private:
  explicit Backend(annudf_backend *handle) : handle_(handle) {}
  detail::Owner<annudf_backend, annudf_backend_destroy> handle_;
};

//===-- IVF-Flat ----------------------------------------------------------===//

struct SearchStats {
  double linkMs = 0, uploadMs = 0, searchMs = 0;
  int links = 0;
  std::string family, why; ///< The kernels that ran it.
};

/// The k best rows of each query, best first: row q of a matrix of k columns.
struct Neighbors {
  int64_t k = 0;
  std::vector<int64_t> ids;
  std::vector<float> distances;
  SearchStats stats;
};

class IvfFlat {
public:
  struct BuildOptions {
    annudf_coarse metric = ANNUDF_COARSE_L2; ///< What k-means clusters by.
    int32_t kmeansIterations = 20;
    double kmeansTrainsetFraction = 0.5;
    uint64_t seed = 1;
    int32_t threads = 0; ///< 0: all cores.
  };

  static IvfFlat build(const Vectors &base, int64_t nLists, const BuildOptions &options,
                       const Progress &progress = {}) {
    detail::Reporting reporting(progress);
    annudf_ivf_flat_build_options c = {};
    c.size = sizeof c;
    c.metric = options.metric, c.kmeans_n_iters = options.kmeansIterations;
    c.kmeans_trainset_fraction = options.kmeansTrainsetFraction;
    c.seed = options.seed, c.threads = options.threads;
    c.progress = reporting.function(), c.progress_user = reporting.user();
    const annudf_vectors rows = base.c();
    annudf_ivf_flat_index *made = nullptr;
    const annudf_status status = annudf_ivf_flat_build(&rows, nLists, &c, &made);
    IvfFlat index(made);
    reporting.check(status);
    return index;
  }
  static IvfFlat build(const Vectors &base, int64_t nLists) {
    return build(base, nLists, BuildOptions());
  }
  static IvfFlat load(const std::string &path) {
    annudf_ivf_flat_index *made = nullptr;
    detail::check(annudf_ivf_flat_load(path.c_str(), &made));
    return IvfFlat(made);
  }
  /// \param ids  empty: they go on from size().
  void extend(const Vectors &rows, std::span<const int64_t> ids = {},
              const Progress &progress = {}) {
    if (!ids.empty() && int64_t(ids.size()) != rows.rows)
      throw Error(ANNUDF_USAGE,
                  std::to_string(ids.size()) + " ids for " + std::to_string(rows.rows) + " rows");
    detail::Reporting reporting(progress);
    const annudf_vectors c = rows.c();
    reporting.check(annudf_ivf_flat_extend(handle_.get(), &c, ids.empty() ? nullptr : ids.data(),
                                           reporting.function(), reporting.user()));
  }
  void save(const std::string &path, const Progress &progress = {}) const {
    detail::Reporting reporting(progress);
    reporting.check(
        annudf_ivf_flat_save(c(), path.c_str(), reporting.function(), reporting.user()));
  }

  annudf_element element() const {
    return static_cast<annudf_element>(annudf_ivf_flat_element(c()));
  }
  int64_t dims() const { return annudf_ivf_flat_dims(c()); }
  int64_t size() const { return annudf_ivf_flat_size(c()); }
  int64_t nLists() const { return annudf_ivf_flat_n_lists(c()); }
  /// What captures must be bound for to search it as it is now.
  Extents extents() const {
    annudf_extents sizes = {};
    sizes.size = sizeof sizes;
    detail::check(annudf_ivf_flat_extents(c(), &sizes));
    return {sizes.dims, sizes.rows, sizes.queries};
  }
  std::vector<float> centers() const { ///< nLists() x dims().
    std::vector<float> all(size_t(nLists() * dims()));
    detail::check(annudf_ivf_flat_centers(c(), all.data(), all.size()));
    return all;
  }

  Neighbors search(const Backend &backend, const Artifact &metric, const Vectors &queries,
                   int64_t k, int64_t nProbes, const Progress &progress = {}) const {
    return search(backend, metric, nullptr, queries, k, nProbes, progress);
  }
  Neighbors search(const Backend &backend, const Artifact &metric, const Captures &captures,
                   const Vectors &queries, int64_t k, int64_t nProbes,
                   const Progress &progress = {}) const {
    return search(backend, metric, captures.c(), queries, k, nProbes, progress);
  }
  /// Enqueues a search on a CUDA backend's stream: queries, ids and distances are device
  /// addresses that must live until the stream has got there.
  SearchStats searchDevice(const Backend &backend, const Artifact &metric, const Captures *captures,
                           const Vectors &queries, int64_t k, int64_t nProbes, uint64_t ids,
                           uint64_t distances, uint64_t stream = 0) const {
    const annudf_vectors rows = queries.c();
    annudf_ivf_flat_search_stats stats = {};
    stats.size = sizeof stats;
    detail::check(annudf_ivf_flat_search_device(
        backend.c(), c(), metric.c(), captures ? captures->c() : nullptr, &rows, k, nProbes,
        nullptr, reinterpret_cast<int64_t *>(static_cast<uintptr_t>(ids)),
        reinterpret_cast<float *>(static_cast<uintptr_t>(distances)), stream, &stats));
    return toStats(stats);
  }
  const annudf_ivf_flat_index *c() const { return handle_.get(); }

private:
  explicit IvfFlat(annudf_ivf_flat_index *handle) : handle_(handle) {}
  /// How many queries a vector of their results can be asked to have room for.
  static uint64_t mostRows(int64_t k) {
    return std::min(std::vector<int64_t>().max_size(), std::vector<float>().max_size()) /
           uint64_t(k);
  }
  static SearchStats toStats(const annudf_ivf_flat_search_stats &stats) {
    return {stats.link_ms, stats.upload_ms, stats.search_ms, stats.links, stats.family, stats.why};
  }
  Neighbors search(const Backend &backend, const Artifact &metric, const annudf_captures *captures,
                   const Vectors &queries, int64_t k, int64_t nProbes,
                   const Progress &progress) const {
    // Checked here, as the results need their room before the call.
    if (k < 1 || k > 1024)
      throw Error(ANNUDF_USAGE, "k = " + std::to_string(k) + ": must be between 1 and 1024");
    if (queries.rows < 0 || uint64_t(queries.rows) > mostRows(k))
      throw Error(ANNUDF_USAGE, "queries: rows = " + std::to_string(queries.rows) +
                                    ": must be between 0 and " + std::to_string(mostRows(k)));
    Neighbors found;
    found.k = k;
    try {
      found.ids.resize(size_t(queries.rows) * size_t(k));
      found.distances.resize(found.ids.size());
    } catch (const std::bad_alloc &) {
      throw Error(ANNUDF_ENVIRONMENT, "there is no memory for the results of " +
                                          std::to_string(queries.rows) + " queries");
    }
    detail::Reporting reporting(progress);
    annudf_ivf_flat_search_options options = {};
    options.size = sizeof options;
    options.progress = reporting.function(), options.progress_user = reporting.user();
    annudf_ivf_flat_search_stats stats = {};
    stats.size = sizeof stats;
    const annudf_vectors rows = queries.c();
    reporting.check(annudf_ivf_flat_search(backend.c(), c(), metric.c(), captures, &rows, k,
                                           nProbes, &options, found.ids.data(),
                                           found.distances.data(), &stats));
    found.stats = toStats(stats);
    return found;
  }
  detail::Owner<annudf_ivf_flat_index, annudf_ivf_flat_destroy> handle_;
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_C_ANNUDF_HPP
