// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What text may hold: which dialects, dtypes, and kinds of inputs and outputs.
#include "IR/Graph/Graph.h"
#include "IR/ModelLocation.h"
#include "IR/Torch/Torch.h"
#include "Import/Text/Stages.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace mlir;
namespace tw::text {

std::string describeType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static bool isSupportedDtype(Type dtype, bool isTorch) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(dtype))
    return true;
  auto integer = dyn_cast<IntegerType>(dtype);
  if (!integer)
    return dtype.isIndex() && !isTorch;
  if (integer.getWidth() == 1)
    return integer.isSignless();
  if (integer.isUnsigned())
    return isTorch && integer.getWidth() == 8;
  return integer.isSigned() == isTorch &&
         llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth());
}

/// Why no level takes values of this type; empty when one does.
static std::string problemOf(Type type) {
  if (auto tensor = dyn_cast<torch::ValueTensorType>(type)) {
    if (!tensor.getHasSizes() || !tensor.getDtype())
      return fmt::format("{} does not state {}", describeType(type),
                         tensor.getHasSizes() ? "its dtype" : "how many dimensions it has");
    if (tensor.getSparsity())
      return fmt::format("{} is sparse", describeType(type));
    return isSupportedDtype(tensor.getDtype(), true)
               ? ""
               : fmt::format("dtype {} is not supported", describeType(tensor.getDtype()));
  }
  if (isa<torch::TorchDialect>(type.getDialect()))
    return ""; // lists and the like; lowerings say what they cannot take
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (tensor.getEncoding())
      return fmt::format("{} has an encoding", describeType(type));
    return isSupportedDtype(tensor.getElementType(), false)
               ? ""
               : fmt::format("dtype {} is not supported", describeType(tensor.getElementType()));
  }
  if (type.isIntOrIndexOrFloat())
    return isSupportedDtype(type, false)
               ? ""
               : fmt::format("type {} is not supported", describeType(type));
  return fmt::format("type {} is not supported", describeType(type));
}

/// Of these dialects the operations listed; of the others in `kDialects` all. Those of tw that are
/// missing name files and kernels, or trust that lowering made sizes fit and positions safe.
static constexpr const char *kListed[] = {
    "scf.for",        "scf.if",
    "scf.yield",      "tensor.cast",
    "tensor.concat",  "tensor.collapse_shape",
    "tensor.dim",     "tensor.empty",
    "tensor.extract", "tensor.expand_shape",
    "tensor.pad",     "tensor.extract_slice",
    "tensor.yield",   "tensor.insert_slice",
    "tw.assert",      "tw.check_index",
    "tw.kernel_call",
};
static constexpr const char *kDialects[] = {"arith", "linalg", "math", "torch", "torch_c"};

static bool isSupportedOp(Operation *op) {
  if (isa<func::ReturnOp>(op))
    return true;
  StringRef name = op->getName().getStringRef();
  if (isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()))
    return isa<linalg::LinalgOp, linalg::IndexOp, linalg::YieldOp>(op);
  return llvm::is_contained(kDialects, op->getName().getDialectNamespace()) ||
         llvm::is_contained(kListed, name);
}

static bool canCrossSignature(Type type, TextLevel level) {
  if (level == TextLevel::Torch)
    return isa<torch::ValueTensorType, torch::IntType, torch::FloatType, torch::BoolType>(type);
  return isa<RankedTensorType>(type) || type.isInteger(64) || type.isF64() || type.isInteger(1);
}

namespace {
/// The first problem is the error, the others its notes.
class Problems {
public:
  void add(Location loc, Code code, const std::string &message) {
    if (!first)
      first = Diagnostic{code, message, describePlace(loc)};
    else if (first->message != message && first->notes.size() < kMaxNotes)
      first->notes.push_back(fmt::format("also at {}: {}", describePlace(loc), message));
  }
  Status status() const { return first ? Status(*first) : Status(); }

private:
  static constexpr size_t kMaxNotes = 32;
  std::optional<Diagnostic> first;
};
} // namespace

static void checkSignature(func::FuncOp entry, TextLevel level, Problems &problems) {
  auto check = [&](Location loc, Type type, const char *what, unsigned index) {
    if (!canCrossSignature(type, level))
      problems.add(loc, Code::IMPORT_103,
                   fmt::format("{} {} is a {}; programs take and give tensors, ints, floats and "
                               "bools",
                               what, index, describeType(type)));
  };
  for (BlockArgument argument : entry.getArguments())
    check(argument.getLoc(), argument.getType(), "argument", argument.getArgNumber());
  for (auto [index, type] : llvm::enumerate(entry.getResultTypes()))
    check(entry.front().getTerminator()->getLoc(), type, "result", index);
}

/// Which dimension it is must be written in the text.
static void checkDimension(tensor::DimOp op, Problems &problems) {
  auto dim = op.getConstantIndex();
  auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  if (!dim)
    problems.add(op.getLoc(), Code::IMPORT_104,
                 "tensor.dim of a dimension that is computed is not supported");
  else if (type && (*dim < 0 || *dim >= type.getRank()))
    problems.add(
        op.getLoc(), Code::IMPORT_101,
        fmt::format("tensor.dim of dimension {}, but the tensor has {}", *dim, type.getRank()));
}

TextLevel levelOf(func::FuncOp entry) {
  auto isTorch = [](Type type) { return isa<torch::TorchDialect>(type.getDialect()); };
  if (llvm::any_of(entry.getArgumentTypes(), isTorch) ||
      llvm::any_of(entry.getResultTypes(), isTorch))
    return TextLevel::Torch;
  WalkResult result = entry.walk([](Operation *op) {
    return isa_and_nonnull<torch::TorchDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                                  : WalkResult::advance();
  });
  return result.wasInterrupted() ? TextLevel::Torch : TextLevel::Graph;
}

Status checkSupported(func::FuncOp entry, TextLevel level) {
  Problems problems;
  checkSignature(entry, level, problems);
  auto checkType = [&](Location loc, Type type) {
    if (std::string problem = problemOf(type); !problem.empty())
      problems.add(loc, Code::IMPORT_106, problem);
  };
  for (BlockArgument argument : entry.getArguments())
    checkType(argument.getLoc(), argument.getType());
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == entry)
      return WalkResult::advance();
    if (auto dim = dyn_cast<tensor::DimOp>(op))
      checkDimension(dim, problems);
    bool isSupported = isSupportedOp(op);
    if (!isSupported)
      problems.add(op->getLoc(), Code::IMPORT_104,
                   fmt::format("operation '{}' is not supported in models given as text",
                               op->getName().getStringRef().str()));
    for (Type type : op->getResultTypes())
      checkType(op->getLoc(), type);
    return isSupported ? WalkResult::advance() : WalkResult::skip(); // its body is not to blame
  });
  return problems.status();
}

} // namespace tw::text
