//===- Value.cpp - A value of the CBOR that annudf's files hold ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Value.h"

#include "annudf/Artifact/Cbor.h"
#include "annudf/Support/Printable.h"

#include <cstdio>

namespace annudf {
namespace {

struct CborWriter {
  CborText text;

  void operator()(std::monostate) { text.null(); }
  void operator()(bool value) { text.boolean(value); }
  void operator()(uint64_t value) { text.number(value); }
  void operator()(Negative value) { text.negative(value.count); }
  void operator()(const std::string &value) { text.string(value); }
  void operator()(const Bytes &value) { text.binary(value.content); }
  void operator()(const List &list) {
    text.list(list.size());
    for (const Value &entry : list)
      std::visit(*this, entry.value);
  }
  void operator()(const Map &map) {
    text.map(map.size());
    for (const auto &[key, entry] : map) {
      text.string(key);
      std::visit(*this, entry.value);
    }
  }
};

Value take(CborReader &reader) {
  const CborItem item = reader.next();
  switch (item.kind) {
  case CborItem::Kind::Null:
    return {};
  case CborItem::Kind::Boolean:
    return item.number != 0;
  case CborItem::Kind::Number:
    return item.number;
  case CborItem::Kind::Negative:
    return Negative{item.number};
  case CborItem::Kind::Text:
    return std::string(item.content);
  case CborItem::Kind::Bytes:
    return Bytes{std::string(item.content)};
  case CborItem::Kind::List: {
    List list;
    list.reserve(item.number); // No more than the bytes that are there.
    for (uint64_t i = 0; i < item.number; ++i)
      list.push_back(take(reader));
    return list;
  }
  case CborItem::Kind::Map: {
    Map map;
    for (uint64_t i = 0; i < item.number; ++i) {
      std::string key(reader.next().content);
      map.emplace_hint(map.end(), std::move(key), take(reader));
    }
    return map;
  }
  }
  return {};
}

struct JsonWriter {
  std::string text;
  int depth = 0;

  void operator()(std::monostate) { text += "null"; }
  void operator()(bool value) { text += value ? "true" : "false"; }
  void operator()(uint64_t value) { text += std::to_string(value); }
  void operator()(Negative value) { text += std::to_string(-1 - int64_t(value.count)); }
  void operator()(const Bytes &bytes) { quote(bytes.content); }
  void operator()(const std::string &value) { quote(value); }
  void operator()(const List &list) {
    begin('[');
    for (const Value &entry : list) {
      line(&entry != list.data());
      std::visit(*this, entry.value);
    }
    end(']', list.empty());
  }
  void operator()(const Map &map) {
    begin('{');
    for (auto entry = map.begin(); entry != map.end(); ++entry) {
      line(entry != map.begin());
      quote(entry->first);
      text += ": ";
      std::visit(*this, entry->second.value);
    }
    end('}', map.empty());
  }

private:
  void begin(char bracket) { text += bracket, ++depth; }
  void line(bool follows) {
    text += follows ? ",\n" : "\n";
    text.append(size_t(depth) * 2, ' ');
  }
  void end(char bracket, bool empty) {
    --depth;
    if (!empty)
      line(false);
    text += bracket;
  }

  void quote(std::string_view content) {
    text += '"';
    for (size_t at = 0; at < content.size();) {
      const auto first = static_cast<uint8_t>(content[at]);
      size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
      if (!isUtf8(content.substr(at, length)))
        length = 1; // A byte that begins no character.
      character(content.substr(at, length));
      at += length;
    }
    text += '"';
  }

  void character(std::string_view one) {
    constexpr std::string_view kNamed = "\"\\\b\f\n\r\t", kNames = "\"\\bfnrt";
    if (const size_t found = kNamed.find(one); found != kNamed.npos) {
      text += '\\';
      text += kNames[found];
    } else if (static_cast<uint8_t>(one[0]) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(one[0]));
      text += escape;
    } else {
      text += isUtf8(one) ? one : "\xef\xbf\xbd";
    }
  }
};

} // namespace

std::string toCbor(const Value &value) {
  CborWriter writer;
  std::visit(writer, value.value);
  return writer.text.take();
}

Value fromCbor(std::string_view bytes) {
  CborReader reader(bytes);
  return take(reader);
}

std::string toJson(const Value &value) {
  JsonWriter writer;
  std::visit(writer, value.value);
  return std::move(writer.text);
}

} // namespace annudf
