// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// annudf.index: which one, and its parts.

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{custom op 'annudf.index' unknown index_kind 'lists'; write dim, dims, row, query or list}}
    %d = annudf.index lists
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{custom op 'annudf.index' unknown index_kind 'Dim'; write dim, dims, row, query or list}}
    %d = annudf.index Dim
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{custom op 'annudf.index' expected valid keyword}}
    %d = annudf.index 0
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{custom op 'annudf.index' expected valid keyword}}
    %d = annudf.index "dim"
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{custom op 'annudf.index' [M18] has 'kind' among its other attributes; say it once, in its own place}}
    %d = annudf.index dim {kind = #annudf.index_kind<dims>}
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{custom op 'annudf.index' 'annudf.index' op attribute 'kind' failed to satisfy constraint: which index of the running scan}}
    %d = annudf.index dim {kind = 3 : i32}
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.index' op requires attribute 'kind'}}
    %d = "annudf.index"() : () -> index
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{invalid properties {kind = #annudf.order<min>} for op annudf.index: Invalid attribute `kind` in property conversion: #annudf.order<min>}}
    %d = "annudf.index"() <{kind = #annudf.order<min>}> : () -> index
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{invalid properties "dim" for op annudf.index: expected DictionaryAttr to set properties}}
    %d = "annudf.index"() <"dim"> : () -> index
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{invalid properties {kind = #annudf.index_kind<dim>} for op annudf.index: [M18] has 'kind' among its other attributes; say it once, in its own place}}
    %d = "annudf.index"() <{kind = #annudf.index_kind<dim>}> {kind = #annudf.index_kind<dims>} : () -> index
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.index' op requires zero operands}}
    %d = "annudf.index"(%acc) <{kind = #annudf.index_kind<dim>}> : (f32) -> index
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.index' op requires one result}}
    "annudf.index"() <{kind = #annudf.index_kind<dim>}> : () -> ()
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.index' op result #0 must be index, but got 'i32'}}
    %d = "annudf.index"() <{kind = #annudf.index_kind<dim>}> : () -> i32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.index' op requires zero regions}}
    %d = "annudf.index"() <{kind = #annudf.index_kind<dim>}> ({
    }) : () -> index
    annudf.yield %acc : f32
  }
}

// -----

// A metric declares, and computes nothing.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.index' op [M1] cannot stand in a metric; only captures and hooks can, so move it into the hook that uses it}}
  %d = annudf.index dims
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
