// The sum of each of two rows, in pieces of 4096.
tile.kernel @long_row(in %x: !tile.buffer<[2, N], f32>, out %y: !tile.buffer<[2], f32>)
    symbols [N] grid [2] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  %pieces = tile.size (N ceildiv 4096)
  %zero = arith.constant 0.0 : f32
  %init = tile.full %zero : f32 -> tensor<1xf32>
  %sum = tile.for %i = %c0 to %pieces step %c1 carry (%s = %init : tensor<1xf32>) {
    %at = arith.muli %i, %c4096 : index
    %t = tile.load %x[%p, %at] : !tile.buffer<[2, N], f32> -> tensor<1x4096xf32>
    %one = tile.reduce sum %t axis 1 : tensor<1x4096xf32> -> tensor<1xf32>
    %next = arith.addf %s, %one : tensor<1xf32>
    tile.yield %next : tensor<1xf32>
  } combine (%a : tensor<1xf32>, %b : tensor<1xf32>) {
    %c = arith.addf %a, %b : tensor<1xf32>
    tile.yield %c : tensor<1xf32>
  }
  tile.store %sum, %y[%p] : tensor<1xf32>, !tile.buffer<[2], f32>
}
