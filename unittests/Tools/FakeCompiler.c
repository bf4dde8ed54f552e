/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Stands in for libtilewright-compiler.so where the tool itself is tested: the "model" is a text
 * whose first line says what happens. "artifact PATH" copies that file to the output. */
#define TILEWRIGHT_COMPILER_BUILD
#include "tilewright/Compiler.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tilewright_outcome copy(const char *from, const char *to) {
  char command[4096];
  snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
  return system(command) ? TILEWRIGHT_INTERNAL : TILEWRIGHT_FINE;
}

static void readLine(const char *path, char *line, int size) {
  FILE *file = fopen(path, "r");
  line[0] = '\0';
  if (file && !fgets(line, size, file))
    line[0] = '\0';
  if (file)
    fclose(file);
  line[strcspn(line, "\n")] = '\0';
}

/* As many addresses as no machine has memory, as C++ asks for them; nothing is written there. */
void *_Znwm(size_t bytes);
static void outgrow(void) {
  const size_t part = (size_t)1 << 30;
  size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  static void *volatile last; /* or the compiler sees that nobody wants any of it */
  for (size_t taken = 0; taken < 2 * memory + 4 * part; taken += part)
    last = _Znwm(part);
}

tilewright_outcome tilewright_compile(const tilewright_compile_options *options,
                                      const tilewright_sink *sink, void *user) {
  char line[2048], text[2048];
  readLine(options->model, line, sizeof line);
  if (!strcmp(line, "crash"))
    abort();
  if (!strcmp(line, "exit"))
    _exit(0);
  while (!strcmp(line, "hang"))
    pause();
  if (!strcmp(line, "outgrow"))
    outgrow();
  if (!strcmp(line, "full")) {
    snprintf(text, sizeof text, "error[TW-SYSTEM-0003]: the disk is full\n");
    sink->diagnostic(user, text, TILEWRIGHT_WRONG_INPUT);
    return TILEWRIGHT_WRONG_INPUT;
  }
  if (strncmp(line, "artifact ", 9)) {
    snprintf(text, sizeof text, "error[TW-IMPORT-0001]: %s: unsupported: %s\n", options->model,
             line);
    sink->diagnostic(user, text, TILEWRIGHT_UNSUPPORTED);
    return TILEWRIGHT_UNSUPPORTED;
  }
  sink->progress(user, "copying", 0.5);
  if (options->report)
    sink->report(user, options->report == 2 ? "{\"fused\": 1}" : "fused 1\n");
  if (options->time_report)
    sink->time_report(user, "{\"total_ms\": 8, \"stages\": [{\"name\": \"import\", \"ms\": 2}, "
                            "{\"name\": \"code\", \"ms\": 6, \"children\": "
                            "[{\"name\": \"k0\", \"ms\": 4}]}]}");
  sink->diagnostic(user, options->target ? options->target : "the default target", 0);
  sink->diagnostic(user, "\n", 0);
  return copy(line + 9, options->output);
}

tilewright_outcome tilewright_inspect_model(const tilewright_inspect_options *options,
                                            const tilewright_sink *sink, void *user) {
  sink->report(user, options->json ? "{\"model\": \"m\"}" : "model m");
  sink->report(user, options->unsupported_only ? "\nunsupported\n" : "\n");
  return TILEWRIGHT_FINE;
}

tilewright_outcome tilewright_configuration_spaces(const tilewright_space_options *options,
                                                   const tilewright_sink *sink, void *user) {
  return TILEWRIGHT_UNSUPPORTED;
}

tilewright_outcome tilewright_link_tuning_specs(const tilewright_link_options *options,
                                                const tilewright_sink *sink, void *user) {
  return TILEWRIGHT_UNSUPPORTED;
}

const char *tilewright_compiler_version(void) { return "fake 1.2"; }
int tilewright_compiler_api_version(void) { return TILEWRIGHT_COMPILER_API_VERSION; }

tilewright_outcome tilewright_kernel_open(const tilewright_kernel_options *options,
                                          const tilewright_sink *sink, void *user,
                                          tilewright_kernel **kernel) {
  sink->diagnostic(user, "no kernels here\n", TILEWRIGHT_UNSUPPORTED);
  return TILEWRIGHT_UNSUPPORTED;
}

void tilewright_kernel_close(tilewright_kernel *kernel) {}

const tilewright_kernel_argument *tilewright_kernel_get_argument(const tilewright_kernel *kernel,
                                                                 size_t index) {
  return NULL;
}

tilewright_outcome tilewright_kernel_print(tilewright_kernel *kernel, const tilewright_sink *sink,
                                           void *user) {
  return TILEWRIGHT_INTERNAL;
}

tilewright_outcome tilewright_kernel_run(tilewright_kernel *kernel,
                                         const tilewright_kernel_run_options *options,
                                         const tilewright_sink *sink, void *user) {
  return TILEWRIGHT_INTERNAL;
}

const tw_tensor *tilewright_kernel_get_output(const tilewright_kernel *kernel, size_t index) {
  return NULL;
}

tilewright_outcome tilewright_kernel_print_code(tilewright_kernel *kernel, const char *level,
                                                const char *target, const tilewright_sink *sink,
                                                void *user) {
  return TILEWRIGHT_INTERNAL;
}

double tilewright_kernel_get_time(const tilewright_kernel *kernel, size_t index) { return -1; }
