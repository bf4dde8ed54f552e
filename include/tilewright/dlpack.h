/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Between DLPack's tensors and Tilewright's, without a copy. Header-only; include DLPack's own
 * <dlpack/dlpack.h> (any version since 0.6) before it.
 *
 *   DLTensor *given = ...;
 *   tw_tensor input;
 *   const char *problem = tw_from_dlpack(given, "cuda:0", &input);
 *   if (problem) refuse(problem);
 *   else status = tw_instance_enqueue(instance, stream, &input, 1, NULL, 0);
 */
#ifndef TILEWRIGHT_DLPACK_H
#define TILEWRIGHT_DLPACK_H

#include "tilewright/tilewright.h"
#include <stdlib.h>
#include <string.h>

#ifndef DLPACK_VERSION
#ifndef DLPACK_MAJOR_VERSION
#error "include <dlpack/dlpack.h> before tilewright/dlpack.h"
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The dtype of DLPack's; -1: there is none. */
static inline int32_t tw_dtype_from_dlpack(DLDataType type) {
  if (type.lanes != 1)
    return -1;
  switch (type.code) {
  case kDLFloat:
    return type.bits == 16 ? TW_F16 : type.bits == 32 ? TW_F32 : type.bits == 64 ? TW_F64 : -1;
  case kDLBfloat:
    return type.bits == 16 ? TW_BF16 : -1;
  case kDLInt:
    return type.bits == 8    ? TW_I8
           : type.bits == 16 ? TW_I16
           : type.bits == 32 ? TW_I32
           : type.bits == 64 ? TW_I64
                             : -1;
  case kDLUInt:
    return type.bits == 8 ? TW_U8 : -1;
  case 6: /* kDLBool, which older headers lack */
    return type.bits == 8 ? TW_BOOL : -1;
  default:
    return -1;
  }
}

static inline DLDataType tw_dtype_to_dlpack(tw_dtype dtype) {
  static const uint8_t codes[] = {kDLFloat, kDLBfloat, kDLFloat, kDLFloat, kDLInt,
                                  kDLInt,   kDLInt,    kDLInt,   kDLUInt,  6};
  DLDataType type = {codes[dtype], (uint8_t)(8 * tw_dtype_bytes(dtype)), 1};
  return type;
}

/* "cpu" or "cuda:N"; the device of a tensor that an instance on `device` gives or takes. */
static inline DLDevice tw_device_to_dlpack(const char *device) {
  DLDevice place = {kDLCPU, 0};
  if (device && strncmp(device, "cuda", 4) == 0) {
    place.device_type = kDLCUDA;
    if (device[4] == ':')
      place.device_id = (int32_t)strtol(device + 5, NULL, 10);
  }
  return place;
}

/* Fills *tensor with what `given` is; its sizes stay those of `given`. Returns NULL, or why it
 * cannot be: it is elsewhere than on `device` (tw_program_device, or "cpu" for tw_instance_run),
 * its elements are not contiguous and row-major, or there is no such dtype. */
static inline const char *tw_from_dlpack(const DLTensor *given, const char *device,
                                         tw_tensor *tensor) {
  DLDevice place = tw_device_to_dlpack(device);
  int32_t dtype = tw_dtype_from_dlpack(given->dtype);
  int64_t count = 1;
  if (given->device.device_type != place.device_type || given->device.device_id != place.device_id)
    return "the tensor is on another device";
  if (dtype < 0)
    return "the tensor has a dtype that Tilewright does not have";
  for (int32_t d = given->ndim; d-- > 0;) {
    if (given->strides && given->shape[d] != 1 && given->strides[d] != count && count != 0)
      return "the tensor is not contiguous and row-major";
    count *= given->shape[d];
  }
  tensor->data = (char *)given->data + given->byte_offset;
  tensor->dtype = (tw_dtype)dtype;
  tensor->bytes = count * tw_dtype_bytes(tensor->dtype);
  tensor->rank = given->ndim;
  tensor->sizes = given->shape;
  return NULL;
}

/* A view of `tensor`, which is on `device`, as long as its memory and sizes live. */
static inline DLTensor tw_to_dlpack(const tw_tensor *tensor, const char *device) {
  DLTensor view;
  memset(&view, 0, sizeof view);
  view.data = tensor->data;
  view.device = tw_device_to_dlpack(device);
  view.ndim = tensor->rank;
  view.dtype = tw_dtype_to_dlpack(tensor->dtype);
  view.shape = (int64_t *)tensor->sizes; /* DLPack's structure has no const */
  return view;
}

#ifdef __cplusplus
}
#endif
#endif
