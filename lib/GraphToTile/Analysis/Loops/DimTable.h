// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loop dimensions of several operations are the same. Reshapes between the operations make
// one dimension of some several ones of others, so a dimension may be the row-major sequence of
// others: 768 becomes 12 x 64 when a value goes through a view [.., 768] -> [.., 12, 64].
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace tw::conversion {

class DimTable {
public:
  /// A new dimension; no size: known when the kernel is called.
  int make(std::optional<int64_t> size);
  /// Says that two sequences run over the same elements in the same order. False when they cannot
  /// be cut into the same pieces.
  bool unify(std::vector<int> a, std::vector<int> b);
  /// The pieces that a sequence is made of now, without those of size 1.
  std::vector<int> atoms(const std::vector<int> &dims) const;
  std::optional<int64_t> size(int atom) const { return entries[atom].size; }

private:
  struct Entry {
    int same; // itself, or another entry that it is the same as
    std::optional<int64_t> size;
    std::vector<int> parts = {};
  };
  int find(int dim) const;
  void resolve(int dim, std::vector<int> &out) const;
  /// Makes `outer` the first part of the atom `whole`; gives the rest.
  int split(int whole, int outer);
  bool setParts(int whole, std::vector<int> parts);

  std::vector<Entry> entries;
};

} // namespace tw::conversion
