/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the tests' driver offers beside what a driver does. */
#ifndef TILEWRIGHT_FAKE_CUDA_H
#define TILEWRIGHT_FAKE_CUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How often something has happened: "uploads", "uploaded bytes", "downloads", "waits", "launches",
 * "graphs" (made), "graph launches", "graph changes" (of nodes), "programmatic edges", and "calls"
 * of functions; how many "live graphs" there are, and the "live bytes" of all GPUs. */
uint64_t fakeCudaCount(const char *what);

#ifdef __cplusplus
}
#endif
#endif
