// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/KernelTool/KernelProgram.h"
#include "IR/Graph/Graph.h"
#include "IR/Tile/Tile.h"
#include "Import/Text/Kernels.h"
#include "Tile/Binding/Signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw {
namespace {

/// Writes the entry.
class Entry {
public:
  explicit Entry(tile::KernelOp kernel)
      : kernel(kernel), b(kernel.getContext()), signature(tile::signatureOf(kernel)) {}

  OwningOpRef<ModuleOp> write() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
    b.setInsertionPointToEnd(module->getBody());
    for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
      Type type = typeOf(argument, kernel.getBlockArgument(i).getType());
      if (argument.isGiven())
        addInput(argument, type);
      if (argument.isResult())
        outputs.push_back({type, b.getDictionaryAttr(outputAttributes(argument))});
    }
    SmallVector<Type> results;
    for (auto &[type, attributes] : outputs)
      results.push_back(type);
    auto main =
        func::FuncOp::create(b, kernel.getLoc(), "main", b.getFunctionType(inputTypes, results));
    main->setAttr("tw.symbols", b.getArrayAttr(symbols));
    main.setAllArgAttrs(inputAttributes);
    for (auto [i, output] : llvm::enumerate(outputs))
      main.setResultAttrs(i, output.second);
    b.setInsertionPointToEnd(main.addEntryBlock());
    auto call = graph::KernelCallOp::create(b, kernel.getLoc(), results, kernel.getSymName(),
                                            main.getArguments());
    func::ReturnOp::create(b, kernel.getLoc(), call.getResults());
    return module;
  }

private:
  /// A scalar that is a symbol is an integer to callers.
  Type typeOf(const KernelArgument &argument, Type type) {
    auto buffer = dyn_cast<tile::BufferType>(type);
    if (!buffer)
      return type.isIndex() ? b.getI64Type() : type;
    SmallVector<int64_t> sizes;
    for (const Size &size : argument.sizes)
      sizes.push_back(size.constant().value_or(ShapedType::kDynamic));
    return RankedTensorType::get(sizes, buffer.getTileElementType());
  }

  SmallVector<NamedAttribute> named(const KernelArgument &argument, StringRef role) {
    SmallVector<NamedAttribute> attributes = {
        b.getNamedAttr("tw.name", b.getStringAttr(argument.name)),
        b.getNamedAttr("tw.role", b.getStringAttr(role))};
    if (argument.dtype == DType::U8)
      attributes.push_back(b.getNamedAttr("tw.dtype", b.getStringAttr("u8")));
    return attributes;
  }

  void addInput(const KernelArgument &argument, Type type) {
    SmallVector<NamedAttribute> attributes = named(argument, "input");
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && !tensor.hasStaticShape()) {
      SmallVector<StringAttr> dynamic;
      for (const Size &size : argument.sizes)
        if (!size.constant())
          dynamic.push_back(b.getStringAttr(symbolFor(size)));
      attributes.push_back(b.getNamedAttr(
          "tw.sizes", graph::SizesAttr::getPlain(b.getContext(), tensor.getShape(), dynamic)));
    }
    if (!argument.symbol.empty())
      attributes.push_back(
          b.getNamedAttr("tw.symbol", b.getStringAttr(symbolFor(Size::symbol(argument.symbol)))));
    inputTypes.push_back(type);
    inputAttributes.push_back(b.getDictionaryAttr(attributes));
  }

  SmallVector<NamedAttribute> outputAttributes(const KernelArgument &argument) {
    if (argument.access == KernelAccess::Out)
      return named(argument, "output");
    SmallVector<NamedAttribute> attributes = named(argument, "input_mutation");
    attributes.push_back(b.getNamedAttr("tw.input", b.getStringAttr(argument.name)));
    return attributes;
  }

  /// The kernel's symbol, or for what is made of symbols one of its own: calls of the kernel solve
  /// and check equations.
  std::string symbolFor(const Size &size) {
    auto name = size.asSymbol();
    KernelSymbol range;
    for (const KernelSymbol &symbol : signature.symbols)
      if (name && symbol.name == *name)
        range = symbol;
    std::string chosen = name ? *name : freshName();
    if (!declared.insert(chosen).second)
      return chosen;
    symbols.push_back(b.getDictionaryAttr({b.getNamedAttr("name", b.getStringAttr(chosen)),
                                           b.getNamedAttr("min", b.getI64IntegerAttr(range.min)),
                                           b.getNamedAttr("max", b.getI64IntegerAttr(range.max))}));
    return chosen;
  }

  std::string freshName() const {
    auto isTaken = [&](const std::string &name) {
      return declared.contains(name) ||
             llvm::any_of(signature.symbols, [&](auto &symbol) { return symbol.name == name; });
    };
    size_t number = 0;
    while (isTaken(fmt::format("s{}", number)))
      ++number;
    return fmt::format("s{}", number);
  }

  tile::KernelOp kernel;
  OpBuilder b;
  KernelSignature signature;
  SmallVector<Type> inputTypes;
  SmallVector<DictionaryAttr> inputAttributes;
  SmallVector<std::pair<Type, DictionaryAttr>> outputs;
  SmallVector<Attribute> symbols;
  std::set<std::string> declared;
};

} // namespace

Result<OwningOpRef<ModuleOp>> makeKernelProgram(const ModelKernels &kernels,
                                                const std::string &name) {
  ModuleOp module = kernels.module ? *kernels.module : ModuleOp();
  if (!module)
    return Diagnostic{Code::IMPORT_109,
                      fmt::format("there is no kernel \"{}\": none is given", name),
                      {},
                      {},
                      "give its text or the file that has it"};
  TW_ASSIGN(Operation * found, findKernel(module, name, "the kernels that are given"));
  return Entry(cast<tile::KernelOp>(found)).write();
}

} // namespace tw
