// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TruthKernels.h"
#include "Language/Trace.h"
#include <map>
#include <stdexcept>

using namespace tw::kernel;

namespace {

DType dtype = f32; // of the kernel that is being traced

bool isInteger() { return dtype >= i8; }

/// y = f(x, z) on tiles of 4 x 8 of matrices.
void onBlocks(Tile (*f)(Tile, Tile)) {
  Symbol M("M"), N("N");
  Buffer x = input("x", dtype, {M, N}), z = input("z", dtype, {M, N});
  auto [p, q] = grid(ceilDiv(M, 4), ceilDiv(N, 8));
  Tile result = f(load(x, {p * 4, q * 8}, {4, 8}), load(z, {p * 4, q * 8}, {4, 8}));
  store(output("y", result.dtype(), {M, N}), {p * 4, q * 8}, result);
}

/// The same for each row as a whole.
void onRows(Tile (*f)(Tile)) {
  Symbol M("M"), N("N");
  Buffer x = input("x", dtype, {M, N});
  auto [p] = grid(M);
  Tile result = f(load(x, {p, 0}, {1, N}));
  store(output("y", result.dtype(), {M, result.size(1)}), {p, 0}, result);
}

/// The same for the matrix as a whole.
void onAll(Tile (*f)(Tile)) {
  Symbol M("M"), N("N");
  Buffer x = input("x", dtype, {M, N});
  grid(1);
  Tile result = f(load(x, {0, 0}, {M, N}));
  store(output("y", result.dtype(), result.shape()), Positions(result.shape().size(), 0), result);
}

using Binary = Tile (*)(Tile, Tile);
using Unary = Tile (*)(Tile);

const std::map<std::string, Binary> blocks = {
    {"add", [](Tile x, Tile z) { return x + z; }},
    {"sub", [](Tile x, Tile z) { return x - z; }},
    {"mul", [](Tile x, Tile z) { return x * z; }},
    {"div", [](Tile x, Tile z) { return x / (abs(z) + 0.5); }},
    {"quotient", [](Tile x, Tile z) { return x / z; }},
    {"remainder", [](Tile x, Tile z) { return x % z; }},
    {"fmod", [](Tile x, Tile z) { return 4 * x % z; }},
    {"minimum", [](Tile x, Tile z) { return minimum(x, z); }},
    {"maximum", [](Tile x, Tile z) { return maximum(x, z); }},
    {"neg", [](Tile x, Tile) { return -x; }},
    {"abs", [](Tile x, Tile z) { return abs(x - z); }},
    {"and", [](Tile x, Tile z) { return x & z; }},
    {"or", [](Tile x, Tile z) { return x | z; }},
    {"xor", [](Tile x, Tile z) { return x ^ z; }},
    {"not", [](Tile x, Tile) { return ~x; }},
    {"shl", [](Tile x, Tile z) { return x << z; }},
    {"shr", [](Tile x, Tile z) { return (x - 5) >> z; }},
    {"select", [](Tile x, Tile z) { return select(x > z, x, z + 1); }},
    {"less", [](Tile x, Tile z) { return x < z; }},
    {"notEqual", [](Tile x, Tile z) { return x != z; }},
    {"both", [](Tile x, Tile z) { return x < z && !(isInteger() ? x < 1 : x < 0.25); }},
    {"fma", [](Tile x, Tile z) { return fma(x, z, z); }},
    {"pow", [](Tile x, Tile z) { return pow(abs(x) + 0.5, 2 * z); }},
    {"atan2", [](Tile x, Tile z) { return atan2(x, z); }},
    {"copysign", [](Tile x, Tile z) { return copysign(x, z); }},
    {"exp", [](Tile x, Tile) { return exp(x); }},
    {"exp2", [](Tile x, Tile) { return exp2(x); }},
    {"expm1", [](Tile x, Tile) { return expm1(x); }},
    {"sin", [](Tile x, Tile) { return sin(x); }},
    {"cos", [](Tile x, Tile) { return cos(x); }},
    {"tan", [](Tile x, Tile) { return tan(x); }},
    {"asin", [](Tile x, Tile) { return asin(x); }},
    {"acos", [](Tile x, Tile) { return acos(x); }},
    {"atan", [](Tile x, Tile) { return atan(x); }},
    {"sinh", [](Tile x, Tile) { return sinh(x); }},
    {"cosh", [](Tile x, Tile) { return cosh(x); }},
    {"tanh", [](Tile x, Tile) { return tanh(x); }},
    {"asinh", [](Tile x, Tile) { return asinh(x); }},
    {"acosh", [](Tile x, Tile) { return acosh(abs(x) + 1.25); }},
    {"atanh", [](Tile x, Tile) { return atanh(x / 2); }},
    {"erf", [](Tile x, Tile) { return erf(x); }},
    {"sigmoid", [](Tile x, Tile) { return sigmoid(x); }},
    {"log", [](Tile x, Tile) { return log(abs(x) + 0.25); }},
    {"log2", [](Tile x, Tile) { return log2(abs(x) + 0.25); }},
    {"log1p", [](Tile x, Tile) { return log1p(abs(x) + 0.25); }},
    {"sqrt", [](Tile x, Tile) { return sqrt(abs(x) + 0.25); }},
    {"rsqrt", [](Tile x, Tile) { return rsqrt(abs(x) + 0.25); }},
    {"floor", [](Tile x, Tile) { return floor(8 * x); }},
    {"ceil", [](Tile x, Tile) { return ceil(8 * x); }},
    {"trunc", [](Tile x, Tile) { return trunc(8 * x); }},
    {"round", [](Tile x, Tile) { return round(8 * x); }},
    {"roundEven", [](Tile x, Tile) { return roundEven(8 * x); }},
    {"cast_f16", [](Tile x, Tile) { return cast(x * 100, f16); }},
    {"cast_bf16", [](Tile x, Tile) { return cast(x * 100, bf16); }},
    {"cast_f32", [](Tile x, Tile) { return cast(x, f32) * 100; }},
    {"cast_f64", [](Tile x, Tile) { return cast(x, f64) * 100; }},
    {"cast_i8", [](Tile x, Tile) { return cast(x * 100, i8); }},
    {"cast_i32", [](Tile x, Tile) { return cast(cast(x, f32) * 100, i32); }},
    {"cast_i64",
     [](Tile x, Tile) { return dtype == i8 ? cast(x, i64) * 100 : cast(x * 100, i64); }},
    {"cast_i1", [](Tile x, Tile) { return cast(x * 100, i1); }},
};

const std::map<std::string, Unary> rows = {
    {"sum", [](Tile x) { return sum(x, 1); }},
    {"prod", [](Tile x) { return prod(x, 1); }},
    {"max", [](Tile x) { return max(x, 1); }},
    {"min", [](Tile x) { return min(x, 1); }},
    {"argmax", [](Tile x) { return argmax(x, 1); }},
    {"argmin", [](Tile x) { return argmin(x, 1); }},
    {"cumsum", [](Tile x) { return cumsum(x, 1); }},
    {"cumprod", [](Tile x) { return cumprod(x, 1); }},
    {"cummax", [](Tile x) { return cummax(x, 1); }},
    {"cummin", [](Tile x) { return cummin(x, 1); }},
    {"cumsumBackward", [](Tile x) { return cumsum(x, 1, Direction::backward); }},
    {"cummaxBackward", [](Tile x) { return cummax(x, 1, Direction::backward); }},
    {"any", [](Tile x) { return any(isInteger() ? x > 0 : x > 0.5, 1); }},
    {"all", [](Tile x) { return all(isInteger() ? x > -1 : x > -0.75, 1); }},
    {"softmax",
     [](Tile x) {
       Tile e = exp(x - max(x, 1));
       return e / sum(e, 1);
     }},
};

const std::map<std::string, Unary> wholes = {
    {"sumColumns", [](Tile x) { return sum(x, 0, KeepDim::no); }},
    {"maxColumns", [](Tile x) { return max(x, 0, KeepDim::no); }},
    {"transposed", [](Tile x) { return transpose(x); }},
    {"cumsumColumns", [](Tile x) { return cumsum(x, 0); }},
    {"flat", [](Tile x) { return reshape(x, {x.size(0) * x.size(1)}); }},
};

/// c = a b, in blocks of 6 x 16 and the whole depth.
void product(bool isTransposed) {
  Symbol M("M"), N("N"), K("K");
  Buffer a = input("a", dtype, {M, K});
  Buffer b = input("b", dtype, isTransposed ? Shape{N, K} : Shape{K, N});
  Buffer c = output("c", dtype, {M, N});
  auto [p, q] = grid(ceilDiv(M, 6), ceilDiv(N, 16));
  Tile rows = load(a, {p * 6, 0}, {6, K});
  Tile columns =
      isTransposed ? transpose(load(b, {q * 16, 0}, {16, K})) : load(b, {0, q * 16}, {K, 16});
  store(c, {p * 6, q * 16}, dot(rows, columns));
}

void batchedProduct() {
  Symbol B("B"), M("M"), N("N"), K("K");
  Buffer a = input("a", dtype, {B, M, K}), b = input("b", dtype, {B, K, N});
  grid(1);
  Tile c = dot(load(a, {0, 0, 0}, {B, M, K}), load(b, {0, 0, 0}, {B, K, N}));
  store(output("c", dtype, {B, M, N}), {0, 0, 0}, c);
}

/// Kernels that read and write tiles of 4 x 8 in ways of their own.
struct Matrices {
  Symbol M{"M"}, N{"N"};
  Buffer x = input("x", dtype, {M, N});
  std::array<Index, 2> ids = grid(ceilDiv(M, 4), ceilDiv(N, 8));
  Index i = ids[0] * 4, j = ids[1] * 8;
  Tile tile() const { return load(x, {i, j}, {4, 8}); }
  Tile rows() const { return iota({4, 1}, 0, i64, i); }
  Tile columns() const { return iota({1, 8}, 1, i64, j); }
};

void strided() {
  Symbol M("M"), N("N");
  Buffer x = input("x", dtype, {M, N}), y = output("y", dtype, {M, N}, 3);
  auto [p, q] = grid(ceilDiv(M, 8), ceilDiv(N, 24));
  store(y, {p * 4, q * 8}, load(x, {p * 8, q * 24}, {4, 8}, {.strides = {2, 3}, .pad = 3}));
}

void gathered() {
  Matrices m;
  Tile number = (m.rows() * m.N + m.columns()) * 7 % (m.M * m.N);
  store(output("y", dtype, {m.M, m.N}), {m.i, m.j}, gather(m.x, {number / m.N, number % m.N}));
}

void reversed() {
  Matrices m;
  scatter(output("y", dtype, {m.M, m.N}), {m.rows(), m.N - 1 - m.columns()}, m.tile(),
          {.drop = true});
}

void combinedColumns(Atomic atomic) {
  Matrices m;
  bool isMax = atomic == Atomic::max;
  Buffer y = output("y", dtype, {m.N}, isMax ? -100 : 0);
  Tile tile = load(m.x, {m.i, m.j}, {4, 8}, {.pad = isMax ? -100 : 0});
  store(y, {m.j}, isMax ? max(tile, 0, KeepDim::no) : sum(tile, 0, KeepDim::no),
        {.atomic = atomic});
}

void inPlace() {
  Symbol M("M"), N("N");
  Buffer x = inout("x", dtype, {M, N});
  auto [p, q] = grid(ceilDiv(M, 4), ceilDiv(N, 8));
  store(x, {p * 4, q * 8}, load(x, {p * 4, q * 8}, {4, 8}) + 1);
}

/// Of each row, a loop over its elements; [M, 1].
void overElements(Index begin, Index end, int64_t step, Tile (*next)(Tile, Tile, Tile)) {
  Symbol M("M"), N("N");
  Buffer x = input("x", dtype, {M, N}), y = output("y", dtype, {M, 1});
  auto [p] = grid(M);
  bool isBackward = step < 0;
  Tile result = forLoop(isBackward ? N - 1 : begin, isBackward ? end : Index(N), step,
                        zeros({1, 1}, dtype), [&](Index k, Tile acc) {
                          Tile before = load(x, {p, k - 1}, {1, 1}, {.pad = 0});
                          return next(acc, before, load(x, {p, k}, {1, 1}));
                        });
  store(y, {p, 0}, result);
}

void branch() {
  Symbol M("M"), N("N");
  Buffer x = input("x", dtype, {M, N}), y = output("y", dtype, {M, N});
  auto [p] = grid(M);
  Tile row = load(x, {p, 0}, {1, N});
  store(y, {p, 0}, ifThenElse(mod(p, 2) == 0, [&] { return row + 1; }, [&] { return row * 2; }));
}

const std::map<std::string, void (*)()> others = {
    {"dot", [] { product(false); }},
    {"dotTransposed", [] { product(true); }},
    {"dotBatched", batchedProduct},
    {"shifted",
     [] {
       Matrices m;
       Tile tile = load(m.x, {m.i - 2, m.j - 1}, {4, 8}, {.pad = 7});
       store(output("y", dtype, {m.M, m.N}), {m.i, m.j}, tile);
     }},
    {"strided", strided},
    {"masked",
     [] {
       Matrices m;
       Tile tile = load(m.x, {m.i, m.j}, {4, 8}, {.mask = iota({4, 8}, 1) < 5, .pad = -2});
       store(output("y", dtype, {m.M, m.N}), {m.i, m.j}, tile);
     }},
    {"maskedStore",
     [] {
       Matrices m;
       Buffer y = output("y", dtype, {m.M, m.N}, 1);
       store(y, {m.i, m.j}, m.tile(), {.mask = iota({4, 8}, 1) % 2 == 0});
     }},
    {"reversed", reversed},
    {"gathered", gathered},
    {"addedUp", [] { combinedColumns(Atomic::add); }},
    {"largest", [] { combinedColumns(Atomic::max); }},
    {"inPlace", inPlace},
    {"halves",
     [] {
       Symbol M("M"), N("N", {.min = 1});
       Buffer x = input("x", dtype, {M, N}), y = output("y", dtype, {M, 4});
       auto [p] = grid(ceilDiv(M, 3));
       store(y, {p * 3, 0}, load(x, {p * 3, 0}, {3, 1}) * cast(iota({4}), dtype));
     }},
    {"loopSum", [] { overElements(0, 0, 1, [](Tile acc, Tile, Tile now) { return acc + now; }); }},
    {"loopBackward",
     [] {
       overElements(0, 0, -1, [](Tile acc, Tile before, Tile now) { return acc + before - now; });
     }},
    {"branch", branch},
};

} // namespace

std::span<const tw::Truth> tw::kernelTruths() {
  static const Truth truths[] = {
#include "KernelTruth.inc"
  };
  return truths;
}

std::string tw::truthKernel(const std::string &name, const std::string &dtypeName) {
  static const std::map<std::string, DType> dtypes = {{"f16", f16}, {"bf16", bf16}, {"f32", f32},
                                                      {"f64", f64}, {"i8", i8},     {"i16", i16},
                                                      {"i32", i32}, {"i64", i64}};
  dtype = dtypes.at(dtypeName);
  TraceResult result = trace("k", [&] {
    if (auto block = blocks.find(name); block != blocks.end())
      onBlocks(block->second);
    else if (auto row = rows.find(name); row != rows.end())
      onRows(row->second);
    else if (auto whole = wholes.find(name); whole != wholes.end())
      onAll(whole->second);
    else
      others.at(name)();
  });
  if (result.error)
    throw std::runtime_error(std::to_string(result.error->line) + ": " + result.error->message);
  return result.text;
}
