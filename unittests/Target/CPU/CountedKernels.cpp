// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CountedKernels.h"
#include <fmt/format.h>

namespace tw::target {

std::string convolution(int64_t pixels, int64_t outputs) {
  return fmt::format(R"(
tile.kernel @k(in %x: !tile.buffer<[58, 58, 64], f32>, in %w: !tile.buffer<[3, 3, 64, {outputs}], f32>,
               out %y: !tile.buffer<[56, 56, {outputs}], f32>) grid [56, 56 ceildiv {pixels}] {{
  %row = tile.program_id 0
  %p = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %pixels = arith.constant {pixels} : index
  %column = arith.muli %p, %pixels : index
  %zero = arith.constant 0.0 : f32
  %none = tile.full %zero : f32 -> {sums}
  %all = tile.for %i = %c0 to %c3 step %c1 carry (%a = %none : {sums}) {{
    %r = arith.addi %row, %i : index
    %b = tile.for %j = %c0 to %c3 step %c1 carry (%c = %a : {sums}) {{
      %q = arith.addi %column, %j : index
      %l = tile.load %x[%r, %q, %c0] : !tile.buffer<[58, 58, 64], f32> -> tensor<1x{pixels}x64xf32>
      %m = tile.reshape %l : tensor<1x{pixels}x64xf32> -> tensor<{pixels}x64xf32>
      %f = tile.load %w[%i, %j, %c0, %c0] : !tile.buffer<[3, 3, 64, {outputs}], f32> -> tensor<1x1x64x{outputs}xf32>
      %g = tile.reshape %f : tensor<1x1x64x{outputs}xf32> -> tensor<64x{outputs}xf32>
      %d = tile.dot %m, %g, %c : tensor<{pixels}x64xf32>, tensor<64x{outputs}xf32>, {sums}
      tile.yield %d : {sums}
    }}
    tile.yield %b : {sums}
  }}
  %z = tile.reshape %all : {sums} -> tensor<1x{pixels}x{outputs}xf32>
  tile.store %z, %y[%row, %column, %c0] : tensor<1x{pixels}x{outputs}xf32>, !tile.buffer<[56, 56, {outputs}], f32>
}})",
                     fmt::arg("pixels", pixels), fmt::arg("outputs", outputs),
                     fmt::arg("sums", fmt::format("tensor<{}x{}xf32>", pixels, outputs)));
}

std::string depthwise(int64_t pixels, int64_t channels) {
  std::string sums = fmt::format("tensor<{}x{}xf32>", pixels, channels), taps;
  for (int tap = 0; tap < 9; ++tap)
    taps += fmt::format(R"(
  %r{tap} = arith.addi %row, %c{i} : index
  %q{tap} = arith.addi %column, %c{j} : index
  %l{tap} = tile.load %x[%r{tap}, %q{tap}, %channel] : !tile.buffer<[58, 58, 64], f32> -> tensor<1x{pixels}x{channels}xf32>
  %x{tap} = tile.reshape %l{tap} : tensor<1x{pixels}x{channels}xf32> -> {sums}
  %f{tap} = tile.load %w[%c{i}, %c{j}, %channel] : !tile.buffer<[3, 3, 64], f32> -> tensor<1x1x{channels}xf32>
  %g{tap} = tile.reshape %f{tap} : tensor<1x1x{channels}xf32> -> tensor<1x{channels}xf32>
  %w{tap} = tile.broadcast %g{tap} : tensor<1x{channels}xf32> -> {sums}
  %s{next} = math.fma %x{tap}, %w{tap}, %s{tap} : {sums})",
                        fmt::arg("tap", tap), fmt::arg("next", tap + 1), fmt::arg("i", tap / 3),
                        fmt::arg("j", tap % 3), fmt::arg("pixels", pixels),
                        fmt::arg("channels", channels), fmt::arg("sums", sums));
  return fmt::format(R"(
tile.kernel @k(in %x: !tile.buffer<[58, 58, 64], f32>, in %w: !tile.buffer<[3, 3, 64], f32>,
               out %y: !tile.buffer<[56, 56, 64], f32>) grid [64 ceildiv {channels}, 56, 56 ceildiv {pixels}] {{
  %c = tile.program_id 0
  %row = tile.program_id 1
  %p = tile.program_id 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %pixels = arith.constant {pixels} : index
  %channels = arith.constant {channels} : index
  %column = arith.muli %p, %pixels : index
  %channel = arith.muli %c, %channels : index
  %zero = arith.constant 0.0 : f32
  %s0 = tile.full %zero : f32 -> {sums}{taps}
  %z = tile.reshape %s9 : {sums} -> tensor<1x{pixels}x{channels}xf32>
  tile.store %z, %y[%row, %column, %channel] : tensor<1x{pixels}x{channels}xf32>, !tile.buffer<[56, 56, 64], f32>
}})",
                     fmt::arg("pixels", pixels), fmt::arg("channels", channels),
                     fmt::arg("sums", sums), fmt::arg("taps", taps));
}

std::string attention() {
  return R"(
tile.kernel @k(in %q: !tile.buffer<[480, 64], f32>, in %k: !tile.buffer<[512, 64], f32>,
               in %v: !tile.buffer<[512, 64], f32>, out %y: !tile.buffer<[480, 64], f32>) grid [480 ceildiv 48] {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %rows = arith.constant 48 : index
  %row = arith.muli %p, %rows : index
  %keys = arith.constant 64 : index
  %end = arith.constant 512 : index
  %low = arith.constant -1.0e30 : f32
  %zero = arith.constant 0.0 : f32
  %least = tile.full %low : f32 -> tensor<48x1xf32>
  %nothing = tile.full %zero : f32 -> tensor<48x1xf32>
  %noScores = tile.full %zero : f32 -> tensor<48x64xf32>
  %none = tile.full %zero : f32 -> tensor<48x64xf32>
  %a = tile.load %q[%row, %c0] : !tile.buffer<[480, 64], f32> -> tensor<48x64xf32>
  %m, %t, %sum = tile.for %i = %c0 to %end step %keys
      carry (%most = %least : tensor<48x1xf32>, %total = %nothing : tensor<48x1xf32>, %acc = %none : tensor<48x64xf32>) {
    %b = tile.load %k[%i, %c0] : !tile.buffer<[512, 64], f32> -> tensor<64x64xf32>
    %bt = tile.transpose %b [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    %w = tile.load %v[%i, %c0] : !tile.buffer<[512, 64], f32> -> tensor<64x64xf32>
    %scores = tile.dot %a, %bt, %noScores : tensor<48x64xf32>, tensor<64x64xf32>, tensor<48x64xf32>
    %largest = tile.reduce max %scores axis 1 : tensor<48x64xf32> -> tensor<48xf32>
    %column = tile.reshape %largest : tensor<48xf32> -> tensor<48x1xf32>
    %next = arith.maximumf %most, %column : tensor<48x1xf32>
    %all = tile.broadcast %next : tensor<48x1xf32> -> tensor<48x64xf32>
    %below = arith.subf %scores, %all : tensor<48x64xf32>
    %e = math.exp %below : tensor<48x64xf32>
    %less = arith.subf %most, %next : tensor<48x1xf32>
    %fade = math.exp %less : tensor<48x1xf32>
    %part = tile.reduce sum %e axis 1 : tensor<48x64xf32> -> tensor<48xf32>
    %partColumn = tile.reshape %part : tensor<48xf32> -> tensor<48x1xf32>
    %faded = arith.mulf %total, %fade : tensor<48x1xf32>
    %newTotal = arith.addf %faded, %partColumn : tensor<48x1xf32>
    %fades = tile.broadcast %fade : tensor<48x1xf32> -> tensor<48x64xf32>
    %fadedAcc = arith.mulf %acc, %fades : tensor<48x64xf32>
    %newAcc = tile.dot %e, %w, %fadedAcc : tensor<48x64xf32>, tensor<64x64xf32>, tensor<48x64xf32>
    tile.yield %next, %newTotal, %newAcc : tensor<48x1xf32>, tensor<48x1xf32>, tensor<48x64xf32>
  }
  %totals = tile.broadcast %t : tensor<48x1xf32> -> tensor<48x64xf32>
  %result = arith.divf %sum, %totals : tensor<48x64xf32>
  tile.store %result, %y[%row, %c0] : tensor<48x64xf32>, !tile.buffer<[480, 64], f32>
})";
}

std::string softmax(int64_t more) {
  std::string exponentials;
  for (int64_t i = 0; i < more; ++i)
    exponentials += fmt::format(R"(
  %f{i} = arith.constant {factor:.2f} : f32
  %g{i} = tile.full %f{i} : f32 -> tensor<1x1000xf32>
  %h{i} = arith.mulf %d, %g{i} : tensor<1x1000xf32>
  %i{i} = math.exp %h{i} : tensor<1x1000xf32>
  %e{next} = arith.addf %e{i}, %i{i} : tensor<1x1000xf32>)",
                                fmt::arg("i", i), fmt::arg("next", i + 1),
                                fmt::arg("factor", 1.5 + 0.25 * double(i)));
  return fmt::format(R"(
tile.kernel @k(in %x: !tile.buffer<[64, 1000], f32>, out %y: !tile.buffer<[64, 1000], f32>) grid [64] {{
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%p, %c0] : !tile.buffer<[64, 1000], f32> -> tensor<1x1000xf32>
  %most = tile.reduce max %t axis 1 : tensor<1x1000xf32> -> tensor<1xf32>
  %m1 = tile.reshape %most : tensor<1xf32> -> tensor<1x1xf32>
  %m = tile.broadcast %m1 : tensor<1x1xf32> -> tensor<1x1000xf32>
  %d = arith.subf %t, %m : tensor<1x1000xf32>
  %e0 = math.exp %d : tensor<1x1000xf32>{exponentials}
  %sum = tile.reduce sum %e{more} axis 1 : tensor<1x1000xf32> -> tensor<1xf32>
  %s1 = tile.reshape %sum : tensor<1xf32> -> tensor<1x1xf32>
  %s = tile.broadcast %s1 : tensor<1x1xf32> -> tensor<1x1000xf32>
  %q = arith.divf %e{more}, %s : tensor<1x1000xf32>
  tile.store %q, %y[%p, %c0] : tensor<1x1000xf32>, !tile.buffer<[64, 1000], f32>
}})",
                     fmt::arg("exponentials", exponentials), fmt::arg("more", more));
}

} // namespace tw::target
