// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of scaled dot-product attention, for which scores are computed again, block by block
// (Dao, "FlashAttention-2", 2023, algorithm 4). A program has a block of queries and walks over
// blocks of keys for the gradient of the queries, or has a block of keys and walks over blocks of
// queries for those of keys and values. Where a block has all keys, it does both.
#pragma once
#include "Kernels/AttentionInputs.h"
#include "Kernels/Configuration.h"

namespace tw::kernels {

/// The gradients that are there; what one does not run along it is the sum over.
struct AttentionGradient : AttentionInputs {
  Access outputGradient;
  Access logSumExp; // of the forward pass
  Access delta;     // the sum of outputGradient * output for each query
  std::optional<Access> queryGradient = {};
  std::optional<Access> keyGradient = {}, valueGradient = {}; // which have the same batch

  bool hasQueries() const { return queryGradient.has_value(); }
  bool hasKeys() const { return keyGradient || valueGradient; }
};

/// Takes the dimensions out that nothing runs along.
void dropUnusedDims(AttentionGradient &gradient);

/// Takes the buffers out that nothing reads or writes; gives the former numbers of those that stay.
std::vector<int> dropUnusedBuffers(AttentionGradient &gradient);

/// The dimensions that a program sums over, beside those of the block it walks over.
std::vector<int> summedDims(const AttentionGradient &gradient);

/// Why gradients of queries and of keys cannot come of one kernel, or empty.
std::string whyNotTogether(const AttentionGradient &gradient);

struct AttentionGradientConfiguration {
  int64_t queries = 64, keys = 64; // of a block
  bool splitsLoop = false;         // workers may share the loop over what a program sums
  bool operator==(const AttentionGradientConfiguration &) const = default;
};

/// Its fields, "attention_gradient".
const ConfigurationSchema &attentionGradientSchema();
Numbers numbersOf(const AttentionGradientConfiguration &configuration);
AttentionGradientConfiguration attentionGradientFrom(const Numbers &fields);

/// What any target asks of a configuration of these gradients, over its fields.
std::vector<Constraint> attentionGradientConstraints(const AttentionGradient &gradient);

/// The kernel; to be called while it is traced.
void writeAttentionGradient(const AttentionGradient &gradient,
                            const AttentionGradientConfiguration &configuration);

} // namespace tw::kernels
