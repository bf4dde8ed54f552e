// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random sequences of calls: each is refused with a message, or gives a kernel that the tile
// dialect takes, so that what the language allows and what the dialect allows is the same.
#include "Parse.h"
#include <gtest/gtest.h>
#include <random>

using namespace tw::kernel;

namespace {

/// A kernel made of random calls on what earlier ones gave, one for each seed.
class RandomKernel {
public:
  void run(unsigned start, const std::vector<unsigned> &seeds) {
    random.seed(start);
    Symbol N("N"), M("M", {.max = 64});
    extents = {1, 2, 3, N, 1, 2, N, M, N * 2, ceilDiv(M, 2)};
    Buffer sizes = input("sizes", i8, {N, M});
    x = input("x", pick(dtypes), {N, 2, pick(extents)});
    y = inout("y", pick(dtypes), {N, 3});
    auto [n, m] = grid(N, ceilDiv(M, 4));
    indices = {n, m, 0, -1, N};
    scalars = {scalar("s", f64), scalar("i", i64), scalar("b", i1), 2, 0.5, true, n};
    for (int i = 0; i < 4; ++i)
      tiles.push_back(zeros(shape(), pick(dtypes)));
    for (unsigned seed : seeds) {
      random.seed(seed);
      step();
    }
  }

private:
  size_t below(size_t n) { return random() % n; }
  template <class T>
  T pick(const std::vector<T> &from) {
    return from[below(from.size())];
  }
  Shape shape() {
    Shape result(below(4));
    for (Size &extent : result)
      extent = pick(extents);
    return result;
  }
  int axis() { return int(below(6)) - 3; }

  void step() {
    static constexpr void (RandomKernel::*steps[])() = {
        &RandomKernel::arithmetic, &RandomKernel::elementwise, &RandomKernel::reduction,
        &RandomKernel::shapes,     &RandomKernel::memory,      &RandomKernel::index,
        &RandomKernel::loop,       &RandomKernel::branch};
    (this->*steps[below(std::size(steps))])();
  }

  void arithmetic() {
    Tile a = pick(tiles), b = below(2) ? pick(tiles) : a;
    Tile results[] = {a + b, select(b == a, a, b), maximum(a, pick(scalars)), pick(scalars) * a};
    tiles.push_back(results[below(4)]);
  }

  void elementwise() {
    Tile a = pick(tiles);
    switch (below(5)) {
    case 0:
      return tiles.push_back(cast(a, pick(dtypes)));
    case 1:
      return tiles.push_back(below(2) ? exp(a) : sigmoid(a));
    case 2:
      return tiles.push_back(below(2) ? a >> a : a & a);
    case 3:
      return tiles.push_back(below(2) ? !a : -a);
    default:
      return tiles.push_back(below(2) ? fma(a, a, 1.5) : abs(a));
    }
  }

  void reduction() {
    Tile a = pick(tiles);
    KeepDim keep = below(2) ? KeepDim::yes : KeepDim::no;
    switch (below(4)) {
    case 0:
      return tiles.push_back(sum(a, axis(), keep));
    case 1:
      return tiles.push_back(below(2) ? max(a, axis(), keep) : argmin(a, axis(), keep));
    case 2:
      return tiles.push_back(any(a != a, axis(), keep));
    default:
      return tiles.push_back(cumprod(a, axis(), Direction::backward));
    }
  }

  void shapes() {
    Tile a = pick(tiles);
    switch (below(6)) {
    case 0:
      return tiles.push_back(transpose(a));
    case 1:
      return tiles.push_back(transpose(a, {axis(), axis()}));
    case 2:
      return tiles.push_back(below(2) ? reshape(a, shape()) : broadcast(a, shape()));
    case 3:
      return tiles.push_back(dot(a, below(2) ? transpose(a) : pick(tiles)));
    case 4:
      return tiles.push_back(slice(a, {int64_t(below(3))}, shape(), {int64_t(below(4)) - 2}));
    default:
      return scalars.push_back(extract(a));
    }
  }

  void memory() {
    Tile a = pick(tiles);
    Index i = pick(indices);
    switch (below(6)) {
    case 0:
      return tiles.push_back(load(x, {i, a, 0}, {pick(extents), a.size(0), 1}, {.pad = 1}));
    case 1:
      return tiles.push_back(load(y, {i, 0}, {pick(extents), 3}, {.mask = pick(tiles)}));
    case 2:
      return tiles.push_back(gather(y, {a, i}));
    case 3:
      return store(y, {i, 0}, a, {.strides = {1, 2}, .drop = true, .atomic = Atomic::max});
    case 4:
      return scatter(y, {pick(tiles), i}, a, {.atomic = Atomic::any});
    default:
      return tiles.push_back(check(a, i, "%lld is not below %lld"));
    }
  }

  void index() {
    Index a = pick(indices), b = pick(indices);
    switch (below(5)) {
    case 0:
      return indices.push_back(a + b * 3);
    case 1:
      return indices.push_back(below(2) ? ceilDiv(a, b) : mod(a, b));
    case 2:
      return indices.push_back(minimum(a, b) - 1);
    case 3:
      return indices.push_back(pick(scalars));
    default:
      return scalars.push_back(below(2) ? Scalar(a < b) : pick(scalars) + pick(scalars));
    }
  }

  void loop() {
    RandomKernel inner = *this; // what the body makes stays in it
    tiles.push_back(forLoop(pick(indices), pick(indices), 2, pick(tiles), [&](Index i, Tile t) {
      inner.indices.push_back(i);
      inner.tiles.assign(1, t);
      inner.step();
      return inner.tiles.back();
    }));
  }

  void branch() {
    RandomKernel inner = *this;
    Tile a = pick(tiles);
    auto body = [&] { return inner.step(), below(2) ? a : inner.tiles.back(); };
    tiles.push_back(ifThenElse(pick(scalars), body, [&] { return a; }));
  }

  std::mt19937 random;
  std::vector<DType> dtypes = {f16, f32, f32, i8, i32, i64, u8, i1};
  std::vector<Size> extents;
  std::vector<Tile> tiles;
  std::vector<Index> indices;
  std::vector<Scalar> scalars;
  Buffer x, y;
};

TEST(Random, RefusedOrValid) {
  size_t kept = 0;
  for (unsigned kernel = 0; kernel < 100; ++kernel) {
    // Calls that are refused are tried once, and left out of what follows.
    std::vector<unsigned> seeds;
    std::string text;
    for (unsigned attempt = 1; attempt < 100; ++attempt) {
      seeds.push_back(kernel * 1000 + attempt);
      TraceResult result = trace("k", [&] { RandomKernel().run(kernel, seeds); });
      if (!result.error) {
        text = result.text;
        continue;
      }
      EXPECT_FALSE(result.error->message.empty());
      EXPECT_GT(result.error->line, 0u);
      seeds.pop_back();
    }
    kept += seeds.size();
    std::string errors = tw::parseErrors(text);
    ASSERT_EQ(errors, "") << "kernel " << kernel << "\n" << text;
  }
  EXPECT_GT(kept, 1000u);
}

} // namespace
