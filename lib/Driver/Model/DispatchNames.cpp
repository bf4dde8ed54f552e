// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/DispatchNames.h"
#include "IR/ModelLocation.h"
#include "IR/Tile/Variants.h"
#include "Language/Source/Names.h"
#include "Program/Artifact/Describe.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tw {

/// "linear, relu, 3 more" -> "linear_relu", and no longer than a file's name should be.
static std::string kernelBase(Operation *kernel) {
  constexpr size_t longest = 40;
  std::string ops = describeKernel(kernel).ops, base;
  for (StringRef node : llvm::split(StringRef(ops), ", ")) {
    std::string part = source::identifier(node);
    if (node.ends_with(" more") || (!base.empty() && base.size() + part.size() > longest))
      break;
    base += (base.empty() || part.empty() ? "" : "_") + part;
  }
  base = base.substr(0, 2 * longest);
  return base.empty() ? source::identifier(SymbolTable::getSymbolName(kernel).getValue()) : base;
}

/// "linear_max6", for up to six rows, or "linear_workers5".
static std::string nameOfVariant(tile::KernelOp variant, StringRef kernel,
                                 llvm::StringSet<> &taken) {
  std::string base = (kernel + tile::variantSuffix(variant)).str(), name = base;
  for (int number = 2; !taken.insert(name).second; ++number)
    name = base + "_" + std::to_string(number);
  return name;
}

std::vector<NamedKernel> namedKernels(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::StringSet<> taken;
  llvm::DenseSet<Operation *> known;
  std::vector<NamedKernel> named;
  module.walk([&](graph::DispatchOp call) {
    Operation *kernel = symbols.lookup(call.getKernel());
    if (!kernel || !known.insert(kernel).second)
      return;
    std::string base = kernelBase(kernel), name = base;
    for (int number = 2; !taken.insert(name).second; ++number)
      name = base + "_" + std::to_string(number);
    named.push_back({kernel, name, call});
    if (auto program = dyn_cast<tile::KernelOp>(kernel))
      for (tile::KernelOp variant : tile::variantsOf(program))
        named.push_back({variant, nameOfVariant(variant, name, taken), call});
  });
  return named;
}

/// "encoder.layer.0.query.weight" -> "query.weight".
static std::string shortened(StringRef name) {
  size_t last = name.rfind('.');
  size_t before = last == StringRef::npos ? last : name.take_front(last).rfind('.');
  return name.substr(before == StringRef::npos ? 0 : before + 1).str();
}

/// Of what a kernel leaves: the last node that it computes.
static std::string resultName(Operation *kernel) {
  std::string ops = describeKernel(kernel).ops;
  StringRef last = StringRef(ops).rsplit(", ").second;
  return last.empty() ? ops : last.ends_with(" more") ? "" : last.str();
}

/// What the model calls a tensor; "" if it has no name.
static std::string tensorName(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto weight = dyn_cast<graph::WeightOp>(op))
      return shortened(weight.getSource().getName().getValue());
    if (auto call = dyn_cast<graph::DispatchOp>(op)) {
      Operation *kernel = SymbolTable::lookupNearestSymbolFrom(call, call.getKernelAttr());
      return kernel ? resultName(kernel) : "";
    }
    if (op->getNumOperands() == 0 ||
        op->getDialect()->getNamespace() != tensor::TensorDialect::getDialectNamespace())
      return nodeName(op->getLoc());
    value = op->getOperand(0); // the same elements, seen as another shape
  }
  auto argument = cast<BlockArgument>(value);
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto name = function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tw.name")
                       : StringAttr();
  return name ? name.str() : "";
}

std::vector<std::string> argumentNames(const NamedKernel &named) {
  auto kernel = cast<tile::KernelOp>(named.kernel);
  SmallVector<Value> tensors, scalars;
  for (Value input : graph::DispatchOp(named.call).getInputs())
    (isa<ShapedType>(input.getType()) ? tensors : scalars).push_back(input);
  source::Names names;
  for (auto symbol : kernel.getSymbols().getAsRange<tile::SymbolAttr>())
    names.take(symbol.getName());
  std::vector<std::string> all;
  size_t nextTensor = 0, nextScalar = 0;
  for (auto argument : kernel.getArguments().getAsRange<tile::ArgumentAttr>()) {
    std::string name;
    bool isScalar = argument.getAccess() == tile::Access::Scalar;
    if (argument.getAccess() == tile::Access::In && nextTensor < tensors.size())
      name = tensorName(tensors[nextTensor++]);
    else if (isScalar && nextScalar < scalars.size())
      name = tensorName(scalars[nextScalar++]);
    else if (!isScalar && !resultName(kernel).empty())
      name = resultName(kernel) + "_out";
    all.push_back(names.take(source::identifier(name).empty() ? argument.getName() : name));
  }
  return all;
}

} // namespace tw
