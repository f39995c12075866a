// RUN: annudf-opt %s --split-input-file --annudf-verify-abi --verify-diagnostics

// expected-error @below {{[M26] says packed {dims = {u8 = 259 : i32}, term = "squared_difference"}, but squared_difference: u8 up to 258 dims; leave it out, annudf-pack-lanes writes it}}
annudf.metric @m order(min) coarse(l2) elements(u8) packed {dims = {u8 = 259 : i32}, term = "squared_difference"} {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

// -----

// expected-error @below {{[M26] says packed {dims = {u8 = 258 : i32}, term = "product"}, but squared_difference: u8 up to 258 dims; leave it out, annudf-pack-lanes writes it}}
annudf.metric @m order(min) coarse(l2) elements(u8) packed {dims = {u8 = 258 : i32}, term = "product"} {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

// -----

// expected-error @below {{[M26] says packed {dims = {u8 = 258 : i32}, term = "product"}, but 'arith.maximumf' does more with the accumulator than add to it; leave it out, annudf-pack-lanes writes it}}
annudf.metric @m order(min) coarse(l2) elements(u8) packed {dims = {u8 = 258 : i32}, term = "product"} {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = arith.maximumf %acc, %x : f32
    annudf.yield %r : f32
  }
}

// -----

// expected-error @below {{[M25] says packed {dims = {u8 = 258 : i32}, term = "cube"}, which annudf-pack-lanes never writes; leave it out}}
annudf.metric @m order(min) coarse(l2) elements(u8) packed {dims = {u8 = 258 : i32}, term = "cube"} {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

// -----

// expected-error @below {{[M25] says packed {dims = {u8 = 258 : i32}, more, term = "product"}, which annudf-pack-lanes never writes; leave it out}}
annudf.metric @m order(min) coarse(l2) elements(u8) packed {dims = {u8 = 258 : i32}, more, term = "product"} {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

// -----

// expected-error @below {{[M25] says packed {dims = {u8 = 0 : i32}, term = "product"}, which annudf-pack-lanes never writes; leave it out}}
annudf.metric @m order(min) coarse(l2) elements(u8) packed {dims = {u8 = 0 : i32}, term = "product"} {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

// -----

// expected-error @below {{[M25] says packed {dims = {}, term = "product"}, which annudf-pack-lanes never writes; leave it out}}
annudf.metric @m order(min) coarse(l2) elements(u8) packed {dims = {}, term = "product"} {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}
