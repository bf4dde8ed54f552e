// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks: which values get variables, loops and branches, and where in the user's source a
// statement comes from.
#include "IR/ModelLocation.h"
#include "IR/Tile/Elementwise.h"
#include "Language/Source/Printer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::source {

/// Longer expressions get a variable.
static constexpr size_t longest = 72;

//===----------------------------------------------------------------------===//
// Which values have variables
//===----------------------------------------------------------------------===//

/// Whether all users stand in the operation's own block.
static bool isUsedHere(Operation *op) {
  return llvm::all_of(op->getUsers(),
                      [&](Operation *user) { return user->getBlock() == op->getBlock(); });
}

bool Printer::alwaysInline(Operation *op) {
  if (isa<arith::ConstantOp, tile::SizeOp, tile::ProgramIdOp>(op))
    return true;
  if (!isUsedHere(op))
    return false;
  // What operations on elements do by themselves.
  bool onElements = llvm::all_of(op->getUsers(), [](Operation *user) {
    return tile::isElementwise(user) || isa<tile::BroadcastOp>(user);
  });
  if (auto full = dyn_cast<tile::FullOp>(op))
    return onElements || full.getValue().getDefiningOp<arith::ConstantOp>();
  auto reshape = dyn_cast<tile::ReshapeOp>(op);
  return onElements && (isa<tile::BroadcastOp>(op) || (reshape && !keepsAxis(reshape)));
}

/// How often the text of a value would stand somewhere.
size_t Printer::countUses(Value value) {
  size_t count = 0;
  for (Operation *user : value.getUsers())
    count += alwaysInline(user) && user->getNumResults() == 1 ? countUses(user->getResult(0)) : 1;
  return count;
}

bool Printer::isInline(Operation *op, const Expression &expression) {
  if (alwaysInline(op))
    return true;
  return isPure(op) && op->getNumResults() == 1 && isUsedHere(op) &&
         countUses(op->getResult(0)) <= 1 && expression.text.size() <= longest;
}

/// What the user's model or the operation calls it.
std::string Printer::variableName(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast_or_null<tile::LoadOp>(op))
    return buffers[load.getBuffer()] + "_tile";
  if (auto gather = dyn_cast_or_null<tile::GatherOp>(op))
    return buffers[gather.getBuffer()] + "_elements";
  const Row *row = op ? findRow(op->getName().getStringRef()) : nullptr;
  bool isWhole = row && row->variable[0]; // whoever asked for it, it is that
  if (op && !isWhole && isa<RankedTensorType>(value.getType()))
    if (std::string node = identifier(nodeName(op->getLoc())); !node.empty())
      return node;
  return isWhole ? row->variable : isa<RankedTensorType>(value.getType()) ? "t" : "i";
}

static Handle handleOf(Type type) {
  return isa<RankedTensorType>(type) ? Handle::Tile
         : type.isIndex()            ? Handle::Index
                                     : Handle::Scalar;
}

static std::string handleName(Type type) {
  static constexpr const char *words[] = {"", "Size", "Index", "Scalar", "Tile"};
  return words[size_t(handleOf(type))];
}

std::string Printer::define(Value value, const std::string &wanted, DType dtype) {
  std::string name = names.take(wanted);
  values[value] = {name, handleOf(value.getType()), dtype};
  variables.insert(value);
  return name;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// "linear: net.py:88 in Net.forward", "mm: model.mlir:3", or "softmax.cpp:9".
static std::string placeText(Location loc) {
  if (auto place = modelPlace(loc)) {
    std::string line = place->file.empty() ? "" : fmt::format("{}:{}", place->file, place->line);
    std::string function = place->function.empty() ? "" : " in " + place->function;
    std::string module = place->module.empty() ? "" : ", module " + place->module;
    std::string where = line + function + module;
    return place->node + (where.empty() ? "" : ": " + where);
  }
  std::string text;
  loc->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place || !text.empty())
      return WalkResult::advance();
    StringRef file = place.getFilename().getValue();
    text = fmt::format("{}:{}", file.substr(file.rfind('/') + 1).str(), place.getLine());
    return WalkResult::interrupt();
  });
  std::string name = nodeName(loc);
  return name.empty() || text.empty() ? name + text : name + ": " + text;
}

void Printer::printComment(Location loc) {
  // In a kernel of a model only the model is the user's; the rest is templates of the compiler.
  std::string place = isOfModel && nodeName(loc).empty() ? "" : placeText(loc);
  if (place.empty() || place == lastPlace)
    return;
  lastPlace = place;
  comment(place);
}

void Printer::comment(std::string what) {
  for (char &c : what)
    if (uint8_t(c) < 32 || c == '\\') // neither ends nor continues the line
      c = ' ';
  text += indent + "// " + what + "\n";
}

/// Where the model's nodes are that a kernel computes.
void Printer::printNodes() {
  constexpr size_t most = 8;
  std::vector<std::string> places;
  kernel.getLoc()->walk([&](Location part) {
    std::string text = nodeName(part).empty() ? "" : placeText(part);
    if (!text.empty() && !llvm::is_contained(places, text))
      places.push_back(text);
    return WalkResult::advance();
  });
  isOfModel = !places.empty();
  for (const std::string &place : ArrayRef(places).take_front(most))
    comment(place);
  if (places.size() > most)
    comment(fmt::format("and {} more", places.size() - most));
}

void Printer::printBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>())
      printStatement(&op);
}

void Printer::printStatement(Operation *op) {
  const Row *row = findRow(op->getName().getStringRef());
  if (!row || (op->getDialect()->getNamespace() == "tile" && !op->getDiscardableAttrs().empty())) {
    fail(op, op->getName().getStringRef().str() + (row ? " with further attributes" : ""));
    return;
  }
  if (op->getNumRegions() > 0 || op->getNumResults() > 1) { // a statement, not a value
    (this->*row->write)(op, *row);
    return;
  }
  Expression made = (this->*row->write)(op, *row);
  if (op->getNumResults() == 0 || op->use_empty()) {
    if (!isPure(op)) {
      printComment(op->getLoc());
      line(made.text + ";");
    }
    return;
  }
  Value value = op->getResult(0);
  if (made.handle == Handle::Index && isSumOfNonNegative(op))
    nonNegative.insert(value);
  if (isInline(op, made)) {
    values[value] = made;
    return;
  }
  printComment(op->getLoc());
  std::string name = define(value, variableName(value), made.dtype);
  line(handleName(value.getType()) + " " + name + " = " + made.text + ";");
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

std::string Printer::returned(Value value, DType dtype) {
  Expression made = as(handle(value), dtype);
  bool isWrapped = value.getType().isIndex() && made.handle != Handle::Index;
  return isWrapped ? "Index(" + made.text + ")" : made.text;
}

void Printer::printReturn(Operation *yield, ArrayRef<DType> dtypes) {
  std::vector<std::string> parts;
  for (auto [value, dtype] : llvm::zip(yield->getOperands(), dtypes))
    parts.push_back(returned(value, dtype));
  if (parts.size() == 1)
    line("return " + parts[0] + ";");
  else if (!parts.empty())
    line("return carry(" + joined(parts) + ");");
}

std::string Printer::declare(Operation *op, ArrayRef<DType> dtypes) {
  std::vector<std::string> parts;
  for (auto [value, dtype] : llvm::zip(op->getResults(), dtypes))
    parts.push_back(define(value, variableName(value), dtype));
  if (parts.empty())
    return "";
  return parts.size() == 1 ? handleName(op->getResult(0).getType()) + " " + parts[0] + " = "
                           : "auto [" + joined(parts) + "] = ";
}

std::string Printer::parameterList(ArrayRef<BlockArgument> arguments, ArrayRef<std::string> wanted,
                                   ArrayRef<DType> dtypes) {
  std::vector<std::string> parts;
  for (auto [argument, name, dtype] : llvm::zip(arguments, wanted, dtypes))
    parts.push_back(handleName(argument.getType()) + " " + define(argument, name, dtype));
  return joined(parts);
}

Expression Printer::loop(Operation *op, const Row &) {
  auto loop = cast<tile::ForOp>(op);
  printComment(op->getLoc());
  SmallVector<DType> dtypes;
  std::vector<std::string> inits;
  for (Value init : loop.getInitial()) {
    dtypes.push_back(handle(init).dtype);
    inits.push_back(returned(init, dtypes.back()));
  }
  std::string range =
      joined({position(loop.getBegin()), position(loop.getEnd()), position(loop.getStep())});
  std::string carried = inits.empty()       ? ""
                        : inits.size() == 1 ? ", " + inits[0]
                                            : ", carry(" + joined(inits) + ")";
  // The body's variables are free again behind it, where the results take theirs.
  std::string start = std::move(text);
  text.clear();
  names.enter();
  std::string outer = indent;
  SmallVector<std::string> wanted = {"k"};
  for (Value result : loop.getResults())
    wanted.push_back(result.getDefiningOp() ? "acc" : "");
  SmallVector<DType> parameters = {DType::index};
  llvm::append_range(parameters, dtypes);
  SmallVector<BlockArgument> arguments(loop.getBody().getArguments());
  std::string head = "forLoop(" + range + carried + ", [&](" +
                     parameterList(arguments, wanted, parameters) + ") {";
  indent = outer + "  ";
  printBlock(loop.getBody().front());
  printReturn(loop.getBody().front().getTerminator(), dtypes);
  names.leave();
  if (loop.canSplit()) {
    names.enter();
    SmallVector<BlockArgument> states(loop.getCombine().getArguments());
    SmallVector<DType> twice(dtypes);
    llvm::append_range(twice, dtypes);
    SmallVector<std::string> called;
    for (size_t i = 0; i < states.size(); ++i)
      called.push_back(i < dtypes.size() ? "left" : "right");
    text += outer + (loop.getCommutative() ? "}, commutative([&](" : "}, [&](") +
            parameterList(states, called, twice) + ") {\n";
    printBlock(loop.getCombine().front());
    printReturn(loop.getCombine().front().getTerminator(), dtypes);
    names.leave();
  }
  indent = outer;
  std::string body = std::move(text);
  text = std::move(start);
  line(declare(op, dtypes) + head);
  text += body;
  line(loop.getCommutative() ? "}));" : "});");
  return {};
}

Expression Printer::branch(Operation *op, const Row &) {
  auto branch = cast<scf::IfOp>(op);
  printComment(op->getLoc());
  std::string condition = handle(branch.getCondition()).text, outer = indent;
  std::string start = std::move(text);
  bool isPlain = op->getNumResults() == 0 && (branch.getElseRegion().empty() ||
                                              branch.elseBlock()->without_terminator().empty());
  text.clear();
  SmallVector<DType> dtypes;
  auto side = [&](Block *block) {
    names.enter();
    indent = outer + "  ";
    printBlock(*block);
    if (block == branch.thenBlock())
      for (Value value : block->getTerminator()->getOperands())
        dtypes.push_back(handle(value).dtype);
    printReturn(block->getTerminator(), dtypes);
    indent = outer;
    names.leave();
  };
  side(branch.thenBlock());
  if (!isPlain) {
    line("}, [&] {");
    side(branch.elseBlock());
  }
  std::string body = std::move(text);
  text = std::move(start);
  line(declare(op, dtypes) + (isPlain ? "ifThen(" : "ifThenElse(") + condition + ", [&] {");
  text += body;
  line("});");
  return {};
}

} // namespace tw::source
