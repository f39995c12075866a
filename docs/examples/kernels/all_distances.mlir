// Distances of all queries to all rows: a kernel of MLIR's GPU dialect and a verified metric.
module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
    // The metric may stand beside the kernels that call it.
    annudf.metric @mean_l2 order(min) coarse(l2) elements(f32) {
      %w = annudf.capture "w" : !annudf.capture<dim x f32>
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %d = annudf.index dim
        %wd = annudf.load %w[%d] : !annudf.capture<dim x f32>
        %t = arith.subf %x, %y : f32
        %t2 = arith.mulf %t, %t : f32
        %r = math.fma %wd, %t2, %acc : f32
        annudf.yield %r : f32
      }
      annudf.finalize (%acc: f32) {
        %n = annudf.index dims
        %i = arith.index_castui %n : index to i32
        %f = arith.uitofp %i : i32 to f32
        %r = arith.divf %acc, %f : f32
        annudf.yield %r : f32
      }
    }

    // One thread a pair: block x counts rows in threads, block y counts queries.
    gpu.func @all_distances(%queries: memref<?x?xf32>, %rows: memref<?x?xf32>, %w: memref<?xf32>,
                            %out: memref<?x?xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %thread = gpu.thread_id x
      %first = arith.muli %block, %size : index
      %row = arith.addi %first, %thread : index
      %query = gpu.block_id y
      %count = memref.dim %rows, %c0 : memref<?x?xf32>
      %dims = memref.dim %rows, %c1 : memref<?x?xf32>
      %inside = arith.cmpi ult, %row, %count : index
      scf.if %inside {
        %start = annudf.call_init @mean_l2() : () -> f32
        %sum = scf.for %d = %c0 to %dims step %c1 iter_args(%acc = %start) -> (f32) {
          %x = memref.load %queries[%query, %d] : memref<?x?xf32>
          %y = memref.load %rows[%row, %d] : memref<?x?xf32>
          %next = annudf.call_update @mean_l2(%acc, %x, %y) ctx(dim = %d)
            captures(%w : memref<?xf32>) : (f32, f32, f32) -> f32
          scf.yield %next : f32
        }
        %distance = annudf.call_finalize @mean_l2(%sum) ctx(dims = %dims) : (f32) -> f32
        memref.store %distance, %out[%query, %row] : memref<?x?xf32>
      }
      gpu.return
    }
  }
}
