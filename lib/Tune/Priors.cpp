// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Priors.h"
#include <algorithm>
#include <cmath>

namespace tw::tune {

/// The place among all measured points of the first that is as good as the best, in the order of
/// what is expected with the prior; as a logarithm.
static double placeOfBest(const RecordedKernel &kernel, const CorrectionPrior *prior) {
  constexpr double asGood = 1.02;
  Candidate start{parsePoint(kernel.kernel.start), kernel.description.startCost};
  CostCorrection correction(kernel.description.space, start, prior);
  correction.fit();
  std::vector<std::pair<double, double>> points; // expected and measured
  double least = 1;
  for (const Measurement &each : kernel.measurements)
    if (each.rejection.empty() && each.cost) {
      points.emplace_back(correction.expectedRatio(each.point, each.cost), each.ratio.median);
      least = std::min(least, each.ratio.median);
    }
  std::ranges::sort(points);
  auto found = std::ranges::find_if(
      points, [&](const auto &point) { return point.second <= asGood * least; });
  return std::log(1 + double(found - points.begin()));
}

KindPrior::KindPrior(std::span<const RecordedKernel> known) {
  std::vector<const RecordedKernel *> useful;
  for (const RecordedKernel &each : known)
    if (CorrectionPrior own(each); !own.isEmpty()) {
      bySizes[each.description.sizes].prior.add(own);
      all.add(own);
      useful.push_back(&each);
    }
  // What others say of a kernel, without its own sizes: all but these, which leaves rounding errors
  // far below what a regression adds to be solvable.
  for (const RecordedKernel *each : useful) {
    SameSizes &own = bySizes.at(each->description.sizes);
    CorrectionPrior others = all;
    others.subtract(own.prior);
    if (others.isEmpty())
      continue;
    double ahead = placeOfBest(*each, nullptr) - placeOfBest(*each, &others);
    own.gain += ahead;
    gain += ahead;
  }
}

CorrectionPrior KindPrior::of(const RecordedKernel &kernel) const {
  auto own = bySizes.find(kernel.description.sizes);
  if (own == bySizes.end())
    return gain > 0 ? all : CorrectionPrior();
  if (gain - own->second.gain <= 0)
    return {};
  CorrectionPrior others = all;
  others.subtract(own->second.prior);
  return others;
}

Priors::Priors(std::span<const RecordedKernel> known) {
  std::map<KernelKind, std::vector<RecordedKernel>> byKind;
  for (const RecordedKernel &each : known)
    byKind[kindOf(each)].push_back(each);
  for (const auto &[kind, kernels] : byKind)
    kinds.emplace(kind, KindPrior(kernels));
}

CorrectionPrior Priors::of(const RecordedKernel &kernel) const {
  auto found = kinds.find(kindOf(kernel));
  return found == kinds.end() ? CorrectionPrior() : found->second.of(kernel);
}

Result<CorrectionPrior> DatabasePriors::of(const RecordedKernel &kernel) {
  KernelKind kind = kindOf(kernel);
  auto found = kinds.find(kind);
  if (found == kinds.end()) {
    TW_ASSIGN(std::vector<RecordedKernel> known, database.ofKind(kind));
    found = kinds.emplace(kind, KindPrior(known)).first;
  }
  return found->second.of(kernel);
}

} // namespace tw::tune
