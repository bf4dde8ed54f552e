// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program/ObjectCode/Machine.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tw {

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

/// Whether products of bf16 take longer by vdpbf16ps than widened to f32: Intel's CPUs take four
/// times as long for it as for an FMA, which multiplies half as many numbers (0.70 and 0.17 ns on a
/// Xeon of the fifth generation), and AMD's no longer.
static bool hasSlowPairs() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0, &eax, &ebx, &ecx, &edx) && ebx == signature_INTEL_ebx &&
         ecx == signature_INTEL_ecx && edx == signature_INTEL_edx;
#else
  return false;
#endif
}

InstructionSet hostInstructionSet() {
  InstructionSet set;
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  bool hasTiles = host.lookup("amx-bf16") && mayUseTiles();
  auto isUseful = [&](std::string_view name) {
    if (name.starts_with("amx"))
      return hasTiles;
    return name != "avx512bf16" || hasTiles || !hasSlowPairs();
  };
  for (std::string_view name : usefulFeatures(set.architecture))
    if (host.lookup(name) && isUseful(name))
      set.features.emplace_back(name);
  return set;
}

/// Threads that share a core and its caches, by CPUID's leaf of the topology.
static int64_t threadsOfCore() {
#if defined(__x86_64__)
  constexpr unsigned topology = 0xb, countMask = 0xffff;
  unsigned eax = 0, threads = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(topology, /*level of threads*/ 0, &eax, &threads, &ecx, &edx))
    return std::max<int64_t>(1, threads & countMask);
#endif
  return 1;
}

CpuCaches hostCaches() {
  CpuCaches caches;
  if (long whole = sysconf(_SC_LEVEL2_CACHE_SIZE); whole > 0) // glibc asks CPUID
    caches.secondLevel = whole / threadsOfCore();
  return caches;
}

namespace {

/// LLVM's part of an architecture.
struct CodeGenerator {
  Architecture architecture;
  const char *triple, *cpu; // that all CPUs run code of
  void (*info)(), (*target)(), (*code)(), (*printer)();
};

#define TW_CODE_GENERATOR(architecture, llvmName, triple, cpu)                                     \
  {Architecture::architecture,                                                                     \
   triple,                                                                                         \
   cpu,                                                                                            \
   LLVMInitialize##llvmName##TargetInfo,                                                           \
   LLVMInitialize##llvmName##Target,                                                               \
   LLVMInitialize##llvmName##TargetMC,                                                             \
   LLVMInitialize##llvmName##AsmPrinter}

constexpr CodeGenerator generators[] = {
    TW_CODE_GENERATOR(X86_64, X86, "x86_64-pc-linux-gnu", "x86-64"),
    TW_CODE_GENERATOR(AArch64, AArch64, "aarch64-unknown-linux-gnu", "generic"),
};

#undef TW_CODE_GENERATOR

} // namespace

static const CodeGenerator &generatorOf(Architecture architecture) {
  const CodeGenerator &generator = generators[size_t(architecture)];
  assert(generator.architecture == architecture && "the table is in the order of the enumeration");
  static std::once_flag once[std::size(generators)];
  std::call_once(once[size_t(architecture)], [&] {
    for (void (*initialize)() :
         {generator.info, generator.target, generator.code, generator.printer})
      initialize();
  });
  return generator;
}

std::unique_ptr<llvm::TargetMachine> makeMachine(const InstructionSet &set) {
  const CodeGenerator &generator = generatorOf(set.architecture);
  llvm::Triple triple(generator.triple);
  std::string error, list;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  for (const std::string &feature : set.features)
    list += (list.empty() ? "+" : ",+") + feature;
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, generator.cpu, list, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
}

} // namespace tw
