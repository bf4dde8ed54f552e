// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel may not do, and what is said of it.
// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{symbol N follows neither from the size of an input nor from an argument}}
tile.kernel @unbound(in %x: !tile.buffer<[M], f32>, out %y: !tile.buffer<[N], f32>)
    symbols [M, N] grid [1] {}

// -----

// M follows from the third once N and K are known.
tile.kernel @bound(in %x: !tile.buffer<[N], f32>, in %y: !tile.buffer<[M * N + K], f32>,
                   %k: index as K) symbols [M, N, K] grid [1] {}

// -----

// expected-error @+1 {{the grid uses the symbol M, which the kernel does not declare}}
tile.kernel @undeclared() grid [M] {}

// -----

// expected-error @+1 {{has two arguments named "x"}}
"tile.kernel"() <{sym_name = "twice", symbols = [], grid = [#tile.size<1>],
  arguments = [#tile.argument<name = "x", access = scalar>, #tile.argument<name = "x", access = scalar>]}> ({
  ^bb0(%a: f64, %b: f64):
}) : () -> ()

// -----

// expected-error @+1 {{argument "x" is a buffer, so it is in, out or inout}}
tile.kernel @noAccess(%x: !tile.buffer<[4], f32>) grid [1] {}

// -----

// expected-error @+1 {{argument "n" is neither a buffer nor index, i64, f64 or i1}}
tile.kernel @scalarType(%n: f32) grid [1] {}

// -----

// expected-error @+1 {{argument "x" is no output, so it has no initial value}}
tile.kernel @initOfInput(in %x: !tile.buffer<[4], f32> init 0.0 : f32) grid [1] {}

// -----

// expected-error @+1 {{argument "y" is no input, so it is not constant}}
tile.kernel @k(out %y: !tile.buffer<[8], f32> constant) grid [1] {}

// -----

// expected-error @+1 {{symbol M: no value is between min = 4 and max = 3 and not negative}}
tile.kernel @noValue(in %x: !tile.buffer<[M], f32>) symbols [M {min = 4, max = 3}] grid [1] {}

// -----

// expected-error @+1 {{elements of a buffer are f16, bf16, f32, f64, i8, i16, i32, i64, ui8 or i1, but this one's are 'i4'}}
tile.kernel @element(in %x: !tile.buffer<[4], i4>) grid [1] {}

// -----

// expected-error @+1 {{not a size: it overflows, divides by 0 or has too many terms}}
tile.kernel @overflow(in %x: !tile.buffer<[9223372036854775807 * 2], f32>) grid [1] {}

// -----

// expected-error @+1 {{#tile.dims names 2 extents, but the tile has 1 that are not static}}
func.func private @count(tensor<4x?xf32, #tile.dims<[M, N]>>)

// -----

// expected-error @+1 {{a tile whose extents are all static has no #tile.dims}}
func.func private @static(tensor<4xf32, #tile.dims<[M]>>)

// -----

// expected-error @+1 {{the extent 8 is static: write it as one}}
func.func private @constant(tensor<?xf32, #tile.dims<[8]>>)

// -----

tile.kernel @positions(in %x: !tile.buffer<[4, 4], f32>) grid [1] {
  %i = tile.program_id 0
  // expected-error @+1 {{gives 1 position, but the buffer has 2 dimensions}}
  %t = tile.load %x[%i] : !tile.buffer<[4, 4], f32> -> tensor<4xf32>
}

// -----

tile.kernel @rank(in %x: !tile.buffer<[4, 4], f32>) grid [1] {
  %i = tile.program_id 0
  // expected-error @+1 {{the tile has 1 dimension, but the buffer has 2}}
  %t = tile.load %x[%i, %i] : !tile.buffer<[4, 4], f32> -> tensor<4xf32>
}

// -----

tile.kernel @unsigned(in %x: !tile.buffer<[4], ui8>) grid [1] {
  %i = tile.program_id 0
  // expected-error @+1 {{the tile's elements are 'i16', but the buffer's are 'ui8'}}
  %t = tile.load %x[%i] : !tile.buffer<[4], ui8> -> tensor<4xi16>
}

// -----

tile.kernel @indexed(in %x: !tile.buffer<[4], f32>, in %p: !tile.buffer<[8], i64>) grid [1] {
  %i = tile.program_id 0
  %q = tile.load %p[%i] : !tile.buffer<[8], i64> -> tensor<8xi64>
  // expected-error @+1 {{must be a tile of rank 1 and extent 4}}
  %t = tile.load %x[%q : tensor<8xi64>] : !tile.buffer<[4], f32> -> tensor<4xf32>
}

// -----

tile.kernel @toInput(in %x: !tile.buffer<[4], f32>) grid [1] {
  %i = tile.program_id 0
  %t = tile.load %x[%i] : !tile.buffer<[4], f32> -> tensor<4xf32>
  // expected-error @+1 {{writes "x", which is an input}}
  tile.store %t, %x[%i] : tensor<4xf32>, !tile.buffer<[4], f32>
}

// -----

tile.kernel @mask(inout %x: !tile.buffer<[4], f32>, %p: i1) grid [1] {
  %i = tile.program_id 0
  %t = tile.load %x[%i] : !tile.buffer<[4], f32> -> tensor<4xf32>
  %m = tile.full %p : i1 -> tensor<2xi1>
  // expected-error @+1 {{the mask is 'tensor<2xi1>', but must be 'tensor<4xi1>'}}
  tile.store %t, %x[%i] mask %m : tensor<2xi1> : tensor<4xf32>, !tile.buffer<[4], f32>
}

// -----

tile.kernel @once(inout %x: !tile.buffer<[4], f32>) grid [1] {
  %i = tile.program_id 0
  %t = tile.load %x[%i] : !tile.buffer<[4], f32> -> tensor<4xf32>
  // expected-error @+1 {{an element of a box is written once: 'any' is for tile.scatter}}
  tile.store %t, %x[%i] atomic any : tensor<4xf32>, !tile.buffer<[4], f32>
}

// -----

tile.kernel @grid() grid [1] {
  // expected-error @+1 {{dimension 1 is not one of the grid's 1}}
  %i = tile.program_id 1
}

// -----

tile.kernel @dot(%s: f64) grid [1] {
  %a = tile.full %s : f64 -> tensor<4x8xf64>
  // expected-error @+1 {{[4, 8] by [4, 8] does not give [4, 8]}}
  %b = tile.dot %a, %a, %a : tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x8xf64>
}

// -----

tile.kernel @reduce(%s: i1) grid [1] {
  %a = tile.full %s : i1 -> tensor<4xi1>
  // expected-error @+1 {{cannot reduce 'i1' by sum}}
  %b = tile.reduce sum %a axis 0 : tensor<4xi1> -> tensor<i1>
}

// -----

tile.kernel @reshape(in %x: !tile.buffer<[M, 4], f32>) symbols [M] grid [1] {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !tile.buffer<[M, 4], f32> -> tensor<?x4xf32, #tile.dims<[M]>>
  %r = tile.reshape %t : tensor<?x4xf32, #tile.dims<[M]>> -> tensor<?xf32, #tile.dims<[M * 4]>>
  // expected-error @+1 {{[M, 4] has M * 4 elements, but [M * 2] has M * 2}}
  %s = tile.reshape %t : tensor<?x4xf32, #tile.dims<[M]>> -> tensor<?xf32, #tile.dims<[M * 2]>>
}

// -----

tile.kernel @slice(%s: f64) grid [1] {
  %a = tile.full %s : f64 -> tensor<8xf64>
  // expected-error @+1 {{dimension 0: 4 elements from 2 with stride 2 are not all inside 8}}
  %b = tile.slice %a offsets [2] strides [2] : tensor<8xf64> -> tensor<4xf64>
}

// -----

tile.kernel @extract(%s: f64) grid [1] {
  %a = tile.full %s : f64 -> tensor<1x2xf64>
  // expected-error @+1 {{needs a tile of one element, but this is 'tensor<1x2xf64>'}}
  %b = tile.extract %a : tensor<1x2xf64> -> f64
}

// -----

tile.kernel @closed(%s: f64) grid [1] {
  // expected-error @+1 {{may not be used in a kernel}}
  %a = math.cbrt %s : f64
}

// -----

tile.kernel @fast(%s: f64) grid [1] {
  // expected-error @+1 {{fast-math flags have no place in a kernel}}
  %a = arith.addf %s, %s fastmath<nnan> : f64
}

// -----

tile.kernel @rounds(%s: f64) grid [1] {
  // expected-error @+1 {{a rounding mode has no place in a kernel: casts round to nearest, ties to even}}
  %a = arith.truncf %s upward : f64 to f32
}

// -----

tile.kernel @wraps(%s: i64) grid [1] {
  // expected-error @+1 {{overflow flags have no place in a kernel: integers wrap}}
  %a = arith.addi %s, %s overflow<nsw> : i64
}

// -----

tile.kernel @constant() grid [1] {
  // expected-error @+1 {{a constant is a scalar; tile.full makes a tile of it}}
  %a = arith.constant dense<1.0> : tensor<4xf32>
}

// -----

tile.kernel @extent(in %x: !tile.buffer<[M], f32>) symbols [M] grid [1] {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{does not say its extents: #tile.dims is missing}}
  %t = tile.load %x[%c0] : !tile.buffer<[M], f32> -> tensor<?xf32>
}

// -----

tile.kernel @yield(%s: f64, %n: index) grid [1] {
  // expected-error @+1 {{0-th region iter_arg and 0-th yielded value have different type: 'f64' != 'index'}}
  %r = tile.for %i = %n to %n step %n carry (%x = %s : f64) {
    tile.yield %i : index
  }
}

// -----

tile.kernel @no_yield(%s: f64, %n: index) grid [1] {
  // expected-error @+1 {{the body yields other types than are carried}}
  %r = tile.for %i = %n to %n step %n carry (%x = %s : f64) {
  }
}

// -----

tile.kernel @before(inout %x: !tile.buffer<[4], f64>, %n: index) grid [1] {
  %t = tile.load %x[%n] : !tile.buffer<[4], f64> -> tensor<4xf64>
  // expected-error @+1 {{stands before or in a loop that can be split}}
  tile.store %t, %x[%n] : tensor<4xf64>, !tile.buffer<[4], f64>
  %r = tile.for %i = %n to %n step %n carry (%x0 = %t : tensor<4xf64>) {
    tile.yield %x0 : tensor<4xf64>
  } combine (%a: tensor<4xf64>, %b: tensor<4xf64>) {
    tile.yield %a : tensor<4xf64>
  }
}

// -----

tile.kernel @combine(%s: f64, %n: index) grid [1] {
  // expected-error @+1 {{combine yields other types than are carried}}
  %r = tile.for %i = %n to %n step %n carry (%x = %s : f64) {
    tile.yield %x : f64
  } combine (%a: f64, %b: f64) {
    tile.yield %n : index
  }
}
