// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs written by hand (fake/) through the C API and its C++ form.
#include "runtime/Nanoseconds.h"
#include "runtime/Observe.h"
#include "tilewright/Runtime.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tw::runtime;

static Program load(const char *name) {
  return Program(std::string(TW_FAKE_ARTIFACTS) + name + ".so");
}

/// The code of what `function` throws, "" when it does not.
template <typename Function>
static std::string codeOf(Function function, std::string *message = nullptr) {
  try {
    function();
  } catch (const Error &error) {
    if (message)
      *message = error.what();
    return error.code();
  }
  return "";
}

/// What `function` throws with all that is said of it, "" when it does not.
template <typename Function>
static std::string textOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.text();
  }
  return "";
}

/// Runs counter.so on x = [1, 1, 1, 1].
struct Counter {
  Program program = load("counter");
  Instance instance{program, 2};
  std::vector<float> x = {1, 1, 1, 1}, cache = {0, 10, 20, 30};

  std::vector<Tensor> run() { return instance.run({Tensor::of(x, {4}), Tensor::of(cache, {4})}); }
};

static std::vector<float> floats(const Tensor &tensor) {
  auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

TEST(Program, SaysWhatItIs) {
  Program program = load("counter");
  EXPECT_EQ(program.info().input_count, 2);
  EXPECT_EQ(program.info().output_count, 2); // one is hidden
  EXPECT_EQ(program.info().state_bytes, 24);
  EXPECT_STREQ(program.info().model, "counter");
  EXPECT_TRUE(program.inputs()[1].mutated);
  EXPECT_FALSE(program.inputs()[0].mutated);
  EXPECT_EQ(program.inputs()[0].bytes, 16);
  EXPECT_STREQ(program.outputs()[1].name, "count");
  EXPECT_EQ(program.outputs()[1].kind, TW_KIND_INT);
  EXPECT_TRUE(program.state()[1].trainable);
  EXPECT_EQ(tw_program_find_state(program.c(), "total"), 1);
  EXPECT_EQ(tw_program_find_input(program.c(), "none"), -1);
  EXPECT_EQ(tw_program_input(program.c(), 2), nullptr);
  EXPECT_STREQ(tw_program_dispatch(program.c(), 1)->ops, "add, add");

  Program dynamic = load("dynamic");
  EXPECT_EQ(dynamic.inputs()[0].sizes[0], -1);
  EXPECT_STREQ(dynamic.inputs()[1].size_texts[0], "s0*2");
  EXPECT_STREQ(dynamic.inputs()[2].symbol, "s1");
  EXPECT_STREQ(dynamic.outputs()[0].size_texts[0], "?");
  EXPECT_EQ(dynamic.outputs()[0].bytes, -1);
  EXPECT_EQ(tw_program_symbol(dynamic.c(), 0)->max, 512);
  EXPECT_EQ(tw_program_symbol(dynamic.c(), 1)->max, INT64_MAX);
}

TEST(Instance, KeepsStateAndWritesMutatedInputs) {
  Counter c;
  EXPECT_EQ(floats(c.run()[0]), (std::vector<float>{2, 3, 4, 5}));
  auto second = c.run();
  EXPECT_EQ(floats(second[0]), (std::vector<float>{3, 4, 5, 6}));
  EXPECT_EQ(second[1].values<int64_t>()[0], 7); // 5 from the payload, and two runs
  EXPECT_EQ(c.cache, (std::vector<float>{2, 12, 22, 32}));
}

TEST(Instance, WritesInputsInPlace) {
  Program program = load("stepper");
  Instance instance(program, 1);
  alignas(64) float memory[16] = {5, 6, 7, 8, 0, 0, 0, 0, 0, 5, 6, 7, 8};
  std::vector<float> g = {1, 2, 3, 4};
  // Aligned, where it is; else in a copy. Either way it is in the caller's memory afterwards.
  for (float *p : {memory, memory + 9}) {
    auto y = instance.run({Tensor::of(std::span(p, 4), {4}), Tensor::of(g, {4})});
    EXPECT_EQ(y[0].values<double>()[0], 1);
    EXPECT_EQ(std::vector<float>(p, p + 4), (std::vector<float>{1, 3, 5, 7}));
  }
  EXPECT_EQ(memory[4], 0);
}

TEST(Instance, AnInputWrittenInPlaceMayOverlapAnother) {
  Program program = load("stepper");
  Instance instance(program, 1);
  alignas(64) float memory[20] = {5, 6, 7, 8};
  instance.run({Tensor::of(std::span(memory, 4), {4}), Tensor::of(std::span(memory, 4), {4})});
  EXPECT_EQ(std::vector<float>(memory, memory + 4), (std::vector<float>{-3, -1, 1, 3}));
}

TEST(Instance, StateIsReadSetAndReset) {
  Counter c;
  c.run();
  std::vector<float> total(4);
  c.instance.getState("total", std::span(total));
  EXPECT_EQ(total, (std::vector<float>{1, 1, 1, 1}));
  std::vector<float> hundred(4, 100);
  c.instance.setState("total", std::span<const float>(hundred));
  EXPECT_EQ(floats(c.run()[0])[0], 102);
  c.instance.resetState("total");
  EXPECT_EQ(floats(c.run()[0])[0], 2);
  c.instance.resetState();
  EXPECT_EQ(c.run()[1].values<int64_t>()[0], 6);
  EXPECT_EQ(codeOf([&] { c.instance.resetState("tota"); }), "TW-RUNTIME-0015");
  std::vector<int64_t> two(2);
  EXPECT_EQ(codeOf([&] { c.instance.getState("count", std::span(two)); }), "TW-RUNTIME-0014");
}

TEST(Instance, InstancesHaveTheirOwnState) {
  Counter a;
  Instance b(a.program, 1);
  a.run();
  a.run();
  auto y = b.run({Tensor::of(a.x, {4}), Tensor::of(a.cache, {4})});
  EXPECT_EQ(floats(y[0])[0], 2);
}

TEST(Instance, OutlivesItsProgram) {
  auto program = std::make_unique<Program>(load("counter"));
  Instance instance(*program);
  program.reset();
  std::vector<float> x(4, 1), cache(4);
  EXPECT_EQ(floats(instance.run({Tensor::of(x, {4}), Tensor::of(cache, {4})})[0])[3], 5);
}

TEST(Instance, WritesToTheCallersMemory) {
  Counter c;
  alignas(64) float aligned[16] = {};
  int64_t count = 0;
  for (int shift : {0, 1}) { // in place, and through a copy
    std::vector<Tensor> outputs = {Tensor(aligned + shift, 16, TW_F32, {}), Tensor::scalar(count)};
    std::vector<Tensor> inputs = {Tensor::of(c.x, {4}), Tensor::of(c.cache, {4})};
    auto results = c.instance.run(inputs, outputs);
    EXPECT_EQ(results[0].data(), aligned + shift);
    EXPECT_EQ(aligned[shift], 2 + shift);
    EXPECT_EQ(count, 6 + shift);
  }
}

TEST(Instance, OutputMayBeTheInput) {
  Counter c;
  alignas(64) float x[4] = {1, 1, 1, 1};
  std::vector<Tensor> inputs = {Tensor(x, 16, TW_F32, {4}), Tensor::of(c.cache, {4})};
  std::vector<Tensor> outputs = {Tensor(x, 16, TW_F32, {4}), Tensor(nullptr, 0, TW_I64, {})};
  c.instance.run(inputs, outputs);
  EXPECT_EQ(x[3], 5);
}

TEST(Instance, OutputMayBeTheNextInput) {
  Counter c;
  auto y = c.run()[0]; // [2, 3, 4, 5] in the instance's memory
  auto next = c.instance.run({y, Tensor::of(c.cache, {4})});
  EXPECT_EQ(floats(next[0]), (std::vector<float>{5, 10, 17, 26}));
  EXPECT_EQ(codeOf([&] { c.instance.run({Tensor::of(c.x, {4}), next[0]}); }), "TW-RUNTIME-0018");
}

TEST(Instance, RefusesOutputsThatDoNotFit) {
  Counter c;
  std::vector<Tensor> inputs = {Tensor::of(c.x, {4}), Tensor::of(c.cache, {4})};
  std::vector<float> small(3);
  std::vector<Tensor> outputs = {Tensor::of(small, {3}), Tensor(nullptr, 0, TW_I64, {})};
  std::string message;
  EXPECT_EQ(codeOf([&] { c.instance.run(inputs, outputs); }, &message), "TW-RUNTIME-0014");
  EXPECT_EQ(message, "output \"y\" needs 16 bytes, but the buffer given has 12");
  EXPECT_EQ(tw_instance_output(c.instance.c(), 0), nullptr);
  outputs.pop_back();
  EXPECT_EQ(codeOf([&] { c.instance.run(inputs, outputs); }), "TW-RUNTIME-0009");
  EXPECT_EQ(codeOf([&] { c.instance.run(std::span<const Tensor>()); }), "TW-RUNTIME-0009");
}

TEST(Program, GivesOutputSizesWithoutARun) {
  Program program = load("dynamic");
  int64_t n = 4;
  auto inputs = [&](int64_t rows) {
    return std::vector<Tensor>{
        {nullptr, 0, TW_F32, {rows, 3}}, {nullptr, 0, TW_F32, {2 * rows}}, Tensor::scalar(n)};
  };
  EXPECT_EQ(program.outputSizes(inputs(5), 0), (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(program.outputSizes(inputs(5), 1), (std::vector<int64_t>{9}));
  EXPECT_EQ(program.outputSizes(inputs(0), 1), (std::vector<int64_t>{4}));
  EXPECT_EQ(codeOf([&] { program.outputSizes(inputs(513)); }), "TW-RUNTIME-0012");
  EXPECT_EQ(codeOf([&] { program.outputSizes(inputs(5), 2); }), "TW-RUNTIME-0018");
  EXPECT_EQ(load("counter").outputSizes({{nullptr, 0, TW_F32, {4}}, {nullptr, 0, TW_F32, {4}}}),
            (std::vector<int64_t>{4}));
}

TEST(Instance, StateHasItsOwnType) {
  Counter counter;
  std::vector<int64_t> count = {7};
  counter.instance.setState("count", std::span<const int64_t>(count));
  std::vector<double> other = {7}; // as many bytes
  EXPECT_THROW(counter.instance.setState("count", std::span<const double>(other)),
               std::invalid_argument);
  EXPECT_THROW(counter.instance.getState("count", std::span(other)), std::invalid_argument);
}

/// Runs dynamic.so with `rows` rows of ones, z = 1 and n.
static std::vector<Tensor> runDynamic(Instance &instance, int64_t rows, int64_t n) {
  std::vector<float> x(rows * 3, 1), z(rows * 2, 1);
  return instance.run({Tensor::of(x, {rows, 3}), Tensor::of(z, {rows * 2}), Tensor::scalar(n)});
}

TEST(Instance, DynamicSizesChangeBetweenRuns) {
  Program program = load("dynamic");
  for (int threads : {1, 3}) {
    Instance instance(program, threads);
    for (int64_t rows : {5, 1, 300, 0, 5, 512})
      for (int64_t n : {0, 4}) {
        auto outputs = runDynamic(instance, rows, n);
        EXPECT_EQ(outputs[0].sizes(), (std::vector<int64_t>{rows, 3}));
        EXPECT_EQ(floats(outputs[0]), std::vector<float>(rows * 3, 3));
        ASSERT_EQ(outputs[1].sizes(), (std::vector<int64_t>{rows + n}));
        for (int64_t i = 0; i < rows + n; ++i)
          EXPECT_EQ(outputs[1].values<int64_t>()[i], n + i);
        EXPECT_EQ(instance.memory().arena_bytes, instance.memory().arena_bound_bytes);
      }
  }
}

/// A call of the sizes of the one before is not asked for sizes again; all else of it is checked.
TEST(Instance, KnowsTheSizesOfTheCallBefore) {
  Program program = load("dynamic");
  Instance instance(program, 1);
  std::vector<float> ones(15, 1), twos(15, 2), z(10, 1);
  int64_t sizes[] = {5, 3};
  auto code = [&](std::vector<float> &x, int64_t n, auto change) {
    tw_tensor inputs[] = {Tensor::of(x, {5, 3}).c(), Tensor::of(z, {10}).c(),
                          Tensor::scalar(n).c()};
    int64_t zSize = 10;
    inputs[0].sizes = sizes;
    inputs[1].sizes = &zSize;
    change(inputs[0]);
    return codeOf([&] { check(tw_instance_run(instance.c(), inputs, 3, nullptr, 0)); });
  };
  auto output = [&](int32_t index) { return tw_instance_output(instance.c(), index)->data; };
  auto asItIs = [](tw_tensor &) {};
  for (int64_t n : {4, 4, 6, 6}) {
    EXPECT_EQ(code(ones, n, asItIs), "");
    EXPECT_EQ(static_cast<const int64_t *>(output(1))[0], n);
    EXPECT_EQ(code(twos, n, asItIs), "");
    EXPECT_EQ(static_cast<const float *>(output(0))[14], 5);
  }
  EXPECT_EQ(code(ones, 6, [](tw_tensor &x) { x.bytes = 59; }), "TW-RUNTIME-0014");
  EXPECT_EQ(code(ones, 6, asItIs), "");
  EXPECT_EQ(code(ones, 6, [](tw_tensor &x) { x.data = nullptr; }), "TW-RUNTIME-0014");
  EXPECT_EQ(code(ones, 6, asItIs), "");
  EXPECT_EQ(code(ones, 6, [](tw_tensor &x) { x.dtype = TW_I32; }), "TW-RUNTIME-0010");
  EXPECT_EQ(code(ones, 6, [](tw_tensor &x) { x.rank = 1; }), "TW-RUNTIME-0011");
  EXPECT_EQ(code(ones, 6, asItIs), "");
  EXPECT_EQ(static_cast<const float *>(output(0))[14], 3);
}

/// Of a static program, whose sizes are checked once, all else is checked in each call, too.
TEST(Instance, ChecksEachCallOfAStaticProgram) {
  Counter counter;
  std::vector<float> other = {5, 5, 5, 5};
  int64_t size = 4, wrong = 3;
  auto code = [&](std::vector<float> &x, auto change) {
    tw_tensor inputs[] = {Tensor::of(x, {4}).c(), Tensor::of(counter.cache, {4}).c()};
    inputs[0].sizes = inputs[1].sizes = &size;
    change(inputs);
    return codeOf([&] { check(tw_instance_run(counter.instance.c(), inputs, 2, nullptr, 0)); });
  };
  auto asItIs = [](tw_tensor *) {};
  auto first = [&](std::vector<float> &x) {
    EXPECT_EQ(code(x, asItIs), "");
    return *static_cast<const float *>(tw_instance_output(counter.instance.c(), 0)->data);
  };
  EXPECT_EQ(first(counter.x), 2);
  EXPECT_EQ(first(counter.x), 3);
  EXPECT_EQ(first(other), 12); // 5 and the sum of all three
  for (int32_t input : {0, 1}) {
    EXPECT_EQ(code(other, [&](tw_tensor *in) { in[input].bytes = 15; }), "TW-RUNTIME-0014");
    EXPECT_EQ(code(other, [&](tw_tensor *in) { in[input].data = nullptr; }), "TW-RUNTIME-0014");
    EXPECT_EQ(code(other, [&](tw_tensor *in) { in[input].dtype = TW_I32; }), "TW-RUNTIME-0010");
    EXPECT_EQ(code(other, [&](tw_tensor *in) { in[input].rank = 0; }), "TW-RUNTIME-0011");
    EXPECT_EQ(code(other, [&](tw_tensor *in) { in[input].sizes = &wrong; }), "TW-RUNTIME-0011");
    EXPECT_EQ(code(other, asItIs), "");
  }
}

/// Gives memory for outputs when it is asked.
struct Allocator {
  std::vector<std::vector<int64_t>> sizes;
  std::vector<std::vector<std::byte>> memory;
  int32_t refused = -1;

  static void *allocate(void *self, int32_t output, const tw_tensor *tensor) {
    auto &a = *static_cast<Allocator *>(self);
    EXPECT_EQ(static_cast<size_t>(output), a.sizes.size());
    EXPECT_EQ(tensor->data, nullptr);
    a.sizes.emplace_back(tensor->sizes, tensor->sizes + tensor->rank);
    a.memory.emplace_back(tensor->bytes);
    return output == a.refused ? nullptr : a.memory.back().data();
  }
};

TEST(Instance, AsksForTheMemoryOfOutputs) {
  Program program = load("dynamic");
  Instance instance(program, 2);
  for (int64_t rows : {3, 0, 40}) {
    std::vector<float> x(rows * 3, 1), z(rows * 2, 1);
    int64_t n = 2;
    tw_tensor inputs[] = {Tensor::of(x, {rows, 3}).c(), Tensor::of(z, {rows * 2}).c(),
                          Tensor::scalar(n).c()};
    int64_t xSizes[] = {rows, 3}, zSizes[] = {rows * 2};
    inputs[0].sizes = xSizes;
    inputs[1].sizes = zSizes;
    Allocator given, refusing;
    check(tw_instance_run_allocating(instance.c(), inputs, 3, Allocator::allocate, &given));
    EXPECT_EQ(given.sizes, (std::vector<std::vector<int64_t>>{{rows, 3}, {rows + 2}}));
    const auto *indices = reinterpret_cast<const int64_t *>(given.memory[1].data());
    EXPECT_EQ(indices[rows + 1], rows + 3);
    EXPECT_EQ(tw_instance_output(instance.c(), 1)->data, given.memory[1].data());
    refusing.refused = 1;
    EXPECT_EQ(codeOf([&] {
                check(tw_instance_run_allocating(instance.c(), inputs, 3, Allocator::allocate,
                                                 &refusing));
              }),
              "TW-RUNTIME-0017");
    EXPECT_EQ(tw_instance_output(instance.c(), 1), nullptr);
  }
  EXPECT_EQ(codeOf([&] {
              check(tw_instance_run_allocating(instance.c(), nullptr, 0, nullptr, nullptr));
            }),
            "TW-RUNTIME-0018");
}

TEST(Instance, RunsInTheChildOfAFork) {
  Program program = load("dynamic");
  Instance instance(program, 3);
  runDynamic(instance, 300, 2);
  pid_t child = fork();
  if (child == 0)
    _exit(floats(runDynamic(instance, 512, 2)[0]) == std::vector<float>(512 * 3, 3) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(runDynamic(instance, 300, 2)[0].sizes()[0], 300);
}

TEST(Instance, ReportsTheModelsAssertions) {
  Program program = load("dynamic");
  Instance instance(program, 1);
  std::string message;
  EXPECT_EQ(codeOf([&] { runDynamic(instance, 2, 13); }, &message), "TW-RUNTIME-0013");
  EXPECT_EQ(message, "n is 13, but rows are 2");
  EXPECT_EQ(runDynamic(instance, 2, 1)[1].bytes(), 24); // and goes on
}

TEST(Instance, DoesNotBelieveAProgramThatLies) {
  Program program = load("liar");
  Instance instance(program, 1);
  const char *expected[] = {"",
                            "TW-RUNTIME-0019",
                            "TW-RUNTIME-0019",
                            "TW-RUNTIME-0017",
                            "TW-RUNTIME-0019",
                            "TW-RUNTIME-0019",
                            "TW-RUNTIME-0019",
                            "TW-RUNTIME-0017",
                            "TW-RUNTIME-0019",
                            "TW-RUNTIME-0019",
                            "TW-RUNTIME-0017",
                            "TW-RUNTIME-0019"};
  for (int64_t lie = 0; lie < 12; ++lie)
    for (int again = 0; again < 2; ++again) // what it said is not believed of the same sizes later
      EXPECT_EQ(codeOf([&] { instance.run({Tensor::scalar(lie)}); }), expected[lie]) << lie;
}

TEST(Instance, RefusesASecondCallAtTheSameTime) {
  Counter c;
  struct Nested {
    Counter *counter;
    std::string own, others;
  } nested{&c, "", ""};
  // From inside a dispatch, the instance is in use.
  auto callback = [](void *user, int32_t, int64_t, int64_t) {
    auto &n = *static_cast<Nested *>(user);
    n.own = textOf([&] { n.counter->run(); });
    std::thread other([&] { n.others = textOf([&] { n.counter->instance.resetState(); }); });
    other.join();
  };
  check(tw_instance_set_trace(c.instance.c(), callback, &nested));
  EXPECT_EQ(floats(c.run()[0])[0], 2);
  const char *help = "  help: create one instance for each thread that runs the program\n";
  EXPECT_EQ(nested.own,
            std::string("error[TW-RUNTIME-0016]: tw_instance_run is called while tw_instance_run "
                        "uses the instance\n  note: both are calls of this thread\n") +
                help);
  EXPECT_EQ(nested.others,
            std::string("error[TW-RUNTIME-0016]: tw_instance_state_reset is called while "
                        "tw_instance_run uses the instance\n  note: that is a call of another "
                        "thread\n") +
                help);
}

TEST(Instance, LoopsAreCancelled) {
  Program program = load("endless");
  Instance instance(program, 1);
  auto trips = [&](int64_t count) {
    return instance.run({Tensor::scalar(count)})[0].values<int64_t>()[0];
  };
  EXPECT_EQ(trips(3), 3);
  int asked = 0;
  auto callback = [](void *user) -> int32_t { return ++*static_cast<int *>(user) == 3; };
  check(tw_instance_set_cancel(instance.c(), callback, &asked));
  std::string message;
  EXPECT_EQ(codeOf([&] { trips(INT64_MAX); }, &message), "TW-SYSTEM-0007");
  EXPECT_NE(message.find("cancelled by its caller"), std::string::npos) << message;
  EXPECT_EQ(trips(1000), 1000); // a short loop asks nobody
  EXPECT_EQ(asked, 3);
  check(tw_instance_set_cancel(instance.c(), nullptr, nullptr));
  EXPECT_EQ(trips(5), 5);
  EXPECT_EQ(codeOf([&] { check(tw_instance_set_cancel(nullptr, callback, &asked)); }),
            "TW-RUNTIME-0018");
}

TEST(Instance, ManyRunAtTheSameTime) {
  Program program = load("dynamic");
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Instance instance(program, 2);
      for (int i = 0; i < 50; ++i)
        good += floats(runDynamic(instance, 10 + t * i, 2)[0]) ==
                std::vector<float>(3 * (10 + t * i), 3);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 200);
}

TEST(Instance, RecordsAndTracesDispatches) {
  Counter c;
  std::vector<int> seen;
  auto callback = [](void *user, int32_t dispatch, int64_t begin, int64_t end) {
    EXPECT_LE(begin, end);
    static_cast<std::vector<int> *>(user)->push_back(dispatch);
  };
  c.run();
  EXPECT_EQ(tw_instance_recorded(c.instance.c(), 0).calls, 0);
  check(tw_instance_set_trace(c.instance.c(), callback, &seen));
  check(tw_instance_record(c.instance.c(), 1));
  c.run();
  c.run();
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 0, 1}));
  tw_dispatch_times times = tw_instance_recorded(c.instance.c(), 1);
  EXPECT_EQ(times.calls, 2);
  EXPECT_LE(times.min_ns, times.max_ns);
  EXPECT_LE(times.max_ns, times.total_ns);
  EXPECT_EQ(tw_instance_recorded(c.instance.c(), 2).calls, 0);
}

/// With one reading of the clock for each: within a run the next one begins when the last one ends.
TEST(Instance, SpansOfDispatchesFollowEachOther) {
  Counter c;
  using namespace tw::rt;
  ASSERT_TRUE(watchDispatches(c.instance.c(), true));
  c.run();
  int64_t between = nanoseconds();
  c.run();
  auto spans = takeSpans(c.instance.c());
  ASSERT_TRUE(spans);
  ASSERT_EQ(spans->size(), 4);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ((*spans)[i].dispatch, int32_t(i % 2));
    EXPECT_LE((*spans)[i].begin, (*spans)[i].end);
  }
  EXPECT_EQ((*spans)[0].end, (*spans)[1].begin);
  EXPECT_LE((*spans)[1].end, between);
  EXPECT_GE((*spans)[2].begin, between);
  EXPECT_EQ((*spans)[2].end, (*spans)[3].begin);
  c.run();
  EXPECT_EQ(takeSpans(c.instance.c())->size(), 2);
  for (size_t i = 0; i < Trace::keptSpans / 2 + 5; ++i) // the latest ones are kept
    c.run();
  spans = takeSpans(c.instance.c());
  ASSERT_EQ(spans->size(), Trace::keptSpans);
  EXPECT_TRUE(std::ranges::is_sorted(*spans, {}, &Trace::Span::begin));
  EXPECT_GE(spans->front().begin, between);
  ASSERT_TRUE(watchDispatches(c.instance.c(), false));
  c.run();
  EXPECT_EQ(takeSpans(c.instance.c())->size(), 0);
}

/// What a callback takes is no part of the next dispatch.
TEST(Instance, CallbacksAreBetweenDispatches) {
  Counter c;
  struct Seen {
    int64_t told = 0;
    int times = 0;
  } seen;
  auto callback = [](void *user, int32_t, int64_t begin, int64_t) {
    auto &s = *static_cast<Seen *>(user);
    EXPECT_GE(begin, s.told);
    s.told = tw::rt::nanoseconds();
    ++s.times;
  };
  check(tw_instance_set_trace(c.instance.c(), callback, &seen));
  c.run();
  EXPECT_EQ(seen.times, 2);
}

TEST(Instance, ChecksItsOptions) {
  Program program = load("counter");
  EXPECT_EQ(codeOf([&] { Instance(program, -1); }), "TW-RUNTIME-0018");
  EXPECT_EQ(codeOf([&] { Instance(program, 100000); }), "TW-RUNTIME-0018");
  EXPECT_EQ(tw_instance_threads(Instance(program, 3).c()), 3);
}

TEST(CApi, TakesNull) {
  tw_program_free(nullptr);
  tw_instance_free(nullptr);
  tw_status_free(nullptr);
  EXPECT_EQ(tw_status_category(nullptr), 0);
  EXPECT_STREQ(tw_status_text(nullptr), "");
  EXPECT_EQ(tw_program_describe(nullptr), nullptr);
  EXPECT_EQ(tw_instance_output(nullptr, 0), nullptr);
  tw_program *program = reinterpret_cast<tw_program *>(1);
  EXPECT_EQ(codeOf([&] { check(tw_program_load(nullptr, nullptr, &program)); }), "TW-RUNTIME-0018");
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(codeOf([&] { check(tw_program_load("x", nullptr, nullptr)); }), "TW-RUNTIME-0018");
  tw_instance *instance;
  EXPECT_EQ(codeOf([&] { check(tw_instance_create(nullptr, nullptr, &instance)); }),
            "TW-RUNTIME-0018");
  EXPECT_EQ(codeOf([&] { check(tw_instance_run(nullptr, nullptr, 0, nullptr, 0)); }),
            "TW-RUNTIME-0018");
  Counter c;
  EXPECT_EQ(codeOf([&] { check(tw_instance_run(c.instance.c(), nullptr, 2, nullptr, 0)); }),
            "TW-RUNTIME-0018");
  EXPECT_EQ(codeOf([&] { check(tw_instance_state_get(c.instance.c(), "total", nullptr, 16)); }),
            "TW-RUNTIME-0018");
}

TEST(CApi, KnowsDTypes) {
  EXPECT_STREQ(tw_dtype_name(TW_BF16), "bf16");
  EXPECT_EQ(tw_dtype_bytes(TW_I64), 8);
  EXPECT_EQ(tw_dtype_name(static_cast<tw_dtype>(99)), nullptr);
}
