// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More of what a kernel may not do: heads, each operation, and loops.
// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

tile.kernel @k() grid [1] {
  %a = arith.constant 1.0 : f32
  // expected-error @+1 {{has more than 68719476736 elements}}
  %b = tile.full %a : f32 -> tensor<1048576x1048576xf32>
}

// -----

// expected-error @+1 {{expected in, out, inout or an argument}}
tile.kernel @k(mut %x: !tile.buffer<[4], f32>) grid [1] {}

// -----

// expected-error @+1 {{expected min, max or multiple}}
tile.kernel @k(in %x: !tile.buffer<[M], f32>) symbols [M {least = 1}] grid [1] {}

// -----

// expected-error @+1 {{symbol M: multiple is 0, but must be positive}}
tile.kernel @k(in %x: !tile.buffer<[M], f32>) symbols [M {multiple = 0}] grid [1] {}

// -----

// expected-error @+1 {{expected a size: a number, a symbol or '('}}
tile.kernel @k(in %x: !tile.buffer<[*], f32>) grid [1] {}

// -----

// expected-error @+1 {{the size is nested too deeply}}
tile.kernel @k(in %x: !tile.buffer<[((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))], f32>) grid [1] {}

// -----

// expected-error @+1 {{the size -1 is negative}}
tile.kernel @k(in %x: !tile.buffer<[-1], f32>) grid [1] {}

// -----

// expected-error @+1 {{argument "n" is no buffer, so it is neither in nor out}}
tile.kernel @k(in %n: index) grid [1] {}

// -----

// expected-error @+1 {{argument "n" is a symbol, so its type must be index}}
tile.kernel @k(%n: f64 as N) symbols [N] grid [1] {}

// -----

// expected-error @+1 {{argument "x" has an initial value of another type than its elements}}
tile.kernel @k(out %x: !tile.buffer<[4], f32> init 0 : i32) grid [1] {}

// -----

// expected-error @+1 {{declares the symbol M twice}}
tile.kernel @k(in %x: !tile.buffer<[M], f32>) symbols [M, M] grid [1] {}

// -----

// expected-error @+1 {{argument "y" uses the symbol N, which the kernel does not declare}}
tile.kernel @k(out %y: !tile.buffer<[N], f32>) grid [1] {}

// -----

// expected-error @+1 {{describes 0 arguments, but has 1}}
"tile.kernel"() <{sym_name = "k", symbols = [], grid = [#tile.size<1>], arguments = []}> ({
  ^bb0(%a: f64):
}) : () -> ()

// -----

// expected-error @+1 {{has no grid}}
"tile.kernel"() <{sym_name = "k", symbols = [], grid = [], arguments = []}> ({
  ^bb0:
}) : () -> ()

// -----

tile.kernel @k13(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{strides are positive}}
  %t = tile.load %x[%c0, %c0] strides [1, 0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
}

// -----

tile.kernel @k14(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{gives 1 stride, but the buffer has 2 dimensions}}
  %t = tile.load %x[%c0, %c0] strides [1] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
}

// -----

tile.kernel @k15(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %i = tile.iota 0 from %c0 : tensor<4xi64>
  // expected-error @+1 {{dimension 0 is indexed, so its stride must be 1}}
  %t = tile.load %x[%i : tensor<4xi64>, %c0] strides [2, 1] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
}

// -----

tile.kernel @k16(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %i = tile.iota 0 from %c0 : tensor<4x8xi64>
  %j = tile.iota 0 from %c0 : tensor<4xi64>
  // expected-error @+1 {{position 1 is 'tensor<4xi64>', but must have the shape of 'tensor<4x8xf32>'}}
  %t = tile.gather %x[%i : tensor<4x8xi64>, %j : tensor<4xi64>] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
}

// -----

tile.kernel @k17(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %p = arith.constant 1 : i32
  // expected-error @+1 {{the pad value is 'i32', but the tile's elements are 'f32'}}
  %t = tile.load %x[%c0, %c0] pad %p : i32 : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
}

// -----

tile.kernel @k18(inout %y: !tile.buffer<[4], i1>) grid [1] {
  %c0 = arith.constant 0 : index
  %b = arith.constant true
  %t = tile.full %b : i1 -> tensor<4xi1>
  // expected-error @+1 {{cannot combine elements of type i1 atomically}}
  tile.store %t, %y[%c0] atomic add : tensor<4xi1>, !tile.buffer<[4], i1>
}

// -----

tile.kernel @k19(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %i = tile.iota 0 from %c0 : tensor<4xi64>
  %b = arith.constant true
  %m = tile.full %b : i1 -> tensor<3xi1>
  // expected-error @+1 {{the mask is 'tensor<3xi1>', but the value 'tensor<4xi64>'}}
  %s = tile.check %i in %c0 mask %m : tensor<3xi1>, "no" : tensor<4xi64>
}

// -----

tile.kernel @k20(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %p = arith.constant 1.0 : f32
  // expected-error @+1 {{the value is 'f32', but the elements are 'i32'}}
  %t = "tile.full"(%p) : (f32) -> tensor<4xi32>
}

// -----

tile.kernel @k21(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{dimension 1 is not one of the tile's 1}}
  %t = tile.iota 1 from %c0 : tensor<4xi64>
}

// -----

tile.kernel @k22(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  %r = tile.reduce sum %t axis 1 : tensor<4x8xf32> -> tensor<4xf32>
  // expected-error @+1 {{operands and accumulator have one rank of at least 2, but these have 1, 2 and 2}}
  %d = tile.dot %r, %t, %t : tensor<4xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

tile.kernel @k23(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  %a = arith.truncf %t : tensor<4x8xf32> to tensor<4x8xf16>
  // expected-error @+1 {{cannot add products of 'f32' to 'f16'}}
  %d = tile.dot %t, %t, %a : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf16>
}

// -----

tile.kernel @k24(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{axis 2 is not one of the tile's 2}}
  %r = tile.reduce sum %t axis 2 : tensor<4x8xf32> -> tensor<4xf32>
}

// -----

tile.kernel @k25(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{gives 'tensor<4xi64>', not 'tensor<4xf32>'}}
  %r = tile.reduce argmax %t axis 1 : tensor<4x8xf32> -> tensor<4xf32>
}

// -----

tile.kernel @k26(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{axis 2 is not one of the tile's 2}}
  %r = tile.scan sum %t axis 2 : tensor<4x8xf32>
}

// -----

tile.kernel @k27(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %b = arith.constant true
  %t = tile.full %b : i1 -> tensor<4xi1>
  // expected-error @+1 {{cannot scan i1}}
  %r = tile.scan max %t axis 0 : tensor<4xi1>
}

// -----

tile.kernel @s1(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{axis 2 is not one of the tile's 2}}
  %v, %p = tile.sort %t axis 2 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4x8xi64>
}

// -----

tile.kernel @s2(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{cannot compare 'f32' as unsigned}}
  %v, %p = tile.sort %t axis 1 unsigned : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4x8xi64>
}

// -----

tile.kernel @s3(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{gives the first 9 of 8}}
  %v, %p = tile.sort %t axis 1 : tensor<4x8xf32> -> tensor<4x9xf32>, tensor<4x9xi64>
}

// -----

tile.kernel @s4(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{gives 'tensor<4x3xi64>', not 'tensor<4x8xi64>'}}
  %v, %p = tile.sort %t axis 1 : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x8xi64>
}

// -----

tile.kernel @k28(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{'tensor<4x8xf32>' cannot be stretched to 'tensor<4x9xf32>'}}
  %r = tile.broadcast %t : tensor<4x8xf32> -> tensor<4x9xf32>
}

// -----

tile.kernel @k29(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{changes the type of the elements}}
  %r = tile.reshape %t : tensor<4x8xf32> -> tensor<32xf64>
}

// -----

tile.kernel @k30(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{[0, 0] is not a permutation of the 2 dimensions}}
  %r = tile.transpose %t [0, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
}

// -----

tile.kernel @k31(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{gives 'tensor<8x4xf32>', not 'tensor<4x8xf32>'}}
  %r = tile.transpose %t [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
}

// -----

tile.kernel @k32(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{changes the type of the elements}}
  %r = tile.slice %t offsets [0, 0] strides [1, 1] : tensor<4x8xf32> -> tensor<4x8xf64>
}

// -----

tile.kernel @k33(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  // expected-error @+1 {{needs an offset, a stride and a result extent for each of the 2 dimensions}}
  %r = tile.slice %t offsets [0] strides [1, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
}

// -----

tile.kernel @k34(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[4, 8], f32> -> tensor<4x8xf32>
  %s = tile.slice %t offsets [0, 0] strides [1, 1] : tensor<4x8xf32> -> tensor<1x1xf32>
  // expected-error @+1 {{gives 'f32', not 'f64'}}
  %r = tile.extract %s : tensor<1x1xf32> -> f64
}

// -----

tile.kernel @k35(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{i4 is neither a tile nor a scalar of a kernel}}
  %r = arith.constant 1 : i4
}

// -----

tile.kernel @k36(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %p = arith.constant 1.0 : f32
  // expected-error @+1 {{results and inits have different types}}
  %r = "tile.for"(%c0, %c0, %c0, %p) ({
  ^bb0(%i: index, %a: f32):
    tile.yield %a : f32
  }, {
  }) : (index, index, index, f32) -> f64
}

// -----

tile.kernel @k37(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %p = arith.constant 1.0 : f32
  // expected-error @+1 {{the body takes the index and what is carried}}
  %r = "tile.for"(%c0, %c0, %c0, %p) ({
  ^bb0(%i: index):
    tile.yield %p : f32
  }, {
  }) : (index, index, index, f32) -> f32
}

// -----

tile.kernel @k38(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{carries nothing, so there is nothing to combine}}
  "tile.for"(%c0, %c0, %c0) ({
  ^bb0(%i: index):
    tile.yield
  }, {
  ^bb0:
    tile.yield
  }) : (index, index, index) -> ()
}

// -----

tile.kernel @k39(in %x: !tile.buffer<[4, 8], f32>, out %y: !tile.buffer<[4, 8], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %p = arith.constant 1.0 : f32
  // expected-error @+1 {{combine takes two states, each what is carried}}
  %r = "tile.for"(%c0, %c0, %c0, %p) ({
  ^bb0(%i: index, %a: f32):
    tile.yield %a : f32
  }, {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }) : (index, index, index, f32) -> f32
}

// -----

tile.kernel @nested() grid [1] {
  %c0 = arith.constant 0 : index
  %p = arith.constant 0.0 : f32
  tile.for %j = %c0 to %c0 step %c0 {
    // expected-error @+1 {{a loop that can be split stands at the top level of the kernel}}
    %r = tile.for %i = %c0 to %c0 step %c0 carry (%a = %p : f32) {
      tile.yield %a : f32
    } combine (%u: f32, %v: f32) {
      %s = arith.addf %u, %v : f32
      tile.yield %s : f32
    }
    tile.yield
  }
}

// -----

tile.kernel @second() grid [1] {
  %c0 = arith.constant 0 : index
  %p = arith.constant 0.0 : f32
  %r = tile.for %i = %c0 to %c0 step %c0 carry (%a = %p : f32) {
    tile.yield %a : f32
  } combine (%u: f32, %v: f32) {
    %s = arith.addf %u, %v : f32
    tile.yield %s : f32
  }
  // expected-error @+1 {{is a second loop that can be split}}
  %q = tile.for %i = %c0 to %c0 step %c0 carry (%a = %p : f32) {
    tile.yield %a : f32
  } combine (%u: f32, %v: f32) {
    %s = arith.addf %u, %v : f32
    tile.yield %s : f32
  }
}

// -----

tile.kernel @memory(inout %y: !tile.buffer<[1], f32>) grid [1] {
  %c0 = arith.constant 0 : index
  %p = arith.constant 0.0 : f32
  // expected-error @+1 {{combine uses memory}}
  %r = tile.for %i = %c0 to %c0 step %c0 carry (%a = %p : f32) {
    tile.yield %a : f32
  } combine (%u: f32, %v: f32) {
    %t = tile.load %y[%c0] : !tile.buffer<[1], f32> -> tensor<1xf32>
    %s = tile.extract %t : tensor<1xf32> -> f32
    tile.yield %s : f32
  }
}

// -----

tile.kernel @k(%s: f64) grid [1] {
  // expected-error @+1 {{expected builtin.tensor, but found 'f64'}}
  %a = tile.keep %s : f64
}
