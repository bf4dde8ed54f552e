// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tilewright/Compiler.h"

extern "C" const char *tilewright_compiler_version(void) {
  return "tilewright " TW_VERSION " (LLVM " TW_LLVM_VERSION ")";
}

extern "C" int tilewright_compiler_api_version(void) { return TILEWRIGHT_COMPILER_API_VERSION; }
