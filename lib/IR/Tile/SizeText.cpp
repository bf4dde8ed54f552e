// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Tile/SizeText.h"

using namespace mlir;

namespace tw::tile {
namespace {

/// MLIR's parser hands out tokens, not text: this follows the grammar of tw::Size and collects the
/// text again.
class SizeTokens {
public:
  explicit SizeTokens(AsmParser &parser) : parser(parser) {}

  FailureOr<Size> run() {
    SMLoc loc = parser.getCurrentLocation();
    if (failed(sum()))
      return failure();
    std::string why;
    if (auto size = Size::parse(text, why))
      return *size;
    return parser.emitError(loc, "not a size: ") << why, failure();
  }

private:
  static constexpr int deepest = 100;

  ParseResult sum() {
    if (failed(product()))
      return failure();
    while (true) {
      if (succeeded(parser.parseOptionalPlus()))
        text += " + ";
      else if (succeeded(parser.parseOptionalMinus()))
        text += " - ";
      else
        return success();
      if (failed(product()))
        return failure();
    }
  }

  ParseResult product() {
    if (failed(operand()))
      return failure();
    while (takeOperator())
      if (failed(operand()))
        return failure();
    return success();
  }

  bool takeOperator() {
    if (succeeded(parser.parseOptionalStar()))
      return text += " * ", true;
    for (StringRef word : {"floordiv", "ceildiv", "mod"})
      if (succeeded(parser.parseOptionalKeyword(word)))
        return text += " " + word.str() + " ", true;
    return false;
  }

  ParseResult operand() {
    SMLoc loc = parser.getCurrentLocation();
    if (++depth > deepest)
      return parser.emitError(loc, "the size is nested too deeply");
    ParseResult result = operandInside(loc);
    --depth;
    return result;
  }

  ParseResult operandInside(SMLoc loc) {
    if (succeeded(parser.parseOptionalMinus()))
      return text += "-", operand();
    if (succeeded(parser.parseOptionalLParen())) {
      text += "(";
      if (failed(sum()) || failed(parser.parseRParen()))
        return failure();
      text += ")";
      return success();
    }
    int64_t number;
    if (OptionalParseResult found = parser.parseOptionalInteger(number); found.has_value()) {
      text += std::to_string(number);
      return *found;
    }
    StringRef word;
    if (failed(parser.parseOptionalKeyword(&word)))
      return parser.emitError(loc, "expected a size: a number, a symbol or '('");
    text += word.str();
    return success();
  }

  AsmParser &parser;
  std::string text;
  int depth = 0;
};

} // namespace

ParseResult parseSize(AsmParser &parser, SizeAttr &size) {
  FailureOr<Size> parsed = SizeTokens(parser).run();
  if (failed(parsed))
    return failure();
  size = SizeAttr::get(parser.getContext(), *parsed);
  return success();
}

void printSize(AsmPrinter &printer, Operation *, SizeAttr size) { printer << size.getText(); }

ParseResult parseSizeText(AsmParser &parser, Size &size) {
  FailureOr<Size> parsed = SizeTokens(parser).run();
  if (failed(parsed))
    return failure();
  size = *parsed;
  return success();
}

void printSizeText(AsmPrinter &printer, const Size &size) { printer << size.str(); }

ParseResult parseSizeList(AsmParser &parser, SmallVector<SizeAttr> &sizes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parseSize(parser, sizes.emplace_back()); });
}

void printSizeList(AsmPrinter &printer, ArrayRef<SizeAttr> sizes) {
  printer << '[';
  llvm::interleaveComma(sizes, printer, [&](SizeAttr size) { printer << size.getText(); });
  printer << ']';
}

} // namespace tw::tile
