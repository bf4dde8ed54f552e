// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attention and its gradients read, and the blocks of scores that their kernels compute.
#pragma once
#include "Kernels/Constraint.h"
#include "Kernels/KernelFrame.h"

namespace tw::kernels {

/// score[b, l, s] = scale q[b, l, :] . k[b, s, :]
struct AttentionInputs {
  std::vector<Extent> dims;
  std::vector<BufferSpec> buffers;
  Access query, key, value;
  // Of i1: which scores may be seen. Of numbers: what is added to them.
  std::optional<Access> mask = {};
  // Among `dims`; all others are the batch.
  int queries = 0, keys = 1, depth = 2, width = 3;
  double scale = 1;
  bool isCausal = false; // query l sees keys s <= l
  kernel::DType sum = kernel::f32;

  /// 16-bit operands, which are multiplied as they are, without the scale.
  bool isNarrow() const { return buffers[query.buffer].dtype != sum; }
  std::vector<int *> roles() { return {&queries, &keys, &depth, &width}; }
};

/// Takes the dimensions out that none of the accesses, nor a role, runs along.
void dropUnusedDims(AttentionInputs &inputs, std::vector<Access *> accesses);

/// Why attention cannot be written, or empty.
std::string refuse(const AttentionInputs &inputs);

/// What any target asks of a block of scores, over the fields "queries" and "keys" and `size`, how
/// many scores it has.
std::vector<Constraint> scoreConstraints(const AttentionInputs &inputs, const char *size);

/// How the scores of a block lie: queries along one axis and keys along the other one.
struct ScoreBlock {
  const AttentionInputs &inputs;
  bool isTransposed;     // keys x queries
  std::vector<int> rows; // the dimensions that make up the axis of queries, innermost last

  int queryAxis() const { return isTransposed ? 1 : 0; }
  int keyAxis() const { return isTransposed ? 0 : 1; }
  /// How many queries a block has, with their groups.
  kernel::Size count(const KernelFrame &at) const;
  /// A shape with the queries along their axis, and `inner` along the other.
  kernel::Shape shape(const KernelFrame &at, const kernel::Size &inner) const;

  /// A tensor as a matrix with queries along their axis, and `inner` along the other.
  kernel::Tile matrix(const KernelFrame &at, const Access &access, int inner) const;
  /// One number for each query.
  kernel::Tile vector(const KernelFrame &at, const Access &access) const;

  /// Which scores of a block may not be seen.
  struct Hidden {
    bool beyondEnd = false, later = false; // keys after the last one; those after the query
  };
  /// With the mask, and -inf for what is hidden.
  kernel::Tile masked(const KernelFrame &at, kernel::Tile scores, Hidden hidden) const;
  /// A mask may hide all keys from a query.
  bool mayHideAll() const { return inputs.mask.has_value(); }
  /// Keeps -inf - -inf, which is NaN, out of exponents.
  kernel::Tile finite(const kernel::Tile &most, bool mayBeEmpty) const;

private:
  kernel::Tile places(const KernelFrame &at) const;
};

} // namespace tw::kernels
