//===- annudf/cpp/trace/value.hpp - A number that records what is done with it -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// An operator has no room for a place, so one operand of each is converted by a constructor whose
// default argument is the caller's place. The other one is deduced, and matches exactly: no
// built-in operator is then as good.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_VALUE_HPP
#define ANNUDF_CPP_TRACE_VALUE_HPP

#include "annudf/cpp/trace/recorder.hpp"

namespace annudf {

template <tracing::number T> class value;

namespace tracing {

/// What may stand beside a recorded value: others, plain numbers, and captures' entries. `type` is
/// the C++ type of the number, `of` gives its operand.
template <class T> struct operand_traits;
template <class T> struct operand_traits<const T> : operand_traits<T> {};
template <number T> struct operand_traits<T> {
  using type = canonical_t<T>;
  static constexpr bool recorded = false;
  static operand of(T number, const std::source_location &) { return number_operand(number); }
};
template <class T> struct operand_traits<value<T>> {
  using type = T;
  static constexpr bool recorded = true;
  static operand of(const value<T> &from, const std::source_location &);
};

template <class T>
concept operand_like = requires { typename operand_traits<T>::type; };
/// A number, or a capture's entry that is one where nothing is recorded.
template <class T>
concept unrecorded = operand_like<T> && !operand_traits<T>::recorded;
template <class T>
concept recorded = operand_like<T> && operand_traits<T>::recorded;
template <class T> using number_of_t = operand_traits<T>::type;
template <class T>
concept integer_like = operand_like<T> && std::integral<number_of_t<T>>;

template <operand_like T> operand operand_of(const T &from, const std::source_location &where) {
  return operand_traits<T>::of(from, where);
}
/// Where the operator has no place of its own.
template <operand_like T> operand operand_here(const T &from) {
  return operand_of(from, recorder::current().place({}));
}

template <class A, class B> struct of_integers {
  static_assert(
      std::integral<A> && std::integral<B>,
      "%, &, |, ^, ~, << and >> take integers; the remainder of floating-point numbers is "
      "annudf::fmod, and annudf::cast makes integers of them");
  using joined = common_t<A, B>;
  using shifted = promoted_t<A>;
};
template <class A, class B> using joined_t = of_integers<A, B>::joined;
template <class A, class B> using shifted_t = of_integers<A, B>::shifted;
template <class, class> using truth_t = bool;

/// A value<T> and where it is used.
template <class T> struct at {
  at(const value<T> &from, const std::source_location place = std::source_location::current())
      : what(operand_traits<value<T>>::of(from, place)), where(place) {}
  operand what;
  std::source_location where;
};
template <class T> struct at_variable {
  at_variable(value<T> &variable,
              const std::source_location place = std::source_location::current())
      : of(variable), where(place) {}
  value<T> &step(int by);
  value<T> &of;
  std::source_location where;
};
/// Any operand and where it is used.
struct at_any {
  template <operand_like U>
  at_any(const U &from, const std::source_location place = std::source_location::current())
      : what(operand_of(from, place)), where(place) {}
  operand what;
  std::source_location where;
};
struct at_any_integer : at_any {
  template <integer_like U>
  at_any_integer(const U &from, const std::source_location place = std::source_location::current())
      : at_any(from, place) {}
};
struct at_any_number : at_any {
  template <unrecorded U>
  at_any_number(const U &from, const std::source_location place = std::source_location::current())
      : at_any(from, place) {}
};

enum class binary : std::uint8_t { add, sub, mul, div, rem, band, bor, bxor };
enum class comparison : std::uint8_t { eq, ne, lt, le, gt, ge };

/// After the usual arithmetic conversions.
template <binary op>
operand apply(const operand &a, const operand &b, const std::source_location &where) {
  // Operators of integers alone have none.
  constexpr const char *floats[] = {"arith.addf", "arith.subf", "arith.mulf", "arith.divf",
                                    "",           "",           "",           ""};
  constexpr const char *integers[] = {"arith.addi",  "arith.subi", "arith.muli", "arith.divui",
                                      "arith.remui", "arith.andi", "arith.ori",  "arith.xori"};
  const kind type = common(a.type, b.type);
  const operand left = convert(a, type, where);
  const operand right = convert(b, type, where);
  const auto number = static_cast<unsigned>(op);
  const char *name = is_float(type) ? floats[number] : integers[number];
  if (is_signed(type) && op == binary::div)
    name = "arith.divsi";
  if (is_signed(type) && op == binary::rem)
    name = "arith.remsi";
  return recorder::current().emit(name, type, {left, right}, where);
}

template <comparison op>
operand compare(const operand &a, const operand &b, const std::source_location &where) {
  // Floating-point comparisons, all but !=, are false where either is NaN.
  constexpr const char *floats[] = {" oeq,", " une,", " olt,", " ole,", " ogt,", " oge,"};
  constexpr const char *with_sign[] = {" eq,", " ne,", " slt,", " sle,", " sgt,", " sge,"};
  constexpr const char *without[] = {" eq,", " ne,", " ult,", " ule,", " ugt,", " uge,"};
  const kind type = common(a.type, b.type);
  const operand left = convert(a, type, where);
  const operand right = convert(b, type, where);
  const auto number = static_cast<unsigned>(op);
  if (is_float(type))
    return recorder::current().emit("arith.cmpf", kind::b1, {left, right}, where, floats[number]);
  return recorder::current().emit("arith.cmpi", kind::b1, {left, right}, where,
                                  is_signed(type) ? with_sign[number] : without[number]);
}

[[noreturn]] inline void refuse_shift(const operand &amount, kind type,
                                      const std::source_location &where) {
  const std::string width = std::to_string(bits_of(type));
  throw std::invalid_argument(std::string(where.file_name()) + ':' + std::to_string(where.line()) +
                              ": " + name_of(type) + " is shifted by " +
                              spelled(amount.type, amount.bits) + ", and has " + width +
                              " bits; shift by 0 to " + std::to_string(bits_of(type) - 1));
}

/// The amount of a shift in the type of what is shifted, as the dialect has one type. What is cut
/// off there is no shift of C++, and a check of what is left would not see it: a number is refused
/// here, and of a recorded amount what is too much stays too much.
inline operand shift_amount(const operand &b, kind type, const std::source_location &where) {
  if (bits_of(b.type) <= bits_of(type))
    return convert(b, type, where);
  if (b.hook == 0) {
    const std::uint64_t bits = converted(b.bits, b.type, type);
    if (converted(bits, type, b.type) != b.bits)
      refuse_shift(b, type, where);
    return {.type = type, .bits = bits};
  }
  const operand width = {.type = b.type, .bits = bits_of(type)};
  return convert(recorder::current().emit("arith.minui", b.type, {b, width}, where), type, where);
}

/// The result has the promoted type of `a`.
template <bool left>
operand shift(const operand &a, const operand &b, const std::source_location &where) {
  const kind type = promoted(a.type);
  const operand from = convert(a, type, where);
  const operand amount = shift_amount(b, type, where);
  const char *right = is_signed(type) ? "arith.shrsi" : "arith.shrui";
  return recorder::current().emit(left ? "arith.shli" : right, type, {from, amount}, where);
}

inline operand negate(const operand &a, const std::source_location &where) {
  const kind type = promoted(a.type);
  const operand from = convert(a, type, where);
  if (is_float(type))
    return recorder::current().emit("arith.negf", type, {from}, where);
  return recorder::current().emit("arith.subi", type, {operand{.type = type}, from}, where);
}

inline operand complement(const operand &a, const std::source_location &where) {
  const kind type = promoted(a.type);
  const operand ones = {.type = type, .bits = converted(pack(-1), kind::i32, type)};
  return recorder::current().emit("arith.xori", type, {convert(a, type, where), ones}, where);
}

/// && and || of booleans: nothing here has a side effect, so both sides are computed. Their place
/// is that of an operand, because `explicit operator bool` makes the built-in operators match as
/// well as ones that convert.
inline operand logical(const char *op, const operand &a, const operand &b) {
  recorder &into = recorder::current();
  const std::source_location where = into.place(a.hook ? a : b);
  return into.emit(op, kind::b1, {convert(a, kind::b1, where), convert(b, kind::b1, where)}, where);
}

inline operand invert(const operand &a) {
  recorder &into = recorder::current();
  const std::source_location where = into.place(a);
  const operand truth = {.type = kind::b1, .bits = 1};
  return into.emit("arith.xori", kind::b1, {convert(a, kind::b1, where), truth}, where);
}

/// At the place of an operand.
template <comparison op> operand compare_here(const operand &a, const operand &b) {
  return compare<op>(a, b, recorder::current().place(a));
}

} // namespace tracing

/// A number of C++ type T in a hook that is traced. Operators give what they give for plain
/// numbers: the usual promotions and conversions are ops of the dialect. Without a hook it is a
/// number.
template <tracing::number T> class value {
  static_assert(std::same_as<T, tracing::canonical_t<T>>,
                "write the number as bool, float, double or one of std::int8_t to std::uint64_t");
  using at = tracing::at<T>;
  using any = tracing::at_any;
  using variable = tracing::at_variable<T>;

public:
  using number_type = T;

  value() : what{.type = tracing::kind_of<T>()} {}
  /// As C++ converts on assignment.
  template <tracing::operand_like U>
  value(const U &from, const std::source_location where = std::source_location::current())
      : what(tracing::convert(tracing::operand_of(from, where), tracing::kind_of<T>(), where)) {}

  /// For `if (a < b)`.
  explicit operator bool() const {
    static_assert(
        tracing::never<T>,
        "if, while, for, ?:, switch and std::min cannot choose by a value of a metric's function; "
        "write annudf::select(condition, a, b)");
    return false;
  }
  template <tracing::number U>
    requires(!std::same_as<U, bool>)
  explicit operator U() const {
    static_assert(tracing::never<U>,
                  "a value of a metric's function does not become a plain number; write "
                  "annudf::cast<T>(value)");
    return U();
  }
  enum class write_annudf_select : int {};
  /// For `switch (a)`.
  operator write_annudf_select() const
    requires std::integral<T>
  {
    static_assert(tracing::never<T>,
                  "switch cannot choose by a value of a metric's function; write "
                  "annudf::select(condition, a, b)");
    return {};
  }

#define ANNUDF_BINARY(OP, FUNCTION, RESULT)                                                        \
  template <tracing::operand_like U> friend auto operator OP(at left, const U &right) {            \
    using other = tracing::number_of_t<U>;                                                         \
    return value<RESULT<T, other>>::made(                                                          \
        FUNCTION(left.what, tracing::operand_of(right, left.where), left.where));                  \
  }                                                                                                \
  template <tracing::unrecorded U> friend auto operator OP(const U &left, at right) {              \
    using other = tracing::number_of_t<U>;                                                         \
    return value<RESULT<other, T>>::made(                                                          \
        FUNCTION(tracing::operand_of(left, right.where), right.what, right.where));                \
  }
#define ANNUDF_COMPOUND(OP, ANY, FUNCTION, ...)                                                    \
  value &operator OP(ANY right) __VA_ARGS__ {                                                      \
    return assign(FUNCTION(what, right.what, right.where), right.where);                           \
  }

#define ANNUDF_ARITHMETIC(OP, NAME)                                                                \
  ANNUDF_BINARY(OP, tracing::apply<tracing::binary::NAME>, tracing::common_t)                      \
  ANNUDF_COMPOUND(OP## =, any, tracing::apply<tracing::binary::NAME>)
  ANNUDF_ARITHMETIC(+, add)
  ANNUDF_ARITHMETIC(-, sub)
  ANNUDF_ARITHMETIC(*, mul)
  ANNUDF_ARITHMETIC(/, div)
#undef ANNUDF_ARITHMETIC

#define ANNUDF_INTEGER(OP, FUNCTION, RESULT)                                                       \
  ANNUDF_BINARY(OP, FUNCTION, RESULT)                                                              \
  ANNUDF_COMPOUND(OP## =, tracing::at_any_integer, FUNCTION, requires std::integral<T>)
  ANNUDF_INTEGER(%, tracing::apply<tracing::binary::rem>, tracing::joined_t)
  ANNUDF_INTEGER(&, tracing::apply<tracing::binary::band>, tracing::joined_t)
  ANNUDF_INTEGER(|, tracing::apply<tracing::binary::bor>, tracing::joined_t)
  ANNUDF_INTEGER(^, tracing::apply<tracing::binary::bxor>, tracing::joined_t)
  ANNUDF_INTEGER(<<, tracing::shift<true>, tracing::shifted_t)
  ANNUDF_INTEGER(>>, tracing::shift<false>, tracing::shifted_t)
#undef ANNUDF_INTEGER

#define ANNUDF_ORDER(OP, NAME)                                                                     \
  ANNUDF_BINARY(OP, tracing::compare<tracing::comparison::NAME>, tracing::truth_t)
  ANNUDF_ORDER(<, lt)
  ANNUDF_ORDER(<=, le)
  ANNUDF_ORDER(>, gt)
  ANNUDF_ORDER(>=, ge)
#undef ANNUDF_ORDER
#undef ANNUDF_BINARY
#undef ANNUDF_COMPOUND

  // C++20 tries == with its operands swapped too. So both are converted here: then neither order is
  // better, and the one that is written is taken. Integers of one type match another, below.
#define ANNUDF_EQUALITY(OP, NAME)                                                                  \
  friend value<bool> operator OP(at left, any right) {                                             \
    return value<bool>::made(                                                                      \
        tracing::compare<tracing::comparison::NAME>(left.what, right.what, left.where));           \
  }                                                                                                \
  friend value<bool> operator OP(tracing::at_any_number left, at right) {                          \
    return value<bool>::made(                                                                      \
        tracing::compare<tracing::comparison::NAME>(left.what, right.what, right.where));          \
  }
  ANNUDF_EQUALITY(==, eq)
  ANNUDF_EQUALITY(!=, ne)
#undef ANNUDF_EQUALITY

  template <tracing::operand_like U>
  friend value<bool> operator&&(const value &left, const U &right) {
    return value<bool>::made(
        tracing::logical("arith.andi", left.what, tracing::operand_here(right)));
  }
  template <tracing::unrecorded U>
  friend value<bool> operator&&(const U &left, const value &right) {
    return value<bool>::made(
        tracing::logical("arith.andi", tracing::operand_here(left), right.what));
  }
  template <tracing::operand_like U>
  friend value<bool> operator||(const value &left, const U &right) {
    return value<bool>::made(
        tracing::logical("arith.ori", left.what, tracing::operand_here(right)));
  }
  template <tracing::unrecorded U>
  friend value<bool> operator||(const U &left, const value &right) {
    return value<bool>::made(
        tracing::logical("arith.ori", tracing::operand_here(left), right.what));
  }
  friend value<bool> operator!(const value &of) {
    return value<bool>::made(tracing::invert(of.what));
  }

  friend auto operator-(at of) {
    return value<tracing::promoted_t<T>>::made(tracing::negate(of.what, of.where));
  }
  friend auto operator+(at of) {
    constexpr tracing::kind type = tracing::promoted(tracing::kind_of<T>());
    return value<tracing::promoted_t<T>>::made(tracing::convert(of.what, type, of.where));
  }
  friend auto operator~(at of)
    requires std::integral<T>
  {
    return value<tracing::promoted_t<T>>::made(tracing::complement(of.what, of.where));
  }

  friend value &operator++(variable of) { return of.step(1); }
  friend value &operator--(variable of) { return of.step(-1); }
  friend value operator++(variable of, int) {
    const value before = of.of;
    of.step(1);
    return before;
  }
  friend value operator--(variable of, int) {
    const value before = of.of;
    of.step(-1);
    return before;
  }

  /// A value of what has been recorded: for the tracer.
  static value made(const tracing::operand &what) {
    value out;
    out.what = what;
    return out;
  }

private:
  friend tracing::operand_traits<value>;
  friend variable;

  value &assign(const tracing::operand &result, const std::source_location &where) {
    what = tracing::convert(result, tracing::kind_of<T>(), where);
    return *this;
  }

  tracing::operand what;
};

// For two integers of one type the == of write_annudf_select would be as good as the one above.
// Deduced, so that no operand is converted for it; the place is that of an operand.
template <std::integral T> value<bool> operator==(const value<T> &left, const value<T> &right) {
  return value<bool>::made(tracing::compare_here<tracing::comparison::eq>(
      tracing::operand_here(left), tracing::operand_here(right)));
}
template <std::integral T> value<bool> operator!=(const value<T> &left, const value<T> &right) {
  return value<bool>::made(tracing::compare_here<tracing::comparison::ne>(
      tracing::operand_here(left), tracing::operand_here(right)));
}

namespace tracing {

template <class T>
operand operand_traits<value<T>>::of(const value<T> &from, const std::source_location &) {
  return from.what;
}

template <class T> value<T> &at_variable<T>::step(int by) {
  const operand next = apply<binary::add>(of.what, number_operand(by), where);
  return of.assign(next, where);
}

} // namespace tracing
} // namespace annudf

#endif // ANNUDF_CPP_TRACE_VALUE_HPP
