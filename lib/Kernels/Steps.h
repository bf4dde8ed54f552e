// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler's own kernels compute, as data: steps over loop dimensions that all of them
// share. Describe.h reads it off a dispatch; Rows.h and Contraction.h write it in the kernel
// language.
#pragma once
#include "tilewright/Kernel.h"
#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tw::kernels {

/// A number, or a symbol that calls bring.
struct Extent {
  std::optional<int64_t> size;
  std::string symbol = {};
  bool operator==(const Extent &) const = default;
};

/// One axis of a buffer as a loop reads it: element offset + stride * (place along `dim`).
struct Axis {
  int dim = -1; // -1: only the element `offset`
  int64_t offset = 0, stride = 1;
  std::vector<std::pair<int, int64_t>> places = {}; // scalars that the offset has besides, times
  std::vector<std::pair<int, int64_t>> shifts = {}; // places along dimensions of a fold, likewise
  bool isPart = false;                              // `dim` may end before the axis does
  bool operator==(const Axis &) const = default;
};

struct BufferSpec {
  std::string name;
  kernel::DType dtype;
  std::vector<Extent> shape;
  bool isOutput = false;
};

struct Access {
  int buffer = -1;
  std::vector<Axis> axes; // one for each axis of the buffer; no dimension twice

  bool covers(int dim) const {
    return std::any_of(axes.begin(), axes.end(), [&](const Axis &axis) { return axis.dim == dim; });
  }
};

struct Step {
  enum class Kind {
    Load,       // access; operands {what lies outside}, if anything does
    Number,     // number
    Argument,   // argument: a scalar that calls bring
    Size,       // dims[0]: its extent
    Coordinate, // dims[0]: the place along it
    Apply,      // name, predicate: an elementwise operation of tile programs on operands
    Reduce,     // name: sum, prod, max, min, argmax, argmin, any, all; along dims
    Scan,       // name: sum, prod, max, min; along dims[0], backwards if predicate says so
    Gather,     // access.buffer at positions that are operands
    Fold,       // a loop up to its Yield: over dims, element by element, or, `isRange`, from
                // operands[0] to [1] in steps of [2]; the other operands are the first states
    State,      // of the fold operands[0]: number `argument`; -1: the loop variable
    Yield,      // operands: the next states
    Result,     // of the fold operands[0], number `argument`: the last state
    Update,     // operands {value, positions...}: where access has no dimension it goes to the next
                // position; name: combines it with what is there, empty: replaces that
    Check,      // operands {position, bound}; name: the message
    Store,      // operands[0] to access
  };
  Kind kind;
  kernel::DType dtype = kernel::f32; // of the result
  std::vector<int> operands = {};    // numbers of earlier steps
  std::string name = {}, predicate = {};
  Access access = {};
  std::vector<int> dims = {};
  std::vector<int> along = {}; // dimensions that a fold's states extend along
  bool isRange = false;
  std::variant<bool, int64_t, double> number = false;
  int argument = 0;
};

/// Steps in order; a result extends along the dimensions that its operands extend along, less those
/// reduced.
struct LoopProgram {
  std::vector<Extent> dims;
  std::vector<BufferSpec> buffers;
  std::vector<kernel::DType> scalars;
  std::vector<Step> steps;
  std::vector<int> singles; // dimensions of which a program takes one element
};

/// The dimensions that the result of each step extends along.
std::vector<std::vector<int>> extentsOf(const std::vector<Step> &steps);

/// c = a b: dimensions of c that only a has are rows, that only b has are columns, that both have
/// are the batch; those that c has not are summed over.
struct Contraction {
  std::vector<Extent> dims;
  std::vector<BufferSpec> buffers; // a, b, c
  Access a, b, c;
  kernel::DType sum = kernel::f32; // in which it is summed up: c's dtype
};

/// Takes the dimensions out that nothing runs along.
void dropUnusedDims(LoopProgram &program);
void dropUnusedDims(Contraction &product);

/// Puts outputs behind the inputs, as calls bring them; gives the former number of each buffer.
std::vector<int> putOutputsLast(LoopProgram &program);

} // namespace tw::kernels
