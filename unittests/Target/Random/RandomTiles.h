// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What RandomKernel.cpp makes kernels of: tiles with bounds of their elements and of their error.
//
// Results of two ways to compute the same may differ, so a step that is not continuous (floor, a
// comparison, argmax) is only applied to what is exact: loads, integers, and what follows from them
// by operations that round only once.
#pragma once
#include "Language/Trace.h"
#include "Support/DType.h"
#include <functional>
#include <random>

namespace tw::kernel {

struct Node {
  Tile tile;
  std::vector<int64_t> sizes; // that its extents have in the call
  double most = 0;            // |element| is at most that; of floats
  double error = 0;           // at most that far from what another way of computing gives
};

inline bool isFloat(DType dtype) { return dtype <= DType::f64; }
inline bool isNumber(DType dtype) { return dtype != DType::i1; }

/// Half the distance of 1 to the next number.
inline double roundingOf(DType dtype) {
  switch (dtype) {
  case DType::f16:
    return 0x1p-11;
  case DType::bf16:
    return 0x1p-8;
  case DType::f32:
    return 0x1p-24;
  default:
    return dtype == DType::f64 ? 0x1p-53 : 0;
  }
}

/// Of the compiler's types, the one of the same name.
inline tw::DType hostType(DType dtype) {
  static constexpr tw::DType types[] = {
      tw::DType::F16, tw::DType::BF16, tw::DType::F32, tw::DType::F64, tw::DType::I8,
      tw::DType::I16, tw::DType::I32,  tw::DType::I64, tw::DType::U8,  tw::DType::Bool};
  return types[int(dtype)];
}

inline int64_t countOf(const std::vector<int64_t> &sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

/// Random choices.
class Chooser {
public:
  explicit Chooser(unsigned seed) : random(seed) {}
  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }
  bool flip(int64_t oneIn = 2) { return below(oneIn) == 0; }
  template <class T>
  T of(const std::vector<T> &from) {
    return from[size_t(below(int64_t(from.size())))];
  }

private:
  std::mt19937 random;
};

/// A tensor that the call is to be given.
struct GivenTensor {
  DType dtype;
  std::vector<int64_t> sizes;
  int64_t below = 0; // of integers: how many values, from 0; 0: all
  bool isScalar = false;
};

/// Makes one kernel while it is traced. Bodies of loops and branches are made by copies, which
/// share what concerns the whole kernel.
class Generator {
public:
  struct Shared {
    Chooser choose;
    std::vector<GivenTensor> given = {};
    std::vector<double> errors = {}; // of the results
    int names = 0, depth = 0;
    bool hasCombine = false, stored = false;
  };
  Generator(Shared &shared, int64_t m, int64_t n) : shared(shared), m(m), n(n) {}
  void run();

private:
  // RandomKernel.cpp: the frame, and memory
  void chooseGrid();
  void loads();
  void load();
  void gathers();
  void rowsByNumber();
  void results();
  void storeWhole(const Node &node);
  void storeParts(const Node &node);
  void scatterReversed(const Node &node);
  void addUp(const Node &node);
  Buffer given(DType dtype, const Shape &shape, const std::vector<int64_t> &sizes,
               int64_t below = 0, bool written = false);
  Buffer result(DType dtype, const Shape &shape, double error, const Scalar &init = {});
  std::string name(const char *prefix) { return prefix + std::to_string(shared.names++); }
  Tile maskOf(const Shape &shape);

  // RandomSteps.cpp: what is computed
  void step();
  void unary();
  void binary();
  void integers();
  void compare();
  void choice();
  void convert();
  void reduce();
  void scan();
  void sorts();
  void product();
  void reshapes();
  void moves();
  void numbers();
  // RandomControl.cpp
  void loop();
  void combined();
  void branch();

  int64_t below(int64_t n) { return shared.choose.below(n); }
  bool flip(int64_t oneIn = 2) { return shared.choose.flip(oneIn); }
  /// One of the tiles for which `good` holds; null where there is none.
  const Node *pick(const std::function<bool(const Node &)> &good);
  /// One of the same shape and dtype as `node`; maybe itself.
  const Node *like(const Node &node, const std::function<bool(const Node &)> &good = {});
  void add(Tile tile, std::vector<int64_t> sizes, double most = 0, double error = 0);
  /// The same with the rounding of the result's dtype.
  void addRounded(Tile tile, std::vector<int64_t> sizes, double most, double error = 0,
                  double roundings = 1);

  Shared &shared;
  int64_t m, n; // what the symbols are
  Shape whole;  // of the inputs that blocks are loaded from
  std::vector<int64_t> wholeSizes;
  std::vector<Index> ids, origin;
  std::vector<Size> grid;
  std::vector<int64_t> gridSizes;
  Shape block;
  std::vector<int64_t> blockSizes;
  std::vector<Node> nodes;
};

inline const std::vector<DType> dtypes = {f32, f32, f32, f16, bf16, f64, i8, i16, i32, i64, u8, i1};

std::string textOf(const Shape &shape);

} // namespace tw::kernel
