// Blocks of 96 rows, of which no number of warp groups has 64 each.
tile.kernel @product(in %a: !tile.buffer<[M, 200], f16>, in %b: !tile.buffer<[200, 192], f16>,
    out %c: !tile.buffer<[M, 192], f16>) symbols [M] grid [M ceildiv 96, 2] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %m = tile.program_id 0
  %n = tile.program_id 1
  %row = arith.muli %m, %c128 : index
  %column = arith.muli %n, %c128 : index
  %none = tile.full %zero : f32 -> tensor<96x96xf32>
  %sum = tile.for %k = %c0 to %c4 step %c1 carry (%acc = %none : tensor<96x96xf32>) {
    %at = arith.muli %k, %c64 : index
    %x = tile.load %a[%row, %at] : !tile.buffer<[M, 200], f16> -> tensor<96x64xf16>
    %y = tile.load %b[%at, %column] : !tile.buffer<[200, 192], f16> -> tensor<64x96xf16>
    %d = tile.dot %x, %y, %acc : tensor<96x64xf16>, tensor<64x96xf16>, tensor<96x96xf32>
    tile.yield %d : tensor<96x96xf32>
  }
  %h = arith.truncf %sum : tensor<96x96xf32> to tensor<96x96xf16>
  tile.store %h, %c[%row, %column] : tensor<96x96xf16>, !tile.buffer<[M, 192], f16>
}
