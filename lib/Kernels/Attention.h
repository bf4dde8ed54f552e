// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled dot-product attention in one pass over the keys, with a running maximum and sum of each
// query (Dao, "FlashAttention-2", 2023). A program has a block of queries and walks over blocks of
// keys; of grouped queries, which share keys and values, it may have several groups.
#pragma once
#include "Kernels/AttentionInputs.h"
#include "Kernels/Configuration.h"

namespace tw::kernels {

/// o[b, l, :] = the sum over s of softmax(scale q[b, l, :] . k[b, s, :])[s] * v[b, s, :].
struct Attention : AttentionInputs {
  Access output;
  std::optional<Access> logSumExp = {}; // log of the sum of exp(score) of each query
};

/// Takes the dimensions out that nothing runs along.
void dropUnusedDims(Attention &attention);

struct AttentionConfiguration {
  int64_t queries = 64, keys = 64; // of a block
  int64_t groups = 1;              // of queries that share keys, in a program
  int64_t queryPrograms = 1;       // that follow each other on one worker
  bool isTransposed = false;       // scores lie as keys x queries: vectors run along queries
  bool splitsKeys = false;         // workers may share the loop over keys
  bool isOneLoop = false;          // over all blocks, which looks for hidden keys in each
  bool operator==(const AttentionConfiguration &) const = default;
};

/// Its fields, "attention".
const ConfigurationSchema &attentionSchema();
Numbers numbersOf(const AttentionConfiguration &configuration);
AttentionConfiguration attentionFrom(const Numbers &fields);

/// The dimension of groups: the innermost one that queries have and keys and values have not.
std::optional<int> groupDim(const Attention &attention);

/// What any target asks of a configuration of this attention, over its fields.
std::vector<Constraint> attentionConstraints(const Attention &attention);

/// The kernel; to be called while it is traced.
void writeAttention(const Attention &attention, const AttentionConfiguration &configuration);

} // namespace tw::kernels
