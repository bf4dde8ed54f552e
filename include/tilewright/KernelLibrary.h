/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a kernel library (a shared library of kernels written with tilewright/Kernel.h) exports: one
 * function, tilewright_kernel_library, which libtilewright_kernel.a brings along. Its table lists
 * the kernels and traces them: to text in the tile dialect, or to an error in the author's words.
 *
 *   const tw_kernel_library *library = ((tw_kernel_library_entry *)dlsym(handle,
 *                                       TW_KERNEL_LIBRARY_ENTRY))();
 *   const tw_kernel_trace *trace = library->trace("gemm", bindings, 2);
 *   if (trace && trace->text) parse(trace->text);
 *   library->free_trace(trace);
 *
 * Rules that hold everywhere:
 * - Nothing throws, aborts or prints. NULL where a pointer is due means that memory ran out.
 * - What a function returns belongs to the caller until given to the matching free function of the
 *   same library; strings in it live as long. NULL may be freed.
 * - All functions may be called from several threads at once.
 * - A kernel library is native code: load only what you trust.
 */
#ifndef TILEWRIGHT_KERNELLIBRARY_H
#define TILEWRIGHT_KERNELLIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these structures. A library of another version is refused. */
#define TW_KERNEL_LIBRARY_VERSION 1
#define TW_KERNEL_LIBRARY_ENTRY "tilewright_kernel_library"

/* A value for a parameter or a symbol. */
typedef struct tw_kernel_binding {
  const char *name;
  int64_t value;
} tw_kernel_binding;

/* A number of a kernel's configuration, with the value that it has unless bound. */
typedef struct tw_kernel_parameter {
  const char *name;
  int64_t default_value;
} tw_kernel_parameter;

typedef struct tw_kernel_description {
  const char *name;
  const char *doc;                       /* "" if the author gave none */
  const tw_kernel_parameter *parameters; /* those that tracing without bindings asks for */
  size_t parameter_count;
  const char *file; /* where the kernel is defined, as its compiler was told */
  uint32_t line;
  uint32_t column;
} tw_kernel_description;

typedef struct tw_kernel_list {
  const tw_kernel_description *kernels; /* by name */
  size_t count;
} tw_kernel_list;

/* Either text, or error and what follows. */
typedef struct tw_kernel_trace {
  const char *text;  /* a tile.kernel; NULL on an error */
  const char *error; /* one line: what is wrong; NULL if nothing is */
  const char *help;  /* what to do; "" if there is nothing to say */
  const char *file;  /* where in the author's source */
  uint32_t line;
  uint32_t column;
} tw_kernel_trace;

typedef struct tw_kernel_library {
  uint32_t version; /* TW_KERNEL_LIBRARY_VERSION; always the first member */
  const tw_kernel_list *(*list)(void);
  void (*free_list)(const tw_kernel_list *list);
  /* Traces a kernel. Symbols that are bound become numbers (a specialised kernel); parameters that
   * are not bound have their defaults. A name that the kernel does not have is an error. */
  const tw_kernel_trace *(*trace)(const char *name, const tw_kernel_binding *bindings,
                                  size_t count);
  void (*free_trace)(const tw_kernel_trace *trace);
} tw_kernel_library;

typedef const tw_kernel_library *tw_kernel_library_entry(void);

/* The entry. The table lives as long as the library is loaded. */
const tw_kernel_library *tilewright_kernel_library(void);

#ifdef __cplusplus
}
#endif

#endif /* TILEWRIGHT_KERNELLIBRARY_H */
