// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RandomKernel.h"
#include "IO/Element.h"
#include "RandomTiles.h"
#include <cmath>

namespace tw::kernel {

std::string textOf(const Shape &shape) {
  std::string text;
  for (const Size &size : shape)
    text += size.str() + ",";
  return text;
}

const Node *Generator::pick(const std::function<bool(const Node &)> &good) {
  std::vector<const Node *> fit;
  for (const Node &node : nodes)
    if (good(node))
      fit.push_back(&node);
  // Later ones depend on more.
  return fit.empty()
             ? nullptr
             : fit[size_t(std::max(below(int64_t(fit.size())), below(int64_t(fit.size()))))];
}

const Node *Generator::like(const Node &node, const std::function<bool(const Node &)> &good) {
  DType dtype = node.tile.dtype();
  std::string shape = textOf(node.tile.shape());
  return pick([&](const Node &other) {
    return other.tile.dtype() == dtype && textOf(other.tile.shape()) == shape &&
           (!good || good(other));
  });
}

void Generator::add(Tile tile, std::vector<int64_t> sizes, double most, double error) {
  bool isTame = most <= 1000 && error <= 0.02 * std::max(most, 1e-3);
  if (countOf(sizes) <= 5000 && (!isFloat(tile.dtype()) || isTame))
    nodes.push_back({tile, std::move(sizes), most, error});
}

void Generator::addRounded(Tile tile, std::vector<int64_t> sizes, double most, double error,
                           double roundings) {
  add(tile, std::move(sizes), most, error + roundings * roundingOf(tile.dtype()) * most);
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

void Generator::chooseGrid() {
  Symbol M("M"), N("N");
  static const std::vector<int64_t> heights = {1, 2, 3, 4, 5, 8}, widths = {1, 4, 7, 8, 16, 17, 24};
  int64_t high = shared.choose.of(heights), wide = shared.choose.of(widths);
  auto over = [](int64_t size, int64_t by) { return (size + by - 1) / by; };
  whole = {M, N};
  wholeSizes = {m, n};
  switch (below(4)) {
  case 0: { // rows
    auto [p] = kernel::grid(M);
    ids = {p};
    origin = {p, 0};
    grid = {M}, gridSizes = {m};
    block = {1, N}, blockSizes = {1, n};
    break;
  }
  case 1: { // everything at once
    auto [p] = kernel::grid(1);
    ids = {p};
    origin = {0, p};
    grid = {1}, gridSizes = {1};
    block = whole, blockSizes = wholeSizes;
    break;
  }
  case 2: { // a batch
    auto [b, p] = kernel::grid(2, ceilDiv(M, high));
    ids = {b, p};
    whole = {2, M, N}, wholeSizes = {2, m, n};
    origin = {b, p * high, 0};
    grid = {2, ceilDiv(M, high)}, gridSizes = {2, over(m, high)};
    block = {1, high, N}, blockSizes = {1, high, n};
    break;
  }
  default: { // blocks
    auto [p, q] = kernel::grid(ceilDiv(M, high), ceilDiv(N, wide));
    ids = {p, q};
    origin = {p * high, q * wide};
    grid = {ceilDiv(M, high), ceilDiv(N, wide)}, gridSizes = {over(m, high), over(n, wide)};
    block = {high, wide}, blockSizes = {high, wide};
  }
  }
}

void Generator::run() {
  chooseGrid();
  if (flip(3)) {
    std::vector<int64_t> programs;
    for (size_t dim = 0; dim < grid.size(); ++dim)
      programs.push_back(1 + below(3));
    hint("tile.block", programs);
  }
  given(i8, whole, wholeSizes); // so that all symbols are bound
  load(), load();
  for (int64_t steps = 4 + below(14); steps > 0; --steps)
    step();
  results();
}

Buffer Generator::given(DType dtype, const Shape &shape, const std::vector<int64_t> &sizes,
                        int64_t below, bool written) {
  shared.given.push_back({dtype, sizes, below});
  return written ? inout(name("z"), dtype, shape) : input(name("x"), dtype, shape);
}

Buffer Generator::result(DType dtype, const Shape &shape, double error, const Scalar &init) {
  shared.errors.push_back(error);
  return output(name("y"), dtype, shape, init);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

Tile Generator::maskOf(const Shape &shape) {
  int64_t axis = below(int64_t(shape.size()));
  return flip() ? iota(shape, axis) < below(9) : iota(shape, axis, i32, below(3)) % 3 != 1;
}

void Generator::load() {
  DType dtype = shared.choose.of(dtypes);
  Buffer x = given(dtype, whole, wholeSizes);
  Positions at(origin.begin(), origin.end());
  LoadOptions options;
  Scalar pad = dtype == i1 ? Scalar(true) : Scalar(3);
  if (flip(4)) { // may begin outside
    size_t d = size_t(below(int64_t(at.size())));
    at[d] = Position(origin[d] + (below(5) - 2));
    options.pad = pad;
  }
  if (flip(4)) {
    for (size_t d = 0; d < at.size(); ++d)
      options.strides.push_back(1 + below(3));
  }
  if (flip(5))
    options.mask = maskOf(block);
  if (flip(5))
    options.pad = pad;
  add(kernel::load(x, at, block, options), blockSizes, 4);
}

/// A small table is read at positions that are data.
void Generator::gathers() {
  const Node *at = pick([](const Node &node) {
    return !isFloat(node.tile.dtype()) && isNumber(node.tile.dtype()) && node.tile.dtype() != u8;
  });
  if (!at)
    return;
  DType dtype = shared.choose.of(dtypes);
  Buffer table = given(dtype, {4, 5}, {4, 5});
  Tile row = at->tile & 3, column = flip() ? row + 1 : Tile(row);
  GatherOptions options;
  if (flip(3))
    options.mask = at->tile > 2;
  if (flip(3)) { // some are outside
    row = row + 2;
    options.pad = dtype == i1 ? Scalar(false) : Scalar(1);
  }
  add(gather(table, {row, column}, options), at->sizes, 4);
}

/// Rows of a table by number, checked.
void Generator::rowsByNumber() {
  int64_t count = 1 + below(9);
  Symbol rows(name("R"));
  Buffer numbers = given(flip() ? i32 : i64, {count}, {count}, 6);
  DType dtype = shared.choose.of(dtypes);
  Buffer table = given(dtype, {rows, 7}, {6, 7});
  Tile safe = check(kernel::load(numbers, {0}, {count}), rows, "row %lld of %lld");
  shared.stored = true; // a loop that can be split has no check before it
  add(kernel::load(table, {safe, below(3)}, {count, 5}), {count, 5}, 4);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Each program has its own part of an output: [grid..., extents...].
void Generator::storeWhole(const Node &node) {
  Shape shape = grid, part(grid.size(), 1);
  Positions at(ids.begin(), ids.end());
  for (const Size &extent : node.tile.shape()) {
    shape.push_back(extent);
    part.push_back(extent);
    at.push_back(0);
  }
  Tile tile = reshape(node.tile, part);
  DType dtype = node.tile.dtype();
  if (!flip(4)) {
    Buffer y = result(dtype, shape, node.error);
    return store(y, at, tile);
  }
  // In place: read before, and partly written again.
  std::vector<int64_t> sizes = gridSizes;
  sizes.insert(sizes.end(), node.sizes.begin(), node.sizes.end());
  Buffer z = given(dtype, shape, sizes, 0, true);
  shared.errors.push_back(node.error + roundingOf(dtype) * (node.most + 4));
  Tile before = kernel::load(z, at, part);
  Tile after = dtype == i1 ? tile ^ before : flip() ? tile + before : maximum(tile, before);
  store(z, at, after);
  if (flip())
    store(z, at, flip() ? before : tile, {.mask = maskOf(part)});
}

/// The block's box of an output of the size of the inputs, with what may be said of a store.
void Generator::storeParts(const Node &node) {
  DType dtype = node.tile.dtype();
  Buffer y = result(dtype, whole, node.error, dtype == i1 ? Scalar(true) : Scalar(2));
  StoreOptions options;
  Positions at(origin.begin(), origin.end());
  if (flip(3))
    options.mask = maskOf(block);
  if (flip(3) && dtype != i1 && dtype != u8)
    options.atomic = flip() ? Atomic::min : Atomic::max;
  auto body = [&] { store(y, at, node.tile, options); };
  flip(3) ? ifThen(mod(ids[0], 2) == 0 || ids.back() < 2, body) : body();
}

/// Written back to front.
void Generator::scatterReversed(const Node &node) {
  int64_t count = countOf(node.sizes);
  for (const Size &extent : node.tile.shape())
    if (!extent.isConstant())
      return;
  Shape shape = grid;
  shape.push_back(count);
  Positions at(ids.begin(), ids.end());
  at.push_back(count - 1 - iota({count}));
  Buffer y = result(node.tile.dtype(), shape, node.error,
                    node.tile.dtype() == i1 ? Scalar(false) : Scalar(1));
  ScatterOptions options;
  if (flip())
    options.mask = iota({count}) % 4 != 2;
  if (flip()) {
    at.back() = count + 1 - iota({count});
    options.drop = true;
  }
  scatter(y, at, reshape(node.tile, {count}), options);
}

/// All programs add to four elements.
void Generator::addUp(const Node &node) {
  DType dtype = node.tile.dtype();
  int64_t count = countOf(node.sizes) * countOf(gridSizes);
  double error = double(count) * (node.error + double(count) * roundingOf(dtype) * node.most);
  Buffer y = result(dtype, {4}, error, 0);
  const Node *at = pick([&](const Node &other) {
    return other.tile.dtype() == i32 && textOf(other.tile.shape()) == textOf(node.tile.shape());
  });
  if (at)
    return scatter(y, {at->tile & 3}, node.tile, {.atomic = Atomic::add});
  if (node.sizes.empty())
    return;
  scatter(y, {iota(node.tile.shape(), below(int64_t(node.sizes.size()))) % 4}, node.tile,
          {.atomic = Atomic::add});
}

void Generator::results() {
  for (int64_t count = 1 + below(3); count > 0; --count) {
    const Node *node = pick([](const Node &) { return true; });
    bool isBlock = textOf(node->tile.shape()) == textOf(block);
    bool isWide = roundingOf(node->tile.dtype()) < 1e-6 && isNumber(node->tile.dtype());
    if (isBlock && flip(3))
      storeParts(*node);
    else if (flip(6))
      scatterReversed(*node);
    else if (flip(6) && isWide)
      addUp(*node);
    else
      storeWhole(*node);
  }
  storeWhole(nodes.back());
}

} // namespace tw::kernel

namespace tw {

/// Values of a tensor: floats are eighths from -4 to 4, integers of all sizes.
static HostTensor makeTensor(const kernel::GivenTensor &given, std::mt19937_64 &random) {
  DType dtype = kernel::hostType(given.dtype);
  auto tensor = HostTensor::create(dtype, given.sizes);
  bool isSmall = random() % 2;
  for (int64_t i = 0; tensor && i < tensor->count(); ++i) {
    std::byte *p = tensor->bytes().data() + i * info(dtype).bytes;
    uint64_t bits = random() >> 8;
    if (info(dtype).isFloat) {
      storeFloat(dtype, (double(bits % 65) - 32) / 8, p);
      continue;
    }
    IntegerRange range = integerRange(dtype);
    uint64_t values =
        given.below ? uint64_t(given.below) : uint64_t(range.max) - uint64_t(range.min) + 1;
    if (isSmall && !given.below && values > 10)
      storeInteger(dtype, int64_t(bits % 10), p);
    else
      storeInteger(dtype,
                   given.below
                       ? int64_t(bits % values)
                       : int64_t(uint64_t(range.min) + (values ? bits % values : bits * 257)),
                   p);
  }
  return *std::move(tensor);
}

RandomKernel makeRandomKernel(unsigned seed) {
  kernel::Generator::Shared shared{kernel::Chooser(seed)};
  static const std::vector<int64_t> heights = {0, 1, 2, 3, 4, 5, 9, 9},
                                    widths = {0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 40};
  int64_t m = shared.choose.of(heights), n = shared.choose.of(widths);
  std::vector<kernel::Binding> bindings;
  if (shared.choose.flip(3))
    bindings.push_back({"M", m});
  if (shared.choose.flip(3))
    bindings.push_back({"N", n});
  kernel::TraceResult trace =
      kernel::trace("k", [&] { kernel::Generator(shared, m, n).run(); }, bindings);
  RandomKernel made{trace.text, "", {}, shared.errors};
  if (trace.error)
    made.problem =
        trace.error->file + ":" + std::to_string(trace.error->line) + ": " + trace.error->message;
  std::mt19937_64 random(seed);
  for (const kernel::GivenTensor &given : shared.given)
    made.inputs.push_back(makeTensor(given, random));
  return made;
}

} // namespace tw
