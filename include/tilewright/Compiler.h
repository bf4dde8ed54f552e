/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The compiler as a library: libtilewright-compiler.so exports exactly these C functions. Programs
 * that only run artifacts do not need it (see tilewright.h); the command-line tool loads it with
 * dlopen when it must compile.
 *
 * All strings are UTF-8 and NUL-terminated. Strings given to a callback are valid only during that
 * callback. No function throws, exits or prints: what there is to say goes to the sink. Functions
 * may be called from several threads at once; the callbacks of one call come one at a time, on any
 * thread, but for is_cancelled. fork() waits until each other thread that compiles is between two
 * parts of its work, or in a callback: the child may compile, too.
 */
#ifndef TILEWRIGHT_COMPILER_H
#define TILEWRIGHT_COMPILER_H

#include "tilewright/tilewright.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(TILEWRIGHT_COMPILER_BUILD)
#define TILEWRIGHT_COMPILER_API __attribute__((visibility("default")))
#else
#define TILEWRIGHT_COMPILER_API
#endif

/* Grows with every incompatible change of this header; see tilewright_compiler_api_version. */
#define TILEWRIGHT_COMPILER_API_VERSION 12

/* What a call ended with; also the exit status of the command-line tool. */
typedef enum tilewright_outcome {
  TILEWRIGHT_FINE = 0,
  TILEWRIGHT_WRONG_INPUT = 1,
  TILEWRIGHT_USAGE = 2,
  TILEWRIGHT_UNSUPPORTED = 3,
  TILEWRIGHT_INTERNAL = 4,
  TILEWRIGHT_RESULTS_DIFFER = 5
} tilewright_outcome;

/* Where the library says what it has to say. Any callback may be NULL. */
typedef struct tilewright_sink {
  size_t struct_size; /* sizeof(tilewright_sink) of the caller */
  /* One error or warning, complete and formatted ("error[TW-...]: ...", several lines, ends with a
   * newline). `outcome` is what it means for the call; TILEWRIGHT_FINE for a warning or remark. */
  void (*diagnostic)(void *user, const char *text, tilewright_outcome outcome);
  /* What the call was asked for: the text of inspect, or one JSON object where json was asked. With
   * options.report of tilewright_compile: what fused and why. May come in several pieces. */
  void (*report)(void *user, const char *text);
  /* With options.time_report: one JSON object, once:
   * {"total_ms": 812.5, "stages": [{"name": "import", "ms": 3.1, "children": [...]}, ...]}. */
  void (*time_report)(void *user, const char *json);
  /* Now working on `stage` ("import", "lower", "codegen k12 linear_relu"); `fraction` of the whole
   * call is done, or is negative when not known. Cheap, may come often. */
  void (*progress)(void *user, const char *stage, double fraction);
  /* Asked about every 50 ms, on the thread that makes the call, while other callbacks may come on
   * another one. Not 0: the call ends soon, with the error TW-SYSTEM-0007. */
  int (*is_cancelled)(void *user);
} tilewright_sink;

/* A parameter, buffer or constant of a model in memory. `data` and `bytes` are its whole storage:
 * sizes, strides and the offset in it are those that the graph says of it. It is read during the
 * call only. */
typedef struct tilewright_weight {
  const char *name; /* as the program's signature calls it */
  const void *data;
  int64_t bytes;
  /* Not 0: only calls give it, and data and bytes are not read. The graph must say that it is
   * row-major, and tilewright_compile_options have a preparation. */
  int is_given_by_calls;
} tilewright_weight;

/* A model in memory: an exported program as JSON, the text of models/NAME.json in a .pt2 archive.
 */
typedef struct tilewright_memory_model {
  const char *name; /* for messages, and the artifact's; required */
  const char *json;
  size_t json_bytes;
  const tilewright_weight *weights;
  size_t weight_count;
} tilewright_memory_model;

/* Hand-written kernels as text of the tile dialect; `name` stands for it in messages. */
typedef struct tilewright_kernel_text {
  const char *name, *text;
} tilewright_kernel_text;

/* What to compile and how. Zero-initialise, set struct_size, then what you need: zero and NULL are
 * the defaults. The strings stay the caller's and are read only during the call. */
typedef struct tilewright_compile_options {
  size_t struct_size; /* sizeof(tilewright_compile_options) of the caller */
  const char *model;  /* path of a .pt2 or .mlir file; required unless memory or kernel is given */
  const char *output; /* path of the artifact to write; required unless a descriptor is given */
  const char *target; /* "cpu" (default) or "reference" */
  const char *entry;  /* name of the model in an archive that holds several; default the only one */
  const char *weights;   /* "auto" (default: embedded below 1 GiB), "embedded", "external" */
  const char *precision; /* of products of f32: "f32" (default), "bf16": operands are rounded to
                            bf16, or "tf32": to a mantissa of 10 bits, for targets that have it */
  const char *dump_to;   /* folder that gets the IR after every stage, and the kernels; created when
                            missing */
  int report;            /* 1: give the text of what fused and why to sink->report, 2: as JSON */
  int time_report;       /* not 0: give sink->time_report */
  /* kernel_count paths of hand-written kernels that the model may call: .mlir, a kernel library
   * (.so) or its source (.cpp). What a .so or .cpp holds is executed. */
  const char *const *kernels;
  size_t kernel_count;
  /* More kernels, of the same standing. */
  const tilewright_kernel_text *kernel_texts;
  size_t kernel_text_count;
  /* The model, instead of a path. What is computed from its weights stays in memory; the artifact
   * holds them. */
  const tilewright_memory_model *memory;
  /* An open, empty, readable file to write the artifact to, instead of a path; 0 is none. Weights
   * are embedded. One of memfd_create is loaded as "/proc/self/fd/N", and must then stay open as
   * long as the program. */
  int output_descriptor;
  /* Path of a JSON file with configurations of kernels, in the form of the report as JSON
   * (docs/configurations.md): those of dispatches that the model has are used instead of the
   * compiler's choice, and parameters of hand-written kernels instead of their defaults. NULL: all
   * are chosen. */
  const char *configurations;
  /* Where the preparation goes, an artifact of its own, as output and output_descriptor say where
   * the program goes: what is computed from the weights that calls give alone, packing among it. It
   * takes such weights, by their names, and gives tensors called "prepared.0", "prepared.1", ...
   * The program takes, behind the model's inputs, the weights that it reads as they are, by their
   * names, and all of these tensors, by theirs; they are its to read until a weight changes. */
  const char *preparation;
  int preparation_descriptor;
  /* Instead of a model: the name of one of the kernels. The artifact calls it: its inputs are the
   * kernel's arguments but for the outputs, in order and by their names; a buffer that the kernel
   * reads and writes is an input that it mutates. */
  const char *kernel;
  /* written_count paths of files that the caller will write when this call is done: refused if they
   * are read for it, as the headers are that kernels in C++ include. */
  const char *const *written;
  size_t written_count;
  /* Not 0: the metadata says which values of the model's graph the results of dispatches are, for
   * `tilewright check`. The code is the same. */
  int values;
  /* tuning_spec_count paths of tuning specs (docs/tuning.md): the first that matches a kernel gives
   * its configuration, unless `configurations` do. */
  const char *const *tuning_specs;
  size_t tuning_spec_count;
  /* Not NULL: an artifact that was compiled before, from the same model with the same options by
   * the same build of this library, is copied from the cache on disk (docs/cache.md), and others
   * are kept there. Says which it was: TILEWRIGHT_CACHE_*. */
  int *cache;
  /* Not 0: kernels that replace one of the model's own (docs/kernel-source.md) are left out, for
   * what the model with them is compared with. Else they are refused where the target makes no
   * kernels that they could replace. */
  int unedited;
  /* What the caller will find the artifact by. Its metadata says so, which tells a file that has
   * come under another's name (tw_program_info.key); a preparation's is this with ".prepare" added.
   * NULL: none. */
  const char *key;
} tilewright_compile_options;

/* What a call has made of the cache. */
enum {
  TILEWRIGHT_CACHE_UNUSED =
      0,                     /* a report, times or a folder to dump to are wanted, or kernels given,
                                or the model is in memory, or there is no path for the output */
  TILEWRIGHT_CACHE_KEPT = 1, /* compiled, and kept */
  TILEWRIGHT_CACHE_FOUND = 2, /* copied */
  TILEWRIGHT_CACHE_LEFT = 3   /* compiled; what cannot be kept, or takes more than 1 GiB, is not */
};

/* Compiles a model to an artifact. Every error has been given to sink->diagnostic when this returns
 * something other than TILEWRIGHT_FINE; then no output file is left behind. `user` is handed to the
 * callbacks. */
TILEWRIGHT_COMPILER_API tilewright_outcome tilewright_compile(
    const tilewright_compile_options *options, const tilewright_sink *sink, void *user);

/* The configurations that kernels of a model may have, for those who search them. */
typedef struct tilewright_space_options {
  size_t struct_size;                        /* sizeof(tilewright_space_options) of the caller */
  const tilewright_compile_options *compile; /* the model, and how it is compiled; no output */
  const char *format;  /* "text" (default), "json", "smtlib" (SMT-LIB 2.6); "decisions":
                        * instead, as "decisions" of a compilation's report */
  const char *kernel;  /* only the kernel of this name, as the report of a compilation has it */
  int64_t count_most;  /* legal points are counted up to so many; 0: they are not */
  int64_t points_most; /* json: so many points to try, the cheapest first by the target's model */
  int64_t samples;     /* of them, so many at most that a solver draws from the whole space */
  uint64_t seed;       /* of these */
  /* json: not some points but all, of each kernel that has no more than so many; 0: some */
  int64_t enumerate_most;
  double cost_within; /* of all only those that cost at most so many times the least; 0: any */
  /* knob_count names of knobs that have other values than they have now; 0: all of them */
  const char *const *knobs;
  size_t knob_count;
  /* The call that spaces are for: they are those of the variants that it takes (0: as if for any).
   * Of sized_kernel_count kernels the size that variants are told apart by. */
  int64_t workers;
  int adds_for_workers; /* not 0: kernels get variants for so many, if they may, and keep all others
                         */
  const char *const *sized_kernels;
  const int64_t *sizes;
  size_t sized_kernel_count;
} tilewright_space_options;

/* Gives the spaces of all kernels to sink->report: knobs with the values worth trying, constraints
 * over them, where the kernel is now (docs/tuning.md has the JSON). Nothing is compiled, and no
 * file written. */
TILEWRIGHT_COMPILER_API tilewright_outcome tilewright_configuration_spaces(
    const tilewright_space_options *options, const tilewright_sink *sink, void *user);

/* Makes one tuning spec of several (docs/tuning.md). */
typedef struct tilewright_link_options {
  size_t struct_size; /* sizeof(tilewright_link_options) of the caller */
  /* tuning_spec_count paths, one at least, all for the same kind of target. */
  const char *const *tuning_specs;
  size_t tuning_spec_count;
} tilewright_link_options;

/* Gives sink->report the text of a spec that does what the others do one after the other: of two
 * matchers that match a kernel, the one of the spec that is given first decides. */
TILEWRIGHT_COMPILER_API tilewright_outcome tilewright_link_tuning_specs(
    const tilewright_link_options *options, const tilewright_sink *sink, void *user);

/* Describes a model without reading its weights. */
typedef struct tilewright_inspect_options {
  size_t struct_size;   /* sizeof(tilewright_inspect_options) of the caller */
  const char *model;    /* path of a .pt2 or .mlir file; required unless memory is given */
  const char *entry;    /* as in tilewright_compile_options */
  int unsupported_only; /* not 0: only the operators that cannot be compiled, with their places */
  int json;             /* not 0: one JSON object instead of text */
  const char *const *kernels; /* as in tilewright_compile_options: their operators are supported */
  size_t kernel_count;
  const tilewright_kernel_text *kernel_texts;
  size_t kernel_text_count;
  const tilewright_memory_model *memory; /* its weights may be left out */
} tilewright_inspect_options;

/* Gives the description to sink->report. JSON:
 *   {"model": "mlp", "format": "pt2", "torch": "2.13.0", "schema": "8.20",
 *    "inputs": [...], "outputs": [...], "state": [...], "symbols": [...]   as in docs/artifact.md,
 *    "operators": [{"name": "aten.linear.default", "count": 3, "supported": true}],
 *    "unsupported": [{"name": "aten.x", "places": ["model.pt2: node x (#4), from ..."],
 *                     "nodes": [{"node": "x", "index": 4, "reason": "..."}]}]}
 * "nodes" has an entry for each place; node is "" and index -1 where a model has no nodes, and the
 * reason "" of an operator that is only missing.
 * With unsupported_only, only "model" and "unsupported" are given. Finding unsupported operators is
 * an answer, not a failure: the outcome is TILEWRIGHT_FINE. */
TILEWRIGHT_COMPILER_API tilewright_outcome tilewright_inspect_model(
    const tilewright_inspect_options *options, const tilewright_sink *sink, void *user);

/* A hand-written kernel, read and verified (docs/tile-programs.md). For one thread at a time. */
typedef struct tilewright_kernel tilewright_kernel;

typedef struct tilewright_kernel_options {
  size_t struct_size; /* sizeof(tilewright_kernel_options) of the caller */
  const char *path;   /* a .mlir file, a kernel library (.so) or its source (.cpp). What a .so or
                         .cpp holds is executed. */
  const char *text;   /* instead of a file: text of the tile dialect */
  const char *kernel; /* its name, where there are several */
  /* setting_count texts NAME=VALUE: symbols that become numbers, and parameters of kernels given as
   * C++ or library. */
  const char *const *settings;
  size_t setting_count;
  /* Path of a JSON file as in tilewright_compile_options: its parameters of this kernel, where no
   * setting says otherwise; NULL is none. */
  const char *configurations;
  /* As in tilewright_compile_options. */
  const char *const *written;
  size_t written_count;
} tilewright_kernel_options;

/* Opens a kernel; on TILEWRIGHT_FINE *kernel is the caller's, to be closed. */
TILEWRIGHT_COMPILER_API tilewright_outcome
tilewright_kernel_open(const tilewright_kernel_options *options, const tilewright_sink *sink,
                       void *user, tilewright_kernel **kernel);
TILEWRIGHT_COMPILER_API void tilewright_kernel_close(tilewright_kernel *kernel);

/* An argument: its name, dtype, and type as people read it ("f32[M, N]"). An input is given by a
 * call, an output comes of it; an inout buffer is both. The strings live as long as the kernel. */
typedef struct tilewright_kernel_argument {
  const char *name;
  const char *type;
  tw_dtype dtype;
  int is_input, is_output;
} tilewright_kernel_argument;

/* The arguments in the order of the text; NULL beyond the last. */
TILEWRIGHT_COMPILER_API const tilewright_kernel_argument *
tilewright_kernel_get_argument(const tilewright_kernel *kernel, size_t index);

/* Gives the kernel's text, simplified, to sink->report. */
TILEWRIGHT_COMPILER_API tilewright_outcome tilewright_kernel_print(tilewright_kernel *kernel,
                                                                   const tilewright_sink *sink,
                                                                   void *user);

/* Gives to sink->report what becomes of the kernel on the way to code for `target` ("cpu", or NULL,
 * or "cpu:NAME"): level "loops", "llvm" or "assembly"; or as "source", C++ in the kernel language.
 * For people: nothing of it is fixed. */
TILEWRIGHT_COMPILER_API tilewright_outcome tilewright_kernel_print_code(tilewright_kernel *kernel,
                                                                        const char *level,
                                                                        const char *target,
                                                                        const tilewright_sink *sink,
                                                                        void *user);

/* How a kernel is run: by the interpreter, or compiled. */
typedef struct tilewright_kernel_run_options {
  size_t struct_size;      /* sizeof(tilewright_kernel_run_options) of the caller */
  const tw_tensor *inputs; /* one for each input in order; a scalar has rank 0 */
  size_t input_count;
  /* "interpreter" (or NULL), or "cpu": compiled for this machine, or as for the CPU of "cpu:NAME".
   * With `check`, "cpu" means both, and that the results are compared. */
  const char *target;
  int f64;            /* not 0: the interpreter rounds nothing, and float outputs are f64 */
  int check;          /* not 0: report what programs do that they must not */
  int json;           /* not 0: to sink->report {"findings": [...], "notes": [...]}; if results were
                         compared, with {"output", "same", "elements", "mismatches", ...} of each as
                         "comparisons" */
  int64_t operations; /* the interpreter gives up after so many; 0: the default */
  double rtol, atol;  /* allowed between the interpreter's and the compiled results; negative: the
                         defaults for the dtype */
  int threads;        /* of the compiled kernel; 0: all that this process may use */
  int64_t repeat;     /* how many more calls of the compiled kernel to time */
} tilewright_kernel_run_options;

/* Runs the kernel. Findings, and with `check` outputs that differ, are given to sink->diagnostic;
 * then the outcome is TILEWRIGHT_RESULTS_DIFFER, and there are outputs all the same, with `check`
 * the interpreter's. Whether results differ is only asked where nothing was found; that the target
 * does not take the kernel is then a remark. */
TILEWRIGHT_COMPILER_API tilewright_outcome
tilewright_kernel_run(tilewright_kernel *kernel, const tilewright_kernel_run_options *options,
                      const tilewright_sink *sink, void *user);

/* An output of the last run, in order; it is the kernel's, until the next run. NULL beyond the last
 * and after a run that failed. */
TILEWRIGHT_COMPILER_API const tw_tensor *
tilewright_kernel_get_output(const tilewright_kernel *kernel, size_t index);

/* How long the index-th timed call of the last run took, in us; negative beyond the last. */
TILEWRIGHT_COMPILER_API double tilewright_kernel_get_time(const tilewright_kernel *kernel,
                                                          size_t index);

/* "tilewright 0.1.0 (LLVM 22.1.8)"; never NULL, static. */
TILEWRIGHT_COMPILER_API const char *tilewright_compiler_version(void);

/* TILEWRIGHT_COMPILER_API_VERSION of the library; callers refuse another one than theirs. */
TILEWRIGHT_COMPILER_API int tilewright_compiler_api_version(void);

#ifdef __cplusplus
}
#endif
#endif
