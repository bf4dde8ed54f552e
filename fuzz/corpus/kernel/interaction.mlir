tile.kernel @dlrm_interaction(in %x: !tile.buffer<[B, F, D], f32>, out %y: !tile.buffer<[B, (F * -1 + F * F) floordiv 2 + D], f32>) symbols [B, F {min = 1}, D] grid [B] {
  %c2_i64 = arith.constant 2 : i64
  %c1_i64 = arith.constant 1 : i64
  %cst = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : index
  %0 = tile.program_id 0
  %1 = tile.load %x[%0, %c0, %c0] : !tile.buffer<[B, F, D], f32> -> tensor<1x?x?xf32, #tile.dims<[F, D]>>
  %2 = tile.reshape %1 : tensor<1x?x?xf32, #tile.dims<[F, D]>> -> tensor<?x?xf32, #tile.dims<[F, D]>>
  %3 = tile.transpose %2 [1, 0] : tensor<?x?xf32, #tile.dims<[F, D]>> -> tensor<?x?xf32, #tile.dims<[D, F]>>
  %4 = tile.full %cst : f32 -> tensor<?x?xf32, #tile.dims<[F, F]>>
  %5 = tile.dot %2, %3, %4 : tensor<?x?xf32, #tile.dims<[F, D]>>, tensor<?x?xf32, #tile.dims<[D, F]>>, tensor<?x?xf32, #tile.dims<[F, F]>>
  %6 = tile.iota 0 from %c0 : tensor<?x1xi64, #tile.dims<[F]>>
  %7 = tile.iota 1 from %c0 : tensor<1x?xi64, #tile.dims<[F]>>
  %8 = tile.load %x[%0, %c0, %c0] : !tile.buffer<[B, F, D], f32> -> tensor<1x1x?xf32, #tile.dims<[D]>>
  %9 = tile.reshape %8 : tensor<1x1x?xf32, #tile.dims<[D]>> -> tensor<1x?xf32, #tile.dims<[D]>>
  tile.store %9, %y[%0, %c0] : tensor<1x?xf32, #tile.dims<[D]>>, !tile.buffer<[B, (F * -1 + F * F) floordiv 2 + D], f32>
  %10 = tile.broadcast %7 : tensor<1x?xi64, #tile.dims<[F]>> -> tensor<?x?xi64, #tile.dims<[F, F]>>
  %11 = tile.broadcast %6 : tensor<?x1xi64, #tile.dims<[F]>> -> tensor<?x?xi64, #tile.dims<[F, F]>>
  %12 = arith.cmpi slt, %10, %11 : tensor<?x?xi64, #tile.dims<[F, F]>>
  %13 = tile.full %c1_i64 : i64 -> tensor<?x1xi64, #tile.dims<[F]>>
  %14 = arith.subi %6, %13 : tensor<?x1xi64, #tile.dims<[F]>>
  %15 = arith.muli %6, %14 : tensor<?x1xi64, #tile.dims<[F]>>
  %16 = tile.full %c2_i64 : i64 -> tensor<?x1xi64, #tile.dims<[F]>>
  %17 = arith.divsi %15, %16 : tensor<?x1xi64, #tile.dims<[F]>>
  %18 = tile.size D
  %19 = arith.index_cast %18 : index to i64
  %20 = tile.full %19 : i64 -> tensor<?x1xi64, #tile.dims<[F]>>
  %21 = arith.addi %20, %17 : tensor<?x1xi64, #tile.dims<[F]>>
  %22 = tile.broadcast %21 : tensor<?x1xi64, #tile.dims<[F]>> -> tensor<?x?xi64, #tile.dims<[F, F]>>
  %23 = arith.addi %22, %10 : tensor<?x?xi64, #tile.dims<[F, F]>>
  %24 = arith.index_cast %0 : index to i64
  %25 = tile.full %24 : i64 -> tensor<?x?xi64, #tile.dims<[F, F]>>
  tile.scatter %5, %y[%25 : tensor<?x?xi64, #tile.dims<[F, F]>>, %23 : tensor<?x?xi64, #tile.dims<[F, F]>>] mask %12 : tensor<?x?xi1, #tile.dims<[F, F]>> : tensor<?x?xf32, #tile.dims<[F, F]>>, !tile.buffer<[B, (F * -1 + F * F) floordiv 2 + D], f32>
}
