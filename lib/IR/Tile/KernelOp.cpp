// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.kernel: text, and the rules that hold for a kernel as a whole.
#include "IR/Tile/Elementwise.h"
#include "IR/Tile/SizeText.h"
#include "IR/Tile/Tile.h"
#include "Support/Counted.h"
#include "Support/SolveSymbols.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tw;
using namespace tw::tile;

ArgumentAttr KernelOp::getArgument(unsigned i) { return cast<ArgumentAttr>(getArguments()[i]); }

void KernelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (auto [value, argument] :
       llvm::zip(region.getArguments(), getArguments().getAsRange<ArgumentAttr>()))
    setName(value, argument.getName());
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `(in | out | inout)? %name : type (init value)? (as symbol)? constant?`
static ParseResult parseArgument(OpAsmParser &parser, OpAsmParser::Argument &argument,
                                 Attribute &description) {
  Access access = Access::Scalar;
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    auto found = symbolizeAccess(word);
    if (!found || found == Access::Scalar)
      return parser.emitError(loc, "expected in, out, inout or an argument");
    access = *found;
  }
  if (failed(parser.parseArgument(argument, /*allowType=*/true)))
    return failure();
  TypedAttr init;
  if (succeeded(parser.parseOptionalKeyword("init")) && failed(parser.parseAttribute(init)))
    return failure();
  StringAttr symbol;
  if (succeeded(parser.parseOptionalKeyword("as"))) {
    if (failed(parser.parseKeyword(&word)))
      return failure();
    symbol = parser.getBuilder().getStringAttr(word);
  }
  bool isConstant = succeeded(parser.parseOptionalKeyword("constant"));
  description = ArgumentAttr::get(parser.getContext(), argument.ssaName.name.drop_front(), access,
                                  init, symbol, isConstant);
  return success();
}

/// `name ({min = 1, max = 8, multiple = 2})?`
static ParseResult parseSymbol(OpAsmParser &parser, Attribute &symbol) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseKeyword(&name)))
    return failure();
  int64_t min = 0, max = INT64_MAX, multiple = 1;
  if (succeeded(parser.parseOptionalLBrace())) {
    auto limit = [&]() -> ParseResult {
      StringRef key;
      SMLoc place = parser.getCurrentLocation();
      if (failed(parser.parseKeyword(&key)) || failed(parser.parseEqual()))
        return failure();
      int64_t *value = key == "min"        ? &min
                       : key == "max"      ? &max
                       : key == "multiple" ? &multiple
                                           : nullptr;
      if (!value)
        return parser.emitError(place, "expected min, max or multiple");
      return parser.parseInteger(*value);
    };
    if (failed(parser.parseCommaSeparatedList(limit)) || failed(parser.parseRBrace()))
      return failure();
  }
  symbol = SymbolAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), name,
                                  min, max, multiple);
  return success(bool(symbol));
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &b = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> descriptions, symbols, grid;
  using Delimiter = AsmParser::Delimiter;
  if (failed(parser.parseSymbolName(name)) ||
      failed(parser.parseCommaSeparatedList(Delimiter::Paren, [&] {
        return parseArgument(parser, arguments.emplace_back(), descriptions.emplace_back());
      })))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("symbols")) &&
      failed(parser.parseCommaSeparatedList(
          Delimiter::Square, [&] { return parseSymbol(parser, symbols.emplace_back()); })))
    return failure();
  auto size = [&] {
    SizeAttr size;
    ParseResult parsed = parseSize(parser, size);
    grid.push_back(size);
    return parsed;
  };
  if (failed(parser.parseKeyword("grid")) ||
      failed(parser.parseCommaSeparatedList(Delimiter::Square, size)) ||
      failed(parser.parseOptionalAttrDictWithKeyword(result.attributes)))
    return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.sym_name = name;
  properties.arguments = b.getArrayAttr(descriptions);
  properties.symbols = b.getArrayAttr(symbols);
  properties.grid = b.getArrayAttr(grid);
  Region *body = result.addRegion();
  if (failed(parser.parseRegion(*body, arguments)))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

static void printSymbol(OpAsmPrinter &printer, SymbolAttr symbol) {
  printer << symbol.getName();
  SmallVector<std::string> limits;
  if (symbol.getMin() != 0)
    limits.push_back("min = " + std::to_string(symbol.getMin()));
  if (symbol.getMax() != INT64_MAX)
    limits.push_back("max = " + std::to_string(symbol.getMax()));
  if (symbol.getMultiple() != 1)
    limits.push_back("multiple = " + std::to_string(symbol.getMultiple()));
  if (!limits.empty())
    printer << " {" << llvm::join(limits, ", ") << "}";
}

static void printArgument(OpAsmPrinter &printer, BlockArgument value, ArgumentAttr argument) {
  if (argument.getAccess() != Access::Scalar)
    printer << stringifyAccess(argument.getAccess()) << ' ';
  printer.printRegionArgument(value);
  if (argument.getInit())
    printer << " init " << Attribute(argument.getInit());
  if (argument.getSymbol())
    printer << " as " << argument.getSymbol().getValue();
  if (argument.getConstant())
    printer << " constant";
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  auto arguments = llvm::zip(getBody().getArguments(), getArguments().getAsRange<ArgumentAttr>());
  llvm::interleaveComma(arguments, printer, [&](auto pair) {
    printArgument(printer, std::get<0>(pair), std::get<1>(pair));
  });
  printer << ") ";
  if (!getSymbols().empty()) {
    printer << "symbols [";
    llvm::interleaveComma(getSymbols().getAsRange<SymbolAttr>(), printer,
                          [&](SymbolAttr symbol) { printSymbol(printer, symbol); });
    printer << "] ";
  }
  printer << "grid ";
  printSizeList(printer, llvm::to_vector(getGrid().getAsRange<SizeAttr>()));
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getArgumentsAttrName(), getSymbolsAttrName(), getGridAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {

/// One argument against its type; `kernel` says so if it does not fit.
LogicalResult verifyArgument(KernelOp kernel, Type type, ArgumentAttr argument) {
  auto fail = [&](const Twine &what) {
    return kernel.emitOpError() << "argument \"" << argument.getName() << "\" " << what;
  };
  auto buffer = dyn_cast<BufferType>(type);
  bool isScalar = argument.getAccess() == Access::Scalar;
  if (isScalar == bool(buffer))
    return fail(isScalar ? "is a buffer, so it is in, out or inout"
                         : "is no buffer, so it is neither in nor out");
  if (isScalar && !type.isIndex() && !type.isInteger(64) && !type.isF64() && !type.isInteger(1))
    return fail("is neither a buffer nor index, i64, f64 or i1");
  if (argument.getSymbol() && !type.isIndex())
    return fail("is a symbol, so its type must be index");
  if (argument.getInit() && argument.getAccess() != Access::Out)
    return fail("is no output, so it has no initial value");
  if (argument.getInit() && argument.getInit().getType() != buffer.getTileElementType())
    return fail("has an initial value of another type than its elements");
  if (argument.getConstant() && argument.getAccess() != Access::In)
    return fail("is no input, so it is not constant");
  return success();
}

/// What a call can bind: docs/tile-programs.md, "Binding".
LogicalResult verifyBinding(KernelOp kernel) {
  std::set<std::string> known;
  std::vector<Size> equations;
  bool outsBind = kernel->hasAttr(TileDialect::destinationsName);
  for (auto [value, argument] : llvm::zip(kernel.getBody().getArguments(),
                                          kernel.getArguments().getAsRange<ArgumentAttr>())) {
    if (argument.getSymbol())
      known.insert(argument.getSymbol().str());
    bool binds = argument.getAccess() == Access::In || argument.getAccess() == Access::InOut ||
                 (argument.getAccess() == Access::Out && outsBind);
    if (binds)
      llvm::append_range(equations, sizesOf(cast<BufferType>(value.getType())));
  }
  solveSymbols(equations, known);
  for (auto symbol : kernel.getSymbols().getAsRange<SymbolAttr>())
    if (!known.contains(symbol.getName().str()))
      return kernel.emitOpError() << "symbol " << symbol.getName()
                                  << " follows neither from the size of an input nor from an "
                                     "argument";
  return success();
}

/// The symbols of a kernel, and who uses others.
class Declared {
public:
  explicit Declared(KernelOp kernel) {
    for (auto symbol : kernel.getSymbols().getAsRange<SymbolAttr>())
      names.insert(symbol.getName());
  }

  std::optional<std::string> undeclared(const Size &size) const {
    for (const std::string &name : size.symbols())
      if (!names.contains(name))
        return name;
    return std::nullopt;
  }

  std::optional<std::string> undeclared(Type type) const {
    std::vector<Size> sizes;
    if (auto buffer = dyn_cast<BufferType>(type))
      sizes = sizesOf(buffer);
    else if (auto tile = dyn_cast<RankedTensorType>(type); tile && !whyNotTile(tile))
      sizes = extentsOf(tile);
    for (const Size &size : sizes)
      if (auto name = undeclared(size))
        return name;
    return std::nullopt;
  }

private:
  llvm::StringSet<> names;
};

LogicalResult verifyNames(KernelOp kernel) {
  llvm::StringSet<> names;
  for (auto argument : kernel.getArguments().getAsRange<ArgumentAttr>())
    if (!names.insert(argument.getName()).second)
      return kernel.emitOpError() << "has two arguments named \"" << argument.getName() << "\"";
  names.clear();
  for (auto symbol : kernel.getSymbols().getAsRange<SymbolAttr>())
    if (!names.insert(symbol.getName()).second)
      return kernel.emitOpError() << "declares the symbol " << symbol.getName() << " twice";
  return success();
}

LogicalResult verifyDeclared(KernelOp kernel) {
  Declared declared(kernel);
  auto fail = [&](StringRef where, const std::string &name) {
    return kernel.emitOpError() << where << " uses the symbol " << name
                                << ", which the kernel does not declare";
  };
  for (auto size : kernel.getGrid().getAsRange<SizeAttr>())
    if (auto name = declared.undeclared(size.getSize()))
      return fail("the grid", *name);
  for (auto [value, argument] : llvm::zip(kernel.getBody().getArguments(),
                                          kernel.getArguments().getAsRange<ArgumentAttr>())) {
    if (auto name = declared.undeclared(value.getType()))
      return fail(("argument \"" + argument.getName() + "\"").str(), *name);
    if (argument.getSymbol() && declared.undeclared(Size::symbol(argument.getSymbol().str())))
      return fail(("argument \"" + argument.getName() + "\"").str(), argument.getSymbol().str());
  }
  return success();
}

/// Whether `op` may stand in a kernel, and without flags that loosen arithmetic.
LogicalResult verifyOperation(Operation *op) {
  if (auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
      flags && flags.getFastMathFlagsAttr() &&
      flags.getFastMathFlagsAttr().getValue() != arith::FastMathFlags::none)
    return op->emitOpError("fast-math flags have no place in a kernel");
  if (auto rounding = dyn_cast<arith::ArithRoundingModeInterface>(op);
      rounding && rounding.getRoundingModeAttr())
    return op->emitOpError("a rounding mode has no place in a kernel: casts round to nearest, ties "
                           "to even");
  if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
      flags && flags.getOverflowAttr().getValue() != arith::IntegerOverflowFlags::none)
    return op->emitOpError("overflow flags have no place in a kernel: integers wrap");
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (isa<ShapedType>(constant.getType()))
      return op->emitOpError("a constant is a scalar; tile.full makes a tile of it");
    return success();
  }
  if (isa<TileDialect>(op->getDialect()) || isElementwise(op) || isa<scf::IfOp, scf::YieldOp>(op))
    return success();
  return op->emitOpError("may not be used in a kernel (docs/tile-programs.md lists what may)");
}

} // namespace

LogicalResult KernelOp::verify() {
  if (getArguments().size() != getBody().getNumArguments())
    return emitOpError() << "describes " << counted(getArguments().size(), "argument")
                         << ", but has " << getBody().getNumArguments();
  for (auto [value, argument] :
       llvm::zip(getBody().getArguments(), getArguments().getAsRange<ArgumentAttr>()))
    if (failed(verifyArgument(*this, value.getType(), argument)))
      return failure();
  if (getGrid().empty())
    return emitOpError("has no grid");
  for (NamedAttribute attribute : (*this)->getDiscardableAttrs())
    if (!attribute.getName().strref().contains('.'))
      return emitOpError() << "has an attribute " << attribute.getName()
                           << ", which belongs to no dialect";
  return success(succeeded(verifyNames(*this)) && succeeded(verifyDeclared(*this)) &&
                 succeeded(verifyBinding(*this)));
}

LogicalResult KernelOp::verifyRegions() {
  Declared declared(*this);
  WalkResult result = getBody().walk([&](Operation *op) -> WalkResult {
    if (failed(verifyOperation(op)))
      return WalkResult::interrupt();
    auto size = dyn_cast<SizeOp>(op);
    auto name = size ? declared.undeclared(size.getSize().getSize()) : std::nullopt;
    for (Type type : op->getResultTypes()) {
      if (auto why = whyNotTile(type))
        return op->emitOpError(*why), WalkResult::interrupt();
      if (!name)
        name = declared.undeclared(type);
    }
    if (name)
      return op->emitOpError() << "uses the symbol " << *name
                               << ", which the kernel does not declare",
             WalkResult::interrupt();
    return WalkResult::advance();
  });
  return success(!result.wasInterrupted());
}
