/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program for a GPU that waits only if `amount` is negative; x is [s0], the kernels are those of
 * deviceImage.c.
 *   t = x * w;  total += t;  steps += 1;  v = t + total;  if twice: v = v * w
 *   v += amount, and from 100 on: v -= amount
 *   y = v;  mark = [amount, amount];  calls = how often this entry has run */
#include "Artifact.h"
TW_METADATA("chain.json");
__asm__(".pushsection .tilewright.device,\"\",@progbits\n"
        ".incbin \"deviceImage.so\"\n"
        ".org 16384\n"
        ".popsection\n");

enum { SCALE, ADD, SHIFT, SHIFT_BACK };

static uint64_t temporary(const tw_call *call, int i) {
  return (uint64_t)(call->arena + call->buffer_offsets[i]);
}

static int launch(const tw_call *call, int kernel, int64_t blocks, const uint64_t *arguments,
                  int count, int flags) {
  tw_launch launch = {{(uint32_t)blocks, 1, 1}, {32, 1, 1}, {0, 0, 0}, 0,
                      (uint32_t)flags,          count,      arguments};
  return call->callbacks->launch(call->runtime, kernel, &launch);
}

static int run(const tw_call *call, uint64_t count) {
  const tw_callbacks *c = call->callbacks;
  uint64_t w = (uint64_t)call->weights, steps = (uint64_t)call->state[1];
  uint64_t t = temporary(call, 0), u = temporary(call, 1), v = temporary(call, 2);
  int64_t amount = *(const int64_t *)call->inputs[1], blocks = (int64_t)(count + 1) / 2;
  uint64_t scale[] = {(uint64_t)call->inputs[0], w, t, count}, again[] = {v, w, v, count};
  uint64_t shift[] = {v, (uint64_t)amount, count};
  uint64_t add[] = {t, (uint64_t)call->state[0], u, steps, steps, (uint64_t)call->failures, count};
  union {
    float number;
    uint32_t bits;
  } mark = {(float)amount};
  if (launch(call, SCALE, blocks, scale, 4, 0) ||
      launch(call, ADD, 1, add, 7, TW_LAUNCH_OVERLAPS) ||
      c->copy(call->runtime, (void *)v, (void *)u, (int64_t)count * 4))
    return 1;
  float first;
  if (amount < 0 && c->read(call->runtime, &first, (const void *)v, 4))
    return 1;
  if (*(const uint8_t *)call->inputs[2] &&
      launch(call, SCALE, blocks, again, 4, TW_LAUNCH_OVERLAPS))
    return 1;
  return launch(call, amount < 100 ? SHIFT : SHIFT_BACK, blocks, shift, 3, TW_LAUNCH_OVERLAPS) ||
         c->copy(call->runtime, call->outputs[0], (void *)v, (int64_t)count * 4) ||
         c->fill(call->runtime, call->outputs[1], mark.bits, 4, 2);
}

TW_EXPORT int32_t tilewright_program(const tw_call *call) {
  static int64_t calls = 0;
  int64_t count = call->input_sizes[0][0];
  if (call->phase == TW_PHASE_RUN) {
    *(int64_t *)call->outputs[2] = ++calls;
    return run(call, (uint64_t)count);
  }
  call->output_sizes[0][0] = count;
  call->output_sizes[1][0] = 2;
  for (int i = 0; i < 3; ++i)
    call->buffer_sizes[i] = count * 4;
  return 0;
}
