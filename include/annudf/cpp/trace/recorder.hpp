//===- annudf/cpp/trace/recorder.hpp - Writes the text of one hook -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_RECORDER_HPP
#define ANNUDF_CPP_TRACE_RECORDER_HPP

#include "annudf/cpp/trace/text.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace annudf {

/// One piece of code for a linked function (linked.hpp).
struct linked_code {
  enum class kind : std::uint8_t { ltoir, ptx, cubin, cuda_source };
  kind type = kind::cuda_source;
  std::string bytes;
  friend bool operator==(const linked_code &, const linked_code &) = default;
};

namespace tracing {

/// What a value stands for: a result of the hook that is being traced, or a number.
struct operand {
  kind type = kind::i32;
  std::uint32_t id = 0;
  std::uint64_t hook = 0; // 0 of a number.
  std::uint64_t bits = 0; // A number's.
};

template <number T> constexpr operand number_operand(T value) {
  return {.type = kind_of<T>(), .bits = pack(static_cast<canonical_t<T>>(value))};
}

/// The indices of a scan. They are read where a hook first uses them, as an op that is not
/// used would be refused where its index has no meaning.
enum class scan_index : std::uint32_t { dim, dims, row, query, list };
inline constexpr std::uint32_t first_scan_index = 0xfffffff0;
inline constexpr const char *scan_index_names[] = {"dim", "dims", "row", "query", "list"};

/// A device function of somebody else.
struct linked_function {
  std::string name;
  std::string signature; ///< With its convention, "convention(c) (f32, f32) -> f32".
  std::vector<linked_code> code;
  std::source_location where;

  std::string text() const {
    constexpr const char *kinds[] = {"ltoir", "ptx", "cubin", "cuda_source"};
    std::string out = "annudf.extern @" + name + ' ' + signature + "\n  link(";
    for (const linked_code &piece : code) {
      out += (&piece == code.data() ? "" : ", ") +
             std::string(kinds[static_cast<unsigned>(piece.type)]) + ' ';
      append_string(out, piece.bytes);
    }
    return out + ')' + location_of(where) + '\n';
  }
};

/// Captures of a metric, and the linked functions that it calls, in the order in which its hooks
/// first use them.
class declarations {
public:
  void link(const linked_function &called) {
    for (const linked_function &known : linked)
      if (known.name == called.name) {
        if (known.signature != called.signature)
          refuse_second(known, "as " + known.signature + " and as " + called.signature);
        if (known.code != called.code)
          refuse_second(known, "with different code");
        return;
      }
    linked.push_back(called);
  }
  /// What stands before the metric or filter of that name.
  std::string linked_text(const char *of, std::string_view name) const {
    std::string out;
    for (const linked_function &one : linked) {
      if (one.name == name)
        throw std::invalid_argument("a linked function and the " + std::string(of) +
                                    " that calls it are both called '" + one.name + "'; give the " +
                                    of + " another name");
      out += one.text();
    }
    return out;
  }

  /// The SSA name.
  std::string declare(const std::string &name, const std::string &type) {
    for (const declaration &known : all)
      if (known.name == name) {
        if (known.type != type)
          refuse_second(known, type);
        return known.ssa;
      }
    check_name("capture", name);
    // Arguments of hooks have these names.
    const bool taken = name == "acc" || name == "other" || name == "x" || name == "y";
    all.push_back({name, type, '%' + name + (taken ? ".capture" : "")});
    return all.back().ssa;
  }

  std::string text() const {
    std::string out;
    for (const declaration &one : all)
      out.append("  ")
          .append(one.ssa)
          .append(" = annudf.capture \"")
          .append(one.name)
          .append("\" : !annudf.capture<")
          .append(one.type)
          .append(">\n");
    return out;
  }

private:
  struct declaration {
    std::string name, type, ssa;
  };
  [[noreturn]] static void refuse_second(const declaration &known, const std::string &type) {
    throw std::invalid_argument("capture '" + known.name + "' is declared as " + known.type +
                                " and as " + type + "; give one of them another name");
  }

  [[noreturn]] static void refuse_second(const linked_function &known, const std::string &how) {
    throw std::invalid_argument("linked function '" + known.name + "' is declared " + how +
                                "; a linker knows it by its name, so give one of them another");
  }

  std::vector<declaration> all;
  std::vector<linked_function> linked;
};

/// The ops of one hook, in the order of the calls. A loop alone has a block in the hook's.
class recorder {
public:
  recorder(declarations &declared, const std::source_location &caller)
      : captures(declared), call(caller), last(caller), serial(next_serial()), outer(running) {
    if (outer)
      throw std::logic_error("a metric is made in the function of another metric; make it before, "
                             "or call its function");
    running = this;
  }
  ~recorder() { running = outer; }
  recorder(const recorder &) = delete;
  recorder &operator=(const recorder &) = delete;

  /// This thread's; throws where none runs.
  static recorder &current() {
    if (!running)
      throw std::logic_error("a value of a metric's function is used after the function returned; "
                             "keep plain numbers instead");
    return *running;
  }
  static bool is_running() { return running != nullptr; }

  /// The name of an argument of the hook.
  operand argument(std::string name, kind type) {
    ++argument_count;
    return add(std::move(name), type, call);
  }

  /// The type after the colon is that of the operands, which is the result's but for comparisons.
  operand emit(std::string_view op, kind type, std::initializer_list<operand> operands,
               const std::source_location &where, std::string_view infix = {}) {
    std::string list;
    for (const operand &one : operands) {
      list += list.empty() ? " " : ", ";
      list += name(one, where);
    }
    const char *taken = spelling_of(operands.begin()->type);
    return line(std::string(op) + std::string(infix) + list + " : " + taken, type, where);
  }

  /// `arith.extf %a : f32 to f64` and the like.
  operand cast(std::string_view op, kind to, const operand &from,
               const std::source_location &where) {
    return line(std::string(op) + ' ' + name(from, where) + " : " + spelling_of(from.type) +
                    " to " + spelling_of(to),
                to, where);
  }

  operand select(const operand &condition, const operand &a, const operand &b,
                 const std::source_location &where) {
    // In the order of the text, and not as a compiler evaluates a sum.
    std::string text = "arith.select " + name(condition, where);
    text += ", " + name(a, where);
    text += ", " + name(b, where);
    return line(text + " : " + spelling_of(a.type), a.type, where);
  }

  /// Reads a capture; `type` is the inside of !annudf.capture<...>, `element` what the load gives.
  operand load(const std::string &capture, const std::string &type, kind element,
               const std::vector<operand> &indices, const std::source_location &where,
               const char *spelling = nullptr) {
    const std::string ssa = captures.declare(capture, type);
    std::string list;
    for (const operand &one : indices)
      list += (list.empty() ? "" : ", ") + index_name(one, where);
    std::string text = "annudf.load " + ssa + '[' + list + "] : !annudf.capture<" + type + '>';
    if (!spelling)
      return line(text, element, where);
    // An f16: bodies widen it at once.
    const operand narrow = line(text, element, where);
    return line("arith.extf " + name(narrow, where) + " : " + spelling + " to " +
                    spelling_of(element),
                element, where);
  }

  operand call_linked(const linked_function &called, kind gives,
                      const std::vector<operand> &arguments, const std::source_location &where) {
    captures.link(called);
    const std::string names = names_of(arguments, where);
    return line("annudf.call @" + called.name + '(' + names + ") : (" + types_of(arguments) +
                    ") -> " + spelling_of(gives),
                gives, where);
  }

  void yield(const std::vector<operand> &fields, const std::source_location &where) {
    if (depth != 0)
      throw std::logic_error("the function of a loop threw and the metric's went on; let it throw");
    write_yield("annudf", fields, where);
  }

  /// A coordinate of the vector that is called so.
  operand at(std::string_view vector, kind type, const operand &index,
             const std::source_location &where) {
    const std::string place = index_name(index, where);
    return line("annudf.at " + std::string(vector) + '[' + place + "] : !annudf.vector<" +
                    spelling_of(type) + '>',
                type, where);
  }

  /// A loop whose body is being recorded.
  struct loop {
    std::string results;
    std::uint32_t first; ///< Value of its body.
    operand index;
    std::vector<operand> arguments;
  };

  /// Begins a loop from `begin` up to `end`, both 64-bit, that carries values.
  loop open(const operand &begin, const operand &end, const std::vector<operand> &initial,
            const std::source_location &where) {
    const operand one = {.type = kind::i64, .bits = 1};
    std::string bounds = name(begin, where);
    bounds += " to " + name(end, where);
    bounds += " step " + name(one, where);
    std::vector<std::string> initials;
    initials.reserve(initial.size());
    for (const operand &each : initial)
      initials.push_back(name(each, where));
    // What is used after the loop too may be first used in it.
    if (depth++ == 0)
      outermost = body.size();
    loop out{fresh(), static_cast<std::uint32_t>(values.size()), {}, {}};
    const std::string counter = fresh();
    std::string carried;
    for (std::size_t i = 0; i < initial.size(); ++i) {
      const std::string argument = fresh();
      carried += (i ? ", " : "") + argument + " = " + initials[i];
      out.arguments.push_back(add(argument, initial[i].type, where));
    }
    out.index = add(counter, kind::i64, where);
    const std::string several = initial.size() == 1 ? "" : ':' + std::to_string(initial.size());
    body += "    " + out.results + several + " = scf.for " + counter + " = " + bounds +
            " iter_args(" + carried + ") -> (" + types_of(initial) + ") : i64 {\n";
    return out;
  }

  /// Ends the innermost loop; gives what it carried last.
  std::vector<operand> close(const loop &ended, const std::vector<operand> &next,
                             const std::source_location &where) {
    write_yield("scf", next, where);
    body += "    }" + location_of(where) + '\n';
    --depth;
    for (std::size_t id = ended.first; id < values.size(); ++id)
      values[id].has_ended = true;
    std::vector<operand> out;
    out.reserve(next.size());
    for (std::size_t i = 0; i < next.size(); ++i)
      out.push_back(add(ended.results + (next.size() == 1 ? "" : '#' + std::to_string(i)),
                        next[i].type, where));
    last = where;
    return out;
  }

  /// Where the operand was made; the last known place for an argument and for a number.
  std::source_location place(const operand &of) const {
    const bool made = of.hook == serial && of.id >= argument_count && of.id < values.size();
    return made ? values[of.id].where : last;
  }

  operand index(scan_index which) const {
    return {.type = kind::i64,
            .id = first_scan_index + static_cast<std::uint32_t>(which),
            .hook = serial};
  }

  const std::string &text() const { return body; }

private:
  struct result {
    std::string name;
    std::source_location where;
    bool has_ended = false; ///< With the loop whose body made it.
  };

  struct constant {
    std::string type;
    std::uint64_t bits;
    std::string name;
  };

  static std::uint64_t next_serial() {
    static std::uint64_t last = 0;
    // <atomic> alone would cost 0.2 s of each compile.
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  }

  operand add(std::string name, kind type, const std::source_location &where) {
    values.push_back({std::move(name), where, false});
    return {.type = type, .id = static_cast<std::uint32_t>(values.size() - 1), .hook = serial};
  }

  std::string fresh() { return '%' + std::to_string(count++); }

  std::string names_of(const std::vector<operand> &all, const std::source_location &where) {
    std::string out;
    for (const operand &one : all)
      out += (out.empty() ? "" : ", ") + name(one, where);
    return out;
  }
  static std::string types_of(const std::vector<operand> &all) {
    std::string out;
    for (const operand &one : all)
      out += (out.empty() ? "" : ", ") + std::string(spelling_of(one.type));
    return out;
  }

  void write_yield(const char *dialect, const std::vector<operand> &fields,
                   const std::source_location &where) {
    const std::string names = names_of(fields, where);
    body += std::string("    ") + dialect + ".yield " + names + " : " + types_of(fields) +
            location_of(where) + '\n';
  }

  static std::string line_of(const std::string &name, const std::string &op,
                             const std::source_location &where) {
    return "    " + name + " = " + op + location_of(where) + '\n';
  }

  void write(const std::string &name, const std::string &op, const std::source_location &where) {
    body += line_of(name, op, where);
    last = where;
  }

  /// What is written once for all uses stands before the loops that are open.
  void write_once(const std::string &name, const std::string &op,
                  const std::source_location &where) {
    if (depth == 0)
      return write(name, op, where);
    const std::string line = line_of(name, op, where);
    body.insert(outermost, line);
    outermost += line.size();
  }

  operand line(const std::string &op, kind type, const std::source_location &where) {
    std::string name = fresh();
    write(name, op, where);
    return add(std::move(name), type, where);
  }

  void check(const operand &one) const {
    if (one.hook != serial)
      throw std::logic_error(
          "a value of one function of a metric is used in another; pass it on as a field of the "
          "accumulator");
    if (one.id < first_scan_index && values[one.id].has_ended)
      throw std::logic_error("a value of a loop's function is used after the loop; return it from "
                             "the function");
  }

  std::string name(const operand &one, const std::source_location &where) {
    if (one.hook == 0)
      return constant_name(spelling_of(one.type), spelled(one.type, one.bits), one.bits, where);
    check(one);
    if (one.id < first_scan_index)
      return values[one.id].name;
    std::string &number = numbers[one.id - first_scan_index];
    if (number.empty()) {
      const std::string raw = scan_index_name(one, where);
      number = fresh();
      write_once(number, "arith.index_cast " + raw + " : index to i64", where);
    }
    return number;
  }

  /// The operand as an `index`.
  std::string index_name(const operand &one, const std::source_location &where) {
    if (one.hook == 0)
      return constant_name("index", spelled(kind::i64, converted(one.bits, one.type, kind::i64)),
                           one.bits, where);
    check(one);
    if (one.id >= first_scan_index)
      return scan_index_name(one, where);
    const std::string from = name(one, where);
    std::string out = fresh();
    write(out,
          std::string(is_signed(one.type) ? "arith.index_cast " : "arith.index_castui ") + from +
              " : " + spelling_of(one.type) + " to index",
          where);
    return out;
  }

  std::string scan_index_name(const operand &one, const std::source_location &where) {
    const std::uint32_t which = one.id - first_scan_index;
    std::string &known = scan_indices[which];
    if (known.empty()) {
      known = std::string("%") + scan_index_names[which] + ".index";
      write_once(known, std::string("annudf.index ") + scan_index_names[which], where);
    }
    return known;
  }

  std::string constant_name(const std::string &type, const std::string &spelling,
                            std::uint64_t bits, const std::source_location &where) {
    std::vector<constant> &alike = constants[(bits * 0x9e3779b97f4a7c15U) >> 54U];
    for (const constant &known : alike)
      if (known.bits == bits && known.type == type)
        return known.name;
    alike.push_back({type, bits, fresh()});
    write_once(alike.back().name, "arith.constant " + spelling + (type == "i1" ? "" : " : " + type),
               where);
    return alike.back().name;
  }

  static inline thread_local recorder *running = nullptr;

  declarations &captures;
  std::source_location call;
  std::source_location last;
  std::uint64_t serial;
  recorder *outer;
  std::string body;
  std::vector<result> values;
  /// By a hash of their bits. <map> alone would cost 0.05 s of each compile.
  std::vector<std::vector<constant>> constants = std::vector<std::vector<constant>>(1024);
  std::string scan_indices[5];
  std::string numbers[5];
  unsigned argument_count = 0;
  unsigned count = 0;
  unsigned depth = 0;        ///< Loops that are open,
  std::size_t outermost = 0; ///< and where the first of them begins.
};

/// The operand in another type, as C++ converts.
inline operand convert(const operand &from, kind to, const std::source_location &where) {
  if (from.type == to)
    return from;
  if (from.hook == 0)
    return {.type = to, .bits = converted(from.bits, from.type, to)};
  recorder &into = recorder::current();
  const kind type = from.type;
  if (to == kind::b1) {
    const operand zero = {.type = type};
    return is_float(type) ? into.emit("arith.cmpf", to, {from, zero}, where, " une,")
                          : into.emit("arith.cmpi", to, {from, zero}, where, " ne,");
  }
  if (is_float(type) && is_float(to))
    return into.cast(to == kind::f64 ? "arith.extf" : "arith.truncf", to, from, where);
  if (is_float(type))
    return into.cast(is_signed(to) ? "arith.fptosi" : "arith.fptoui", to, from, where);
  if (is_float(to))
    return into.cast(is_signed(type) ? "arith.sitofp" : "arith.uitofp", to, from, where);
  if (bits_of(type) == bits_of(to)) { // The dialect's integers have no sign.
    operand same = from;
    same.type = to;
    return same;
  }
  if (bits_of(to) < bits_of(type))
    return into.cast("arith.trunci", to, from, where);
  return into.cast(is_signed(type) ? "arith.extsi" : "arith.extui", to, from, where);
}

} // namespace tracing
} // namespace annudf

#endif // ANNUDF_CPP_TRACE_RECORDER_HPP
