// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled dot-product attention in one pass over the keys, with a running maximum and sum of each
// query (Dao, "FlashAttention-2", 2023). A program has a block of queries and walks over blocks of
// keys; of grouped queries, which share keys and values, it may have several groups.
#pragma once
#include "Kernels/Access.h"
#include "Kernels/Configuration.h"

namespace tw::kernels {

/// o[b, l, :] = the sum over s of softmax(scale q[b, l, :] . k[b, s, :])[s] * v[b, s, :].
struct Attention {
  std::vector<Extent> dims;
  std::vector<BufferSpec> buffers;
  Access query, key, value, output;
  // Of i1: which scores may be seen. Of numbers: what is added to them.
  std::optional<Access> mask;
  std::optional<Access> logSumExp; // log of the sum of exp(score) of each query
  // Among `dims`; all others are the batch.
  int queries = 0, keys = 1, depth = 2, width = 3;
  double scale = 1;
  bool isCausal = false; // query l sees keys s <= l
  kernel::DType sum = kernel::f32;
};

/// Takes the dimensions out that nothing runs along.
void dropUnusedDims(Attention &attention);

struct AttentionConfiguration {
  int64_t queries = 64, keys = 64; // of a block
  int64_t groups = 1;              // of queries that share keys, in a program
  int64_t queryPrograms = 1;       // that follow each other on one worker
  bool isTransposed = false;       // scores lie as keys x queries: vectors run along queries
  bool splitsKeys = false;         // workers may share the loop over keys
  bool operator==(const AttentionConfiguration &) const = default;
};

/// Its fields, "attention".
const ConfigurationSchema &attentionSchema();
Numbers numbersOf(const AttentionConfiguration &configuration);
AttentionConfiguration attentionFrom(const Numbers &fields);

/// Why an attention cannot be written, or empty.
std::string refuse(const Attention &attention);

/// The dimension of groups: the innermost one that queries have and keys and values have not.
std::optional<int> groupDim(const Attention &attention);

/// What any target asks of a configuration of this attention, over its fields.
std::vector<Constraint> attentionConstraints(const Attention &attention);

/// The kernel; to be called while it is traced.
void writeAttention(const Attention &attention, const AttentionConfiguration &configuration);

} // namespace tw::kernels
