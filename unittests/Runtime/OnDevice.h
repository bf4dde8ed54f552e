// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests of programs on GPUs: the tests' driver (driver/), and a GPU as a user has it.
#pragma once
#include "driver/FakeCuda.h"
#include "runtime/Device/CudaApi.h"
#include "tilewright/Runtime.h"
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tw::testing {

using namespace tw::runtime;

/// The driver as a user of the C API sees it.
struct Driver {
  void *library = dlopen(TW_FAKE_DRIVER, RTLD_NOW | RTLD_GLOBAL);
#define CU_FUNCTION(member, symbol, arguments)                                                     \
  cu_result(*member) arguments = reinterpret_cast<cu_result(*) arguments>(dlsym(library, #symbol));
  CU_FUNCTIONS(CU_FUNCTION)
  CU_GRAPH_FUNCTIONS(CU_FUNCTION)
  CU_FUNCTION(beginCapture, cuStreamBeginCapture_v2, (cu_stream, int32_t mode))
  CU_FUNCTION(endCapture, cuStreamEndCapture, (cu_stream, cu_graph *))
#undef CU_FUNCTION
  decltype(&fakeCudaCount) count =
      reinterpret_cast<decltype(&fakeCudaCount)>(dlsym(library, "fakeCudaCount"));
};

/// The tests' driver is the libcuda.so.1 of this process from now on.
inline const Driver &driver() {
  static Driver only;
  return only;
}

/// A setting of the tests' driver while this lives.
struct Setting {
  Setting(const char *name, const char *value) : name(name) { setenv(name, value, 1); }
  ~Setting() { unsetenv(name); }
  const char *name;
};

/// A GPU as a user has it, current as long as it lives.
class Gpu {
public:
  explicit Gpu(int ordinal = 0) : ordinal(ordinal) {
    cu_context context;
    EXPECT_EQ(driver().init(0), 0);
    EXPECT_EQ(driver().retainContext(&context, ordinal), 0);
    EXPECT_EQ(driver().pushContext(context), 0);
  }
  ~Gpu() {
    cu_context context;
    for (cu_address address : owned)
      driver().free(address);
    driver().popContext(&context);
    driver().releaseContext(ordinal);
  }
  cu_stream stream() {
    cu_stream fresh;
    EXPECT_EQ(driver().createStream(&fresh, 0), 0);
    return fresh;
  }
  Tensor tensor(const std::vector<float> &values) {
    cu_address address;
    auto bytes = static_cast<int64_t>(values.size() * sizeof(float));
    EXPECT_EQ(driver().allocate(&address, bytes), 0);
    owned.push_back(address);
    EXPECT_EQ(driver().upload(address, values.data(), bytes, nullptr), 0);
    EXPECT_EQ(driver().waitForStream(nullptr), 0);
    return {reinterpret_cast<void *>(address), bytes, TW_F32, {int64_t(values.size())}};
  }
  std::vector<float> values(const Tensor &tensor) {
    std::vector<float> all(tensor.bytes() / sizeof(float), -1);
    EXPECT_EQ(driver().download(all.data(), reinterpret_cast<cu_address>(tensor.data()),
                                tensor.bytes(), nullptr),
              0);
    EXPECT_EQ(driver().waitForStream(nullptr), 0);
    return all;
  }

private:
  int ordinal;
  std::vector<cu_address> owned;
};

inline std::string path(const char *name) { return std::string(TW_FAKE_ARTIFACTS) + name + ".so"; }

/// "CODE message" of what `function` throws, "" when it does not.
template <typename Function>
std::string errorOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.code() + " " + error.what();
  }
  return "";
}

inline std::vector<float> floats(const Tensor &tensor) {
  auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

class OnDevice : public ::testing::Test {
protected:
  OnDevice() { driver(); }
  ~OnDevice() override {
    EXPECT_EQ(driver().count("live bytes"), 0u) << "memory was not freed";
    EXPECT_EQ(driver().count("live graphs"), 0u) << "graphs were not destroyed";
  }
};

} // namespace tw::testing
