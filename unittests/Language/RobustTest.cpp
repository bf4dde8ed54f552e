// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is not a mistake in one line of a kernel: requests that do not fit, values that travel
// between kernels, calls outside of kernels, exceptions that authors catch, and the C entry.
#include "Language/Trace.h"
#include "tilewright/KernelLibrary.h"
#include <gtest/gtest.h>
#include <thread>

using namespace tw::kernel;

namespace {

/// A value that a kernel left behind.
Tile leaked;

void scale() {
  Symbol M("M", {.min = 2, .max = 64, .multiple = 2});
  Buffer x = inout("x", f32, {M});
  auto [m] = grid(ceilDiv(M, parameter("B", 8)));
  store(x, {m}, 2 * load(x, {m}, {1}));
}

std::string errorOf(const std::function<void()> &kernel,
                    const std::vector<Binding> &bindings = {}) {
  TraceResult result = trace("k", kernel, bindings);
  return result.error ? result.error->message + " | " + result.error->help : "";
}

TEST(Kernels, ThatDoNotEnd) {
  const std::function<void()> kernels[] = {
      [] {
        Tile t = zeros({4}, f32);
        while (true)
          t = t + 1;
      },
      [] {
        Symbol M("M");
        Size n = M; // which leaves no operations behind
        while (true)
          n = n + 1;
      },
      [] {
        for (int64_t n = 1000;; n = ceilDiv(n, 1))
          ;
      },
      [] {
        Index i = 0;
        while (true)
          i = i + 1;
      },
      [] {
        auto [m] = grid(4);
        Index i = m;
        while (true)
          i = i * 1;
      },
  };
  for (const std::function<void()> &kernel : kernels)
    EXPECT_EQ(
        errorOf(kernel),
        "the kernel has more than 100000 operations | loops in C++ are unrolled while the kernel "
        "is traced: does this one end? Loops of the program are forLoop");
}

TEST(Kernels, NestedWithoutEnd) {
  std::function<void()> nested = [&] { forLoop(0, 4, 1, [&](Index) { nested(); }); };
  EXPECT_EQ(errorOf([&] {
              auto [m] = grid(1);
              nested();
            }),
            "the kernel nests more than 100 loops and branches | loops in C++ are unrolled while "
            "the kernel is traced: does this one end? Loops of the program are forLoop");
}

TEST(Kernels, SizesBesideOperations) {
  EXPECT_EQ(errorOf([] {
              auto [m] = grid(1);
              for (int64_t i = 0; i < 90'000; ++i)
                mod(i, 7);
            }),
            "");
}

TEST(Kernels, SizesOfTooManyTerms) {
  std::string error = errorOf([] {
    tw::kernel::Size size = Symbol("M");
    for (int i = 0; i < 9; ++i)
      size = size * size + Symbol("M" + std::to_string(i));
  });
  EXPECT_TRUE(error.starts_with("* of ")) << error;
  EXPECT_TRUE(error.ends_with("is too long | make the size of fewer terms")) << error;
}

TEST(Requests, ThatDoNotFit) {
  EXPECT_EQ(errorOf(scale, {{"M", 8}, {"B", 4}}), "");
  EXPECT_EQ(errorOf(scale, {{"N", 8}}),
            "kernel k has no parameter and no symbol called N | it has B, M");
  EXPECT_EQ(errorOf([] { grid(1); }, {{"N", 8}}),
            "kernel k has no parameter and no symbol called N | it has none at all");
  EXPECT_EQ(errorOf(scale, {{"M", 3}}),
            "symbol M is bound to 3, but must be from 2 to 64 and a multiple of 2 | ");
  EXPECT_EQ(errorOf(scale, {{"B", 0}}),
            "ceilDiv of M and 0 divides by 0 | divide by a number or size that is 1 or more");
  EXPECT_EQ(errorOf(scale, {{"B", -5}, {"M", 8}}),
            "extent 0 of the grid is -1 | extents are 0 or more");
}

TEST(Values, OfAnotherKernel) {
  EXPECT_EQ(errorOf([] {
              grid(1);
              leaked = zeros({4}, f32);
            }),
            "");
  EXPECT_NE(errorOf([] { leaked + 1; }).find("belongs to another kernel | make it in this kernel"),
            std::string::npos);
  leaked = Tile();

  Buffer buffer;
  EXPECT_EQ(errorOf([&] {
              buffer = input("x", f32, {4});
              grid(1);
            }),
            "");
  EXPECT_EQ(errorOf([&] { load(buffer, {0}, {1}); }),
            "load: buffer x belongs to another kernel | make it in this kernel");

  Symbol outside("M");
  EXPECT_EQ(errorOf([&] { input("x", f32, {outside}); }),
            "size M has the symbol M, which is not of this kernel | declare it in the kernel: "
            "Symbol M(\"M\");");
}

TEST(Values, KernelsInKernelsAndThreads) {
  std::string inner;
  EXPECT_EQ(errorOf([&] {
              Tile tile = zeros({4}, f32);
              inner = errorOf([&] { tile + 1; });
              auto [m] = grid(1);
              std::thread([] { zeros({4}, f32) + 1; }).join();
              tile + 1;
            }),
            "");
  EXPECT_NE(inner.find("belongs to another kernel"), std::string::npos) << inner;
}

TEST(Values, OutsideOfKernels) {
  Symbol M("M"), bad("not a name");
  Buffer x = input("x", f32, {M}), y = output("y", f32, {M}, 0);
  auto [m, n] = grid(M, ceilDiv(M, 0));
  Tile t = load(x, {m, n}, {1, M}, {.mask = Tile(), .pad = 1});
  store(y, {m}, select(t > 0, t, -t) + cast(iota({4}), f32));
  scatter(y, {t}, gather(x, {t, m}));
  auto [a, b] = forLoop(0, M, 0, carry(t, m), [](Index, Tile a, Index b) { return carry(a, b); });
  Tile c = ifThenElse(m == 0, [&] { return a; }, [&] { return dot(a, transpose(a)); });
  ifThen(extract(c) < 1.0, [] {});
  EXPECT_EQ(t.shape().size() + y.shape().size(), 0u);
  EXPECT_EQ((M * INT64_MAX * INT64_MAX).constant(), 0);
  EXPECT_EQ(Size(nullptr).str(), "0");
  EXPECT_EQ(parameter("B", 7), 7);
  EXPECT_EQ(sum(slice(reshape(t, {1}), {0}, {1}), 5).size(3).constant(), 0);
}

TEST(Errors, ThatAuthorsCatch) {
  // The first error counts, and what follows it is without effect.
  EXPECT_EQ(
      errorOf([] {
        Tile t;
        try {
          t = zeros({4}, f32) + zeros({5}, f32);
        } catch (...) {
        }
        auto [m] = grid(1);
        exp(t) + zeros({7}, f16);
      }),
      "+: shapes [4] and [5] do not fit: 4 against 5 | extents are equal, or one of them is 1");
  EXPECT_EQ(
      errorOf([] {
        Tile r = forLoop(0, 4, 1, zeros({4}, f32), [](Index, Tile t) {
          try {
            return t + zeros({5}, f32);
          } catch (...) {
            return t;
          }
        });
        store(Buffer(), {}, r);
      }),
      "+: shapes [4] and [5] do not fit: 4 against 5 | extents are equal, or one of them is 1");
}

TILEWRIGHT_KERNEL(twice) { grid(1); }

TEST(Library, Entry) {
  const tw_kernel_library *library = tilewright_kernel_library();
  const tw_kernel_list *list = library->list();
  const tw_kernel_description *twice = nullptr;
  for (size_t i = 0; i < list->count; ++i)
    if (list->kernels[i].name == std::string("twice"))
      twice = &list->kernels[i];
  ASSERT_TRUE(twice);
  EXPECT_STREQ(twice->file, __FILE__);
  EXPECT_STREQ(twice->doc, "");
  library->free_list(list);

  const tw_kernel_trace *trace = library->trace("thrice", nullptr, 0);
  EXPECT_FALSE(trace->text);
  EXPECT_STREQ(trace->error, "there is no kernel thrice");
  EXPECT_TRUE(std::string(trace->help).starts_with("there are: "));
  library->free_trace(trace);
  library->free_trace(nullptr);
  library->free_list(nullptr);
}

TEST(Library, TwoOfOneName) {
  static detail::Registration first("double", [] {}), second("double", [] {});
  const tw_kernel_trace *trace = tilewright_kernel_library()->trace("double", nullptr, 0);
  EXPECT_STREQ(trace->error, "two kernels are called double");
  tilewright_kernel_library()->free_trace(trace);
}

} // namespace
