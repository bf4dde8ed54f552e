// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Spec/DefaultSpec.h"
#include "llvm/ADT/STLExtras.h"

namespace tw::tune {

static constexpr char cpuSpec[] =
#include "Tune/CpuSpec.inc"
    ;
static constexpr char nvidiaSpec[] =
#include "Tune/NvidiaSpec.inc"
    ;

static constexpr std::pair<std::string_view, std::string_view> defaultSpecs[] = {
    {"cpu", cpuSpec}, {"nvidia", nvidiaSpec}};

Result<TuningSpec> readDefaultSpec(mlir::MLIRContext *context, const std::string &family) {
  const auto *found =
      llvm::find_if(defaultSpecs, [&](const auto &spec) { return spec.first == family; });
  assert(found != std::end(defaultSpecs) && "a family of targets has a spec");
  return TuningSpec::parse(context, found->second, "share/tuning/" + family + ".mlir", family);
}

} // namespace tw::tune
