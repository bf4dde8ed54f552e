// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What random kernels found to be compiled wrong, reduced: compiled as interpreted.
#include "unittests/Target/CompiledKernel.h"
#include <gtest/gtest.h>

namespace tw::target {
namespace {

/// A dot along rows that are three apart, of which the last is outside.
TEST(RandomFinds, DepthOfStridedOperands) {
  CompiledKernel kernel(R"(
    tile.kernel @case(in %x: !tile.buffer<[M, N], i16>, out %y: !tile.buffer<[M, N, N], i16>)
        symbols [M, N] grid [M] {
      %p = tile.program_id 0
      %c0 = arith.constant 0 : index
      %t = tile.load %x[%p, %c0] strides [3, 1] : !tile.buffer<[M, N], i16> -> tensor<2x?xi16, #tile.dims<[N]>>
      %u = tile.transpose %t [1, 0] : tensor<2x?xi16, #tile.dims<[N]>> -> tensor<?x2xi16, #tile.dims<[N]>>
      %zero = arith.constant 0 : i16
      %init = tile.full %zero : i16 -> tensor<?x?xi16, #tile.dims<[N, N]>>
      %d = tile.dot %u, %t, %init : tensor<?x2xi16, #tile.dims<[N]>>, tensor<2x?xi16, #tile.dims<[N]>>, tensor<?x?xi16, #tile.dims<[N, N]>>
      %r = tile.reshape %d : tensor<?x?xi16, #tile.dims<[N, N]>> -> tensor<1x?x?xi16, #tile.dims<[N, N]>>
      tile.store %r, %y[%p, %c0, %c0] : tensor<1x?x?xi16, #tile.dims<[N, N]>>, !tile.buffer<[M, N, N], i16>
    })");
  kernel.expectSame({"3x15xi16=random:1"});
}

/// A product that begins before its operands do: what is outside reads as 0.
TEST(RandomFinds, DepthFromBelowZero) {
  CompiledKernel kernel(R"(
    tile.kernel @case(in %x: !tile.buffer<[8, K], f32>, in %z: !tile.buffer<[K, 16], f32>,
                      out %y: !tile.buffer<[8, 16], f32>) symbols [K] grid [1] {
      %c0 = arith.constant 0 : index
      %c_2 = arith.constant -2 : index
      %a = tile.load %x[%c0, %c_2] : !tile.buffer<[8, K], f32> -> tensor<8x6xf32>
      %b = tile.load %z[%c_2, %c0] : !tile.buffer<[K, 16], f32> -> tensor<6x16xf32>
      %zero = arith.constant 0.0 : f32
      %init = tile.full %zero : f32 -> tensor<8x16xf32>
      %d = tile.dot %a, %b, %init : tensor<8x6xf32>, tensor<6x16xf32>, tensor<8x16xf32>
      tile.store %d, %y[%c0, %c0] : tensor<8x16xf32>, !tile.buffer<[8, 16], f32>
    })");
  kernel.expectSame({"8x3xf32=random:1", "3x16xf32=random:2"});
  kernel.expectSame({"8x5xf32=random:1", "5x16xf32=random:2"});
}

/// A product in registers, every second column of it, transposed, and element by element.
TEST(RandomFinds, PartsOfRegisters) {
  CompiledKernel kernel(R"(
    tile.kernel @case(in %x: !tile.buffer<[2, 16], f32>, out %s: !tile.buffer<[16, 3], f32>,
                      out %t: !tile.buffer<[16, 16], f32>, out %u: !tile.buffer<[256], f32>) grid [1] {
      %c0 = arith.constant 0 : index
      %a = tile.load %x[%c0, %c0] : !tile.buffer<[2, 16], f32> -> tensor<2x16xf32>
      %b = tile.transpose %a [1, 0] : tensor<2x16xf32> -> tensor<16x2xf32>
      %zero = arith.constant 0.0 : f32
      %init = tile.full %zero : f32 -> tensor<16x16xf32>
      %d = tile.dot %b, %a, %init : tensor<16x2xf32>, tensor<2x16xf32>, tensor<16x16xf32>
      %i = tile.iota 0 from %c0 : tensor<16x16xi32>
      %f = arith.sitofp %i : tensor<16x16xi32> to tensor<16x16xf32>
      %e = arith.subf %d, %f : tensor<16x16xf32>
      %half = tile.slice %e offsets [0, 2] strides [1, 2] : tensor<16x16xf32> -> tensor<16x3xf32>
      tile.store %half, %s[%c0, %c0] : tensor<16x3xf32>, !tile.buffer<[16, 3], f32>
      %turned = tile.transpose %e [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
      tile.store %turned, %t[%c0, %c0] : tensor<16x16xf32>, !tile.buffer<[16, 16], f32>
      %flat = tile.reshape %e : tensor<16x16xf32> -> tensor<256xf32>
      %at = tile.iota 0 from %c0 : tensor<256xi64>
      tile.scatter %flat, %u[%at : tensor<256xi64>] : tensor<256xf32>, !tile.buffer<[256], f32>
    })");
  kernel.expectSame({"2x16xf32=random:1"});
}

} // namespace
} // namespace tw::target
