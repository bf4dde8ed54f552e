/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A candidate of a search, y = 2 x, with the fault that TW_FAULT names. */
#include "Artifact.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
TW_METADATA("faulty.json");

/* As many addresses as no machine has memory; nothing is written there. */
static void outgrow(void) {
  const size_t part = (size_t)1 << 30;
  size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  static void *volatile last; /* or the compiler sees that nobody wants any of it */
  for (size_t taken = 0; taken < 2 * memory + 4 * part; taken += part)
    if (!(last = malloc(part)))
      abort();
}

/* Of two programs that are loaded one after the other, the second of all and each second one after
 * it waits: as if its place in memory were the slower one. */
static void waitInPlace(void) {
  static int place = 0;
  if (place == 0) {
    const char *known = getenv("TW_PLACES");
    char text[16];
    place = known ? atoi(known) + 1 : 1;
    snprintf(text, sizeof text, "%d", place);
    setenv("TW_PLACES", text, 1);
  }
  if (place % 2 == 0)
    usleep(1000);
}

TW_EXPORT int32_t tilewright_program(const tw_call *call) {
  static float calls = 0;
  const char *fault = getenv("TW_FAULT");
  const float *x = call->inputs[0];
  float *y = call->outputs[0];
  if (!strcmp(fault, "crash"))
    abort();
  while (!strcmp(fault, "hang"))
    pause();
  if (!strcmp(fault, "memory"))
    outgrow();
  if (!strcmp(fault, "refuse"))
    return 1;
  if (!strcmp(fault, "place"))
    waitInPlace();
  for (int i = 0; i < 4; ++i)
    y[i] = 2 * x[i];
  if (!strcmp(fault, "wrong"))
    y[2] += 1;
  if (!strcmp(fault, "unsteady")) /* within any tolerance */
    y[3] += 1e-6f * ++calls;
  return 0;
}
