// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiles that code being emitted may use: what was loaded or computed before, here or around the
// loops that it is in.
#pragma once
#include "GraphToTile/Analysis/Subkernels/LoopProgram.h"

namespace tw::conversion {

class TileScopes {
public:
  TileScopes() { scopes.emplace_back(); }

  /// Enters a loop in which tiles have other elements of `dims` than around it.
  void enter(llvm::ArrayRef<int> dims) { scopes.push_back({{dims.begin(), dims.end()}, {}, {}}); }
  void leave() { scopes.pop_back(); }

  /// A tile that extends along `dims`, by a result; null if there is none.
  mlir::Value result(ResultRef result, llvm::ArrayRef<int> dims) const;
  void setResult(ResultRef result, mlir::Value tile) {
    scopes.back().results.push_back({result, tile});
  }

  mlir::Value loaded(const Access &access, mlir::Value pad) const;
  void setLoaded(const Access &access, mlir::Value pad, mlir::Value tile) {
    scopes.back().loads.push_back({access, pad, tile});
  }

private:
  struct Load {
    Access access;
    mlir::Value pad, tile;
  };
  struct Scope {
    std::vector<int> dims;
    std::vector<std::pair<ResultRef, mlir::Value>> results;
    std::vector<Load> loads;
    bool hasOther(llvm::ArrayRef<int> of) const {
      return llvm::any_of(of, [&](int dim) { return llvm::is_contained(dims, dim); });
    }
  };
  std::vector<Scope> scopes; // innermost last
};

} // namespace tw::conversion
