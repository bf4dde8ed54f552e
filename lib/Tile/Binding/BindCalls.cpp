// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-bind-calls (Passes.td).
#include "Tile/Binding/BindCalls.h"
#include "IR/Coded.h"
#include "IR/ElementDType.h"
#include "IR/Graph/Graph.h"
#include "Support/Counted.h"
#include "Support/KernelName.h"
#include "Tile/Binding/RuntimeBinding.h"
#include "Tile/Binding/Signature.h"
#include "Tile/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Pass/Pass.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tw::tile {
#define GEN_PASS_DEF_BINDCALLS
#include "Tile/Passes.h.inc"

namespace {

std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

/// "M = 4, N = 8".
std::string text(const Size::Values &values) {
  std::vector<std::string> parts;
  for (const auto &[name, value] : values)
    parts.push_back(fmt::format("{} = {}", name, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// An argument that holds what the inout `name` holds before: its name among those of the kernel.
std::string nameBefore(KernelOp kernel, StringRef name) {
  std::string before = (name + "_before").str();
  auto isTaken = [&](ArgumentAttr other) { return other.getName() == before; };
  while (llvm::any_of(kernel.getArguments().getAsRange<ArgumentAttr>(), isTaken))
    before += "_";
  return before;
}

/// Pairs of argument numbers, an input and an inout: what is before is what calls give, unless the
/// kernel says that the buffer begins as another input. `moved` and `before`: the number that an
/// argument, and the old value of an inout, now has.
SmallVector<int64_t> beginsOf(KernelOp kernel, ArrayRef<int64_t> moved, ArrayRef<int64_t> before) {
  SmallVector<int64_t> sources(before);
  auto own = kernel->getAttrOfType<DenseI64ArrayAttr>(TileDialect::beginsName);
  for (int64_t i = 0; own && i < own.size(); i += 2)
    sources[own[i + 1]] = moved[own[i]];
  SmallVector<int64_t> begins;
  for (auto [i, argument] : llvm::enumerate(kernel.getArguments().getAsRange<ArgumentAttr>()))
    if (argument.getAccess() == Access::InOut)
      begins.append({sources[i], moved[i]});
  return begins;
}

/// A copy of the kernel as dispatches take it: inputs, outs, scalars; outs bind symbols too.
KernelOp forDispatches(KernelOp kernel) {
  auto copy = cast<KernelOp>(kernel->clone());
  MLIRContext *context = copy.getContext();
  Block &body = copy.getBody().front();
  unsigned count = body.getNumArguments();
  SmallVector<Attribute> attributes;
  SmallVector<int64_t> moved(count), before(count); // where arguments, and their old values, are
  auto isOut = [](Access access) { return access == Access::Out || access == Access::InOut; };
  for (unsigned i = 0; i < count; ++i)
    if (ArgumentAttr argument = copy.getArgument(i);
        argument.getAccess() == Access::In || argument.getAccess() == Access::InOut) {
      BlockArgument old = body.getArgument(i), now = body.addArgument(old.getType(), old.getLoc());
      if (argument.getAccess() == Access::In) {
        moved[i] = int64_t(attributes.size());
        old.replaceAllUsesWith(now);
      } else {
        before[i] = int64_t(attributes.size());
        argument =
            ArgumentAttr::get(context, nameBefore(kernel, argument.getName()), Access::In, {}, {});
      }
      attributes.push_back(argument);
    }
  for (bool outs : {true, false})
    for (unsigned i = 0; i < count; ++i)
      if (ArgumentAttr argument = copy.getArgument(i);
          outs ? isOut(argument.getAccess()) : argument.getAccess() == Access::Scalar) {
        moved[i] = int64_t(attributes.size());
        BlockArgument old = body.getArgument(i);
        old.replaceAllUsesWith(body.addArgument(old.getType(), old.getLoc()));
        attributes.push_back(argument);
      }
  body.eraseArguments(0, count);
  copy.setArgumentsAttr(ArrayAttr::get(context, attributes));
  copy->setAttr(TileDialect::destinationsName, UnitAttr::get(context));
  if (SmallVector<int64_t> begins = beginsOf(kernel, moved, before); !begins.empty())
    copy->setAttr(TileDialect::beginsName, DenseI64ArrayAttr::get(context, begins));
  return copy;
}

/// The kernels that may be called, and those that are, specialised.
class Kernels {
public:
  Kernels(ModuleOp module, ModuleOp library) : symbols(module) {
    for (auto kernel : llvm::make_early_inc_range(module.getOps<KernelOp>())) {
      if (kernel->hasAttr(TileDialect::destinationsName))
        continue; // it is a dispatch's
      symbols.remove(kernel);
      kernel->remove();
      owned.emplace_back(kernel);
      add(kernel);
    }
    if (library)
      for (auto kernel : library.getOps<KernelOp>())
        add(kernel);
  }

  KernelOp find(StringRef callee) const {
    auto name = kernelFor(callee.str(), names);
    return name ? byName.lookup(*name) : KernelOp();
  }

  std::string list() const {
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  }

  /// The kernel for some symbols, in the module, first called from `loc`; fails with a diagnostic.
  FailureOr<KernelOp> specialized(KernelOp kernel, const Size::Values &values, Location loc) {
    KernelOp &known = made[{kernel.getSymName().str(), text(values)}];
    if (known)
      return known;
    OwningOpRef<KernelOp> copy(forDispatches(kernel));
    if (failed(specialize(*copy, values)))
      return failure();
    known = copy.release();
    known->setLoc(FusedLoc::get(loc.getContext(), {loc, kernel.getLoc()}));
    symbols.insert(known);
    return known;
  }

private:
  void add(KernelOp kernel) {
    names.insert(kernel.getSymName().str());
    byName[kernel.getSymName()] = kernel;
  }

  SymbolTable symbols;
  KernelNames names;
  llvm::StringMap<KernelOp> byName;
  std::vector<OwningOpRef<KernelOp>> owned;
  std::map<std::pair<std::string, std::string>, KernelOp> made;
};

/// One call.
class Call {
public:
  Call(graph::KernelCallOp call, Kernels &kernels)
      : call(call), kernels(kernels), b(call), loc(call.getLoc()) {}

  LogicalResult bind() {
    KernelOp kernel = kernels.find(call.getCallee());
    if (!kernel) {
      InFlightDiagnostic error = emitCoded(loc, Code::KERNEL_5);
      error << "there is no kernel for the call of \"" << call.getCallee() << "\"";
      error.attachNote() << "the kernels are: " << kernels.list();
      error.attachNote() << "help: give the file that has it with --kernels=FILE, in Python "
                            "with kernels=[...]";
      return error;
    }
    signature = signatureOf(kernel);
    FailureOr<BoundKernel> bound = bindWhatIsKnown();
    if (failed(bound) || failed(checkResults(*bound)))
      return failure();
    FailureOr<KernelOp> specialized = kernels.specialized(kernel, bound->symbols, loc);
    if (failed(specialized))
      return failure();
    emitReport(loc) << "calls the kernel " << signature.name
                    << (bound->symbols.empty() ? "" : " with " + text(bound->symbols));
    return replace(*specialized);
  }

private:
  InFlightDiagnostic refuse(Code code) {
    return emitCoded(loc, code) << "kernel " << signature.name << ": ";
  }

  /// What the call gives for an argument; true if there is such a thing.
  bool describe(const KernelArgument &argument, Value value, GivenArgument &given) {
    Type type = value.getType();
    auto dtype = tw::dtypeOf(getElementTypeOrSelf(type));
    if (!dtype)
      return false;
    // The graph level does not tell u8 from i8, nor an int from an index.
    given.dtype = *dtype == DType::I8 && argument.dtype == DType::U8 ? DType::U8 : *dtype;
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (int64_t size : tensor.getShape())
        given.sizes.push_back(ShapedType::isDynamic(size) ? unknownSize : size);
    else
      given.integer = getConstantIntValue(value).value_or(unknownSize);
    return isa<RankedTensorType>(type) == argument.isBuffer();
  }

  /// "x: f32[M, N], scale: f64".
  std::string takenText() const {
    std::vector<std::string> parts;
    for (const KernelArgument &argument : signature.arguments) {
      if (!argument.isGiven())
        continue;
      std::vector<std::string> sizes;
      for (const Size &size : argument.sizes)
        sizes.push_back(size.str());
      std::string shape = argument.isBuffer() ? fmt::format("[{}]", fmt::join(sizes, ", ")) : "";
      parts.push_back(fmt::format("{}: {}{}", argument.name, info(argument.dtype).name, shape));
    }
    return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
  }

  std::string givenText() {
    std::vector<std::string> parts;
    for (Value value : call.getArguments())
      parts.push_back(text(value.getType()));
    return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
  }

  FailureOr<BoundKernel> bindWhatIsKnown() {
    std::vector<GivenArgument> arguments;
    size_t next = 0, wanted = 0;
    size_t written = llvm::count_if(signature.arguments,
                                    [](const KernelArgument &one) { return one.isResult(); });
    for (const KernelArgument &argument : signature.arguments) {
      if (argument.access == KernelAccess::InOut && call.getNumResults() < written) {
        InFlightDiagnostic error = refuse(Code::KERNEL_6);
        error << "it writes to its input \"" << argument.name
              << "\", but the call takes no new value of it: tensors of models do not change";
        error.attachNote() << "help: give it an input and an output, or let the call have a result "
                              "for each buffer that is written";
        return failure();
      }
      wanted += argument.isGiven();
    }
    if (wanted != call.getArguments().size()) {
      InFlightDiagnostic error = refuse(Code::KERNEL_7);
      error << "it takes " << counted(wanted, "argument") << ", but the call gives "
            << call.getArguments().size();
      error.attachNote() << "the kernel takes " << takenText();
      error.attachNote() << "the call gives " << givenText();
      error.attachNote() << "help: declare what the operator has in its order; a list is one "
                            "argument for each of its elements, None is none";
      return failure();
    }
    for (const KernelArgument &argument : signature.arguments) {
      GivenArgument &given = arguments.emplace_back();
      if (!argument.isGiven())
        continue;
      Value value = call.getArguments()[next++];
      if (describe(argument, value, given))
        continue;
      refuse(Code::KERNEL_7) << "argument \"" << argument.name << "\" is a "
                             << (argument.isBuffer() ? "tensor" : "number") << ", but "
                             << text(value.getType()) << " is given";
      return failure();
    }
    auto bound = bindKnown(signature, arguments);
    if (bound)
      return *bound;
    InFlightDiagnostic error = refuse(Code::KERNEL_7) << bound.error().message;
    for (const std::string &note : bound.error().notes)
      error.attachNote() << note;
    return failure();
  }

  /// Whether the call expects the kernel's outputs.
  LogicalResult checkResults(const BoundKernel &bound) {
    SmallVector<size_t> outs;
    for (auto [i, argument] : llvm::enumerate(signature.arguments))
      if (argument.isResult())
        outs.push_back(i);
    if (outs.size() != call.getNumResults())
      return refuse(Code::KERNEL_7) << "it has " << counted(outs.size(), "output")
                                    << ", but the call expects " << call.getNumResults();
    for (auto [out, type] : llvm::zip(outs, call.getResultTypes()))
      if (failed(checkResult(signature.arguments[out], bound.sizes[out], type)))
        return failure();
    return success();
  }

  LogicalResult checkResult(const KernelArgument &out, ArrayRef<int64_t> sizes, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto dtype = tensor ? tw::dtypeOf(tensor.getElementType()) : std::nullopt;
    bool fits = tensor && dtype && tensor.getRank() == int64_t(sizes.size()) &&
                (*dtype == out.dtype || (*dtype == DType::I8 && out.dtype == DType::U8));
    for (size_t d = 0; fits && d < sizes.size(); ++d)
      fits = sizes[d] == unknownSize || tensor.isDynamicDim(d) || tensor.getDimSize(d) == sizes[d];
    if (fits)
      return success();
    std::vector<std::string> parts, values;
    for (auto [size, value] : llvm::zip(out.sizes, sizes)) {
      parts.push_back(size.str());
      values.push_back(value == unknownSize ? "?" : std::to_string(value));
    }
    InFlightDiagnostic error = refuse(Code::KERNEL_7);
    error << fmt::format("output \"{}\" is {}[{}] = [{}], but the call expects {}", out.name,
                         info(out.dtype).name, fmt::join(parts, ", "), fmt::join(values, ", "),
                         text(type));
    error.attachNote() << "help: an exported model expects what the operator's fake implementation "
                          "(register_fake) gave: make that the kernel's output";
    return error;
  }

  /// An argument as the kernel has it: an index for an integer, a tensor of the buffer's type.
  Value adapted(Value value, Type wanted) {
    if (auto buffer = dyn_cast<BufferType>(wanted)) {
      auto type = typeOf(buffer);
      return value.getType() == type ? value : tensor::CastOp::create(b, loc, type, value);
    }
    return value.getType() == wanted ? value : arith::IndexCastOp::create(b, loc, wanted, value);
  }

  static RankedTensorType typeOf(BufferType buffer) {
    SmallVector<int64_t> sizes;
    for (const Size &size : sizesOf(buffer))
      sizes.push_back(size.constant().value_or(ShapedType::kDynamic));
    return RankedTensorType::get(sizes, buffer.getTileElementType());
  }

  /// The call's arguments in the order of dispatches: tensors first; those for inout arguments
  /// again in `written`.
  SmallVector<Value> givenInOrder(SmallVectorImpl<Value> &written) {
    SmallVector<Value> given;
    for (bool isTensor : {true, false})
      for (Value value : call.getArguments())
        if (isa<RankedTensorType>(value.getType()) == isTensor)
          given.push_back(value);
    size_t next = 0; // the signature is still that of the author's kernel
    for (const KernelArgument &argument : signature.arguments) {
      if (argument.access == KernelAccess::InOut)
        written.push_back(call.getArguments()[next]);
      next += argument.isGiven();
    }
    return given;
  }

  LogicalResult replace(KernelOp kernel) {
    SmallVector<Value> written, inputs, outs, indices;
    SmallVector<Value> given = givenInOrder(written);
    signature = signatureOf(kernel);
    size_t next = 0, nextWritten = 0;
    for (const KernelArgument &argument : signature.arguments) {
      if (!argument.isGiven())
        continue;
      Value value = argument.access == KernelAccess::InOut ? written[nextWritten++] : given[next++];
      indices.push_back(value.getType().isInteger(64)
                            ? Value(arith::IndexCastOp::create(b, loc, b.getIndexType(), value))
                            : value);
    }
    RuntimeBinding sizes(b, loc, signature);
    if (!sizes.bind(indices))
      return refuse(Code::KERNEL_7) << "its symbols do not follow from what the call gives";
    next = 0;
    for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
      Type type = kernel.getBlockArgument(i).getType();
      if (argument.isResult())
        outs.push_back(empty(sizes, argument, cast<BufferType>(type)));
      else
        inputs.push_back(adapted(given[next++], type));
    }
    auto dispatch = graph::DispatchOp::create(b, loc, ValueRange(outs).getTypes(),
                                              kernel.getSymName(), inputs, outs);
    checkRuntimeSizes(sizes, dispatch);
    for (auto [old, now] : llvm::zip(call.getResults(), dispatch.getResults()))
      old.replaceAllUsesWith(now.getType() == old.getType()
                                 ? Value(now)
                                 : tensor::CastOp::create(b, loc, old.getType(), now));
    call.erase();
    return success();
  }

  Value empty(RuntimeBinding &sizes, const KernelArgument &argument, BufferType buffer) {
    SmallVector<OpFoldResult> all;
    for (auto [d, size] : llvm::enumerate(argument.sizes)) {
      if (auto constant = size.constant())
        all.push_back(b.getIndexAttr(*constant));
      else
        all.push_back(sizes.evaluateSize(size, fmt::format("size {} of \"{}\"", d, argument.name)));
    }
    return tensor::EmptyOp::create(b, loc, all, buffer.getTileElementType());
  }

  /// Where the call expects a size that the kernel's output has only when the program runs.
  void checkRuntimeSizes(RuntimeBinding &sizes, graph::DispatchOp dispatch) {
    size_t next = 0;
    for (const KernelArgument &argument : signature.arguments) {
      if (!argument.isResult())
        continue;
      auto expected = cast<RankedTensorType>(call.getResult(next++).getType());
      for (auto [d, size] : llvm::enumerate(argument.sizes))
        if (!size.constant() && !expected.isDynamicDim(d)) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(dispatch);
          Value wanted = arith::ConstantIndexOp::create(b, loc, expected.getDimSize(d));
          sizes.require(wanted, size,
                        fmt::format("size {} of \"{}\" as expected", d, argument.name));
        }
    }
  }

  graph::KernelCallOp call;
  Kernels &kernels;
  OpBuilder b;
  Location loc;
  KernelSignature signature;
};

struct BindCalls : impl::BindCallsBase<BindCalls> {
  explicit BindCalls(ModuleOp library) : library(library) {}
  void runOnOperation() override {
    SmallVector<graph::KernelCallOp> calls;
    getOperation().walk([&](graph::KernelCallOp call) { calls.push_back(call); });
    if (calls.empty())
      return;
    Kernels kernels(getOperation(), library);
    for (graph::KernelCallOp call : calls)
      if (failed(Call(call, kernels).bind()))
        signalPassFailure(); // the others are reported as well
  }

  ModuleOp library;
};

} // namespace

std::unique_ptr<Pass> createBindCalls(ModuleOp library) {
  return std::make_unique<BindCalls>(library);
}

} // namespace tw::tile
