/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of the CUDA driver's interface that Tilewright uses: types, constants and functions of
 * libcuda.so.1, which is stable across driver versions (NVIDIA, "CUDA Driver API"). Declared here
 * so that nothing of CUDA is needed to build. The tests' driver includes it, too. */
#ifndef TILEWRIGHT_CUDA_API_H
#define TILEWRIGHT_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t cu_result;
typedef int32_t cu_device;
typedef uint64_t cu_address; /* in a device's memory */
typedef struct cu_context_s *cu_context;
typedef struct cu_module_s *cu_module;
typedef struct cu_function_s *cu_function;
typedef struct cu_stream_s *cu_stream;
typedef struct cu_event_s *cu_event;
typedef struct cu_graph_s *cu_graph;
typedef struct cu_graph_exec_s *cu_graph_exec; /* what is launched of it */
typedef struct cu_node_s *cu_node;             /* of a graph */

enum {
  CU_SUCCESS = 0,
  CU_ERROR_INVALID_VALUE = 1,
  CU_ERROR_OUT_OF_MEMORY = 2,
  CU_ERROR_NOT_INITIALIZED = 3,
  CU_ERROR_DEINITIALIZED = 4,
  CU_ERROR_NO_DEVICE = 100,
  CU_ERROR_INVALID_DEVICE = 101,
  CU_ERROR_INVALID_IMAGE = 200,
  CU_ERROR_NO_BINARY_FOR_GPU = 209,
  CU_ERROR_ECC_UNCORRECTABLE = 214,
  CU_ERROR_NVLINK_UNCORRECTABLE = 220,
  CU_ERROR_INVALID_HANDLE = 400,
  CU_ERROR_NOT_FOUND = 500,
  CU_ERROR_NOT_READY = 600,
  CU_ERROR_ILLEGAL_ADDRESS = 700,
  CU_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CU_ERROR_LAUNCH_TIMEOUT = 702,
  CU_ERROR_CONTEXT_IS_DESTROYED = 709,
  CU_ERROR_LAUNCH_FAILED = 719, /* 710 to 719 are faults of kernels */
  CU_ERROR_CAPTURE_UNSUPPORTED = 900,
  CU_ERROR_CAPTURE_INVALIDATED = 901,
  CU_ERROR_CAPTURE_ISOLATION = 905,
  CU_ERROR_CAPTURE_IMPLICIT = 906
};

enum {
  CU_DEVICE_ATTRIBUTE_SHARED_PER_BLOCK_OPTIN = 97, /* bytes */
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSORS = 16,
  CU_DEVICE_ATTRIBUTE_MAJOR = 75, /* of the compute capability */
  CU_DEVICE_ATTRIBUTE_MINOR = 76
};

enum { CU_POINTER_MEMORY_TYPE = 2, CU_POINTER_DEVICE_ORDINAL = 9 };
enum { CU_MEMORY_HOST = 1, CU_MEMORY_DEVICE = 2 };
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_EVENT_DEFAULT = 0, CU_EVENT_DISABLE_TIMING = 2 };
enum { CU_FUNCTION_MOST_DYNAMIC_SHARED = 8 };
enum { CU_CAPTURE_NONE = 0, CU_CAPTURE_ACTIVE = 1, CU_CAPTURE_INVALIDATED = 2 };

/* Of cuLaunchKernelEx. */
enum { CU_LAUNCH_CLUSTER = 4, CU_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6 };
typedef struct cu_launch_attribute {
  int32_t id;
  int32_t padding;
  union {
    uint8_t bytes[64];
    struct {
      uint32_t x, y, z;
    } cluster;
    int32_t programmatic; /* 1: may start before its predecessor has ended */
  } value;
} cu_launch_attribute;

/* Of tensor maps, which are 128 bytes at a multiple of 64. */
enum { CU_MAP_BYTES = 128 };
enum { CU_MAP_UINT8 = 0, CU_MAP_F16 = 6, CU_MAP_F32 = 7, CU_MAP_BF16 = 9, CU_MAP_TF32 = 11 };
enum { CU_MAP_SWIZZLE_NONE, CU_MAP_SWIZZLE_32, CU_MAP_SWIZZLE_64, CU_MAP_SWIZZLE_128 };
enum { CU_MAP_PROMOTE_128 = 2 };

typedef struct cu_launch_config {
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;
  cu_stream stream;
  cu_launch_attribute *attributes;
  uint32_t attribute_count;
} cu_launch_config;

/* Nodes of graphs. */
typedef struct cu_kernel_node {
  cu_function function;
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;
  void **arguments, **extra;
  void *kernel; /* in place of the function */
  cu_context context;
} cu_kernel_node;

typedef struct cu_copy_side {
  size_t x_bytes, y, z, level;
  int32_t memory_type;
  const void *host;
  cu_address device;
  void *array, *reserved;
  size_t pitch, height;
} cu_copy_side;
typedef struct cu_copy_node {
  cu_copy_side from, to;
  size_t bytes, height, depth;
} cu_copy_node;

typedef struct cu_fill_node {
  cu_address to;
  size_t pitch;
  uint32_t pattern, pattern_bytes;
  size_t count, height;
} cu_fill_node;

/* How a node comes after another one. All 0: when that has been done. Between kernels: as a
 * launch with CU_LAUNCH_PROGRAMMATIC_SERIALIZATION comes after another one. */
enum { CU_PORT_PROGRAMMATIC = 1, CU_EDGE_PROGRAMMATIC = 1 };
typedef struct cu_edge {
  uint8_t from_port, to_port, type;
  uint8_t reserved[5];
} cu_edge;

/* CU_FUNCTION(what it is called here, the library's symbol, arguments). */
#define CU_FUNCTIONS(CU_FUNCTION)                                                                  \
  CU_FUNCTION(init, cuInit, (uint32_t flags))                                                      \
  CU_FUNCTION(driverVersion, cuDriverGetVersion, (int32_t *version))                               \
  CU_FUNCTION(errorName, cuGetErrorName, (cu_result, const char **))                               \
  CU_FUNCTION(errorText, cuGetErrorString, (cu_result, const char **))                             \
  CU_FUNCTION(countDevices, cuDeviceGetCount, (int32_t *count))                                    \
  CU_FUNCTION(deviceGet, cuDeviceGet, (cu_device *, int32_t ordinal))                              \
  CU_FUNCTION(deviceName, cuDeviceGetName, (char *name, int32_t length, cu_device))                \
  CU_FUNCTION(deviceAttribute, cuDeviceGetAttribute, (int32_t *, int32_t attribute, cu_device))    \
  CU_FUNCTION(deviceMemory, cuDeviceTotalMem_v2, (size_t *, cu_device))                            \
  CU_FUNCTION(retainContext, cuDevicePrimaryCtxRetain, (cu_context *, cu_device))                  \
  CU_FUNCTION(releaseContext, cuDevicePrimaryCtxRelease_v2, (cu_device))                           \
  CU_FUNCTION(pushContext, cuCtxPushCurrent_v2, (cu_context))                                      \
  CU_FUNCTION(popContext, cuCtxPopCurrent_v2, (cu_context *))                                      \
  CU_FUNCTION(memoryInfo, cuMemGetInfo_v2, (size_t *free, size_t *total))                          \
  CU_FUNCTION(allocate, cuMemAlloc_v2, (cu_address *, size_t))                                     \
  CU_FUNCTION(free, cuMemFree_v2, (cu_address))                                                    \
  CU_FUNCTION(upload, cuMemcpyHtoDAsync_v2, (cu_address, const void *, size_t, cu_stream))         \
  CU_FUNCTION(download, cuMemcpyDtoHAsync_v2, (void *, cu_address, size_t, cu_stream))             \
  CU_FUNCTION(copy, cuMemcpyDtoDAsync_v2, (cu_address to, cu_address from, size_t, cu_stream))     \
  CU_FUNCTION(fill8, cuMemsetD8Async, (cu_address, uint8_t, size_t count, cu_stream))              \
  CU_FUNCTION(fill16, cuMemsetD16Async, (cu_address, uint16_t, size_t count, cu_stream))           \
  CU_FUNCTION(fill32, cuMemsetD32Async, (cu_address, uint32_t, size_t count, cu_stream))           \
  CU_FUNCTION(pointerAttribute, cuPointerGetAttribute, (void *, int32_t attribute, cu_address))    \
  CU_FUNCTION(createStream, cuStreamCreate, (cu_stream *, uint32_t flags))                         \
  CU_FUNCTION(destroyStream, cuStreamDestroy_v2, (cu_stream))                                      \
  CU_FUNCTION(waitForStream, cuStreamSynchronize, (cu_stream))                                     \
  CU_FUNCTION(streamIsCaptured, cuStreamIsCapturing, (cu_stream, int32_t *status))                 \
  CU_FUNCTION(streamWaits, cuStreamWaitEvent, (cu_stream, cu_event, uint32_t flags))               \
  CU_FUNCTION(streamContext, cuStreamGetCtx, (cu_stream, cu_context *))                            \
  CU_FUNCTION(createEvent, cuEventCreate, (cu_event *, uint32_t flags))                            \
  CU_FUNCTION(destroyEvent, cuEventDestroy_v2, (cu_event))                                         \
  CU_FUNCTION(recordEvent, cuEventRecord, (cu_event, cu_stream))                                   \
  CU_FUNCTION(waitForEvent, cuEventSynchronize, (cu_event))                                        \
  CU_FUNCTION(queryEvent, cuEventQuery, (cu_event))                                                \
  CU_FUNCTION(elapsedTime, cuEventElapsedTime, (float *ms, cu_event from, cu_event to))            \
  CU_FUNCTION(loadModule, cuModuleLoadData, (cu_module *, const void *image))                      \
  CU_FUNCTION(unloadModule, cuModuleUnload, (cu_module))                                           \
  CU_FUNCTION(getFunction, cuModuleGetFunction, (cu_function *, cu_module, const char *name))      \
  CU_FUNCTION(setFunction, cuFuncSetAttribute, (cu_function, int32_t attribute, int32_t value))    \
  CU_FUNCTION(encodeMap, cuTensorMapEncodeTiled,                                                   \
              (void *map, int32_t type, uint32_t rank, void *address, const uint64_t *sizes,       \
               const uint64_t *strides, const uint32_t *box, const uint32_t *steps,                \
               int32_t interleave, int32_t swizzle, int32_t promotion, int32_t fill))              \
  CU_FUNCTION(launch, cuLaunchKernelEx,                                                            \
              (const cu_launch_config *, cu_function, void **arguments, void **extra))

/* What CUDA graphs take, which drivers before CUDA 12.3 lack some of. */
#define CU_GRAPH_FUNCTIONS(CU_FUNCTION)                                                            \
  CU_FUNCTION(createGraph, cuGraphCreate, (cu_graph *, uint32_t flags))                            \
  CU_FUNCTION(destroyGraph, cuGraphDestroy, (cu_graph))                                            \
  CU_FUNCTION(addKernelNode, cuGraphAddKernelNode_v2,                                              \
              (cu_node *, cu_graph, const cu_node *after, size_t, const cu_kernel_node *))         \
  CU_FUNCTION(                                                                                     \
      addCopyNode, cuGraphAddMemcpyNode,                                                           \
      (cu_node *, cu_graph, const cu_node *after, size_t, const cu_copy_node *, cu_context))       \
  CU_FUNCTION(                                                                                     \
      addFillNode, cuGraphAddMemsetNode,                                                           \
      (cu_node *, cu_graph, const cu_node *after, size_t, const cu_fill_node *, cu_context))       \
  CU_FUNCTION(addEdges, cuGraphAddDependencies_v2,                                                 \
              (cu_graph, const cu_node *from, const cu_node *to, const cu_edge *, size_t count))   \
  CU_FUNCTION(setNodeAttribute, cuGraphKernelNodeSetAttribute,                                     \
              (cu_node, int32_t attribute, const void *value))                                     \
  CU_FUNCTION(instantiate, cuGraphInstantiateWithFlags,                                            \
              (cu_graph_exec *, cu_graph, uint64_t flags))                                         \
  CU_FUNCTION(setKernelNode, cuGraphExecKernelNodeSetParams_v2,                                    \
              (cu_graph_exec, cu_node, const cu_kernel_node *))                                    \
  CU_FUNCTION(setCopyNode, cuGraphExecMemcpyNodeSetParams,                                         \
              (cu_graph_exec, cu_node, const cu_copy_node *, cu_context))                          \
  CU_FUNCTION(setFillNode, cuGraphExecMemsetNodeSetParams,                                         \
              (cu_graph_exec, cu_node, const cu_fill_node *, cu_context))                          \
  CU_FUNCTION(launchGraph, cuGraphLaunch, (cu_graph_exec, cu_stream))                              \
  CU_FUNCTION(destroyGraphExec, cuGraphExecDestroy, (cu_graph_exec))

#ifdef __cplusplus
}
#endif
#endif
