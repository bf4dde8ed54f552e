// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose programs have blocks of rows: what one of them stores depends on the same rows of
// what the kernel before has stored. Such kernels can run one after the other in one program, block
// of rows by block of rows (Passes.td, tile-fuse-rows).
#pragma once
#include "IR/Tile/Tile.h"
#include <optional>
#include <string>
#include <vector>

namespace tw::tile {

/// How the programs of a kernel go through rows, the first dimension of buffers: program number p
/// along dimension `dim` of the grid has the rows from p * rows on.
struct RowBlocks {
  unsigned dim = 0;
  int64_t rows = 1;
  int64_t all = 1; // rows of the buffers
  bool operator==(const RowBlocks &) const = default;
};

/// The blocks of rows in which a kernel stores all its results. Fails with the reason in `why`.
std::optional<RowBlocks> rowBlocksOf(KernelOp kernel, std::string &why);

/// Whether each program of a kernel with these blocks reads of `buffer`, an input, its own rows
/// alone; else the reason is in `why`.
bool readsOwnRows(mlir::BlockArgument buffer, const RowBlocks &blocks, std::string &why);

/// A kernel of a chain, and which of its inputs the kernels before it have stored.
struct RowStage {
  struct Link {
    unsigned input;         // number of the argument of this kernel
    unsigned stage, output; // number of the stage, and of its kernel's argument
  };
  KernelOp kernel;
  RowBlocks blocks;
  std::vector<Link> links = {};

  bool isLinked(unsigned input) const {
    return llvm::any_of(links, [&](const Link &link) { return link.input == input; });
  }
};

/// One kernel that computes what the stages do, each of whose programs has `rows` rows, a multiple
/// of the rows of every stage. In no module yet. Its arguments are the inputs of all stages in
/// order, but for those that are linked, then the outputs of all stages, then the scalars of all.
mlir::OwningOpRef<KernelOp> fuseRows(llvm::ArrayRef<RowStage> stages, int64_t rows);

} // namespace tw::tile
