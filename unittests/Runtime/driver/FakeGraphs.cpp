// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs of the tests' driver. Nodes run in the order of their edges and else the last one first,
// with the parameters that they had when the graph was launched; what is destroyed before its work
// has been done is a fault. Environment: FAKE_CUDA_GRAPHS (0: there is no memory for one),
// FAKE_CUDA_FORGETS (N: the Nth change of a node since the last graph was made is forgotten).
#include "FakeDriver.h"
#include <algorithm>
#include <set>

using namespace fake;

namespace {

enum class Kind { Kernel, Copy, Fill, Captured };

struct Node {
  Kind kind;
  Step step;
  std::set<const Node *> before;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};

struct Executable {
  std::vector<const Node *> nodes; // of the graph, to be named by
  std::vector<Step> steps;         // of the same
  std::vector<size_t> order;
  std::shared_ptr<bool> isAlive = std::make_shared<bool>(true);
};

std::map<void *, std::unique_ptr<Graph>> graphs;
std::map<void *, std::unique_ptr<Executable>> executables;
std::map<void *, Graph *> owners; // of nodes
long changesOfLast = 0;

template <typename Map>
auto lookUp(Map &map, void *handle) {
  auto found = map.find(handle);
  return found == map.end() ? nullptr : found->second.get();
}

Node *nodeOf(cu_node handle) {
  return owners.contains(handle) ? reinterpret_cast<Node *>(handle) : nullptr;
}

cu_result addNode(cu_node *handle, cu_graph into, const cu_node *after, size_t count, Kind kind,
                  Step step) {
  Graph *graph = lookUp(graphs, into);
  if (!graph)
    return CU_ERROR_INVALID_HANDLE;
  auto node = std::make_unique<Node>(Node{kind, std::move(step), {}});
  for (size_t i = 0; i < count; ++i) {
    if (!nodeOf(after[i]) || owners[after[i]] != graph)
      return CU_ERROR_INVALID_VALUE;
    node->before.insert(nodeOf(after[i]));
  }
  *handle = reinterpret_cast<cu_node>(node.get());
  owners[*handle] = graph;
  graph->nodes.push_back(std::move(node));
  return CU_SUCCESS;
}

cu_result change(cu_graph_exec executable, cu_node handle, Kind kind, Step step) {
  Executable *known = lookUp(executables, executable);
  Node *node = nodeOf(handle);
  if (!known || !node || node->kind != kind)
    return CU_ERROR_INVALID_VALUE;
  auto at = std::ranges::find(known->nodes, node);
  if (at == known->nodes.end())
    return CU_ERROR_INVALID_VALUE;
  ++counts["graph changes"];
  if (++changesOfLast != setting("FAKE_CUDA_FORGETS", 0))
    known->steps[size_t(at - known->nodes.begin())] = std::move(step);
  return CU_SUCCESS;
}

/// Nodes in an order that the edges allow, the last one first where they do not say; short of
/// some: they are a circle.
std::vector<size_t> orderOf(const Graph &graph) {
  std::vector<size_t> order;
  std::set<const Node *> done;
  auto isReady = [&](const Node &node) {
    return !done.contains(&node) && std::ranges::all_of(node.before, [&](const Node *before) {
      return done.contains(before);
    });
  };
  for (size_t i = graph.nodes.size(); i > 0; --i)
    if (isReady(*graph.nodes[i - 1])) {
      done.insert(graph.nodes[i - 1].get());
      order.push_back(i - 1);
      i = graph.nodes.size() + 1;
    }
  return order;
}

cu_result copyOf(const cu_copy_node &copy, Step &step) {
  if (copy.from.memory_type != CU_MEMORY_DEVICE || copy.to.memory_type != CU_MEMORY_DEVICE ||
      copy.height != 1 || copy.depth != 1)
    return CU_ERROR_INVALID_VALUE;
  return copyStep(copy.to.device, copy.from.device, copy.bytes, step);
}

cu_result fillOf(const cu_fill_node &fill, Step &step) {
  if (fill.height != 1)
    return CU_ERROR_INVALID_VALUE;
  return fillStep(fill.to, fill.pattern, fill.pattern_bytes, fill.count, step);
}

cu_result launchOf(const cu_kernel_node &kernel, Step &step) {
  if (kernel.kernel || kernel.extra)
    return CU_ERROR_INVALID_VALUE;
  return launchStep(kernel.function, kernel.grid, kernel.block, kernel.shared_bytes,
                    kernel.arguments, step);
}

} // namespace

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

TW_FAKE cu_result cuGraphCreate(cu_graph *graph, uint32_t) {
  TW_LOCKED;
  *graph = newHandle<cu_graph>();
  graphs[*graph] = std::make_unique<Graph>();
  return CU_SUCCESS;
}

TW_FAKE cu_result cuGraphDestroy(cu_graph graph) {
  TW_LOCKED;
  Graph *known = lookUp(graphs, graph);
  if (!known)
    return CU_ERROR_INVALID_HANDLE;
  for (auto &node : known->nodes)
    owners.erase(node.get());
  graphs.erase(graph);
  return CU_SUCCESS;
}

TW_FAKE cu_result cuGraphAddKernelNode_v2(cu_node *node, cu_graph graph, const cu_node *after,
                                          size_t count, const cu_kernel_node *kernel) {
  TW_LOCKED;
  Step step;
  if (cu_result error = launchOf(*kernel, step))
    return error;
  return addNode(node, graph, after, count, Kind::Kernel, std::move(step));
}

TW_FAKE cu_result cuGraphAddMemcpyNode(cu_node *node, cu_graph graph, const cu_node *after,
                                       size_t count, const cu_copy_node *copy, cu_context) {
  TW_LOCKED;
  Step step;
  if (cu_result error = copyOf(*copy, step))
    return error;
  return addNode(node, graph, after, count, Kind::Copy, std::move(step));
}

TW_FAKE cu_result cuGraphAddMemsetNode(cu_node *node, cu_graph graph, const cu_node *after,
                                       size_t count, const cu_fill_node *fill, cu_context) {
  TW_LOCKED;
  Step step;
  if (cu_result error = fillOf(*fill, step))
    return error;
  return addNode(node, graph, after, count, Kind::Fill, std::move(step));
}

TW_FAKE cu_result cuGraphAddDependencies_v2(cu_graph graph, const cu_node *from, const cu_node *to,
                                            const cu_edge *edges, size_t count) {
  TW_LOCKED;
  for (size_t i = 0; i < count; ++i) {
    Node *first = nodeOf(from[i]), *second = nodeOf(to[i]);
    if (!first || !second || owners[from[i]] != lookUp(graphs, graph))
      return CU_ERROR_INVALID_VALUE;
    bool isProgrammatic = edges && edges[i].type == CU_EDGE_PROGRAMMATIC;
    if (edges && (edges[i].from_port != (isProgrammatic ? CU_PORT_PROGRAMMATIC : 0) ||
                  edges[i].to_port != 0))
      return CU_ERROR_INVALID_VALUE;
    if (isProgrammatic && (first->kind != Kind::Kernel || second->kind != Kind::Kernel))
      return CU_ERROR_INVALID_VALUE;
    counts["programmatic edges"] += isProgrammatic;
    second->before.insert(first);
  }
  return CU_SUCCESS;
}

TW_FAKE cu_result cuGraphKernelNodeSetAttribute(cu_node node, int32_t attribute, const void *) {
  TW_LOCKED;
  Node *known = nodeOf(node);
  bool isKnown = known && known->kind == Kind::Kernel && attribute == CU_LAUNCH_CLUSTER;
  return isKnown ? CU_SUCCESS : CU_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------===//
// What is launched
//===----------------------------------------------------------------------===//

TW_FAKE cu_result cuGraphInstantiateWithFlags(cu_graph_exec *executable, cu_graph graph, uint64_t) {
  TW_LOCKED;
  Graph *known = lookUp(graphs, graph);
  if (!known)
    return CU_ERROR_INVALID_HANDLE;
  if (!setting("FAKE_CUDA_GRAPHS", 1))
    return CU_ERROR_OUT_OF_MEMORY;
  auto fresh = std::make_unique<Executable>();
  for (auto &node : known->nodes) {
    fresh->nodes.push_back(node.get());
    fresh->steps.push_back(node->step);
  }
  fresh->order = orderOf(*known);
  if (fresh->order.size() != known->nodes.size())
    return CU_ERROR_INVALID_VALUE;
  *executable = newHandle<cu_graph_exec>();
  executables[*executable] = std::move(fresh);
  ++counts["graphs"];
  ++counts["live graphs"];
  changesOfLast = 0;
  return CU_SUCCESS;
}

TW_FAKE cu_result cuGraphExecDestroy(cu_graph_exec executable) {
  TW_LOCKED;
  Executable *known = lookUp(executables, executable);
  if (!known)
    return CU_ERROR_INVALID_HANDLE;
  *known->isAlive = false;
  executables.erase(executable);
  --counts["live graphs"];
  return CU_SUCCESS;
}

TW_FAKE cu_result cuGraphExecKernelNodeSetParams_v2(cu_graph_exec executable, cu_node node,
                                                    const cu_kernel_node *kernel) {
  TW_LOCKED;
  Step step;
  if (cu_result error = launchOf(*kernel, step))
    return error;
  return change(executable, node, Kind::Kernel, std::move(step));
}

TW_FAKE cu_result cuGraphExecMemcpyNodeSetParams(cu_graph_exec executable, cu_node node,
                                                 const cu_copy_node *copy, cu_context) {
  TW_LOCKED;
  Step step;
  if (cu_result error = copyOf(*copy, step))
    return error;
  return change(executable, node, Kind::Copy, std::move(step));
}

TW_FAKE cu_result cuGraphExecMemsetNodeSetParams(cu_graph_exec executable, cu_node node,
                                                 const cu_fill_node *fill, cu_context) {
  TW_LOCKED;
  Step step;
  if (cu_result error = fillOf(*fill, step))
    return error;
  return change(executable, node, Kind::Fill, std::move(step));
}

TW_FAKE cu_result cuGraphLaunch(cu_graph_exec executable, cu_stream stream) {
  TW_LOCKED;
  Executable *known = lookUp(executables, executable);
  if (!known)
    return CU_ERROR_INVALID_HANDLE;
  std::vector<Step> steps;
  for (size_t number : known->order)
    steps.push_back(known->steps[number]);
  ++counts["graph launches"];
  return addWork(stream, [steps, isAlive = known->isAlive]() mutable -> cu_result {
    if (!*isAlive)
      return CU_ERROR_ILLEGAL_ADDRESS;
    for (Step &step : steps)
      if (cu_result error = step())
        return error;
    return CU_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

TW_FAKE cu_result cuStreamBeginCapture_v2(cu_stream stream, int32_t) {
  TW_LOCKED;
  std::shared_ptr<Queue> queue;
  if (cu_result error = find(stream, queue))
    return error;
  if (!stream || queue->capture)
    return CU_ERROR_CAPTURE_UNSUPPORTED;
  queue->capture = std::make_shared<Capture>();
  return CU_SUCCESS;
}

TW_FAKE cu_result cuStreamEndCapture(cu_stream stream, cu_graph *graph) {
  TW_LOCKED;
  std::shared_ptr<Queue> queue;
  if (cu_result error = find(stream, queue))
    return error;
  std::shared_ptr<Capture> capture = std::move(queue->capture);
  queue->capture = nullptr;
  if (!capture || capture->isBroken)
    return CU_ERROR_CAPTURE_INVALIDATED;
  *graph = newHandle<cu_graph>();
  graphs[*graph] = std::make_unique<Graph>();
  cu_node last = nullptr;
  for (Step &step : capture->steps)
    if (cu_result error =
            addNode(&last, *graph, &last, last ? 1 : 0, Kind::Captured, std::move(step)))
      return error;
  return CU_SUCCESS;
}
