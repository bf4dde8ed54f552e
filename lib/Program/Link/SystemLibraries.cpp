// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Link/SystemLibraries.h"
#include "Program/ObjectCode/Machine.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <fmt/format.h>
#include <link.h>

namespace tw {
namespace {

constexpr const char *memoryFunctions[] = {"memcpy", "memmove", "memset"};

/// On f64; those on f32 have an f behind their names.
constexpr const char *numberFunctions[] = {
    "acos", "acosh", "asin",   "asinh", "atan",  "atan2", "atanh", "cbrt",      "ceil",
    "cos",  "cosh",  "erf",    "erfc",  "exp",   "exp2",  "expm1", "floor",     "fma",
    "fmax", "fmin",  "fmod",   "log",   "log10", "log1p", "log2",  "pow",       "round",
    "sin",  "sinh",  "sincos", "sqrt",  "tan",   "tanh",  "trunc", "roundeven",
};

constexpr const char *cLibrary = "libc.so.6", *mathLibrary = "libm.so.6";

} // namespace

std::vector<std::string> loadedSystemLibraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *out) {
        std::string_view path = info->dlpi_name;
        std::string_view name = path.substr(path.rfind('/') + 1);
        if (name == mathLibrary || name == cLibrary)
          static_cast<std::vector<std::string> *>(out)->emplace_back(path);
        return 0;
      },
      &paths);
  return paths;
}

/// An object file with functions that do nothing; empty when there is no code generator.
static ObjectFile emptyFunctions(Architecture architecture, const std::vector<std::string> &names) {
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine({architecture, {}});
  if (!machine)
    return {};
  llvm::LLVMContext context;
  llvm::Module module("system", context);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), /*isVarArg=*/false);
  for (const std::string &name : names) {
    auto *function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
    llvm::IRBuilder<>(llvm::BasicBlock::Create(context, "", function)).CreateRetVoid();
  }
  machine->setOptLevel(llvm::CodeGenOptLevel::None);
  ObjectFile object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emit;
  if (!machine->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    emit.run(module);
  return object;
}

Result<std::vector<SystemLibrary>> systemLibrariesOf(Architecture architecture) {
  std::vector<std::string> ofNumbers;
  for (const char *name : numberFunctions) {
    ofNumbers.emplace_back(name);
    ofNumbers.push_back(ofNumbers.back() + "f");
  }
  std::vector<SystemLibrary> libraries;
  libraries.push_back({mathLibrary, emptyFunctions(architecture, ofNumbers)});
  libraries.push_back({cLibrary, emptyFunctions(architecture, {std::begin(memoryFunctions),
                                                               std::end(memoryFunctions)})});
  for (const SystemLibrary &library : libraries)
    if (library.functions.empty())
      return Diagnostic{Code::PROGRAM_7,
                        fmt::format("this compiler cannot make code for {}", nameOf(architecture))};
  return libraries;
}

} // namespace tw
