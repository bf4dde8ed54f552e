// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs on GPUs, with the tests' driver (driver/) and a program written by hand (fake/device.c).
#include "runtime/Device/Device.h"
#include "OnDevice.h"
#include "runtime/Observe.h"
#include <cstring>

using namespace tw::testing;

namespace {

/// What device.c computes.
struct Expected {
  std::vector<float> total = {1, 2, 3, 4};
  std::vector<float> run(const std::vector<float> &x) {
    std::vector<float> y;
    for (size_t i = 0; i < x.size(); ++i) {
      float w = float(i % 4 + 1), t = x[i] * w;
      if (i < 4)
        total[i] += t;
      y.push_back((t + (i < 4 ? total[i] : 0)) * w);
    }
    return y;
  }
};

struct Running {
  explicit Running(const char *device = "cuda")
      : program(path("device"), device), instance(program, 2) {}
  Program program;
  Instance instance;
  std::vector<float> x = {1, 2, 3, 4, 5}, cache = {0, 10, 20, 30};
  double limit = 1e9;
  std::vector<Tensor> run() {
    return instance.run(
        {Tensor::of(x, {int64_t(x.size())}), Tensor::of(cache, {4}), Tensor::scalar(limit)});
  }
};

} // namespace

/// What makes the tests' driver worth testing with.
TEST_F(OnDevice, TheDriverIsStrict) {
  Gpu gpu;
  Tensor x = gpu.tensor({1, 2});
  auto address = reinterpret_cast<cu_address>(x.data());
  EXPECT_DEATH(*static_cast<volatile float *>(x.data()) = 1, "");
  // Nothing is done before somebody waits, and in the order of the stream then.
  float value = -1;
  cu_stream stream = gpu.stream();
  EXPECT_EQ(driver().download(&value, address, 4, stream), 0);
  EXPECT_EQ(value, -1);
  EXPECT_EQ(driver().waitForStream(nullptr), 0);
  EXPECT_EQ(value, -1);
  EXPECT_EQ(driver().waitForStream(stream), 0);
  EXPECT_EQ(value, 1);
  // Copies stay inside of what is allocated, and on their sides.
  EXPECT_NE(driver().download(&value, address + 4096, 4, stream), 0);
  EXPECT_NE(driver().upload(address, x.data(), 4, stream), 0);
  EXPECT_NE(driver().copy(address, reinterpret_cast<cu_address>(&value), 4, stream), 0);
  driver().destroyStream(stream);
}

TEST_F(OnDevice, RunsWithHostMemory) {
  Running r;
  Expected expected;
  EXPECT_EQ(r.program.device(), "cuda:0");
  auto y = r.run();
  EXPECT_EQ(floats(y[0]), expected.run(r.x));
  EXPECT_FALSE(y[1].values<bool>()[0]);
  EXPECT_EQ(r.cache, (std::vector<float>{1, 11, 21, 31}));
  r.x = {7, 8, 9, 10, 11, 12, 13, 14, 15};
  EXPECT_EQ(floats(r.run()[0]), expected.run(r.x));
  std::vector<float> own(9);
  auto again =
      r.instance.run({Tensor::of(r.x, {9}), Tensor::of(r.cache, {4}), Tensor::scalar(r.limit)},
                     std::vector{Tensor::of(own, {9}), Tensor(nullptr, 0, TW_BOOL, {})});
  EXPECT_EQ(again[0].data(), own.data());
  EXPECT_EQ(own, expected.run(r.x));
  r.x.clear(); // no elements, no blocks
  EXPECT_EQ(r.run()[0].bytes(), 0);
}

TEST_F(OnDevice, WhatTheHostReadsDecides) {
  Running r;
  r.limit = 2;
  auto y = r.run(); // y[0] would be 3
  EXPECT_TRUE(y[1].values<bool>()[0]);
  EXPECT_EQ(floats(y[0]), std::vector<float>(5, 0));
}

TEST_F(OnDevice, StateIsReadSetAndReset) {
  Running r;
  Expected expected;
  r.run();
  expected.run(r.x);
  std::vector<float> total(4);
  r.instance.getState("total", std::span(total));
  EXPECT_EQ(total, expected.total);
  expected.total = {5, 5, 5, 5};
  r.instance.setState("total", std::span<const float>(expected.total));
  EXPECT_EQ(floats(r.run()[0]), expected.run(r.x));
  r.instance.resetState();
  EXPECT_EQ(floats(r.run()[0]), Expected().run(r.x));
}

TEST_F(OnDevice, InstancesShareOneUploadOfTheWeights) {
  Running r;
  uint64_t before = driver().count("uploaded bytes");
  Instance second(r.program, 1);
  EXPECT_EQ(driver().count("uploaded bytes"), before);
  EXPECT_EQ(floats(r.run()[0]), Expected().run(r.x));
}

TEST_F(OnDevice, EnqueuesOnTheCallersStream) {
  Gpu gpu;
  Running r;
  Expected expected;
  Tensor x = gpu.tensor(r.x), cache = gpu.tensor(r.cache);
  Tensor y = gpu.tensor(std::vector<float>(5, -1)), z = gpu.tensor(std::vector<float>(5, -1));
  bool big = true;
  auto enqueue = [&](cu_stream stream, const Tensor &to) {
    std::vector outputs = {to, Tensor(&big, 1, TW_BOOL, {})};
    return r.instance.enqueue(stream, {x, cache, Tensor::scalar(r.limit)}, outputs);
  };
  // The second call, on another stream, sees the state and the cache that the first one leaves.
  cu_stream one = gpu.stream(), other = gpu.stream();
  EXPECT_EQ(enqueue(one, y)[0].data(), y.data());
  EXPECT_FALSE(big);
  enqueue(other, z);
  r.instance.wait();
  EXPECT_EQ(gpu.values(y), expected.run(r.x));
  EXPECT_EQ(gpu.values(z), expected.run(r.x));
  EXPECT_EQ(gpu.values(cache), (std::vector<float>{2, 12, 22, 32}));
  // Memory of the instance; an output of the last call as an input.
  Tensor own = r.instance.enqueue(nullptr, {z, cache, Tensor::scalar(r.limit)})[0];
  Tensor next = r.instance.enqueue(nullptr, {own, cache, Tensor::scalar(r.limit)})[0];
  r.instance.wait();
  EXPECT_EQ(gpu.values(next), expected.run(expected.run(gpu.values(z))));
  // A tensor in the middle of memory is not aligned.
  Tensor rest(static_cast<char *>(x.data()) + 4, 16, TW_F32, {4});
  Tensor last = r.instance.enqueue(one, {rest, cache, Tensor::scalar(r.limit)})[0];
  r.instance.wait();
  EXPECT_EQ(gpu.values(last), expected.run({2, 3, 4, 5}));
  driver().destroyStream(one);
  driver().destroyStream(other);
}

TEST_F(OnDevice, EnqueuingAsksForMemoryOfOutputs) {
  Gpu gpu;
  Running r;
  std::vector<tw_tensor> inputs;
  Tensor tensors[] = {gpu.tensor(r.x), gpu.tensor(r.cache), Tensor::scalar(r.limit)};
  for (const Tensor &tensor : tensors)
    inputs.push_back(tensor.c());
  struct Memory {
    Gpu &gpu;
    Tensor y;
    bool big;
  } memory{gpu, gpu.tensor({0}), false};
  auto allocate = [](void *user, int32_t output, const tw_tensor *tensor) -> void * {
    auto &m = *static_cast<Memory *>(user);
    if (output == 1)
      return &m.big;
    m.y = m.gpu.tensor(std::vector<float>(tensor->sizes[0]));
    return m.y.data();
  };
  check(
      tw_instance_enqueue_allocating(r.instance.c(), nullptr, inputs.data(), 3, allocate, &memory));
  r.instance.wait();
  EXPECT_EQ(gpu.values(memory.y), Expected().run(r.x));
}

TEST_F(OnDevice, MemoryMustBeTheDevices) {
  Gpu first(0);
  Running r;
  Tensor x = first.tensor(r.x), cache = first.tensor(r.cache);
  auto enqueue = [&](Tensor x, std::vector<Tensor> outputs = {}, cu_stream stream = nullptr) {
    return errorOf(
        [&] { r.instance.enqueue(stream, {x, cache, Tensor::scalar(r.limit)}, outputs); });
  };
  Tensor host = Tensor::of(r.x, {5});
  EXPECT_EQ(enqueue(host), "TW-RUNTIME-0021 input \"x\" is in memory of the host, but the instance "
                           "runs on cuda:0");
  EXPECT_EQ(enqueue(x, {host, Tensor(nullptr, 0, TW_BOOL, {})}),
            "TW-RUNTIME-0021 output \"y\" is in memory of the host, but the instance runs on "
            "cuda:0");
  {
    Gpu second(1);
    EXPECT_EQ(enqueue(second.tensor(r.x)),
              "TW-RUNTIME-0021 input \"x\" is in memory of cuda:1, but the instance runs on "
              "cuda:0");
    EXPECT_EQ(enqueue(x, {}, second.stream()),
              "TW-RUNTIME-0021 the stream is another device's, but the instance runs on cuda:0");
  }
  EXPECT_EQ(enqueue(x, {}, reinterpret_cast<cu_stream>(&r)),
            "TW-RUNTIME-0021 the stream is no stream, but the instance runs on cuda:0");
  EXPECT_EQ(enqueue(x), ""); // nothing has come of all that
  r.instance.wait();
  Program cpu(path("counter"));
  Instance counter(cpu, 1);
  EXPECT_EQ(errorOf([&] { counter.enqueue(nullptr, {}); }).substr(0, 15), "TW-RUNTIME-0018");
  counter.wait();
}

TEST_F(OnDevice, FailuresOfKernelsAreReadOnce) {
  Gpu gpu;
  Running r;
  r.x[0] = -3;
  EXPECT_EQ(errorOf([&] { r.run(); }), "TW-RUNTIME-0013 the first is -3 of 5");
  EXPECT_EQ(tw_instance_output(r.instance.c(), 0), nullptr);
  r.x[0] = 1;
  EXPECT_EQ(errorOf([&] { r.run(); }), "");
  // On the host.
  r.x = {1, 2, 1000.f / 3, 4};
  r.instance.setState("total", std::span<const float>(std::vector<float>{0, 0, -1000, 0}));
  EXPECT_EQ(errorOf([&] { r.run(); }), "TW-RUNTIME-0013 a thousand at 2 of 4");
}

TEST_F(OnDevice, MemoryThatIsNotThereIsNamed) {
  Setting memory("FAKE_CUDA_MEMORY", "1048576");
  Running r;
  r.x.resize(100'000);
  EXPECT_EQ(errorOf([&] { r.run(); }),
            "TW-RUNTIME-0017 device cuda:0 has not enough memory for temporaries: 800000 bytes, "
            "and 630784 of 1048576 bytes are free");
  r.x.resize(5);
  EXPECT_EQ(floats(r.run()[0]), Expected().run(r.x)); // nothing was broken
}

TEST_F(OnDevice, AFaultIsForever) {
  Running r;
  std::string said = "TW-RUNTIME-0022 device cuda:0 has failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): "
                     "so says the tests' driver";
  {
    Setting fault("FAKE_CUDA_FAULT", "1");
    EXPECT_EQ(errorOf([&] { r.run(); }), said);
  }
  EXPECT_EQ(errorOf([&] { r.run(); }), said);
  EXPECT_EQ(errorOf([&] { r.instance.resetState(); }), said);
  EXPECT_EQ(errorOf([&] { Instance another(r.program); }), said);
  Program cpu(path("counter"));
  Instance counter(cpu, 1);
  std::vector<float> x(4), cache(4);
  EXPECT_EQ(counter.run({Tensor::of(x, {4}), Tensor::of(cache, {4})}).size(), 2u);
}

TEST_F(OnDevice, TimesAreTheDevices) {
  Running r;
  check(tw_instance_record(r.instance.c(), 1));
  r.run();
  r.run();
  for (int dispatch : {0, 1, 2}) {
    tw_dispatch_times times = tw_instance_recorded(r.instance.c(), dispatch);
    EXPECT_EQ(times.calls, 2) << dispatch;
    EXPECT_GE(times.min_ns, 0) << dispatch;
  }
}

/// Short dispatches are timed several at a time, but for those that run on the host.
TEST_F(OnDevice, ShortDispatchesAreRepeated) {
  Running r;
  ASSERT_TRUE(tw::rt::repeatDispatches(r.instance.c(), int64_t(1) << 60));
  auto launchesOfRun = [&] {
    uint64_t before = driver().count("launches");
    r.run();
    return driver().count("launches") - before;
  };
  EXPECT_EQ(launchesOfRun(), 2u); // nobody asks for times
  check(tw_instance_record(r.instance.c(), 1));
  EXPECT_EQ(launchesOfRun(), 2u);
  EXPECT_EQ(launchesOfRun(), 2 * 65u);
  for (int dispatch : {0, 1, 2})
    EXPECT_EQ(tw_instance_recorded(r.instance.c(), dispatch).calls, 2) << dispatch;
  ASSERT_TRUE(tw::rt::repeatDispatches(r.instance.c(), 0));
  EXPECT_EQ(launchesOfRun(), 2u);
  // The sum that a dispatch adds to has been added to each time.
  std::vector<float> total(4);
  r.instance.getState("total", std::span<float>(total));
  EXPECT_EQ(total[0], 1 + 68 * 1.0f);
}

TEST_F(OnDevice, OneCallAtATime) {
  Running r;
  std::vector<tw_tensor> inputs;
  Tensor tensors[] = {Tensor::of(r.x, {5}), Tensor::of(r.cache, {4}), Tensor::scalar(r.limit)};
  for (const Tensor &tensor : tensors)
    inputs.push_back(tensor.c());
  struct Other {
    Instance &instance;
    std::string said;
  } other{r.instance, ""};
  auto allocate = [](void *user, int32_t, const tw_tensor *) -> void * {
    auto &o = *static_cast<Other *>(user);
    o.said = errorOf([&] { o.instance.wait(); });
    return nullptr;
  };
  tw_status *status =
      tw_instance_run_allocating(r.instance.c(), inputs.data(), 3, allocate, &other);
  EXPECT_EQ(other.said, "TW-RUNTIME-0016 tw_instance_wait is called while "
                        "tw_instance_run_allocating uses the instance");
  EXPECT_STREQ(tw_status_code(status), "TW-RUNTIME-0017");
  tw_status_free(status);
}

TEST_F(OnDevice, OnlyWhatMustWaitsForTheDevice) {
  Gpu gpu;
  Running r;
  Tensor x = gpu.tensor(r.x), cache = gpu.tensor(r.cache);
  auto enqueue = [&] { r.instance.enqueue(nullptr, {x, cache, Tensor::scalar(r.limit)}); };
  enqueue(); // memory grows
  uint64_t before = driver().count("waits");
  enqueue();
  // The dispatch on the host twice (its copies, its inputs), and the read of y[0].
  EXPECT_EQ(driver().count("waits") - before, 3u);
  r.instance.wait();
}

TEST_F(OnDevice, DevicesByName) {
  auto error = [](const char *name) {
    auto device = tw::rt::openDevice(name);
    return device ? std::string((*device)->name()) : device.error().message;
  };
  EXPECT_EQ(error("cpu"), "cpu");
  EXPECT_EQ(error("cuda"), "cuda:0");
  EXPECT_EQ(error("cuda:1"), "cuda:1");
  EXPECT_EQ(error("cuda:2"), "there is no device \"cuda:2\": this machine has 2, cuda:0 to cuda:1");
  for (const char *name : {"cuda:2147483647", "cuda:2147483648", "cuda:99999999999"})
    EXPECT_EQ(error(name), "there is no device \"" + std::string(name) +
                               "\": this machine has 2, cuda:0 to cuda:1");
  for (const char *name :
       {"gpu", "cuda:", "cuda:1x", "cuda:-1", "cuda:-99999999999", "cuda1", "cuda:99999999999x"})
    EXPECT_EQ(error(name), "there is no device \"" + std::string(name) + "\"");
}

TEST_F(OnDevice, CodeRunsWhereItsArchitectureSays) {
  auto device = tw::rt::openDevice("cuda"); // sm_90
  ASSERT_TRUE(device);
  for (const char *fine : {"sm_90a", "sm_90"})
    EXPECT_TRUE((*device)->checkArchitecture(fine)) << fine;
  for (const char *other : {"sm_80", "sm_100a", "sm_89", "sm_91", "gfx942", "sm_", "sm_90ab"})
    EXPECT_FALSE((*device)->checkArchitecture(other)) << other;
}
