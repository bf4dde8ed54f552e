// The sum of each column, added up by programs that have four rows each.
tile.kernel @columns(in %x: !tile.buffer<[M, N], bf16>, out %y: !tile.buffer<[N], f32> init 0.0 : f32)
    symbols [M, N] grid [M ceildiv 4] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %i = arith.muli %p, %c4 : index
  %t = tile.load %x[%i, %c0] : !tile.buffer<[M, N], bf16> -> tensor<4x?xbf16, #tile.dims<[N]>>
  %w = arith.extf %t : tensor<4x?xbf16, #tile.dims<[N]>> to tensor<4x?xf32, #tile.dims<[N]>>
  %s = tile.reduce sum %w axis 0 : tensor<4x?xf32, #tile.dims<[N]>> -> tensor<?xf32, #tile.dims<[N]>>
  tile.store %s, %y[%c0] atomic add : tensor<?xf32, #tile.dims<[N]>>, !tile.buffer<[N], f32>
}

// Adds its number to what it finds: programs must not share an element.
tile.kernel @racy(inout %y: !tile.buffer<[1], i32>) grid [3] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %y[%c0] : !tile.buffer<[1], i32> -> tensor<1xi32>
  %i = arith.index_cast %p : index to i32
  %f = tile.full %i : i32 -> tensor<1xi32>
  %s = arith.addi %t, %f : tensor<1xi32>
  tile.store %s, %y[%c0] : tensor<1xi32>, !tile.buffer<[1], i32>
}

// One of two values stays, whichever.
tile.kernel @anyOf(inout %y: !tile.buffer<[1], i32>) grid [1] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %at = tile.full %zero : i64 -> tensor<2xi64>
  %t = tile.iota 0 from %c0 : tensor<2xi32>
  tile.scatter %t, %y[%at : tensor<2xi64>] atomic any : tensor<2xi32>, !tile.buffer<[1], i32>
}
