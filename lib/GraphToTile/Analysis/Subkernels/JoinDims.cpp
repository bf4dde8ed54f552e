// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Subkernels/JoinDims.h"
#include <algorithm>
#include <numeric>
#include <set>

using namespace mlir;

namespace tw::conversion {

static std::vector<int> list(ArrayRef<int> dims) { return {dims.begin(), dims.end()}; }

JoinedDims::JoinedDims(LoopNests &nests, bool keepsAxes) : nests(nests) {
  collect(nests, keepsAxes);
  join();
  sort();
}

void JoinedDims::collect(LoopNests &nests, bool keepsAxes) {
  for (auto &[value, axes] : nests.results) {
    Sequence &sequence = sequences.emplace_back();
    for (int axis : axes) {
      llvm::append_range(sequence, nests.table.atoms({axis}));
      if (keepsAxes)
        sequence.push_back(-1);
    }
  }
  for (OpLoops &nest : nests.ops) {
    sequences.push_back(nests.table.atoms(list(nest.loops)));
    // Loops of one op need not stand in the order of memory.
    Sequence loops = std::move(sequences.back());
    sequences.pop_back();
    kinds.push_back(loops);
    kinds.push_back(nests.table.atoms(nest.reduced));
    if (isa<graph::ConvOp>(nest.op)) // a program has a block of its places
      for (int atom : nests.table.atoms(list(nest.loops)))
        sequences.push_back({-1, atom, -1});
    if (auto attention = dyn_cast<graph::AttentionInterface>(nest.op))
      for (size_t dim = attention.batchDims(); dim < nest.loops.size(); ++dim)
        for (int atom : nests.table.atoms({nest.loops[dim]}))
          sequences.push_back({-1, atom, -1});
    nest.op->walk([&](linalg::IndexOp index) {
      // A place along a dimension is asked for, so it stays by itself.
      for (int atom : nests.table.atoms({nest.loops[index.getDim()]}))
        sequences.push_back({-1, atom, -1});
    });
    for (auto &operand : nest.operands)
      if (operand && operand->isInMemory)
        addMap(operand->axes);
  }
  for (const InsertSliceChain &chain : nests.chains) {
    addMap(chain.axes);
    if (chain.scatter) {
      kinds.push_back(nests.table.atoms(list(chain.scatter->loops)));
      kinds.push_back(nests.table.atoms(chain.scatter->reduced));
      for (int loop : chain.scatter->loops) // positions are asked for
        for (int atom : nests.table.atoms({loop}))
          sequences.push_back({-1, atom, -1});
      for (auto &operand : chain.scatter->operands)
        if (operand && operand->isInMemory)
          addMap(operand->axes);
    }
    if (chain.baseMap && chain.baseMap->isInMemory)
      addMap(chain.baseMap->axes);
    for (const InsertSliceChain::Part &part : chain.parts) {
      kinds.push_back(nests.table.atoms(list(part.loops)));
      addMap(part.axes);
      if (part.map && part.map->isInMemory)
        addMap(part.map->axes);
    }
  }
}

void JoinedDims::addMap(ArrayRef<AxisMap> axes) {
  Sequence sequence;
  for (const AxisMap &axis : axes) {
    for (auto [loop, factor] : axis.dimTerms)
      for (int atom : nests.table.atoms({loop}))
        sequences.push_back({-1, atom, -1});
    if (!axis.isPlain())
      sequence.push_back(-1);
    for (int atom : nests.table.atoms(list(axis.dims)))
      sequence.push_back(atom);
    if (!axis.isPlain())
      sequence.push_back(-1);
  }
  sequences.push_back(sequence);
}

/// What follows an atom wherever it is: -1 if nothing does or not the same.
static std::map<int, int> neighbours(const std::vector<std::vector<int>> &sequences, bool after) {
  std::map<int, int> next;
  for (std::vector<int> sequence : sequences) {
    if (!after)
      std::reverse(sequence.begin(), sequence.end());
    for (size_t i = 0; i < sequence.size(); ++i)
      if (sequence[i] >= 0) {
        int follower = i + 1 < sequence.size() ? sequence[i + 1] : -1;
        auto [it, isNew] = next.try_emplace(sequence[i], follower);
        if (!isNew && it->second != follower)
          it->second = -1;
      }
  }
  return next;
}

void JoinedDims::join() {
  std::map<int, int> next = neighbours(sequences, true), previous = neighbours(sequences, false);
  std::set<int> all;
  for (const Sequence &sequence : sequences)
    all.insert(sequence.begin(), sequence.end());
  for (const Sequence &kind : kinds)
    all.insert(kind.begin(), kind.end());
  all.erase(-1);
  auto together = [&](int a, int b) {
    return std::all_of(kinds.begin(), kinds.end(), [&](const Sequence &kind) {
      return llvm::is_contained(kind, a) == llvm::is_contained(kind, b);
    });
  };
  auto follower = [&](int atom) {
    int after = next.contains(atom) ? next[atom] : -1;
    return after >= 0 && after != atom && previous[after] == atom && together(atom, after) ? after
                                                                                           : -1;
  };
  std::set<int> inside;
  for (int atom : all)
    if (int after = follower(atom); after >= 0)
      inside.insert(after);
  for (int atom : all) {
    if (inside.contains(atom))
      continue;
    std::vector<int> chain = {atom};
    for (int after = follower(atom); after >= 0; after = follower(after))
      chain.push_back(after);
    members.push_back(chain);
  }
}

void JoinedDims::sort() {
  for (size_t dim = 0; dim < members.size(); ++dim)
    for (int atom : members[dim])
      dimOf[atom] = int(dim);
  // The longest first, in their order.
  std::map<std::pair<size_t, size_t>, std::vector<int>> walks;
  for (auto [number, sequence] : llvm::enumerate(sequences)) {
    Sequence atoms;
    llvm::copy_if(sequence, std::back_inserter(atoms), [](int atom) { return atom >= 0; });
    std::vector<int> walk = of(atoms);
    walks[{members.size() - std::min(members.size(), walk.size()), number}] = walk;
  }
  std::vector<int> order;
  for (auto &[key, walk] : walks) {
    auto place = order.begin();
    for (int dim : walk) {
      auto found = std::find(order.begin(), order.end(), dim);
      place = found == order.end() ? order.insert(place, dim) + 1 : found + 1;
    }
  }
  for (int dim = 0; dim < int(members.size()); ++dim)
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  std::vector<std::vector<int>> sorted;
  for (int dim : order)
    sorted.push_back(members[dim]);
  members = std::move(sorted);
  dims.clear();
  for (size_t dim = 0; dim < members.size(); ++dim) {
    std::optional<int64_t> size = 1;
    for (int atom : members[dim]) {
      dimOf[atom] = int(dim);
      auto own = nests.table.size(atom);
      size = size && own ? std::optional(*size * *own) : std::nullopt;
    }
    dims.push_back({size, size ? "" : "d" + std::to_string(dim)});
  }
}

std::vector<int> JoinedDims::of(const std::vector<int> &atoms) const {
  std::vector<int> out;
  for (size_t i = 0; i < atoms.size();) {
    int dim = dimOf.at(atoms[i]);
    out.push_back(dim);
    i += members[dim].size();
  }
  return out;
}

} // namespace tw::conversion
