// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/Report.h"
#include "IO/Formats/JsonWriter.h"
#include "IR/Graph/Graph.h"
#include "IR/ModelLocation.h"
#include "IR/Tile/Variants.h"
#include "Program/Artifact/Describe.h"
#include "Tune/Spec/FieldsVersion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tw {

namespace {
struct KernelUse {
  int calls = 0;
  std::string source; // of the first call
};
} // namespace

static llvm::MapVector<StringRef, KernelUse> kernelUses(ModuleOp module) {
  llvm::MapVector<StringRef, KernelUse> uses;
  module.walk([&](graph::DispatchOp op) {
    KernelUse &use = uses[op.getKernel()];
    if (use.calls++ == 0)
      use.source = describePlace(op.getLoc());
  });
  return uses;
}

/// What the variants of a kernel are for.
struct VariantBounds {
  std::vector<int64_t> sizes;   // up to which
  std::vector<int64_t> workers; // from which on
};

static VariantBounds variantBounds(Operation *kernel) {
  VariantBounds bounds;
  if (auto program = dyn_cast<tile::KernelOp>(kernel))
    for (tile::KernelOp variant : tile::variantsOf(program)) {
      int64_t workers = tile::workersOf(variant);
      if (workers > 0)
        bounds.workers.push_back(workers);
      else
        bounds.sizes.push_back(tile::mostOf(variant));
    }
  return bounds;
}

static std::string describe(const VariantBounds &bounds) {
  std::string text;
  if (!bounds.sizes.empty())
    text += fmt::format("  (variants up to {})", fmt::join(bounds.sizes, ", "));
  if (!bounds.workers.empty())
    text += fmt::format("  (variants for {} workers or more)", fmt::join(bounds.workers, ", "));
  return text;
}

std::string describeDispatches(ModuleOp module, const Session &session,
                               const std::vector<ConfiguredDispatch> &configured,
                               const KernelParameters &parameters, StringRef target, bool asJson) {
  SymbolTable symbols(module);
  JsonWriter json;
  json.beginObject().member("version", tune::fieldsVersion).key("dispatches").beginArray();
  auto uses = kernelUses(module);
  int total = 0, plain = 0; // calls, and those that no tile program is for
  std::string lines;
  for (auto &[name, use] : uses) {
    Operation *kernel = symbols.lookup(name);
    KernelSummary text = describeKernel(kernel);
    bool isPlain = isa<func::FuncOp>(kernel);
    json.beginObject().member("kernel", std::string_view(name)).member("name", text.name);
    json.member("ops", text.ops).member("calls", use.calls).member("source", use.source);
    json.member("target", isPlain ? "reference" : std::string_view(target))
        .key("variants")
        .beginArray();
    VariantBounds variants = variantBounds(kernel);
    for (int64_t size : variants.sizes)
      json.value(size);
    json.endArray().key("for_workers").beginArray();
    for (int64_t workers : variants.workers)
      json.value(workers);
    json.endArray().endObject();
    std::string mark = isPlain ? "  (reference)" : describe(variants);
    total += use.calls;
    plain += isPlain ? use.calls : 0;
    lines += fmt::format("{:>6} x{:<3} {}{}\n", std::string_view(name), use.calls, text.ops, mark);
    if (!use.source.empty())
      lines += fmt::format("            {}\n", use.source);
  }
  json.endArray().key("decisions");
  writeDecisions(json, module);
  json.key("configurations");
  write(json, configured);
  json.key("kernels");
  write(json, parameters);
  json.key("remarks").beginArray();
  std::string remarks;
  for (const auto &[place, what] : session.remarks) {
    json.beginObject().member("place", place).member("text", what).endObject();
    remarks += fmt::format("  {}{}{}\n", place, place.empty() ? "" : ": ", what);
  }
  json.endArray().member("calls", total).member("calls_on_reference", plain).endObject();
  if (asJson)
    return json.text() + "\n";
  return fmt::format("dispatches {}, kernels {}, on the reference target {}\n{}remarks {}\n{}",
                     total, uses.size(), plain, lines, session.remarks.size(), remarks);
}

} // namespace tw
