// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph that is built in C++ and calls a kernel written by hand.
#include "Dispatch/Passes.h"
#include "Graph/Passes.h"
#include "Import/Text/Kernels.h"
#include "Program.h"
#include "Target/CPU/CPUTarget.h"
#include "Tile/Binding/BindCalls.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tw::test;

/// y = x + x[0] * scale.
static const char *kernelText = R"(
  tile.kernel @shift(in %x: !tile.buffer<[N], f32>, %scale: f64, out %y: !tile.buffer<[N], f32>)
      symbols [N] grid [N ceildiv 8] {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %p = tile.program_id 0
    %i = arith.muli %p, %c8 : index
    %t = tile.load %x[%i] : !tile.buffer<[N], f32> -> tensor<8xf32>
    %first = tile.load %x[%c0] : !tile.buffer<[N], f32> -> tensor<1xf32>
    %all = tile.broadcast %first : tensor<1xf32> -> tensor<8xf32>
    %s = arith.truncf %scale : f64 to f32
    %scales = tile.full %s : f32 -> tensor<8xf32>
    %shift = arith.mulf %all, %scales : tensor<8xf32>
    %v = arith.addf %t, %shift : tensor<8xf32>
    tile.store %v, %y[%i] : tensor<8xf32>, !tile.buffer<[N], f32>
  })";

/// main(x) = shift(shift(x, 2), 2).
static OwningOpRef<ModuleOp> makeGraph(MLIRContext &context, int64_t size) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  Location loc = b.getUnknownLoc();
  auto type = RankedTensorType::get({size}, b.getF32Type());
  auto main = func::FuncOp::create(b, loc, "main", b.getFunctionType({type}, {type}));
  b.setInsertionPointToStart(main.addEntryBlock());
  Value scale = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(2.0)), x = main.getArgument(0);
  for (int i = 0; i < 2; ++i)
    x = tw::graph::KernelCallOp::create(b, loc, TypeRange{type}, "shift", ValueRange{x, scale})
            .getResult(0);
  func::ReturnOp::create(b, loc, x);
  return module;
}

using KernelCall = Program;

TEST_F(KernelCall, FromCpp) {
  context.loadDialect<tw::graph::TWDialect, func::FuncDialect, scf::SCFDialect,
                      tensor::TensorDialect, arith::ArithDialect, LLVM::LLVMDialect>();
  auto target = tw::target::createCPUTarget(tw::target::CpuFeatures::of(tw::hostInstructionSet()));
  DialectRegistry registry;
  target->registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  auto library = tw::importKernelString(&context, kernelText, "shift.mlir");
  ASSERT_TRUE(library.ok());
  auto module = makeGraph(context, 10);
  PassManager passes(&context);
  passes.addPass(tw::tile::createBindCalls(library->get()));
  tw::buildGraphPipeline(passes, nullptr);
  tw::buildDispatchPipeline(passes);
  ASSERT_TRUE(succeeded(passes.run(*module)));
  build(*module, *target);
  Floats x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, y;
  for (float value : x)
    y.push_back(value + 2 + 6); // then x[0] is 3
  EXPECT_EQ(run({x})[0], y);
}
