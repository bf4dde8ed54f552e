// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/Pipeline.h"

using namespace mlir;

namespace tw::target::nvidia {

PipelineConfiguration pipelineOf(tile::KernelOp kernel, const ProductShape &shape,
                                 const GpuArchitecture &architecture) {
  auto configuration =
      kernel->getAttrOfType<tile::ConfigurationAttr>(tile::TileDialect::configurationName);
  tile::ConfigurationAttr own = configuration ? configuration.getTarget() : nullptr;
  if (!own || own.getKind() != schemaName)
    return choosePipeline(shape, architecture);
  auto number = [&](StringRef name) {
    auto field = own.getFields().getAs<IntegerAttr>(name);
    return field ? field.getInt() : 0;
  };
  return {number(stagesField), number(warpGroupsField)};
}

} // namespace tw::target::nvidia
