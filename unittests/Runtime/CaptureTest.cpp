// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that a caller captures as a part of its own CUDA graph (docs/devices.md).
#include "ChainProgram.h"
#include <functional>

using namespace tw::testing;

namespace {

/// What `call` enqueues on a stream, as a caller's own graph.
struct Captured {
  Captured(Gpu &gpu, const std::function<void(cu_stream)> &call) : stream(gpu.stream()) {
    EXPECT_EQ(driver().beginCapture(stream, 0), 0);
    call(stream);
    if ((error = driver().endCapture(stream, &graph)) == 0)
      EXPECT_EQ(driver().instantiate(&executable, graph, 0), 0);
  }
  ~Captured() {
    if (executable)
      driver().destroyGraphExec(executable);
    if (executable)
      driver().destroyGraph(graph);
    driver().destroyStream(stream);
  }
  void launch() {
    EXPECT_EQ(driver().launchGraph(executable, stream), 0);
    EXPECT_EQ(driver().waitForStream(stream), 0);
  }
  cu_stream stream;
  cu_graph graph = nullptr;
  cu_graph_exec executable = nullptr;
  cu_result error = 0;
};

} // namespace

TEST_F(OnDevice, CallsCanBeCaptured) {
  Running r;
  Chain expected;
  std::vector<float> x = ascending(5);
  Tensor in = r.gpu.tensor(x), out = r.room(5);
  r.enqueue(in, out);
  r.instance.wait();
  expected.run(x, 7, false);
  Captured captured(r.gpu, [&](cu_stream stream) { r.enqueue(in, out, stream); });
  ASSERT_EQ(captured.error, 0);
  EXPECT_STREQ(r.instance.graphs().reason, "the caller captures the stream");
  for (int i = 0; i < 2; ++i) {
    captured.launch();
    EXPECT_EQ(r.gpu.values(out), expected.run(x, 7, false));
  }
  // The instance's own calls go on, and larger memory of theirs takes nothing from the graph.
  std::vector<float> large = ascending(5000);
  Tensor largeIn = r.gpu.tensor(large), largeOut = r.room(5000);
  for (int i = 0; i < 3; ++i) {
    r.enqueue(largeIn, largeOut);
    r.instance.wait();
    EXPECT_EQ(r.gpu.values(largeOut), expected.run(large, 7, false));
  }
  captured.launch();
  EXPECT_EQ(r.gpu.values(out), expected.run(x, 7, false));
  // What only the device sees is told by the next wait.
  x = ascending(5, -2);
  EXPECT_EQ(driver().upload(address(in), x.data(), 20, captured.stream), 0);
  captured.launch();
  EXPECT_EQ(errorOf([&] { r.instance.wait(); }), "TW-RUNTIME-0013 the first is -2 of 5");
}

TEST_F(OnDevice, WhatHasToWaitCannotBeCaptured) {
  Running r;
  Tensor in = r.gpu.tensor(ascending(5)), out = r.room(5);
  std::string prefix = "TW-RUNTIME-0018 tw_instance_enqueue: the stream is being captured, but the "
                       "call has to wait for cuda:0: ";
  Captured first(r.gpu, [&](cu_stream stream) {
    EXPECT_EQ(errorOf([&] { r.enqueue(in, out, stream); }),
              prefix + "it needs more memory for temporaries");
  });
  EXPECT_EQ(first.error, 0) << "the capture itself goes on";
  r.enqueue(in, out);
  r.instance.wait();
  check(tw_instance_record(r.instance.c(), 1));
  Captured second(r.gpu, [&](cu_stream stream) {
    EXPECT_EQ(errorOf([&] { r.enqueue(in, out, stream); }), prefix + "dispatches are traced");
  });
  EXPECT_EQ(second.error, 0);
  check(tw_instance_record(r.instance.c(), 0));
  Program program(path("device"), "cuda");
  Instance waits(program, 1);
  Tensor cache = r.gpu.tensor({0, 0, 0, 0});
  double limit = 1e9;
  waits.enqueue(nullptr, {in, cache, Tensor::scalar(limit)});
  waits.wait();
  Captured third(r.gpu, [&](cu_stream stream) {
    EXPECT_EQ(errorOf([&] { waits.enqueue(stream, {in, cache, Tensor::scalar(limit)}); }),
              prefix + "a dispatch runs on the host");
  });
  EXPECT_EQ(third.error, 0);
}
