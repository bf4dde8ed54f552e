// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/Driver/Points/Dispatches.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

namespace tw {
namespace {

struct TensorText {
  std::vector<int64_t> sizes;
  std::string dtype;

  std::string type() const {
    std::string text;
    for (int64_t size : sizes)
      text += (size < 0 ? "?" : std::to_string(size)) + "x";
    return "tensor<" + text + dtype + ">";
  }

  /// As a weight in row-major order.
  std::string weight() const {
    int64_t bytes = dtype == "bf16" ? 2 : 4;
    std::vector<int64_t> strides(sizes.size());
    for (size_t dim = sizes.size(); dim-- > 0; bytes *= sizes[dim])
      strides[dim] = std::accumulate(sizes.begin() + ptrdiff_t(dim) + 1, sizes.end(), int64_t(1),
                                     std::multiplies());
    return fmt::format("tw.weight <\"w\" in \"w.bin\"[0, {}] start 0 strides[{}]> : {}", bytes,
                       fmt::join(strides, ", "), type());
  }
};

/// A dispatch @k of inputs %i0, %i1, ... and outputs %o0, ..., of which one input may be a weight.
struct DispatchText {
  std::vector<TensorText> inputs, outputs;
  int weight = -1;
  std::string body; // which returns %y#0, ...
  std::string maps = {};

  /// What defines the sizes that only calls tell, as %s1 and %s2: which of them an input has.
  std::string sizesText() const {
    std::map<int64_t, std::string> known;
    for (size_t i = 0; i < inputs.size(); ++i)
      for (size_t dim = 0; dim < inputs[i].sizes.size(); ++dim)
        if (int64_t size = inputs[i].sizes[dim]; size < 0)
          known.try_emplace(size, fmt::format("%d{0} = arith.constant {1} : index\n  %s{0} = "
                                              "tensor.dim %i{2}, %d{0} : {3}\n  ",
                                              -size, dim, i, inputs[i].type()));
    std::string text;
    for (const auto &[size, definition] : known)
      text += definition;
    return text;
  }

  static std::string emptyText(const std::string &name, const TensorText &tensor) {
    std::vector<std::string> sizes;
    for (int64_t size : tensor.sizes)
      if (size < 0)
        sizes.push_back(fmt::format("%s{}", -size));
    return fmt::format("{} = tensor.empty({}) : {}", name, fmt::join(sizes, ", "), tensor.type());
  }

  std::string module() const {
    std::vector<std::string> given, parameters, in, out, inTypes, outTypes, empty, results;
    for (size_t i = 0; i < inputs.size(); ++i) {
      in.push_back(fmt::format("%i{}", i));
      inTypes.push_back(inputs[i].type());
      parameters.push_back(fmt::format("{}: {}", in.back(), inTypes.back()));
      if (int(i) != weight)
        given.push_back(parameters.back());
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      out.push_back(fmt::format("%o{}", i));
      outTypes.push_back(outputs[i].type());
      parameters.push_back(fmt::format("{}: {}", out.back(), outTypes.back()));
      empty.push_back(emptyText(out.back(), outputs[i]));
      results.push_back(fmt::format("%y#{}", i));
    }
    return fmt::format(
        R"({maps}
func.func @main({given}) -> ({outTypes}) {{
  {weight}
  {sizes}{empty}
  %y:{count} = tw.dispatch @k({in}) outs({out}) : ({inTypes}) outs({outTypes}) -> {outTypes}
  return {results} : {outTypes}
}}
func.func private @k({parameters}) -> ({outTypes}) attributes {{tw.kernel}} {{
  %zero = arith.constant 0.0 : f32
  {body}
  return {results} : {outTypes}
}}
)",
        fmt::arg("maps", maps), fmt::arg("given", fmt::join(given, ", ")),
        fmt::arg("weight", weight < 0
                               ? ""
                               : fmt::format("%i{} = {}", weight, inputs[size_t(weight)].weight())),
        fmt::arg("sizes", sizesText()), fmt::arg("empty", fmt::join(empty, "\n  ")),
        fmt::arg("count", outputs.size()), fmt::arg("in", fmt::join(in, ", ")),
        fmt::arg("out", fmt::join(out, ", ")), fmt::arg("inTypes", fmt::join(inTypes, ", ")),
        fmt::arg("outTypes", fmt::join(outTypes, ", ")),
        fmt::arg("results", fmt::join(results, ", ")),
        fmt::arg("parameters", fmt::join(parameters, ", ")), fmt::arg("body", body));
  }
};

constexpr char filled[] = "%f = linalg.fill ins(%zero : f32) outs(%o0 : {0}) -> {0}\n  ";

} // namespace

std::string text(const ProductCase &p) {
  TensorText x{{p.rows, p.sum}, p.dtype}, w{{p.sum, p.columns}, p.dtype},
      y{{p.rows, p.columns}, "f32"};
  std::string multiply = R"(%p = arith.mulf %a, %b : f32)";
  if (x.dtype != "f32")
    multiply = fmt::format(R"(%c = arith.extf %a : {0} to f32
    %d = arith.extf %b : {0} to f32
    %p = arith.mulf %c, %d : f32)",
                           p.dtype);
  std::string body = fmt::format(
      R"(%f = linalg.fill ins(%zero : f32) outs(%o0 : {y}) -> {y}
  %y:1 = linalg.generic {{
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%i0, %i1 : {x}, {w}) outs(%f : {y}) {{
  ^bb0(%a: {dtype}, %b: {dtype}, %sum: f32):
    {multiply}
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }} -> {y})",
      fmt::arg("x", x.type()), fmt::arg("w", w.type()), fmt::arg("y", y.type()),
      fmt::arg("dtype", p.dtype), fmt::arg("multiply", multiply));
  return DispatchText{{x, w}, {y}, p.isWeight ? 1 : -1, body}.module();
}

std::string text(const ConvolutionCase &c) {
  TensorText x{{1, c.size, c.size, c.channels}, "f32"},
      w{{3, 3, c.channels / c.groups, c.outputs}, "f32"}, y{{1, c.size, c.size, c.outputs}, "f32"};
  std::string body =
      fmt::format(filled, y.type()) +
      fmt::format("%y:1 = tw.conv layout channels_last ins(%i0, %i1 : {}, {}) outs(%f : {}) "
                  "{{strides = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, "
                  "dilations = array<i64: 1, 1>, groups = {} : i64}} -> {}",
                  x.type(), w.type(), y.type(), c.groups, y.type());
  return DispatchText{{x, w}, {y}, 1, body}.module();
}

static constexpr char attentionMaps[] = R"(
#q = affine_map<(h, l, s, e, f) -> (h, l, e)>
#k = affine_map<(h, l, s, e, f) -> (h, s, e)>
#v = affine_map<(h, l, s, e, f) -> (h, s, f)>
#o = affine_map<(h, l, s, e, f) -> (h, l, f)>
#r = affine_map<(h, l, s, e, f) -> (h, l)>
)";

std::string attentionText(const AttentionCase &a) {
  TensorText q{{a.heads, a.queries, a.depth}, a.dtype}, k{{a.heads, a.keys, a.depth}, a.dtype};
  std::string body = fmt::format(
      "%scale = arith.constant 0.125 : f64\n"
      "  %y:1 = tw.attention ins(%i0, %i1, %i2 : {0}, {1}, {1}) scale %scale outs(%o0 : {0}) "
      "{{indexing_maps = [#q, #k, #v, #o]}} -> {0}",
      q.type(), k.type());
  return DispatchText{{q, k, k}, {q}, -1, body, attentionMaps}.module();
}

std::string attentionGradientText(const AttentionCase &a) {
  TensorText q{{a.heads, a.queries, a.depth}, a.dtype}, k{{a.heads, a.keys, a.depth}, a.dtype},
      row{{a.heads, a.queries}, "f32"};
  std::string body = fmt::format(
      "%scale = arith.constant 0.125 : f64\n"
      "  %y:3 = tw.attention_gradient wrt <query|key|value> ins(%i0, %i1, %i2 : {0}, {1}, {1}) "
      "output(%i3, %i4, %i5 : {0}, {2}, {2}) scale %scale outs(%o0, %o1, %o2 : {0}, {1}, {1}) "
      "{{indexing_maps = [#q, #k, #v, #o, #r, #r, #q, #k, #v]}} -> {0}, {1}, {1}",
      q.type(), k.type(), row.type());
  return DispatchText{{q, k, k, q, row, row}, {q, k, k}, -1, body, attentionMaps}.module();
}

std::string transposeText(int64_t rows, int64_t columns) {
  TensorText x{{rows, columns}, "f32"}, y{{columns, rows}, "f32"};
  std::string body = fmt::format(
      R"(%y:1 = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%i0 : {0}) outs(%o0 : {1}) {{
  ^bb0(%a: f32, %b: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }} -> {1})",
      x.type(), y.type());
  return DispatchText{{x}, {y}, -1, body}.module();
}

std::string rowSumText(int64_t rows, int64_t columns) {
  TensorText x{{rows, columns}, "f32"}, y{{rows}, "f32"};
  std::string body = fmt::format(filled, y.type()) + fmt::format(
                                                         R"(%y:1 = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins(%i0 : {0}) outs(%f : {1}) {{
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    linalg.yield %s : f32
  }} -> {1})",
                                                         x.type(), y.type());
  return DispatchText{{x}, {y}, -1, body}.module();
}

std::string concatenationText(int64_t rows, int64_t left, int64_t right) {
  TensorText x{{rows, left}, "f32"}, w{{rows, right}, "f32"}, y{{rows, left + right}, "f32"};
  std::string body = fmt::format(
      "%a = tensor.insert_slice %i0 into %o0[0, 0] [{rows}, {left}] [1, 1] : {x} into {y}\n"
      "  %y:1 = tensor.insert_slice %i1 into %a[0, {left}] [{rows}, {right}] [1, 1] : {w} into {y}",
      fmt::arg("rows", rows), fmt::arg("left", left), fmt::arg("right", right),
      fmt::arg("x", x.type()), fmt::arg("w", w.type()), fmt::arg("y", y.type()));
  return DispatchText{{x, w}, {y}, -1, body}.module();
}

} // namespace tw
