// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/CpuFeatures.h"
#include <cstdint>
#include <fmt/format.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace tw::rt {

#if defined(__x86_64__)

namespace {
enum Register { EAX, EBX, ECX, EDX };
/// Register state that the operating system must save for a feature to be usable.
enum State : uint64_t { None = 0, Ymm = 0x6, Zmm = 0xE6, Tiles = 0x60000 };

struct Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register where;
  int bit;
  State state;
};
} // namespace

static constexpr uint32_t extended1 = 0x80000001, extended8 = 0x80000008;
static constexpr Feature features[] = {
    {"cx8", 1, 0, EDX, 8, None},
    {"cmov", 1, 0, EDX, 15, None},
    {"mmx", 1, 0, EDX, 23, None},
    {"fxsr", 1, 0, EDX, 24, None},
    {"sse", 1, 0, EDX, 25, None},
    {"sse2", 1, 0, EDX, 26, None},
    {"sse3", 1, 0, ECX, 0, None},
    {"pclmul", 1, 0, ECX, 1, None},
    {"ssse3", 1, 0, ECX, 9, None},
    {"fma", 1, 0, ECX, 12, Ymm},
    {"cx16", 1, 0, ECX, 13, None},
    {"sse4.1", 1, 0, ECX, 19, None},
    {"sse4.2", 1, 0, ECX, 20, None},
    {"crc32", 1, 0, ECX, 20, None},
    {"movbe", 1, 0, ECX, 22, None},
    {"popcnt", 1, 0, ECX, 23, None},
    {"aes", 1, 0, ECX, 25, None},
    {"xsave", 1, 0, ECX, 27, None},
    {"avx", 1, 0, ECX, 28, Ymm},
    {"f16c", 1, 0, ECX, 29, Ymm},
    {"rdrnd", 1, 0, ECX, 30, None},
    {"fsgsbase", 7, 0, EBX, 0, None},
    {"bmi", 7, 0, EBX, 3, None},
    {"avx2", 7, 0, EBX, 5, Ymm},
    {"bmi2", 7, 0, EBX, 8, None},
    {"invpcid", 7, 0, EBX, 10, None},
    {"rtm", 7, 0, EBX, 11, None},
    {"avx512f", 7, 0, EBX, 16, Zmm},
    {"evex512", 7, 0, EBX, 16, Zmm},
    {"avx512dq", 7, 0, EBX, 17, Zmm},
    {"rdseed", 7, 0, EBX, 18, None},
    {"adx", 7, 0, EBX, 19, None},
    {"avx512ifma", 7, 0, EBX, 21, Zmm},
    {"clflushopt", 7, 0, EBX, 23, None},
    {"clwb", 7, 0, EBX, 24, None},
    {"avx512cd", 7, 0, EBX, 28, Zmm},
    {"sha", 7, 0, EBX, 29, None},
    {"avx512bw", 7, 0, EBX, 30, Zmm},
    {"avx512vl", 7, 0, EBX, 31, Zmm},
    {"avx512vbmi", 7, 0, ECX, 1, Zmm},
    {"pku", 7, 0, ECX, 4, None},
    {"waitpkg", 7, 0, ECX, 5, None},
    {"avx512vbmi2", 7, 0, ECX, 6, Zmm},
    {"shstk", 7, 0, ECX, 7, None},
    {"gfni", 7, 0, ECX, 8, None},
    {"vaes", 7, 0, ECX, 9, Ymm},
    {"vpclmulqdq", 7, 0, ECX, 10, Ymm},
    {"avx512vnni", 7, 0, ECX, 11, Zmm},
    {"avx512bitalg", 7, 0, ECX, 12, Zmm},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Zmm},
    {"rdpid", 7, 0, ECX, 22, None},
    {"kl", 7, 0, ECX, 23, None},
    {"cldemote", 7, 0, ECX, 25, None},
    {"movdiri", 7, 0, ECX, 27, None},
    {"movdir64b", 7, 0, ECX, 28, None},
    {"enqcmd", 7, 0, ECX, 29, None},
    {"uintr", 7, 0, EDX, 5, None},
    {"avx512vp2intersect", 7, 0, EDX, 8, Zmm},
    {"serialize", 7, 0, EDX, 14, None},
    {"tsxldtrk", 7, 0, EDX, 16, None},
    {"pconfig", 7, 0, EDX, 18, None},
    {"amx-bf16", 7, 0, EDX, 22, Tiles},
    {"avx512fp16", 7, 0, EDX, 23, Zmm},
    {"amx-tile", 7, 0, EDX, 24, Tiles},
    {"amx-int8", 7, 0, EDX, 25, Tiles},
    {"sha512", 7, 1, EAX, 0, Ymm},
    {"sm3", 7, 1, EAX, 1, Ymm},
    {"sm4", 7, 1, EAX, 2, Ymm},
    {"raoint", 7, 1, EAX, 3, None},
    {"avxvnni", 7, 1, EAX, 4, Ymm},
    {"avx512bf16", 7, 1, EAX, 5, Zmm},
    {"cmpccxadd", 7, 1, EAX, 7, None},
    {"amx-fp16", 7, 1, EAX, 21, Tiles},
    {"hreset", 7, 1, EAX, 22, None},
    {"avxifma", 7, 1, EAX, 23, Ymm},
    {"avxvnniint8", 7, 1, EDX, 4, Ymm},
    {"avxneconvert", 7, 1, EDX, 5, Ymm},
    {"amx-complex", 7, 1, EDX, 8, Tiles},
    {"avxvnniint16", 7, 1, EDX, 10, Ymm},
    {"prefetchi", 7, 1, EDX, 14, None},
    {"usermsr", 7, 1, EDX, 15, None},
    {"xsaveopt", 0xD, 1, EAX, 0, None},
    {"xsavec", 0xD, 1, EAX, 1, None},
    {"xsaves", 0xD, 1, EAX, 3, None},
    {"ptwrite", 0x14, 0, EBX, 4, None},
    {"sahf", extended1, 0, ECX, 0, None},
    {"lzcnt", extended1, 0, ECX, 5, None},
    {"sse4a", extended1, 0, ECX, 6, None},
    {"prfchw", extended1, 0, ECX, 8, None},
    {"xop", extended1, 0, ECX, 11, Ymm},
    {"lwp", extended1, 0, ECX, 15, None},
    {"fma4", extended1, 0, ECX, 16, Ymm},
    {"tbm", extended1, 0, ECX, 21, None},
    {"mwaitx", extended1, 0, ECX, 29, None},
    {"64bit", extended1, 0, EDX, 29, None},
    {"clzero", extended8, 0, EBX, 0, None},
    {"rdpru", extended8, 0, EBX, 4, None},
    {"wbnoinvd", extended8, 0, EBX, 9, None},
};

/// The register states that the operating system saves (XCR0).
static uint64_t savedStates() {
  uint32_t eax, ebx, ecx, edx;
  constexpr uint32_t osxsave = 1u << 27;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & osxsave))
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

bool hasCpuFeature(std::string_view name) {
  for (const Feature &f : features) {
    if (f.name != name)
      continue;
    uint32_t r[4];
    return __get_cpuid_count(f.leaf, f.subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) &&
           (r[f.where] >> f.bit & 1) && (savedStates() & f.state) == f.state;
  }
  return false;
}

/// Linux gives a process the AMX tile registers only on request.
static bool requestTiles() {
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

#elif defined(__aarch64__)

namespace {
struct Feature {
  std::string_view name;
  unsigned long type, bits; // all of them, in this entry of the auxiliary vector
};
} // namespace

static constexpr Feature features[] = {
    {"fp-armv8", AT_HWCAP, HWCAP_FP},
    {"neon", AT_HWCAP, HWCAP_ASIMD},
    {"aes", AT_HWCAP, HWCAP_AES | HWCAP_PMULL},
    {"sha2", AT_HWCAP, HWCAP_SHA1 | HWCAP_SHA2},
    {"crc", AT_HWCAP, HWCAP_CRC32},
    {"lse", AT_HWCAP, HWCAP_ATOMICS},
    {"rdm", AT_HWCAP, HWCAP_ASIMDRDM},
    {"fullfp16", AT_HWCAP, HWCAP_FPHP | HWCAP_ASIMDHP},
    {"fp16fml", AT_HWCAP, HWCAP_ASIMDFHM},
    {"jsconv", AT_HWCAP, HWCAP_JSCVT},
    {"complxnum", AT_HWCAP, HWCAP_FCMA},
    {"rcpc", AT_HWCAP, HWCAP_LRCPC},
    {"dotprod", AT_HWCAP, HWCAP_ASIMDDP},
    {"sve", AT_HWCAP, HWCAP_SVE},
    {"sve2", AT_HWCAP2, HWCAP2_SVE2},
    {"bf16", AT_HWCAP2, HWCAP2_BF16},
    {"i8mm", AT_HWCAP2, HWCAP2_I8MM},
};

bool hasCpuFeature(std::string_view name) {
  for (const Feature &f : features)
    if (f.name == name)
      return (getauxval(f.type) & f.bits) == f.bits;
  return false;
}

/// All that there is needs no request.
static bool requestTiles() { return false; }

#endif

Status requireInstructionSet(const InstructionSet &set) {
  if (set.architecture != hostArchitecture)
    return Diagnostic{Code::RUNTIME_5,
                      fmt::format("the code is for {}, but this machine is {}",
                                  nameOf(set.architecture), nameOf(hostArchitecture)),
                      {},
                      {},
                      "run it on such a machine, or compile for this one: --target=cpu, in Python "
                      "target=\"cpu\""};
  std::string missing;
  bool tiles = false;
  for (const std::string &name : set.features) {
    tiles |= name.starts_with("amx-");
    if (!hasCpuFeature(name))
      missing += (missing.empty() ? "" : ", ") + name;
  }
  if (missing.empty() && tiles && !requestTiles())
    missing = "amx-tile (the operating system refuses the tile registers)";
  if (missing.empty())
    return {};
  return Diagnostic{
      Code::RUNTIME_5,
      fmt::format("the artifact needs CPU features that this machine lacks: {}", missing),
      {},
      {},
      "compile the model on this machine, or for an older CPU"};
}

} // namespace tw::rt
