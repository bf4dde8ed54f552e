// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Subkernels/SubkernelBuilder.h"
#include "IR/ElementDType.h"
#include "mlir/IR/TypeUtilities.h"
#include <algorithm>
#include <map>

using namespace mlir;

namespace tw::conversion {

std::optional<kernel::DType> dtypeOf(Type type) {
  // By tw::DType.
  static constexpr kernel::DType dtypes[] = {kernel::f16, kernel::bf16, kernel::f32, kernel::f64,
                                             kernel::i8,  kernel::i16,  kernel::i32, kernel::i64,
                                             kernel::u8,  kernel::i1};
  auto dtype = tw::dtypeOf(getElementTypeOrSelf(type));
  return dtype ? std::optional(dtypes[size_t(*dtype)]) : std::nullopt;
}

int SubkernelBuilder::add(Statement statement) {
  program.statements.push_back(std::move(statement));
  return int(program.statements.size()) - 1;
}

void SubkernelBuilder::store(ResultRef result, Value value, kernel::DType dtype) {
  program.stores.push_back({result, accessOfValue(value, dtype, true)});
}

int SubkernelBuilder::buffer(BufferSpec spec, TensorUse use) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].tensor == use.tensor && tensors[i].temporary == use.temporary &&
        program.buffers[i].isOutput == spec.isOutput && program.buffers[i].shape == spec.shape)
      return int(i);
  spec.name = (spec.isOutput ? "out" : "in") + std::to_string(tensors.size());
  program.buffers.push_back(std::move(spec));
  tensors.push_back(std::move(use));
  return int(tensors.size()) - 1;
}

/// Parts of one axis that are joined again are one part.
static BufferView merged(const BufferView &view) {
  BufferView result;
  std::map<int64_t, int64_t> groupOf;
  for (auto [number, group] : llvm::enumerate(view.joined))
    for (int64_t part : group)
      groupOf[part] = int64_t(number);
  result.joined.resize(view.joined.size());
  for (const ReassociationIndices &cut : view.cut) {
    ReassociationIndices &kept = result.cut.emplace_back();
    for (int64_t part : cut) {
      const Extent &own = view.parts[part];
      if (part != cut.front() && groupOf[part] == groupOf[part - 1]) {
        Extent &last = result.parts.back();
        last.size = last.size && own.size ? std::optional(*last.size * *own.size) : std::nullopt;
        continue;
      }
      kept.push_back(int64_t(result.parts.size()));
      if (!result.joined.empty())
        result.joined[groupOf[part]].push_back(kept.back());
      result.parts.push_back(own);
    }
  }
  return result;
}

/// Whether the sizes of all parts follow from those of the axes.
static bool isComputable(const BufferView &view) {
  return llvm::all_of(view.cut, [&](const ReassociationIndices &cut) {
    return llvm::count_if(cut, [&](int64_t part) { return !view.parts[part].size; }) <= 1;
  });
}

/// A part of the axis that was begun last.
static void cutPart(BufferView &view, const Extent &part) {
  view.cut.back().push_back(int64_t(view.parts.size()));
  view.parts.push_back(part);
}

/// The last part begins a dimension of the buffer; the first one takes what stands before it.
static void beginDimension(BufferView &view) {
  int64_t last = view.cut.back().back();
  ReassociationIndices group;
  for (int64_t part = view.joined.empty() ? 0 : last; part <= last; ++part)
    group.push_back(part);
  view.joined.push_back(group);
}

void SubkernelBuilder::addPart(Placed &placed, const AxisMap &map, const Extent &own) {
  BufferView &view = placed.view;
  cutPart(view, own);
  if (own.size == 1 && map.offset == 0 && map.scalarTerms.empty() && !map.isPartial) {
    // It joins whatever stands beside it, the first one that comes if there is none yet.
    if (!view.joined.empty())
      view.joined.back().push_back(view.cut.back().back());
    return;
  }
  beginDimension(view);
  placed.shape.push_back(own);
  Axis &axis = placed.axes.emplace_back(Axis{-1, map.offset, map.stride});
  axis.isPartial = map.isPartial;
  for (auto [place, factor] : map.scalarTerms)
    axis.scalarTerms.push_back({scalar(cast<BlockArgument>(place), kernel::i64), factor});
  std::vector<int> atoms = nests->table.atoms({map.dims.begin(), map.dims.end()});
  if (!atoms.empty())
    axis.dim = joined->of(atoms).front();
  for (auto [loop, factor] : map.dimTerms)
    for (int dim : joined->of(nests->table.atoms({loop})))
      axis.dimTerms.push_back({dim, factor});
  if (map.isWhole && atoms.size() == 1 && joined->atoms(axis.dim).size() == 1)
    wholeAxes[axis.dim] = own.symbol;
}

void SubkernelBuilder::addAtoms(Placed &placed, ArrayRef<int> atoms, std::vector<int> &left) {
  for (int atom : atoms) {
    auto size = nests->table.size(atom);
    cutPart(placed.view, {size, size ? "" : "?"});
    if (left.empty()) {
      int dim = joined->of({atom}).front();
      left = joined->atoms(dim);
      std::reverse(left.begin(), left.end());
      beginDimension(placed.view);
      placed.shape.push_back(joined->dims[dim]);
      placed.axes.push_back({dim});
    } else {
      placed.view.joined.back().push_back(placed.view.cut.back().back());
    }
    left.pop_back();
  }
}

/// Cuts the axes of a tensor into atoms and joins those that are one dimension. Axes of which a
/// part is read keep their own size.
SubkernelBuilder::Placed SubkernelBuilder::place(RankedTensorType type, ArrayRef<AxisMap> axes,
                                                 const std::string &name) {
  Placed placed;
  std::vector<int> left;
  for (auto [axis, map] : llvm::enumerate(axes)) {
    placed.view.cut.emplace_back();
    std::vector<int> atoms = nests->table.atoms({map.dims.begin(), map.dims.end()});
    if (map.isPlain() && !atoms.empty())
      addAtoms(placed, atoms, left);
    else if (type.isDynamicDim(axis))
      addPart(placed, map, {std::nullopt, name + "_" + std::to_string(axis)});
    else
      addPart(placed, map, {type.getDimSize(axis)});
  }
  placed.view = merged(placed.view);
  return placed;
}

static bool walksTwice(const std::vector<Axis> &axes) {
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (axes[i].dim >= 0 && axes[i].dim == axes[j].dim)
        return true;
  return false;
}

std::string SubkernelBuilder::nameOf(Value tensor) const {
  return "a" + std::to_string(nests->numberOf(tensor));
}

std::optional<Access> SubkernelBuilder::accessOfMemory(const OperandMap &map, kernel::DType dtype,
                                                       bool isOutput) {
  for (const AxisMap &axis : map.axes) {
    if (!axis.isPlain() && nests->table.atoms({axis.dims.begin(), axis.dims.end()}).size() > 1)
      return std::nullopt;
    if (llvm::any_of(axis.scalarTerms,
                     [](auto &place) { return !isa<BlockArgument>(place.first); }))
      return std::nullopt;
  }
  Placed placed = place(cast<RankedTensorType>(map.root.getType()), map.axes, nameOf(map.root));
  if (walksTwice(placed.axes) || !isComputable(placed.view))
    return std::nullopt;
  Access access;
  access.axes = std::move(placed.axes);
  access.buffer =
      buffer({"", dtype, std::move(placed.shape), isOutput}, {map.root, std::move(placed.view)});
  return access;
}

int SubkernelBuilder::bufferOfTensor(Value tensor, kernel::DType dtype) {
  auto type = cast<RankedTensorType>(tensor.getType());
  TensorUse use{tensor, {}};
  BufferSpec spec{"", dtype, {}};
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    bool isDynamic = type.isDynamicDim(axis);
    spec.shape.push_back({isDynamic ? std::nullopt : std::optional(type.getDimSize(axis)),
                          isDynamic ? nameOf(tensor) + "_" + std::to_string(axis) : std::string()});
    use.view.cut.push_back({axis});
    use.view.parts.push_back(spec.shape.back());
    use.view.joined.push_back({axis});
  }
  return buffer(std::move(spec), std::move(use));
}

Access SubkernelBuilder::accessOfValue(Value value, kernel::DType dtype, bool isOutput,
                                       int temporary) {
  SmallVector<AxisMap> axes;
  for (int dim : nests->results.find(value)->second)
    axes.push_back({{dim}});
  Placed placed = place(cast<RankedTensorType>(value.getType()), axes, nameOf(value));
  TensorUse use =
      temporary >= 0 ? TensorUse{{}, {}, temporary} : TensorUse{value, std::move(placed.view)};
  Access access;
  access.axes = std::move(placed.axes);
  access.buffer = buffer({"", dtype, std::move(placed.shape), isOutput}, std::move(use));
  return access;
}

void SubkernelBuilder::joinAxes(int buffer, size_t first) {
  std::vector<Extent> &shape = program.buffers[buffer].shape;
  auto &joined = tensors[buffer].view.joined;
  for (size_t axis = first + 1; axis < shape.size(); ++axis) {
    *shape[first].size *= *shape[axis].size;
    joined[first].append(joined[axis]);
  }
  shape.resize(first + 1);
  joined.resize(first + 1);
}

void SubkernelBuilder::takeOneElement(int dim) {
  if (!llvm::is_contained(program.unitDims, dim))
    program.unitDims.push_back(dim);
}

bool SubkernelBuilder::takesOneElement(const std::vector<int> &dims) const {
  return llvm::any_of(dims, [&](int dim) { return llvm::is_contained(program.unitDims, dim); });
}

int SubkernelBuilder::scalar(BlockArgument argument, kernel::DType dtype) {
  auto it = llvm::find_if(program.scalars, [&](auto &known) { return known.first == argument; });
  if (it != program.scalars.end())
    return int(it - program.scalars.begin());
  program.scalars.push_back({argument, dtype});
  return int(program.scalars.size()) - 1;
}

void SubkernelBuilder::setContraction(Contraction spec) {
  isProduct = true;
  product = std::move(spec);
  product.dims = joined->dims;
  product.buffers = program.buffers;
}

void SubkernelBuilder::setConvolution(Convolution spec) {
  spec.buffers = program.buffers;
  convolution = std::move(spec);
}

template <typename Spec>
void SubkernelBuilder::setStructured(Spec spec) {
  spec.buffers = program.buffers;
  spec.dims = joined->dims;
  for (int *role : spec.roles())
    if (*role < 0) {
      *role = int(spec.dims.size());
      spec.dims.push_back({1});
    }
  dropUnusedDims(spec);
  attention = std::move(spec);
}
template void SubkernelBuilder::setStructured(Attention spec);
template void SubkernelBuilder::setStructured(AttentionGradient spec);

const kernels::AttentionInputs &SubkernelBuilder::attentionInputs() const {
  if (auto *gradient = std::get_if<AttentionGradient>(&attention))
    return *gradient;
  return std::get<Attention>(attention);
}

std::optional<int> SubkernelBuilder::joinedDim(int dim) const {
  std::vector<int> atoms = nests->table.atoms({dim});
  if (atoms.empty())
    return -1;
  std::vector<int> dims = joined->of(atoms);
  if (dims.size() != 1 || joined->atoms(dims.front()).size() != atoms.size())
    return std::nullopt;
  return dims.front();
}

std::optional<Extent> SubkernelBuilder::extentOf(int dim) const {
  auto found = joinedDim(dim);
  if (!found)
    return std::nullopt;
  return *found < 0 ? Extent{1} : joined->dims[*found];
}

/// A dimension whose size no buffer says under its own name has that of an axis that it is all of,
/// or of an argument.
void SubkernelBuilder::nameDims() {
  auto isNamed = [&](const Extent &own) {
    return own.size || llvm::any_of(program.buffers, [&](const BufferSpec &buffer) {
             return llvm::any_of(buffer.shape, [&](const Extent &extent) {
               return !extent.size && extent.symbol == own.symbol;
             });
           });
  };
  for (auto &[dim, symbol] : wholeAxes)
    if (!isNamed(program.dims[dim]))
      program.dims[dim].symbol = symbol;
  for (auto [loop, argument] : nests->givenSizes) {
    std::vector<int> atoms = nests->table.atoms({loop});
    int dim = atoms.size() == 1 ? joined->of(atoms).front() : -1;
    if (dim < 0 || joined->atoms(dim).size() != 1 || isNamed(program.dims[dim]))
      continue;
    const std::string &symbol = program.dims[dim].symbol;
    if (llvm::none_of(program.sizes, [&](auto &known) { return known.second == symbol; }))
      program.sizes.push_back({argument, symbol});
  }
}

Subkernel SubkernelBuilder::take() {
  Subkernel made{LoopProgram(), std::move(tensors), std::move(locations)};
  if (convolution) {
    made.what = std::move(*convolution);
    return made;
  }
  if (auto *forward = std::get_if<Attention>(&attention)) {
    made.what = std::move(*forward);
    return made;
  }
  if (auto *gradient = std::get_if<AttentionGradient>(&attention)) {
    made.what = std::move(*gradient);
    return made;
  }
  if (isProduct) {
    dropUnusedDims(product);
    made.what = std::move(product);
    return made;
  }
  program.dims = joined->dims;
  nameDims();
  made.what = std::move(program);
  tidy(made);
  return made;
}

void tidy(Subkernel &subkernel) {
  auto &program = std::get<LoopProgram>(subkernel.what);
  std::vector<TensorUse> tensors;
  for (int former : putOutputsLast(program))
    tensors.push_back(subkernel.tensors[former]);
  subkernel.tensors = std::move(tensors);
  dropUnusedDims(program);
}

} // namespace tw::conversion
