//===- annudf/cpp/trace/linked.hpp - Device functions of somebody else -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that is there already, as CUDA C++, LTO-IR, PTX or a cubin, is declared with its code
// and called in a hook:
//
//     const annudf::linked<float(float, float)> scaled(
//         "scaled", {annudf::cuda_source(R"(extern "C" __device__ float scaled(float x, float y) {
//           return 2 * (x - y);
//         })")});
//
// With a recorded value among the arguments the call is recorded. With plain numbers alone the type
// of the result cannot tell whether a hook is traced: `ctx(scaled)(1.0f, 2.0f)` is recorded then,
// and what the stand-in for plain numbers gives where nothing is traced.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_LINKED_HPP
#define ANNUDF_CPP_TRACE_LINKED_HPP

#include "annudf/cpp/trace/value.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace annudf {

/// CUDA C++, which is compiled with the metric.
inline linked_code cuda_source(std::string text) {
  return {linked_code::kind::cuda_source, std::move(text)};
}
/// PTX, for its architecture and newer.
inline linked_code ptx(std::string text) { return {linked_code::kind::ptx, std::move(text)}; }
/// LTO-IR, for its architecture and newer.
inline linked_code ltoir(std::string bytes) { return {linked_code::kind::ltoir, std::move(bytes)}; }
inline linked_code ltoir(const void *bytes, std::size_t size) {
  return ltoir(std::string(static_cast<const char *>(bytes), size));
}
/// Relocatable machine code of one architecture.
inline linked_code cubin(std::string bytes) { return {linked_code::kind::cubin, std::move(bytes)}; }
inline linked_code cubin(const void *bytes, std::size_t size) {
  return cubin(std::string(static_cast<const char *>(bytes), size));
}

/// A file of it; the end of the name says what it is: .cu, .ptx, .ltoir or .cubin.
/// \throws std::invalid_argument for another, std::runtime_error where it cannot be read.
inline linked_code linked_file(const std::string &path) {
  constexpr const char *endings[] = {".ltoir", ".ptx", ".cubin", ".cu"};
  constexpr linked_code::kind kinds[] = {linked_code::kind::ltoir, linked_code::kind::ptx,
                                         linked_code::kind::cubin, linked_code::kind::cuda_source};
  std::size_t which = 0;
  while (which < std::size(endings) && !path.ends_with(endings[which]))
    ++which;
  if (which == std::size(endings))
    throw std::invalid_argument("the code to link is '" + path +
                                "'; give a file whose name ends in .cu, .ptx, .ltoir or .cubin");
  const auto fail = [&] {
    throw std::runtime_error("cannot read '" + path + "': " + std::strerror(errno));
  };
  errno = 0;
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    fail();
  std::string bytes;
  char block[4096];
  for (std::size_t got = sizeof block; got == sizeof block; bytes.append(block, got))
    got = std::fread(block, 1, sizeof block, file); // Less at the end, or after a failure.
  const bool failed = std::ferror(file) != 0;
  const int why = errno;
  std::fclose(file);
  if (failed) {
    errno = why;
    fail();
  }
  return {kinds[which], std::move(bytes)};
}

/// How a linked function takes and gives numbers.
enum class convention : std::uint8_t {
  c,    ///< `extern "C" float f(float, float)`
  numba ///< `extern "C" int f(float *result, float, float)`, as numba's declare_device means it.
};

/// `{.convention = annudf::convention::numba, .on_plain_numbers = [](float, float) { ... }}`: how
/// it is called, and what stands for it in a unit test, where device code has no body. Both may be
/// left out.
template <class Signature> struct linked_options;
template <class R, class... A> struct linked_options<R(A...)> {
  annudf::convention convention = annudf::convention::c;
  /// What a hook calls on plain numbers, in a unit test: device code has no body there.
  R (*on_plain_numbers)(A...) = nullptr;
};

namespace tracing {

/// Compilers agree on how these are passed.
template <class T> consteval bool is_linkable() {
  if constexpr (number<T>)
    return std::floating_point<T> || (sizeof(T) >= 4 && !std::same_as<T, bool>);
  else
    return false;
}
template <class... T> consteval bool are_linkable() { return (is_linkable<T>() && ...); }

/// A number of a signature, whose integers have a sign in the dialect.
template <class T> std::string signature_spelling() {
  if constexpr (is_linkable<T>())
    return (std::is_unsigned_v<T> ? "u" : "") + std::string(spelling_of(kind_of<T>()));
  else
    return "";
}
template <class... T> std::string signature_spellings() {
  std::string out;
  ((out += (out.empty() ? "" : ", ") + signature_spelling<T>()), ...);
  return out;
}

/// A fraction does not become an integer by itself.
template <class A, class From> consteval bool is_argument() {
  static_assert(std::floating_point<A> || std::integral<number_of_t<From>>,
                "a floating-point number does not become an integer argument of a linked function "
                "by itself; write annudf::cast<std::int32_t>(...)");
  return std::floating_point<A> || std::integral<number_of_t<From>>;
}

template <number A, operand_like U>
operand linked_argument(const U &from, const std::source_location &where) {
  if constexpr (is_argument<A, U>())
    return convert(operand_of(from, where), kind_of<A>(), where);
  else
    return {};
}
template <number A, operand_like U> A plain_argument(const U &from) {
  if constexpr (is_argument<A, U>())
    return static_cast<A>(static_cast<number_of_t<U>>(from));
  else
    return A();
}

/// An argument of a recorded call. What makes the parameter's type of it is recorded in the call,
/// in the order of the text: compilers convert arguments in different orders.
template <class A> class at_argument {
public:
  template <operand_like U>
  at_argument(const U &argument)
      : from(&argument), make([](const void *object, const std::source_location &where) {
          return linked_argument<A>(*static_cast<const U *>(object), where);
        }) {}
  operand operator()(const std::source_location &where) const { return make(from, where); }

private:
  const void *from;
  operand (*make)(const void *, const std::source_location &);
};

template <class Signature> class recorded_linked;

} // namespace tracing

/// A device function that a linker finds by its name, and the code that defines it:
/// `linked<float(float, float)> f("f", {cuda_source("...")}, options)`. A hook calls it, `f(x, y)`.
template <class Signature> class linked {
  static_assert(tracing::never<Signature>,
                "annudf::linked takes the type of a function: annudf::linked<float(float, float)>");
};

template <class R, class... A> class linked<R(A...)> {
  static_assert(tracing::are_linkable<R, A...>(),
                "a linked function takes and returns float, double, std::int32_t, std::uint32_t, "
                "std::int64_t and std::uint64_t");
  static_assert(sizeof...(A) <= 32, "a linked function takes at most 32 arguments");

public:
  /// \param code  at least one piece; together they define the function.
  linked(std::string name, std::vector<linked_code> code,
         const linked_options<R(A...)> &options = {},
         const std::source_location where = std::source_location::current())
      : what{std::move(name),
             std::string(options.convention == convention::numba ? "convention(numba) ("
                                                                 : "convention(c) (") +
                 tracing::signature_spellings<A...>() + ") -> " + tracing::signature_spelling<R>(),
             std::move(code), where},
        plain(options.on_plain_numbers) {
    constexpr std::size_t most = 510; // Names of numba's are long.
    tracing::check_name("linked function", what.name, most);
    if (what.code.empty())
      throw std::invalid_argument("linked function '" + what.name +
                                  "' has no code; give at least one piece, as "
                                  "annudf::cuda_source(\"...\")");
  }

  const std::string &name() const { return what.name; }

  /// With a recorded value: the call is recorded.
  auto operator()(tracing::at_argument<A>... arguments,
                  const std::source_location where = std::source_location::current()) const
    requires(sizeof...(A) > 0)
  {
    return recorded(where, {arguments(where)...});
  }
  /// For plain numbers.
  template <tracing::operand_like... B>
    requires(sizeof...(B) != sizeof...(A) || !(tracing::recorded<B> || ...))
  R operator()(const B &...arguments) const {
    static_assert(sizeof...(B) == sizeof...(A),
                  "a linked function takes as many arguments as the type that it was given");
    if (tracing::recorder::is_running())
      throw std::logic_error("linked function '" + what.name +
                             "' is called with plain numbers alone where a metric is made; write "
                             "ctx(" +
                             what.name + ")(...)");
    if (!plain)
      throw std::logic_error("linked function '" + what.name +
                             "' is code for GPUs and computes nothing on plain numbers; give it "
                             "{.on_plain_numbers = [](...) { ... }} for a unit test");
    if constexpr (sizeof...(B) == sizeof...(A))
      return plain(tracing::plain_argument<A>(arguments)...);
    else
      return R();
  }

private:
  friend class tracing::recorded_linked<R(A...)>;

  auto recorded(const std::source_location &where,
                const std::vector<tracing::operand> &arguments) const {
    using T = tracing::canonical_t<R>;
    return value<T>::made(
        tracing::recorder::current().call_linked(what, tracing::kind_of<T>(), arguments, where));
  }

  tracing::linked_function what;
  R (*plain)(A...);
};

namespace tracing {

/// What `ctx(function)` gives where a hook is traced: every call is recorded.
template <class R, class... A> class recorded_linked<R(A...)> {
public:
  recorded_linked(const linked<R(A...)> &called, const std::source_location &where)
      : function(called), place(where) {}
  template <operand_like... B> auto operator()(const B &...arguments) const {
    static_assert(sizeof...(B) == sizeof...(A),
                  "a linked function takes as many arguments as the type that it was given");
    if constexpr (sizeof...(B) == sizeof...(A))
      return function.recorded(place, {linked_argument<A>(arguments, place)...});
  }

private:
  const linked<R(A...)> &function;
  std::source_location place;
};

} // namespace tracing
} // namespace annudf

#endif // ANNUDF_CPP_TRACE_LINKED_HPP
