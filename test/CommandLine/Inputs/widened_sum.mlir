tile.kernel @sums(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M], f64>) symbols [M, N] grid [M] {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %row = tile.load %x[%m, %c0] : !tile.buffer<[M, N], f32> -> tensor<1x?xf32, #tile.dims<[N]>>
  %sum = tile.reduce sum %row axis 1 : tensor<1x?xf32, #tile.dims<[N]>> -> tensor<1xf32>
  %wide = arith.extf %sum : tensor<1xf32> to tensor<1xf64>
  tile.store %wide, %y[%m] : tensor<1xf64>, !tile.buffer<[M], f64>
}
