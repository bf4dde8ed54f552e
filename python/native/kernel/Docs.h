// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What help() says of the language's functions: shapes, dtypes, errors. All mistakes are
// KernelErrors, raised in the author's line.
#pragma once
#include <string_view>
#include <utility>

namespace tw::python::kernel {

constexpr std::pair<std::string_view, const char *> docs[] = {
    {"minimum",
     "The smaller of a and b, element by element; NaN where either is. Of sizes and indices, too."},
    {"maximum",
     "The larger of a and b, element by element; NaN where either is. Of sizes and indices, too."},
    {"fma", "a * b + c of floats, rounded once. Shapes broadcast; dtypes must be equal."},
    {"select", "a where condition (i1) is true, else b. Shapes broadcast; a and b have one dtype."},
    {"cast", "x in another dtype: floats to integers truncate and saturate, to i1 means != 0. "
             "dtype may be a variable."},
    {"cast_signed", "x in another dtype in one step, integers on either side read as signed: i1 is "
                    "0 and -1. To i1: the lowest bit."},
    {"cast_unsigned", "x in another dtype in one step, integers on either side read as numbers "
                      "without a sign: i1 is 0 and 1. To i1: the lowest bit."},
    {"compare",
     "Comparisons that have no operator, as i1. Of floats, true where either is NaN: "
     "\"ueq\", \"ult\", \"ule\", \"ugt\", \"uge\"; \"one\": different, and neither is NaN; "
     "\"ord\", \"uno\": whether neither or either is NaN. Of integers \"ult\" to \"uge\" "
     "read the bits as numbers without a sign."},
    {"cdiv", "ceil(a / b) of sizes, indices and ints; b must be positive."},
    {"transpose", "A tile with its dimensions in another order; without a permutation the last two "
                  "change places."},
    {"dot", "The product of matrices [M, K] and [K, N], or of batches of them, with acc added. "
            "Floats sum in f32, or f64; i8 "
            "and u8 in i32. a @ b is dot(a, b)."},
    {"slice", "The part of a tile of these extents from offsets on, every strides-th element: "
              "ints, known while tracing."},
    {"reshape", "The same elements in the same order with another shape; the number of elements "
                "must be equal."},
    {"broadcast", "A tile repeated to a shape; extents must be equal or 1."},
    {"keep",
     "x itself, computed once and kept for all of its uses, before the loops that they are in. "
     "An expression may otherwise be computed anew for each of them."},
    {"extract", "The element of a tile of one element, as a scalar."},
    {"full", "A tile of one value. dtype: that of value, if it has one."},
    {"zeros", "A tile of zeros."},
    {"constant", "A number as a scalar of a dtype."},
    {"iota", "start, start + 1, ... along an axis of a tile; dtype is i64 if none is given."},
    {"load", "The tile of a buffer at positions, of these extents, one of each for each dimension. "
             "Elements outside of the "
             "buffer, or where mask (i1) is false, are pad (0). strides: steps between elements."},
    {"store",
     "Writes a tile at positions of an Out or InOut buffer; what lies outside is an error of check "
     "unless drop. "
     "mask: where it is written. atomic: \"add\", \"max\", \"min\" combine with what is there."},
    {"gather", "Elements of a buffer at positions that are tiles of integers, one tile for each "
               "dimension, which broadcast. "
               "Outside, or where mask is false, pad (0)."},
    {"scatter", "Writes elements at positions that are tiles of integers; see store. Without "
                "atomic no two may be the same."},
    {"check", "Ends the call with an error where a position is not in [0, size); %lld in message "
              "stands for position and "
              "size. Gives the positions, made safe."},
    {"grid", "The programs of a launch: a number, or size of symbols, for each of up to three "
             "dimensions. Gives the index of "
             "the program in each. Once in a kernel, before anything else."},
    {"program_id", "The index of this program in one dimension of the grid."},
    {"hint", "A wish about the launch, by name; it never changes results."},
    {"symbol", "A size that calls give: from min to max, a multiple of a number, which each call "
               "is checked for."},
    {"sum",
     "The sum along an axis; f16 and bf16 sum in f32. keepdim: the axis stays, with extent 1."},
    {"prod", "The product along an axis."},
    {"max", "The largest element along an axis; NaN if there is one."},
    {"min", "The smallest element along an axis; NaN if there is one."},
    {"argmax", "The position (i64) of the largest element along an axis, the first of equals."},
    {"argmin", "The position (i64) of the smallest element along an axis, the first of equals."},
    {"any", "Whether one element (i1) along an axis is true."},
    {"all", "Whether all elements (i1) along an axis are true."},
    {"cumsum", "Sums of all elements up to each along an axis; reverse: from each on."},
    {"cumprod", "Products of all elements up to each along an axis; reverse: from each on."},
    {"cummax", "The largest element up to each along an axis; reverse: from each on."},
    {"cummin", "The smallest element up to each along an axis; reverse: from each on."},
    {"sort", "Stable; gives the values and where along the axis they were. NaN is greater than "
             "every number. first (0: all): how many are kept."},
    {"pow", "a to the power of b, element by element, of floats. a ** b is the same."},
    {"atan2", "The angle of the point (b, a), element by element, of floats."},
    {"copysign", "a with the sign of b, element by element, of floats."},
    {"div", "a / b of integers, rounded toward 0, element by element; a / 0 is 0."},
    {"minimum_number", "The smaller of a and b, of floats; a number wins over NaN."},
    {"maximum_number", "The larger of a and b, of floats; a number wins over NaN."},
    {"div_unsigned", "a / b of integers whose bits are read as numbers without a sign."},
    {"rem_unsigned", "The remainder of div_unsigned(a, b)."},
    {"minimum_unsigned", "The smaller of integers whose bits are read as numbers without a sign."},
    {"maximum_unsigned", "The larger of integers whose bits are read as numbers without a sign."},
    {"shift_right_unsigned", "a >> b of integers, filled with zeros from above."},
    {"rem", "The remainder of div(a, b), with the sign of a; of floats as C's fmod."},
};

/// Null for a name that is not there.
constexpr const char *docOf(std::string_view name) {
  for (const auto &[known, text] : docs)
    if (known == name)
      return text;
  return nullptr;
}

} // namespace tw::python::kernel
