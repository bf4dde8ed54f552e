// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Core/Lowering.h"
#include "IR/Coded.h"
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Core/Registry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

StringRef Lowering::name() const { return operatorName(op); }

std::string Lowering::shownName() const {
  StringRef shown = name();
  shown.consume_front("torch.");
  return shown.str();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

const Operand &Lowering::arg(StringRef name) const {
  static const Operand none;
  if (!schema)
    return none;
  auto position = schema->argumentIndex(name);
  return position && *position < operands.size() ? operands[*position] : none;
}

/// `held`, or a refusal that says what the argument is.
template <typename T>
const T *Lowering::as(StringRef name, const Operand &operand, const T *held, const char *wanted) {
  if (!held)
    refuse(fmt::format("argument '{}' is {}, but {} is needed", name.str(), describe(operand),
                       wanted));
  return held;
}

Tensor Lowering::tensor(StringRef name) {
  if (auto held = as(name, arg(name), arg(name).tensor(), "a tensor"))
    return *held;
  return empty({}, DType::F32);
}

std::optional<Tensor> Lowering::optTensor(StringRef name) {
  if (!has(name))
    return std::nullopt;
  return tensor(name);
}

SmallVector<std::optional<Tensor>> Lowering::optTensors(StringRef name) {
  SmallVector<std::optional<Tensor>> result;
  if (auto list = as(name, arg(name), arg(name).list(), "a list of tensors"))
    for (const Operand &element : *list) {
      if (element.isNone())
        result.push_back(std::nullopt);
      else if (auto held = as(name, element, element.tensor(), "a tensor"))
        result.push_back(*held);
    }
  return result;
}

SmallVector<Tensor> Lowering::tensors(StringRef name) {
  SmallVector<Tensor> result;
  for (const std::optional<Tensor> &element : optTensors(name)) {
    if (element)
      result.push_back(*element);
    else
      refuse(fmt::format("argument '{}' has an element that is None", name.str()));
  }
  return result;
}

Scalar Lowering::scalar(StringRef name, double fallback) {
  Scalar otherwise = fallback == int64_t(fallback)
                         ? Scalar::ofInt(b.getContext(), int64_t(fallback))
                         : Scalar::ofFloat(b.getContext(), fallback);
  if (!has(name))
    return otherwise;
  auto held = as(name, arg(name), arg(name).scalar(), "a number");
  return held ? *held : otherwise;
}

/// An int (or bool) as a size.
static std::optional<OpFoldResult> asSize(const Operand &operand) {
  auto scalar = operand.scalar();
  if (!scalar || scalar->kind != Scalar::Kind::Int || scalar->fromData)
    return std::nullopt;
  return scalar->value;
}

OpFoldResult Lowering::size(StringRef name) {
  if (auto value = asSize(arg(name)))
    return *value;
  as<int>(name, arg(name), nullptr, "an int that does not depend on the data");
  return b.getIndexAttr(1);
}

SmallVector<OpFoldResult> Lowering::sizes(StringRef name) {
  SmallVector<OpFoldResult> result;
  if (auto single = asSize(arg(name)))
    return {*single};
  if (auto list = as(name, arg(name), arg(name).list(), "a list of ints"))
    for (const Operand &element : *list) {
      auto value = asSize(element);
      if (!value)
        as<int>(name, element, nullptr, "an int that does not depend on the data");
      result.push_back(value.value_or(b.getIndexAttr(1)));
    }
  return result;
}

std::optional<int64_t> Lowering::constantInt(StringRef name, const Operand &operand) {
  if (auto scalar = operand.scalar())
    if (auto value = scalar->constantInt())
      return value;
  as<int>(name, operand, nullptr, "an int known at compile time");
  return std::nullopt;
}

int64_t Lowering::integer(StringRef name, int64_t fallback) {
  return has(name) ? constantInt(name, arg(name)).value_or(fallback) : fallback;
}

double Lowering::number(StringRef name, double fallback) {
  if (!has(name))
    return fallback;
  if (auto scalar = arg(name).scalar())
    if (auto value = scalar->constantNumber())
      return *value;
  as<int>(name, arg(name), nullptr, "a number known at compile time");
  return fallback;
}

bool Lowering::flag(StringRef name, bool fallback) { return integer(name, fallback) != 0; }

std::string Lowering::string(StringRef name) {
  if (!has(name))
    return "";
  auto held = as(name, arg(name), arg(name).text(), "a string");
  return held ? *held : "";
}

SmallVector<int64_t> Lowering::integers(StringRef name) {
  SmallVector<int64_t> result;
  if (!has(name))
    return result;
  if (arg(name).scalar())
    return {integer(name)};
  if (auto list = as(name, arg(name), arg(name).list(), "a list of ints"))
    for (const Operand &element : *list)
      result.push_back(constantInt(name, element).value_or(1));
  return result;
}

SmallVector<int64_t> Lowering::perDimension(StringRef name, int64_t count, int64_t fallback) {
  SmallVector<int64_t> values = integers(name);
  if (values.empty())
    values.push_back(fallback);
  if (values.size() == 1)
    values.assign(count, values[0]);
  if (int64_t(values.size()) != count) {
    refuse(fmt::format("argument '{}' has {}, but {} {} needed", name.str(),
                       counted(values.size(), "value"), count, oneOrMany(count, "is", "are")));
    values.assign(count, 1);
  }
  return values;
}

static std::optional<int64_t> wrapDim(int64_t dim, int64_t rank) {
  rank = std::max<int64_t>(rank, 1);
  if (dim < -rank || dim >= rank)
    return std::nullopt;
  return dim < 0 ? dim + rank : dim;
}

int64_t Lowering::dim(StringRef name, int64_t rank, int64_t fallback) {
  int64_t given = integer(name, fallback);
  auto wrapped = wrapDim(given, rank);
  if (!wrapped)
    refuse(fmt::format("argument '{}' is {}, but the tensor has {}", name.str(), given,
                       counted(rank, "dimension")));
  return wrapped.value_or(0);
}

SmallVector<int64_t> Lowering::dims(StringRef name, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t given : integers(name)) {
    auto wrapped = wrapDim(given, rank);
    if (!wrapped)
      refuse(fmt::format("argument '{}' holds {}, but the tensor has {}", name.str(), given,
                         counted(rank, "dimension")));
    else if (*wrapped < rank)
      result.push_back(*wrapped);
  }
  if (result.empty())
    for (int64_t i = 0; i < rank; ++i)
      result.push_back(i);
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static torch::ValueTensorType resultTensor(Operation *op, unsigned i) {
  return dyn_cast<torch::ValueTensorType>(op->getResult(i).getType());
}

DType Lowering::resultDType(unsigned i) {
  if (auto type = resultTensor(op, i))
    if (auto dtype = dtypeOf(type.getDtype()))
      return *dtype;
  refuse("the dtype of its result is not known");
  return DType::F32;
}

int64_t Lowering::resultRank(unsigned i) { return resultShape(i).size(); }

SmallVector<int64_t> Lowering::resultShape(unsigned i) {
  auto known = knownShape(i);
  if (!known)
    refuse("the number of dimensions of its result is not known");
  return known.value_or(SmallVector<int64_t>());
}

std::optional<SmallVector<int64_t>> Lowering::knownShape(unsigned i) const {
  auto type = resultTensor(op, i);
  if (!type || !type.getHasSizes())
    return std::nullopt;
  return llvm::map_to_vector(type.getSizes(), [](int64_t size) {
    return size == torch::ValueTensorType::kUnknownSize ? ShapedType::kDynamic : size;
  });
}

SmallVector<OpFoldResult> Lowering::refined(ArrayRef<OpFoldResult> sizes, unsigned i) {
  SmallVector<OpFoldResult> result(sizes);
  auto shape = knownShape(i);
  if (shape && shape->size() == sizes.size())
    for (auto [size, known] : llvm::zip(result, *shape))
      if (!ShapedType::isDynamic(known))
        size = b.getIndexAttr(known);
  return result;
}

/// A tensor with everything known from either type; empty when they contradict each other.
static std::optional<Tensor> refine(OpBuilder &b, Location loc, Tensor tensor,
                                    ArrayRef<int64_t> sizes) {
  if (int64_t(sizes.size()) != tensor.rank())
    return std::nullopt;
  SmallVector<int64_t> refined(tensor.type().getShape());
  for (auto [have, want] : llvm::zip_equal(refined, sizes)) {
    int64_t known = want == torch::ValueTensorType::kUnknownSize ? ShapedType::kDynamic : want;
    if (ShapedType::isDynamic(have))
      have = known;
    else if (!ShapedType::isDynamic(known) && known != have)
      return std::nullopt;
  }
  auto type = tensor.type().clone(refined);
  if (type != tensor.type())
    tensor.value = tensor::CastOp::create(b, loc, type, tensor.value);
  return tensor;
}

std::optional<Operand> Lowering::conform(const Operand &operand, Type wanted) {
  if (auto optional = dyn_cast<torch::OptionalType>(wanted))
    return operand.isNone() ? operand : conform(operand, optional.getContainedType());
  if (auto list = dyn_cast<torch::ListType>(wanted); list && operand.list()) {
    OperandList elements;
    for (const Operand &element : *operand.list()) {
      auto conforming = conform(element, list.getContainedType());
      if (!conforming)
        return std::nullopt;
      elements.push_back(*conforming);
    }
    return Operand(std::move(elements));
  }
  auto type = dyn_cast<torch::ValueTensorType>(wanted);
  auto tensor = operand.tensor();
  if (!type || !tensor)
    return operand;
  if (auto dtype = dtypeOf(type.getDtype()); dtype && *dtype != tensor->dtype)
    return std::nullopt;
  if (!type.getHasSizes())
    return operand;
  if (auto refined = refine(b, loc, *tensor, type.getSizes()))
    return Operand(*refined);
  return std::nullopt;
}

LogicalResult Lowering::done(ArrayRef<Operand> answers) {
  if (refused)
    return failure();
  if (answers.size() != op->getNumResults())
    return refuse(fmt::format("it yields {}, but the program takes {}",
                              counted(answers.size(), "result"), op->getNumResults()));
  for (auto [answer, result] : llvm::zip_equal(answers, op->getResults())) {
    auto conforming = conform(answer, result.getType());
    if (!conforming) {
      std::string type;
      llvm::raw_string_ostream(type) << result.getType();
      return refuse("its result is " + describe(answer) + ", but the program says " + type);
    }
    results.push_back(*conforming);
  }
  return success();
}

Refusal Lowering::refuse(const Twine &reason) {
  if (refused)
    return {};
  refused = true;
  std::string inputs;
  for (const Operand &operand : operands)
    inputs += (inputs.empty() ? "" : ", ") + describe(operand);
  InFlightDiagnostic error = emitCoded(loc, Code::LOWER_2);
  error << "operator " << shownName() << ": " << reason.str();
  error.attachNote() << "inputs " << inputs;
  return {};
}

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

Tensor Lowering::empty(ArrayRef<OpFoldResult> sizes, DType dtype) {
  return {tensor::EmptyOp::create(b, loc, sizes, type(dtype)), dtype};
}

Tensor Lowering::filled(ArrayRef<OpFoldResult> sizes, DType dtype, const Scalar &value) {
  Value element = value.element(b, loc, dtype);
  Value init = empty(sizes, dtype).value;
  return {linalg::FillOp::create(b, loc, element, init).getResult(0), dtype};
}

void Lowering::requireEqual(OpFoldResult x, OpFoldResult y) {
  auto a = constantOf(x), c = constantOf(y);
  if (a && c && *a != *c)
    refuse(fmt::format("the sizes {} and {} of two inputs must be equal", *a, *c));
  else
    sizeTable.requireEqual(b, loc, x, y,
                           shownName() + ": sizes %lld and %lld of two inputs must be equal");
}

bool Lowering::needsRank(const Tensor &tensor, int64_t rank, StringRef what) {
  if (tensor.rank() == rank)
    return true;
  refuse(fmt::format("{} has {}, but {} {} needed", what.str(), counted(tensor.rank(), "dimension"),
                     rank, oneOrMany(rank, "is", "are")));
  return false;
}

} // namespace tw::lower
