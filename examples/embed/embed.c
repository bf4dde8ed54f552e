/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Loads an artifact, says what it takes and gives, and runs it on inputs filled with 0, 1, 2, ...
 *
 *   embed_c OUT.so [SIZE]        SIZE stands for every dynamic size, 8 if not given */
#include "tilewright/tilewright.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program on an error; a server would answer its client instead. */
static void check(tw_status *status) {
  if (!status)
    return;
  fputs(tw_status_text(status), stderr);
  int category = tw_status_category(status);
  tw_status_free(status);
  exit(category);
}

static void print_value(const char *role, const tw_value_info *value) {
  printf("%s %s: %s[", role, value->name, tw_dtype_name(value->dtype));
  for (int32_t d = 0; d < value->rank; ++d)
    printf("%s%s", d ? ", " : "", value->size_texts[d]);
  printf("]\n");
}

/* Memory for one input, filled with 0, 1, 2, ... in the types that most models take, else with
 * zeros. The caller frees data and sizes. */
static tw_tensor make_input(const tw_value_info *value, int64_t dynamic_size) {
  int64_t *sizes = malloc((value->rank + 1) * sizeof *sizes), count = 1;
  for (int32_t d = 0; d < value->rank; ++d) {
    sizes[d] = value->sizes[d] < 0 ? dynamic_size : value->sizes[d];
    count *= sizes[d];
  }
  int64_t bytes = count * tw_dtype_bytes(value->dtype);
  /* Aligned memory is read in place. */
  void *data = aligned_alloc(TW_TENSOR_ALIGNMENT, (bytes / TW_TENSOR_ALIGNMENT + 1) * 64);
  for (int64_t i = 0; i < bytes; ++i)
    ((uint8_t *)data)[i] = 0;
  for (int64_t i = 0; i < count; ++i)
    if (value->dtype == TW_F32)
      ((float *)data)[i] = (float)i;
    else if (value->kind == TW_KIND_INT)
      ((int64_t *)data)[i] = dynamic_size;
  return (tw_tensor){data, bytes, value->dtype, value->rank, sizes};
}

static void print_result(const tw_value_info *value, const tw_tensor *result) {
  printf("%s: %s[", value->name, tw_dtype_name(result->dtype));
  for (int32_t d = 0; d < result->rank; ++d)
    printf("%s%" PRId64, d ? ", " : "", result->sizes[d]);
  printf("] =");
  int64_t count = result->bytes / tw_dtype_bytes(result->dtype);
  for (int64_t i = 0; i < count && i < 8; ++i)
    if (result->dtype == TW_F32)
      printf(" %g", ((const float *)result->data)[i]);
    else if (result->dtype == TW_I64)
      printf(" %" PRId64, ((const int64_t *)result->data)[i]);
  printf(count > 8 ? " ...\n" : "\n");
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s OUT.so [SIZE]\n", argv[0]);
    return 2;
  }
  int64_t dynamic_size = argc > 2 ? atoll(argv[2]) : 8;

  tw_program *program;
  check(tw_program_load(argv[1], NULL, &program));
  const tw_program_info *info = tw_program_describe(program);
  tw_tensor *inputs = calloc(info->input_count + 1, sizeof *inputs);
  for (int32_t i = 0; i < info->input_count; ++i) {
    print_value("input", tw_program_input(program, i));
    inputs[i] = make_input(tw_program_input(program, i), dynamic_size);
  }
  for (int32_t i = 0; i < info->output_count; ++i)
    print_value("output", tw_program_output(program, i));

  tw_instance *instance;
  check(tw_instance_create(program, NULL, &instance));
  check(tw_instance_run(instance, inputs, info->input_count, NULL, 0));
  for (int32_t i = 0; i < info->output_count; ++i)
    print_result(tw_program_output(program, i), tw_instance_output(instance, i));

  for (int32_t i = 0; i < info->input_count; ++i) {
    free(inputs[i].data);
    free((void *)inputs[i].sizes);
  }
  free(inputs);
  tw_instance_free(instance);
  tw_program_free(program);
  return 0;
}
