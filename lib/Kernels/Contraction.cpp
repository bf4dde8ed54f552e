// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Contraction.h"
#include "Kernels/KernelFrame.h"
#include "Kernels/SplitParts.h"
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

/// Puts the dimension of rows last that a block is to have several of. It is the innermost one,
/// unless that has so few that each block would read its columns of b for little.
static void putLongRowsLast(const Contraction &contraction, std::vector<int> &rows) {
  constexpr int64_t few = 32;
  auto length = [&](int dim) { return contraction.dims[dim].size.value_or(few); };
  if (rows.size() < 2 || length(rows.back()) >= few)
    return;
  auto longest = std::max_element(rows.begin(), rows.end(),
                                  [&](int x, int y) { return length(x) < length(y); });
  if (length(*longest) >= 2 * length(rows.back()))
    std::rotate(longest, longest + 1, rows.end());
}

ContractionRoles rolesOf(const Contraction &contraction) {
  ContractionRoles roles;
  for (const Axis &axis : contraction.c.axes)
    if (axis.dim >= 0) {
      bool inA = contraction.a.covers(axis.dim), inB = contraction.b.covers(axis.dim);
      bool isTap = contraction.a.isMovedBy(axis.dim) || contraction.b.isMovedBy(axis.dim);
      (isTap || (inA && inB) ? roles.batch : inA ? roles.rows : roles.columns).push_back(axis.dim);
    }
  for (const Axis &axis : contraction.a.axes)
    if (axis.dim >= 0 && !contraction.c.covers(axis.dim))
      roles.sums.push_back(axis.dim);
  putLongRowsLast(contraction, roles.rows);
  return roles;
}

std::string refuse(const Contraction &contraction) {
  for (const Access *operand : {&contraction.a, &contraction.b})
    for (const Axis &axis : operand->axes) {
      const Access &other = operand == &contraction.a ? contraction.b : contraction.a;
      if (axis.dim >= 0 && !contraction.c.covers(axis.dim) && !other.covers(axis.dim))
        return "a dimension of one operand alone is summed over";
    }
  for (const Axis &axis : contraction.c.axes) {
    bool isTap = contraction.a.isMovedBy(axis.dim) || contraction.b.isMovedBy(axis.dim);
    bool isRead = contraction.a.covers(axis.dim) || contraction.b.covers(axis.dim);
    if (axis.dim >= 0 && !isTap && !isRead)
      return "the result repeats along a dimension that no operand has";
    if (axis.dim >= 0 && isTap && isRead)
      return "a dimension moves a window and is one of an operand, too";
  }
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

using Configured = ContractionConfiguration;
static constexpr Member<Configured> members[] = {
    {"rows", &Configured::rows, 1, "rows of the result in a program"},
    {"columns", &Configured::columns, 1, "columns of the result in a program"},
    {"row_programs", &Configured::rowPrograms, 1,
     "programs along the rows that follow each other on one worker"},
    {"column_programs", &Configured::columnPrograms, 1, "the same along the columns"},
    {"packed", &Configured::isPacked, 0, "whether the second operand is stored in panels"},
    {"panels", &Configured::panels, 1, "panels in the columns of a program"},
    {"vectorize_reduction", &Configured::vectorizesReduction, 0,
     "whether rows of one operand are multiplied by the other, a vector, and summed along vectors"},
    {"k_block", &Configured::kBlock, 0,
     "terms of the sum in a trip of a loop, of several sums at most; 0: no loop"},
    {"split_k", &Configured::splitsK, 0, "whether workers may share that loop"},
    {"column_parts", &Configured::columnParts, 1,
     "equal parts of the columns of which a program has `columns` each"},
};

const ConfigurationSchema &contractionSchema() {
  static const ConfigurationSchema schema =
      withSplitParts(schemaOf<Configured>("contraction", members));
  return schema;
}

Numbers numbersOf(const ContractionConfiguration &configuration) {
  return withChosenSplitParts(numbersOf<Configured>(configuration, members));
}

ContractionConfiguration contractionFrom(const Numbers &fields) {
  return fromNumbers<Configured>(fields, members);
}

bool canPack(const Contraction &contraction) {
  ContractionRoles roles = rolesOf(contraction);
  auto isWhole = [&](const Axis &axis) {
    return axis.dim >= 0 && axis.offset == 0 && axis.stride == 1 && axis.dimTerms.empty() &&
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

std::vector<int64_t> sumBlocks(const Contraction &contraction, int64_t kBlock) {
  std::vector<int> sums = rolesOf(contraction).sums;
  std::vector<int64_t> blocks(sums.size(), 1);
  for (size_t level = sums.size(); level-- > 0;) {
    std::optional<int64_t> size = contraction.dims[sums[level]].size;
    bool isInnermost = level + 1 == sums.size();
    if (!size) {
      blocks[level] = isInnermost ? 0 : 1;
      break;
    }
    blocks[level] = std::clamp<int64_t>(kBlock, 1, std::max<int64_t>(*size, 1));
    while (*size % blocks[level] != 0)
      --blocks[level];
    kBlock /= blocks[level];
    if (blocks[level] < *size)
      break;
  }
  return blocks;
}

bool readsWindows(const Contraction &contraction) {
  auto isMoved = [](const Access &access) {
    return std::any_of(access.axes.begin(), access.axes.end(),
                       [](const Axis &axis) { return !axis.dimTerms.empty(); });
  };
  return isMoved(contraction.a) || isMoved(contraction.b);
}

bool isBf16Product(const Contraction &contraction) {
  auto isHalf = [&](const Access &access) {
    return contraction.buffers[access.buffer].dtype == kernel::bf16;
  };
  return isHalf(contraction.a) && isHalf(contraction.b) && contraction.sum == kernel::f32;
}

bool canUseRowDots(const Contraction &contraction, bool isPacked) {
  ContractionRoles roles = rolesOf(contraction);
  auto isOne = [&](const std::vector<int> &dims) {
    return std::all_of(dims.begin(), dims.end(),
                       [&](int dim) { return contraction.dims[dim].size == 1; });
  };
  auto isInnermost = [&](const Access &access) {
    return access.axes.back().dim == roles.sums[0] && access.axes.back().stride == 1;
  };
  if (roles.sums.size() != 1 || contraction.sum > kernel::f64 || readsWindows(contraction))
    return false;
  return (isOne(roles.columns) && isInnermost(contraction.a)) ||
         (isOne(roles.rows) && isInnermost(contraction.b) && !isPacked);
}

std::vector<Constraint> contractionConstraints(const Contraction &contraction) {
  ContractionRoles roles = rolesOf(contraction);
  std::vector<Constraint> constraints = {
      {"vectorize_reduction + packed", "1", "rows are read as they lie in memory"},
      {"columns mod panels", "0", "a program has whole panels"},
      {"panels", "1 + packed * columns", "there are panels of a packed operand only"},
      {"(column_parts - 1) * (panels - 1)", "0", "a program has one panel of each part"},
      {"split_k", "k_block", "workers share a loop"},
      {"(column_parts - 1) * split_k", "0", "workers share the loop of one part"},
      splitPartsConstraint("split_k"),
  };
  auto isNever = [&](const char *field, const char *why) {
    constraints.emplace_back(field, "0", why);
  };
  auto isMultiple = [&](const char *field, int dim, const char *of, const char *why) {
    std::string size = std::to_string(*contraction.dims[dim].size);
    constraints.emplace_back(std::string(field) + " * (" + size + " mod " + of + ")", "0", why);
  };
  if (canPack(contraction))
    isMultiple("packed * (panels - 1)", roles.columns[0], "columns",
               "programs of several panels come out even");
  else
    isNever("packed", "the second operand is not the same for all of the batch, of known size");
  if (!roles.columns.empty() && contraction.dims[roles.columns.back()].size)
    isMultiple("(column_parts - 1)", roles.columns.back(), "(columns * column_parts)",
               "programs of a part of the columns come out even");
  else
    constraints.emplace_back("column_parts", "1", "columns of unknown number have no equal parts");
  if (!canUseRowDots(contraction, false))
    isNever("vectorize_reduction", "neither operand is a vector along rows that lie in memory");
  return constraints;
}

std::string refusePanelGroup(const Contraction &contraction,
                             const ContractionConfiguration &configuration) {
  int64_t group = configuration.panelGroup;
  if (group == 1)
    return {};
  if (!configuration.isPacked)
    return "only panels have neighbours along the sum side by side";
  auto length = contraction.dims[rolesOf(contraction).sums.back()].size;
  if (!length || *length % group != 0 || configuration.kBlock % group != 0)
    return "panels have " + std::to_string(group) +
           " neighbours along the sum side by side, in which the sum or a trip of its loop does "
           "not come out even";
  return {};
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

/// The panels of `part` of the columns.
Tile loadPanel(const Contraction &spec, const ContractionRoles &roles, const KernelFrame &at,
               const ContractionConfiguration &configuration, int64_t part) {
  kernel::Size columns = at.extent(roles.columns[0]);
  Positions positions = {at.program(roles.columns[0]) * configuration.panels};
  Shape extents = {configuration.panels};
  if (configuration.columnParts > 1) {
    positions.push_back(part);
    extents.push_back(1);
  }
  for (int dim : roles.sums) {
    positions.push_back(at.first(dim));
    extents.push_back(at.extent(dim));
  }
  positions.push_back(0);
  // Fewer columns than a panel has are no more than there are.
  extents.push_back(configuration.panels == 1 ? columns : kernel::Size(panelOf(configuration)));
  int64_t group = configuration.panelGroup;
  if (group == 1) {
    Tile panels = load(at.buffer(spec.b.buffer), positions, extents);
    return configuration.panels == 1 ? panels : transpose(panels, std::vector<int>{1, 0, 2});
  }
  // A target finds its products of neighbours by these operations: for the cpu target,
  // Target/CPU/Dot/DotPairs.h.
  kernel::Size groups = extents[extents.size() - 2].constant() / group;
  extents[extents.size() - 2] = groups;
  positions[positions.size() - 2] = at.program(roles.sums.back()) * groups;
  positions.push_back(0);
  extents.push_back(group);
  Tile panel = load(at.buffer(spec.b.buffer), positions, extents);
  panel = transpose(reshape(panel, {groups, columns, group}), std::vector<int>{0, 2, 1});
  return reshape(panel, {groups * group, columns});
}

std::vector<int> inSequence(std::vector<int> first, const std::vector<int> &second,
                            const std::vector<int> &third) {
  first.insert(first.end(), second.begin(), second.end());
  first.insert(first.end(), third.begin(), third.end());
  return first;
}

/// [rows, terms of all sums]
Tile loadRows(const Contraction &spec, const ContractionRoles &roles, const KernelFrame &at,
              const kernel::Size &rows, const kernel::Size &length) {
  bool isInnermost = !roles.rows.empty() && spec.a.axes.back().dim == roles.rows.back();
  if (roles.sums.size() == 1 || !isInnermost)
    return reshape(at.load(spec.a, inSequence(roles.batch, roles.rows, roles.sums)),
                   {rows, length});
  // As it lies, so that it is one transpose of a matrix.
  Tile terms = at.load(spec.a, inSequence(roles.batch, roles.sums, roles.rows));
  return transpose(reshape(terms, {length, rows}));
}

/// A block of two matrices times each other, at fixed coordinates along those sums that `at` has
/// one term of. `part`: that spec is of the columns.
Tile product(const Contraction &spec, const ContractionRoles &roles, const KernelFrame &at,
             const ContractionConfiguration &configuration, int64_t part, const Tile &acc) {
  kernel::Size rows = acc.size(0), columns = acc.size(1), length = 1;
  for (int dim : roles.sums)
    length = length * at.extent(dim);
  if (configuration.vectorizesReduction) {
    auto rowsOf = [&](const Access &access, const std::vector<int> &dims,
                      const kernel::Size &count) {
      Tile tile = at.load(access, inSequence(roles.batch, dims, roles.sums));
      return cast(reshape(tile, {count, length}), spec.sum);
    };
    Tile products = rowsOf(spec.a, roles.rows, rows) * rowsOf(spec.b, roles.columns, columns);
    return acc + reshape(sum(products, 1), {rows, columns});
  }
  Tile a = loadRows(spec, roles, at, rows, length);
  Tile b = reshape(configuration.isPacked
                       ? loadPanel(spec, roles, at, configuration, part)
                       : at.load(spec.b, inSequence(roles.batch, roles.sums, roles.columns)),
                   {length, columns});
  if (spec.buffers[spec.a.buffer].dtype != spec.buffers[spec.b.buffer].dtype)
    return dot(cast(a, spec.sum), cast(b, spec.sum), acc);
  return dot(a, b, acc);
}

/// Takes block `trip` of all sums together.
void takeBlocks(KernelFrame &at, const Contraction &spec, const ContractionRoles &roles,
                const std::vector<int64_t> &blocks, Index trip) {
  for (size_t level = roles.sums.size(); level-- > 0;) {
    int dim = roles.sums[level];
    if (blocks[level] == 0)
      continue;
    if (level == 0) {
      at.take(dim, blocks[level], trip);
      continue;
    }
    kernel::Size count = ceilDiv(at.size(spec.dims[dim]), blocks[level]);
    bool isWhole = spec.dims[dim].size == blocks[level];
    at.take(dim, blocks[level], isWhole ? Index(0) : mod(trip, count));
    if (!isWhole)
      trip = floorDiv(trip, count);
  }
}

/// One loop over blocks of the sums.
Tile sumBlockwise(const Contraction &spec, const ContractionRoles &roles, const KernelFrame &at,
                  const ContractionConfiguration &configuration, int64_t part, const Tile &acc) {
  std::vector<int64_t> blocks = {configuration.kBlock};
  if (roles.sums.size() > 1)
    blocks = sumBlocks(spec, configuration.kBlock);
  kernel::Size trips = 1;
  for (size_t level = 0; level < blocks.size(); ++level)
    if (blocks[level] > 0)
      trips = trips * ceilDiv(at.size(spec.dims[roles.sums[level]]), blocks[level]);
  auto piece = [&](const Index &k, const Tile &sum) {
    KernelFrame inner = at;
    takeBlocks(inner, spec, roles, blocks, k);
    return product(spec, roles, inner, configuration, part, sum);
  };
  auto add = commutative([](const Tile &x, const Tile &y) { return x + y; });
  return configuration.splitsK ? forLoop(0, trips, 1, acc, piece, add)
                               : forLoop(0, trips, 1, acc, piece);
}

/// Loops over the outer sums, outermost first. Each trip of that has a sum of its own: chains of
/// additions are short, and the result is closer to the exact one.
Tile sumOver(const Contraction &spec, const ContractionRoles &roles, const KernelFrame &at,
             size_t level, const ContractionConfiguration &configuration, int64_t part,
             const Tile &acc) {
  int dim = roles.sums[level];
  if (configuration.kBlock > 0)
    return sumBlockwise(spec, roles, at, configuration, part, acc);
  if (level + 1 == roles.sums.size())
    return product(spec, roles, at, configuration, part, acc);
  return forLoop(0, at.size(spec.dims[dim]), 1, acc, [&](const Index &k, const Tile &sum) {
    KernelFrame inner = at;
    inner.fix(dim, k);
    if (level == 0)
      return sum + sumOver(spec, roles, inner, level + 1, configuration, part,
                           zeros({sum.size(0), sum.size(1)}, spec.sum));
    return sumOver(spec, roles, inner, level + 1, configuration, part, sum);
  });
}

/// Where b is in panels, the shape of its buffer is that of these.
std::vector<BufferSpec> buffersFor(const Contraction &spec,
                                   const ContractionConfiguration &configuration) {
  std::vector<BufferSpec> buffers = spec.buffers;
  if (!configuration.isPacked)
    return buffers;
  std::vector<Extent> &shape = buffers[spec.b.buffer].shape, panels;
  for (int axis : packedOrder(spec))
    panels.push_back(shape[axis]);
  int64_t together = panelOf(configuration) * configuration.columnParts;
  panels[0].size = (*panels[0].size + together - 1) / together;
  if (configuration.columnParts > 1)
    panels.insert(panels.begin() + 1, Extent{configuration.columnParts});
  if (configuration.panelGroup > 1)
    *panels.back().size /= configuration.panelGroup;
  panels.push_back({panelOf(configuration)});
  if (configuration.panelGroup > 1)
    panels.push_back({configuration.panelGroup});
  shape = panels;
  return buffers;
}

/// The product of one of `count` equal parts of the innermost columns.
Contraction partOf(Contraction spec, const ContractionRoles &roles, int64_t part, int64_t count) {
  if (count == 1)
    return spec;
  int dim = roles.columns.back();
  int64_t length = *spec.dims[dim].size / count;
  spec.dims[dim] = {length};
  for (Access *access : {&spec.b, &spec.c})
    for (Axis &axis : access->axes)
      if (axis.dim == dim)
        axis.offset += part * length * axis.stride;
  return spec;
}

} // namespace

void writeContraction(const Contraction &whole, const ContractionConfiguration &configuration) {
  ContractionRoles roles = rolesOf(whole);
  std::vector<DimTiling> tilings(whole.dims.size());
  for (auto *dims : {&roles.batch, &roles.rows, &roles.columns})
    for (int dim : *dims)
      tilings[dim].block = 1;
  // Taps of a window read almost the same, and follow each other.
  for (int dim : roles.batch)
    if (whole.a.isMovedBy(dim) || whole.b.isMovedBy(dim))
      tilings[dim].programs = whole.dims[dim].size.value_or(1);
  if (!roles.rows.empty())
    tilings[roles.rows.back()] = {configuration.rows, configuration.rowPrograms};
  if (!roles.columns.empty())
    tilings[roles.columns.back()] = {configuration.columns, configuration.columnPrograms};
  int64_t parts = configuration.columnParts;
  KernelFrame frame(partOf(whole, roles, 0, parts).dims, buffersFor(whole, configuration), tilings);
  kernel::Size rows = roles.rows.empty() ? kernel::Size(1) : frame.extent(roles.rows.back());
  kernel::Size columns =
      roles.columns.empty() ? kernel::Size(1) : frame.extent(roles.columns.back());
  std::vector<int> order;
  Shape shape;
  for (auto *dims : {&roles.batch, &roles.rows, &roles.columns})
    for (int dim : *dims) {
      order.push_back(dim);
      shape.push_back(frame.extent(dim));
    }
  for (int64_t part = 0; part < parts; ++part) {
    Contraction spec = partOf(whole, roles, part, parts);
    Tile c = sumOver(spec, roles, frame, 0, configuration, part, zeros({rows, columns}, spec.sum));
    frame.store(spec.c, order, reshape(c, shape));
  }
}

} // namespace tw::kernels
