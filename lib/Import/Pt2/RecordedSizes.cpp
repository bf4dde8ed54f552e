// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/RecordedSizes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace tw::pt2 {

using Kind = Argument::Kind;

static llvm::StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

namespace {

/// The names of one graph whose sizes are in doubt. Nodes come after those they use, so one walk
/// finds all.
class Doubts {
public:
  explicit Doubts(Graph &graph) : graph(graph) {
    for (auto &[name, meta] : graph.tensors)
      metas.try_emplace(ref(name), &meta);
  }

  /// Walks the graph, whose inputs are all in doubt or none. Returns whether an output is.
  bool spread(bool inputs);
  /// Whether the graph or one inside records the states of an LSTM wrongly.
  bool hasWrongRecord() const;

private:
  bool isWrongRecord(const Node &node) const;
  bool isDoubted(const Argument &argument) const;
  void doubt(const Argument &argument);
  bool spreadInside(Node &node, bool operands);

  Graph &graph;
  llvm::DenseMap<llvm::StringRef, TensorMeta *> metas;
  llvm::DenseSet<llvm::StringRef> doubted;
};

bool Doubts::isDoubted(const Argument &argument) const {
  return (argument.isName() && doubted.contains(ref(argument.text))) ||
         llvm::any_of(argument.elements, [&](const Argument &e) { return isDoubted(e); });
}

void Doubts::doubt(const Argument &argument) {
  if (argument.isName()) {
    doubted.insert(ref(argument.text));
    if (TensorMeta *meta = metas.lookup(ref(argument.text)))
      meta->sizesUnknown = true;
  }
  for (const Argument &element : argument.elements)
    doubt(element);
}

/// lstm.input(input, [h0, c0], ...) -> (output, h_n, c_n): states have the rank of initial states.
bool Doubts::isWrongRecord(const Node &node) const {
  if (node.target != "torch.ops.aten.lstm.input" || node.outputs.size() != 3)
    return false;
  auto states = llvm::find_if(node.inputs, [](const NamedArgument &a) { return a.name == "hx"; });
  if (states == node.inputs.end() || states->value.elements.size() != 2)
    return false;
  const TensorMeta *initial = metas.lookup(ref(states->value.elements[0].text));
  const TensorMeta *last = metas.lookup(ref(node.outputs[1].text));
  return initial && last && initial->sizes.size() != last->sizes.size();
}

bool Doubts::hasWrongRecord() const {
  return llvm::any_of(graph.nodes, [&](const Node &node) {
    return isWrongRecord(node) || llvm::any_of(node.inputs, [](const NamedArgument &given) {
             return given.value.graph && Doubts(*given.value.graph).hasWrongRecord();
           });
  });
}

/// The subgraphs of a node. What one round of a loop computes is an input of the next.
bool Doubts::spreadInside(Node &node, bool operands) {
  bool isLoop =
      llvm::is_contained({"torch.ops.higher_order.while_loop", "torch.ops.higher_order.scan",
                          "torch.ops.higher_order.map_impl"},
                         node.target);
  bool results = false;
  for (NamedArgument &given : node.inputs)
    if (given.value.graph) {
      Doubts inner(*given.value.graph);
      results |= inner.spread(operands || (isLoop && inner.hasWrongRecord()));
    }
  return results;
}

bool Doubts::spread(bool inputs) {
  if (inputs)
    llvm::for_each(graph.inputs, [&](const Argument &input) { doubt(input); });
  for (Node &node : graph.nodes) {
    bool operands =
        llvm::any_of(node.inputs, [&](const NamedArgument &a) { return isDoubted(a.value); });
    if (spreadInside(node, operands) || operands)
      llvm::for_each(node.outputs, [&](const Argument &output) { doubt(output); });
    else if (isWrongRecord(node))
      for (size_t state : {1, 2})
        doubt(node.outputs[state]);
  }
  return llvm::any_of(graph.outputs, [&](const Argument &output) { return isDoubted(output); });
}

} // namespace

void forgetWrongSizes(Program &program) {
  if (Doubts all(program.graph); all.hasWrongRecord())
    all.spread(/*inputs=*/false);
}

} // namespace tw::pt2
