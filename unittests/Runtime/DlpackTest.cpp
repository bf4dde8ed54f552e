// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tilewright/dlpack.h, with the types that DLPack 1.0 declares.
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

extern "C" {
#define DLPACK_MAJOR_VERSION 1
enum DLDeviceType { kDLCPU = 1, kDLCUDA = 2 };
enum DLDataTypeCode { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4 };
struct DLDevice {
  DLDeviceType device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
}
#include "tilewright/dlpack.h"

TEST(Dlpack, DtypesThereAndBack) {
  for (int dtype = TW_F16; dtype <= TW_BOOL; ++dtype)
    EXPECT_EQ(tw_dtype_from_dlpack(tw_dtype_to_dlpack(tw_dtype(dtype))), dtype);
  EXPECT_EQ(tw_dtype_from_dlpack({kDLUInt, 32, 1}), -1);
  EXPECT_EQ(tw_dtype_from_dlpack({kDLFloat, 32, 4}), -1);
  EXPECT_EQ(tw_dtype_from_dlpack({5, 64, 1}), -1); // complex
}

TEST(Dlpack, TensorsThereAndBack) {
  std::vector<float> memory(24);
  int64_t shape[] = {2, 1, 3}, strides[] = {3, 77, 1};
  DLTensor given = {memory.data(), {kDLCUDA, 1}, 3, {kDLFloat, 32, 1}, shape, strides, 8};
  tw_tensor tensor;
  ASSERT_EQ(tw_from_dlpack(&given, "cuda:1", &tensor), nullptr);
  EXPECT_EQ(tensor.data, memory.data() + 2);
  EXPECT_EQ(tensor.bytes, 24);
  EXPECT_EQ(tensor.rank, 3);
  EXPECT_EQ(tensor.sizes[2], 3);
  DLTensor back = tw_to_dlpack(&tensor, "cuda:1");
  EXPECT_EQ(back.data, tensor.data);
  EXPECT_EQ(back.device.device_type, kDLCUDA);
  EXPECT_EQ(back.device.device_id, 1);
  EXPECT_EQ(back.dtype.bits, 32);
  EXPECT_EQ(back.shape[0], 2);
  EXPECT_STREQ(tw_from_dlpack(&given, "cuda:0", &tensor), "the tensor is on another device");
  EXPECT_STREQ(tw_from_dlpack(&given, "cpu", &tensor), "the tensor is on another device");
  strides[0] = 6;
  EXPECT_STREQ(tw_from_dlpack(&given, "cuda:1", &tensor),
               "the tensor is not contiguous and row-major");
  given.strides = nullptr;
  given.dtype.bits = 8;
  EXPECT_STREQ(tw_from_dlpack(&given, "cuda:1", &tensor),
               "the tensor has a dtype that Tilewright does not have");
}
