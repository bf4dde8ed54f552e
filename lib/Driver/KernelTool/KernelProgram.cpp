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

/// Sizes as affine expressions (also of products of symbols), over the symbols that they name.
struct AffineSizes {
  MLIRContext *context;
  std::vector<std::string> names;

  AffineExpr constant(int64_t value) const { return getAffineConstantExpr(value, context); }
  AffineExpr symbol(const std::string &name) {
    auto found = llvm::find(names, name);
    if (found == names.end())
      found = names.insert(names.end(), name);
    return getAffineSymbolExpr(unsigned(found - names.begin()), context);
  }
  AffineExpr add(AffineExpr x, AffineExpr y) const { return x + y; }
  AffineExpr mul(AffineExpr x, AffineExpr y) const { return x * y; }
  AffineExpr floorDiv(AffineExpr x, AffineExpr y) const { return x.floorDiv(y); }
  AffineExpr ceilDiv(AffineExpr x, AffineExpr y) const { return x.ceilDiv(y); }
  AffineExpr mod(AffineExpr x, AffineExpr y) const { return x % y; }
};

/// Writes the entry.
class Entry {
public:
  explicit Entry(tile::KernelOp kernel)
      : kernel(kernel), b(kernel.getContext()), signature(tile::signatureOf(kernel)) {}

  OwningOpRef<ModuleOp> write() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
    b.setInsertionPointToEnd(module->getBody());
    for (auto [i, argument] : llvm::enumerate(signature.arguments))
      if (argument.isGiven())
        addInput(argument, typeAt(i));
    for (auto [i, argument] : llvm::enumerate(signature.arguments))
      if (argument.isResult())
        outputs.push_back({typeAt(i), b.getDictionaryAttr(outputAttributes(argument, typeAt(i)))});
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
  /// Of an argument; a scalar that is a symbol is an integer to callers.
  Type typeAt(size_t number) {
    const KernelArgument &argument = signature.arguments[number];
    Type type = kernel.getBlockArgument(unsigned(number)).getType();
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
    for (const Size &size : argument.sizes)
      for (const std::string &symbol : size.symbols())
        declare(symbol);
    addSizes(attributes, argument, type);
    if (!argument.symbol.empty()) {
      declare(argument.symbol);
      attributes.push_back(b.getNamedAttr("tw.symbol", b.getStringAttr(argument.symbol)));
    }
    inputTypes.push_back(type);
    inputAttributes.push_back(b.getDictionaryAttr(attributes));
  }

  /// What the kernel declares, where all symbols in it are those of inputs.
  void addSizes(SmallVector<NamedAttribute> &attributes, const KernelArgument &argument,
                Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.hasStaticShape())
      return;
    AffineSizes affine{b.getContext(), {}};
    SmallVector<AffineExpr> sizes;
    for (const Size &size : argument.sizes)
      sizes.push_back(size.build(affine));
    SmallVector<StringAttr> names;
    for (const std::string &name : affine.names) {
      if (!declared.contains(name))
        return;
      names.push_back(b.getStringAttr(name));
    }
    AffineMap map = AffineMap::get(0, names.size(), sizes, b.getContext());
    attributes.push_back(
        b.getNamedAttr("tw.sizes", graph::SizesAttr::get(b.getContext(), names, map)));
  }

  SmallVector<NamedAttribute> outputAttributes(const KernelArgument &argument, Type type) {
    bool isOut = argument.access == KernelAccess::Out;
    SmallVector<NamedAttribute> attributes = named(argument, isOut ? "output" : "input_mutation");
    if (isOut)
      addSizes(attributes, argument, type);
    else
      attributes.push_back(b.getNamedAttr("tw.input", b.getStringAttr(argument.name)));
    return attributes;
  }

  void declare(const std::string &name) {
    if (!declared.insert(name).second)
      return;
    KernelSymbol range;
    for (const KernelSymbol &symbol : signature.symbols)
      if (symbol.name == name)
        range = symbol;
    symbols.push_back(b.getDictionaryAttr({b.getNamedAttr("name", b.getStringAttr(name)),
                                           b.getNamedAttr("min", b.getI64IntegerAttr(range.min)),
                                           b.getNamedAttr("max", b.getI64IntegerAttr(range.max))}));
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
