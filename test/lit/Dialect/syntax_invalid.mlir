// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// What the parser refuses.

// expected-error @below {{custom op 'annudf.metric' unknown order 'smallest'; write min or max}}
annudf.metric @m order(smallest) coarse(l2) elements(f32) {
}

// -----

// expected-error @below {{custom op 'annudf.metric' unknown coarse 'l1'; write l2, inner_product or cosine}}
annudf.metric @m order(min) coarse(l1) elements(f32) {
}

// -----

// expected-error @below {{custom op 'annudf.metric' unknown numerics 'fast'; write strict or reassociate}}
annudf.metric @m order(min) coarse(l2) elements(f32) numerics(fast) {
}

// -----

// expected-error @below {{custom op 'annudf.metric' coarse 'metric' is reserved for a later version; write l2, inner_product or cosine}}
annudf.metric @m order(min) coarse(metric) elements(f32) {
}

// -----

// expected-error @below {{custom op 'annudf.metric' unknown element 'b1'; write f32, f16, i8, u8, bf16 or bits}}
annudf.metric @m order(min) coarse(l2) elements(b1) {
}

// -----

// expected-error @below {{custom op 'annudf.metric' unknown accumulator 'u64'; write f32, f64, i32, u32 or i64}}
annudf.metric @m order(min) coarse(l2) elements(f32) accumulator(u64) {
}

// -----

// expected-error @below {{custom op 'annudf.metric' integer value too large}}
annudf.metric @m order(min) coarse(l2) elements(f32) dims(4294967296) {
}

// -----

// expected-error @below {{custom op 'annudf.metric' expected integer value}}
annudf.metric @m order(min) coarse(l2) elements(f32) dims(many) {
}

// -----

// expected-error @below {{custom op 'annudf.metric' expected valid keyword}}
annudf.metric @m order(1) coarse(l2) elements(f32) {
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{custom op 'annudf.index' unknown index_kind 'rows'; write dim, dims, row, query or list}}
    %r = annudf.index rows
  }
}

// -----

// expected-error @below {{a constant extent must be positive, got 0}}
func.func private @f(!annudf.capture<0 x f32>)

// -----

// expected-error @below {{a constant extent must be positive, got -1}}
func.func private @f(!annudf.capture<-1 x f32>)

// -----

// expected-error @below {{expected 'x' between the extents and the element type}}
func.func private @f(!annudf.capture<dim f32>)

// -----

// expected-error @below {{expected 'x' between the extents and the element type}}
func.func private @f(!annudf.capture<dim x dim>)

// -----

// expected-error @below {{expected non-function type}}
func.func private @f(!annudf.capture<rows x f32>)

// -----

// expected-error @below {{unbalanced '<' character in pretty dialect name}}
func.func private @f(!annudf.capture<dim x f32)

// -----

// expected-error @below {{element type 'i7' of a capture must be f16, bf16, f32, f64 or an integer of 1, 8, 16, 32 or 64 bits}}
func.func private @f(!annudf.capture<dim x i7>)

// -----

// expected-error @below {{element type 'vector<2xf32>' of a capture must be f16, bf16, f32, f64 or an integer of 1, 8, 16, 32 or 64 bits}}
func.func private @f(!annudf.capture<dim x vector<2xf32>>)

// -----

// expected-error @below {{integer value too large}}
func.func private @f(!annudf.capture<99999999999999999999 x f32>)

// -----

// expected-error @below {{expected '<'}}
func.func private @f(!annudf.capture)

// -----

// expected-error @below {{unknown  type `captures` in dialect `annudf`}}
func.func private @f(!annudf.captures<f32>)

// -----

// expected-error @below {{expected ::annudf::ir::Order to be one of: min, max}}
// expected-error @below {{failed to parse Annudf_OrderAttr parameter 'value' which is to be a `::annudf::ir::Order`}}
module attributes {a = #annudf.order<least>} {
}
