// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device/CudaGraph.h"
#include <algorithm>

namespace tw::rt {

static cu_address address(const void *memory) { return reinterpret_cast<cu_address>(memory); }

static cu_kernel_node kernelNode(Kernel kernel, const tw_launch &launch,
                                 LaunchArguments &arguments) {
  cu_kernel_node node = {};
  node.function = static_cast<cu_function>(kernel);
  std::copy_n(launch.grid, 3, node.grid);
  std::copy_n(launch.block, 3, node.block);
  node.shared_bytes = launch.shared_bytes;
  node.arguments = arguments.pointers.data();
  return node;
}

static cu_copy_node copyNode(const WorkList::CopyWithin &copy) {
  cu_copy_node node = {};
  node.from.memory_type = node.to.memory_type = CU_MEMORY_DEVICE;
  node.from.device = address(copy.from);
  node.to.device = address(copy.to);
  node.bytes = static_cast<size_t>(copy.bytes);
  node.height = node.depth = 1;
  return node;
}

static cu_fill_node fillNode(const WorkList::Fill &fill) {
  return {address(fill.to),
          0,
          fill.pattern,
          static_cast<uint32_t>(fill.bytes),
          static_cast<size_t>(fill.count),
          1};
}

Result<std::unique_ptr<DeviceGraph>> CudaGraph::make(CudaDevice &device, const WorkList &work) {
  std::unique_ptr<CudaGraph> fresh(new CudaGraph(device));
  const char *doing = "making a graph";
  TW_TRY(device.check(device.driver.createGraph(&fresh->graph, 0), doing));
  fresh->nodes.reserve(work.size());
  for (size_t i = 0; i < work.size(); ++i)
    TW_TRY(fresh->add(work, i));
  TW_TRY(device.check(device.driver.instantiate(&fresh->executable, fresh->graph, 0), doing));
  return std::unique_ptr<DeviceGraph>(std::move(fresh));
}

CudaGraph::~CudaGraph() {
  EnteredDevice entered(device);
  if (!entered.status) // after a fault everything has gone
    return;
  if (executable)
    device.driver.destroyGraphExec(executable);
  if (graph)
    device.driver.destroyGraph(graph);
}

/// The edge before a kernel that may overlap its predecessor is one of its own; drivers have been
/// seen that gave edges which are added together all the kind of the first.
Status CudaGraph::add(const WorkList &work, size_t index) {
  const CudaDriver &driver = device.driver;
  const char *doing = "adding to a graph";
  bool isLaunch = work.kind(index) == WorkList::Kind::Launch;
  bool overlaps = isLaunch && index > 0 && work.kind(index - 1) == WorkList::Kind::Launch &&
                  (work.launch(index).flags & TW_LAUNCH_OVERLAPS);
  const cu_node *before = nodes.empty() ? nullptr : &nodes.back();
  size_t plainEdges = before && !overlaps ? 1 : 0;
  cu_node node = nullptr;
  switch (work.kind(index)) {
  case WorkList::Kind::Launch: {
    LaunchArguments arguments;
    tw_launch launch = work.launch(index);
    TW_TRY(device.prepare(launch, arguments));
    cu_kernel_node kernel = kernelNode(work.kernel(index), launch, arguments);
    TW_TRY(device.check(driver.addKernelNode(&node, graph, before, plainEdges, &kernel), doing));
    if (launch.cluster[0]) {
      cu_launch_attribute cluster = {};
      cluster.value.cluster = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
      TW_TRY(device.check(driver.setNodeAttribute(node, CU_LAUNCH_CLUSTER, &cluster.value), doing));
    }
    break;
  }
  case WorkList::Kind::Copy: {
    cu_copy_node copy = copyNode(work.copy(index));
    TW_TRY(device.check(driver.addCopyNode(&node, graph, before, plainEdges, &copy, device.context),
                        doing));
    break;
  }
  case WorkList::Kind::Fill: {
    cu_fill_node fill = fillNode(work.fill(index));
    TW_TRY(device.check(driver.addFillNode(&node, graph, before, plainEdges, &fill, device.context),
                        doing));
    break;
  }
  }
  if (overlaps) {
    cu_edge edge = {CU_PORT_PROGRAMMATIC, 0, CU_EDGE_PROGRAMMATIC, {}};
    TW_TRY(device.check(driver.addEdges(graph, before, &node, &edge, 1), doing));
  }
  nodes.push_back(node);
  return {};
}

Status CudaGraph::change(const WorkList &work, size_t index) {
  const CudaDriver &driver = device.driver;
  const char *doing = "changing a graph";
  switch (work.kind(index)) {
  case WorkList::Kind::Launch: {
    LaunchArguments arguments;
    tw_launch launch = work.launch(index);
    TW_TRY(device.prepare(launch, arguments));
    cu_kernel_node kernel = kernelNode(work.kernel(index), launch, arguments);
    return device.check(driver.setKernelNode(executable, nodes[index], &kernel), doing);
  }
  case WorkList::Kind::Copy: {
    cu_copy_node copy = copyNode(work.copy(index));
    return device.check(driver.setCopyNode(executable, nodes[index], &copy, device.context), doing);
  }
  case WorkList::Kind::Fill:
    break;
  }
  cu_fill_node fill = fillNode(work.fill(index));
  return device.check(driver.setFillNode(executable, nodes[index], &fill, device.context), doing);
}

Status CudaGraph::launch(Stream stream) {
  return device.check(device.driver.launchGraph(executable, static_cast<cu_stream>(stream)),
                      "launching a graph");
}

Result<std::unique_ptr<DeviceGraph>> CudaDevice::makeGraph(const WorkList &work) {
  return CudaGraph::make(*this, work);
}

} // namespace tw::rt
