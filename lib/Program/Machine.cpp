// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/Machine.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>

namespace tw {

/// Everything above the x86-64 baseline that code generation makes use of.
static const char *const usefulFeatures[] = {
    "sse3",         "ssse3",
    "sse4.1",       "sse4.2",
    "popcnt",       "cx16",
    "sahf",         "lzcnt",
    "bmi",          "bmi2",
    "movbe",        "avx",
    "f16c",         "fma",
    "avx2",         "avxvnni",
    "avx512f",      "avx512cd",
    "avx512bw",     "avx512dq",
    "avx512vl",     "avx512vbmi",
    "avx512vbmi2",  "avx512vnni",
    "avx512bitalg", "avx512vpopcntdq",
    "avx512bf16",   "avx512fp16",
    "amx-tile",     "amx-bf16",
    "amx-int8",
};

/// Whether Linux gives processes the tile registers of AMX when they ask.
static bool mayUseTiles() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long getSupported = 0x1021, tileData = 18;
  uint64_t supported = 0;
  return syscall(SYS_arch_prctl, getSupported, &supported) == 0 && (supported >> tileData & 1);
#else
  return false;
#endif
}

std::vector<std::string> hostFeatures() {
  std::vector<std::string> features;
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const char *name : usefulFeatures)
    if (host.lookup(name) && (!llvm::StringRef(name).starts_with("amx") || mayUseTiles()))
      features.emplace_back(name);
  return features;
}

std::unique_ptr<llvm::TargetMachine> makeMachine(const std::vector<std::string> &features) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error, list;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  for (const std::string &feature : features)
    list += (list.empty() ? "+" : ",+") + feature;
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, "x86-64", list, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
}

} // namespace tw
