{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":1,"rootPath":"metric","capabilities":{},"trace":"off"}}
// -----
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{
  "uri":"test:///metric.mlir",
  "languageId":"mlir",
  "version":1,
  "text":"annudf.metric @m order(min) coarse(l2) elements(f32) {\nannudf.init {\n%0 = arith.constant 0.0 : f32\nannudf.yield %0 : f32\n}\nannudf.update (%acc: f32, %x: f64, %y: f64) {\nannudf.yield %x : f64\n}\n}"
}}}
// -----
{"jsonrpc":"2.0","id":1,"method":"shutdown"}
// -----
{"jsonrpc":"2.0","method":"exit"}
