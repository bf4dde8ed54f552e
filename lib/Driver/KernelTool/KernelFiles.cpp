// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/KernelTool/KernelFiles.h"
#include "Driver/KernelTool/CompiledKernel.h"
#include "Driver/NearestNames.h"
#include "IR/Tile/Variants.h"
#include "Language/Source/Source.h"
#include "Program/Artifact/Describe.h"
#include "Tile/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tw {

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op << "\n";
  return text;
}

/// A copy with the names that people know, which says what it replaces.
static OwningOpRef<tile::KernelOp> namedCopy(const NamedKernel &named) {
  OwningOpRef<tile::KernelOp> copy(cast<tile::KernelOp>(named.kernel->clone()));
  MLIRContext *context = copy->getContext();
  SmallVector<Attribute> arguments;
  for (auto [argument, name] :
       llvm::zip(copy->getArguments().getAsRange<tile::ArgumentAttr>(), argumentNames(named)))
    arguments.push_back(argument.withName(name));
  copy->setArgumentsAttr(ArrayAttr::get(context, arguments));
  copy->setSymName(named.name);
  (*copy)->setAttr(tile::TileDialect::replacesName, StringAttr::get(context, named.name));
  (*copy)->removeAttr(tile::TileDialect::variantsName); // which are files of their own
  (*copy)->removeAttr(tile::variantSizeName);           // of which only a search asks
  if (auto own =
          (*copy)->getAttrOfType<tile::ConfigurationAttr>(tile::TileDialect::configurationName))
    (*copy)->setAttr(
        tile::TileDialect::configurationName,
        tile::ConfigurationAttr::get(context, own.getKind(), own.getFields(), own.getTarget()));
  return copy;
}

KernelFiles kernelFiles(const NamedKernel &named, const std::string &target,
                        const Cancellation &cancellation) {
  KernelFiles files;
  if (isa<func::FuncOp>(named.kernel)) {
    files.tile = textOf(named.kernel);
    return files;
  }
  OwningOpRef<tile::KernelOp> copy = namedCopy(named);
  files.tile = textOf(*copy);
  auto source = source::printSource(*copy, describeKernel(named.kernel).ops);
  auto plan = CompiledKernel::print(*copy, "plan", target, &cancellation);
  auto assembly = CompiledKernel::print(*copy, "assembly", target, &cancellation);
  for (auto [made, file] : {std::pair(&source, &files.source), std::pair(&plan, &files.plan),
                            std::pair(&assembly, &files.assembly)})
    if (*made)
      *file = **made;
    else
      files.remark = made->error().message;
  return files;
}

//===----------------------------------------------------------------------===//
// Giving back
//===----------------------------------------------------------------------===//

/// "in f32[5, 16], out f32[5, 8]; symbols N {min = 1}": what a call must fit. Names do not matter.
static std::string signatureText(tile::KernelOp kernel) {
  std::vector<std::string> arguments, symbols;
  for (auto [value, argument] : llvm::zip(kernel.getBody().getArguments(),
                                          kernel.getArguments().getAsRange<tile::ArgumentAttr>())) {
    std::string text = tile::stringifyAccess(argument.getAccess()).str() + " ";
    llvm::raw_string_ostream os(text);
    if (auto buffer = dyn_cast<tile::BufferType>(value.getType())) {
      std::vector<std::string> sizes;
      for (const Size &size : tile::sizesOf(buffer))
        sizes.push_back(size.str());
      os << buffer.getElementType() << fmt::format("[{}]", fmt::join(sizes, ", "));
    } else {
      os << value.getType();
    }
    if (argument.getSymbol())
      os << " as " << argument.getSymbol().getValue();
    arguments.push_back(text);
  }
  for (auto symbol : kernel.getSymbols().getAsRange<tile::SymbolAttr>())
    symbols.push_back(fmt::format("{} from {} to {} by {}", symbol.getName().str(), symbol.getMin(),
                                  symbol.getMax(), symbol.getMultiple()));
  std::string text = fmt::format("{}", fmt::join(arguments, ", "));
  return symbols.empty() ? text : text + fmt::format("; symbols {}", fmt::join(symbols, ", "));
}

static Diagnostic noSuchKernel(const EditedKernel &edited, ArrayRef<NamedKernel> named) {
  std::vector<std::string> names;
  for (const NamedKernel &each : named)
    if (isa<tile::KernelOp>(each.kernel))
      names.push_back(each.name);
  return {Code::KERNEL_5,
          fmt::format("the kernel replaces \"{}\", but the model has no kernel of that name",
                      edited.replaces),
          edited.file,
          {names.empty() ? "the model has no kernels that could be replaced"
                         : nearestNames(edited.replaces, names)},
          "compile with --dump-to=DIR: DIR/kernels has a file for each of them"};
}

/// `keeps`: the variants of the old kernel that the edited one has, too.
static Status replaceKernel(tile::KernelOp old, const EditedKernel &edited,
                            ArrayRef<tile::KernelOp> keeps, Session &session) {
  OwningOpRef<tile::KernelOp> made(cast<tile::KernelOp>(edited.kernel.get()->clone()));
  std::string has = signatureText(*made), wanted = signatureText(old);
  if (has != wanted)
    return Diagnostic{
        Code::KERNEL_7,
        fmt::format("the kernel replaces \"{}\", but has another signature", edited.replaces),
        edited.file,
        {fmt::format("the edited kernel has: {}", has),
         fmt::format("what it replaces has:  {}", wanted)},
        "what a kernel is called with stays as the compiler has printed it; change "
        "what stands behind it"};
  // How it is called is the dispatch's.
  for (StringRef name : {tile::TileDialect::destinationsName, tile::TileDialect::beginsName})
    if (Attribute value = old->getAttr(name))
      (*made)->setAttr(name, value);
    else
      (*made)->removeAttr(name);
  SmallVector<Attribute> arguments;
  for (auto [own, before] : llvm::zip(made->getArguments().getAsRange<tile::ArgumentAttr>(),
                                      old.getArguments().getAsRange<tile::ArgumentAttr>()))
    arguments.push_back(own.withConstant(before.getConstant()));
  made->setArgumentsAttr(ArrayAttr::get(old.getContext(), arguments));
  (*made)->removeAttr(tile::TileDialect::replacesName);
  made->setSymName(old.getSymName());
  (*made)->setLoc(old->getLoc());
  PassManager passes(old.getContext(), tile::KernelOp::getOperationName());
  passes.addPass(tile::createSimplify());
  if (failed(passes.run(*made))) {
    session.failStage("simplify");
    return {};
  }
  tile::KernelOp now = made.release();
  OpBuilder(old).insert(now);
  for (tile::KernelOp variant : tile::variantsOf(old))
    if (!llvm::is_contained(keeps, variant))
      variant.erase();
  old.erase();
  tile::setVariants(now, keeps);
  session.remarks.emplace_back(edited.file, "replaces the kernel " + edited.replaces);
  return {};
}

Status replaceKernels(ModuleOp module, const ModelKernels &kernels, Session &session) {
  if (kernels.edited.empty())
    return {};
  std::vector<NamedKernel> named = namedKernels(module);
  std::vector<std::pair<tile::KernelOp, const EditedKernel *>> pairs;
  for (const EditedKernel &edited : kernels.edited) {
    auto found = llvm::find_if(named, [&](const NamedKernel &each) {
      return each.name == edited.replaces && isa<tile::KernelOp>(each.kernel);
    });
    if (found == named.end())
      return noSuchKernel(edited, named);
    pairs.emplace_back(cast<tile::KernelOp>(found->kernel), &edited);
  }
  // Variants first: what takes the place of a kernel does so for all calls, but for those that
  // edited variants are for.
  llvm::DenseSet<Operation *> variants = tile::allVariants(module);
  std::vector<std::string> names;
  for (bool isVariant : {true, false})
    for (auto [old, edited] : pairs) {
      if (variants.contains(old) != isVariant)
        continue;
      SmallVector<tile::KernelOp> keeps;
      for (tile::KernelOp variant : tile::variantsOf(old))
        if (llvm::is_contained(names, variant.getSymName()))
          keeps.push_back(variant);
      names.push_back(old.getSymName().str());
      TW_TRY(replaceKernel(old, *edited, keeps, session));
    }
  return {};
}

} // namespace tw
