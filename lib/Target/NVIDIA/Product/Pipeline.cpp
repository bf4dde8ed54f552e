// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/Pipeline.h"

using namespace mlir;

namespace tw::target::nvidia {

static tile::ConfigurationAttr ownConfiguration(tile::KernelOp kernel) {
  auto configuration =
      kernel->getAttrOfType<tile::ConfigurationAttr>(tile::TileDialect::configurationName);
  tile::ConfigurationAttr own = configuration ? configuration.getTarget() : nullptr;
  return own && own.getKind() == schemaName ? own : nullptr;
}

int64_t pipelineField(tile::KernelOp kernel, StringRef name) {
  tile::ConfigurationAttr own = ownConfiguration(kernel);
  auto field = own ? own.getFields().getAs<IntegerAttr>(name) : nullptr;
  return field ? field.getInt() : 0;
}

PipelineConfiguration pipelineOf(tile::KernelOp kernel, const ProductShape &shape,
                                 const GpuArchitecture &architecture) {
  if (!ownConfiguration(kernel))
    return choosePipeline(shape, architecture);
  return {pipelineField(kernel, stagesField), pipelineField(kernel, warpGroupsField),
          pipelineField(kernel, pingPongField) != 0, pipelineField(kernel, lateTriggerField) != 0};
}

} // namespace tw::target::nvidia
