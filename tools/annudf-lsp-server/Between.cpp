//===- Between.cpp - Between an editor and MLIR's server ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Between.h"

#include "Rules.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

using namespace annudf;
namespace json = llvm::json;

lsp::Between::Between(const mlir::DialectRegistry &registry, bool isTest,
                      std::function<std::string()> page)
    : registry(registry), isTest(isTest), page(std::move(page)) {}

void lsp::Between::run(const std::function<int()> &server) {
  int in[2], out[2];
  const int editor = dup(STDIN_FILENO);
  editorOut = dup(STDOUT_FILENO);
  editorIn = editor < 0 ? nullptr : fdopen(editor, "r");
  if (!editorIn || editorOut < 0 || pipe(in) != 0 || pipe(out) != 0 ||
      dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0) {
    std::perror("annudf-lsp-server: cannot open pipes");
    std::exit(1);
  }
  close(in[0]);
  close(out[1]); // The server's standard output is the last end for writing.
  std::thread([this, to = in[1]] { fromEditor(to); }).detach();
  std::thread writer([this, from = out[0]] { toEditor(from); });
  const int status = server();
  llvm::outs().flush();
  close(STDOUT_FILENO);
  writer.join();
  std::_Exit(status);
}

void lsp::Between::fromEditor(int to) {
  using namespace llvm::lsp;
  llvm::raw_fd_ostream os(to, /*shouldClose=*/true);
  JSONTransportInputOverFile input(editorIn,
                                   isTest ? JSONStreamStyle::Delimited : JSONStreamStyle::Standard);
  std::string text;
  while (!input.isEndOfInput() && !input.hasError()) {
    if (failed(input.readMessage(text)))
      continue;
    if (auto message = json::parse(text)) {
      if (const json::Object *object = message->getAsObject())
        if (const json::Value *params = object->get("params"))
          keep(object->getString("method").value_or(""), *params);
    } else {
      llvm::consumeError(message.takeError()); // The server says so.
    }
    if (isTest)
      os << text << "\n// -----\n";
    else
      os << "Content-Length: " << text.size() << "\r\n\r\n" << text;
    os.flush();
  }
}

void lsp::Between::keep(llvm::StringRef method, const json::Value &params) {
  using namespace llvm::lsp;
  json::Path::Root root;
  const std::lock_guard lock(mutex);
  if (DidOpenTextDocumentParams opened;
      method == "textDocument/didOpen" && fromJSON(params, opened, root)) {
    texts[opened.textDocument.uri.uri().str()] = {opened.textDocument.version,
                                                  opened.textDocument.text};
  } else if (DidChangeTextDocumentParams changed;
             method == "textDocument/didChange" && fromJSON(params, changed, root)) {
    auto &[version, text] = texts[changed.textDocument.uri.uri().str()];
    version = changed.textDocument.version;
    if (failed(TextDocumentContentChangeEvent::applyTo(changed.contentChanges, text)))
      texts.erase(changed.textDocument.uri.uri().str());
  } else if (DidCloseTextDocumentParams closed;
             method == "textDocument/didClose" && fromJSON(params, closed, root)) {
    texts.erase(closed.textDocument.uri.uri().str());
  }
}

/// Nothing more can be said of a text with mistakes in its structure.
static bool hasErrors(const json::Array &diagnostics) {
  for (const json::Value &diagnostic : diagnostics)
    if (diagnostic.getAsObject()->getInteger("severity") == 1)
      return true;
  return false;
}

void lsp::Between::complete(json::Object &published) {
  const std::string uri = published.getString("uri").value_or("").str();
  json::Array *diagnostics = published.getArray("diagnostics");
  if (!diagnostics)
    return;
  std::string text;
  {
    const std::lock_guard lock(mutex);
    auto kept = texts.find(uri);
    // Nothing is said of an older text: the newer one is on its way.
    if (kept != texts.end() && published.getInteger("version") == kept->second.first)
      text = kept->second.second;
  }
  if (!text.empty() && !hasErrors(*diagnostics))
    for (json::Value &diagnostic : verify(text, uri, registry))
      diagnostics->push_back(std::move(diagnostic));
  for (json::Value &diagnostic : *diagnostics)
    linkRule(*diagnostic.getAsObject(), page());
}

void lsp::Between::toEditor(int from) {
  using namespace llvm::lsp;
  FILE *file = fdopen(from, "r");
  if (!file) {
    std::perror("annudf-lsp-server: cannot read a pipe");
    std::_Exit(1);
  }
  llvm::raw_fd_ostream os(editorOut, /*shouldClose=*/true);
  JSONTransportInputOverFile input(file, JSONStreamStyle::Standard);
  std::string text;
  while (!input.isEndOfInput() && !input.hasError()) {
    if (failed(input.readMessage(text)))
      continue;
    if (auto message = json::parse(text)) {
      json::Object *object = message->getAsObject();
      if (object && object->getString("method") == "textDocument/publishDiagnostics")
        if (json::Object *params = object->getObject("params")) {
          complete(*params);
          text = isTest ? llvm::formatv("{0:2}", *message).str()
                        : llvm::formatv("{0}", *message).str();
        }
    } else {
      llvm::consumeError(message.takeError());
    }
    os << "Content-Length: " << text.size() << "\r\n\r\n" << text;
    os.flush();
  }
  fclose(file);
}
