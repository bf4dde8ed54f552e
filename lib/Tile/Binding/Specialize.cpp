// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-specialize (Passes.td).
#include "IR/Coded.h"
#include "IR/Tile/Tile.h"
#include "Tile/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw::tile {
#define GEN_PASS_DEF_SPECIALIZE
#include "Tile/Passes.h.inc"

namespace {

class Specializer {
public:
  Specializer(KernelOp kernel, const Size::Values &values) : kernel(kernel), values(values) {
    for (const auto &[name, value] : values)
      replacements.emplace(name, Size(value));
  }

  LogicalResult run() {
    if (failed(checkSymbols()) || failed(checkSizes()))
      return failure();
    replaceArguments();
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](SizeAttr size) {
      return SizeAttr::get(size.getContext(), size.getSize().substitute(replacements));
    });
    replacer.addReplacement(
        [&](RankedTensorType tile) -> std::optional<std::pair<Type, WalkResult>> {
          if (!isa_and_nonnull<DimsAttr>(tile.getEncoding()))
            return std::nullopt;
          return std::pair<Type, WalkResult>(replaced(tile), WalkResult::skip());
        });
    replacer.recursivelyReplaceElementsIn(kernel, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    return success();
  }

private:
  InFlightDiagnostic refuse() { return emitCoded(kernel.getLoc(), Code::TILE_1); }

  LogicalResult checkSymbols() {
    for (const auto &[name, value] : values) {
      auto symbols = kernel.getSymbols().getAsRange<SymbolAttr>();
      auto found = llvm::find_if(symbols, [&](SymbolAttr s) { return s.getName() == name; });
      if (found == symbols.end())
        return refuse() << "the kernel " << kernel.getSymName() << " has no symbol " << name;
      SymbolAttr symbol = *found;
      if (value < symbol.getMin() || value > symbol.getMax() || value % symbol.getMultiple() != 0)
        return refuse() << "symbol " << name << " cannot be " << value
                        << ": min = " << symbol.getMin() << ", max = " << symbol.getMax()
                        << ", multiple = " << symbol.getMultiple();
    }
    return success();
  }

  LogicalResult check(const Size &size) {
    Size now = size.substitute(replacements);
    if (!now.valid())
      return refuse() << "the size " << size.str() << " overflows or divides by 0";
    if (auto value = now.constant(); value && *value < 0)
      return refuse() << "the size " << size.str() << " would be " << *value;
    return success();
  }

  LogicalResult check(Type type) {
    std::vector<Size> sizes;
    if (auto buffer = dyn_cast<BufferType>(type))
      sizes = sizesOf(buffer);
    else if (auto tile = dyn_cast<RankedTensorType>(type))
      sizes = extentsOf(tile);
    for (const Size &size : sizes)
      if (failed(check(size)))
        return failure();
    return success();
  }

  /// Before anything changes: every size must stay one.
  LogicalResult checkSizes() {
    for (auto size : kernel.getGrid().getAsRange<SizeAttr>())
      if (failed(check(size.getSize())))
        return failure();
    for (Type type : kernel.getBody().getArgumentTypes())
      if (failed(check(type)))
        return failure();
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (failed(check(type)))
          return WalkResult::interrupt();
      // tile.size is a value, which may be negative.
      auto size = dyn_cast<SizeOp>(op);
      if (size && !size.getSize().getSize().substitute(replacements).valid())
        return refuse() << "the size " << size.getSize().getText() << " overflows or divides by 0",
               WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Drops the symbols; an argument that was one gives way to its value.
  void replaceArguments() {
    OpBuilder b(kernel.getBody());
    SmallVector<Attribute> symbols, arguments;
    for (auto symbol : kernel.getSymbols().getAsRange<SymbolAttr>())
      if (!values.contains(symbol.getName()))
        symbols.push_back(symbol);
    for (auto [value, argument] : llvm::zip(kernel.getBody().getArguments(),
                                            kernel.getArguments().getAsRange<ArgumentAttr>())) {
      auto found = argument.getSymbol() ? values.find(argument.getSymbol().str()) : values.end();
      if (found == values.end()) {
        arguments.push_back(argument);
        continue;
      }
      value.replaceAllUsesWith(
          arith::ConstantIndexOp::create(b, kernel.getLoc(), found->second).getResult());
      arguments.push_back(ArgumentAttr::get(b.getContext(), argument.getName(),
                                            argument.getAccess(), argument.getInit(), {}));
    }
    kernel.setSymbolsAttr(b.getArrayAttr(symbols));
    kernel.setArgumentsAttr(b.getArrayAttr(arguments));
  }

  RankedTensorType replaced(RankedTensorType tile) {
    std::vector<Size> extents = extentsOf(tile);
    for (Size &extent : extents)
      extent = extent.substitute(replacements);
    return tileType(extents, tile.getElementType());
  }

  KernelOp kernel;
  const Size::Values &values;
  std::map<std::string, Size> replacements;
};

struct Specialize : impl::SpecializeBase<Specialize> {
  Specialize() = default;
  explicit Specialize(Size::Values values) : values(std::move(values)) {}
  Specialize(const Specialize &other) : SpecializeBase(other), values(other.values) {}

  void runOnOperation() override {
    Size::Values all = values;
    for (StringRef text : symbols) {
      auto [name, digits] = text.split('=');
      int64_t value;
      if (digits.getAsInteger(10, value) || value < 0) {
        emitCoded(getOperation().getLoc(), Code::TILE_1)
            << "\"" << text << "\" does not say NAME=VALUE of a symbol";
        return signalPassFailure();
      }
      all[name.str()] = value;
    }
    if (failed(specialize(getOperation(), all)))
      signalPassFailure();
  }

private:
  Size::Values values;
};

} // namespace

LogicalResult specialize(KernelOp kernel, const Size::Values &values) {
  return Specializer(kernel, values).run();
}

std::unique_ptr<Pass> createSpecialize(Size::Values values) {
  return std::make_unique<Specialize>(std::move(values));
}

} // namespace tw::tile
