/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The device code of device.c and chain.c, as the tests' driver takes it. */
#include <stdint.h>

#define KERNEL __attribute__((visibility("default")))

/* t[i] = x[i] * w[i % 4], two elements a block: x, w, t, count */
KERNEL const uint32_t scale_arguments = 4;
KERNEL void scale(const uint64_t *a, uint32_t block) {
  const float *x = (const float *)a[0], *w = (const float *)a[1];
  float *t = (float *)a[2];
  for (uint64_t i = block * 2; i < block * 2 + 2 && i < a[3]; ++i)
    t[i] = x[i] * w[i % 4];
}

/* total[i] += t[i] and u[i] = t[i] + total[i] (the first four); new[i] = cache[i] + 1; t[0] must
 * not be negative: t, total, u, cache, new, failure, count */
KERNEL const uint32_t add_arguments = 7;
KERNEL void add(const uint64_t *a, uint32_t block) {
  const float *t = (const float *)a[0], *cache = (const float *)a[3];
  float *total = (float *)a[1], *u = (float *)a[2], *next = (float *)a[4];
  int64_t *failure = (int64_t *)a[5];
  for (uint64_t i = 0; i < 4; ++i)
    next[i] = cache[i] + 1;
  for (uint64_t i = 0; i < a[6]; ++i) {
    if (i < 4)
      total[i] += t[i];
    u[i] = t[i] + (i < 4 ? total[i] : 0);
  }
  if (a[6] > 0 && t[0] < 0 && failure[0] == 0) {
    failure[1] = (int64_t)t[0];
    failure[2] = (int64_t)a[6];
    failure[0] = 1;
  }
}

/* y[i] += amount, two elements a block: y, amount, count */
KERNEL const uint32_t shift_arguments = 3;
KERNEL void shift(const uint64_t *a, uint32_t block) {
  float *y = (float *)a[0];
  for (uint64_t i = block * 2; i < block * 2 + 2 && i < a[2]; ++i)
    y[i] += (float)(int64_t)a[1];
}

/* The same the other way. */
KERNEL const uint32_t shift_back_arguments = 3;
KERNEL void shift_back(const uint64_t *a, uint32_t block) {
  const uint64_t opposite[] = {a[0], -a[1], a[2]};
  shift(opposite, block);
}
