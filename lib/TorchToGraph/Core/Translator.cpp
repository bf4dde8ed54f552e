// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Core/Translator.h"
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Core/Arguments.h"
#include "TorchToGraph/Core/Unsupported.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

static bool isTorch(Operation &op) { return isa_and_nonnull<torch::TorchDialect>(op.getDialect()); }

Type signatureType(Type type) {
  MLIRContext *context = type.getContext();
  if (auto tensor = dyn_cast<torch::ValueTensorType>(type)) {
    auto dtype = dtypeOf(tensor.getDtype());
    if (!tensor.getHasSizes() || !dtype)
      return nullptr;
    auto shape = llvm::map_to_vector(tensor.getSizes(), [](int64_t size) {
      return size == torch::ValueTensorType::kUnknownSize ? ShapedType::kDynamic : size;
    });
    return RankedTensorType::get(shape, elementType(context, *dtype));
  }
  if (isa<torch::IntType>(type))
    return IntegerType::get(context, 64);
  if (isa<torch::FloatType>(type))
    return Float64Type::get(context);
  if (isa<torch::BoolType>(type))
    return IntegerType::get(context, 1);
  return isa<torch::TorchDialect>(type.getDialect()) ? Type() : type;
}

bool hasOpenSizes(Type type) {
  auto tensor = dyn_cast<torch::ValueTensorType>(type);
  return tensor && !tensor.getHasSizes() && dtypeOf(tensor.getDtype());
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

func::FuncOp Translator::createFunction() {
  SmallVector<Type> inputs, results;
  auto convert = [&](TypeRange types, SmallVector<Type> &into, StringRef what) {
    for (auto [i, type] : llvm::enumerate(types)) {
      into.push_back(signatureType(type));
      if (into.back() || (hasOpenSizes(type) && what == "result"))
        continue;
      failed = true;
      auto error = emitCoded(from.getLoc(), Code::LOWER_3);
      error << what << " " << i << " of @" << from.getName() << " has type " << type
            << ", which programs cannot take or return";
      error.attachNote() << "help: tensors need a known number of dimensions and one of the dtypes "
                            "f16, bf16, f32, f64, i8, i16, i32, i64, u8, bool";
    }
  };
  convert(from.getArgumentTypes(), inputs, "argument");
  convert(from.getResultTypes(), results, "result");
  if (failed)
    return nullptr;
  for (Type &type : results) // until the results are known: see returnResults
    if (!type)
      type = b.getNoneType();
  b.setInsertionPoint(from);
  auto to =
      func::FuncOp::create(b, from.getLoc(), from.getName(), b.getFunctionType(inputs, results));
  to->setAttrs(from->getAttrs());
  to.setFunctionType(b.getFunctionType(inputs, results));
  auto keepDType = [&](Type type, auto &&set) {
    auto tensor = dyn_cast<torch::ValueTensorType>(type);
    if (tensor && dtypeOf(tensor.getDtype()) == DType::U8)
      set(b.getStringAttr(info(DType::U8).name));
  };
  for (auto [i, type] : llvm::enumerate(from.getArgumentTypes()))
    keepDType(type, [&](StringAttr name) { to.setArgAttr(i, "tw.dtype", name); });
  for (auto [i, type] : llvm::enumerate(from.getResultTypes()))
    keepDType(type, [&](StringAttr name) { to.setResultAttr(i, "tw.dtype", name); });
  return to;
}

void Translator::bindArguments(func::FuncOp to) {
  for (auto [old, argument] : llvm::zip_equal(from.getArguments(), to.getArguments()))
    define(old, argument, from.getLoc());
  symbols = bindSymbols(from, to, b, sizes);
}

func::FuncOp Translator::run() {
  if (from.isExternal() || !llvm::hasSingleElement(from.getBody())) {
    emitCoded(from.getLoc(), Code::LOWER_3)
        << "@" << from.getName() << " must have a body of one block";
    return nullptr;
  }
  func::FuncOp to = createFunction();
  if (!to)
    return nullptr;
  b.setInsertionPointToStart(to.addEntryBlock());
  bindArguments(to);
  Block &body = from.getBody().front();
  translateBlock(body);
  if (!returnResults(to)) {
    to.erase();
    return nullptr;
  }
  return to;
}

/// Ends the function; results have the types that it states or, where it does not state their
/// sizes, those that were computed.
bool Translator::returnResults(func::FuncOp to) {
  Operation *end = from.getBody().front().getTerminator();
  SmallVector<Value> results;
  for (Value value : end->getOperands()) {
    Type type = typeOf(value);
    results.push_back(handOn(value, type ? type : b.getNoneType(), end->getLoc()));
    failed |= !results.back();
  }
  if (failed)
    return false;
  to.setFunctionType(b.getFunctionType(to.getArgumentTypes(), ValueRange(results).getTypes()));
  func::ReturnOp::create(b, end->getLoc(), results);
  return true;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Operand &Translator::lookup(Value value) {
  static const Operand poison = Operand::Poison{};
  auto it = values.find(value);
  return it == values.end() ? poison : it->second;
}

void Translator::define(Value torchValue, Value builtin, Location loc) {
  Type type = torchValue.getType();
  if (auto tensor = dyn_cast<torch::ValueTensorType>(type))
    values[torchValue] = Tensor{builtin, *dtypeOf(tensor.getDtype())};
  else if (isa<torch::IntType>(type) && builtin.getType().isIndex())
    values[torchValue] = Scalar{Scalar::Kind::Int, builtin};
  else if (isa<torch::IntType>(type))
    values[torchValue] =
        Scalar{Scalar::Kind::Int,
               arith::IndexCastOp::create(b, loc, b.getIndexType(), builtin).getResult()};
  else if (isa<torch::FloatType>(type))
    values[torchValue] = Scalar{Scalar::Kind::Float, builtin};
  else if (isa<torch::BoolType>(type))
    values[torchValue] = Scalar{Scalar::Kind::Bool, builtin};
  else
    foreign.map(torchValue, builtin);
}

Value Translator::materialize(Value value, Type type, Location loc) {
  if (Value known = foreign.lookupOrNull(value))
    return known;
  const Operand &operand = lookup(value);
  if (auto scalar = operand.scalar()) {
    Value known = scalar->materialize(b, loc);
    if (known.getType() == type)
      return known;
    if (known.getType().isIndex() && type.isInteger(64))
      return arith::IndexCastOp::create(b, loc, type, known);
    return nullptr;
  }
  auto tensor = operand.tensor();
  if (!tensor)
    return nullptr;
  if (tensor->value.getType() == type)
    return tensor->value;
  if (!tensor::CastOp::areCastCompatible(tensor->value.getType(), type))
    return nullptr;
  return tensor::CastOp::create(b, loc, type, tensor->value);
}

Type Translator::typeOf(Value value) {
  if (!hasOpenSizes(value.getType()))
    return signatureType(value.getType());
  auto tensor = lookup(value).tensor();
  return tensor ? tensor->type() : Type();
}

Value Translator::handOn(Value value, Type type, Location loc) {
  if (!foreign.contains(value) && lookup(value).isPoison())
    return nullptr;
  Value result = materialize(value, type, loc);
  if (!result)
    emitCoded(loc, Code::LOWER_3) << "a value that its operator computes as another type is handed "
                                     "on as "
                                  << value.getType();
  return result;
}

bool Translator::isPoisoned(Operation &op) {
  return llvm::any_of(op.getOperands(), [&](Value value) {
    return !foreign.contains(value) && lookup(value).isPoison();
  });
}

void Translator::poison(Operation &op) {
  failed = true;
  for (Value result : op.getResults()) {
    values[result] = Operand::Poison{};
    auto type = dyn_cast_or_null<RankedTensorType>(signatureType(result.getType()));
    if (!type)
      continue;
    SmallVector<OpFoldResult> sizes;
    for (int64_t size : type.getShape()) {
      if (!ShapedType::isDynamic(size)) {
        sizes.push_back(b.getIndexAttr(size));
        continue;
      }
      // A value of which nothing is known, so that it contradicts nothing.
      auto any = UnrealizedConversionCastOp::create(b, op.getLoc(), b.getIndexType(), ValueRange());
      sizes.push_back(any.getResult(0));
    }
    define(result, tensor::EmptyOp::create(b, op.getLoc(), sizes, type.getElementType()),
           op.getLoc());
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Translator::translateBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    translateOp(op);
}

static bool needsNoTranslation(Operation &op) {
  return isa<torch::BindSymbolicShapeOp, torch::SymbolicIntOp>(op);
}

void Translator::translateOp(Operation &op) {
  if (auto symbol = dyn_cast<torch::SymbolicIntOp>(op)) {
    if (Value value = symbols.lookup(symbol.getSymbolName()))
      define(symbol.getResult(), value, op.getLoc());
    return;
  }
  if (needsNoTranslation(op))
    return;
  if (isPoisoned(op) || usesComplex(&op)) // the latter are reported by reportUnsupported
    return poison(op);
  if (auto branch = dyn_cast<torch::IfOp>(op))
    return translateIf(branch);
  if (auto loop = dyn_cast<torch::LoopOp>(op))
    return translateLoop(loop);
  if (auto call = dyn_cast<func::CallOp>(op))
    return translateCall(call);
  if (auto check = dyn_cast<torch::RuntimeAssertOp>(op))
    return translateAssert(check);
  if (LoweringFn lower = findLowering(operatorName(&op)))
    return lowerOp(op, lower);
  if (isa_and_nonnull<torch_c::TorchConversionDialect>(op.getDialect()))
    return translateConversion(op);
  if (auto custom = dyn_cast<torch::OperatorOp>(op))
    return translateCustom(custom);
  if (!isTorch(op))
    return cloneForeign(op);
  poison(op); // reported by reportUnsupported
}

void Translator::lowerOp(Operation &op, LoweringFn lower) {
  std::vector<Operand> operands;
  for (Value operand : op.getOperands())
    operands.push_back(lookup(operand));
  Lowering ctx(b, &op, schemaOf(&op), std::move(operands), sizes);
  if (mlir::failed(lower(ctx)))
    return poison(op);
  std::vector<Operand> results = ctx.takeResults();
  for (auto [result, operand] : llvm::zip(op.getResults(), results))
    values[result] = std::move(operand);
}

void Translator::translateAssert(torch::RuntimeAssertOp op) {
  auto scalar = lookup(op.getCondition()).scalar();
  if (scalar->constantInt() == 1)
    return;
  graph::AssertOp::create(b, op.getLoc(), scalar->materialize(b, op.getLoc()), op.getMessage(),
                          ValueRange());
}

/// torch_c casts: between a torch value and the builtin value that already stands for it.
void Translator::translateConversion(Operation &op) {
  Value operand = op.getOperand(0), result = op.getResult(0);
  bool toBuiltin = isa<torch::TorchDialect>(operand.getType().getDialect());
  Value value = toBuiltin ? materialize(operand, result.getType(), op.getLoc())
                          : foreign.lookupOrNull(operand);
  Type wanted = toBuiltin ? result.getType() : signatureType(result.getType());
  if (!value || !wanted) {
    emitCoded(op.getLoc(), Code::LOWER_3)
        << "cannot convert " << operand.getType() << " to " << result.getType();
    return poison(op);
  }
  if (toBuiltin)
    return foreign.map(result, value);
  if (value.getType() != wanted && isa<RankedTensorType>(wanted) &&
      tensor::CastOp::areCastCompatible(value.getType(), wanted))
    value = tensor::CastOp::create(b, op.getLoc(), wanted, value);
  define(result, value, op.getLoc());
}

void Translator::cloneForeign(Operation &op) {
  bool hasTorch = false;
  op.walk([&](Operation *inner) { hasTorch |= inner != &op && isTorch(*inner); });
  if (hasTorch || op.getNumSuccessors()) {
    emitCoded(op.getLoc(), Code::LOWER_3)
        << op.getName() << " with torch operations inside cannot be compiled";
    return poison(op);
  }
  b.clone(op, foreign);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// The callee's body is translated here.
void Translator::translateCall(func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  constexpr int maxDepth = 64;
  if (!callee || callee.isExternal() || !llvm::hasSingleElement(callee.getBody()) ||
      callDepth >= maxDepth) {
    emitCoded(op.getLoc(), Code::LOWER_3)
        << "call of @" << op.getCallee()
        << (callDepth >= maxDepth ? ", which calls itself, cannot be compiled"
                                  : ", which has no body of one block");
    return poison(*op);
  }
  for (auto [argument, operand] : llvm::zip(callee.getArguments(), op.getOperands())) {
    if (Value known = foreign.lookupOrNull(operand))
      foreign.map(argument, known);
    else
      values[argument] = lookup(operand);
  }
  ++callDepth;
  translateBlock(callee.getBody().front());
  --callDepth;
  ValueRange returned = callee.getBody().front().getTerminator()->getOperands();
  for (auto [result, value] : llvm::zip(op.getResults(), returned)) {
    if (Value known = foreign.lookupOrNull(value))
      foreign.map(result, known);
    else
      values[result] = lookup(value);
  }
}

/// Tensors and numbers of the call in order; None is left out, lists are spliced in.
static bool flattenArguments(OpBuilder &b, Location loc, const Operand &operand,
                             SmallVector<Value> &into) {
  if (auto tensor = operand.tensor())
    into.push_back(tensor->value);
  else if (auto scalar = operand.scalar())
    into.push_back(scalar->kind == Scalar::Kind::Int ? scalar->element(b, loc, DType::I64)
                                                     : scalar->materialize(b, loc));
  else if (auto list = operand.list())
    return llvm::all_of(*list, [&](const Operand &x) { return flattenArguments(b, loc, x, into); });
  return !operand.text();
}

/// What a kernel cannot take from a custom operator: "argument 'how' is "fast", a string".
static std::string describeForeign(torch::OperatorOp op, size_t index, const Operand &operand) {
  auto names = op->getAttrOfType<ArrayAttr>("tw.arguments");
  std::string name = names && index < names.size()
                         ? fmt::format("'{}'", cast<StringAttr>(names[index]).getValue().str())
                         : fmt::format("{}", index);
  return fmt::format("argument {} is {}, {}", name, describe(operand),
                     operand.text() ? "a string" : "a list with a string");
}

void Translator::translateCustom(torch::OperatorOp op) {
  SmallVector<Value> arguments;
  SmallVector<Type> types;
  std::string problem;
  for (auto [i, value] : llvm::enumerate(op.getOperands()))
    if (Operand operand = lookup(value);
        !flattenArguments(b, op.getLoc(), operand, arguments) && problem.empty())
      problem = describeForeign(op, i, operand);
  for (auto [i, type] : llvm::enumerate(op.getResultTypes())) {
    types.push_back(signatureType(type));
    if (!types.back() && problem.empty())
      problem = hasOpenSizes(type)
                    ? "the program does not state the sizes of the tensor that it returns"
                    : fmt::format("result {} is {}", i,
                                  isa<torch::ListType>(type) ? "a list" : "no tensor");
  }
  StringRef name = op.getName();
  name.consume_front("torch.");
  if (!problem.empty()) {
    InFlightDiagnostic error = emitCoded(op.getLoc(), Code::LOWER_3);
    error << "custom operator " << name << ": " << problem;
    error.attachNote() << "help: kernels take tensors, floats, ints, bools and lists of them, and "
                          "return tensors: write an operator for each string, and one result for "
                          "each element of a list";
    return poison(*op);
  }
  auto call = graph::KernelCallOp::create(b, op.getLoc(), types, name, arguments);
  for (auto [result, value] : llvm::zip(op.getResults(), call.getResults())) {
    define(result, value, op.getLoc());
    requireStatedSizes(result, value, name);
  }
}

/// A kernel's result has the sizes that the program states, which follow from the operator's fake
/// implementation. Constant ones are compared when the call is bound.
void Translator::requireStatedSizes(Value result, Value given, StringRef name) {
  for (Operation *user : result.getUsers()) {
    auto stated = dyn_cast<torch::BindSymbolicShapeOp>(user);
    if (!stated || stated.getOperand() != result)
      continue;
    auto symbol = [&](unsigned position) {
      auto op = stated.getShapeSymbols()[position].getDefiningOp<torch::SymbolicIntOp>();
      return op ? symbols.lookup(op.getSymbolName()) : Value();
    };
    auto have = sizes.of(b, result.getLoc(), given);
    for (auto [d, size] : llvm::enumerate(stated.getShapeExpressions().getResults()))
      if (OpFoldResult want = evaluateSize(b, result.getLoc(), size, symbol))
        sizes.requireEqual(b, result.getLoc(), have[d], want,
                           fmt::format("custom operator {}: its kernel gives %lld as size {}, but "
                                       "its fake implementation (register_fake) gave %lld",
                                       name.str(), d));
  }
}

} // namespace tw::lower
