module {
  annudf.metric @every_op order(min) coarse(l2) elements(f32, f16, i8, u8) {
    %0 = annudf.capture "w" : !annudf.capture<dim x f32>
    %1 = annudf.capture "p" = 3.000000e+00 : f32 : !annudf.capture<f32>
    annudf.init {
      %cst = arith.constant 0xFF800000 : f32
      annudf.yield %cst : f32
    }
    annudf.update (%arg0: f32, %arg1: f32, %arg2: f32) {
      %dim = annudf.index dim
      %dims = annudf.index dims
      %2 = annudf.load %0[%dim] : !annudf.capture<dim x f32>
      %3 = annudf.load %1[] : !annudf.capture<f32>
      %4 = arith.mulf %2, %3 : f32
      %5 = arith.addf %arg0, %4 : f32
      annudf.yield %5 : f32
    }
    annudf.finalize (%arg0: f32) {
      annudf.yield %arg0 : f32
    }
  }
  annudf.metric @policies order(max) coarse(cosine max) elements(u8) accumulator(u32) dims(128) {
    annudf.init {
      %c0_i32 = arith.constant 0 : i32
      annudf.yield %c0_i32 : i32
    }
    annudf.update (%arg0: i32, %arg1: i32, %arg2: i32) {
      annudf.yield %arg0 : i32
    }
  }
  annudf.metric @other_policies order(min) coarse(inner_product min) elements(i8) accumulator(i32) {
    annudf.init {
      %c0_i32 = arith.constant 0 : i32
      annudf.yield %c0_i32 : i32
    }
    annudf.update (%arg0: i32, %arg1: f32, %arg2: f32) {
      annudf.yield %arg0 : i32
    }
  }
  annudf.metric @wide order(min) coarse(l2) elements(f32) accumulator(f64) {
    %0 = annudf.capture "a" : !annudf.capture<f64>
    annudf.init {
      %cst = arith.constant 0.000000e+00 : f64
      annudf.yield %cst : f64
    }
    annudf.update (%arg0: f64, %arg1: f64, %arg2: f64) {
      annudf.yield %arg0 : f64
    }
    annudf.finalize (%arg0: f64) {
      %1 = arith.truncf %arg0 : f64 to f32
      annudf.yield %1 : f32
    }
  }
  annudf.metric @types order(min) coarse(l2) elements(f16) dims(2) {
    %0 = annudf.capture "row" : !annudf.capture<row x f32>
    %1 = annudf.capture "query" : !annudf.capture<query x dim x f16>
    %2 = annudf.capture "table" : !annudf.capture<16 x 16 x bf16>
    %3 = annudf.capture "mask" : !annudf.capture<dim x i1>
    %4 = annudf.capture "i8" : !annudf.capture<i8>
    %5 = annudf.capture "ui8" : !annudf.capture<ui8>
    %6 = annudf.capture "si16" : !annudf.capture<si16>
    %7 = annudf.capture "ui32" : !annudf.capture<ui32>
    %8 = annudf.capture "i64" : !annudf.capture<i64>
    %9 = annudf.capture "baked" = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> : !annudf.capture<dim x f32>
    annudf.init {
      %10 = annudf.load %7[] : !annudf.capture<ui32>
      annudf.yield %10 : i32
    }
    annudf.update (%arg0: i32, %arg1: f32, %arg2: f32) {
      %c3 = arith.constant 3 : index
      %10 = annudf.load %2[%c3, %c3] : !annudf.capture<16 x 16 x bf16>
      annudf.yield %arg0 : i32
    }
  }
}

