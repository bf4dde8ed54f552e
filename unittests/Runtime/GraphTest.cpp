// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls as CUDA graphs (docs/devices.md), with the tests' driver and a program written by hand
// (fake/chain.c), whose entry counts how often it runs.
#include "ChainProgram.h"
#include <cstring>

using namespace tw::testing;

TEST_F(OnDevice, TheDriverIsStrictWithGraphs) {
  Gpu gpu;
  Tensor x = gpu.tensor({0, 0});
  cu_graph graph;
  cu_graph_exec executable;
  cu_node first, second;
  cu_fill_node one = {address(x), 0, 1, 4, 2, 1}, two = {address(x), 0, 2, 4, 2, 1};
  auto bits = [&] {
    float value = gpu.values(x)[0];
    uint32_t integer;
    std::memcpy(&integer, &value, sizeof integer);
    return integer;
  };
  EXPECT_EQ(driver().createGraph(&graph, 0), 0);
  EXPECT_EQ(driver().addFillNode(&first, graph, nullptr, 0, &one, nullptr), 0);
  EXPECT_EQ(driver().addFillNode(&second, graph, nullptr, 0, &two, nullptr), 0);
  // Without an edge between them the second one runs first.
  EXPECT_EQ(driver().instantiate(&executable, graph, 0), 0);
  EXPECT_EQ(driver().launchGraph(executable, nullptr), 0);
  EXPECT_EQ(bits(), 1u);
  EXPECT_EQ(driver().destroyGraphExec(executable), 0);
  cu_edge edge = {};
  EXPECT_EQ(driver().addEdges(graph, &first, &second, &edge, 1), 0);
  edge = {CU_PORT_PROGRAMMATIC, 0, CU_EDGE_PROGRAMMATIC, {}}; // between kernels only
  EXPECT_NE(driver().addEdges(graph, &first, &second, &edge, 1), 0);
  EXPECT_EQ(driver().instantiate(&executable, graph, 0), 0);
  EXPECT_EQ(driver().launchGraph(executable, nullptr), 0);
  EXPECT_EQ(bits(), 2u);
  // Changes are for later launches.
  cu_fill_node three = {address(x), 0, 3, 4, 2, 1};
  EXPECT_EQ(driver().launchGraph(executable, nullptr), 0);
  EXPECT_EQ(driver().setFillNode(executable, second, &three, nullptr), 0);
  EXPECT_EQ(bits(), 2u);
  EXPECT_EQ(driver().launchGraph(executable, nullptr), 0);
  EXPECT_EQ(bits(), 3u);
  three.to = address(x) + 4096;
  EXPECT_NE(driver().setFillNode(executable, second, &three, nullptr), 0);
  // What is destroyed must have been done.
  EXPECT_EQ(driver().launchGraph(executable, nullptr), 0);
  EXPECT_EQ(driver().destroyGraphExec(executable), 0);
  EXPECT_EQ(driver().destroyGraph(graph), 0);
  EXPECT_EQ(driver().waitForStream(nullptr), CU_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(OnDevice, ACallOfKnownSizesIsOneLaunch) {
  Running r;
  Chain expected;
  std::vector<float> x = ascending(5);
  Tensor in = r.gpu.tensor(x), out = r.room(5);
  auto call = [&] {
    uint64_t before = driver().count("launches");
    r.enqueue(in, out);
    uint64_t launches = driver().count("launches") - before;
    r.instance.wait();
    EXPECT_EQ(r.gpu.values(out), expected.run(x, 7, false));
    EXPECT_EQ(r.gpu.values(r.mark), (std::vector<float>{7, 7}));
    return launches;
  };
  EXPECT_EQ(call(), 3u);
  EXPECT_STREQ(r.instance.graphs().reason, "these sizes came for the first time");
  uint64_t edges = driver().count("programmatic edges"), made = driver().count("graphs");
  EXPECT_EQ(call(), 0u);
  EXPECT_EQ(driver().count("graphs") - made, 1u);
  // Of the two kernels that may overlap, one comes after a copy.
  EXPECT_EQ(driver().count("programmatic edges") - edges, 1u);
  EXPECT_EQ(r.calls, 2);
  r.calls = -1;
  EXPECT_EQ(call(), 0u);
  EXPECT_EQ(r.calls, 2) << "the entry has run, or the scalar was not given";
  tw_graph_info info = r.instance.graphs();
  EXPECT_EQ(info.calls, 3);
  EXPECT_EQ(info.graph_calls, 2);
  EXPECT_EQ(info.entries, 2);
  EXPECT_EQ(info.graphs_made, 1);
  EXPECT_EQ(info.changes, 0);
  EXPECT_EQ(info.graphs, 1);
  EXPECT_STREQ(info.reason, "");
  EXPECT_EQ(r.state("steps"), expected.steps);
  // Between two calls of the graph, other sizes have another number.
  Tensor otherIn = r.gpu.tensor({1}), otherOut = r.room(1);
  r.enqueue(otherIn, otherOut);
  EXPECT_EQ(r.calls, 3);
  r.enqueue(in, out);
  EXPECT_EQ(r.calls, 2);
  r.instance.wait();
}

/// Instead of how long it takes: what the driver is asked for.
TEST_F(OnDevice, AGraphCostsAFewCallsOfTheDriver) {
  Running r;
  Tensor in = r.gpu.tensor(ascending(5)), out = r.room(5);
  r.warmUp(in, out);
  uint64_t before = driver().count("calls"), waits = driver().count("waits");
  r.enqueue(in, out);
  // Entering, and whether the stream is captured; two questions for each of 3 tensors; the last
  // call's event, the graph, this call's event. (Leaving is not counted.)
  EXPECT_EQ(driver().count("calls") - before, 11u);
  EXPECT_EQ(driver().count("waits") - waits, 0u);
  r.instance.wait();
}

TEST_F(OnDevice, OnlyWhatDiffersIsChanged) {
  Running r;
  Chain expected;
  std::vector<float> x = ascending(5);
  Tensor in = r.gpu.tensor(x), out = r.room(5);
  r.warmUp(in, out);
  for (int i = 0; i < 3; ++i)
    expected.run(x, 7, false);
  auto changes = [&] {
    int64_t before = r.instance.graphs().changes;
    r.enqueue(in, out);
    r.instance.wait();
    EXPECT_EQ(r.gpu.values(out), expected.run(x, r.amount, false));
    EXPECT_EQ(r.gpu.values(r.mark), std::vector<float>(2, float(r.amount)));
    EXPECT_STREQ(r.instance.graphs().reason, "");
    return r.instance.graphs().changes - before;
  };
  EXPECT_EQ(changes(), 0);
  x = ascending(5, 10);
  in = r.gpu.tensor(x); // what reads it
  EXPECT_EQ(changes(), 1);
  out = r.room(5); // the copy
  EXPECT_EQ(changes(), 1);
  r.mark = r.room(2); // the fill
  EXPECT_EQ(changes(), 1);
  r.amount = 9; // an argument, and the fill
  EXPECT_EQ(changes(), 2);
  EXPECT_EQ(changes(), 0);
  EXPECT_EQ(r.instance.graphs().graphs_made, 1);
}

/// A driver that forgets one change: the tests above would see it, whichever it is.
TEST_F(OnDevice, EveryChangeIsNeeded) {
  for (int forgotten = 0; forgotten <= 4; ++forgotten) {
    Setting forgets("FAKE_CUDA_FORGETS", std::to_string(forgotten).c_str());
    Running r;
    Chain expected;
    std::vector<float> x = ascending(5);
    Tensor in = r.gpu.tensor(x), out = r.room(5);
    r.warmUp(in, out);
    for (int i = 0; i < 3; ++i)
      expected.run(x, 7, false);
    x = ascending(5, 10);
    r.amount = 9;
    in = r.gpu.tensor(x);
    out = r.room(5);
    r.mark = r.room(2);
    r.enqueue(in, out);
    r.instance.wait();
    EXPECT_EQ(r.instance.graphs().changes, 4); // one of the 6 pieces of work, and the copy, stay
    bool isRight = r.gpu.values(out) == expected.run(x, 9, false) &&
                   r.gpu.values(r.mark) == std::vector<float>{9, 9};
    EXPECT_EQ(isRight, forgotten == 0) << forgotten;
  }
}

/// Calls of all kinds, in the same order with graphs and without.
TEST_F(OnDevice, ResultsAreTheSameWithAndWithoutGraphs) {
  Running with, without(TW_GRAPHS_OFF);
  Chain expected;
  auto call = [&](size_t count, int64_t amount, bool twice, bool isNew) {
    static std::map<std::pair<Running *, size_t>, std::pair<Tensor, Tensor>> known;
    if (isNew)
      known.clear();
    std::vector<float> x = ascending(count, float(amount)), wanted;
    wanted = expected.run(x, amount, twice);
    for (Running *r : {&with, &without}) {
      auto at = known.try_emplace({r, count}, r->gpu.tensor(x), r->room(count)).first;
      auto &[in, out] = at->second;
      EXPECT_EQ(driver().upload(address(in), x.data(), count * 4, nullptr), 0);
      r->amount = amount;
      r->twice = twice;
      r->enqueue(in, out);
      EXPECT_EQ(r->gpu.values(out), wanted) << count << " " << amount << " " << twice;
      EXPECT_EQ(r->gpu.values(r->mark), std::vector<float>(2, float(amount)));
    }
  };
  for (int round = 0; round < 4; ++round)
    for (size_t count : {5, 1, 64, 200, 7})
      for (bool twice : {false, true, true})
        call(count, round + (twice ? 1 : 0), twice, round == 2 && count == 64);
  EXPECT_EQ(with.state("total"), expected.total);
  EXPECT_EQ(without.state("total"), expected.total);
  EXPECT_EQ(with.state("steps"), expected.steps);
  EXPECT_EQ(without.instance.graphs().graph_calls, 0);
  EXPECT_STREQ(without.instance.graphs().reason, "graphs are switched off");
  // 60 calls, of which each of 5 sizes came first once, and each of its two forms once more.
  EXPECT_EQ(with.instance.graphs().graphs_made, 10);
  EXPECT_EQ(with.instance.graphs().graph_calls, 50);
}

TEST_F(OnDevice, RunsWithHostMemoryAsGraphs) {
  Program program(path("chain"), "cuda");
  Instance instance(program, 1);
  Chain expected;
  int64_t amount = 3;
  bool twice = true;
  for (int i = 0; i < 4; ++i) {
    std::vector<float> x = ascending(6, float(i));
    auto y = instance.run({Tensor::of(x, {6}), Tensor::scalar(amount), Tensor::scalar(twice)});
    EXPECT_EQ(floats(y[0]), expected.run(x, amount, twice));
    EXPECT_EQ(y[2].values<int64_t>()[0], i == 0 ? 1 : 2);
  }
  EXPECT_EQ(instance.graphs().graph_calls, 3);
}

/// A condition on a scalar: each way is a graph of its own, and neither is made twice.
TEST_F(OnDevice, EachSequenceOfKernelsIsAGraph) {
  Running r;
  Chain expected;
  std::vector<float> x = ascending(5);
  Tensor in = r.gpu.tensor(x), out = r.room(5);
  for (int i = 0; i < 20; ++i) {
    r.twice = i % 2 == 1;
    r.amount = i; // which changes all the time
    r.enqueue(in, out);
    r.instance.wait();
    EXPECT_EQ(r.gpu.values(out), expected.run(x, i, r.twice)) << i;
  }
  EXPECT_EQ(r.instance.graphs().graphs_made, 2);
  EXPECT_EQ(r.instance.graphs().graph_calls, 18);
  // As many kernels, but another one.
  for (int64_t amount : {100, 101, 7, 102}) {
    r.amount = amount;
    r.enqueue(in, out);
    r.instance.wait();
    EXPECT_EQ(r.gpu.values(out), expected.run(x, amount, true)) << amount;
  }
  EXPECT_EQ(r.instance.graphs().graphs_made, 3);
  EXPECT_EQ(r.instance.graphs().graph_calls, 21);
}

TEST_F(OnDevice, SixteenSizesAreRemembered) {
  Running r;
  Chain expected;
  std::vector<Tensor> ins, outs;
  for (size_t count = 1; count <= 20; ++count) {
    ins.push_back(r.gpu.tensor(ascending(count)));
    outs.push_back(r.room(count));
  }
  auto round = [&](size_t sizes) {
    int64_t before = r.instance.graphs().graph_calls;
    // Nobody waits, so that graphs go while they may still run.
    for (size_t i = 0; i < sizes; ++i) {
      r.enqueue(ins[i], outs[i]);
      EXPECT_LE(r.instance.graphs().graphs, 16);
    }
    r.instance.wait();
    for (size_t i = 0; i < sizes; ++i) {
      EXPECT_EQ(r.gpu.values(outs[i]), expected.run(ascending(i + 1), 7, false)) << i;
    }
    return r.instance.graphs().graph_calls - before;
  };
  EXPECT_EQ(round(16), 0);
  EXPECT_EQ(round(16), 16);
  EXPECT_EQ(round(16), 16);
  EXPECT_EQ(r.instance.graphs().graphs_made, 16);
  EXPECT_EQ(r.instance.graphs().entries, 32);
  // More than sixteen in turns are each forgotten before they come again.
  round(20);
  EXPECT_EQ(round(20), 0);
  // Each size twice: a graph goes for each that is made, and is launched just before.
  for (int again = 0; again < 2; ++again) {
    r.instance.wait();
    for (size_t i = 0; i < 20; ++i)
      for (int twice = 0; twice < 2; ++twice) {
        r.enqueue(ins[i], outs[i]);
        EXPECT_LE(r.instance.graphs().graphs, 16);
      }
  }
  EXPECT_EQ(r.instance.graphs().graphs_made, 16 + 40);
  // Sixteen, and those of the last round, of which nobody knows yet that they have been done.
  EXPECT_LE(driver().count("live graphs"), 36u) << "what has been done is not destroyed";
}

TEST_F(OnDevice, GraphsGoToAnyStreamInOrder) {
  Running r;
  Chain expected;
  std::vector<float> x = ascending(5);
  Tensor in = r.gpu.tensor(x);
  r.warmUp(in, r.room(5));
  for (int i = 0; i < 3; ++i)
    expected.run(x, 7, false);
  std::vector<Tensor> outs;
  std::vector<cu_stream> streams = {r.gpu.stream(), r.gpu.stream(), nullptr};
  for (int i = 0; i < 6; ++i) {
    outs.push_back(r.room(5));
    r.enqueue(in, outs.back(), streams[size_t(i % 3)]);
  }
  // In any order of waiting: each call comes after the one before, whose total it reads.
  EXPECT_EQ(driver().waitForStream(streams[1]), 0);
  r.instance.wait();
  for (const Tensor &out : outs)
    EXPECT_EQ(r.gpu.values(out), expected.run(x, 7, false));
  EXPECT_EQ(r.instance.graphs().graph_calls, 8);
  driver().destroyStream(streams[0]);
  driver().destroyStream(streams[1]);
}

TEST_F(OnDevice, FailuresInGraphsAreFound) {
  Running r;
  std::vector<float> x = ascending(5), bad = ascending(5, -4);
  Tensor in = r.gpu.tensor(x), out = r.room(5);
  r.warmUp(in, out);
  EXPECT_EQ(driver().upload(address(in), bad.data(), 20, nullptr), 0);
  r.enqueue(in, out);
  EXPECT_EQ(driver().upload(address(in), x.data(), 20, nullptr), 0);
  r.enqueue(in, out);
  EXPECT_EQ(errorOf([&] { r.instance.wait(); }), "TW-RUNTIME-0013 the first is -4 of 5");
  r.enqueue(in, out);
  EXPECT_EQ(errorOf([&] { r.instance.wait(); }), "");
  EXPECT_EQ(r.instance.graphs().graph_calls, 5);
}

TEST_F(OnDevice, GrowingMemoryChangesGraphs) {
  Running r;
  Chain expected;
  auto twoCalls = [&](size_t count) {
    // Outputs are the instance's, and grow as the arena does.
    std::vector<float> x = ascending(count);
    Tensor in = r.gpu.tensor(x);
    for (int i = 0; i < 2; ++i) {
      auto y = r.instance.enqueue(nullptr, {in, Tensor::scalar(r.amount), Tensor::scalar(r.twice)});
      r.instance.wait();
      EXPECT_EQ(r.gpu.values(y[0]), expected.run(x, 7, false)) << count;
    }
  };
  twoCalls(5);
  twoCalls(5);
  twoCalls(5000);
  int64_t changes = r.instance.graphs().changes;
  twoCalls(5);
  EXPECT_GT(r.instance.graphs().changes, changes);
  EXPECT_EQ(r.instance.graphs().graphs_made, 2);
  // Nothing but the arena: of that, the caller sees nothing.
  std::vector<float> x = ascending(6), large = ascending(50000);
  Tensor in = r.gpu.tensor(x), out = r.room(6);
  r.warmUp(in, out);
  for (int i = 0; i < 3; ++i)
    expected.run(x, 7, false);
  r.enqueue(r.gpu.tensor(large), r.room(50000));
  expected.run(large, 7, false);
  r.enqueue(in, out);
  r.instance.wait();
  EXPECT_EQ(r.gpu.values(out), expected.run(x, 7, false));
}

TEST_F(OnDevice, StateBetweenGraphs) {
  Running r;
  Chain expected;
  std::vector<float> x = ascending(5);
  Tensor in = r.gpu.tensor(x), out = r.room(5);
  r.warmUp(in, out);
  r.enqueue(in, out); // still under way
  expected.total = {5, 5, 5, 5};
  r.instance.setState("total", std::span<const float>(expected.total));
  r.enqueue(in, out);
  r.instance.wait();
  EXPECT_EQ(r.gpu.values(out), expected.run(x, 7, false));
  r.enqueue(in, out);
  r.instance.resetState();
  r.enqueue(in, out);
  r.instance.wait();
  EXPECT_EQ(r.gpu.values(out), Chain().run(x, 7, false));
  EXPECT_EQ(r.instance.graphs().graph_calls, 6);
}

//===----------------------------------------------------------------------===//
// What is not a graph, and why
//===----------------------------------------------------------------------===//

TEST_F(OnDevice, WhyACallIsNoGraph) {
  Running r;
  Chain expected;
  std::vector<float> x = ascending(5);
  Tensor in = r.gpu.tensor(x), out = r.room(5), none(nullptr, 0, TW_F32, {0});
  auto reason = [&](const Tensor &from) {
    r.enqueue(from, out);
    r.instance.wait();
    return std::string(r.instance.graphs().reason);
  };
  {
    Setting graphs("FAKE_CUDA_GRAPHS", "0");
    reason(in);
    expected.run(x, 7, false);
    std::string refused = "device cuda:0 has failed in making a graph: error 2 of the driver";
    EXPECT_EQ(reason(in), refused);
    EXPECT_EQ(r.gpu.values(out), expected.run(x, 7, false));
    EXPECT_EQ(reason(in), refused);
    EXPECT_EQ(r.gpu.values(out), expected.run(x, 7, false));
  }
  reason(none);
  EXPECT_EQ(reason(none), "a call has 2 pieces of work, and for fewer than 4 a graph is no gain");
  EXPECT_EQ(r.instance.graphs().graph_calls, 0);
  Tensor other = r.gpu.tensor(ascending(6));
  out = r.room(6);
  reason(other);
  check(tw_instance_record(r.instance.c(), 1));
  EXPECT_EQ(reason(other), "dispatches are traced");
  check(tw_instance_record(r.instance.c(), 0));
  EXPECT_EQ(reason(other), "");
}

TEST_F(OnDevice, ProgramsThatWaitAreNoGraphs) {
  Program program(path("device"), "cuda");
  Instance instance(program, 1);
  std::vector<float> x = {1, 2, 3, 4, 5}, cache(4);
  double limit = 1e9;
  std::vector<float> total = {1, 2, 3, 4};
  for (int i = 0; i < 3; ++i) {
    auto y = instance.run({Tensor::of(x, {5}), Tensor::of(cache, {4}), Tensor::scalar(limit)});
    total[0] += 1;
    EXPECT_EQ(floats(y[0])[0], 1 + total[0]);
    EXPECT_STREQ(instance.graphs().reason, "the host reads a value that the program has computed");
  }
  EXPECT_EQ(instance.graphs().graph_calls, 0);
}

/// What was collected before a wait is enqueued then, and the graph of calls that do not wait
/// stays.
TEST_F(OnDevice, ACallThatWaitsAmongGraphs) {
  Running r;
  Chain expected;
  std::vector<float> x = ascending(5);
  Tensor in = r.gpu.tensor(x), out = r.room(5);
  for (int64_t amount : {7, 7, -1, 7, -1, 7}) {
    r.amount = amount;
    r.enqueue(in, out);
    r.instance.wait();
    EXPECT_EQ(r.gpu.values(out), expected.run(x, amount, false));
    if (amount < 0)
      EXPECT_STREQ(r.instance.graphs().reason,
                   "the host reads a value that the program has computed");
  }
  EXPECT_EQ(r.instance.graphs().graphs_made, 1);
  EXPECT_EQ(r.instance.graphs().graph_calls, 3);
}

TEST_F(OnDevice, AFaultInAGraphIsForever) {
  Running r;
  Tensor in = r.gpu.tensor(ascending(5)), out = r.room(5);
  r.warmUp(in, out);
  std::string said = "TW-RUNTIME-0022 device cuda:0 has failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): "
                     "so says the tests' driver";
  {
    Setting fault("FAKE_CUDA_FAULT", "1");
    r.enqueue(in, out);
    EXPECT_EQ(errorOf([&] { r.instance.wait(); }), said);
  }
  EXPECT_EQ(errorOf([&] { r.enqueue(in, out); }), said);
}

TEST_F(OnDevice, OptionsOfInstances) {
  Program program(path("chain"), "cuda");
  tw_instance *instance = nullptr;
  tw_instance_options options = {};
  options.struct_size = sizeof options;
  options.graphs = static_cast<tw_graphs>(7);
  EXPECT_EQ(errorOf([&] { check(tw_instance_create(program.c(), &options, &instance)); }),
            "TW-RUNTIME-0018 tw_instance_create: graphs is 7, but 0 and 1 are possible");
  // What was compiled before there were graphs has a shorter structure.
  options.struct_size = offsetof(tw_instance_options, graphs);
  check(tw_instance_create(program.c(), &options, &instance));
  EXPECT_EQ(tw_instance_graphs(instance).calls, 0);
  tw_instance_free(instance);
  EXPECT_EQ(tw_instance_graphs(nullptr).reason, nullptr);
}
