// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of operations: how each is written in the kernel language.
#include "IR/Tile/Elementwise.h"
#include "Language/Source/Printer.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tw::source {

static constexpr Row rows[] = {
    // clang-format off
    // operation, how, word, strength, isSigned, onBool, variable
    {"arith.constant",     &Printer::constant},
    {"arith.addf",         &Printer::infix, "+", Sum},
    {"arith.subf",         &Printer::infix, "-", Sum},
    {"arith.mulf",         &Printer::infix, "*", Product},
    {"arith.divf",         &Printer::infix, "/", Product},
    {"arith.remf",         &Printer::infix, "%", Product},
    {"arith.negf",         &Printer::negative},
    {"arith.addi",         &Printer::infix, "+", Sum},
    {"arith.subi",         &Printer::infix, "-", Sum},
    {"arith.muli",         &Printer::infix, "*", Product},
    {"arith.divsi",        &Printer::quotient, "/", Product, true, "", "quotient"},
    {"arith.remsi",        &Printer::quotient, "%", Product, true, "", "rest"},
    {"arith.divui",        &Printer::unsignedOp, "divUnsigned"},
    {"arith.remui",        &Printer::unsignedOp, "remUnsigned"},
    {"arith.minui",        &Printer::unsignedOp, "minimumUnsigned"},
    {"arith.maxui",        &Printer::unsignedOp, "maximumUnsigned"},
    {"arith.shrui",        &Printer::unsignedOp, "shiftRightUnsigned"},
    {"arith.andi",         &Printer::infix, "&", BitAnd, false, "&&"},
    {"arith.ori",          &Printer::infix, "|", BitOr, false, "||"},
    {"arith.xori",         &Printer::infix, "^", BitXor, false, "^"},
    {"arith.shli",         &Printer::infix, "<<", Shift},
    {"arith.shrsi",        &Printer::infix, ">>", Shift, true},
    {"arith.cmpf",         &Printer::compare},
    {"arith.cmpi",         &Printer::compare},
    {"arith.select",       &Printer::select},
    {"arith.maximumf",     &Printer::call, "maximum"},
    {"arith.minimumf",     &Printer::call, "minimum"},
    {"arith.maxnumf",      &Printer::call, "maximumNumber"},
    {"arith.minnumf",      &Printer::call, "minimumNumber"},
    {"arith.maxsi",        &Printer::call, "maximum", Primary, true},
    {"arith.minsi",        &Printer::call, "minimum", Primary, true},
    {"arith.extf",         &Printer::convert},
    {"arith.truncf",       &Printer::convert},
    {"arith.extsi",        &Printer::convert, "castSigned", Primary, true},
    {"arith.extui",        &Printer::convert, "castUnsigned"},
    {"arith.trunci",       &Printer::convert, "castSigned"},
    {"arith.sitofp",       &Printer::convert, "castSigned", Primary, true},
    {"arith.uitofp",       &Printer::convert, "castUnsigned"},
    {"arith.fptosi",       &Printer::convert, "castSigned", Primary, true},
    {"arith.fptoui",       &Printer::convert, "castUnsigned"},
    {"arith.index_cast",   &Printer::convert, "castSigned", Primary, true},
    {"arith.index_castui", &Printer::convert, "castUnsigned"},
    {"math.absf",          &Printer::call, "abs"},
    {"math.absi",          &Printer::call, "abs", Primary, true},
    {"math.acos",          &Printer::call, "acos"},
    {"math.acosh",         &Printer::call, "acosh"},
    {"math.asin",          &Printer::call, "asin"},
    {"math.asinh",         &Printer::call, "asinh"},
    {"math.atan",          &Printer::call, "atan"},
    {"math.atan2",         &Printer::call, "atan2"},
    {"math.atanh",         &Printer::call, "atanh"},
    {"math.ceil",          &Printer::call, "ceil"},
    {"math.copysign",      &Printer::call, "copysign"},
    {"math.cos",           &Printer::call, "cos"},
    {"math.cosh",          &Printer::call, "cosh"},
    {"math.erf",           &Printer::call, "erf"},
    {"math.erfc",          &Printer::call, "erfc"},
    {"math.exp",           &Printer::call, "exp"},
    {"math.exp2",          &Printer::call, "exp2"},
    {"math.expm1",         &Printer::call, "expm1"},
    {"math.floor",         &Printer::call, "floor"},
    {"math.fma",           &Printer::call, "fma"},
    {"math.log",           &Printer::call, "log"},
    {"math.log10",         &Printer::call, "log10"},
    {"math.log1p",         &Printer::call, "log1p"},
    {"math.log2",          &Printer::call, "log2"},
    {"math.powf",          &Printer::call, "pow"},
    {"math.round",         &Printer::call, "round"},
    {"math.roundeven",     &Printer::call, "roundEven"},
    {"math.rsqrt",         &Printer::call, "rsqrt"},
    {"math.sin",           &Printer::call, "sin"},
    {"math.sinh",          &Printer::call, "sinh"},
    {"math.sqrt",          &Printer::call, "sqrt"},
    {"math.tan",           &Printer::call, "tan"},
    {"math.tanh",          &Printer::call, "tanh"},
    {"math.trunc",         &Printer::call, "trunc"},
    {"tile.program_id",    &Printer::programId},
    {"tile.size",          &Printer::size},
    {"tile.load",          &Printer::load},
    {"tile.gather",        &Printer::gather},
    {"tile.store",         &Printer::store},
    {"tile.scatter",       &Printer::store},
    {"tile.check",         &Printer::check, "", Primary, true, "", "checked"},
    {"tile.full",          &Printer::full, "", Primary, false, "", "filled"},
    {"tile.iota",          &Printer::iota, "", Primary, false, "", "numbers"},
    {"tile.dot",           &Printer::dot, "", Primary, false, "", "product"},
    {"tile.reduce",        &Printer::reduce},
    {"tile.scan",          &Printer::scan},
    {"tile.sort",          &Printer::sort, "", Primary, false, "", "sorted"},
    {"tile.broadcast",     &Printer::broadcast},
    {"tile.reshape",       &Printer::reshape},
    {"tile.transpose",     &Printer::transpose},
    {"tile.slice",         &Printer::slice},
    {"tile.keep",          &Printer::call, "keep"},
    {"tile.extract",       &Printer::extract, "", Primary, false, "", "element"},
    {"tile.for",           &Printer::loop, "", Primary, false, "", "acc"},
    {"scf.if",             &Printer::branch, "", Primary, false, "", "chosen"},
    // clang-format on
};

const Row *findRow(StringRef operation) {
  static const llvm::StringMap<const Row *> table = [] {
    llvm::StringMap<const Row *> all;
    for (const Row &row : rows)
      all[row.operation] = &row;
    return all;
  }();
  return table.lookup(operation);
}

std::vector<std::string> operationsWithoutSource(MLIRContext &context) {
  std::vector<std::string> missing;
  auto ask = [&](StringRef operation) {
    if (!findRow(operation))
      missing.push_back(operation.str());
  };
  for (StringRef operation : tile::elementwiseOperations())
    ask(operation);
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect(tile::TileDialect::getDialectNamespace()))
    if (StringRef operation = name.getStringRef(); // the kernel itself, and what ends blocks
        operation != tile::KernelOp::getOperationName() &&
        operation != tile::YieldOp::getOperationName())
      ask(operation);
  return missing;
}

} // namespace tw::source
