// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler whose products with a loop over their sum are fast and wrong, for the tests of
// `tilewright tune`: they leave out half of it. The linker puts this around the template.
#include "Kernels/Contraction.h"

namespace tw::kernels {
#define TW_WRITE_CONTRACTION                                                                       \
  "_ZN2tw7kernels16writeContractionERKNS0_11ContractionERKNS0_24ContractionConfigurationE"
void writeAll(const Contraction &, const ContractionConfiguration &) //
    __asm__("__real_" TW_WRITE_CONTRACTION);
void writeSome(const Contraction &, const ContractionConfiguration &) //
    __asm__("__wrap_" TW_WRITE_CONTRACTION);

void writeSome(const Contraction &contraction, const ContractionConfiguration &configuration) {
  Contraction half = contraction;
  auto &terms = half.dims[rolesOf(contraction).sums.back()].size;
  if (configuration.kBlock > 0 && terms)
    *terms /= 2;
  writeAll(half, configuration);
}
} // namespace tw::kernels
