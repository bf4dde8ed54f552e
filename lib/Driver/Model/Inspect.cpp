// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright_inspect_model: what a model takes, gives and consists of. Reads no weights.
#include "Driver/Model/ModelSource.h"
#include "Driver/Model/Pipeline.h"
#include "Driver/Register.h"
#include "IO/Formats/JsonWriter.h"
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "IR/ModelLocation.h"
#include "IR/Torch/Torch.h"
#include "Program/Artifact/Describe.h"
#include "Tile/Binding/BindCalls.h"
#include "TorchToGraph/TorchToGraph.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "tilewright/Compiler.h"
#include <filesystem>
#include <fmt/format.h>
#include <map>

using namespace mlir;

namespace tw {

/// The graph level's type of a torch type, for descriptions only.
static Type plainType(Type type) {
  Builder b(type.getContext());
  if (auto tensor = dyn_cast<torch::ValueTensorType>(type)) {
    Type element = tensor.getDtype() ? tensor.getDtype() : b.getF32Type();
    if (element.isInteger())
      element = b.getIntegerType(element.getIntOrFloatBitWidth());
    if (!tensor.getHasSizes()) // of which the compiler finds out more
      return UnrankedTensorType::get(element);
    SmallVector<int64_t> sizes;
    for (int64_t size : tensor.getSizes())
      sizes.push_back(size < 0 ? ShapedType::kDynamic : size);
    return RankedTensorType::get(sizes, element);
  }
  if (isa<torch::FloatType>(type))
    return b.getF64Type();
  if (isa<torch::BoolType>(type))
    return b.getI1Type();
  return isa<RankedTensorType>(type) || type.isIntOrIndexOrFloat() ? type : b.getI64Type();
}

/// @main without its body, on plain types.
static OwningOpRef<func::FuncOp> plainSignature(func::FuncOp main) {
  OpBuilder b(main.getContext());
  SmallVector<Type> inputs(llvm::map_range(main.getArgumentTypes(), plainType)),
      results(llvm::map_range(main.getResultTypes(), plainType));
  auto plain = func::FuncOp::create(main.getLoc(), "main", b.getFunctionType(inputs, results));
  plain->setAttrs(main->getAttrDictionary());
  plain.setFunctionType(b.getFunctionType(inputs, results));
  return OwningOpRef<func::FuncOp>(plain);
}

/// What an operation is called in the model, "aten.add.Tensor"; "" for what is no operator.
static std::string operatorName(Operation *op) {
  if (auto aten = dyn_cast<torch::AtenOp>(op))
    return aten.name().str();
  if (auto call = dyn_cast<graph::KernelCallOp>(op))
    return call.getCallee().str();
  if (auto other = dyn_cast<torch::OperatorOp>(op))
    return other.getName().str();
  return "";
}

/// How often each operator occurs.
static std::map<std::string, int> countOperators(ModuleOp module) {
  std::map<std::string, int> counts;
  module.walk([&](Operation *op) {
    if (std::string name = operatorName(op); !name.empty())
      ++counts[name];
  });
  return counts;
}

/// A call that cannot be compiled.
struct Refusal {
  std::string place, reason; // no reason: the operator is only missing
  ModelPlace where;

  std::string text() const { return reason.empty() ? place : place + ": " + reason; }
};
using Places = std::map<std::string, std::vector<Refusal>>;

/// Calls whose operator is known, but not with their arguments: what lowering a copy says, and
/// what binding its calls of kernels says.
static void addRefusedCalls(ModuleOp module, const ModelKernels &kernels, Places &places) {
  std::map<std::string, std::string> operators; // by their places
  module.walk([&](Operation *op) {
    if (std::string name = operatorName(op); !name.empty())
      operators.emplace(describePlace(op->getLoc()), name);
  });
  ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &problem) {
    if (problem.getSeverity() != DiagnosticSeverity::Error)
      return success();
    constexpr Code refusals[] = {Code::LOWER_2, Code::LOWER_3, Code::KERNEL_5, Code::KERNEL_6,
                                 Code::KERNEL_7};
    Diagnostic error = toDiagnostic(problem);
    if (!llvm::is_contained(refusals, error.code))
      return success();
    StringRef message = error.message, name = "program";
    if (message.consume_front("operator "))
      std::tie(name, message) = message.split(": ");
    else if (auto found = operators.find(error.location); found != operators.end())
      name = found->second;
    places[name.str()].push_back(
        {error.location, message.str(), modelPlace(problem.getLocation()).value_or(ModelPlace())});
    return success();
  });
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager passes(module.getContext());
  passes.addPass(createTorchToGraphPass(kernels.names));
  passes.addPass(tile::createBindCalls(kernels.module.get()));
  (void)passes.run(*copy);
}

/// Places by operator.
static Places unsupportedPlaces(ModuleOp module, const ModelKernels &kernels) {
  Places places;
  for (const UnsupportedOperator &op : findUnsupported(module, kernels.names))
    places[op.op].push_back({op.place, op.reason, op.where});
  addRefusedCalls(module, kernels, places);
  return places;
}

static std::string describeJson(ModuleOp module, const std::string &path, const Places &unsupported,
                                bool onlyUnsupported) {
  std::filesystem::path file(path);
  JsonWriter json;
  json.beginObject().member("model", file.stem().string());
  if (!onlyUnsupported) {
    std::string extension = file.extension().string();
    json.member("format", extension.empty() ? "memory" : extension.substr(1));
    auto plain = plainSignature(module.lookupSymbol<func::FuncOp>("main"));
    describeSignature(json, *plain, nullptr);
    json.key("operators").beginArray();
    for (const auto &[name, count] : countOperators(module))
      json.beginObject()
          .member("name", name)
          .member("count", count)
          .member("supported", !unsupported.contains(name))
          .endObject();
    json.endArray();
  }
  json.key("unsupported").beginArray();
  for (const auto &[name, places] : unsupported) {
    json.beginObject().member("name", name).key("places").beginArray();
    for (const Refusal &refusal : places)
      json.value(refusal.text());
    json.endArray().key("nodes").beginArray();
    for (const Refusal &refusal : places)
      json.beginObject()
          .member("node", refusal.where.node)
          .member("index", refusal.where.index)
          .member("reason", refusal.reason)
          .endObject();
    json.endArray().endObject();
  }
  return json.endArray().endObject().text() + "\n";
}

static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// One line a value: "  x            tensor<2x3xf32>".
static std::string describeValues(func::FuncOp plain) {
  std::string text;
  auto line = [&](const char *fallback, size_t number, DictionaryAttr attributes, Type type) {
    auto name = attributes ? attributes.getAs<StringAttr>("tw.name") : StringAttr();
    auto role = attributes ? attributes.getAs<StringAttr>("tw.role") : StringAttr();
    text += fmt::format("  {:<28} {:<24} {}\n",
                        name ? name.str() : fmt::format("{}_{}", fallback, number), typeText(type),
                        role ? role.str() : fallback);
  };
  for (auto [number, type] : llvm::enumerate(plain.getArgumentTypes()))
    line("input", number, plain.getArgAttrDict(number), type);
  for (auto [number, type] : llvm::enumerate(plain.getResultTypes()))
    line("output", number, plain.getResultAttrDict(number), type);
  if (auto fixed = plain->getAttrOfType<ArrayAttr>("tw.fixed_results"))
    for (auto facts : fixed.getAsRange<DictionaryAttr>()) {
      auto value = facts.getAs<StringAttr>("text");
      text += fmt::format("  {:<28} {:<24} {}\n", facts.getAs<StringAttr>("name").str(),
                          value ? fmt::format("\"{}\"", value.str()) : "None", "fixed output");
    }
  return text;
}

static std::string describeText(ModuleOp module, const std::string &path, const Places &unsupported,
                                bool onlyUnsupported) {
  std::string text;
  if (!onlyUnsupported) {
    auto plain = plainSignature(module.lookupSymbol<func::FuncOp>("main"));
    text += fmt::format("{}\n{}operators\n", path, describeValues(*plain));
    for (const auto &[name, count] : countOperators(module))
      text += fmt::format("  {:<40} {:>5}{}\n", name, count,
                          unsupported.contains(name) ? "  not supported" : "");
  }
  text += unsupported.empty() ? "all operators are supported\n" : "not supported\n";
  for (const auto &[name, places] : unsupported)
    for (const Refusal &refusal : places)
      text += fmt::format("  {}  {}\n", name, refusal.text());
  return text;
}

static void inspect(Session &session, const tilewright_inspect_options &options) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto handler = session.handler(context);
  auto kernels = readModelKernels(context, kernelSources(options));
  if (!kernels)
    return session.error(kernels.error());
  Pipeline pipeline(session, context, "");
  ModelSource model = modelSource(options);
  model.weightsOptional = true;
  auto module = pipeline.import(model);
  if (!module || session.outcome() != TILEWRIGHT_FINE)
    return;
  Places unsupported = unsupportedPlaces(*module, *kernels);
  auto describe = options.json ? describeJson : describeText;
  session.report(describe(*module, model.name(), unsupported, options.unsupported_only != 0));
}

} // namespace tw

extern "C" tilewright_outcome tilewright_inspect_model(const tilewright_inspect_options *options,
                                                       const tilewright_sink *sink, void *user) {
  return tw::Session::perform(sink, user, [&](tw::Session &session) {
    if (options && options->struct_size == sizeof(*options) && tw::namesOneModel(*options))
      tw::inspect(session, *options);
    else
      session.error({tw::Code::DRIVER_1,
                     "tilewright_inspect_model: options is NULL, of another version, or names not "
                     "one model",
                     {},
                     {},
                     "set options.struct_size and options.model or options.memory"});
  });
}
