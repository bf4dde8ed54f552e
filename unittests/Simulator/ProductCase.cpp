// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ProductCase.h"
#include <fmt/format.h>

namespace tw::target {

/// Of two warp groups that take turns, or of a sum in parts.
static std::string configurationOf(const ProductCase &c) {
  if (c.pingPongStages == 0 && c.parts == 1)
    return {};
  bool isPingPong = c.pingPongStages > 0;
  return fmt::format(
      " attributes {{tile.configuration = #tile.config<\"contraction\" {{rows = {}, columns = {}, "
      "row_programs = 1, column_programs = 1, packed = false, panels = 1, "
      "vectorize_reduction = false, k_block = {}, split_k = {}, column_parts = 1, split_parts = "
      "{}}} "
      "on <\"nvidia\" {{stages = {}, warp_groups = {}, ping_pong = {}, late_trigger = false}}>>}}",
      c.rows, c.columns, c.depth, c.parts > 1, c.parts, isPingPong ? c.pingPongStages : 3,
      isPingPong || c.rows % 128 == 0 ? 2 : 1, isPingPong);
}

/// How parts of the loop are combined is said, where there are some.
static std::string endOfLoop(const ProductCase &c, const std::string &sums) {
  std::string text = fmt::format("    tile.yield %d : {}\n  }}", sums);
  if (c.parts > 1)
    text += fmt::format(" combine commutative (%x : {0}, %y : {0}) {{\n"
                        "    %both = arith.addf %x, %y : {0}\n    tile.yield %both : {0}\n  }}",
                        sums);
  return text + "\n";
}

/// The left operand from another type: 1.5 more, where nothing is loaded, too.
static std::string computedLeft(const ProductCase &c, const std::string &buffer, const char *at) {
  auto typed = [&](const std::string &type) {
    return fmt::format("tensor<{}x{}x{}>", c.rows, c.depth, type);
  };
  std::string from = c.computedFrom, wide = typed("f32"), narrow = typed(c.type);
  std::string text =
      fmt::format("    %loaded = tile.load %as[%row, %{}] : {} -> {}\n", at, buffer, typed(from));
  const char *widening = from == "f32"    ? nullptr
                         : from == "i1"   ? "uitofp"
                         : from[0] == 'i' ? "sitofp"
                                          : "extf";
  if (widening)
    text += fmt::format("    %wide = arith.{} %loaded : {} to {}\n", widening, typed(from), wide);
  return text + fmt::format("    %more_of_it = arith.constant 1.5 : f32\n"
                            "    %more_tile = tile.full %more_of_it : f32 -> {0}\n"
                            "    %added = arith.addf %{1}, %more_tile : {0}\n"
                            "    %a = arith.truncf %added : {0} to {2}\n",
                            wide, widening ? "wide" : "loaded", narrow);
}

/// `value` less the sums of its rows, by their maxima of absolute values.
static std::string statisticsOf(const ProductCase &c, const std::string &value) {
  auto typed = [&](int64_t columns) { return fmt::format("tensor<{}x{}xf32>", c.rows, columns); };
  std::string all = typed(c.columns), one = typed(1), row = fmt::format("tensor<{}xf32>", c.rows);
  return fmt::format("  %row_sums = tile.reduce sum {3} axis 1 : {0} -> {2}\n"
                     "  %column_sums = tile.reshape %row_sums : {2} -> {1}\n"
                     "  %all_sums = tile.broadcast %column_sums : {1} -> {0}\n"
                     "  %less = arith.subf {3}, %all_sums : {0}\n"
                     "  %positive = math.absf %less : {0}\n"
                     "  %row_most = tile.reduce max %positive axis 1 : {0} -> {2}\n"
                     "  %column_most = tile.reshape %row_most : {2} -> {1}\n"
                     "  %all_most = tile.broadcast %column_most : {1} -> {0}\n"
                     "  %normal = arith.divf %less, %all_most : {0}\n",
                     all, one, row, value);
}

static std::string operand(const char *name, const std::string &from, const char *first,
                           const char *second, bool isTransposed, const std::string &type,
                           const std::string &turned) {
  if (!isTransposed)
    return fmt::format("    %{0} = tile.load %{0}s[%{1}, %{2}] : {3} -> {4}\n", name, first, second,
                       from, type);
  return fmt::format("    %{0}_turned = tile.load %{0}s[%{1}, %{2}] : {3} -> {4}\n"
                     "    %{0} = tile.transpose %{0}_turned [1, 0] : {4} -> {5}\n",
                     name, second, first, from, turned, type);
}

std::string textOf(const ProductCase &c) {
  auto size = [&](char name, int64_t known) {
    return c.unknown.find(name) != std::string::npos ? std::string(1, name) : std::to_string(known);
  };
  std::string m = size('M', c.m), n = size('N', c.n), k = size('K', c.k);
  auto buffer = [](const std::string &rows, const std::string &columns, const char *type) {
    return fmt::format("!tile.buffer<[{}, {}], {}>", rows, columns, type);
  };
  auto tensor = [](int64_t rows, int64_t columns, const char *type) {
    return fmt::format("tensor<{}x{}x{}>", rows, columns, type);
  };
  const char *typeOfA = c.computedFrom ? c.computedFrom : c.type;
  std::string a = c.isTransposedA ? buffer(k, m, typeOfA) : buffer(m, k, typeOfA);
  std::string b = c.isTransposedB ? buffer(n, k, c.type) : buffer(k, n, c.type);
  std::string out = buffer(m, n, c.result), more = buffer(m, n, c.type);
  std::string sums = tensor(c.rows, c.columns, "f32");
  std::string ofA = tensor(c.rows, c.depth, c.type), ofB = tensor(c.depth, c.columns, c.type);
  std::string symbols;
  for (char name : c.unknown)
    symbols += (symbols.empty() ? " symbols [" : ", ") + std::string(1, name);
  symbols += symbols.empty() ? "" : "]";
  std::string text =
      fmt::format("tile.kernel @product(in %as: {}, in %bs: {}, in %bias: "
                  "!tile.buffer<[{}], {}>, in %more: {}, "
                  "out %c: {}){} grid [{} ceildiv {}, {} ceildiv {}]{} {{\n",
                  a, b, n, c.type, more, out, symbols, m, c.rows, n, c.columns, configurationOf(c));
  for (int64_t number : {int64_t(0), int64_t(1), c.rows, c.columns, c.depth})
    if (text.find(fmt::format("%n{} =", number)) == std::string::npos)
      text += fmt::format("  %n{0} = arith.constant {0} : index\n", number);
  text += fmt::format("  %zero = arith.constant 0.0 : f32\n"
                      "  %m = tile.program_id 0\n  %n = tile.program_id 1\n"
                      "  %row = arith.muli %m, %n{} : index\n"
                      "  %column = arith.muli %n, %n{} : index\n"
                      "  %none = tile.full %zero : f32 -> {}\n",
                      c.rows, c.columns, sums);
  const char *at = "n0", *before = "none", *result = "sum";
  if (c.hasLoop) {
    at = "at", before = "acc", result = "d";
    text += fmt::format("  %{} = tile.size {} ceildiv {}\n", c.isTriangular ? "whole" : "trips", k,
                        c.depth);
    if (c.isTriangular)
      text += "  %rows = arith.addi %m, %n1 : index\n"
              "  %trips = arith.minsi %whole, %rows : index\n";
    text +=
        fmt::format("  %sum = tile.for %i = %n0 to %trips step %n1 carry (%acc = %none : {}) {{\n"
                    "    %at = arith.muli %i, %n{} : index\n",
                    sums, c.depth);
  }
  if (c.computedFrom)
    text += computedLeft(c, a, at);
  else
    text += operand("a", a, "row", at, c.isTransposedA, ofA, tensor(c.depth, c.rows, c.type));
  text += operand("b", b, at, "column", c.isTransposedB, ofB, tensor(c.columns, c.depth, c.type));
  text += fmt::format("    %{} = tile.dot %a, %b, %{}{} : {}, {}, {}\n", result, before,
                      c.isTF32 ? " tf32" : "", ofA, ofB, sums);
  if (c.hasLoop)
    text += endOfLoop(c, sums);
  std::string value = "%sum", narrow = tensor(c.rows, c.columns, c.result);
  bool isNarrow = std::string(c.result) != "f32";
  if (c.hasEpilogue) {
    auto widened = [&](const char *from, const char *to, const std::string &narrowType,
                       const std::string &type) {
      if (std::string(c.type) == "f32")
        return fmt::format("  %{} = tile.reshape %{} : {} -> {}\n", to, from, narrowType, type);
      return fmt::format("  %{} = arith.extf %{} : {} to {}\n", to, from, narrowType, type);
    };
    text += fmt::format(
        "  %v = tile.load %bias[%column] : !tile.buffer<[{1}], {2}> -> tensor<{0}x{2}>\n"
        "  %v1 = tile.reshape %v : tensor<{0}x{2}> -> tensor<1x{0}x{2}>\n",
        c.columns, n, c.type);
    text += widened("v1", "v2", tensor(1, c.columns, c.type), tensor(1, c.columns, "f32"));
    text += fmt::format("  %v3 = tile.broadcast %v2 : tensor<1x{0}xf32> -> {1}\n"
                        "  %biased = arith.addf %sum, %v3 : {1}\n"
                        "  %e = math.tanh %biased : {1}\n"
                        "  %r = tile.load %more[%row, %column] : {2} -> {3}\n",
                        c.columns, sums, more, tensor(c.rows, c.columns, c.type));
    text += widened("r", "r1", tensor(c.rows, c.columns, c.type), sums);
    text += fmt::format("  %all = arith.addf %e, %r1 : {}\n", sums);
    value = "%all";
  }
  if (c.hasStatistics) {
    text += statisticsOf(c, value);
    value = "%normal";
  }
  if (isNarrow) {
    text += fmt::format("  %h = arith.truncf {} : {} to {}\n", value, sums, narrow);
    value = "%h";
  }
  return text +
         fmt::format("  tile.store {}, %c[%row, %column] : {}, {}\n}}\n", value, narrow, out);
}

std::vector<std::string> inputsOf(const ProductCase &c) {
  auto spec = [](int64_t rows, int64_t columns, const std::string &type, int seed) {
    return fmt::format("{}x{}x{}=random:{}", rows, columns, type, seed);
  };
  std::string typeOfA = c.computedFrom ? c.computedFrom : c.type;
  if (typeOfA == "i1")
    typeOfA = "bool"; // as specs have it
  return {c.isTransposedA ? spec(c.k, c.m, typeOfA, 1) : spec(c.m, c.k, typeOfA, 1),
          c.isTransposedB ? spec(c.n, c.k, c.type, 2) : spec(c.k, c.n, c.type, 2),
          fmt::format("{}x{}=random:3", c.n, c.type), spec(c.m, c.n, c.type, 4)};
}

} // namespace tw::target
