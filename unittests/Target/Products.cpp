// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Products.h"
#include <fmt/format.h>

namespace tw::target {

static std::string sizesOfB(const Product &p) {
  switch (p.layout) {
  case Layout::Plain:
    return "K, N";
  case Layout::Transposed:
    return "N, K";
  case Layout::Panels:
    return fmt::format("N ceildiv {0}, K, {0}", p.columns / p.panels);
  case Layout::Pairs:
    return fmt::format("N ceildiv {0}, K ceildiv 2, {0}, 2", p.columns);
  }
  return "";
}

/// The tile [depth, columns] of b as %y.
static std::string loadOfB(const Product &p) {
  auto load = [&](const char *at, const std::string &tile) {
    return fmt::format("%q = tile.load %b[{}] : !tile.buffer<[{}], {}> -> tensor<{}x{}>\n", at,
                       sizesOfB(p), p.operand, tile, p.operand);
  };
  std::string tile = fmt::format("tensor<{}x{}x{}>", p.depth, p.columns, p.operand);
  switch (p.layout) {
  case Layout::Plain:
    return load("%k, %column", fmt::format("{}x{}", p.depth, p.columns)) +
           fmt::format("%y = tile.reshape %q : {0} -> {0}\n", tile);
  case Layout::Transposed:
    return load("%column, %k", fmt::format("{}x{}", p.columns, p.depth)) +
           fmt::format("%y = tile.transpose %q [1, 0] : tensor<{}x{}x{}> -> {}\n", p.columns,
                       p.depth, p.operand, tile);
  case Layout::Pairs:
    return fmt::format(R"(%two = arith.constant 2 : index
      %pair = arith.divui %k, %two : index
      %q = tile.load %b[%n, %pair, %c0, %c0] : !tile.buffer<[{0}], {1}> -> tensor<1x{2}x{3}x2x{1}>
      %r = tile.reshape %q : tensor<1x{2}x{3}x2x{1}> -> tensor<{2}x{3}x2x{1}>
      %s = tile.transpose %r [0, 2, 1] : tensor<{2}x{3}x2x{1}> -> tensor<{2}x2x{3}x{1}>
      %y = tile.reshape %s : tensor<{2}x2x{3}x{1}> -> {4}
)",
                       sizesOfB(p), p.operand, p.depth / 2, p.columns, tile);
  case Layout::Panels:
    break;
  }
  if (p.panels > 1) {
    int64_t width = p.columns / p.panels;
    std::string turned = fmt::format("tensor<{}x{}x{}x{}>", p.depth, p.panels, width, p.operand);
    return fmt::format("%panels = arith.constant {} : index\n"
                       "%panel = arith.muli %n, %panels : index\n",
                       p.panels) +
           load("%panel, %k, %c0", fmt::format("{}x{}x{}", p.panels, p.depth, width)) +
           fmt::format("%t = tile.transpose %q [1, 0, 2] : tensor<{0}x{1}x{2}x{3}> -> {4}\n"
                       "%y = tile.reshape %t : {4} -> {5}\n",
                       p.panels, p.depth, width, p.operand, turned, tile);
  }
  std::string panel = fmt::format("1x{}x{}", p.depth, p.columns);
  return load("%n, %k, %c0", panel) +
         fmt::format("%y = tile.reshape %q : tensor<{}x{}> -> {}\n", panel, p.operand, tile);
}

std::string product(const Product &p) {
  return fmt::format(R"(
  tile.kernel @k(in %a: !tile.buffer<[M, K], {dtype}>, in %b: !tile.buffer<[{buffer}], {dtype}>,
                 inout %c: !tile.buffer<[M, N], {sum}>)
      symbols [M, N, K] grid [M ceildiv {rows}, N ceildiv {columns}]
      attributes {{tile.block = array<i64: 16, 8>}} {{
    %m = tile.program_id 0
    %n = tile.program_id 1
    %c0 = arith.constant 0 : index
    %rows = arith.constant {rows} : index
    %columns = arith.constant {columns} : index
    %depth = arith.constant {depth} : index
    %row = arith.muli %m, %rows : index
    %column = arith.muli %n, %columns : index
    %end = tile.size K
    %zero = arith.constant 0.0 : {sum}
    %none = tile.full %zero : {sum} -> {result}
    %all = tile.for %k = %c0 to %end step %depth carry (%sum = %none : {result}) {{
      %x = tile.load %a[%row, %k] : !tile.buffer<[M, K], {dtype}> -> tensor<{rows}x{depth}x{dtype}>
      {load}
      %part = tile.dot %x, %y, %none : tensor<{rows}x{depth}x{dtype}>,
        tensor<{depth}x{columns}x{dtype}>, {result}
      %next = arith.addf %sum, %part : {result}
      tile.yield %next : {result}
    }}
    tile.store %all, %c[%row, %column] : {result}, !tile.buffer<[M, N], {sum}>
  }})",
                     fmt::arg("dtype", p.operand), fmt::arg("sum", p.sum), fmt::arg("rows", p.rows),
                     fmt::arg("columns", p.columns), fmt::arg("depth", p.depth),
                     fmt::arg("buffer", sizesOfB(p)), fmt::arg("load", loadOfB(p)),
                     fmt::arg("result", fmt::format("tensor<{}x{}x{}>", p.rows, p.columns, p.sum)));
}

} // namespace tw::target
