// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An architecture without what Hopper brought is a further row of the table: its kernels have the
// plain lowering, without instructions that it does not have. The row is this test's own.
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "Import/Text/Kernels.h"
#include "Support/GpuCode.h"
#include "Target/NVIDIA/Code/Ptxas.h"
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/PlainCost.h"
#include "Target/NVIDIA/Configuration/ProductCost.h"
#include "Target/NVIDIA/NVIDIATarget.h"
#include "Tile/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/ProgramABI.h"
#include "unittests/Kernels/Specs.h"
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace tw;
using namespace tw::target;

namespace {

const GpuArchitecture &hopper() { return *gpuArchitecture("sm_90a"); }

/// As A100 is, but for latencies, which are Hopper's.
GpuArchitecture ampere() {
  GpuArchitecture made = hopper();
  made.name = "sm_80";
  made.sharedBytes = 163 << 10;
  made.multiprocessors = 108;
  made.cachedBytes = 20 << 20;
  made.capabilities = {};
  made.rates.products = 1024;
  made.rates.operations = 64;
  made.rates.memoryBytes = 1100;
  return made;
}

/// Of kernels: their PTX, what ptxas makes of it, remarks, and the flags of their launches.
struct Emitted {
  std::string ptx, image, said;
  std::vector<int64_t> flags;
};

/// What is stored to the flags of a tw_launch.
std::vector<int64_t> flagsOf(mlir::ModuleOp host) {
  std::vector<int64_t> all;
  host.walk([&](mlir::LLVM::StoreOp op) {
    auto address = op.getAddr().getDefiningOp<mlir::LLVM::GEPOp>();
    mlir::APInt offset, value;
    if (address && op.getValue().getType().isInteger(32) && address.getElemType().isInteger(8) &&
        mlir::matchPattern(address.getDynamicIndices().front(), mlir::m_ConstantInt(&offset)) &&
        offset == offsetof(tw_launch, flags) &&
        mlir::matchPattern(op.getValue(), mlir::m_ConstantInt(&value)))
      all.push_back(value.getSExtValue());
  });
  return all;
}

Emitted emit(const std::string &file, const GpuArchitecture &architecture) {
  Emitted made;
  mlir::DialectRegistry registry;
  conversion::registerConfigurations(registry);
  registerNVIDIAConfigurations(registry);
  mlir::MLIRContext context{registry, mlir::MLIRContext::Threading::DISABLED};
  mlir::ScopedDiagnosticHandler handler{&context, [&](mlir::Diagnostic &diagnostic) {
                                          made.said += diagnostic.str() + "\n";
                                          return mlir::success();
                                        }};
  std::stringstream text;
  text << std::ifstream(std::string(TW_KERNELS) + "/" + file + ".mlir").rdbuf();
  auto module = importKernelString(&context, text.str(), file);
  EXPECT_TRUE(bool(module)) << file;
  auto kernel = mlir::cast<tile::KernelOp>(*findKernel(**module, "", file));
  mlir::PassManager passes(&context, tile::KernelOp::getOperationName());
  passes.addPass(tile::createSimplify());
  EXPECT_TRUE(mlir::succeeded(passes.run(kernel))) << file;
  auto target = createNVIDIATarget(architecture);
  auto ptx = target->deviceText(kernel, "assembly", nullptr);
  EXPECT_TRUE(mlir::succeeded(ptx)) << made.said;
  made.ptx = *ptx;
  mlir::OwningOpRef<mlir::ModuleOp> host = mlir::ModuleOp::create((*module)->getLoc());
  auto info = target->emit(kernel, *host);
  EXPECT_TRUE(mlir::succeeded(info) && mlir::succeeded(target->finish(nullptr))) << made.said;
  made.image = info->device->image;
  made.flags = flagsOf(*host);
  return made;
}

/// Instructions that PTX ISA has from sm_90 on.
constexpr const char *hopperOnly[] = {
    "wgmma",      "cp.async.bulk",     "stmatrix",          "griddepcontrol",
    "setmaxnreg", "mbarrier.try_wait", "fence.proxy.async", "elect.sync",
    "cluster"};

struct Kernel {
  const char *file;
  std::vector<const char *> onHopper; // that show that the architecture makes the difference
  const char *remark = "";            // of the other one
};

const Kernel kernels[] = {
    {"product",
     {"wgmma.mma_async", "cp.async.bulk.tensor", "stmatrix", "setmaxnreg", "griddepcontrol"},
     "multiplies without tensor cores: sm_80 has no wgmma, no cp.async.bulk.tensor, no "
     "cp.async.bulk, no stmatrix, no setmaxnreg, no griddepcontrol"},
    {"computed-left", {"wgmma.mma_async"}, "multiplies without tensor cores: sm_80 has no wgmma"},
    {"attention", {"wgmma.mma_async", "stmatrix"}, "multiplies without tensor cores: sm_80 has no"},
    {"rows-in-shared-memory",
     {"cp.async.bulk.shared"},
     "does not bring long rows into shared memory: sm_80 has no cp.async.bulk"},
    {"rows-in-turns",
     {"cp.async.bulk.shared"},
     "does not bring long rows into shared memory: sm_80 has no cp.async.bulk"},
    {"rows", {"griddepcontrol"}},
    {"dot", {"griddepcontrol"}},
    {"reduce", {"griddepcontrol"}},
    {"elementwise", {"griddepcontrol"}},
};

TEST(Architecture, WithoutWhatHopperBroughtHasThePlainLowering) {
  const GpuArchitecture older = ampere();
  for (const Kernel &kernel : kernels) {
    SCOPED_TRACE(kernel.file);
    Emitted made = emit(kernel.file, older), hoppers = emit(kernel.file, hopper());
    EXPECT_NE(made.ptx.find(".target sm_80"), std::string::npos);
    for (const char *instruction : hopperOnly)
      EXPECT_EQ(made.ptx.find(instruction), std::string::npos) << instruction;
    for (const char *instruction : kernel.onHopper)
      EXPECT_NE(hoppers.ptx.find(instruction), std::string::npos) << instruction;
    EXPECT_NE(made.said.find(kernel.remark), std::string::npos) << made.said;
    EXPECT_EQ(hoppers.said.find("has no"), std::string::npos) << hoppers.said;
    ASSERT_FALSE(made.flags.empty());
    for (int64_t flags : made.flags) // nobody waits for the launch before
      EXPECT_EQ(flags, 0);
    EXPECT_TRUE(llvm::any_of(hoppers.flags,
                             [](int64_t flags) { return (flags & TW_LAUNCH_OVERLAPS) != 0; }));
    if (nvidia::ptxasPath()) {
      EXPECT_TRUE(llvm::StringRef(made.image).starts_with("\177ELF")) << "ptxas refuses it";
    }
  }
}

TEST(Architecture, ChoosesConfigurationsOfThePlainLowering) {
  const GpuArchitecture older = ampere();
  kernels::Contraction product = kernels::product(2048, 1280, 1280, true);
  for (kernels::BufferSpec &buffer : product.buffers)
    if (!buffer.isOutput)
      buffer.dtype = kernel::f16;
  conversion::Subkernel subkernel{product, {}, {}};
  for (const GpuArchitecture *architecture : {&older, &hopper()}) {
    auto chooser = createNVIDIAChooser(*architecture);
    kernels::Configuration chosen = chooser->choose({subkernel, /*isRhsWeight=*/true});
    bool isHopper = architecture == &hopper();
    EXPECT_EQ(chosen.targetFields.numbers.empty(), !isHopper);
    EXPECT_EQ(chooser->splitLimits().enoughPrograms, architecture->multiprocessors);
    EXPECT_EQ(chooser->variantSizes({subkernel}).size(),
              isHopper ? std::size(nvidia::productVariants) : std::size(nvidia::plainVariants));
  }
}

/// Times follow from the row of the table: nothing of Hopper stands in the models.
TEST(Architecture, RatesAreData) {
  GpuArchitecture faster = hopper();
  faster.rates.products *= 2, faster.rates.loadedBytes *= 2, faster.rates.storedBytes *= 2,
      faster.rates.memoryBytes *= 2;
  kernels::Contraction product = kernels::product(8192, 8192, 8192, true);
  for (kernels::BufferSpec &buffer : product.buffers)
    if (!buffer.isOutput)
      buffer.dtype = kernel::f16;
  nvidia::ProductConfiguration chosen = nvidia::chooseProduct(product, hopper());
  EXPECT_NEAR(nvidia::productCost(product, chosen, faster) /
                  nvidia::productCost(product, chosen, hopper()),
              0.5, 0.1);
  nvidia::ProgramCost rows;
  rows.bytes = 1e6;
  EXPECT_NEAR(nvidia::cyclesOfLaunch(rows, 1320, 1, faster) /
                  nvidia::cyclesOfLaunch(rows, 1320, 1, hopper()),
              0.5, 0.1);
}

TEST(Architecture, OfTheTableAreComplete) {
  for (const GpuArchitecture &each : gpuArchitectures()) {
    EXPECT_EQ(gpuArchitecture(each.name), &each);
    for (double rate :
         {each.rates.products, each.rates.exponentials, each.rates.operations, each.rates.issued,
          each.rates.loadedBytes, each.rates.storedBytes, each.rates.memoryBytes, each.rates.launch,
          each.rates.beginBlock, each.rates.beginWarp, each.rates.load, each.rates.barrier,
          each.rates.beginTensorCores})
      EXPECT_GT(rate, 0) << each.name.str();
    EXPECT_EQ(whyNoTensorCores(each), "") << "no lowering of dot for " << each.name.str();
  }
  EXPECT_EQ(gpuArchitecture("sm_80"), nullptr);
  // What tools without the compiler know of it.
  EXPECT_TRUE(llvm::equal(gpuCode, gpuArchitectures(), [](std::string_view name, const auto &each) {
    return llvm::StringRef(name) == each.name;
  }));
}

} // namespace
