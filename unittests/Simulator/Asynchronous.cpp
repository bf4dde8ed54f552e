// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Asynchronous.h"
#include "TensorMap.h"
#include <algorithm>
#include <atomic>
#include <cstring>

namespace tw::simulator {

static constexpr uint32_t threadsOfWarp = 32, threadsOfGroup = 128;
static constexpr int64_t unitBytes = 16, rowsOfProduct = 64, bytesOfProduct = 32;
static constexpr uint8_t notArrived = 0xFF; // NaN, as 16-bit floats

Asynchronous::Asynchronous(uint8_t *shared, int64_t bytes, uint32_t threads)
    : shared(shared), bytes(bytes), groups((threads + threadsOfGroup - 1) / threadsOfGroup),
      warps((threads + threadsOfWarp - 1) / threadsOfWarp), dirtyBy(size_t(bytes / unitBytes + 1)),
      written(threads) {}

int64_t Asynchronous::offsetOf(int64_t address) const {
  int64_t offset = address - int64_t(reinterpret_cast<uintptr_t>(shared));
  if (offset < 0 || offset >= bytes)
    fail("an address is outside of shared memory");
  return offset;
}

//===--- mbarriers -------------------------------------------------------===//

Asynchronous::Barrier &Asynchronous::barrierAt(int64_t address) {
  auto found = barriers.find(offsetOf(address));
  if (found == barriers.end())
    fail("an mbarrier is used that was not initialized");
  return found->second;
}

void Asynchronous::initBarrier(int64_t address, int64_t arrivals) {
  barriers[offsetOf(address)] = {arrivals, arrivals, 0, 0};
}

void Asynchronous::completePhase(Barrier &barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0)
    return;
  barrier.pending = barrier.arrivals;
  ++barrier.phase;
  wakeOthers();
}

void Asynchronous::arrive(int64_t address, int64_t count, int64_t expectedBytes) {
  Barrier &barrier = barrierAt(address);
  barrier.bytes += expectedBytes;
  barrier.pending -= count;
  if (barrier.pending < 0)
    fail("more threads arrive at an mbarrier than it waits for");
  completePhase(barrier);
}

void Asynchronous::waitForBarrier(int64_t address, int64_t parity) {
  Barrier &barrier = barrierAt(address);
  // The phase with this parity has ended when the current one has the other.
  waitUntil([&] { return (barrier.phase & 1) != (parity & 1); });
}

//===--- TMA -------------------------------------------------------------===//

static const TensorMap &mapAt(int64_t address) {
  return *reinterpret_cast<const TensorMap *>(address);
}

bool Asynchronous::isBeingRead(const Range &range) const {
  auto overlaps = [&](const Range &other) { return other.overlaps(range); };
  for (const WarpGroup &group : groups) {
    if (std::ranges::any_of(group.issued.ranges, overlaps))
      return true;
    for (const auto &products : group.pending)
      if (std::ranges::any_of(products.ranges, overlaps))
        return true;
  }
  return false;
}

void Asynchronous::checkReadable(const Range &range) const {
  for (const Load &load : loads)
    if (load.range.overlaps(range))
      fail("shared memory is read before TMA has filled it");
  for (int64_t unit = range.begin / unitBytes; unit * unitBytes < range.end; ++unit)
    if (dirtyBy[size_t(unit)])
      fail("what a thread wrote is read through the asynchronous proxy without a fence");
}

void Asynchronous::loadTile(const int64_t *operands) {
  const TensorMap &map = mapAt(operands[1]);
  int64_t to = offsetOf(operands[0]);
  Load load{&map, 0, operands[2], {}, {to, to + bytesOfBox(map)}};
  std::copy_n(operands + 3, map.rank, load.coordinates);
  beginLoad(load, map.swizzle ? 8 * map.swizzle : 128);
}

void Asynchronous::loadBytes(const int64_t *operands) {
  int64_t to = offsetOf(operands[0]), from = operands[1], count = operands[3];
  if (from % unitBytes != 0 || count % unitBytes != 0)
    fail("what is copied to shared memory does not begin or end at a multiple of 16 bytes");
  beginLoad({nullptr, from, operands[2], {}, {to, to + count}}, unitBytes);
}

void Asynchronous::beginLoad(const Load &load, int64_t alignment) {
  if (load.range.begin % alignment != 0 || load.range.end > bytes)
    fail("a tile's place in shared memory is not aligned to its swizzle, or outside");
  if (isBeingRead(load.range))
    fail("TMA fills a stage that products are still reading");
  for (const Load &other : loads)
    if (other.range.overlaps(load.range))
      fail("TMA fills a stage twice");
  barrierAt(load.barrier);
  std::memset(shared + load.range.begin, notArrived, size_t(load.range.end - load.range.begin));
  loads.push_back(load);
}

void Asynchronous::storeTile(uint32_t thread, const int64_t *operands) {
  const TensorMap &map = mapAt(operands[0]);
  Store store{&map, offsetOf(operands[1]), {}, thread};
  std::copy_n(operands + 2, map.rank, store.coordinates);
  if (store.from % (map.swizzle ? 8 * map.swizzle : 128) != 0)
    fail("a tile's place in shared memory is not aligned to its swizzle");
  checkReadable({store.from, store.from + bytesOfBox(map)});
  stores.push_back(store);
}

void Asynchronous::commitStores(uint32_t thread) {
  int64_t group = storeGroups[thread]++;
  for (Store &store : stores)
    if (store.thread == thread && !store.isCommitted)
      store.isCommitted = true, store.group = group;
}

void Asynchronous::waitForStores(uint32_t thread, int64_t pending) {
  waitUntil([=, this] {
    int64_t newest = storeGroups[thread];
    return std::ranges::none_of(stores, [&](const Store &store) {
      return store.thread == thread && store.isCommitted && store.group < newest - pending;
    });
  });
}

bool Asynchronous::advance(bool newestFirst) {
  if (!loads.empty()) {
    Load load = newestFirst ? loads.back() : loads.front();
    newestFirst ? loads.pop_back() : loads.pop_front();
    int64_t to = load.range.begin, count = load.range.end - to;
    if (load.map)
      copyBox(*static_cast<const TensorMap *>(load.map), load.coordinates, shared, to,
              /*toShared=*/true);
    else
      std::memcpy(shared + to, reinterpret_cast<const void *>(load.from), size_t(count));
    Barrier &barrier = barrierAt(load.barrier);
    barrier.bytes -= count;
    completePhase(barrier);
    return true;
  }
  auto store = std::ranges::find_if(stores, &Store::isCommitted);
  if (store == stores.end())
    return false;
  copyBox(*static_cast<const TensorMap *>(store->map), store->coordinates, shared, store->from,
          /*toShared=*/false);
  stores.erase(store);
  return true;
}

const char *Asynchronous::problemAtEnd() const {
  if (!loads.empty())
    return "a block has ended while TMA fills its shared memory";
  if (!stores.empty())
    return "a block has ended while TMA reads its shared memory";
  return nullptr;
}

//===--- shared memory, by threads ---------------------------------------===//

void Asynchronous::fenceProxy(uint32_t thread) {
  for (int64_t unit : written[thread])
    if (dirtyBy[size_t(unit)] == thread + 1)
      dirtyBy[size_t(unit)] = 0;
  written[thread].clear();
}

template <typename Work>
void Asynchronous::meet(Meeting &meeting, uint32_t place, uint32_t count, int64_t *operands,
                        Work work) {
  meeting.operands.resize(count);
  meeting.operands[place] = operands;
  if (++meeting.come < count) {
    waitUntil([&meeting, round = meeting.round] { return meeting.round != round; });
    return;
  }
  meeting.come = 0;
  work();
  ++meeting.round;
  wakeOthers();
}

/// Lane l gives the address of row l mod 8 of matrix l / 8, and has, of each matrix, two elements
/// of row l / 4: PTX ISA, "stmatrix". Operand 1 is how many matrices there are.
void Asynchronous::storeMatrices(uint32_t thread, int64_t *operands) {
  uint32_t first = thread / threadsOfWarp * threadsOfWarp;
  Meeting &warp = warps[thread / threadsOfWarp];
  meet(warp, thread - first, threadsOfWarp, operands, [&] {
    for (uint32_t lane = 0; lane < threadsOfWarp; ++lane)
      for (uint32_t matrix = 0; matrix < uint32_t(operands[1]); ++matrix) {
        uint32_t from = 8 * matrix + lane / 4;
        int64_t row = offsetOf(warp.operands[from][0]);
        if (row % unitBytes != 0)
          fail("stmatrix writes rows of 16 bytes that are not aligned");
        for (const Store &store : stores) {
          const TensorMap &map = *static_cast<const TensorMap *>(store.map);
          if (Range{store.from, store.from + bytesOfBox(map)}.overlaps({row, row + unitBytes}))
            fail("a thread writes what TMA is still storing");
        }
        auto pair = uint32_t(warp.operands[lane][2 + matrix]);
        std::memcpy(shared + row + lane % 4 * sizeof(pair), &pair, sizeof(pair));
        dirtyBy[size_t(row / unitBytes)] = first + from + 1;
        if (lane % 4 == 0)
          written[first + from].push_back(row / unitBytes);
      }
  });
}

/// A butterfly: each lane gets what the lane has whose number differs by some bits.
void Asynchronous::fromLane(uint32_t thread, int64_t *operands) {
  uint32_t first = thread / threadsOfWarp * threadsOfWarp;
  Meeting &warp = warps[thread / threadsOfWarp];
  meet(warp, thread - first, threadsOfWarp, operands, [&] {
    int64_t given[threadsOfWarp];
    for (uint32_t lane = 0; lane < threadsOfWarp; ++lane)
      given[lane] = warp.operands[lane][0];
    for (uint32_t lane = 0; lane < threadsOfWarp; ++lane)
      warp.operands[lane][0] = given[lane ^ uint32_t(warp.operands[lane][1])];
  });
}

//===--- products --------------------------------------------------------===//

void Asynchronous::fenceProducts(uint32_t thread) {
  groups[thread / threadsOfGroup].isFenced = true;
}

void Asynchronous::multiply(uint32_t thread, int64_t *operands) {
  WarpGroup &group = groups[thread / threadsOfGroup];
  meet(group.meeting, thread % threadsOfGroup, threadsOfGroup, operands,
       [&] { multiplyAll(group); });
}

void Asynchronous::multiplyRegisters(uint32_t thread, int64_t *operands) {
  WarpGroup &group = groups[thread / threadsOfGroup];
  meet(group.meeting, thread % threadsOfGroup, threadsOfGroup, operands,
       [&] { multiplyAllRegisters(group); });
}

namespace {

float widened(uint16_t bits, Operands type) {
  if (type == OfF16)
    return float(__builtin_bit_cast(_Float16, bits));
  return __builtin_bit_cast(float, uint32_t(bits) << 16);
}

int64_t bytesOf(Operands type) { return type == OfTF32 ? 4 : 2; }

/// PTX ISA, "Alternate Floating Point Data Formats": the lower 13 bits of tf32 are ignored.
float elementAt(const uint8_t *at, Operands type) {
  constexpr uint32_t ignored = (1U << 13) - 1;
  uint32_t bits = 0;
  std::memcpy(&bits, at, size_t(bytesOf(type)));
  return type == OfTF32 ? __builtin_bit_cast(float, bits & ~ignored)
                        : widened(uint16_t(bits), type);
}

/// PTX ISA, "Matrix Descriptor Format" and "Strides".
struct Descriptor {
  explicit Descriptor(int64_t bits)
      : address((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4),
        stride((bits >> 32 & 0x3fff) << 4), baseOffset(bits >> 49 & 7) {
    constexpr int64_t rowBytes[] = {0, 128, 64, 32};
    row = rowBytes[uint64_t(bits) >> 62];
  }
  /// Where element `free` (of rows or columns) and `k` lies.
  int64_t offsetOf(int64_t free, int64_t k, bool isTransposed, int64_t bytes) const {
    int64_t elements = row / bytes;
    int64_t at = isTransposed ? free / elements * leading + k / 8 * stride + k % 8 * row +
                                    free % elements * bytes
                              : free / 8 * stride + free % 8 * row + k * bytes;
    return swizzled(address + at, row);
  }
  int64_t address, leading, stride, baseOffset, row;
};

} // namespace

static std::atomic<int64_t> products = 0;
int64_t productsSoFar() { return products; }

std::vector<float> Asynchronous::readOperand(WarpGroup &group, int64_t bits, int64_t count,
                                             bool isTransposed, Operands type) {
  Descriptor descriptor(bits);
  if (descriptor.row == 0 || descriptor.baseOffset != 0)
    fail("a product's operand has no swizzle");
  int64_t size = bytesOf(type), depth = bytesOfProduct / size;
  std::vector<float> values(size_t(count * depth));
  Range range{bytes, 0};
  for (int64_t free = 0; free < count; ++free)
    for (int64_t k = 0; k < depth; ++k) {
      int64_t offset = descriptor.offsetOf(free, k, isTransposed, size);
      if (offset < 0 || offset + size > bytes)
        fail("a product reads outside of shared memory");
      range = {std::min(range.begin, offset), std::max(range.end, offset + size)};
      values[size_t(free * depth + k)] = elementAt(shared + offset, type);
    }
  checkReadable(range);
  group.issued.ranges.push_back(range);
  return values;
}

/// Each thread's sums are at its operand 2.
void Asynchronous::addProducts(WarpGroup &group, const std::vector<float> &a,
                               const std::vector<float> &b, int64_t columns, bool addsToSums) {
  auto depth = int64_t(a.size()) / rowsOfProduct;
  for (uint32_t thread = 0; thread < threadsOfGroup; ++thread) {
    auto *sums = reinterpret_cast<float *>(group.meeting.operands[thread][2]);
    // PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", matrix D.
    for (int64_t i = 0; i < columns / 2; ++i) {
      int64_t row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2);
      int64_t column = 8 * (i / 4) + 2 * (thread % 4) + i % 2;
      float sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += a[size_t(row * depth + k)] * b[size_t(column * depth + k)];
      sums[i] = addsToSums ? sums[i] + sum : sum;
    }
  }
}

/// Gives the operands, which are the same of all threads.
const int64_t *Asynchronous::beginProduct(const WarpGroup &group) {
  ++products;
  const int64_t *operands = group.meeting.operands[0];
  for (const int64_t *other : group.meeting.operands)
    if (!std::equal(operands, operands + 2, other))
      fail("threads of a warp group multiply different operands");
  if (!group.isFenced)
    fail("a warp group multiplies without wgmma.fence");
  return operands;
}

void Asynchronous::multiplyAll(WarpGroup &group) {
  const int64_t *operands = beginProduct(group);
  int64_t columns = operands[3];
  auto type = Operands(operands[4]);
  if (type == OfTF32 && (operands[5] != 0 || operands[6] != 0))
    fail("a product of tf32 wants the sum's dimension innermost in both operands");
  std::vector<float> a = readOperand(group, operands[0], rowsOfProduct, operands[5] != 0, type);
  std::vector<float> b = readOperand(group, operands[1], columns, operands[6] != 0, type);
  addProducts(group, a, b, columns, operands[7] != 0);
  group.issued.sums.push_back(operands[8]);
}

/// The left operand is in registers: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16",
/// matrix A.
void Asynchronous::multiplyAllRegisters(WarpGroup &group) {
  const int64_t *operands = beginProduct(group);
  int64_t columns = operands[3];
  auto type = Operands(operands[4]);
  constexpr int64_t depth = bytesOfProduct / 2;
  std::vector<float> a(size_t(rowsOfProduct * depth));
  for (uint32_t thread = 0; thread < threadsOfGroup; ++thread)
    for (uint32_t number = 0; number < 8; ++number) {
      int64_t row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (number / 2 % 2);
      int64_t k = 2 * (thread % 4) + number % 2 + 8 * (number / 4);
      auto pair = uint32_t(group.meeting.operands[thread][6 + number / 2]);
      a[size_t(row * depth + k)] = widened(uint16_t(pair >> (16 * (number % 2))), type);
    }
  std::vector<float> b = readOperand(group, operands[0], columns, operands[10] != 0, type);
  addProducts(group, a, b, columns, operands[1] != 0);
  group.issued.sums.push_back(operands[5]);
  group.issued.registers.push_back(operands[11]);
}

void Asynchronous::commitProducts(uint32_t thread) {
  if (thread % threadsOfGroup != 0)
    return;
  WarpGroup &group = groups[thread / threadsOfGroup];
  group.pending.push_back(std::move(group.issued));
  group.issued = {};
  group.isFenced = false;
}

void Asynchronous::waitForProducts(uint32_t thread, int64_t pending) {
  if (thread % threadsOfGroup != 0)
    return;
  WarpGroup &group = groups[thread / threadsOfGroup];
  while (int64_t(group.pending.size()) > pending)
    group.pending.pop_front();
}

/// Of the warp group of `thread`, which is asked by its first thread alone.
bool Asynchronous::hasPending(uint32_t thread, std::vector<int64_t> Products::*member,
                              int64_t which) const {
  const WarpGroup &group = groups[thread / threadsOfGroup];
  auto has = [&](const Products &some) {
    return std::ranges::find(some.*member, which) != (some.*member).end();
  };
  return thread % threadsOfGroup == 0 &&
         (has(group.issued) || std::ranges::any_of(group.pending, has));
}

void Asynchronous::readSums(uint32_t thread, int64_t which) {
  if (hasPending(thread, &Products::sums, which))
    fail("sums are read before their products are waited for");
}

/// PTX ISA, "wgmma.mma_async": until the wait, nothing may change the registers that it reads.
void Asynchronous::changeRegisters(uint32_t thread, int64_t which) {
  if (hasPending(thread, &Products::registers, which))
    fail("registers are changed before the products that read them are waited for");
}

} // namespace tw::simulator
