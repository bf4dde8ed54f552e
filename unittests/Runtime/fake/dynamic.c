/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A dynamic program: x is [s0, 3], n = s1 is at least 0.
 *   a = 2 * x (through each worker's workspace);  b = a;  y = b + z[0], [s0, 3];
 *   rows = n, n+1, ..., s0 + n of them, through a third temporary.
 * It asserts that n is not 13. */
#include "Artifact.h"
TW_METADATA("dynamic.json");

static float *temporary(const tw_call *call, int i) {
  return (float *)(call->arena + call->buffer_offsets[i]);
}

static void twice(void *closure, int64_t begin, int64_t end, int64_t worker) {
  const tw_call *call = closure;
  const float *x = call->inputs[0];
  float *scratch = (float *)(call->workspace + worker * 64), *a = temporary(call, 0);
  for (int64_t i = begin; i < end; ++i) {
    for (int j = 0; j < 3; ++j)
      scratch[j] = x[i * 3 + j];
    for (int j = 0; j < 3; ++j)
      a[i * 3 + j] = scratch[j] * 2;
  }
}

static void sizes(const tw_call *call, int64_t s0, int64_t s1) {
  call->output_sizes[0][0] = s0;
  call->output_sizes[0][1] = 3;
  call->output_sizes[1][0] = s0 + s1;
  call->buffer_sizes[0] = call->buffer_sizes[1] = s0 * 12;
  call->buffer_sizes[2] = (s0 + s1) * 8;
  *call->workspace_bytes = 64;
}

TW_EXPORT int32_t tilewright_program(const tw_call *call) {
  int64_t s0 = call->input_sizes[0][0], s1 = *(const int64_t *)call->inputs[2];
  if (call->phase == TW_PHASE_SIZES) {
    sizes(call, s0, s1);
    return 0;
  }
  if (s1 == 13) {
    call->callbacks->fail(call->runtime, "n is %lld, but rows are %lld", s1, s0);
    return 1;
  }
  call->callbacks->parallel_for(call->runtime, twice, (void *)call, s0, 1);
  const float *a = temporary(call, 0), *z = call->inputs[1];
  float *b = temporary(call, 1), *y = call->outputs[0];
  int64_t *r = (int64_t *)temporary(call, 2), *rows = call->outputs[1];
  for (int64_t i = 0; i < s0 * 3; ++i)
    b[i] = a[i];
  for (int64_t i = 0; i < s0 + s1; ++i)
    r[i] = s1 + i;
  for (int64_t i = 0; i < s0 * 3; ++i)
    y[i] = b[i] + z[0];
  for (int64_t i = 0; i < s0 + s1; ++i)
    rows[i] = r[i];
  return 0;
}
