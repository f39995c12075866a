//===- Wrap.h - What implementations of the C API share -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Not installed: callers of the C API see annudf-c only. Knows neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_CAPI_WRAP_H
#define ANNUDF_LIB_CAPI_WRAP_H

#include "annudf-c/Artifact.h"
#include "annudf/Artifact/Artifact.h"
#include "annudf/Support/ArgumentError.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

struct annudf_buffer {
  std::string bytes;
};

struct annudf_artifact {
  annudf::Artifact value;
  std::string bytes, digest;
  std::vector<std::string> targets; ///< Payload::arch() of each, as text that callers may keep.
  std::vector<const char *> archs;  ///< Those of GPU code.
  annudf_artifact_info info;        ///< Points into the rest.
};

namespace annudf::capi {

/// Makes `text` the thread's last error, of no argument or of that one, and returns `status`.
annudf_status fail(annudf_status status, const char *text,
                   const ArgumentFault *fault = nullptr) noexcept;

/// A failure whose status is not that of annudf::Error.
struct Failure {
  annudf_status status;
  std::string text;
};

annudf_status toStatus(ErrorKind kind);

/// One call of an API function, for its messages.
class Call {
public:
  explicit Call(const char *function) : function(function) {}
  /// \throws Error(Usage) "FUNCTION: PARAMETER is NULL".
  template <typename T> void refuseNull(const T *pointer, const char *parameter) const {
    if (!pointer)
      refuse(std::string(parameter) + " is NULL");
  }
  /// \throws Error(Usage) "FUNCTION: WHAT".
  [[noreturn]] void refuse(const std::string &what) const;

private:
  const char *function;
};

/// Runs the body of an API function, which is given its Call: no exception leaves it.
template <typename Body> annudf_status guard(const char *function, Body body) noexcept {
  try {
    body(Call(function));
    return ANNUDF_OK;
  } catch (const Failure &failure) {
    return fail(failure.status, failure.text.c_str());
  } catch (const ArgumentError &error) {
    return fail(toStatus(error.kind()), error.what(), &error.fault());
  } catch (const Error &error) {
    return fail(toStatus(error.kind()), error.what());
  } catch (const std::bad_alloc &) {
    return fail(ANNUDF_ENVIRONMENT, "out of memory");
  } catch (const std::exception &error) {
    return fail(ANNUDF_INTERNAL, error.what());
  } catch (...) {
    return fail(ANNUDF_INTERNAL, "an exception of unknown type");
  }
}

/// A copy of a struct of options: fields that an older caller does not have are 0.
/// \param given     may be null: every field is 0.
/// \param smallest  what the first version of the struct had.
/// \throws Error(Usage) for a size that no version has, and for fields set that this
/// library does not know.
template <typename Options>
Options copyOptions(const Options *given, size_t smallest, const char *name) {
  Options options;
  std::memset(&options, 0, sizeof options);
  options.size = sizeof options;
  if (!given)
    return options;
  size_t size = given->size;
  if (size < smallest)
    throw Error(ErrorKind::Usage, std::string(name) + ".size is " + std::to_string(size) +
                                      ", at least " + std::to_string(smallest) +
                                      " are needed; set it to sizeof(" + name + ")");
  // More than this is no struct but a size that was never set.
  constexpr size_t kLargest = 4096;
  if (size > kLargest)
    throw Error(ErrorKind::Usage, std::string(name) + ".size is " + std::to_string(size) +
                                      ", more than any version has; set it to sizeof(" + name +
                                      ")");
  const char *bytes = reinterpret_cast<const char *>(given);
  std::memcpy(&options, bytes, std::min(size, sizeof options));
  options.size = sizeof options;
  for (size_t i = sizeof options; i < size; ++i)
    if (bytes[i] != 0)
      throw Error(ErrorKind::Usage, std::string(name) + " sets a field that this library, annudf " +
                                        annudf_version() +
                                        ", does not know; clear it, or update annudf");
  return options;
}

/// Fills a caller's struct, which may be an older, shorter one.
/// \param smallest  what the first version of the struct had.
/// \throws Error(Usage) for a size that no version has.
template <typename Struct>
void fill(const Call &call, Struct *to, Struct from, size_t smallest, const char *name) {
  from.size = to->size;
  if (from.size < smallest)
    call.refuse(std::string(name) + ".size is " + std::to_string(from.size) + ", at least " +
                std::to_string(smallest) + " are needed; set it to sizeof(" + name + ")");
  std::memcpy(to, &from, std::min(from.size, sizeof from));
}

/// Null is the empty text.
inline std::string textOf(const char *text) { return text ? text : ""; }

inline annudf_buffer *makeBuffer(std::string bytes) { return new annudf_buffer{std::move(bytes)}; }

/// An artifact as it came from a file.
annudf_artifact *makeArtifact(Artifact artifact, std::string bytes);
/// An artifact that was made here.
annudf_artifact *makeArtifact(Artifact artifact);

} // namespace annudf::capi

#endif // ANNUDF_LIB_CAPI_WRAP_H
