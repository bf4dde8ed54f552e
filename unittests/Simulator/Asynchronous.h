// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What works beside the threads of a block on a Hopper GPU: mbarriers, TMA, and products of warp
// groups. It is as late and as strict as the PTX ISA allows:
// - a tile that TMA loads arrives when nobody can run without it; until then its place holds NaN;
// - a tile that TMA stores is read as late;
// - a product is read when it is issued, and its operands may not change until it is waited for;
// - what threads write to shared memory TMA sees only behind a fence between the proxies.
#pragma once
#include "Block.h"
#include <deque>
#include <map>
#include <vector>

namespace tw::simulator {

/// A part of shared memory.
struct Range {
  int64_t begin, end;
  bool overlaps(const Range &other) const { return begin < other.end && other.begin < end; }
};

class Asynchronous {
public:
  Asynchronous(uint8_t *shared, int64_t bytes, uint32_t threads);

  /// Completes one pending operation; false if there is none.
  bool advance(bool newestFirst);
  /// Null, or what is wrong at the end of the block.
  const char *problemAtEnd() const;

  // As the operations of Block.h
  void initBarrier(int64_t address, int64_t arrivals);
  void arrive(int64_t address, int64_t count, int64_t expectedBytes);
  void waitForBarrier(int64_t address, int64_t parity);
  void loadTile(const int64_t *operands);
  void loadBytes(const int64_t *operands);
  void storeTile(uint32_t thread, const int64_t *operands);
  void commitStores(uint32_t thread);
  void waitForStores(uint32_t thread, int64_t pending);
  void fenceProxy(uint32_t thread);
  void storeMatrices(uint32_t thread, int64_t *operands);
  void fromLane(uint32_t thread, int64_t *operands);
  void fenceProducts(uint32_t thread);
  void multiply(uint32_t thread, int64_t *operands);
  void multiplyRegisters(uint32_t thread, int64_t *operands);
  void commitProducts(uint32_t thread);
  void waitForProducts(uint32_t thread, int64_t pending);
  void readSums(uint32_t thread, int64_t which);
  void changeRegisters(uint32_t thread, int64_t which);

private:
  struct Barrier {
    int64_t arrivals = 0, pending = 0, bytes = 0, phase = 0;
  };
  struct Load {
    const void *map; // null: bytes as they are
    int64_t from, barrier, coordinates[5];
    Range range;
  };
  struct Store {
    const void *map;
    int64_t from, coordinates[5];
    uint32_t thread;
    bool isCommitted = false;
    int64_t group = 0;
  };
  /// Threads that do something together: what each brings, until all have come.
  struct Meeting {
    std::vector<int64_t *> operands;
    uint32_t come = 0;
    int64_t round = 0;
  };
  /// Products that are not waited for: what they read, and which sums they make.
  struct Products {
    std::vector<Range> ranges;
    std::vector<int64_t> sums, registers;
  };
  struct WarpGroup {
    Meeting meeting;
    bool isFenced = false;
    Products issued; // not committed
    std::deque<Products> pending;
  };

  int64_t offsetOf(int64_t address) const;
  Barrier &barrierAt(int64_t address);
  void completePhase(Barrier &barrier);
  void beginLoad(const Load &load, int64_t alignment);
  /// Runs `work` once all threads of the meeting are there, on the last of them.
  template <typename Work>
  void meet(Meeting &meeting, uint32_t place, uint32_t count, int64_t *operands, Work work);
  const int64_t *beginProduct(const WarpGroup &group);
  void multiplyAll(WarpGroup &group);
  void multiplyAllRegisters(WarpGroup &group);
  std::vector<float> readOperand(WarpGroup &group, int64_t descriptor, int64_t count,
                                 bool isTransposed, Operands type);
  static void addProducts(WarpGroup &group, const std::vector<float> &a,
                          const std::vector<float> &b, int64_t columns, bool addsToSums);
  bool hasPending(uint32_t thread, std::vector<int64_t> Products::*member, int64_t which) const;
  bool isBeingRead(const Range &range) const;
  void checkReadable(const Range &range) const;

  uint8_t *shared;
  int64_t bytes;
  std::map<int64_t, Barrier> barriers;
  std::deque<Load> loads;
  std::deque<Store> stores;
  std::map<uint32_t, int64_t> storeGroups; // of a thread: those that it has committed
  std::vector<WarpGroup> groups;
  std::vector<Meeting> warps;
  std::vector<uint32_t> dirtyBy; // of 16 bytes each: 1 + the thread that has written them, or 0
  std::vector<std::vector<int64_t>> written; // by each thread since its last fence
};

} // namespace tw::simulator
