/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program for a GPU: x is [s0]; the kernels are those of deviceImage.c.
 *   t = x * w;  total += t;  u = t + total;  cache += 1;   on the device
 *   v = u * w;                                             on the host
 *   y = v;  big = y[0] > limit;  if big: y = 0 */
#include "Artifact.h"
TW_METADATA("device.json");
__asm__(".pushsection .tilewright.device,\"\",@progbits\n"
        ".incbin \"deviceImage.so\"\n"
        ".org 16384\n"
        ".popsection\n");

enum { SCALE, ADD };

static void *temporary(const tw_call *call, int i) { return call->arena + call->buffer_offsets[i]; }

static void trace(const tw_call *call, int dispatch, int begin) {
  if (call->callbacks->trace)
    call->callbacks->trace(call->runtime, dispatch, begin, 0, 0);
}

/* What a target emits beside a kernel. */
static void launchOver(tw_launch *launch, int64_t blocks, const uint64_t *arguments, int count) {
  *launch = (tw_launch){{(uint32_t)blocks, 1, 1}, {32, 1, 1}, {0, 0, 0}, 0, 0, count, arguments};
}

static void multiply(void **buffers, int64_t *scalars, uint8_t *workspace, int64_t begin,
                     int64_t end) {
  const float *u = buffers[0], *w = buffers[1];
  float *v = buffers[2];
  int64_t *failure = buffers[3];
  for (int64_t i = begin; i < end; ++i) {
    v[i] = u[i] * w[i % 4];
    if (u[i] == 1000) {
      failure[1] = i;
      failure[2] = scalars[0];
      failure[0] = 2;
    }
  }
}

static int multiplyOnHost(const tw_call *call, int64_t count) {
  void *buffers[] = {temporary(call, 1), (void *)call->weights, temporary(call, 2)};
  int64_t bytes[] = {count * 4, 16, count * 4}, scalars[] = {count};
  tw_host_dispatch dispatch = {multiply, 0, buffers, bytes, 3, 1, 1, scalars, count, 1, 64};
  return call->callbacks->on_host(call->runtime, &dispatch);
}

static int run(const tw_call *call, int64_t count) {
  const tw_callbacks *c = call->callbacks;
  void *runtime = call->runtime, *y = call->outputs[0];
  tw_launch launch;
  uint64_t scale[] = {(uint64_t)call->inputs[0], (uint64_t)call->weights,
                      (uint64_t)temporary(call, 0), (uint64_t)count};
  uint64_t add[] = {scale[2],
                    (uint64_t)call->state[0],
                    (uint64_t)temporary(call, 1),
                    (uint64_t)call->inputs[1],
                    (uint64_t)call->outputs[1],
                    (uint64_t)call->failures,
                    (uint64_t)count};
  trace(call, 0, 1);
  launchOver(&launch, (count + 1) / 2, scale, 4);
  if (c->launch(runtime, SCALE, &launch))
    return 1;
  trace(call, 0, 0);
  trace(call, 1, 1);
  launchOver(&launch, 1, add, 7);
  if (c->launch(runtime, ADD, &launch))
    return 1;
  trace(call, 1, 0);
  trace(call, 2, 1);
  if (multiplyOnHost(call, count))
    return 1;
  trace(call, 2, 0);
  float first = 0;
  if (c->copy(runtime, y, temporary(call, 2), count * 4) ||
      (count > 0 && c->read(runtime, &first, y, 4)))
    return 1;
  int big = first > *(const double *)call->inputs[2];
  *(uint8_t *)call->outputs[2] = (uint8_t)big;
  return big && c->fill(runtime, y, 0, 4, count);
}

TW_EXPORT int32_t tilewright_program(const tw_call *call) {
  int64_t count = call->input_sizes[0][0];
  if (call->abi != TW_DEVICE_ABI)
    return 1;
  if (call->phase == TW_PHASE_RUN)
    return run(call, count);
  call->output_sizes[0][0] = count;
  call->output_sizes[1][0] = 4;
  for (int i = 0; i < 3; ++i)
    call->buffer_sizes[i] = count * 4;
  return 0;
}
