/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program that contradicts its metadata in the way its input selects. */
#include "Artifact.h"
TW_METADATA("liar.json");

TW_EXPORT int32_t tilewright_program(const tw_call *call) {
  int64_t lie = *(const int64_t *)call->inputs[0];
  if (call->phase == TW_PHASE_RUN)
    return lie == 1;
  call->output_sizes[0][0] = lie == 2 ? -5 : lie == 3 ? (int64_t)1 << 61 : 2;
  if (lie != 4)
    call->output_sizes[0][1] = lie == 5 ? 4 : 3;
  call->buffer_sizes[0] = lie == 6 ? -8 : lie == 7 ? (int64_t)1 << 62 : 64;
  *call->workspace_bytes = lie == 8 ? -64 : lie == 9 ? 63 : lie == 10 ? (int64_t)1 << 62 : 0;
  return lie == 11;
}
