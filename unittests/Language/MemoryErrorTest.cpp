// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mistakes in accesses to buffers.
#include "Mistakes.h"

using namespace tw::kernel;

namespace {

const Mistake memory[] = {
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {b.m}, {1, b.N});
     },
     "load of x got 1 position, but the buffer has 2 dimensions: [M, N]",
     "give one for each dimension"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {b.m, 0}, {b.N});
     },
     "load of x: the box [N] has 1 dimension, but the buffer 2: [M, N]",
     "give 1 for dimensions of one element; reshape changes a tile's shape"},
    {__LINE__,
     [] {
       Buffers b;
       store(b.y, {b.m, 0}, zeros({8}, f32));
     },
     "store of y: the value [8] has 1 dimension, but the buffer 2: [M, N]",
     "give 1 for dimensions of one element; reshape changes a tile's shape"},
    {__LINE__,
     [] {
       Buffers b;
       store(b.x, {b.m, 0}, b.row);
     },
     "store to x, which is an input", "declare it with inout or output"},
    {__LINE__,
     [] {
       Buffers b;
       store(b.y, {b.m, 0}, cast(b.row, f16));
     },
     "store of y: the value is f16[1, N], but the buffer's dtype is f32", "cast it: cast(x, f32)"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {constant(1.5, f64), 0}, {1, 1});
     },
     "position 0 of load of x is f64, but must be an integer", "cast(x, i64) makes it one"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {iota({4}), 0}, {5, 1});
     },
     "position 0 of load of x is i64[4], but extent 0 of the box is 5",
     "a tile of positions has rank 1 and that extent; gather and scatter take others"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {zeros({4}, f32), 0}, {4, 1});
     },
     "position 0 of load of x is f32[4], but positions are integers", "cast it: cast(x, i64)"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {b.m, 0}, {1, 4}, {.strides = {1, 0}});
     },
     "stride 1 of load of x is 0", "strides are 1 or more"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {b.m, 0}, {1, 4}, {.strides = {1}});
     },
     "load of x got 1 stride, but the buffer has 2 dimensions: [M, N]",
     "give one for each dimension"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {iota({4}), 0}, {4, 1}, {.strides = {2, 1}});
     },
     "stride 0 of load of x is 2", "its position is a tile, so it is 1"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {b.m, 0}, {1, 4}, {.mask = zeros({1, 4}, f32)});
     },
     "the mask of load of x is f32[1, 4], but must be i1", "compare it: x != 0"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {b.m, 0}, {1, 4}, {.mask = zeros({2, 4}, i1)});
     },
     "the mask of load of x is i1[2, 4], but the access has the shape [1, 4]"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.ids, {b.m}, {1}, {.pad = 0.5});
     },
     "the pad of load of ids: 0.5 is not a value of i64",
     "cast the tile to a float dtype, or give an integer"},
    {__LINE__,
     [] {
       Buffers b;
       store(b.y, {b.m, 0}, b.row, {.atomic = Atomic::any});
     },
     "store of y: Atomic::any is for scatter", "an element of a box is written once"},
    {__LINE__,
     [] {
       Buffer y = output("y", i1, {4}, false);
       store(y, {0}, zeros({4}, i1), {.atomic = Atomic::add});
     },
     "store of y: i1 has no atomic add"},
    {__LINE__,
     [] {
       Buffers b;
       gather(b.ids, {b.m});
     },
     "gather of ids got no tile of positions", "give tiles of integers; a box is accessed by load"},
    {__LINE__,
     [] {
       Buffers b;
       gather(b.ids, {zeros({4}, f32)});
     },
     "position 0 of gather of ids is f32[4], but positions are integers", "cast it: cast(x, i64)"},
    {__LINE__,
     [] {
       Buffers b;
       scatter(b.y, {iota({4}), iota({5})}, zeros({4}, f32));
     },
     "scatter of y: shapes [4] and [5] do not fit: 4 against 5",
     "extents are equal, or one of them is 1"},
    {__LINE__,
     [] {
       Buffers b;
       scatter(b.y, {iota({4}), 0}, zeros({1}, f32));
     },
     "scatter of y: positions have the shape [4], but the value [1]"},
    {__LINE__, [] { check(zeros({4}, f32), 4, "bad"); }, "check is not for f32[4]",
     "positions are integers"},
    {__LINE__, [] { check(iota({4}), 4, "100%"); },
     "check: the message has a % that is neither %% nor one of at most two %lld",
     "the first %lld shows the value, the second the size"},
    {__LINE__, [] { check(iota({4}), 4, "bad", zeros({4}, i8)); },
     "the mask of check is i8[4], but must be i1", "compare it: x != 0"},
    {__LINE__, [] { check(iota({1}), 4, "bad", zeros({4}, i1)); },
     "the mask of check is i1[4], but the positions i64[1]"},
    {__LINE__, [] { check(iota({4}), 4, "bad", zeros({3}, i1)); },
     "the mask of check: shapes [3] and [4] do not fit: 3 against 4",
     "extents are equal, or one of them is 1"},
    {__LINE__,
     [] {
       Buffers b;
       store(b.y, {b.m, 0}, b.row, {.atomic = Atomic(9)});
     },
     "store of y: there is no such kind of Atomic"},
    {__LINE__, [] { load(Buffer(), {}, {}); }, "load got an empty Buffer",
     "buffers are made in the kernel, by input, output and inout"},
};

TEST(Errors, Memory) { expectAll(memory, __FILE__); }

} // namespace
