/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * For artifacts written by hand: TW_METADATA("x.json") puts the file into the metadata section;
 * `seal` completes it. */
#include "runtime/ProgramABI.h"

#define TW_METADATA(file)                                                                          \
  __asm__(".pushsection .tilewright,\"\",@progbits\n"                                              \
          ".ascii \"TWPROG02\"\n"                                                                  \
          ".quad 2f - 1f, 0, 0\n"                                                                  \
          "1: .incbin \"" file "\"\n"                                                              \
          "2: .popsection\n")

#define TW_EXPORT __attribute__((visibility("default")))
