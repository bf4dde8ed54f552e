// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Contraction.h"
#include "Kernels/KernelFrame.h"
#include "Support/Size.h"
#include <algorithm>

namespace tw::kernels {
using namespace tw::kernel;

void dropUnusedDims(Contraction &product) {
  DimRenumbering dims(product.dims.size());
  for (const Access *access : {&product.a, &product.b, &product.c})
    dims.use(*access);
  product.dims = dims.compact(product.dims);
  for (Access *access : {&product.a, &product.b, &product.c})
    dims.renumber(*access);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

ContractionRoles rolesOf(const Contraction &contraction) {
  ContractionRoles roles;
  for (const Axis &axis : contraction.c.axes)
    if (axis.dim >= 0) {
      bool inA = contraction.a.covers(axis.dim), inB = contraction.b.covers(axis.dim);
      (inA && inB ? roles.batch : inA ? roles.rows : roles.columns).push_back(axis.dim);
    }
  for (const Axis &axis : contraction.a.axes)
    if (axis.dim >= 0 && !contraction.c.covers(axis.dim))
      roles.sums.push_back(axis.dim);
  return roles;
}

std::string refuse(const Contraction &contraction) {
  for (const Access *operand : {&contraction.a, &contraction.b})
    for (const Axis &axis : operand->axes) {
      const Access &other = operand == &contraction.a ? contraction.b : contraction.a;
      if (axis.dim >= 0 && !contraction.c.covers(axis.dim) && !other.covers(axis.dim))
        return "a dimension of one operand alone is summed over";
    }
  for (const Axis &axis : contraction.c.axes)
    if (axis.dim >= 0 && !contraction.a.covers(axis.dim) && !contraction.b.covers(axis.dim))
      return "the result repeats along a dimension that no operand has";
  ContractionRoles roles = rolesOf(contraction);
  if (roles.rows.empty() && roles.columns.empty())
    return "it is a sum of products without rows or columns";
  if (roles.sums.empty())
    return "nothing is summed over";
  return {};
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

namespace {

constexpr int64_t unknownExtent = 512;
constexpr int64_t blockRows = 192, blockColumns = 256; // of c, for one worker: stays in L2
constexpr int64_t mostVectors = 8;
// Blocks in scratch: where both operands are converted there, and where b is beside the products.
constexpr int64_t convertedRows = 96, convertedWidth = 128, unpackedWidth = 256;
constexpr int64_t summedRows = 8, summedElements = 1 << 16; // of a program; of a worker's
constexpr int64_t fewPrograms = 32, longSum = 4096;
// More rows of a meet in one set of the first-level cache when they are a power of two long.
constexpr int64_t mostRows = 8;

int64_t sizeOf(const Contraction &contraction, const std::vector<int> &dims) {
  return dims.empty() ? 1 : contraction.dims[dims.back()].size.value_or(unknownExtent);
}

/// Cycles for one step of the sum over all programs of one matrix: two multiplications or two loads
/// in a cycle, and a chain of additions is four cycles long. Loads also cost what their caches do:
/// a comes from the first level, b from the second.
double cycles(int64_t rows, int64_t columns, const ContractionConfiguration &block,
              const VectorUnit &unit) {
  auto ceilDiv = [](int64_t a, int64_t b) {
    int64_t quotient = (a + b - 1) / b;
    return double(quotient);
  };
  double vectors = ceilDiv(block.columns, unit.lanes), products = double(block.rows) * vectors;
  double loads = double(block.rows) + vectors;
  double step = std::max({products / 2, loads / 2, 4.0}) + 0.1 * double(block.rows) + 0.3 * vectors;
  return ceilDiv(rows, block.rows) * ceilDiv(columns, block.columns) * step;
}

} // namespace

bool canPack(const Contraction &contraction) {
  ContractionRoles roles = rolesOf(contraction);
  auto isWhole = [&](const Axis &axis) {
    return axis.dim >= 0 && axis.offset == 0 && axis.stride == 1 &&
           contraction.dims[axis.dim].size &&
           std::find(roles.batch.begin(), roles.batch.end(), axis.dim) == roles.batch.end();
  };
  return roles.columns.size() == 1 && contraction.b.axes.size() == roles.sums.size() + 1 &&
         std::all_of(contraction.b.axes.begin(), contraction.b.axes.end(), isWhole);
}

std::vector<int> packedOrder(const Contraction &contraction) {
  ContractionRoles roles = rolesOf(contraction);
  std::vector<int> dims = roles.columns;
  dims.insert(dims.end(), roles.sums.begin(), roles.sums.end());
  std::vector<int> order;
  for (int dim : dims)
    for (size_t axis = 0; axis < contraction.b.axes.size(); ++axis)
      if (contraction.b.axes[axis].dim == dim)
        order.push_back(int(axis));
  return order;
}

/// Whether an operand has to be converted, which wants a block that uses it often, in scratch; with
/// 32 registers it is done again and again, beside the products.
static bool convertsFirst(const Contraction &contraction, const VectorUnit &unit) {
  auto isHalf = [&](const Access &access) {
    return contraction.buffers[access.buffer].dtype <= kernel::bf16;
  };
  return contraction.sum == kernel::f32 && unit.registers < 32 &&
         (isHalf(contraction.a) || isHalf(contraction.b));
}

/// Whether both operands are bf16, summed in f32.
static bool canPair(const Contraction &contraction) {
  auto isHalf = [&](const Access &access) {
    return contraction.buffers[access.buffer].dtype == kernel::bf16;
  };
  return isHalf(contraction.a) && isHalf(contraction.b) && contraction.sum == kernel::f32;
}

/// Whether they are converted beside the products: a vector of b is two of f32 by one instruction
/// each (CPU/UnpackBf16.h).
static bool convertsInProducts(const Contraction &contraction) {
  return canPair(contraction) && rolesOf(contraction).sums.size() == 1;
}

/// The width of panels that `columns` fall into evenly; 0 if all that do are narrow, or leave much
/// of their last vector empty.
static int64_t evenPanel(int64_t columns, const VectorUnit &unit) {
  // Two rows of them at least are to fit.
  int64_t most = std::min(mostVectors, (unit.registers - 1) / 3);
  for (int64_t width = std::min(columns, most * unit.lanes); width >= unit.lanes; --width) {
    int64_t vectors = (width + unit.lanes - 1) / unit.lanes;
    if (columns % width == 0 && 4 * width >= 3 * vectors * unit.lanes)
      return width;
  }
  return 0;
}

/// Whether one operand is a vector and the other one's rows, along which is summed, lie in memory
/// as they are: then it is read once, from one end to the other.
static bool sumsRows(const Contraction &contraction, const ContractionRoles &roles, bool isPacked) {
  auto isOne = [&](const std::vector<int> &dims) {
    return std::all_of(dims.begin(), dims.end(),
                       [&](int dim) { return contraction.dims[dim].size == 1; });
  };
  auto isInnermost = [&](const Access &access) {
    return access.axes.back().dim == roles.sums[0] && access.axes.back().stride == 1;
  };
  if (roles.sums.size() != 1 || contraction.sum > kernel::f64)
    return false;
  return (isOne(roles.columns) && isInnermost(contraction.a)) ||
         (isOne(roles.rows) && isInnermost(contraction.b) && !isPacked);
}

std::vector<Constraint> contractionConstraints(const Contraction &contraction) {
  ContractionRoles roles = rolesOf(contraction);
  std::vector<Constraint> constraints = {
      {"1", "rows"},
      {"1", "columns"},
      {"1", "rowPrograms"},
      {"1", "columnPrograms"},
      {"0", "sumStep"},
      // The block, one row of b and one element of a for it.
      {"(rows * (columns ceildiv lanes) + columns ceildiv lanes + 1) *"
       " (1 - inPairs - alongSum - inScratch)",
       "registers"},
      {"inPairs + alongSum + inScratch", "1"},
      // Pairs are of panels, of which blocks have the form of the instructions.
      {"inPairs", "isPacked"},
      {"inPairs * rows", "pairRows"},
      {"inPairs * columns", "pairColumns"},
      {"inPairs * pairColumns", "columns"},
      {"alongSum + isPacked", "1"},
      {"1", "panels"},
      {"columns mod panels", "0"},
      {"panels", "1 + isPacked * inScratch * columns"},
  };
  auto isNever = [&](const char *field) { constraints.emplace_back(field, "0"); };
  auto isMultiple = [&](const char *field, int dim, const char *of) { // where the field is set
    std::string size = std::to_string(*contraction.dims[dim].size);
    constraints.emplace_back(std::string(field) + " * (" + size + " mod " + of + ")", "0");
  };
  if (canPack(contraction))
    isMultiple("isPacked", roles.columns[0], "columns"); // panels come out even
  else
    isNever("isPacked");
  if (canPair(contraction) && contraction.dims[roles.sums.back()].size)
    isMultiple("inPairs", roles.sums.back(), "2");
  else
    isNever("inPairs");
  if (!sumsRows(contraction, roles, false))
    isNever("alongSum");
  if (roles.sums.size() != 1)
    isNever("sumStep");
  return constraints;
}

static Numbers numbersOf(const ContractionConfiguration &configuration, const VectorUnit &unit) {
  return {{"rows", configuration.rows},
          {"columns", configuration.columns},
          {"rowPrograms", configuration.rowPrograms},
          {"columnPrograms", configuration.columnPrograms},
          {"isPacked", configuration.isPacked},
          {"panels", configuration.panels},
          {"inPairs", configuration.inPairs},
          {"alongSum", configuration.alongSum},
          {"inScratch", configuration.inScratch},
          {"sumStep", configuration.sumStep},
          {"lanes", unit.lanes},
          {"registers", unit.registers},
          {"pairRows", unit.pairRows},
          {"pairColumns", unit.pairColumns}};
}

bool isLegal(const Contraction &contraction, const ContractionConfiguration &configuration,
             const VectorUnit &unit) {
  return holds(contractionConstraints(contraction), numbersOf(configuration, unit));
}

/// A block of rows of the operand that is no vector.
static ContractionConfiguration rowSums(int64_t rows, int64_t columns, int64_t length) {
  ContractionConfiguration best;
  best.alongSum = true;
  best.rows = std::min(rows, summedRows);
  best.columns = std::min(columns, summedRows);
  int64_t programs = std::max<int64_t>(1, summedElements / (summedRows * length));
  (rows > 1 ? best.rowPrograms : best.columnPrograms) = programs;
  return best;
}

/// A long sum for few programs is one that workers share (Tile/SplitLoops.h says in how many
/// parts).
static int64_t sumStepOf(const Contraction &contraction, const ContractionRoles &roles,
                         const ContractionConfiguration &block) {
  int64_t programs = 1;
  for (auto *dims : {&roles.batch, &roles.rows, &roles.columns})
    for (int dim : *dims) {
      int64_t each = dims == &roles.batch || dim != dims->back() ? 1
                     : dims == &roles.rows                       ? block.rows
                                                                 : block.columns;
      auto size = contraction.dims[dim].size;
      programs *= size ? (*size + each - 1) / each : fewPrograms;
    }
  auto length = contraction.dims[roles.sums.back()].size;
  bool isLong = length.value_or(longSum) >= longSum && roles.sums.size() == 1;
  return isLong && programs < fewPrograms ? longSum / 4 : 0;
}

ContractionConfiguration chooseContraction(const Contraction &contraction, const VectorUnit &unit,
                                           bool wantsPacked) {
  ContractionRoles roles = rolesOf(contraction);
  int64_t rows = sizeOf(contraction, roles.rows), columns = sizeOf(contraction, roles.columns);
  int64_t panel = columns % unit.lanes == 0 ? 0 : evenPanel(columns, unit);
  wantsPacked = wantsPacked && canPack(contraction) && (columns % unit.lanes == 0 || panel > 0);
  ContractionConfiguration best;
  if (sumsRows(contraction, roles, wantsPacked)) {
    best = rowSums(rows, columns, sizeOf(contraction, roles.sums));
    best.sumStep = sumStepOf(contraction, roles, best);
    return best;
  }
  best.isPacked = wantsPacked;
  std::vector<Constraint> constraints = contractionConstraints(contraction);
  auto isLegal = [&](const ContractionConfiguration &block) {
    return holds(constraints, numbersOf(block, unit));
  };
  double least = 0;
  ContractionConfiguration pairs = best;
  pairs.rows = std::min(unit.pairRows, std::max<int64_t>(rows, 1));
  pairs.columns = unit.pairColumns;
  pairs.inPairs = true;
  if (unit.pairColumns > 0 && isLegal(pairs))
    best = pairs;
  for (int64_t vectors = 1; vectors <= mostVectors && !best.inPairs; ++vectors)
    for (int64_t height = 1; height <= mostRows; ++height) {
      ContractionConfiguration block = best;
      block.rows = std::min(height, std::max<int64_t>(rows, 1));
      block.columns = wantsPacked && panel > 0 ? panel : vectors * unit.lanes;
      if (!isLegal(block))
        continue;
      double cost = cycles(rows, columns, block, unit);
      if (least == 0 || cost < least)
        least = cost, best = block;
    }
  if (convertsFirst(contraction, unit) && !best.inPairs && rows >= convertedRows) {
    best.inScratch = true;
    best.rows = convertedRows;
    const int64_t widest = convertsInProducts(contraction) ? unpackedWidth : convertedWidth;
    for (int64_t width = widest; width > best.columns; width -= unit.lanes)
      if (columns % width == 0 || !wantsPacked) {
        best.columns = width;
        break;
      }
    // What is converted beside the products is best read from one end to the other.
    if (int64_t panel = 2 * unit.lanes; wantsPacked && convertsInProducts(contraction))
      best.panels = best.columns % panel == 0 ? best.columns / panel : 1;
    if (roles.sums.size() == 1)
      best.sumStep = widest;
  }
  if (columns < best.columns)
    best.columns = std::max<int64_t>(columns, 1);
  auto programs = [](int64_t size, int64_t block, int64_t most) {
    return std::max<int64_t>(1, std::min((size + block - 1) / block, most / block));
  };
  // In scratch, one block of rows of a stays in the second-level cache while those of b pass by.
  best.rowPrograms = programs(rows, best.rows, best.inScratch ? best.rows : blockRows);
  best.columnPrograms = programs(columns, best.columns, blockColumns);
  if (best.sumStep == 0)
    best.sumStep = sumStepOf(contraction, roles, best);
  return best;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

Tile loadPanel(const Contraction &spec, const ContractionRoles &roles, const KernelFrame &at,
               const ContractionConfiguration &configuration) {
  kernel::Size columns = at.extent(roles.columns[0]);
  Positions positions = {at.program(roles.columns[0]) * configuration.panels};
  Shape extents = {configuration.panels};
  for (int dim : roles.sums) {
    positions.push_back(at.first(dim));
    extents.push_back(at.extent(dim));
  }
  positions.push_back(0);
  extents.push_back(panelOf(configuration));
  if (!configuration.inPairs) {
    Tile panels = load(at.buffer(spec.b.buffer), positions, extents);
    return configuration.panels == 1 ? panels : transpose(panels, std::vector<int>{1, 0, 2});
  }
  // What CPU/DotPairs.h looks for.
  kernel::Size pairs = extents[extents.size() - 2].constant() / 2;
  extents[extents.size() - 2] = pairs;
  positions.push_back(0);
  extents.push_back(2);
  Tile panel = load(at.buffer(spec.b.buffer), positions, extents);
  panel = transpose(reshape(panel, {pairs, columns, 2}), std::vector<int>{0, 2, 1});
  return reshape(panel, {pairs * 2, columns});
}

/// A block of two matrices times each other, at fixed coordinates along all but the innermost sum.
Tile product(const Contraction &spec, const ContractionRoles &roles, const KernelFrame &at,
             const ContractionConfiguration &configuration, const Tile &acc) {
  auto axes = [](std::vector<int> first, const std::vector<int> &second,
                 const std::vector<int> &third) {
    first.insert(first.end(), second.begin(), second.end());
    first.insert(first.end(), third.begin(), third.end());
    return first;
  };
  kernel::Size rows = acc.size(0), columns = acc.size(1), length = at.extent(roles.sums.back());
  if (configuration.alongSum) {
    auto rowsOf = [&](const Access &access, const std::vector<int> &dims,
                      const kernel::Size &count) {
      Tile tile = at.load(access, axes(roles.batch, dims, roles.sums));
      return cast(reshape(tile, {count, length}), spec.sum);
    };
    Tile products = rowsOf(spec.a, roles.rows, rows) * rowsOf(spec.b, roles.columns, columns);
    return acc + reshape(sum(products, 1), {rows, columns});
  }
  Tile a = reshape(at.load(spec.a, axes(roles.batch, roles.rows, roles.sums)), {rows, length});
  Tile b = reshape(configuration.isPacked
                       ? loadPanel(spec, roles, at, configuration)
                       : at.load(spec.b, axes(roles.batch, roles.sums, roles.columns)),
                   {length, columns});
  if (spec.buffers[spec.a.buffer].dtype != spec.buffers[spec.b.buffer].dtype)
    return dot(cast(a, spec.sum), cast(b, spec.sum), acc);
  return dot(a, b, acc);
}

/// Loops over the outer sums, outermost first.
Tile sumOver(const Contraction &spec, const ContractionRoles &roles, const KernelFrame &at,
             size_t level, const ContractionConfiguration &configuration, const Tile &acc) {
  int dim = roles.sums[level];
  if (configuration.sumStep > 0) {
    auto add = [](const Tile &x, const Tile &y) { return x + y; };
    auto piece = [&](const Index &k, const Tile &sum) {
      KernelFrame inner = at;
      inner.take(dim, configuration.sumStep, k);
      return product(spec, roles, inner, configuration, sum);
    };
    return forLoop(0, ceilDiv(at.size(spec.dims[dim]), configuration.sumStep), 1, acc, piece, add);
  }
  if (level + 1 == roles.sums.size())
    return product(spec, roles, at, configuration, acc);
  return forLoop(0, at.size(spec.dims[dim]), 1, acc, [&](const Index &k, const Tile &sum) {
    KernelFrame inner = at;
    inner.fix(dim, k);
    return sumOver(spec, roles, inner, level + 1, configuration, sum);
  });
}

} // namespace

void writeContraction(const Contraction &spec, const ContractionConfiguration &configuration) {
  ContractionRoles roles = rolesOf(spec);
  std::vector<DimTiling> tilings(spec.dims.size());
  for (auto *dims : {&roles.batch, &roles.rows, &roles.columns})
    for (int dim : *dims)
      tilings[dim].block = 1;
  if (!roles.rows.empty())
    tilings[roles.rows.back()] = {configuration.rows, configuration.rowPrograms};
  if (!roles.columns.empty())
    tilings[roles.columns.back()] = {configuration.columns, configuration.columnPrograms};
  std::vector<BufferSpec> buffers = spec.buffers;
  if (configuration.isPacked) {
    std::vector<Extent> &shape = buffers[spec.b.buffer].shape, panels;
    for (int axis : packedOrder(spec))
      panels.push_back(shape[axis]);
    *panels[0].size /= panelOf(configuration);
    if (configuration.inPairs)
      *panels.back().size /= 2;
    panels.push_back({panelOf(configuration)});
    if (configuration.inPairs)
      panels.push_back({2});
    shape = panels;
  }
  KernelFrame frame(spec.dims, buffers, tilings);
  kernel::Size rows = roles.rows.empty() ? kernel::Size(1) : frame.extent(roles.rows.back());
  kernel::Size columns =
      roles.columns.empty() ? kernel::Size(1) : frame.extent(roles.columns.back());
  Tile c = sumOver(spec, roles, frame, 0, configuration, zeros({rows, columns}, spec.sum));
  std::vector<int> order;
  Shape shape;
  for (auto *dims : {&roles.batch, &roles.rows, &roles.columns})
    for (int dim : *dims) {
      order.push_back(dim);
      shape.push_back(frame.extent(dim));
    }
  frame.store(spec.c, order, reshape(c, shape));
}

} // namespace tw::kernels
