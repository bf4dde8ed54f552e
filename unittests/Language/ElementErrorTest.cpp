// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mistakes in shapes and dtypes.
#include "Mistakes.h"

using namespace tw::kernel;

namespace {

const Mistake shapes[] = {
    {__LINE__,
     [] {
       Buffers b;
       b.row + zeros({1, b.M}, f32);
     },
     "+: shapes [1, N] and [1, M] do not fit: N against M",
     "extents must be equal for every call, or one of them 1"},
    {__LINE__, [] { zeros({4}, f32) * zeros({2, 3}, f32); },
     "*: shapes [4] and [2, 3] do not fit: 4 against 3", "extents are equal, or one of them is 1"},
    {__LINE__, [] { max(zeros({4, 2}, f32), 2); },
     "axis 2 is not one of the operand of max, whose shape is [4, 2]", "axes are -2 to 1"},
    {__LINE__, [] { sum(zeros({}, f32), 0); },
     "axis 0 is not one of the operand of sum, whose shape is []", "it has no axes"},
    {__LINE__, [] { zeros({4}, f32).size(1); }, "axis 1 is not one of the tile, whose shape is [4]",
     "axes are -1 to 0"},
    {__LINE__, [] { reshape(zeros({4, 6}, f32), {5, 5}); },
     "reshape: [4, 6] has 24 elements, but [5, 5] has 25", "the numbers of elements must be equal"},
    {__LINE__,
     [] {
       Buffers b;
       reshape(b.row, {b.N, 2});
     },
     "reshape: [1, N] has N elements, but [N, 2] has N * 2",
     "the numbers of elements must be equal for every call"},
    {__LINE__, [] { broadcast(zeros({2, 3}, f32), {3}); },
     "broadcast: [2, 3] cannot be stretched to [3]",
     "extents are equal or 1, and new axes stand in front"},
    {__LINE__, [] { broadcast(zeros({3}, f32), {1}); }, "broadcast: [3] cannot be stretched to [1]",
     "extents are equal or 1, and new axes stand in front"},
    {__LINE__, [] { transpose(zeros({3}, f32)); }, "transpose: f32[3] has fewer than two axes",
     "reshape it first"},
    {__LINE__, [] { transpose(zeros({3, 4}, f32), {0, 0}); },
     "transpose: {0, 0} is not a permutation of the axes of f32[3, 4]", "give each axis once"},
    {__LINE__, [] { slice(zeros({8}, f32), {4}, {5}); },
     "slice, axis 0: 5 elements from 4 with stride 1 are not all inside 8"},
    {__LINE__,
     [] {
       Buffers b;
       slice(b.row, {0, 1}, {1, 4});
     },
     "slice, axis 1: 4 elements from 1 with stride 1 are not all inside N",
     "an axis whose extent is a symbol is taken whole; load a part instead"},
    {__LINE__, [] { slice(zeros({8}, f32), {4, 0}, {2}); },
     "slice of f32[8] got 2 offsets, 1 extent and 1 stride", "give one of each for each axis"},
    {__LINE__, [] { extract(zeros({2}, f32)); }, "extract: f32[2] has not one element",
     "load, slice or reduce it to one"},
    {__LINE__, [] { zeros({int64_t(1) << 62, int64_t(1) << 62}, f32); },
     "a tile of [4611686018427387904, 4611686018427387904] has more than 68719476736 elements",
     "let each program take a part, or take one part after another in a loop"},
    {__LINE__, [] { zeros({1 << 20, 1}, f32) + zeros({1, 1 << 20}, f32); },
     "a tile of [1048576, 1048576] has more than 68719476736 elements",
     "let each program take a part, or take one part after another in a loop"},
    {__LINE__, [] { zeros({-1}, f32); }, "extent 0 of full is -1", "extents are 0 or more"},
    {__LINE__, [] { iota({4}, 1); }, "axis 1 is not one of iota, whose shape is [4]",
     "axes are -1 to 0"},
};

const Mistake dots[] = {
    {__LINE__, [] { dot(zeros({4, 5}, f32), zeros({4, 5}, f32)); },
     "dot: f32[4, 5] by f32[4, 5] do not fit: 5 columns against 4 rows",
     "it takes [..., M, K] and [..., K, N]; transpose swaps the last two axes"},
    {__LINE__, [] { dot(zeros({4}, f32), zeros({4}, f32)); },
     "dot: f32[4] by f32[4] do not have one rank of 2 or more",
     "it takes [..., M, K] and [..., K, N]"},
    {__LINE__, [] { dot(zeros({2, 4, 5}, f32), zeros({3, 5, 4}, f32)); },
     "dot: f32[2, 4, 5] by f32[3, 5, 4] differ in axis 0: 2 against 3",
     "axes before the last two must be equal; broadcast stretches them"},
    {__LINE__, [] { dot(zeros({4, 5}, f32), zeros({5, 4}, f16)); },
     "dot: f32[4, 5] and f16[5, 4] have different dtypes", "cast one of them: cast(x, f32)"},
    {__LINE__, [] { dot(zeros({4, 5}, f32), zeros({5, 4}, f32), zeros({4, 4}, f16)); },
     "dot: products of f32 cannot be added to f16",
     "float accumulators are as wide as the operands or wider, integers have their dtype: cast the "
     "operands"},
    {__LINE__, [] { dot(zeros({4, 5}, f32), zeros({5, 4}, f32), zeros({4, 5}, f32)); },
     "dot: f32[4, 5] by f32[5, 4] gives [4, 4], but the accumulator is f32[4, 5]"},
};

const Mistake dtypes[] = {
    {__LINE__, [] { zeros({4}, f32) + zeros({4}, f16); },
     "+: f32[4] and f16[4] have different dtypes", "cast one of them: cast(x, f32)"},
    {__LINE__, [] { zeros({4}, i32) * 0.5; }, "*: 0.5 is not a value of i32",
     "cast the tile to a float dtype, or give an integer"},
    {__LINE__, [] { zeros({4}, u8) + 300; }, "+: 300 is not a value of u8",
     "its values are 0 to 255"},
    {__LINE__, [] { zeros({4}, i8) + -129; }, "+: -129 is not a value of i8",
     "its values are -128 to 127"},
    {__LINE__, [] { zeros({4}, i32) + inf; }, "+: inf is not a value of i32",
     "cast the tile to a float dtype, or give an integer"},
    {__LINE__, [] { zeros({4}, f32) + true; }, "+: true is not a value of f32",
     "i1 is the dtype of true and false"},
    {__LINE__, [] { zeros({4}, i32) + scalar("s", f64); },
     "+: a scalar of f64 cannot be used as i32", "cast one of them: cast(x, f64)"},
    {__LINE__, [] { scalar("s", f64) + scalar("t", i64); }, "+: f64 and i64 have different dtypes",
     "cast one of them: cast(x, f64)"},
    {__LINE__, [] { zeros({4}, i1) + zeros({4}, i1); }, "+ is not for i1[4]",
     "it is for floats and integers; cast converts"},
    {__LINE__, [] { zeros({4}, f32) & zeros({4}, f32); }, "& is not for f32[4]",
     "it is for integers and i1; cast converts"},
    {__LINE__, [] { zeros({4}, f32) && zeros({4}, f32); }, "&& is not for f32[4]",
     "it is for i1; cast converts"},
    {__LINE__, [] { !zeros({4}, f32); }, "! is not for f32[4]", "it is for i1; compare it: x == 0"},
    {__LINE__, [] { ~zeros({4}, f32); }, "~ is not for f32[4]", "it is for integers and i1"},
    {__LINE__, [] { exp(zeros({4}, i32)); }, "exp is not for i32[4]",
     "it is for floats: cast(x, f32)"},
    {__LINE__, [] { sigmoid(zeros({4}, i32)); }, "sigmoid is not for i32[4]",
     "it is for floats: cast(x, f32)"},
    {__LINE__, [] { relu(zeros({4}, i1)); }, "relu is not for i1[4]",
     "it is for floats and integers; cast converts"},
    {__LINE__, [] { pow(zeros({4}, i32), 2); }, "pow is not for i32[4]",
     "it is for floats; cast converts"},
    {__LINE__, [] { sum(zeros({4}, i1), 0); }, "sum is not for i1[4]",
     "it is for numbers; any and all are for i1, and cast converts"},
    {__LINE__, [] { any(zeros({4}, f32), 0); }, "any is not for f32[4]",
     "it is for i1; compare it: x != 0"},
    {__LINE__, [] { cummax(zeros({4}, u8), 0); }, "cummax is not for u8[4]",
     "cast it to i32 first"},
    {__LINE__, [] { select(zeros({4}, f32), 1.0, 2.0); },
     "select: the condition is f32[4], but must be i1", "compare it: x != 0"},
    {__LINE__, [] { select(zeros({4}, i1), 1.0, 2.0); }, "select of two numbers has no dtype",
     "cast the condition, or give one as full(shape, number, dtype)"},
    {__LINE__, [] { select(zeros({4}, i1), Tile(), 2.0); },
     "select got an empty Tile, Index or Scalar", "give it a value first"},
    {__LINE__, [] { select(Scalar(), 1.0, 2.0); }, "an empty Tile, Index or Scalar is used",
     "give it a value first"},
    {__LINE__, [] { zeros({4}, i1) && 2; }, "&&: 2 is not a value of i1",
     "the values of i1 are true and false"},
    {__LINE__, [] { full({4}, 1.0); }, "full of a number has no dtype",
     "give one: full(shape, number, f32)"},
    {__LINE__, [] { iota({4}, 0, f32); }, "iota is not for f32",
     "it gives integers: cast(iota(...), f32)"},
    {__LINE__, [] { castSigned(zeros({4}, f16), bf16); },
     "castSigned: there is no step from f16 to bf16", "cast goes over a dtype between them"},
    {__LINE__, [] { divUnsigned(zeros({4}, f32), 2); }, "divUnsigned is not for f32[4]",
     "it is for integers; cast converts"},
    {__LINE__, [] { compare(Comparison::uno, zeros({4}, i32), 2); }, "compare is not for i32[4]",
     "it is for floats; cast converts"},
    {__LINE__, [] { Tile() + 1; }, "+ got an empty Tile, Index or Scalar", "give it a value first"},
    {__LINE__, [] { exp(Tile()); }, "exp got an empty Tile", "give it a value first"},
};

TEST(Errors, Shapes) { expectAll(shapes, __FILE__); }
TEST(Errors, Dots) { expectAll(dots, __FILE__); }
TEST(Errors, Dtypes) { expectAll(dtypes, __FILE__); }

} // namespace
