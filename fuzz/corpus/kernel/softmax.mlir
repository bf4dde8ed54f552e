tile.kernel @softmax(in %x: !tile.buffer<[M, N], f32>, out %y: !tile.buffer<[M, N], f32>) symbols [M, N] grid [M] {
  %c0 = arith.constant 0 : index
  %0 = tile.program_id 0
  %1 = tile.load %x[%0, %c0] : !tile.buffer<[M, N], f32> -> tensor<1x?xf32, #tile.dims<[N]>>
  %2 = tile.reduce max %1 axis 1 : tensor<1x?xf32, #tile.dims<[N]>> -> tensor<1xf32>
  %3 = tile.reshape %2 : tensor<1xf32> -> tensor<1x1xf32>
  %4 = tile.broadcast %3 : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>>
  %5 = arith.subf %1, %4 : tensor<1x?xf32, #tile.dims<[N]>>
  %6 = math.exp %5 : tensor<1x?xf32, #tile.dims<[N]>>
  %7 = tile.reduce sum %6 axis 1 : tensor<1x?xf32, #tile.dims<[N]>> -> tensor<1xf32>
  %8 = tile.reshape %7 : tensor<1xf32> -> tensor<1x1xf32>
  %9 = tile.broadcast %8 : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>>
  %10 = arith.divf %6, %9 : tensor<1x?xf32, #tile.dims<[N]>>
  tile.store %10, %y[%0, %c0] : tensor<1x?xf32, #tile.dims<[N]>>, !tile.buffer<[M, N], f32>
}
