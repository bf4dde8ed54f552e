// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known at one point of a kernel while it is planned: which tiles are placed, which
// accesses are inside their buffers. Planning goes through the kernel as the emission will, in the
// same order and version by version, so that this is what will be true there.
#pragma once
#include "Target/CPU/Plan/Analysis/ConstantElements.h"
#include "Target/CPU/Plan/Analysis/Expressions.h"
#include "Target/CPU/Plan/Analysis/KnownScalars.h"
#include "Target/CPU/Plan/Plan.h"

namespace tw::target::cpu {

/// Where a tile is: in memory (`room`, 0: not; tiles that share it have the same one), in registers
/// of `lanes` (0: not; 1: scalars), or both; or in memory, having left registers to others.
struct TileState {
  unsigned room = 0, lanes = 0;
  bool hasLeftRegisters = false;
};

struct Scene {
  Scene(tile::KernelOp kernel, const CpuFeatures &cpu)
      : kernel(kernel), cpu(cpu), scalars(kernel), elements(kernel.getLoc(), scalars, cpu) {}
  Scene(const Scene &) = delete;

  mutable tile::KernelOp kernel;
  const CpuFeatures &cpu;
  const Cancellation *cancellation = nullptr;
  KnownScalars scalars;
  ConstantElements elements;
  llvm::DenseSet<mlir::Value> nonTemporal;

  llvm::DenseMap<mlir::Value, TileState> tiles;
  llvm::DenseSet<Access> inside;
  llvm::DenseMap<Access, int64_t> lines; // slopes of positions that are a line
  llvm::DenseSet<mlir::Value> ready;     // scalars that have a value
  bool isBoundary = false;
  bool multipliesPairs = false; // of bf16, by any product of the kernel
  /// What loops and branches behind use, or what is made of it where that is used.
  llvm::DenseSet<mlir::Operation *> usedInside;
  /// Bytes of the widest element behind a tile, up to what is loaded, wherever tiles are placed.
  llvm::DenseMap<mlir::Value, int64_t> widestBehind;
  /// Whether anything that is worth keeping is behind a tile, up to what is loaded, wherever tiles
  /// are placed.
  llvm::DenseMap<mlir::Value, bool> hasKeptBehind;
  /// Whether any tile has been in registers of several lanes, or has left registers, so far.
  bool hasVectors = false, hasLeftRegisters = false;
  /// By store: the tile that is kept where it stores.
  llvm::DenseMap<mlir::Operation *, mlir::Value> keptInOutputs;
  /// By store: those that it is in one loop with.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<tile::StoreOp>> storeGroups;

  TileState stateOf(mlir::Value tile) const { return tiles.lookup(tile); }
  bool isInMemory(mlir::Value tile) const { return stateOf(tile).room != 0; }
  bool isInRegisters(mlir::Value tile) const { return stateOf(tile).lanes != 0; }
  bool isPlaced(mlir::Value tile) const { return tiles.contains(tile); }
  auto placed() const {
    return [this](mlir::Value tile) { return isPlaced(tile); };
  }
  unsigned newRoom() { return ++rooms; }
  void putInMemory(mlir::Value tile, unsigned room) { tiles[tile].room = room; }
  void putInMemory(mlir::Value tile) { putInMemory(tile, newRoom()); }
  void putInRegisters(mlir::Value tile, unsigned lanes) {
    tiles[tile].lanes = lanes;
    hasVectors |= lanes > 1;
  }
  void leaveRegisters(mlir::Value tile) {
    tiles[tile].lanes = 0;
    tiles[tile].hasLeftRegisters = hasLeftRegisters = true;
  }

  bool shouldMaterialize(mlir::Value tile) const {
    auto known = hasKeptBehind.find(tile); // long expressions are not gone through in vain
    return (known == hasKeptBehind.end() || known->second) &&
           cpu::shouldMaterialize(tile, placed(), cpu);
  }
  bool isComputed(mlir::Value tile, bool fromConstants = false) const {
    return cpu::isComputed(tile, placed(), fromConstants);
  }
  bool looksUp(mlir::Value tile) const { return cpu::looksUp(tile, placed()); }

private:
  unsigned rooms = 0;
};

/// Forgets what is placed in a region that ends.
class SceneScope {
public:
  explicit SceneScope(Scene &scene) : scene(scene), tiles(scene.tiles) {}
  ~SceneScope() { scene.tiles = std::move(tiles); }

private:
  Scene &scene;
  llvm::DenseMap<mlir::Value, TileState> tiles;
};

} // namespace tw::target::cpu
