// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structures of DLPack 1.3 as they lie in memory, with the table of C functions that a tensor
// type offers as its attribute __dlpack_c_exchange_api__. Declared here so that no header of any
// library is needed; https://dmlc.github.io/dlpack says what each means.
#pragma once
#include <bit>
#include <cstdint>

namespace tw::python::dlpack {

constexpr int32_t cpu = 1, cuda = 2; // DLDevice::type
enum TypeCode : uint8_t { Int = 0, UInt = 1, Float = 2, Bfloat = 4, Complex = 5, Bool = 6 };
constexpr uint64_t readOnly = 1; // ManagedVersioned::flags
constexpr const char *exchangeAttribute = "__dlpack_c_exchange_api__";
constexpr const char *exchangeCapsule = "dlpack_exchange_api";

// Devices and dtypes are compared for each tensor of each call: as one number, not field by field.
struct Device {
  int32_t type = cpu, index = 0;
  bool operator==(const Device &other) const {
    return std::bit_cast<uint64_t>(*this) == std::bit_cast<uint64_t>(other);
  }
};
struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
  bool operator==(const DataType &other) const {
    return std::bit_cast<uint32_t>(*this) == std::bit_cast<uint32_t>(other);
  }
};
struct Version {
  uint32_t major, minor;
};
struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  DataType dtype;
  int64_t *sizes, *strides; // no strides: contiguous
  uint64_t byteOffset;
};

/// Of a capsule "dltensor".
struct Managed {
  Tensor tensor;
  void *context;
  void (*deleter)(Managed *);
};
/// Of a capsule "dltensor_versioned".
struct ManagedVersioned {
  Version version;
  void *context;
  void (*deleter)(ManagedVersioned *);
  uint64_t flags;
  Tensor tensor;
};

/// What __dlpack_c_exchange_api__ points to. Functions return 0, or -1 with an error set.
struct ExchangeApi {
  Version version;
  ExchangeApi *previous;
  /// A new tensor like `prototype`; failures are told to `fail`. Needs no GIL.
  int (*allocate)(Tensor *prototype, ManagedVersioned **out, void *context,
                  void (*fail)(void *context, const char *kind, const char *message));
  int (*fromPython)(void *object, ManagedVersioned **out);
  /// Takes the tensor over.
  int (*toPython)(ManagedVersioned *tensor, void **object);
  /// A view of the object's memory that lives as long as the object is not changed.
  int (*view)(void *object, Tensor *out);
  int (*currentStream)(int32_t type, int32_t index, void **stream);
};

} // namespace tw::python::dlpack
