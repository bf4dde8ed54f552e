/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A static program with a loop that may be cancelled in each of its trips. */
#include "Artifact.h"
TW_METADATA("endless.json");

TW_EXPORT int32_t tilewright_program(const tw_call *call) {
  int64_t trips = *(const int64_t *)call->inputs[0];
  for (int64_t i = 0; i < trips; ++i)
    if (call->callbacks->check_cancelled(call->runtime))
      return 1;
  *(int64_t *)call->outputs[0] = trips;
  return 0;
}
