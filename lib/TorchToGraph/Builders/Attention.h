// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all overloads of scaled dot-product attention and of its gradients begin with.
#pragma once
#include "TorchToGraph/Builders/Contract.h"

namespace tw::lower {

/// query [batch..., L, E], key [batch..., S, E], value [batch..., S, F]. With grouped queries the
/// query is [batch..., heads, group, L, E] and the letter of the group is absent from key and
/// value.
struct Attention {
  Tensor query, key, value;
  std::optional<Tensor> mask; // broadcasts against [query's batch..., L, S]
  bool isCausal = false, isGrouped = false;
  Scalar scale;

  /// "ABC": letters of the last `count` dimensions before the matrix.
  std::string batch(int64_t count) const {
    std::string letters = "ABCDEFGHIJKLMN";
    return letters.substr(letters.size() - count);
  }
  std::string queryLabels(const char *matrix) const { return batch(query.rank() - 2) + matrix; }
  std::string keyLabels(const Tensor &x, const char *matrix) const {
    if (!isGrouped)
      return batch(x.rank() - 2) + matrix;
    std::string letters = batch(x.rank() - 1);
    letters.pop_back();
    return letters + matrix;
  }
  /// Those of [batch..., L, S], in which query, key and value broadcast.
  std::string scoreLabels(const char *matrix) const {
    return batch(std::max({query.rank(), key.rank() + isGrouped, value.rank() + isGrouped}) - 2) +
           matrix;
  }
};

/// The arguments that all overloads have; refuses dropout. Where there are more heads of the query
/// than of the key, they are grouped.
Attention attentionArguments(Lowering &ctx, llvm::StringRef maskName);

/// Dimension -3 of x as [heads, its size / heads].
Tensor splitHeads(Lowering &ctx, const Tensor &x, mlir::OpFoldResult heads);
/// Dimensions `first` and `first` + 1 as one: heads and their groups.
Tensor mergeHeads(Lowering &ctx, const Tensor &x, int64_t first);

/// Operands of tw.attention and of its gradient, with the letters of their dimensions: query, key,
/// value, the mask if there is one.
llvm::SmallVector<Labelled> attentionOperands(const Attention &attention);

/// The output, and the log of the sum of exponentials of each query where that is asked for; both
/// with grouped heads.
struct Attended {
  Tensor output, logSumExp;
};
/// One tw.attention.
Attended attend(Lowering &ctx, const Attention &attention, bool wantsSums);

/// scale * query . key, -inf where masked out: [batch..., L, S] in opmath.
Tensor attentionScores(Lowering &ctx, const Attention &a);

} // namespace tw::lower
