//===- Limits.cpp - What the text of a module may not hold ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's parser recurses on brackets, on the terms of affine expressions and along
// chains of aliases; it makes room for any number of results, of bits and of elements
// that a few digits ask for; and an alias that names another twice doubles what is
// printed. All of that can be seen in the tokens, without parsing.
//
//===----------------------------------------------------------------------===//

#include "Limits.h"

#include "annudf/Frontend/Source.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace annudf::ir;

namespace {

/// Sums of what text expands to end here: two of them never overflow.
constexpr uint64_t kCountless = uint64_t(1) << 62;

uint64_t addUp(uint64_t a, uint64_t b) { return std::min(a + b, kCountless); }
uint64_t multiply(uint64_t a, uint64_t b) {
  return b != 0 && a > kCountless / b ? kCountless : a * b;
}

/// A definition `#name = ...` or `!name = ...`.
struct Alias {
  uint64_t size = 0; ///< Bytes of its text, with every alias in it written out.
  int depth = 0;     ///< Nesting of that text.
  bool defined = false;
  uint64_t usesBefore = 0; ///< Uses of locations, which operations may name before.
};

class Scan {
public:
  Scan(StringRef source, HasProperty hasProperty) : source(source), hasProperty(hasProperty) {}

  std::optional<TextFault> run() {
    if (source.size() > kMaxSourceText)
      return TextFault{0, std::to_string(source.size()) + " bytes of text, more than the " +
                              std::to_string(kMaxSourceText) + " that are read"};
    while (!fault && at < source.size())
      next();
    if (fault)
      return fault;
    endAlias();
    for (const auto &entry : aliases)
      expanded = addUp(expanded, multiply(entry.second.usesBefore, entry.second.size));
    checkExpanded();
    return fault;
  }

private:
  enum class Token { Word, Number, Alias, Value, String, Open, Close, Punctuation };

  void refuse(const Twine &what) {
    if (!fault)
      fault = TextFault{line, what.str()};
  }

  char peek(size_t ahead = 0) const {
    return at + ahead < source.size() ? source[at + ahead] : '\0';
  }

  static bool isWord(char c) { return isAlnum(c) || c == '_' || c == '$' || c == '.'; }

  StringRef takeWord() {
    size_t begin = at;
    while (at < source.size() && isWord(source[at]))
      ++at;
    return source.slice(begin, at);
  }

  void next() {
    char c = source[at];
    if (c == '\n')
      ++line;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at;
      return;
    }
    if (source.substr(at).starts_with("//")) {
      at = std::min(source.find('\n', at), source.size());
      return;
    }
    if (++tokens > kMaxSourceTokens)
      return refuse("more than " + Twine(kMaxSourceTokens) +
                    " words, numbers and signs, which no metric has");
    size_t begin = at;
    switch (c) {
    case '"':
      takeString();
      return seen(Token::String, begin);
    case '{':
    case '(':
    case '[':
    case '<':
      if (source.substr(at).starts_with("{-#"))
        return refuse("resources of dialects ({-# ... #-}) are not read; leave them out");
      ++at;
      return seen(Token::Open, begin);
    case '>':
    case '}':
    case ')':
    case ']':
      ++at;
      return seen(Token::Close, begin);
    case '#':
    case '!':
    case '%':
    case '@':
    case '^':
      ++at;
      // A name is a number, or holds no number in front.
      if (isDigit(peek()))
        at = std::min(source.find_if_not(isDigit, at), source.size());
      else
        while (at < source.size() && (isWord(source[at]) || source[at] == '-'))
          ++at;
      return seen(c == '#' || c == '!' ? Token::Alias
                  : c == '%'           ? Token::Value
                                       : Token::String,
                  begin);
    case '-':
      at += peek(1) == '>' ? 2 : 1;
      return seen(Token::Punctuation, begin);
    default:
      break;
    }
    if (isDigit(c)) {
      takeWord();
      // The sign of an exponent is one token with its number.
      if ((source[at - 1] == 'e' || source[at - 1] == 'E') && (peek() == '-' || peek() == '+')) {
        ++at;
        takeWord();
      }
      return seen(Token::Number, begin);
    }
    if (isWord(c)) {
      takeWord();
      return seen(Token::Word, begin);
    }
    ++at;
    seen(Token::Punctuation, begin);
  }

  void takeString() {
    for (++at; at < source.size() && source[at] != '"' && source[at] != '\n'; ++at)
      at += source[at] == '\\' && at + 1 < source.size() && source[at + 1] != '\n';
    if (at < source.size() && source[at] == '"')
      ++at;
  }

  /// What every token is looked at for.
  void seen(Token kind, size_t begin) {
    StringRef text = source.slice(begin, at);
    properties(kind, text);
    if (kind != Token::Open && inAlias && depth == 0 && !continuesAlias(kind, text))
      endAlias();
    switch (kind) {
    case Token::Open:
      open(text);
      break;
    case Token::Close:
      depth = std::max(depth - 1, 0);
      inShape &= text == "]"; // which in a shape ends a scalable extent
      break;
    case Token::Word:
      checkWord(text);
      break;
    case Token::Number:
      checkNumber(text);
      break;
    case Token::Alias:
      alias(text);
      break;
    case Token::Punctuation:
      if (text == "=" && depth == 0 && last == Token::Alias && !inAlias)
        beginAlias();
      if (text != "?" && text != "*")
        inShape = false;
      break;
    case Token::Value:
    case Token::String:
      break;
    }
    if (inAlias)
      current.size = addUp(current.size, text.size());
    beforeLast = last;
    lastText = text;
    last = kind;
  }

  /// `"dialect.op"(...)[...] <{name = ..., "name" = ...}>`: names of properties. Called before the
  /// token counts.
  void properties(Token kind, StringRef text) {
    if (inProperties) {
      const bool isName = kind == Token::Word || kind == Token::String;
      if (isName && depth == propertiesDepth &&
          ((last == Token::Open && lastText == "{") ||
           (last == Token::Punctuation && lastText == ",")))
        property(kind == Token::String && text.size() >= 2 ? text.drop_front().drop_back() : text);
      inProperties = kind != Token::Close || depth > propertiesDepth;
      return;
    }
    // Only an operation's name is a string with an open bracket behind it.
    if (kind == Token::Open && text == "(" && last == Token::String && lastText.starts_with("\""))
      operation = lastText.drop_front().drop_back();
    else if (kind == Token::Open && text == "{" && last == Token::Open && lastText == "<" &&
             beforeLast == Token::Close) {
      inProperties = true;
      propertiesDepth = depth + 1;
    }
  }

  void property(StringRef name) {
    if (!hasProperty(operation, name))
      refuse("operation '" + operation.take_front(64) + "' has no property '" +
             name.take_front(64) + "', and MLIR would drop it without a word; leave it out");
  }

  void open(StringRef text) {
    if (depth++ >= kMaxSourceNesting)
      refuse("brackets are nested more than " + Twine(kMaxSourceNesting) + " deep");
    if (inAlias)
      noteDepth(depth);
    if (text == "<" && (last == Token::Word || last == Token::Alias)) {
      StringRef name = lastText.substr(lastText.find_last_of('.') + 1);
      inShape = name == "vector" || name == "tensor" || name == "memref";
      elements = 1;
    } else if (text != "[") { // which in a shape marks a scalable extent
      inShape = false;
    }
  }

  void checkWord(StringRef word) {
    const char *why = StringSwitch<const char *>(word)
                          .Cases({"affine_map", "affine_set"}, "affine maps and sets")
                          .Case("dense_resource", "resources of dialects")
                          .Case("sparse", "sparse elements")
                          .Default(nullptr);
    if (why)
      return refuse(Twine(why) + " ('" + word + "') are not read; no metric needs them");
    if (inShape)
      shape(word);
    else
      checkWidth(word);
  }

  void checkWidth(StringRef word) {
    StringRef digits = word;
    if ((digits.consume_front("si") || digits.consume_front("ui") || digits.consume_front("i")) &&
        !digits.empty() && all_of(digits, isDigit)) {
      unsigned width = 0;
      if (digits.getAsInteger(10, width) || width > kMaxIntegerWidth)
        refuse("integers of more than " + Twine(kMaxIntegerWidth) + " bits ('" +
               word.take_front(32) + "') are not read");
    }
  }

  void checkNumber(StringRef number) {
    if (number.size() > kMaxNumberText)
      return refuse("a number of " + Twine(number.size()) + " characters, at most " +
                    Twine(kMaxNumberText) + " are read");
    if (inShape)
      return shape(number);
    // `%a:5 = ` declares five results; room for them is made before they are looked at.
    if (last == Token::Punctuation && lastText == ":" && beforeLast == Token::Value)
      checkResults(number);
  }

  void checkResults(StringRef digits) {
    unsigned count = 0;
    if (digits.getAsInteger(10, count) || count > kMaxResults)
      refuse("result " + digits.take_front(32) + " of an operation, at most " + Twine(kMaxResults) +
             " are read");
  }

  /// `4x?x8xf32`, in as many tokens as there are spaces in it.
  void shape(StringRef text) {
    while (true) {
      StringRef digits = text.take_while(isDigit);
      text = text.drop_front(digits.size());
      if (!digits.empty()) {
        uint64_t extent = 0;
        elements = multiply(elements, digits.getAsInteger(10, extent) ? kCountless : extent);
        if (elements > kMaxElements) {
          inShape = false;
          return refuse("a shape of more than " + Twine(kMaxElements) + " elements is not read");
        }
      }
      if (!text.consume_front("x")) {
        if (text.empty()) // at the end, or behind a "?" that is a token of its own
          return;
        inShape = false;
        return checkWidth(text);
      }
    }
  }

  void alias(StringRef name) {
    // `%a#5` names the fifth result.
    if (name.size() > 1 && all_of(name.drop_front(), isDigit) && last == Token::Value &&
        name[0] == '#')
      return checkResults(name.drop_front());
    // `#a =` at the outermost level begins a definition; next() has not seen the sign yet.
    if (depth == 0 && !inAlias && startsDefinition()) {
      pending = name;
      return;
    }
    auto found = aliases.find(name);
    if (found == aliases.end() || !found->second.defined) {
      // An unknown one is an error, unless it is the location of an operation.
      ++aliases[name].usesBefore;
      return;
    }
    expanded = addUp(expanded, found->second.size);
    checkExpanded();
    if (inAlias) {
      current.size = addUp(current.size, found->second.size);
      noteDepth(depth + 1 + found->second.depth);
    }
  }

  bool startsDefinition() const {
    size_t i = at;
    while (i < source.size()) {
      if (isSpace(source[i]))
        ++i;
      else if (source.substr(i).starts_with("//"))
        i = std::min(source.find('\n', i), source.size());
      else
        break;
    }
    return i < source.size() && source[i] == '=';
  }

  void noteDepth(int nesting) {
    current.depth = std::max(current.depth, nesting);
    if (nesting > kMaxSourceNesting)
      refuse("aliases of aliases are nested more than " + Twine(kMaxSourceNesting) + " deep");
  }

  void checkExpanded() {
    if (expanded > kMaxExpandedText)
      refuse("aliases written out are more than " + Twine(kMaxExpandedText) + " bytes of text");
  }

  void beginAlias() {
    inAlias = true;
    current = Alias();
  }

  /// Whether a token that opens no bracket belongs to the definition that is read: its
  /// value is a word, a literal or brackets, and goes on behind `->`, `:` and `::`.
  bool continuesAlias(Token kind, StringRef text) const {
    if (kind == Token::Close || text == "->" || text == ":" || text == "-")
      return true;
    return last == Token::Punctuation &&
           (lastText == "=" || lastText == "->" || lastText == ":" || lastText == "-");
  }

  void endAlias() {
    if (!inAlias)
      return;
    inAlias = false;
    Alias &known = aliases[pending];
    if (known.defined)
      return; // A second definition is an error of the parser's.
    known.defined = true;
    known.size = current.size;
    known.depth = current.depth;
  }

  StringRef source;
  size_t at = 0, tokens = 0;
  int line = 1, depth = 0;
  std::optional<TextFault> fault;
  Token last = Token::Punctuation, beforeLast = Token::Punctuation;
  StringRef lastText;

  bool inShape = false;
  uint64_t elements = 1;

  HasProperty hasProperty;
  StringRef operation; ///< The last generic form's.
  bool inProperties = false;
  int propertiesDepth = 0;

  StringMap<Alias> aliases;
  StringRef pending; ///< The alias whose definition is read.
  Alias current;
  bool inAlias = false;
  uint64_t expanded = 0; ///< Bytes that all uses of aliases stand for.
};

} // namespace

std::optional<TextFault> annudf::ir::findTextFault(StringRef source, HasProperty hasProperty) {
  return Scan(source, hasProperty).run();
}
