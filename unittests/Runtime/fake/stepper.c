/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A static program that writes an input where it is: p -= g, from the last element to the first,
 * and a g that is p would be seen half written. */
#include "Artifact.h"
TW_METADATA("stepper.json");

TW_EXPORT int32_t tilewright_program(const tw_call *call) {
  const float *p = call->inputs[0], *g = call->inputs[1];
  float *next = call->outputs[0];
  if (call->phase != TW_PHASE_RUN || next != p)
    return 1; /* the runtime gives both one memory */
  for (int i = 3; i >= 0; --i)
    next[i] = p[i] - g[3 - i];
  *(double *)call->outputs[1] = next[0];
  return 0;
}
