/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a compiled program and the runtime say to each other. Private to Tilewright: users include
 * tilewright/tilewright.h. The compiler (lib/Program) emits code against these structures, the
 * runtime fills them in; both sides include this file. What programs of an ABI use never changes:
 * a new one appends, and the runtime reads programs of all.
 *
 * An artifact OUT.so exports exactly one symbol, `tilewright_program`, of type tw_program_entry,
 * and has no DT_NEEDED on Tilewright. It carries its metadata (JSON, docs/artifact.md) in the ELF
 * section `.tilewright`, and its weights as a payload that starts at a page boundary after the ELF
 * image, or in the file OUT.so.weights beside it.
 *
 * One call: the runtime checks the inputs against the metadata (dtype, rank, static sizes, equal
 * symbols), calls the entry with phase = TW_PHASE_SIZES, places what it is told, allocates outputs,
 * and calls it again with phase = TW_PHASE_RUN. For a program whose metadata says it is static,
 * the first phase is skipped: sizes and offsets are in the metadata.
 */
#ifndef TILEWRIGHT_PROGRAM_ABI_H
#define TILEWRIGHT_PROGRAM_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_FIRST_ABI 2  /* of programs for the CPU that never ask whether they are cancelled */
#define TW_DEVICE_ABI 3 /* of programs for other devices: theirs is what is marked with it */
#define TW_CPU_ABI 5    /* of programs for the CPU */
#define TW_PROGRAM_SYMBOL "tilewright_program"
#define TW_METADATA_SECTION ".tilewright"
#define TW_DEVICE_SECTION ".tilewright.device" /* images of device code */
#define TW_ALIGNMENT 64                        /* of every buffer, arena offset and weight */

/* A parallel loop body: does the iterations [begin, end). Never fails, never blocks. `worker` is in
 * [0, workers of the call) and no two bodies that run at the same time share it: it selects the
 * body's part of the workspace. */
typedef void (*tw_loop_body)(void *closure, int64_t begin, int64_t end, int64_t worker);

/* Between a failure's message and its place. */
#define TW_FAILURE_PLACE "\n  --> "

/* How a kernel of the device code is launched (TW_DEVICE_ABI). Arguments have 64 bits each: device
 * addresses, integers, floats as the bits of a double. */
enum {
  TW_LAUNCH_OVERLAPS = 1, /* may start before its predecessor ends, for which it waits */
  TW_LAUNCH_HAS_MAPS = 2  /* maps and map_count are there */
};
/* Elements; TF32: floats of 32 bits, which TMA rounds to a mantissa of 10 bits. BYTE: any of one.
 */
enum { TW_MAP_F16 = 0, TW_MAP_BF16 = 1, TW_MAP_TF32 = 2, TW_MAP_F32 = 3, TW_MAP_BYTE = 4 };
/* How a box of a tensor comes to shared memory, or from there: what cuTensorMapEncodeTiled takes.
 * Dimensions are innermost first; what is outside reads as 0 and is not written. */
typedef struct tw_tensor_map {
  uint64_t address; /* on the device, a multiple of 16 */
  uint64_t rank;    /* 1 to 5 */
  uint64_t element; /* TW_MAP_* */
  uint64_t swizzle; /* bytes of a row whose pieces change places: 32, 64, 128; 0: none do */
  uint64_t sizes[5];
  uint64_t strides[5]; /* in bytes; the first is an element's size */
  uint64_t box[5];     /* elements of the box */
} tw_tensor_map;
typedef struct tw_launch {
  uint32_t grid[3], block[3];
  uint32_t cluster[3]; /* blocks; 0: none */
  uint32_t shared_bytes;
  uint32_t flags; /* TW_LAUNCH_* */
  uint32_t argument_count;
  const uint64_t *arguments;
  /* With TW_LAUNCH_HAS_MAPS: what the kernel gets behind its arguments, 128 bytes each. */
  const tw_tensor_map *maps;
  uint32_t map_count, reserved;
} tw_launch;

/* A kernel that runs on the host between copies (TW_DEVICE_ABI); it is called as in a program for
 * the CPU (docs/contracts.md, "Target level"). */
typedef struct tw_host_dispatch {
  void (*kernel)(void **buffers, int64_t *scalars, uint8_t *workspace, int64_t begin, int64_t end);
  void (*fill)(void **buffers, int64_t *scalars); /* or NULL */
  /* Device addresses and sizes of the tensors, of which the last result_count are written. */
  void *const *buffers;
  const int64_t *bytes;
  int32_t buffer_count, result_count;
  /* Behind the tensors the kernel gets one more buffer, a record of its failure; -1: it does not.
   * Else the number of the record in the metadata, as of a kernel on the device. */
  int32_t failure;
  int64_t *scalars;
  int64_t iterations, grain, workspace_bytes;
} tw_host_dispatch;

/* What a program may ask of the runtime. */
typedef struct tw_callbacks {
  /* Runs body over [0, count) in pieces of at least `grain` iterations on the instance's threads,
   * and returns when all are done. */
  void (*parallel_for)(void *runtime, tw_loop_body body, void *closure, int64_t count,
                       int64_t grain);
  /* Records the user's error: `message` is the program's own string (UTF-8, NUL-terminated), with
   * up to two %lld filled from a and b; behind TW_FAILURE_PLACE it may say where in the model's
   * source that is. The program then returns 1 at once. */
  void (*fail)(void *runtime, const char *message, int64_t a, int64_t b);
  /* Around each dispatch when `trace` is not NULL: begin = 1 or 0, the dispatch's index in the
   * metadata, and what its kernel is called with. */
  void (*trace)(void *runtime, int32_t dispatch, int32_t begin, void *const *buffers,
                const int64_t *scalars);
  /* The rest is of TW_DEVICE_ABI. All of it is done in the order of the calls, and none waits
   * unless it says so. Returns 0, or 1 when the program must return 1 at once. */
  /* Kernel number `kernel` of the metadata. */
  int32_t (*launch)(void *runtime, int32_t kernel, const tw_launch *launch);
  /* From device memory to device memory. */
  int32_t (*copy)(void *runtime, void *to, const void *from, int64_t bytes);
  /* `pattern`, of 1, 2 or 4 bytes, `count` times to device memory. */
  int32_t (*fill)(void *runtime, void *to, uint32_t pattern, int32_t bytes, int64_t count);
  /* From device memory to the host's; waits, and finds failures of what came before. */
  int32_t (*read)(void *runtime, void *to, const void *from, int64_t bytes);
  /* Waits, and is done when it returns but for the copies to the device. */
  int32_t (*on_host)(void *runtime, const tw_host_dispatch *dispatch);
  /* Of the CPU's ABI 4: called before each dispatch but the first, and in each trip of a loop.
   * Returns 1 when the call is cancelled, and the program must return 1 at once. */
  int32_t (*check_cancelled)(void *runtime);
} tw_callbacks;

enum { TW_PHASE_SIZES = 0, TW_PHASE_RUN = 1 };

/* One call. All arrays are indexed as in the metadata; the runtime owns all memory. */
typedef struct tw_call {
  uint32_t abi;   /* the program's */
  uint32_t phase; /* TW_PHASE_* */
  void *runtime;  /* handed back to the callbacks */
  const tw_callbacks *callbacks;
  /* Inputs in order of the metadata's "inputs". A tensor: its data, contiguous row-major. A scalar
   * (kind "int", "float", "bool"): points to an int64_t, double or uint8_t. */
  const void *const *inputs;
  /* Sizes of each input tensor: input_sizes[i][d]. */
  const int64_t *const *input_sizes;
  /* Phase RUN: where to write each output (TW_ALIGNMENT-aligned, contiguous). */
  void *const *outputs;
  /* Phase SIZES fills output_sizes[i][d] of every output. */
  int64_t *const *output_sizes;
  /* State tensors, in order of the metadata's "state": read at the start, may be written. */
  void *const *state;
  const uint8_t *weights; /* base of the payload */
  /* Temporaries. Phase SIZES fills buffer_sizes[j] (bytes) for each of the metadata's "buffers";
   * phase RUN reads buffer_offsets[j], relative to arena. NULL offsets in a static program. */
  uint8_t *arena;
  int64_t *buffer_sizes;
  const int64_t *buffer_offsets;
  /* Scratch of parallel kernels: worker w has the bytes at workspace + w * (the need of one
   * worker), a multiple of TW_ALIGNMENT: the metadata's "workspace_bytes", or in a dynamic program
   * what phase SIZES stores to *workspace_bytes. The runtime provides that many bytes for each
   * worker; the program itself multiplies. */
  uint8_t *workspace;
  int64_t *workspace_bytes;
  /* TW_DEVICE_ABI: the address, on the device, of the failure records, int64_t[3] each, in the
   * order of the metadata's. Tensors, state, weights and arena are on the device, too; scalars are
   * not. */
  int64_t *failures;
  /* Of the CPU's ABI 5: how many workers parallel_for has, the calling thread included. Results do
   * not depend on it. */
  int64_t workers;
} tw_call;

/* Returns 0, or 1 after callbacks->fail. */
typedef int32_t (*tw_program_entry)(const tw_call *call);

#ifdef __cplusplus
}
#endif
#endif
