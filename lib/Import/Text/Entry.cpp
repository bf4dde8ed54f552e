// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picks the function to compile and inlines what it calls.
#include "IR/Torch/Torch.h"
#include "Import/Text/Stages.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"
#include <fmt/format.h>

using namespace mlir;
namespace tw::text {

static std::string listNames(ArrayRef<func::FuncOp> functions) {
  std::string names;
  for (func::FuncOp function : functions)
    names += (names.empty() ? "" : ", ") + function.getSymName().str();
  return names.empty() ? "none" : names;
}

static Result<func::FuncOp> pickEntry(ModuleOp module, const std::string &name,
                                      const std::string &entry) {
  SmallVector<func::FuncOp> defined, open;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isDeclaration()) {
      defined.push_back(function);
      if (function.isPublic())
        open.push_back(function);
    }
  auto named = [&](StringRef wanted) {
    auto found = llvm::find_if(defined, [&](func::FuncOp f) { return f.getSymName() == wanted; });
    return found == defined.end() ? func::FuncOp() : *found;
  };
  if (!entry.empty()) {
    if (func::FuncOp function = named(entry))
      return function;
    return Diagnostic{Code::IMPORT_102,
                      fmt::format("there is no function {}", entry),
                      name,
                      {"functions with a body: " + listNames(defined)}};
  }
  for (const char *usual : {"main", "forward"})
    if (func::FuncOp function = named(usual))
      return function;
  if (open.size() == 1)
    return open.front();
  return Diagnostic{Code::IMPORT_102,
                    open.empty() ? "there is no public function to compile"
                                 : "it is not clear which function to compile",
                    name,
                    {"public functions: " + listNames(open)},
                    "call it main or forward; on the command line --entry names another"};
}

/// Refuses functions that branch between blocks.
static Status checkOneBlock(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody()))
    return errorAt(
        function, Code::IMPORT_104,
        fmt::format("function {} has {} blocks; branches between blocks are not supported",
                    function.getSymName().str(), function.getBody().getBlocks().size()),
        "write conditions as torch.prim.If or scf.if");
  if (!isa<func::ReturnOp>(function.front().getTerminator()))
    return errorAt(function.front().getTerminator(), Code::IMPORT_104,
                   fmt::format("function {} does not end in return", function.getSymName().str()));
  return {};
}

namespace {
/// Replaces calls by the bodies of the called functions, until there are none.
class Inliner {
public:
  explicit Inliner(func::FuncOp entry) : entry(entry), module(entry->getParentOfType<ModuleOp>()) {}

  Status run() {
    entry.walk([&](torch::SymbolicIntOp op) { symbols.insert(op.getSymbolName()); });
    for (int round = 0; round < kMaxDepth; ++round) {
      SmallVector<func::CallOp> calls;
      entry.walk([&](func::CallOp call) { calls.push_back(call); });
      if (calls.empty())
        return {};
      for (func::CallOp call : calls)
        if (Status status = inlineCall(call); !status)
          return status;
    }
    return errorAt(
        entry, Code::IMPORT_107,
        fmt::format("calls nest more than {} deep; recursion is not supported", kMaxDepth));
  }

private:
  static constexpr int kMaxDepth = 64;
  static constexpr size_t kMaxOps = 1 << 20;

  Status inlineCall(func::CallOp call) {
    std::string name = call.getCallee().str();
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.isDeclaration())
      return errorAt(call, Code::IMPORT_104,
                     fmt::format("function {} is called but has no body", name),
                     "only functions of the same file can be called");
    if (Status status = checkOneBlock(callee); !status)
      return status;
    OpBuilder builder(call);
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    for (Operation &op : callee.front().without_terminator()) {
      op.walk([&](Operation *) { ++cloned; });
      if (cloned <= kMaxOps)
        nameApart(builder.clone(op, mapping));
      else
        return errorAt(call, Code::IMPORT_107,
                       fmt::format("inlining its calls makes more than {} operations", kMaxOps));
    }
    SmallVector<Value> results;
    for (Value returned : callee.front().getTerminator()->getOperands())
      results.push_back(mapping.lookup(returned));
    call.replaceAllUsesWith(results);
    call.erase();
    return {};
  }

  /// The symbols of each call are its own.
  void nameApart(Operation *inlined) {
    auto symbol = dyn_cast<torch::SymbolicIntOp>(inlined);
    if (!symbol)
      return;
    std::string base = symbol.getSymbolName().str(), name = base;
    while (!symbols.insert(name).second)
      name = fmt::format("{}_{}", base, ++suffixes[base]);
    symbol.setSymbolName(name);
  }

  func::FuncOp entry;
  ModuleOp module;
  llvm::StringSet<> symbols;     // names
  llvm::StringMap<int> suffixes; // of those that were taken, the last one
  size_t cloned = 0;
};
} // namespace

Result<func::FuncOp> isolateEntry(ModuleOp module, const std::string &name,
                                  const std::string &entryName) {
  TW_ASSIGN(func::FuncOp entry, pickEntry(module, name, entryName));
  TW_TRY(checkOneBlock(entry));
  TW_TRY(Inliner(entry).run());
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (&op != entry)
      op.erase();
  entry.setSymName("main");
  entry.setPublic();
  return entry;
}

} // namespace tw::text
