// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of the dialect's types, and relations between them.
#include "IR/Torch/Torch.h"
#include "Support/Counted.h"
#include "llvm/ADT/TypeSwitch.h"

#define GET_TYPEDEF_CLASSES
#include "IR/Torch/TorchTypes.cpp.inc"

using namespace mlir;
namespace tw::torch {

void TorchDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "IR/Torch/TorchTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

Type TorchDialect::parseNested(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  Type type;
  OptionalParseResult result = generatedTypeParser(parser, &mnemonic, type);
  if (result.has_value())
    return type;
  parser.emitError(loc) << "unknown type '" << mnemonic << "' in dialect 'torch'";
  return {};
}

void TorchDialect::printNested(Type type, AsmPrinter &printer) {
  // Types of other dialects may stand in a list only by a mistake elsewhere; show them anyway.
  if (failed(generatedTypePrinter(type, printer)))
    printer << type;
}

Type TorchDialect::parseType(DialectAsmParser &parser) const { return parseNested(parser); }
void TorchDialect::printType(Type type, DialectAsmPrinter &printer) const {
  printNested(type, printer);
}

static ParseResult parseSizes(AsmParser &parser, SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      sizes.push_back(ValueTensorType::kUnknownSize);
      return success();
    }
    SMLoc loc = parser.getCurrentLocation();
    int64_t size;
    if (parser.parseInteger(size))
      return failure();
    if (size < 0)
      return parser.emitError(loc) << "a size cannot be negative; an unknown one is '?'";
    sizes.push_back(size);
    return success();
  });
}

/// After the keyword: nothing, or `<` (`*` | sizes) `,` (`unk` | dtype) (`,` sparsity)? `>`.
template <typename TensorType>
static Type parseTensor(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  bool hasSizes = false;
  Type dtype;
  Attribute sparsity;
  if (failed(parser.parseOptionalLess()))
    return TensorType::get(parser.getContext(), false, {}, Type(), Attribute());
  if (failed(parser.parseOptionalStar())) {
    hasSizes = true;
    if (parseSizes(parser, sizes))
      return {};
  }
  if (parser.parseComma() ||
      (failed(parser.parseOptionalKeyword("unk")) && parser.parseType(dtype)) ||
      (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(sparsity)) ||
      parser.parseGreater())
    return {};
  return TensorType::get(parser.getContext(), hasSizes, sizes, dtype, sparsity);
}

template <typename TensorType>
static void printTensor(AsmPrinter &printer, TensorType type) {
  if (!type.getHasSizes() && !type.getDtype() && !type.getSparsity())
    return;
  auto printSize = [&](int64_t size) {
    if (size == TensorType::kUnknownSize)
      printer << "?";
    else
      printer << size;
  };
  printer << "<";
  if (type.getHasSizes()) {
    printer << "[";
    llvm::interleave(type.getSizes(), printer.getStream(), printSize, ",");
    printer << "]";
  } else {
    printer << "*";
  }
  printer << ",";
  if (type.getDtype())
    printer.printType(type.getDtype());
  else
    printer << "unk";
  if (type.getSparsity()) {
    printer << ",";
    printer.printAttribute(type.getSparsity());
  }
  printer << ">";
}

Type ValueTensorType::parse(AsmParser &parser) { return parseTensor<ValueTensorType>(parser); }
void ValueTensorType::print(AsmPrinter &printer) const { printTensor(printer, *this); }
Type NonValueTensorType::parse(AsmParser &parser) {
  return parseTensor<NonValueTensorType>(parser);
}
void NonValueTensorType::print(AsmPrinter &printer) const { printTensor(printer, *this); }

/// `<` type (`,` type)* `>`, possibly empty.
static std::optional<SmallVector<Type>> parseTypes(AsmParser &parser) {
  SmallVector<Type> types;
  if (parser.parseLess())
    return std::nullopt;
  if (succeeded(parser.parseOptionalGreater()))
    return types;
  do {
    Type type = TorchDialect::parseNested(parser);
    if (!type)
      return std::nullopt;
    types.push_back(type);
  } while (succeeded(parser.parseOptionalComma()));
  if (parser.parseGreater())
    return std::nullopt;
  return types;
}

static void printTypes(AsmPrinter &printer, ArrayRef<Type> types) {
  printer << "<";
  llvm::interleaveComma(types, printer,
                        [&](Type type) { TorchDialect::printNested(type, printer); });
  printer << ">";
}

/// Like parseTypes, but exactly `count` types; otherwise says what `name` takes.
static std::optional<SmallVector<Type>> parseTypes(AsmParser &parser, size_t count,
                                                   StringRef name) {
  SMLoc loc = parser.getCurrentLocation();
  auto types = parseTypes(parser);
  if (types && types->size() != count) {
    parser.emitError(loc) << "'!torch." << name << "' takes " << counted(count, "type") << ", got "
                          << types->size();
    return std::nullopt;
  }
  return types;
}

Type OptionalType::parse(AsmParser &parser) {
  auto types = parseTypes(parser, 1, "optional");
  return types ? get(parser.getContext(), types->front()) : Type();
}
void OptionalType::print(AsmPrinter &printer) const { printTypes(printer, getContainedType()); }

Type ListType::parse(AsmParser &parser) {
  auto types = parseTypes(parser, 1, "list");
  return types ? get(parser.getContext(), types->front()) : Type();
}
void ListType::print(AsmPrinter &printer) const { printTypes(printer, getContainedType()); }

Type TupleType::parse(AsmParser &parser) {
  auto types = parseTypes(parser);
  return types ? get(parser.getContext(), *types) : Type();
}
void TupleType::print(AsmPrinter &printer) const { printTypes(printer, getContainedTypes()); }

Type UnionType::parse(AsmParser &parser) {
  auto types = parseTypes(parser);
  return types ? get(parser.getContext(), *types) : Type();
}
void UnionType::print(AsmPrinter &printer) const { printTypes(printer, getContainedTypes()); }

Type DictType::parse(AsmParser &parser) {
  auto types = parseTypes(parser, 2, "dict");
  return types ? get(parser.getContext(), types->front(), types->back()) : Type();
}
void DictType::print(AsmPrinter &printer) const {
  printTypes(printer, {getKeyType(), getValueType()});
}

//===----------------------------------------------------------------------===//
// Relations
//===----------------------------------------------------------------------===//

ValueTensorType getValueTensor(MLIRContext *context, ArrayRef<int64_t> sizes, Type dtype) {
  return ValueTensorType::get(context, /*hasSizes=*/true, sizes, dtype, /*sparsity=*/{});
}

bool isTensor(Type type) { return isa<ValueTensorType, NonValueTensorType>(type); }

Type tensorDtype(Type type) {
  return TypeSwitch<Type, Type>(type)
      .Case<ValueTensorType, NonValueTensorType>([](auto tensor) { return tensor.getDtype(); })
      .Default([](Type) { return Type(); });
}

/// Whether `sub` knows at least what `super` knows, and nothing else.
template <typename TensorType>
static bool isRefinement(TensorType sub, TensorType super) {
  if (super.getDtype() && sub.getDtype() != super.getDtype())
    return false;
  if (!super.getHasSizes())
    return true;
  if (!sub.getHasSizes() || sub.getSizes().size() != super.getSizes().size())
    return false;
  return llvm::all_of(llvm::zip_equal(sub.getSizes(), super.getSizes()), [](auto pair) {
    auto [known, wanted] = pair;
    return wanted == TensorType::kUnknownSize || known == wanted;
  });
}

bool isSubtype(Type sub, Type super) {
  if (sub == super || isa<AnyType>(super))
    return true;
  if (auto options = dyn_cast<UnionType>(sub))
    return llvm::all_of(options.getContainedTypes(), [&](Type t) { return isSubtype(t, super); });
  if (auto options = dyn_cast<UnionType>(super))
    return llvm::any_of(options.getContainedTypes(), [&](Type t) { return isSubtype(sub, t); });
  if (auto optional = dyn_cast<OptionalType>(super)) {
    if (auto narrower = dyn_cast<OptionalType>(sub))
      sub = narrower.getContainedType();
    return isa<NoneType>(sub) || isSubtype(sub, optional.getContainedType());
  }
  if (isa<NumberType>(super))
    return isa<IntType, FloatType>(sub);
  if (auto tuple = dyn_cast<TupleType>(super)) {
    auto narrower = dyn_cast<TupleType>(sub);
    return narrower && narrower.getContainedTypes().size() == tuple.getContainedTypes().size() &&
           llvm::all_of(llvm::zip_equal(narrower.getContainedTypes(), tuple.getContainedTypes()),
                        [](auto p) { return isSubtype(std::get<0>(p), std::get<1>(p)); });
  }
  if (auto list = dyn_cast<ListType>(super)) {
    auto narrower = dyn_cast<ListType>(sub);
    return narrower && isSubtype(narrower.getContainedType(), list.getContainedType());
  }
  if (auto tensor = dyn_cast<ValueTensorType>(super))
    return isa<ValueTensorType>(sub) && isRefinement(cast<ValueTensorType>(sub), tensor);
  if (auto tensor = dyn_cast<NonValueTensorType>(super))
    return isa<NonValueTensorType>(sub) && isRefinement(cast<NonValueTensorType>(sub), tensor);
  return false;
}

} // namespace tw::torch
