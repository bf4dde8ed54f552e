/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a call of an artifact takes: the fastest tenth and the median, in us. Of a program with next
 * to nothing to do that is what a call costs beside the work (docs/performance.md).
 *
 *   bench_call OUT.so [SECONDS [THREADS]]        2 seconds and one thread if not given
 *
 * Inputs are zeros, and dynamic sizes 8; results are in memory of the instance. Calls are timed by
 * the hundred, for reading the clock takes a good part of one. */
#include "tilewright/tilewright.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 100, MOST_SAMPLES = 1 << 20 };

static void check(tw_status *status) {
  if (!status)
    return;
  fputs(tw_status_text(status), stderr);
  exit(tw_status_category(status));
}

/* 0 if the text is no number. */
static double number(const char *text) {
  char *end;
  double value = strtod(text, &end);
  return *end ? 0 : value;
}

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

/* Aligned, so that it is read in place; it lives as long as the process. */
static tw_tensor zeros(const tw_value_info *value) {
  const int64_t dynamic_size = 8;
  int64_t *sizes = malloc(((size_t)value->rank + 1) * sizeof *sizes), bytes;
  bytes = tw_dtype_bytes(value->dtype);
  for (int32_t d = 0; d < value->rank; ++d) {
    sizes[d] = value->sizes[d] < 0 ? dynamic_size : value->sizes[d];
    bytes *= sizes[d];
  }
  size_t reserved = ((size_t)bytes / TW_TENSOR_ALIGNMENT + 1) * TW_TENSOR_ALIGNMENT;
  char *data = aligned_alloc(TW_TENSOR_ALIGNMENT, reserved);
  for (size_t i = 0; i < reserved; ++i)
    data[i] = 0;
  return (tw_tensor){data, bytes, value->dtype, value->rank, sizes};
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  double seconds = argc > 2 ? number(argv[2]) : 2;
  int threads = argc > 3 ? (int)number(argv[3]) : 1;
  if (argc < 2 || seconds <= 0 || threads < 1) {
    fprintf(stderr, "usage: %s OUT.so [SECONDS [THREADS]], both positive\n", argv[0]);
    return 2;
  }
  tw_program *program;
  tw_instance *instance;
  check(tw_program_load(argv[1], NULL, &program));
  tw_instance_options options = {.struct_size = sizeof options, .threads = threads};
  check(tw_instance_create(program, &options, &instance));
  int32_t count = tw_program_describe(program)->input_count;
  tw_tensor *inputs = calloc((size_t)count + 1, sizeof *inputs);
  for (int32_t i = 0; i < count; ++i)
    inputs[i] = zeros(tw_program_input(program, i));

  double *samples = malloc(MOST_SAMPLES * sizeof *samples);
  double end = microseconds() + 1e6 * seconds, now = 0;
  size_t taken = 0;
  check(tw_instance_run(instance, inputs, count, NULL, 0));
  do {
    double begin = microseconds();
    for (int i = 0; i < CALLS; ++i)
      check(tw_instance_run(instance, inputs, count, NULL, 0));
    now = microseconds();
    samples[taken++] = (now - begin) / CALLS;
  } while (now < end && taken < MOST_SAMPLES);
  qsort(samples, taken, sizeof *samples, by_size);
  printf("%" PRId32 " inputs, %d threads: %.3f us, median %.3f (%zu calls)\n", count,
         tw_instance_threads(instance), samples[taken / 10], samples[taken / 2], taken * CALLS);
  tw_instance_free(instance);
  tw_program_free(program);
  return 0;
}
