// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds an artifact from text of the dispatch level and runs it through the runtime. Kernels come
// from LLVM text, so that these tests need no target.
#pragma once
#include "IR/Graph/Graph.h"
#include "Program/Artifact/Artifact.h"
#include "Program/ObjectCode/Machine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tilewright/tilewright.h"
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tw::test {

/// Gives kernels from LLVM text; `infos` says how they are called.
class TextTarget : public target::Target {
public:
  llvm::StringRef name() const override { return "text"; }
  mlir::FailureOr<target::KernelInfo> emit(mlir::Operation *kernel, mlir::ModuleOp into,
                                           const Cancellation *) override {
    std::string name = mlir::cast<mlir::func::FuncOp>(kernel).getName().str();
    auto source = mlir::parseSourceString<mlir::ModuleOp>(code(name), kernel->getContext());
    for (mlir::Operation &op : llvm::make_early_inc_range(*source->getBody()))
      op.moveBefore(into.getBody(), into.getBody()->end());
    target::KernelInfo info;
    info.name = name;
    info.iterations = fixed ? std::optional<int64_t>(iterations) : std::nullopt;
    info.workspaceBytes = 0;
    info.inPlace = {{0, 0}};
    info.passedSizes =
        target::dynamicSizes(mlir::cast<mlir::func::FuncOp>(kernel).getArgumentTypes());
    return info;
  }
  void registerDialects(mlir::DialectRegistry &) const override {}

  bool fixed = true;
  int64_t iterations = 4; // elements of every tensor

private:
  /// out[i] = 2 * in[i] for f32; the number of elements is the first scalar when not fixed.
  static std::string code(const std::string &name) {
    return "llvm.func @" + name +
           R"((%b: !llvm.ptr, %s: !llvm.ptr, %w: !llvm.ptr, %from: i64, %to: i64) {
      %one = llvm.mlir.constant(1 : i64) : i64
      %x = llvm.load %b : !llvm.ptr -> !llvm.ptr
      %slot = llvm.getelementptr %b[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
      %y = llvm.load %slot : !llvm.ptr -> !llvm.ptr
      llvm.br ^head(%from : i64)
    ^head(%i: i64):
      %more = llvm.icmp "slt" %i, %to : i64
      llvm.cond_br %more, ^body, ^done
    ^body:
      %px = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %py = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %px : !llvm.ptr -> f32
      %twice = llvm.fadd %v, %v : f32
      llvm.store %twice, %py : f32, !llvm.ptr
      %next = llvm.add %i, %one : i64
      llvm.br ^head(%next : i64)
    ^done:
      llvm.return
    }
    llvm.func internal @)" +
           name + R"(_info(%s: !llvm.ptr, %out: !llvm.ptr) {
      %zero = llvm.mlir.constant(0 : i64) : i64
      %n = llvm.load %s : !llvm.ptr -> i64
      llvm.store %n, %out : i64, !llvm.ptr
      %slot = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
      llvm.store %zero, %slot : i64, !llvm.ptr
      llvm.return
    })";
  }
};

/// One artifact, loaded. Its @main may call @twice (static) on tensors.
class Program : public testing::Test {
protected:
  ~Program() override {
    tw_instance_free(instance);
    tw_program_free(program);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  void build(const std::string &text, TextTarget target = {}) {
    context.loadDialect<graph::TWDialect, mlir::func::FuncDialect, mlir::scf::SCFDialect,
                        mlir::tensor::TensorDialect, mlir::arith::ArithDialect,
                        mlir::LLVM::LLVMDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    build(*module, target);
  }

  void build(mlir::ModuleOp module, target::Target &target) {
    std::filesystem::create_directories(folder);
    ArtifactOptions options;
    options.output = folder + "/program.so";
    options.model = "test";
    options.target = "reference";
    options.cpu = hostInstructionSet();
    ASSERT_TRUE(succeeded(writeArtifact(module, target, options)));
    load(options.output);
  }

  void load(const std::string &path) {
    ASSERT_NO_FATAL_FAILURE(check(tw_program_load(path.c_str(), nullptr, &program)));
    ASSERT_NO_FATAL_FAILURE(check(tw_instance_create(program, nullptr, &instance)));
  }

  void check(tw_status *status) {
    std::string text = status ? tw_status_text(status) : "";
    tw_status_free(status);
    ASSERT_EQ(text, "");
  }

  static tw_tensor tensor(std::vector<float> &values, std::vector<int64_t> &sizes) {
    return {values.data(), int64_t(values.size() * 4), TW_F32, int32_t(sizes.size()), sizes.data()};
  }

  /// Runs with vectors of f32 and returns all outputs as f32.
  std::vector<std::vector<float>> run(std::vector<std::vector<float>> inputs) {
    std::vector<std::vector<int64_t>> sizes;
    for (auto &input : inputs)
      sizes.push_back({int64_t(input.size())});
    std::vector<tw_tensor> in;
    for (size_t i = 0; i < inputs.size(); ++i)
      in.push_back(tensor(inputs[i], sizes[i]));
    std::vector<tw_tensor> out(tw_program_describe(program)->output_count);
    check(
        tw_instance_run(instance, in.data(), int32_t(in.size()), out.data(), int32_t(out.size())));
    std::vector<std::vector<float>> results;
    for (size_t i = 0; i < out.size(); ++i) {
      const tw_tensor &t = *tw_instance_output(instance, int32_t(i));
      results.emplace_back(static_cast<float *>(t.data),
                           static_cast<float *>(t.data) + t.bytes / 4);
    }
    return results;
  }

  const tw_tensor &output(int index) { return *tw_instance_output(instance, index); }

  mlir::MLIRContext context;
  std::string folder = testing::TempDir() + "tw_program_" + std::to_string(getpid());
  tw_program *program = nullptr;
  tw_instance *instance = nullptr;
};

/// A declaration of the kernel, with a body that is never looked at.
inline const std::string twice = R"(
  func.func private @twice(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32>
      attributes {tw.kernel} { return %o : tensor<4xf32> }
)";

using Floats = std::vector<float>;

} // namespace tw::test
