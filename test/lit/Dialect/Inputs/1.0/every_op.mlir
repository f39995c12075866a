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
  annudf.metric @parts order(min) coarse(l2) elements(f32, bf16) accumulator(f32, u32, i64) numerics(reassociate) missing_values {
    annudf.init {
      %cst = arith.constant 0.000000e+00 : f32
      %c0_i32 = arith.constant 0 : i32
      %c0_i64 = arith.constant 0 : i64
      annudf.yield %cst, %c0_i32, %c0_i64 : f32, i32, i64
    }
    annudf.update (%arg0: f32, %arg1: i32, %arg2: i64, %arg3: f32, %arg4: f32) {
      %row = annudf.index row
      %query = annudf.index query
      %list = annudf.index list
      annudf.yield %arg0, %arg1, %arg2 : f32, i32, i64
    }
    annudf.combine (%arg0: f32, %arg1: i32, %arg2: i64, %arg3: f32, %arg4: i32, %arg5: i64) {
      annudf.yield %arg0, %arg1, %arg2 : f32, i32, i64
    }
    annudf.finalize (%arg0: f32, %arg1: i32, %arg2: i64) {
      annudf.yield %arg0 : f32
    }
  }
  annudf.metric @packed order(min) coarse(l2) elements(i8, u8, bits) packed {dims = {bits = 1048576 : i32, i8 = 65793 : i32, u8 = 65793 : i32}, term = "absolute_difference"} {
    annudf.init {
      %cst = arith.constant 0.000000e+00 : f32
      annudf.yield %cst : f32
    }
    annudf.update (%arg0: f32, %arg1: f32, %arg2: f32) {
      %0 = arith.subf %arg1, %arg2 : f32
      %1 = math.absf %0 : f32
      %2 = arith.addf %arg0, %1 : f32
      annudf.yield %2 : f32
    }
  }
  annudf.filter @filter dims(8) {
    %0 = annudf.capture "price" : !annudf.capture<row x f32>
    annudf.keep {
      %row = annudf.index row
      %1 = annudf.load %0[%row] : !annudf.capture<row x f32>
      %cst = arith.constant 1.000000e+00 : f32
      %2 = arith.cmpf ole, %1, %cst : f32
      annudf.yield %2 : i1
    }
  }
  annudf.function @function convention(raw) (tuple<f32, ui32>, f32) -> f32 {
    annudf.body (%arg0: f32, %arg1: i32, %arg2: f32) {
      annudf.yield %arg0 : f32
    }
  }
  annudf.extern @extern convention(numba) (f32, i32) -> f32 link(cuda_source "source", ptx ".version 8.0 .target sm_75")
  annudf.metric @calls order(min) coarse(l2) elements(f32) {
    annudf.init {
      %cst = arith.constant 0.000000e+00 : f32
      annudf.yield %cst : f32
    }
    annudf.update (%arg0: f32, %arg1: f32, %arg2: f32) {
      %c3_i32 = arith.constant 3 : i32
      %0 = annudf.call @extern(%arg1, %c3_i32) : (f32, i32) -> f32
      annudf.yield %0 : f32
    }
  }
}

