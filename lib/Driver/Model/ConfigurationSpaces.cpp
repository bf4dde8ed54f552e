// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/ConfigurationSpaces.h"
#include "GraphToTile/Analysis/Subkernels/DispatchCalls.h"
#include "GraphToTile/Configuration/ChosenVariants.h"
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "IR/ModelLocation.h"
#include "IR/Tile/Tile.h"
#include "Program/Artifact/Describe.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tw {
using conversion::Configuration;
using conversion::ConfigurationChooser;
using conversion::ConfigurationProblem;
using conversion::Variant;
using tune::Point;

Configuration KernelSpace::at(const Point &point) const {
  Configuration made = configuration;
  made.fields.update(point);
  made.targetFields.update(point);
  return made;
}

//===----------------------------------------------------------------------===//
// Spaces
//===----------------------------------------------------------------------===//

namespace {

/// Makes the knobs of one kernel's space.
class KnobsOf {
public:
  KnobsOf(KernelSpace &made, const kernels::Numbers &most) : made(made), most(most) {}

  void add(const kernels::Fields &fields, const ConfigurationSchema *schema) {
    for (const auto &[name, value] : fields.numbers)
      add(schema, name, name, value);
    for (const auto &[name, list] : fields.lists)
      for (auto [index, value] : llvm::enumerate(list)) {
        kernels::ListElement element{name, index};
        add(schema, name, element.symbol(), value).element = element;
      }
  }

private:
  /// One that is at `value`.
  tune::Knob &add(const ConfigurationSchema *schema, const std::string &field,
                  const std::string &name, int64_t value) {
    made.point[name] = value;
    tune::Knob &knob = made.space.knobs.emplace_back(tune::Knob{name, {value}, {}});
    if (const ConfigurationField *known = schema ? schema->find(field) : nullptr) {
      knob.meaning = known->meaning;
      knob.values = valuesOf(*known, name, value);
    }
    return knob;
  }

  std::vector<int64_t> valuesOf(const ConfigurationField &field, const std::string &name,
                                int64_t value) const {
    constexpr int64_t unbounded = 16; // of a field that no size bounds
    auto found = most.find(name);
    int64_t greatest = field.kind == ConfigurationField::Flag ? 1
                       : found != most.end()                  ? found->second
                                                              : unbounded;
    std::vector<int64_t> values = tune::valuesBetween(field.least, std::max(greatest, field.least));
    // A list's 0 means all of the dimension, which is then the same as its size.
    auto own = made.chosen.find(name);
    for (int64_t each : {value, own == made.chosen.end() ? value : own->second})
      if (!llvm::is_contained(values, each))
        values.insert(llvm::upper_bound(values, each), each);
    return values;
  }

  KernelSpace &made;
  const kernels::Numbers &most;
};

/// What the kernel has, and which of its code the space is of.
void describeCode(KernelSpace &made, const ConfigurationProblem &problem,
                  const ConfigurationChooser &chooser, tile::ConfigurationAttr configured,
                  const SpaceRequest &request) {
  made.own = made.configuration = conversion::fromAttribute(configured);
  for (tile::VariantAttr each : configured.getVariants())
    made.variants.push_back(
        {{each.getMost(), each.getWorkers()}, conversion::fromAttribute(each.getConfiguration())});
  made.areVariantsGiven = made.variants != conversion::chooseVariants(problem, made.own, chooser);
  made.isChosen = !made.areVariantsGiven && made.own == chooser.choose(problem);
  if (auto size = request.sizes.find(made.kernel); size != request.sizes.end())
    made.callSize = size->second;
  made.bound =
      conversion::boundForCall(problem, made.own, made.variants,
                               {made.callSize, request.workers, request.addsForWorkers}, chooser);
  for (const Variant &variant : llvm::reverse(made.variants))
    if (!made.bound.isForAll() && variant.bound.takes(made.callSize, request.workers))
      made.configuration = variant.configuration;
}

/// What the target has for calls of the space.
Configuration choiceFor(const KernelSpace &kernel, const ConfigurationProblem &problem,
                        const ConfigurationChooser &chooser) {
  if (kernel.bound.workers == 0)
    return chooser.choose(problem);
  auto chosen = chooser.chooseForWorkers(problem, kernel.own);
  return chosen ? chosen->configuration : kernel.own;
}

/// What the kernel has to fit so that the variants that are given stay ones of it; but what it does
/// not fit now is no reason.
std::vector<kernels::Constraint> constraintsOfGiven(const KernelSpace &kernel,
                                                    const ConfigurationProblem &problem,
                                                    const ConfigurationChooser &chooser) {
  std::vector<kernels::Constraint> all;
  for (const Variant &variant : kernel.variants) {
    ConfigurationProblem same{problem.subkernel, problem.isRhsWeight, &kernel.own,
                              variant.bound.workers};
    llvm::append_range(all, conversion::spaceOf(same).constraints);
    llvm::append_range(all, chooser.constraints(same));
  }
  kernels::Numbers now = kernel.own.symbols();
  llvm::erase_if(all, [&](const kernels::Constraint &each) {
    return kernels::firstViolated({each}, now) != nullptr;
  });
  return all;
}

void fillSpace(KernelSpace &made, const ConfigurationProblem &problem,
               const ConfigurationChooser &chooser, const tile::TileDialect &dialect) {
  conversion::ConfigurationSpace space = conversion::spaceOf(problem);
  made.chosen = choiceFor(made, problem, chooser).symbols();
  KnobsOf knobs(made, space.most);
  knobs.add(made.configuration.fields, space.schema);
  knobs.add(made.configuration.targetFields, dialect.getSchema(made.configuration.target));
  made.space.constraints = std::move(space.constraints);
  llvm::append_range(made.space.constraints, chooser.constraints(problem));
  if (made.bound.isForAll() && made.areVariantsGiven)
    llvm::append_range(made.space.constraints, constraintsOfGiven(made, problem, chooser));
}

/// The operators that a kernel of a dispatch computes; all of the dispatch where its own are not
/// known.
std::string operatorsText(const conversion::Subkernel &subkernel,
                          const ConfiguredDispatch &dispatch) {
  std::vector<std::string> names;
  for (Location place : subkernel.locations)
    if (std::string name = nodeName(place); !name.empty() && !llvm::is_contained(names, name))
      names.push_back(std::move(name));
  return names.empty() ? dispatch.ops : tw::operatorsText(names);
}

/// All, or the one that is asked for, with its problem.
class Spaces {
public:
  Spaces(ModuleOp module, const ConfigurationChooser &chooser, const SpaceRequest &request)
      : chooser(chooser), request(request), calls(module) {
    for (ConfiguredDispatch &dispatch : configuredDispatches(module))
      configured.try_emplace(dispatch.kernel, std::move(dispatch));
  }

  /// Calls `take` with each kernel's space and problem.
  void forEach(llvm::function_ref<void(KernelSpace &, const ConfigurationProblem &)> take) const {
    for (func::FuncOp function : calls.functions)
      if (auto dispatch = configured.find(function.getName()); dispatch != configured.end())
        forEach(function, dispatch->second, take);
  }

private:
  void forEach(func::FuncOp function, const ConfiguredDispatch &dispatch,
               llvm::function_ref<void(KernelSpace &, const ConfigurationProblem &)> take) const {
    std::string why;
    FailureOr<conversion::DispatchAnalysis> analysis = calls.analyze(function, why);
    if (failed(analysis))
      return;
    auto subkernels = conversion::applyCuts(std::move(analysis->subkernels), analysis->temporaries,
                                            dispatch.configuration, chooser, why);
    if (!subkernels)
      return;
    for (auto [number, subkernel] : llvm::enumerate(*subkernels)) {
      ConfigurationProblem problem{subkernel, calls.isRhsWeight(function, subkernel)};
      KernelSpace made;
      made.kernel = conversion::kernelName(dispatch.kernel, subkernels->size(), number);
      made.signature = dispatch.signature;
      made.ops = operatorsText(subkernel, dispatch);
      made.operators = dispatch.operators;
      made.source = dispatch.source;
      made.number = number;
      made.calls = int64_t(calls.of(function).size());
      made.features = conversion::featuresOf(problem, dispatch.signature, int64_t(number));
      describeCode(made, problem, chooser, dispatch.configuration.getKernels()[number], request);
      conversion::VariantProblem variant(problem, made.own, made.bound);
      const ConfigurationProblem &searched = made.bound.isForAll() ? problem : variant.problem;
      fillSpace(made, searched, chooser,
                *function->getContext()->getLoadedDialect<tile::TileDialect>());
      take(made, searched);
    }
  }

  const ConfigurationChooser &chooser;
  const SpaceRequest &request;
  conversion::DispatchCalls calls;
  llvm::StringMap<ConfiguredDispatch> configured;
};

} // namespace

void forEachSpace(ModuleOp module, const ConfigurationChooser &chooser, const SpaceRequest &request,
                  llvm::function_ref<void(KernelSpace &, const ConfigurationProblem &)> take) {
  Spaces(module, chooser, request).forEach(take);
}

} // namespace tw
