// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/LoopConfiguration.h"
#include "GraphToTile/Analysis/Subkernels/LoopProperties.h"
#include "GraphToTile/Configuration/SplitReductions.h"
#include "Kernels/SplitParts.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::conversion {

using Tiling = LoopTiling;
static constexpr std::pair<const char *, int64_t Tiling::*> lists[] = {
    {"block", &Tiling::block},
    {"programs", &Tiling::programs},
    {"chunk", &Tiling::chunk},
};

const ConfigurationSchema &loopSchema() {
  using Field = ConfigurationField;
  static const ConfigurationSchema schema = kernels::withSplitParts(
      {"loops",
       {{"block", Field::List, 0, "elements of each dimension in a program; 0: all of them"},
        {"programs", Field::List, 1, "programs along each that follow each other on one worker"},
        {"chunk", Field::List, 0,
         "elements of each in a trip of a loop over what is reduced; 0: no loop"},
        {"parts", Field::Number, 1,
         "blocks that each of what is stored side by side is cut into"}}});
  return schema;
}

Fields fieldsOf(const LoopConfiguration &configuration) {
  Fields fields(kernels::withChosenSplitParts({{"parts", configuration.parts}}));
  for (auto [name, member] : lists)
    for (const Tiling &tiling : configuration.tilings)
      fields.lists[name].push_back(tiling.*member);
  return fields;
}

LoopConfiguration loopsFrom(const Fields &fields, const LoopProgram &program) {
  LoopConfiguration made;
  made.tilings.resize(program.dims.size());
  if (auto parts = fields.numbers.find("parts"); parts != fields.numbers.end())
    made.parts = parts->second;
  for (auto [name, member] : lists)
    if (auto list = fields.lists.find(name); list != fields.lists.end())
      for (size_t dim = 0; dim < std::min(list->second.size(), made.tilings.size()); ++dim)
        made.tilings[dim].*member = list->second[dim];
  return made;
}

static std::string element(const char *list, int dim) {
  return kernels::ListElement{list, size_t(dim)}.symbol();
}

/// Parts that are stored side by side are cut into as many blocks each.
static void constrainParts(const LoopProgram &program, const std::vector<int> &partDims,
                           std::vector<Constraint> &constraints) {
  if (partDims.empty())
    constraints.emplace_back("parts", "1", "nothing is stored side by side");
  for (int dim : partDims) {
    constexpr char why[] = "blocks of what is stored side by side are as many in each part";
    std::string block = element("block", dim);
    std::string share = fmt::format("({} ceildiv parts)", *program.dims[dim].size);
    std::string wanted = share + " * (1 - 1 floordiv parts)"; // one part has all, which 0 says
    constraints.emplace_back(block, wanted, why);
    constraints.emplace_back(wanted, block, why);
    constraints.emplace_back("parts", fmt::format("{} ceildiv {}", *program.dims[dim].size, share),
                             why);
  }
}

std::vector<Constraint> loopConstraints(const LoopProgram &program) {
  std::vector<Constraint> constraints;
  std::vector<bool> parallel = parallelDims(program);
  std::vector<int> parts = partDims(program);
  for (int dim = 0; dim < int(parallel.size()); ++dim)
    if (parallel[dim])
      constraints.emplace_back("1", element("block", dim),
                               "a program has a block of the dimension");
    else if (std::find(parts.begin(), parts.end(), dim) == parts.end())
      constraints.emplace_back(element("block", dim), "0",
                               "the dimension is reduced, so that a program has all of it");
  constrainParts(program, parts, constraints);
  for (int dim : program.unitDims) {
    constexpr char why[] = "a dimension is needed element by element";
    constraints.emplace_back(element("block", dim), "1", why);
    if (program.dims[dim].size != 1)
      constraints.emplace_back("1", element("block", dim), why);
  }
  for (int dim = 0; dim < int(parallel.size()); ++dim) {
    if (positionsInLoop(program, dim).empty())
      constraints.emplace_back(element("chunk", dim), "0",
                               "no loop can go over chunks of what is not reduced, or stored");
    for (int other = 0; other < dim; ++other)
      constraints.emplace_back(element("chunk", dim) + " * " + element("chunk", other), "0",
                               "one dimension at most is walked along in chunks");
  }
  std::string chunks = "0";
  for (int dim = 0; dim < int(parallel.size()); ++dim)
    chunks += " + " + element("chunk", dim);
  constraints.push_back(kernels::splitPartsConstraint(chunks));
  return constraints;
}

} // namespace tw::conversion
