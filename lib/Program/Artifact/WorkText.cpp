// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Artifact/WorkText.h"
#include "IR/Graph/Mutations.h"
#include "IR/Tile/Variants.h"
#include "Program/Artifact/SizeText.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw {

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// "direct rows=64 columns=32 ...": the fields that are not 0 or false.
static std::string textOf(tile::ConfigurationAttr configuration) {
  std::string text = configuration.getKind().str();
  for (NamedAttribute field : configuration.getFields()) {
    auto number = dyn_cast<IntegerAttr>(field.getValue());
    if (number && number.getValue().isZero())
      continue;
    std::string value;
    if (number && !number.getType().isInteger(1))
      value = "=" + std::to_string(number.getInt());
    else if (auto numbers = dyn_cast<DenseI64ArrayAttr>(field.getValue()))
      value = fmt::format("={}", fmt::join(numbers.asArrayRef(), "x"));
    text += fmt::format(" {}{}", field.getName().str(), value);
  }
  return configuration.getTarget() ? text + "; " + textOf(configuration.getTarget()) : text;
}

static std::string configurationOf(tile::KernelOp kernel) {
  auto configuration =
      kernel->getAttrOfType<tile::ConfigurationAttr>(tile::TileDialect::configurationName);
  return configuration ? textOf(configuration) : "";
}

static KernelCost::Variant describeVariant(tile::KernelOp variant, StringRef symbol) {
  KernelCost::Variant made{0, INT64_MAX, tile::workersOf(variant), configurationOf(variant)};
  for (auto own : variant.getSymbols().getAsRange<tile::SymbolAttr>())
    if (own.getName() == symbol)
      made.least = own.getMin(), made.most = own.getMax();
  return made;
}

KernelCost costOf(tile::KernelOp kernel, ModuleOp code) {
  KernelCost cost{tile::workOf(kernel), {}, {}, "", configurationOf(kernel)};
  if (auto symbol = kernel->getAttrOfType<StringAttr>(tile::variantSizeName))
    cost.variantSymbol = symbol.str();
  for (tile::KernelOp variant : tile::variantsOf(kernel))
    if (code.lookupSymbol(variant.getSymName()))
      cost.variants.push_back(describeVariant(variant, cost.variantSymbol));
  for (auto [value, argument] : llvm::zip(kernel.getBody().getArguments(),
                                          kernel.getArguments().getAsRange<tile::ArgumentAttr>())) {
    cost.accesses.push_back(argument.getAccess());
    auto buffer = dyn_cast<tile::BufferType>(value.getType());
    cost.sizes.push_back(buffer ? tile::sizesOf(buffer) : std::vector<Size>());
  }
  if (cost.work.arithmetic)
    cost.arithmetic = textOf(cost.work.arithmetic);
  return cost;
}

namespace {

/// What Size::build makes a text with; "" is not known.
struct TextArithmetic {
  const std::map<std::string, std::string> &symbols;

  std::string constant(int64_t value) const { return std::to_string(value); }
  std::string symbol(const std::string &name) const {
    auto found = symbols.find(name);
    return found == symbols.end() ? "" : found->second;
  }
  static std::string join(const std::string &x, const char *between, const std::string &y) {
    return x.empty() || y.empty() ? "" : fmt::format("({}{}{})", x, between, y);
  }
  std::string add(const std::string &x, const std::string &y) const {
    return x == "0" ? y : y == "0" ? x : join(x, " + ", y);
  }
  std::string mul(const std::string &x, const std::string &y) const {
    return x == "1" ? y : y == "1" ? x : join(x, " * ", y);
  }
  std::string floorDiv(const std::string &x, const std::string &y) const {
    return join(x, " // ", y);
  }
  std::string ceilDiv(const std::string &x, const std::string &y) const {
    return x.empty() || y.empty() ? "" : fmt::format("(-(-{} // {}))", x, y);
  }
  std::string mod(const std::string &x, const std::string &y) const { return join(x, " % ", y); }
};

/// The operands that a kernel's arguments are: `in` buffers are inputs in order, the others
/// results.
std::vector<Value> operandsOf(graph::DispatchOp call, const KernelCost &cost) {
  SmallVector<Value> tensors;
  for (Value input : call.getInputs())
    if (isa<RankedTensorType>(input.getType()))
      tensors.push_back(input);
  std::vector<Value> operands;
  size_t nextInput = 0, nextResult = 0;
  for (tile::Access access : cost.accesses) {
    Value operand;
    if (access == tile::Access::In && nextInput < tensors.size())
      operand = tensors[nextInput++];
    else if ((access == tile::Access::Out || access == tile::Access::InOut) &&
             nextResult < call.getNumResults())
      operand = call.getResult(unsigned(nextResult++));
    operands.push_back(operand);
  }
  return operands;
}

std::map<std::string, std::string> symbolTexts(func::FuncOp main, const KernelCost &cost,
                                               ArrayRef<Value> operands) {
  std::map<std::string, std::string> texts;
  for (auto [operand, sizes] : llvm::zip(operands, cost.sizes))
    for (auto [d, size] : llvm::enumerate(sizes))
      if (auto symbol = size.asSymbol(); symbol && operand) {
        std::string text = sizeText(main, operand, int64_t(d));
        bool isPlain = llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
        if (!text.empty())
          texts.try_emplace(*symbol, isPlain ? text : "(" + text + ")");
      }
  return texts;
}

/// A sum of numbers and texts.
class Sum {
public:
  void add(const std::string &text) {
    isKnown &= !text.empty();
    if (int64_t number = 0; llvm::to_integer(text, number))
      constant += number;
    else
      terms.push_back(text);
  }
  std::string text() const {
    if (!isKnown || constant < 0)
      return "";
    std::string all = fmt::format("{}", fmt::join(terms, " + "));
    if (all.empty() || constant > 0)
      all += fmt::format("{}{}", all.empty() ? "" : " + ", constant);
    return all.size() > mostText ? "" : all;
  }

private:
  static constexpr size_t mostText = 2000; // longer ones are no help to anybody
  bool isKnown = true;
  int64_t constant = 0;
  std::vector<std::string> terms;
};

} // namespace

WorkText workText(func::FuncOp main, graph::DispatchOp call, const KernelCost &cost) {
  std::vector<Value> operands = operandsOf(call, cost);
  std::map<std::string, std::string> symbols = symbolTexts(main, cost, operands);
  auto textOfSize = [&](const Size &size) {
    return size.valid() ? size.build(TextArithmetic{symbols}) : "";
  };
  Sum weights, read, written;
  for (const tile::Traffic &traffic : cost.work.traffic) {
    std::string whole = textOfSize(traffic.whole), some;
    if (traffic.accessed)
      some = textOfSize(*traffic.accessed);
    auto least = traffic.accessed ? (*traffic.accessed - traffic.whole).constant() : std::nullopt;
    std::string text = some.empty() && traffic.dependsOnData    ? ""
                       : some.empty() || (least && *least >= 0) ? whole
                       : whole.empty() || (least && *least <= 0)
                           ? some
                           : fmt::format("min({}, {})", some, whole);
    Value operand = operands[traffic.argument];
    bool isWeight = operand && graph::isConstant(operand);
    (traffic.isWritten ? written : isWeight ? weights : read).add(text);
  }
  std::string variantSize =
      cost.variantSymbol.empty() ? "" : textOfSize(Size::symbol(cost.variantSymbol));
  return {cost.work.flops ? textOfSize(*cost.work.flops) : "", weights.text(), read.text(),
          written.text(), variantSize};
}

} // namespace tw
