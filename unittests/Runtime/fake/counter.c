/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A static program with state, weights, a temporary and a mutated input:
 *   t = x * weights;  total += x;  y = t + total;  cache += 1;  count += 1 */
#include "Artifact.h"
TW_METADATA("counter.json");

static void mul(void *closure, int64_t begin, int64_t end, int64_t worker) {
  const tw_call *call = closure;
  const float *x = call->inputs[0], *w = (const float *)call->weights;
  for (int64_t i = begin; i < end; ++i)
    ((float *)call->arena)[i] = x[i] * w[i];
}

static void add(const tw_call *call) {
  const float *x = call->inputs[0], *cache = call->inputs[1], *t = (const float *)call->arena;
  int64_t *count = call->state[0];
  float *total = call->state[1], *y = call->outputs[0], *newCache = call->outputs[1];
  for (int i = 0; i < 4; ++i) {
    total[i] += x[i];
    y[i] = t[i] + total[i];
    newCache[i] = cache[i] + 1;
  }
  *(int64_t *)call->outputs[2] = ++*count;
}

TW_EXPORT int32_t tilewright_program(const tw_call *call) {
  const tw_callbacks *callbacks = call->callbacks;
  if (call->phase != TW_PHASE_RUN || call->buffer_offsets)
    return 1;
  if (callbacks->trace)
    callbacks->trace(call->runtime, 0, 1, 0, 0);
  callbacks->parallel_for(call->runtime, mul, (void *)call, 4, 1);
  if (callbacks->trace) {
    callbacks->trace(call->runtime, 0, 0, 0, 0);
    callbacks->trace(call->runtime, 1, 1, 0, 0);
  }
  add(call);
  if (callbacks->trace)
    callbacks->trace(call->runtime, 1, 0, 0, 0);
  return 0;
}
