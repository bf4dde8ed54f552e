/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tilewright's C API: load a compiled program (an artifact, OUT.so), ask what it takes and gives,
 * and run it. docs/embedding.md walks through it; examples/embed has complete programs.
 *
 *   tw_program *program;
 *   tw_instance *instance;
 *   tw_status *status = tw_program_load("mlp.so", NULL, &program);
 *   if (!status) status = tw_instance_create(program, NULL, &instance);
 *   if (!status) status = tw_instance_run(instance, inputs, 1, NULL, 0);
 *   if (!status) show(tw_instance_output(instance, 0));
 *   if (status) { fputs(tw_status_text(status), stderr); tw_status_free(status); }
 *
 * Rules that hold everywhere:
 * - A function that can fail returns NULL for success, or a tw_status that the caller frees. On
 *   failure, out-parameters are set to NULL (handles) or left alone.
 * - Nothing throws, aborts or prints; there is no global state.
 * - `const char *` and `const ... *` results belong to the object they were asked of and live as
 *   long as it does.
 * - Tensors are contiguous and row-major. Memory aligned to TW_TENSOR_ALIGNMENT is used in place,
 *   other memory is copied. It is the host's, on every device, except where a function says so.
 * - A program may be used from several threads at once; an instance by one at a time.
 * - After fork() the child may use programs and instances that no call was using: an instance
 *   starts new threads there.
 * - An artifact is native code: load only what you trust.
 */
#ifndef TILEWRIGHT_TILEWRIGHT_H
#define TILEWRIGHT_TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

/* Enumerations have 32 bits, any value of which may come from a caller. */
#ifdef __cplusplus
#define TW_ENUM_BASE : int32_t
extern "C" {
#else
#define TW_ENUM_BASE
#endif

#define TW_TENSOR_ALIGNMENT 64

/* ---- Status ---------------------------------------------------------------------------------- */

/* An error. NULL is success. */
typedef struct tw_status tw_status;

/* The stable code, "TW-RUNTIME-0011"; docs/errors.md lists them. */
TW_API const char *tw_status_code(const tw_status *status);
/* One line: what is wrong, naming both values. */
TW_API const char *tw_status_message(const tw_status *status);
/* The whole text for people, several lines: code, message, place, notes, help. */
TW_API const char *tw_status_text(const tw_status *status);
/* The kind of failure: 1 wrong input, 2 wrong use, 3 unsupported, 4 internal. 0 for NULL. */
TW_API int32_t tw_status_category(const tw_status *status);
/* Frees a status; NULL is allowed. */
TW_API void tw_status_free(tw_status *status);

/* ---- What programs say about themselves ------------------------------------------------------ */

typedef enum tw_dtype TW_ENUM_BASE {
  TW_F16 = 0,
  TW_BF16,
  TW_F32,
  TW_F64,
  TW_I8,
  TW_I16,
  TW_I32,
  TW_I64,
  TW_U8,
  TW_BOOL /* one byte, 0 or 1 */
} tw_dtype;

/* "f32"; NULL when there is no such dtype. */
TW_API const char *tw_dtype_name(tw_dtype dtype);
/* Bytes of one element; 0 when there is no such dtype. */
TW_API int64_t tw_dtype_bytes(tw_dtype dtype);

typedef enum tw_kind TW_ENUM_BASE {
  TW_KIND_TENSOR = 0,
  TW_KIND_INT,   /* a scalar, rank 0, dtype TW_I64 */
  TW_KIND_FLOAT, /* a scalar, rank 0, dtype TW_F64 */
  TW_KIND_BOOL   /* a scalar, rank 0, dtype TW_BOOL */
} tw_kind;

/* An input, an output or a state tensor. */
typedef struct tw_value_info {
  const char *name;
  tw_kind kind;
  tw_dtype dtype;
  int32_t rank;
  const int64_t *sizes; /* `rank` of them; -1: dynamic */
  /* What each size is in the model's terms: "2", "s0", "s1*2"; "?" when only a run can tell. */
  const char *const *size_texts;
  const char *symbol; /* of a scalar input that is itself a symbol, else NULL */
  int64_t bytes;      /* -1: dynamic */
  int32_t trainable;  /* state only: a parameter that gradients refer to */
  int32_t mutated;    /* inputs: a run writes this input's new value back to its memory;
                         state: a run may change it */
} tw_value_info;

/* A result of the model that is the same whatever its inputs are, and neither a tensor nor a
 * number: Python's None, or a text. Runs do not hand it out; who gives results to a user puts it in
 * its place. */
typedef struct tw_fixed_output {
  const char *name;
  int32_t position; /* among all results, outputs and these; ascending */
  const char *text; /* UTF-8; NULL: None */
} tw_fixed_output;

/* A symbolic size and its range, both ends included; max is INT64_MAX when there is none. */
typedef struct tw_symbol_info {
  const char *name;
  int64_t min, max;
} tw_symbol_info;

/* One step of the program, as profiles show it. Empty strings where nothing is known. */
typedef struct tw_dispatch_info {
  const char *name;   /* "linear_relu" */
  const char *kernel; /* the function that runs; identical dispatches share one */
  const char *source; /* "net.py:12 in Net.forward, module fc1" */
  const char *ops;    /* what is fused in it */
  /* How its kernel is made ("contraction rows=6 columns=32"), and the type of most of its
   * arithmetic ("f32"). */
  const char *configuration, *arithmetic;
} tw_dispatch_info;

/* How much one call of a dispatch computes and moves; -1 where only a run tells. Floating-point
 * operations are two for each term of a product and one for each element of any other operation,
 * as the kernel does them; bytes count each element once, however often it is read. */
typedef struct tw_dispatch_work {
  int64_t flops;
  int64_t weight_bytes;  /* read, of constants of the model */
  int64_t read_bytes;    /* read, of other tensors */
  int64_t written_bytes; /* of results */
} tw_dispatch_work;

typedef struct tw_program_info {
  const char *model;
  const char *target;   /* "cpu", "reference", ... */
  const char *compiler; /* "tilewright 0.1.0" */
  int32_t is_static;    /* all sizes are known; memory is planned by the compiler */
  int32_t input_count, output_count, state_count, symbol_count, dispatch_count;
  int64_t weight_bytes;
  int64_t state_bytes; /* per instance */
  /* Planned peak of temporaries and the bound that no plan can beat; 0 for dynamic programs: ask
   * an instance after a run (tw_instance_memory). */
  int64_t arena_bytes, arena_bound_bytes;
  /* Of how many dispatches on a GPU the kernels check what they are given, such as indices:
   * failures that tw_instance_wait tells. 0 on the CPU, where a run tells them. */
  int32_t device_check_count;
  const char *key;   /* what its compiler was told that it is kept by; "": nothing */
  int32_t is_kernel; /* it is a call of one hand-written kernel, which is called `model` */
} tw_program_info;

/* ---- Programs -------------------------------------------------------------------------------- */

/* A loaded artifact: code, weights and metadata; immutable, shared by its instances. */
typedef struct tw_program tw_program;

typedef struct tw_load_options {
  size_t struct_size; /* sizeof(tw_load_options) */
  /* "cpu", "cuda" (the first GPU) or "cuda:N"; NULL: what the artifact was compiled for. */
  const char *device;
  /* Not 0: checks all weights against the artifact's hashes, which reads all of them (5 GB/s and
   * more from memory). */
  int32_t verify;
  /* Not 0: copies the weights to memory of the program. Else they are mapped from their file:
   * shared by all processes, read when they are touched, and gone when that file is changed in
   * place. */
  int32_t copy_weights;
} tw_load_options;

/* Loads an artifact. Code and metadata are checked against the hash that was made of them, and all
 * sizes against the file, before any code is mapped; the weights with options->verify. options may
 * be NULL. On a GPU the weights are copied to its memory, once for all instances. The program keeps
 * a copy of the code and one open descriptor, so the artifact may be replaced or removed meanwhile;
 * the file that holds the weights may be replaced by renaming another over it, or removed, but not
 * changed in place (unless options->copy_weights). Free with tw_program_free. */
TW_API tw_status *tw_program_load(const char *path, const tw_load_options *options,
                                  tw_program **program);
/* Drops the caller's handle; NULL is allowed. Instances keep what they need alive. */
TW_API void tw_program_free(tw_program *program);

TW_API const tw_program_info *tw_program_describe(const tw_program *program);
/* The device that it is loaded on: "cpu", "cuda:0". */
TW_API const char *tw_program_device(const tw_program *program);
/* These return NULL when the index is out of range. Outputs are those that a run hands out. */
TW_API const tw_value_info *tw_program_input(const tw_program *program, int32_t index);
TW_API const tw_value_info *tw_program_output(const tw_program *program, int32_t index);
TW_API const tw_fixed_output *tw_program_fixed_output(const tw_program *program, int32_t index);
TW_API const tw_value_info *tw_program_state(const tw_program *program, int32_t index);
TW_API const tw_symbol_info *tw_program_symbol(const tw_program *program, int32_t index);
TW_API const tw_dispatch_info *tw_program_dispatch(const tw_program *program, int32_t index);
/* The index of a name, or -1. */
TW_API int32_t tw_program_find_input(const tw_program *program, const char *name);
TW_API int32_t tw_program_find_output(const tw_program *program, const char *name);
TW_API int32_t tw_program_find_state(const tw_program *program, const char *name);

/* ---- Instances ------------------------------------------------------------------------------- */

/* A running program: its own state tensors, temporaries and threads. Several instances of one
 * program may run at the same time; one instance runs one call at a time (a second call at the
 * same time returns a status). */
typedef struct tw_instance tw_instance;

typedef enum tw_graphs TW_ENUM_BASE {
  TW_GRAPHS_AUTO = 0, /* calls of sizes that were seen before are launched as one CUDA graph */
  TW_GRAPHS_OFF       /* all work is launched piece by piece */
} tw_graphs;

typedef struct tw_instance_options {
  size_t struct_size; /* sizeof(tw_instance_options) */
  int32_t threads;    /* on the host; 0: as many as this process may use cores */
  int32_t unused;     /* not read */
  tw_graphs graphs;   /* on a GPU; on the CPU it has no effect */
} tw_instance_options;

/* Creates an instance with its state at the initial values. options may be NULL. Free with
 * tw_instance_free. */
TW_API tw_status *tw_instance_create(const tw_program *program, const tw_instance_options *options,
                                     tw_instance **instance);
/* Frees an instance that is not running; NULL is allowed. */
TW_API void tw_instance_free(tw_instance *instance);

/* A tensor or scalar handed to or got from a run. */
typedef struct tw_tensor {
  void *data;
  int64_t bytes; /* of the memory at data */
  tw_dtype dtype;
  int32_t rank;
  const int64_t *sizes; /* `rank` of them */
} tw_tensor;

/* The sizes that output `index` has for inputs of these sizes, without a run: to get its memory
 * ready. Of each input dtype, rank and sizes are read, of a scalar its data, too. Writes `rank`
 * numbers, which is tw_program_output(program, index)->rank, to `sizes`. Where inputs do not fit,
 * the status is that of a run. */
TW_API tw_status *tw_program_output_sizes(const tw_program *program, const tw_tensor *inputs,
                                          int32_t input_count, int32_t index, int64_t *sizes,
                                          int32_t rank);

/* What each dispatch computes and moves for inputs of these sizes, without a run: writes `count`
 * elements, which is the program's dispatch_count, to `work`. Of inputs the same is read as by
 * tw_program_output_sizes. */
TW_API tw_status *tw_program_work(const tw_program *program, const tw_tensor *inputs,
                                  int32_t input_count, tw_dispatch_work *work, int32_t count);

/* Runs the program once.
 * inputs: one per input in order; their memory is read during the call only, and written only where
 *   the program mutates an input. bytes must be at least what sizes and dtype need.
 * outputs: one per output in order, or NULL with output_count 0. Of each only data and bytes are
 *   read: the caller's memory to write the result to, or NULL for memory of the instance.
 * tw_instance_output then says where each result is and how large it became.
 * After a failure the contents of outputs are unspecified; state is as before the call unless the
 * program had begun to run (an assertion of the model in the middle of it). */
TW_API tw_status *tw_instance_run(tw_instance *instance, const tw_tensor *inputs,
                                  int32_t input_count, const tw_tensor *outputs,
                                  int32_t output_count);

/* Asked once for each output, in order, when its sizes are known and before it is computed: memory
 * for output number `output`, of which `tensor` says dtype, sizes and bytes (its data is NULL).
 * What is returned must hold as many bytes and live until the run returns; memory aligned to
 * TW_TENSOR_ALIGNMENT is written directly. NULL ends the run with a status, unless bytes is 0. It
 * must not call into the instance. */
typedef void *(*tw_allocate_callback)(void *user, int32_t output, const tw_tensor *tensor);
/* As tw_instance_run, with outputs in memory that the caller allocates when it is told their sizes,
 * which for dynamic programs only a run can tell. */
TW_API tw_status *tw_instance_run_allocating(tw_instance *instance, const tw_tensor *inputs,
                                             int32_t input_count, tw_allocate_callback allocate,
                                             void *user);

/* On a GPU: as tw_instance_run and tw_instance_run_allocating, with tensors in the memory of the
 * instance's device (scalars stay on the host), and without waiting: all work is put on `stream`, a
 * CUstream of the device's primary context (NULL: its default stream), and results are valid in the
 * order of that stream. A call comes after the instance's last one, whatever stream that was on.
 * Inputs must stay as they are until it has been done, and outputs in memory of the instance are
 * valid until the work of its next call begins. Failures that only the device sees, such as an
 * index out of bounds, are those of tw_instance_wait. On the CPU nothing can be enqueued.
 * `stream` may be captured to a graph of the caller's: then nothing may have to wait or to allocate
 * memory (call the program once with these sizes before), and keeping launches of that graph in
 * order with other calls is the caller's part. */
TW_API tw_status *tw_instance_enqueue(tw_instance *instance, void *stream, const tw_tensor *inputs,
                                      int32_t input_count, const tw_tensor *outputs,
                                      int32_t output_count);
TW_API tw_status *tw_instance_enqueue_allocating(tw_instance *instance, void *stream,
                                                 const tw_tensor *inputs, int32_t input_count,
                                                 tw_allocate_callback allocate, void *user);
/* Waits until all that was enqueued has been done. The status is the first failure in it since the
 * last wait or run. */
TW_API tw_status *tw_instance_wait(tw_instance *instance);

/* An output of the last successful run; its sizes, and its data where the caller gave none, belong
 * to the instance and are valid until its next run. NULL before the first run, after a failed one,
 * and when the index is out of range. */
TW_API const tw_tensor *tw_instance_output(const tw_instance *instance, int32_t index);

/* State by name: read into, or written from, `bytes` bytes of the caller's memory, exactly the
 * tensor's size; and set back to the initial values (name NULL: all of it). */
TW_API tw_status *tw_instance_state_get(tw_instance *instance, const char *name, void *data,
                                        int64_t bytes);
TW_API tw_status *tw_instance_state_set(tw_instance *instance, const char *name, const void *data,
                                        int64_t bytes);
TW_API tw_status *tw_instance_state_reset(tw_instance *instance, const char *name);

TW_API int32_t tw_instance_threads(const tw_instance *instance);

typedef struct tw_memory_info {
  int64_t arena_bytes;       /* planned peak of temporaries in the last run */
  int64_t arena_bound_bytes; /* what no plan for that run could beat */
  int64_t reserved_bytes;    /* held by the instance: arena, its own outputs, copies, state */
} tw_memory_info;
TW_API tw_memory_info tw_instance_memory(const tw_instance *instance);

/* How the calls of an instance have come to a GPU; all 0 on the CPU. */
typedef struct tw_graph_info {
  int64_t calls;                /* since the instance was created */
  int64_t graph_calls;          /* of these, as one launch of a CUDA graph */
  int64_t entries;              /* calls for which the program's host code ran */
  int64_t graphs_made, changes; /* graphs, and pieces of work changed in them */
  int32_t graphs;               /* that there are now */
  /* Why the last call was launched piece by piece, empty when it was a graph; valid until the
   * instance's next call. */
  const char *reason;
} tw_graph_info;
TW_API tw_graph_info tw_instance_graphs(const tw_instance *instance);

/* ---- Cancelling ------------------------------------------------------------------------------ */

/* Asked about every 50 ms between the dispatches of a run in main memory, and in loops that end
 * when a value says so (torch's while_loop) on any device; on the thread that called run. Not 0:
 * the call ends with the error TW-SYSTEM-0007. There are no results then, and the state and the
 * inputs that the program writes may have been written; the instance runs again. It must not call
 * into the instance. */
typedef int32_t (*tw_cancel_callback)(void *user);
/* Sets the callback of the following runs; NULL removes it. */
TW_API tw_status *tw_instance_set_cancel(tw_instance *instance, tw_cancel_callback is_cancelled,
                                         void *user);

/* ---- Tracing --------------------------------------------------------------------------------- */

/* Called after each dispatch, on the thread that called run; times in ns of a monotonic clock. On a
 * GPU it is called for all of them when the work of the call is done, which enqueuing then waits
 * for. It must not call into the instance. */
typedef void (*tw_trace_callback)(void *user, int32_t dispatch, int64_t begin_ns, int64_t end_ns);
/* Sets the callback of the following runs; NULL removes it. */
TW_API tw_status *tw_instance_set_trace(tw_instance *instance, tw_trace_callback callback,
                                        void *user);

/* What the built-in recorder has seen of one dispatch since it was started. */
typedef struct tw_dispatch_times {
  int64_t calls, total_ns, min_ns, max_ns;
} tw_dispatch_times;
/* Starts the recorder from zero (on != 0) or stops it, keeping what it saw. */
TW_API tw_status *tw_instance_record(tw_instance *instance, int32_t on);
/* All zero when the dispatch never ran or the index is out of range. */
TW_API tw_dispatch_times tw_instance_recorded(const tw_instance *instance, int32_t dispatch);

#ifdef __cplusplus
}
#endif
#endif
