// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbols of a kernel from the arguments of a call: docs/tile-programs.md, "Binding". No MLIR: the
// interpreter, the host side of compiled kernels and calls in models keep the same rules.
#pragma once
#include "Support/DType.h"
#include "Support/Diagnostic.h"
#include "Support/Size.h"
#include <span>
#include <string>
#include <vector>

namespace tw {

enum class KernelAccess : uint8_t { In, Out, InOut, Scalar };

/// An argument of a kernel, in the order of its text.
struct KernelArgument {
  std::string name;
  KernelAccess access = KernelAccess::In;
  DType dtype = DType::F32; // of the elements, or of the scalar (index: i64)
  std::vector<Size> sizes;  // of a buffer
  std::string symbol;       // the symbol that a scalar is, or empty

  bool isBuffer() const { return access != KernelAccess::Scalar; }
  /// Whether a call gives its value; an `out` is only made.
  bool isGiven() const { return access != KernelAccess::Out; }
  bool isResult() const { return access == KernelAccess::Out || access == KernelAccess::InOut; }
};

struct KernelSymbol {
  std::string name;
  int64_t min = 0, max = INT64_MAX, multiple = 1;
};

/// A size in the body of a kernel that some calls do not have.
struct KernelSize {
  Size size;
  bool isExtent = false; // of a tile: it must not be negative either
  std::string place;     // of the operation that has it
};

/// A tile in the body of a kernel whose number of elements some calls may make too large.
struct KernelTile {
  std::vector<Size> extents;
  std::string place;
};

/// What a caller must know of a kernel.
struct KernelSignature {
  std::string name;
  std::vector<KernelArgument> arguments;
  std::vector<KernelSymbol> symbols;
  std::vector<Size> grid;
  std::vector<KernelSize> sizes = {}; // that may divide by 0, or be negative where they must not
  std::vector<KernelTile> tiles = {}; // with extents that depend on symbols
};

/// A size, or an integer, of which nothing is known before the call runs.
constexpr int64_t unknownSize = INT64_MIN;

/// What a call gives for one argument; of an `out` nothing is looked at.
struct GivenArgument {
  DType dtype = DType::F32;
  std::vector<int64_t> sizes; // of a buffer; empty for a scalar
  int64_t integer = 0;        // the value of an integer scalar
};

/// A call's symbols, and what follows from them.
struct BoundKernel {
  Size::Values symbols;
  std::vector<std::vector<int64_t>> sizes; // of every argument, `out` included
  std::vector<int64_t> grid;
};

/// The error for as many tensors as the kernel does not take.
Diagnostic wrongCount(const KernelSignature &kernel, size_t given);

/// Binds the symbols: equations are solved, then all are checked. `given` has one element for each
/// argument. Errors: INTERPRETER_1 (dtypes, ranks, a missing or superfluous argument),
/// INTERPRETER_2 (sizes that contradict each other or the kernel), INTERPRETER_3 (a symbol outside
/// of what the kernel allows).
Result<BoundKernel> bindKernel(const KernelSignature &kernel, std::span<const GivenArgument> given);

/// The same before a call runs: what is given may be unknownSize, and then so is what depends on
/// it; symbols that are unknown are left out. All that is known is checked.
Result<BoundKernel> bindKnown(const KernelSignature &kernel, std::span<const GivenArgument> given);

} // namespace tw
