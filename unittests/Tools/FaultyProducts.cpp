// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler that does not survive some configurations of products, for the tests of `tilewright
// tune`: with 3 rows it crashes, with 5 it hangs and with 7 it takes more memory than there is; or
// with 3 its disk is full, where FULL_DISK is set. The linker puts this around the template.
#include "Kernels/Contraction.h"
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace tw::kernels {
#define TW_WRITE_CONTRACTION                                                                       \
  "_ZN2tw7kernels16writeContractionERKNS0_11ContractionERKNS0_24ContractionConfigurationE"
void writeRight(const Contraction &, const ContractionConfiguration &) //
    __asm__("__real_" TW_WRITE_CONTRACTION);
void writeOrFail(const Contraction &, const ContractionConfiguration &) //
    __asm__("__wrap_" TW_WRITE_CONTRACTION);

namespace {

void crash() {
  if (!std::getenv("FULL_DISK"))
    abort();
  // What the compiler says still fits, and no artifact does.
  rlimit few = {4096, 4096};
  setrlimit(RLIMIT_FSIZE, &few);
}

/// Until a signal ends the process; HANGING names a file that is there from then on.
void hang() {
  if (const char *sign = std::getenv("HANGING"))
    if (std::FILE *file = std::fopen(sign, "w"))
      std::fclose(file);
  while (true)
    pause();
}

/// As many addresses as no machine has memory; nothing is written there.
void outgrow() {
  constexpr size_t part = size_t(1) << 30;
  size_t memory = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
  static void *volatile last; // or the compiler sees that nobody wants any of it
  for (size_t taken = 0; taken < 2 * memory + 4 * part; taken += part)
    last = ::operator new(part);
}

} // namespace

void writeOrFail(const Contraction &contraction, const ContractionConfiguration &configuration) {
  constexpr std::pair<int64_t, void (*)()> faults[] = {{3, crash}, {5, hang}, {7, outgrow}};
  for (auto [rows, fail] : faults)
    if (configuration.rows == rows)
      fail();
  writeRight(contraction, configuration);
}
} // namespace tw::kernels
