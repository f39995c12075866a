//===- Program.cpp - A metric in CUDA C++ as a whole program --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "Texts.h"

#include "annudf/ABI/Hooks.h"
#include "annudf/Target/LibNvvm.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;
using namespace annudf;

/// As C++ declares it; an int64_t is a long here and a long long there.
static std::string cuvsPrototype(const std::string &name, bool hasCapture, StringRef integer) {
  return "float " + name + "(float, float, float" +
         (hasCapture ? ", const float *, " + integer.str() : "") + ")";
}

std::string annudf::makeProbe(const std::string &symbol, bool hasCapture) {
  return "extern \"C\" __device__ " + cuvsPrototype(symbol, hasCapture, "long long") +
         ";\nextern \"C\" __global__ void " + kProbeName +
         "(void **out) {\n"
         "  *out = reinterpret_cast<void *>(&" +
         symbol + ");\n}\n";
}

//===----------------------------------------------------------------------===//
// What stands around it
//===----------------------------------------------------------------------===//

namespace {

/// A type of the tables in CUDA C++; null for one that has no spelling here.
constexpr const char *spell(NumberKind kind, int bits) {
  if (kind == NumberKind::Float)
    return bits == 32 ? "float" : bits == 64 ? "double" : nullptr;
  if (bits == 64)
    return kind == NumberKind::Signed ? "int64_t" : nullptr;
  if (bits != 32)
    return nullptr;
  return kind == NumberKind::Signed ? "int32_t" : "uint32_t";
}

/// Types of captures: narrow floats are types of the preamble, which convert to float. No default:
/// a new row says its type here.
constexpr const char *spell(annudf_capture_element element) {
  switch (element) {
  case ANNUDF_CAPTURE_F32:
    return "float";
  case ANNUDF_CAPTURE_F64:
    return "double";
  case ANNUDF_CAPTURE_F16:
    return "annudf_f16";
  case ANNUDF_CAPTURE_BF16:
    return "annudf_bf16";
  case ANNUDF_CAPTURE_I1:
    return "bool";
  case ANNUDF_CAPTURE_I8:
    return "int8_t";
  case ANNUDF_CAPTURE_U8:
    return "uint8_t";
  case ANNUDF_CAPTURE_I16:
    return "int16_t";
  case ANNUDF_CAPTURE_U16:
    return "uint16_t";
  case ANNUDF_CAPTURE_I32:
    return "int32_t";
  case ANNUDF_CAPTURE_U32:
    return "uint32_t";
  case ANNUDF_CAPTURE_I64:
    return "int64_t";
  case ANNUDF_CAPTURE_U64:
    return "uint64_t";
  }
  return nullptr;
}

constexpr NumberKind FLOAT = NumberKind::Float, SIGNED = NumberKind::Signed,
                     UNSIGNED = NumberKind::Unsigned;

#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  static_assert(spell(KIND, BITS), "CUDA source has no type for compute type " SPELLING);
ANNUDF_COMPUTE_TYPES(ANNUDF_X)
#undef ANNUDF_X
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  static_assert(spell(KIND, BITS), "CUDA source has no type for accumulator " SPELLING);
ANNUDF_ACCUMULATORS(ANNUDF_X)
#undef ANNUDF_X
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  static_assert(spell(ANNUDF_CAPTURE_##NAME), "CUDA source has no type for captures "              \
                                              "of " SPELLING);
ANNUDF_CAPTURE_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X

template <typename Enum> const char *typeOf(Enum value) {
  return spell(kindOf(value), bitsOf(value));
}
const char *typeOf(annudf_capture_element element) { return spell(element); }

class Generator {
public:
  Generator(StringRef source, const SourceForm &form, const CudaSourceOptions &options,
            uint64_t contract)
      : source(source), form(form), options(options), acc(typeOf(options.accumulator)),
        coordinate(typeOf(*options.compute)),
        widths{bitsOf(options.accumulator), bitsOf(*options.compute)}, contract(contract),
        os(text) {}

  std::string run() {
    os << "#include \"annudf_abi.h\"\n" << kPreamble;
    context();
    if (form.isPeer) {
      if (form.hasIsSame)
        os << "#define ANNUDF_SOURCE_HAS_IS_SAME\n";
      if (form.hasPoint)
        os << "#define ANNUDF_SOURCE_HAS_POINT\n";
      os << kPeer;
    }
    os << "#line 1 \"" << kSourceName << "\"\n" << source << "\n";
    elsewhere();
    if (!form.symbol.empty())
      symbolStep();
    else if (form.isPeer)
      peerStep();
    else
      step();
    if (form.hasFinalize)
      finish();
    for (ScanHook hook : kScanHooks)
      define(hook);
    return std::move(text);
  }

private:
  /// The next line is reported at the line of the function that updates.
  void atSource() { os << "#line " << form.line << " \"" << kSourceName << "\"\n"; }
  void elsewhere() { os << "#line 1 \"" << kGeneratedName << "\"\n"; }

  /// Refuses a signature at the source, naming what is needed and, by a type that is not
  /// complete, what was found: parseLog joins the two.
  void expect(const std::string &fits, const std::string &needed, const std::string &function) {
    atSource();
    os << "static_assert(" << fits << ", \"" << needed << "\");\n";
    atSource();
    os << "static_assert(sizeof(annudf_found<decltype(&" << function << "), " << fits
       << ">) > 0);\n";
    elsewhere();
  }

  void context() {
    os << "struct annudf_context {\n"
          "  int32_t dim, dims;\n  int64_t row;\n  int32_t query, list;\n";
    for (const CaptureInfo &capture : options.captures) {
      const char *type = typeOf(capture.element);
      if (capture.extents.empty())
        os << "  " << type << " " << capture.name << ";\n";
      else
        os << "  annudf_array<" << type << "> " << capture.name << ";\n";
    }
    os << "};\n";
  }

  /// annudf_step(accumulator, x, y, context), whatever update takes. The pointers make a
  /// signature that only converts an error: `double update(double, ...)` would run.
  void step() {
    const std::string plain = std::string(acc) + " (*)(" + acc + ", " + coordinate + ", " +
                              coordinate + ")",
                      full = std::string(acc) + " (*)(" + acc + ", " + coordinate + ", " +
                             coordinate + ", const annudf_context &)";
    os << "template <typename F> concept annudf_update_is = requires { static_cast<F>(&update); "
          "};\n";
    expect("annudf_update_is<" + plain + "> || annudf_update_is<" + full + ">",
           std::string("update must be '") + acc + " update(" + acc + " acc, " + coordinate +
               " x, " + coordinate + " y)', or take a 'const annudf_context &' as well",
           "update");
    // Types come as arguments of the template, so that only the branch taken is looked at.
    os << "template <typename F> __forceinline__ F annudf_update_as() { return "
          "static_cast<F>(&update); }\n"
          "template <typename Context>\n"
       << "__forceinline__ " << acc << " annudf_step(" << acc << " value, " << coordinate << " x, "
       << coordinate << " y, const Context &context) {\n"
       << "  if constexpr (annudf_update_is<" << full << ">)\n"
       << "    return annudf_update_as<" << full << ">()(value, x, y, context);\n"
       << "  else if constexpr (annudf_update_is<" << plain << ">)\n"
       << "    return annudf_update_as<" << plain << ">()(value, x, y);\n"
       << "  return value;\n}\n";
  }

  /// The same by a function of ANNUDF_CUVS_METRIC_ABI_ID.
  void symbolStep() {
    const bool hasCapture = !options.captures.empty();
    auto pointer = [&](StringRef integer) { return cuvsPrototype("(*)", hasCapture, integer); };
    if (form.isLinked) {
      os << "extern \"C\" " << cuvsPrototype(form.symbol, hasCapture, "long long") << ";\n";
    } else {
      os << "template <typename F> concept annudf_symbol_is = requires { static_cast<F>(&"
         << form.symbol << "); };\n";
      expect("annudf_symbol_is<" + pointer("long long") + "> || annudf_symbol_is<" +
                 pointer("long") + ">",
             form.symbol + " must be 'float " + form.symbol + "(float x, float y, float acc" +
                 (hasCapture ? ", const float *capture, int64_t dim" : "") + ")'",
             form.symbol);
    }
    os << "template <typename Context> __forceinline__ float annudf_step(float value, float x, "
          "float y, const Context &context) {\n  return "
       << form.symbol << "(x, y, value";
    if (hasCapture)
      os << ", context." << options.captures[0].name << ".address, context.dim";
    os << ");\n}\n";
  }

  void finish() {
    const std::string plain = std::string("float (*)(") + acc + ")",
                      full = std::string("float (*)(") + acc + ", const annudf_context &)";
    os << "template <typename F> concept annudf_finalize_is = requires { "
          "static_cast<F>(&finalize); };\n";
    expect("annudf_finalize_is<" + plain + "> || annudf_finalize_is<" + full + ">",
           std::string("finalize must be 'float finalize(") + acc +
               " acc)', or take a 'const annudf_context &' as well",
           "finalize");
    os << "template <typename F> __forceinline__ F annudf_finalize_as() { return "
          "static_cast<F>(&finalize); }\n"
          "template <typename Context> __forceinline__ float annudf_finish("
       << acc << " value, const Context &context) {\n"
       << "  if constexpr (annudf_finalize_is<" << full << ">)\n"
       << "    return annudf_finalize_as<" << full << ">()(value, context);\n"
       << "  else if constexpr (annudf_finalize_is<" << plain << ">)\n"
       << "    return annudf_finalize_as<" << plain << ">()(value);\n  return 0;\n}\n";
  }

  /// Floats of every width are widened before anything sees them, and so are bits.
  static const char *peerElement(annudf_element element) {
    switch (element) {
#define ANNUDF_PEER_FLOAT(BITS) "float"
#define ANNUDF_PEER_SIGNED(BITS) "int" #BITS "_t"
#define ANNUDF_PEER_UNSIGNED(BITS) BITS < 8 ? "uint8_t" : "uint" #BITS "_t"
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case ANNUDF_ELEMENT_##NAME:                                                                      \
    return ANNUDF_PEER_##KIND(BITS);
      ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
#undef ANNUDF_PEER_UNSIGNED
#undef ANNUDF_PEER_SIGNED
#undef ANNUDF_PEER_FLOAT
    }
    llvm_unreachable("an element that the tables do not have");
  }

  void peerStep() {
    os << "namespace cuvs::neighbors::ivf_flat::detail {\n"
          "template <typename F, typename T> concept annudf_impl_is = requires {\n"
          "  static_cast<F>(&compute_dist_udf_impl<T, "
       << acc << ", 1>); };\n";
    const std::string plain = std::string("void (*)(") + acc + " &, " + acc + ", " + acc + ")";
    auto points = [&](const std::string &element) {
      std::string point = "point<" + element + ", " + acc + ", 1>";
      return std::string("void (*)(") + acc + " &, " + point + ", " + point + ")";
    };
    SmallVector<StringRef> expected;
    for (annudf_element element : options.elements) {
      const std::string type = peerElement(element);
      if (is_contained(expected, type))
        continue; // Several elements are one type.
      expected.push_back(peerElement(element));
      expect("annudf_impl_is<" + plain + ", " + type + "> || annudf_impl_is<" + points(type) +
                 ", " + type + ">",
             std::string("compute_dist_udf_impl must be 'template <typename T, typename AccT, int "
                         "Veclen> void compute_dist_udf_impl(AccT &acc, AccT x, AccT y)', or take "
                         "x and y as point<T, AccT, Veclen>"),
             "compute_dist_udf_impl<" + type + ", " + acc + ", 1>");
    }
    os << "template <typename T> __forceinline__ " << acc << " annudf_call(" << acc << " value, "
       << acc << " x, " << acc << " y) {\n"
       << "  if constexpr (annudf_impl_is<" << plain << ", T>)\n"
       << "    static_cast<" << plain << ">(&compute_dist_udf_impl<T, " << acc
       << ", 1>)(value, x, y);\n"
       << "  else if constexpr (annudf_impl_is<" << points("T") << ", T>)\n"
       << "    static_cast<" << points("T") << ">(&compute_dist_udf_impl<T, " << acc
       << ", 1>)(value, point<T, " << acc << ", 1>(x), point<T, " << acc << ", 1>(y));\n"
       << "  return value;\n}\n}\n"
       << "template <typename T, typename Context> __forceinline__ " << acc << " annudf_step("
       << acc << " value, " << acc << " x, " << acc << " y, const Context &) {\n"
       << "  return cuvs::neighbors::ivf_flat::detail::annudf_call<T>(value, x, y);\n}\n";
  }

  void makeContext(StringRef dim, StringRef row) {
    os << "  annudf_context context;\n  context.dim = " << dim
       << ";\n  context.dims = dims;\n  context.row = " << row
       << ";\n  context.query = query;\n  context.list = list;\n";
    for (size_t i = 0; i < options.captures.size(); ++i) {
      const CaptureInfo &capture = options.captures[i];
      const std::string slot = "slots[" + std::to_string(i) + "]", type = typeOf(capture.element);
      os << "  context." << capture.name;
      if (!capture.extents.empty())
        os << ".address = reinterpret_cast<const " << type << " *>(" << slot << ");\n";
      else
        os << " = annudf_scalar<" << type << ">(" << slot << ");\n";
    }
  }

  /// Opens the definition of a hook as annudf_abi.h declares it: parameters have its names.
  void begin(ScanHook hook) {
    os << "extern \"C\" __attribute__((used)) __forceinline__ " << declarationOf(hook, widths)
       << " {\n";
  }

  /// No default: a new hook is written here.
  void define(ScanHook hook) {
    switch (hook) {
    case ScanHook::INIT: {
      uint64_t initial;
      std::memcpy(&initial, &options.initial, sizeof initial);
      begin(hook);
      os << "  return annudf_word<" << acc << ">::pack(static_cast<" << acc
         << ">(__longlong_as_double(0x" << utohexstr(initial) << "ll)));\n}\n";
      return;
    }
    case ScanHook::UPDATE:
      begin(hook);
      os << "  " << acc << " value = annudf_word<" << acc << ">::unpack(acc);\n"
         << "  const " << coordinate << " cx = annudf_word<" << coordinate
         << ">::unpack(x), cy = annudf_word<" << coordinate << ">::unpack(y);\n";
      makeContext("dim", "row");
      if (form.isPeer)
        peerUpdate();
      else
        os << "  value = annudf_step(value, cx, cy, context);\n";
      os << "  return annudf_word<" << acc << ">::pack(value);\n}\n";
      return;
    case ScanHook::FINALIZE:
      if (!form.hasFinalize)
        return;
      begin(hook);
      os << "  const " << acc << " value = annudf_word<" << acc << ">::unpack(acc);\n";
      makeContext("-1", "row"); // A call for a row has no dimension.
      os << "  return annudf_finish(value, context);\n}\n";
      return;
    case ScanHook::COMBINE:
      return; // Every metric in CUDA source takes its dimensions in one row.
    case ScanHook::CONTRACT:
      begin(hook);
      os << "  return 0x" << utohexstr(contract) << "ull;\n}\n";
      return;
    }
  }

  /// A source in the form of cuVS is a template over the element of the rows.
  void peerUpdate() {
    os << "  const " << acc << " px = static_cast<" << acc << ">(cx), py = static_cast<" << acc
       << ">(cy);\n";
    if (options.elements.size() == 1) {
      os << "  value = annudf_step<" << peerElement(options.elements.front())
         << ">(value, px, py, context);\n";
      return;
    }
    os << "  switch (annudf1_row_element()) {\n";
    for (annudf_element element : options.elements)
      os << "  case " << int(element) << ":\n    value = annudf_step<" << peerElement(element)
         << ">(value, px, py, context);\n    break;\n";
    os << "  }\n";
  }

  StringRef source;
  const SourceForm &form;
  const CudaSourceOptions &options;
  const char *acc, *coordinate;
  const HookWidths widths;
  uint64_t contract;
  std::string text;
  raw_string_ostream os;
};

} // namespace

std::string annudf::makeProgram(StringRef source, const SourceForm &form,
                                const CudaSourceOptions &options, uint64_t contract) {
  return Generator(source, form, options, contract).run();
}
