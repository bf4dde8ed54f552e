// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mistakes in what a kernel is called with, in sizes, loops and branches.
#include "Mistakes.h"

using namespace tw::kernel;

namespace {

const Mistake declarations[] = {
    {__LINE__, [] {}, "kernel k has no grid", "say how many programs run: auto [m] = grid(M);"},
    {__LINE__, [] { grid(1), grid(2); }, "the kernel has two grids",
     "the other one is at FILE:LINE"},
    {__LINE__, [] { grid(int64_t(1) << 40, int64_t(1) << 40); },
     "the grid [1099511627776, 1099511627776] has more than 1099511627776 programs",
     "let each program take a part, or take one part after another in a loop"},
    {__LINE__, [] { grid(-1); }, "extent 0 of the grid is -1", "extents are 0 or more"},
    {__LINE__, [] { Symbol a("M"), b("M"); }, "two symbols are called M",
     "the other one is at FILE:LINE"},
    {__LINE__, [] { Symbol a("mod"); }, "\"mod\" cannot be the name of a symbol",
     "names are letters, digits and _, do not begin with a digit, and are none of floordiv, "
     "ceildiv, mod, symbols and grid"},
    {__LINE__, [] { Symbol a("M", {.min = 8, .max = 4}); },
     "symbol M cannot have min = 8, max = 4, multiple = 1", "0 <= min <= max and multiple >= 1"},
    {__LINE__,
     [] {
       Symbol M("M");
       output("y", f32, {M});
       grid(M);
     },
     "symbol M follows neither from the size of an input nor from an argument",
     "use it as the size of an input or inout buffer, or give it as an argument: scalar(M)"},
    {__LINE__,
     [] {
       Symbol M("M"), N("N");
       input("x", f32, {M * N});
       grid(M);
     },
     "symbol M follows neither from the size of an input nor from an argument",
     "use it as the size of an input or inout buffer, or give it as an argument: scalar(M)"},
    {__LINE__, [] { input("x", f32, {1}), output("x", f32, {1}); }, "two arguments are called x",
     "the other one is at FILE:LINE"},
    {__LINE__, [] { input("x y", f32, {1}); }, "\"x y\" cannot be the name of a buffer",
     "names are letters, digits and _, and do not begin with a digit"},
    {__LINE__, [] { input("x", f32, {2, -3}); }, "extent 1 of buffer x is -3",
     "extents are 0 or more"},
    {__LINE__, [] { input("x", DType::index, {2}); }, "buffer x cannot have elements of type index",
     "use i64"},
    {__LINE__, [] { output("y", u8, {2}, 256); }, "the init of y: 256 is not a value of u8",
     "its values are 0 to 255"},
    {__LINE__, [] { output("y", i32, {2}, 0.5); }, "the init of y: 0.5 is not a value of i32",
     "cast the tile to a float dtype, or give an integer"},
    {__LINE__, [] { output("y", f32, {2}, scalar("s", f64)); },
     "the init of y is known only when the kernel runs", "give a number"},
    {__LINE__, [] { beginsAs(output("y", f32, {2}, 0), input("x", f32, {2})); },
     "beginsAs: y cannot begin as a copy of x",
     "what begins as a copy is declared with inout, and what is copied with input"},
    {__LINE__, [] { beginsAs(inout("y", f32, {2}), input("x", f32, {3})); },
     "beginsAs: y is f32[2], but x is f32[3]", ""},
    {__LINE__,
     [] {
       Buffer y = inout("y", f32, {2});
       beginsAs(y, input("x", f32, {2}));
       beginsAs(y, input("z", f32, {2}));
     },
     "beginsAs: y is given twice", "the other one is at FILE:LINE"},
    {__LINE__, [] { isConstant(output("y", f32, {2}, 0)); },
     "isConstant: y is written, so it is not constant", "what is constant is declared with input"},
    {__LINE__,
     [] {
       replaces("a");
       replaces("b");
     },
     "tile.replaces is given twice", "the other one is at FILE:LINE"},
    {__LINE__, [] { scalar("s", f32); }, "scalar s cannot be f32",
     "scalar arguments are f64, i64 or i1; used with a tile, they take its dtype"},
    {__LINE__,
     [] {
       parameter("B", 2);
       Symbol B("B");
     },
     "a symbol and a parameter are called B", "the parameter is at FILE:LINE"},
    {__LINE__, [] { parameter("2B", 2); }, "\"2B\" cannot be the name of a parameter",
     "names are letters, digits and _, and do not begin with a digit"},
    {__LINE__, [] { parameter("B", 1), parameter("B", 2); }, "two parameters are called B",
     "the other one is at FILE:LINE"},
    {__LINE__,
     [] {
       Symbol B("B");
       parameter("B", 2);
     },
     "a parameter and a symbol are called B", "the symbol is at FILE:LINE"},
    {__LINE__, [] { programId(0); }, "programId(0) stands before the grid",
     "say how many programs run first: grid(M);"},
    {__LINE__,
     [] {
       grid(2, Symbol("M"));
       programId(2);
     },
     "programId(2), but the grid is [2, M]", "its dimensions are 0 to 1"},
    {__LINE__,
     [] {
       grid(2);
       programId(-1);
     },
     "programId(-1), but the grid is [2]", "its only dimension is 0"},
    {__LINE__, [] { hint("block", {1}); }, "there is no hint called \"block\"",
     "the one hint is tile.block"},
    {__LINE__, [] { hint("tile.block", {1}), hint("tile.block", {1}); },
     "the hint tile.block is given twice", "the other one is at FILE:LINE"},
    {__LINE__, [] { hint("tile.block", {1, 0}); }, "the hint tile.block has 0 programs",
     "give 1 or more for each dimension of the grid"},
    {__LINE__,
     [] {
       grid(2, Symbol("M"));
       hint("tile.block", {4});
     },
     "the hint tile.block has 1 numbers, but the grid is [2, M]",
     "give one for each dimension of the grid"},
    {__LINE__, [] { throw std::runtime_error("no luck"); }, "kernel k threw an exception: no luck"},
    {__LINE__, [] { throw 1; }, "kernel k threw an exception"},
};

const Mistake outputs[] = {
    {__LINE__,
     [] {
       Buffer x = input("x", f32, {4}), y = output("y", f32, {4}), z = output("z", f32, {4});
       output("filled", f32, {4}, 0);
       grid(1);
       store(y, {0}, load(x, {0}, {4}));
     },
     "nothing is ever stored to output z",
     "store to it, or give it a value that it is filled with: output(name, dtype, shape, 0)"},
};

const Mistake quotients[] = {
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {b.m / 4, 0}, {1, b.N});
     },
     "an Index has no /", "write floorDiv(a, b) or ceilDiv(a, b), which say how they round"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {7 % b.m, 0}, {1, b.N});
     },
     "an Index has no %", "write mod(a, b): what floorDiv leaves, of the divisor's sign"},
    {__LINE__,
     [] {
       Buffers b;
       b.m /= b.N;
     },
     "an Index has no /", "write floorDiv(a, b) or ceilDiv(a, b), which say how they round"},
    {__LINE__,
     [] {
       Buffers b;
       b.m %= 2;
     },
     "an Index has no %", "write mod(a, b): what floorDiv leaves, of the divisor's sign"},
    {__LINE__,
     [] {
       Buffers b;
       load(b.x, {b.m, 0}, {1, b.N / 2});
     },
     "N / 2: sizes have no /", "write floorDiv(a, b) or ceilDiv(a, b), which say how they round"},
    {__LINE__,
     [] {
       Buffers b;
       zeros({(b.N + 1) % b.M}, f32);
     },
     "N + 1 % M: sizes have no %", "write mod(a, b): what floorDiv leaves, of the divisor's sign"},
};

const Mistake sizes[] = {
    {__LINE__, [] { Symbol("M").constant(); }, "size M is not known while the kernel is traced",
     "ask isConstant() first, or bind its symbols in the request"},
    {__LINE__, [] { floorDiv(Symbol("M"), 0); }, "floorDiv of M and 0 divides by 0",
     "divide by a number or size that is 1 or more"},
    {__LINE__, [] { ceilDiv(8, 0); }, "ceilDiv of 8 and 0 divides by 0",
     "divide by a number or size that is 1 or more"},
    {__LINE__, [] { Symbol("M") * INT64_MAX * 2; },
     "* of M * 9223372036854775807 and 2 overflows 64 bits", "sizes are from -2^63 to 2^63 - 1"},

    {__LINE__,
     [] {
       Buffers b;
       mod(b.m, 0);
     },
     "mod divides by 0", "divide by a number or size that is 1 or more"},
    {__LINE__, [] { reshape(zeros({INT64_MAX, 4}, f32), {4}); },
     "a tile of [9223372036854775807, 4] has more than 68719476736 elements",
     "let each program take a part, or take one part after another in a loop"},
    {__LINE__, [] { Index(scalar("s", i64)) + Index(constant(1.5, f64)); },
     "the scalar used as an index is f64, but must be an integer", "cast(x, i64) makes it one"},
    {__LINE__, [] { Index() + 1; }, "+ got an empty Index", "give it a value first"},
    {__LINE__, [] { Index i = constant(1.5, f64); },
     "the scalar used as an index is f64, but must be an integer", "cast(x, i64) makes it one"},
};

const Mistake control[] = {
    {__LINE__, [] { forLoop(0, 4, 0, [](Index) {}); }, "the step of the loop is 0",
     "it may be negative, but not 0"},
    {__LINE__,
     [] { forLoop(0, 4, 1, zeros({4}, f32), [](Index, Tile) { return zeros({5}, f32); }); },
     "the body of the loop returns f32[5] as value 0, but f32[4] is carried",
     "a body returns what it is given: cast, reshape or broadcast the value, or the one that is "
     "carried in"},
    {__LINE__,
     [] {
       Tile inner;
       forLoop(0, 4, 1, [&](Index) { inner = zeros({4}, f32); });
     },
     "a variable from outside of the body of the loop is assigned in it",
     "the body runs many times or not at all, but is traced once: return the value from it (a loop "
     "takes it as a carried value)"},
    {__LINE__,
     [] {
       Tile sum = zeros({4}, f32);
       forLoop(0, 4, 1, [&](Index) { sum += 1; });
     },
     "a variable from outside of the body of the loop is assigned in it",
     "the body runs many times or not at all, but is traced once: return the value from it (a loop "
     "takes it as a carried value)"},
    {__LINE__,
     [] {
       std::vector<Tile> kept;
       forLoop(0, 4, 1, [&](Index) { kept.push_back(zeros({4}, f32)); });
       kept[0] + 1;
     },
     "tile f32[4] of FILE:LINE belongs to the body of the loop at FILE:LINE, "
     "which has ended",
     "return it from there: forLoop and ifThenElse give back what their bodies return"},
    {__LINE__, [] { ifThenElse(scalar("s", i64), [] {}, [] {}); },
     "the condition of ifThenElse is i64, but must be i1", "compare it: x != 0"},
    {__LINE__,
     [] {
       ifThenElse(scalar("s", i1), [] { return zeros({4}, f32); }, [] { return zeros({4}, f16); });
     },
     "ifThenElse: value 0 is f32[4] from the first branch, but f16[4] from the second",
     "both must be equal: cast, reshape or broadcast one of them"},
    {__LINE__,
     [] {
       Buffers b;
       store(b.y, {b.m, 0}, b.row);
       forLoop(
           0, 4, 1, b.row, [](Index, Tile x) { return x; }, [](Tile x, Tile y) { return x + y; });
     },
     "this loop has a combine, but memory is written or a check made at FILE:LINE",
     "a loop with combine may be run in parts: it stands outside of other loops and branches, one "
     "in a kernel, with no store, scatter or check before or in it"},
    {__LINE__,
     [] {
       Buffers b;
       auto add = [](Tile x, Tile y) { return x + y; };
       forLoop(0, 4, 1, b.row, [](Index, Tile x) { return x; }, add);
       forLoop(0, 4, 1, b.row, [](Index, Tile x) { return x; }, add);
     },
     "this loop has a combine, as the one at FILE:LINE has",
     "a loop with combine may be run in parts: it stands outside of other loops and branches, one "
     "in a kernel, with no store, scatter or check before or in it"},
    {__LINE__,
     [] {
       Tile zero = zeros({4}, f32);
       forLoop(0, 4, 1, [&](Index) {
         forLoop(
             0, 4, 1, zero, [](Index, Tile x) { return x; }, [](Tile x, Tile y) { return x + y; });
       });
     },
     "this loop has a combine, but stands in the body of the loop",
     "a loop with combine may be run in parts: it stands outside of other loops and branches, one "
     "in a kernel, with no store, scatter or check before or in it"},
    {__LINE__,
     [] {
       Buffers b;
       forLoop(
           0, 4, 1, b.row,
           [&](Index, Tile x) {
             store(b.y, {b.m, 0}, x);
             return x;
           },
           [](Tile x, Tile y) { return x + y; });
     },
     "a store in a loop with combine",
     "a loop with combine may be run in parts: it stands outside of other loops and branches, one "
     "in a kernel, with no store, scatter or check before or in it"},
};

TEST(Errors, Outputs) { expectAll(outputs, __FILE__); }
TEST(Errors, Quotients) { expectAll(quotients, __FILE__); }
TEST(Errors, Declarations) { expectAll(declarations, __FILE__); }
TEST(Errors, Sizes) { expectAll(sizes, __FILE__); }
TEST(Errors, Control) { expectAll(control, __FILE__); }

} // namespace
