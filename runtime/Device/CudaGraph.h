// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of work as a CUDA graph: a node for each piece, each after the one before.
#pragma once
#include "runtime/Device/CudaDevice.h"
#include "runtime/Device/WorkList.h"
#include <vector>

namespace tw::rt {

class CudaGraph final : public DeviceGraph {
public:
  /// RUNTIME_19 and RUNTIME_22.
  static Result<std::unique_ptr<DeviceGraph>> make(CudaDevice &device, const WorkList &work);
  ~CudaGraph() override;

  Status change(const WorkList &work, size_t index) override;
  Status launch(Stream stream) override;

private:
  explicit CudaGraph(CudaDevice &device) : device(device) {}
  Status add(const WorkList &work, size_t index);

  CudaDevice &device;
  cu_graph graph = nullptr;
  cu_graph_exec executable = nullptr;
  std::vector<cu_node> nodes; // name the executable's, too
};

} // namespace tw::rt
