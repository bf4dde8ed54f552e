// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Spec/DefaultSpec.h"

namespace tw::tune {

static constexpr char cpuSpec[] =
#include "Tune/CpuSpec.inc"
    ;
static constexpr char nvidiaSpec[] =
#include "Tune/NvidiaSpec.inc"
    ;

Result<TuningSpec> readDefaultSpec(mlir::MLIRContext *context, const std::string &target) {
  std::string_view text = target == "cpu" ? cpuSpec : nvidiaSpec;
  return TuningSpec::parse(context, text, "share/tuning/" + target + ".mlir", target);
}

} // namespace tw::tune
