//===- Template.cpp - Hooks written into a scan kernel's PTX --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads PTX as libNVVM prints it, a statement a line; what it does not know it refuses.
//
//===----------------------------------------------------------------------===//

#include "Template.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

namespace annudf::runtime::cuda {

namespace {

std::string_view trimmed(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos)
    return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

/// Takes the next line off `text`, without its end.
std::string_view takeLine(std::string_view &text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// What stands outside of functions, and the kernels by name.
struct Module {
  std::string version, target;
  std::vector<std::string_view> shared;            ///< Statements .extern .shared.
  std::map<std::string_view, std::string_view> of; ///< Whole kernels.
};

/// Nothing where a module has anything else, such as tables.
std::optional<Module> readModule(std::string_view text) {
  constexpr std::string_view kEntry = ".visible .entry ", kEnd = "\n}\n";
  Module module;
  while (!text.empty()) {
    const std::string_view all = text, line = trimmed(takeLine(text));
    const bool isEntry = line.starts_with(kEntry);
    if (isEntry || (line.find(".func") != std::string_view::npos && !line.starts_with(".extern"))) {
      const size_t end = all.find(kEnd);
      if (end == std::string_view::npos)
        return std::nullopt;
      text = all.substr(end + kEnd.size());
      if (isEntry) { // The hooks, as functions, are left.
        const std::string_view name = line.substr(kEntry.size());
        module.of[name.substr(0, name.find('('))] = all.substr(0, end + kEnd.size());
      }
    } else if (line.starts_with(".version ")) {
      module.version = line;
    } else if (line.starts_with(".target ")) {
      module.target = line;
    } else if (line.starts_with(".extern .shared ")) {
      module.shared.push_back(line);
    } else if (!line.empty() && !line.starts_with("//") && line != ".address_size 64") {
      return std::nullopt;
    }
  }
  return module;
}

/// A hook's statements, its registers renamed, so that they hide none of the kernel's.
struct Hook {
  std::vector<std::string> in;
  std::string out, declarations, body;
};

/// What is between the commas of "op a, b, c;".
std::vector<std::string> operandsOf(std::string_view line) {
  std::vector<std::string> operands;
  line.remove_prefix(std::min(line.find(' '), line.size()));
  while (!line.empty() && line.back() == ';')
    line.remove_suffix(1);
  while (!trimmed(line).empty()) {
    const size_t comma = line.find(',');
    operands.emplace_back(trimmed(line.substr(0, comma)));
    line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  }
  return operands;
}

/// "%r12" becomes "%h_r12" wherever a register is named; "%tid.x" stays.
std::string renamed(std::string_view line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    out += line[i];
    if (line[i] != '%')
      continue;
    size_t end = i + 1;
    while (end < line.size() && std::isalpha(static_cast<unsigned char>(line[end])))
      ++end;
    const bool isRegister =
        end > i + 1 && end < line.size() &&
        (std::isdigit(static_cast<unsigned char>(line[end])) || line[end] == '<');
    if (isRegister)
      out += "h_";
  }
  return out;
}

/// What a hook may have: reads registers, constants and memory, and writes registers; no more,
/// because a template's lines are dropped, merged and copied as if they were arithmetic. So nothing
/// that stores, stops, waits, or asks other threads.
constexpr std::string_view kInstructions[] = {
    "abs",  "add",   "addc",     "and",   "bfe",       "bfi",   "bfind", "bra",  "brev", "clz",
    "cnot", "cos",   "copysign", "cvt",   "cvta",      "div",   "dp2a",  "dp4a", "ex2",  "fma",
    "ld",   "ldu",   "lg2",      "lop3",  "mad",       "mad24", "madc",  "max",  "min",  "mov",
    "mul",  "mul24", "neg",      "not",   "or",        "popc",  "prmt",  "rcp",  "rem",  "rsqrt",
    "sad",  "selp",  "set",      "setp",  "shf",       "shl",   "shr",   "sin",  "slct", "sqrt",
    "sub",  "subc",  "tanh",     "testp", "vabsdiff4", "xor"};

/// Quotients and roots whose rare cases the assembler leaves to a function of its own. Of PTX that
/// is assembled to be linked, every caller has that function's registers; in a link of the whole it
/// is a part of the kernel.
bool callsHelper(std::string_view name, std::string_view suffixes) {
  if (name != "div" && name != "rem" && name != "rcp" && name != "sqrt")
    return false;
  for (const char *alone : {".approx", ".full", ".s16", ".u16", ".s32", ".u32"})
    if (suffixes.find(alone) != std::string_view::npos)
      return false;
  return true;
}

/// The instruction of "@%p1 bra $L__BB0_2;", without the guard.
std::string_view unguarded(std::string_view line) {
  if (!line.starts_with('@'))
    return line;
  return trimmed(line.substr(std::min(line.find_first_of(" \t"), line.size())));
}

/// "fma" of "fma.rn.f32 \t%f1, ...".
std::string_view nameOf(std::string_view instruction) {
  return instruction.substr(0, instruction.find_first_of(". \t;"));
}

/// Whether a statement is an instruction that a hook may have, or what belongs to one.
bool isPlain(std::string_view line) {
  if (line.starts_with("$L")) // A label: it is the block's own.
    return line.back() == ':';
  if (line.find(';') != line.size() - 1) // If inline assembly puts several on a line,
    return false;                        // only the first would be looked at.
  if (line.starts_with(".reg ") || line.starts_with(".pragma "))
    return true;
  line = unguarded(line);
  const std::string_view name = nameOf(line);
  if (callsHelper(name, line.substr(name.size(), line.find_first_of(" \t;") - name.size())))
    return false;
  return std::find(std::begin(kInstructions), std::end(kInstructions), name) !=
         std::end(kInstructions);
}

std::optional<Hook> readHook(std::string_view text) {
  Hook hook;
  const size_t begin = text.find("\n{\n");
  if (begin == std::string_view::npos)
    return std::nullopt;
  text = text.substr(begin + 3, text.rfind("\n}\n") - begin - 3);
  bool returned = false, hasIn = false;
  while (!text.empty()) {
    const std::string_view line = trimmed(takeLine(text));
    if (line.empty() || line.starts_with("//"))
      continue;
    if (returned)
      return std::nullopt;
    const std::string own = renamed(line);
    if (line.starts_with("annudf.in ") && !hasIn) {
      hook.in = operandsOf(own), hasIn = true;
    } else if (line.starts_with("annudf.out ") && hook.out.empty()) {
      const std::vector<std::string> out = operandsOf(own);
      if (out.size() != 1)
        return std::nullopt;
      hook.out = out.front();
    } else if (line == "ret;" && !hook.out.empty()) {
      returned = true;
    } else if (isPlain(line) && hook.out.empty()) {
      (line.starts_with(".reg ") ? hook.declarations : hook.body) += own + "\n";
    } else {
      return std::nullopt;
    }
  }
  if (!returned)
    return std::nullopt;
  return hook;
}

void appendMove(std::string &out, std::string_view to, std::string_view from) {
  const bool isWide = to.find('d') != std::string_view::npos; // %rd1, %fd1.
  out.append(isWide ? "mov.b64 " : "mov.b32 ").append(to).append(", ").append(from) += ";\n";
}

/// Where `name` stands in `text` from `at` on, and is not the beginning of a longer name.
size_t findName(std::string_view text, std::string_view name, size_t at) {
  while ((at = text.find(name, at)) != std::string_view::npos) {
    const size_t end = at + name.size();
    if (end == text.size() || !std::isalnum(static_cast<unsigned char>(text[end])))
      return at;
    at = end;
  }
  return at;
}

void replaceName(std::string &text, std::string_view name, std::string_view by) {
  for (size_t at = 0; (at = findName(text, name, at)) != std::string::npos; at += by.size())
    text.replace(at, name.size(), by);
}

/// Whether a statement may write the register: it is in the first operand of one, which may be
/// several, "{%r1, %r2}".
bool isWritten(std::string_view body, std::string_view name) {
  while (!body.empty()) {
    const std::string_view line = takeLine(body);
    const size_t comma = line.find(','), brace = line.find('{');
    const size_t end = brace < comma ? line.find('}') : comma;
    if (findName(line.substr(0, end), name, 0) != std::string_view::npos)
      return true;
  }
  return false;
}

/// The hook on the registers of a line of the kernel, which take the place of its own where it does
/// not write to them: half the text to assemble.
bool appendHook(std::string &out, const Hook &hook, const std::vector<std::string> &operands) {
  if (operands.size() != hook.in.size() + 1)
    return false;
  out += "{\n" + hook.declarations;
  std::string body = hook.body, result = hook.out;
  for (size_t i = 0; i < hook.in.size(); ++i)
    if (isWritten(hook.body, hook.in[i])) {
      appendMove(out, hook.in[i], operands[i + 1]);
    } else {
      replaceName(body, hook.in[i], operands[i + 1]);
      if (result == hook.in[i])
        result = operands[i + 1];
    }
  out += body;
  appendMove(out, operands[0], result);
  out += "}\n";
  return true;
}

} // namespace

std::optional<double> updateSlots(std::string_view hooks) {
  const std::optional<Module> module = readModule(hooks);
  if (!module)
    return std::nullopt;
  const auto found = module->of.find("annudf_text_update");
  if (found == module->of.end() || !readHook(found->second))
    return std::nullopt;
  // On compute capability 9.0, lanes that begin one a clock: 16 of the special functions and of
  // conversions, 32 of loads; a division of integers is some 30 instructions (CUDA C++ Programming
  // Guide, "Throughput of Native Arithmetic Instructions").
  const auto slotsOf = [](std::string_view name) -> double {
    for (const char *slow : {"cos", "cvt", "ex2", "lg2", "popc", "rcp", "rsqrt", "sin", "sqrt",
                             "tanh", "bfind", "brev", "clz"})
      if (name == slow)
        return 8;
    if (name == "ld" || name == "ldu")
      return 4;
    return name == "div" || name == "rem" ? 40 : name == "mov" ? 0 : 1;
  };
  double slots = 0;
  std::vector<std::string_view> labels;
  std::string_view rest = found->second;
  while (!rest.empty()) {
    std::string_view line = trimmed(takeLine(rest));
    if (line.starts_with("$L")) {
      labels.push_back(line.substr(0, line.size() - 1));
      continue;
    }
    line = unguarded(line);
    if (!isPlain(line) || line.starts_with('.'))
      continue;
    const std::string_view name = nameOf(line);
    if (line.find(".f64") != std::string_view::npos) // From 64 lanes down to two.
      return std::nullopt;
    if (name == "bra")
      for (const std::string_view label : labels)
        if (line.find(label) != std::string_view::npos)
          return std::nullopt; // Backwards.
    slots += slotsOf(name);
  }
  return slots;
}

std::optional<std::string> fillTemplate(std::string_view text, std::string_view kernel,
                                        std::string_view hooks, bool waits) {
  constexpr std::string_view kContract = "annudf_read_contract", kHook = "annudf_text_";
  const std::optional<Module> from = readModule(text), of = readModule(hooks);
  if (!from || !of || !from->of.count(kernel) || !of->of.count(kContract) || !of->shared.empty())
    return std::nullopt;
  std::map<std::string_view, Hook> known;
  for (const auto &[name, code] : of->of)
    if (name.starts_with(kHook)) {
      std::optional<Hook> hook = readHook(code);
      if (!hook)
        return std::nullopt;
      // Its parameter is the kernel's.
      replaceName(hook->body, std::string(name) + "_param_0", std::string(kernel) + "_param_0");
      known[name.substr(kHook.size())] = std::move(*hook);
    }

  std::string out = of->version + "\n" + of->target + "\n.address_size 64\n";
  for (std::string_view shared : from->shared)
    out.append(shared) += '\n';
  std::string_view rest = from->of.at(kernel);
  while (!rest.empty()) {
    const std::string_view line = takeLine(rest), statement = trimmed(line);
    if (statement == "annudf.wait;") {
      out += waits ? "griddepcontrol.wait;\n" : "";
    } else if (statement.starts_with("annudf.")) {
      const std::string_view name = statement.substr(7, statement.find(' ') - 7);
      const auto hook = known.find(name);
      if (hook == known.end() || !appendHook(out, hook->second, operandsOf(statement)))
        return std::nullopt;
    } else if (!statement.starts_with("//")) {
      out.append(line) += '\n';
    }
  }
  return out.append(of->of.at(kContract));
}

} // namespace annudf::runtime::cuda
