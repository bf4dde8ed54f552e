// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/CostCorrection.h"
#include "Tune/Database.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tw::tune {

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

static constexpr std::array featureNames = {"octaves", "octaves squared", "below the greatest",
                                            "padding of the size", "padding of vectors"};
using KnobFeatures = std::array<double, featureNames.size()>;

/// What the time of a block of `value` depends on, of a size that is the greatest of the values.
static KnobFeatures featuresOf(const Knob &knob, int64_t value) {
  constexpr int64_t vector = 16; // elements that are computed at once, or a multiple of them
  auto padding = [](int64_t size, int64_t block) {
    int64_t padded = (size + block - 1) / block * block;
    return std::log2(double(padded) / double(size));
  };
  // Of some knobs 0 means all of it, of others that there is none.
  int64_t greatest = std::max<int64_t>(knob.values.back(), 1), block = std::max<int64_t>(value, 1);
  double octaves = std::log2(1 + double(value)), below = std::log2(1 + double(greatest)) - octaves;
  return {octaves, octaves * octaves, below * below, padding(greatest, block),
          padding(block, vector)};
}

static bool varies(const Knob &knob) { return knob.values.size() > 1; }

/// Of all knobs that have a choice.
static std::vector<double> featuresOf(const Space &space, const Point &point) {
  std::vector<double> made;
  for (const Knob &knob : space.knobs)
    if (varies(knob)) {
      KnobFeatures each = featuresOf(knob, point.at(knob.name));
      made.insert(made.end(), each.begin(), each.end());
    }
  return made;
}

static std::vector<std::string> featureNamesOf(const Space &space) {
  std::vector<std::string> names;
  for (const Knob &knob : space.knobs)
    if (varies(knob))
      for (const char *name : featureNames)
        names.push_back(knob.name + ": " + name);
  return names;
}

/// How much a measurement counts: near the fastest the model has to be right, far from it not.
static double weightOf(double ratio, double least) { return least * least / (ratio * ratio); }

//===----------------------------------------------------------------------===//
// Prior
//===----------------------------------------------------------------------===//

namespace {

struct WeighedSample {
  std::vector<double> features;
  double residual, weight;
};

/// Of the last measurement of each point that could be measured and has a cost.
std::vector<WeighedSample> samplesOf(const RecordedKernel &kernel) {
  const Space &space = kernel.description.space;
  std::map<Point, std::pair<double, double>> known; // ratio and cost
  for (const Measurement &each : kernel.measurements) {
    bool isComplete = std::ranges::all_of(
        space.knobs, [&](const Knob &knob) { return each.point.contains(knob.name); });
    std::optional<double> cost = each.cost;
    if (auto before = known.find(each.point); !cost && before != known.end())
      cost = before->second.second;
    if (!each.rejection.empty())
      known.erase(each.point);
    else if (isComplete && each.ratio.median > 0 && cost && *cost > 0)
      known[each.point] = {each.ratio.median, *cost};
  }
  double least = 1;
  for (const auto &[point, values] : known)
    least = std::min(least, values.first);
  std::vector<WeighedSample> samples;
  for (const auto &[point, values] : known)
    samples.push_back({featuresOf(space, point), std::log(values.first) - std::log(values.second),
                       weightOf(values.first, least)});
  return samples;
}

/// In terms of their mean: how fast a kernel is as a whole says nothing of others. Weights add up
/// to 1.
void center(std::vector<WeighedSample> &samples) {
  double weight = 0, residual = 0;
  std::vector<double> mean(samples.front().features.size());
  for (const WeighedSample &each : samples) {
    weight += each.weight;
    residual += each.weight * each.residual;
    for (size_t i = 0; i < mean.size(); ++i)
      mean[i] += each.weight * each.features[i];
  }
  for (WeighedSample &each : samples) {
    each.weight /= weight;
    each.residual -= residual / weight;
    for (size_t i = 0; i < mean.size(); ++i)
      each.features[i] -= mean[i] / weight;
  }
}

} // namespace

CorrectionPrior::CorrectionPrior(const RecordedKernel &kernel) {
  std::vector<WeighedSample> samples = samplesOf(kernel);
  if (samples.size() < 2)
    return;
  center(samples);
  std::vector<std::string> names = featureNamesOf(kernel.description.space);
  for (size_t i = 0; i < names.size(); ++i) {
    std::vector<double> row(names.size());
    double residual = 0;
    for (const WeighedSample &each : samples) {
      residual += each.weight * each.features[i] * each.residual;
      for (size_t j = 0; j < names.size(); ++j)
        row[j] += each.weight * each.features[i] * each.features[j];
    }
    residuals[names[i]] = residual;
    for (size_t j = 0; j < names.size(); ++j)
      products[names[i]][names[j]] = row[j];
  }
  kernels = 1;
}

void CorrectionPrior::add(const CorrectionPrior &other) {
  kernels += other.kernels;
  for (const auto &[name, residual] : other.residuals)
    residuals[name] += residual;
  for (const auto &[name, row] : other.products)
    for (const auto &[column, product] : row)
      products[name][column] += product;
}

//===----------------------------------------------------------------------===//
// Which prior
//===----------------------------------------------------------------------===//

static bool isOtherSize(const RecordedKernel &one, const RecordedKernel &other) {
  return one.kernel.target == other.kernel.target && one.kernel.machine == other.kernel.machine &&
         one.description.dtypes == other.description.dtypes &&
         one.description.sizes != other.description.sizes;
}

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

CorrectionPrior priorFor(const RecordedKernel &kernel, std::span<const RecordedKernel> known) {
  std::vector<std::pair<const RecordedKernel *, CorrectionPrior>> others;
  for (const RecordedKernel &each : known)
    if (isOtherSize(kernel, each))
      if (CorrectionPrior own(each); !own.isEmpty())
        others.emplace_back(&each, std::move(own));
  CorrectionPrior all;
  double without = 0, with = 0;
  for (const auto &[held, own] : others) {
    all.add(own);
    CorrectionPrior rest;
    for (const auto &[other, each] : others)
      if (isOtherSize(*held, *other))
        rest.add(each);
    if (rest.isEmpty())
      continue;
    without += placeOfBest(*held, nullptr);
    with += placeOfBest(*held, &rest);
  }
  return with < without ? all : CorrectionPrior();
}

//===----------------------------------------------------------------------===//
// Correction
//===----------------------------------------------------------------------===//

CostCorrection::CostCorrection(const Space &space, const Candidate &start,
                               const CorrectionPrior *prior)
    : space(space), start(start), prior(prior && !prior->isEmpty() ? prior : nullptr) {}

/// In terms of the start, and 1 for what all of them have in common.
std::vector<double> CostCorrection::featuresOf(const Point &point) const {
  std::vector<double> made = tune::featuresOf(space, point),
                      atStart = tune::featuresOf(space, start.point);
  for (size_t i = 0; i < made.size(); ++i)
    made[i] -= atStart[i];
  made.push_back(1);
  return made;
}

double CostCorrection::logCost(std::optional<double> cost) const {
  return cost && start.cost && *cost > 0 && *start.cost > 0 ? std::log(*cost / *start.cost) : 0;
}

void CostCorrection::learn(const Point &point, std::optional<double> cost, double ratio) {
  if (ratio > 0)
    samples.push_back({featuresOf(point), std::log(ratio) - logCost(cost), ratio});
}

/// Solves a x = b for a symmetric positive definite matrix, by Cholesky's decomposition.
static std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  size_t n = b.size();
  for (size_t row = 0; row < n; ++row) {
    for (size_t column = 0; column <= row; ++column) {
      double sum = a[row][column];
      for (size_t k = 0; k < column; ++k)
        sum -= a[row][k] * a[column][k];
      a[row][column] = row == column ? std::sqrt(sum) : sum / a[column][column];
    }
  }
  for (size_t row = 0; row < n; ++row) {
    for (size_t k = 0; k < row; ++k)
      b[row] -= a[row][k] * b[k];
    b[row] /= a[row][row];
  }
  for (size_t row = n; row-- > 0;) {
    for (size_t k = row + 1; k < n; ++k)
      b[row] -= a[k][row] * b[k];
    b[row] /= a[row][row];
  }
  return b;
}

void CostCorrection::fit() {
  constexpr size_t fewest = 8;
  constexpr double ridge = 0.1;        // of knobs that vary by octaves and noise of some percent
  constexpr double priorSamples = 100; // that all other sizes together count as
  if (samples.size() < fewest && !prior)
    return;
  std::vector<std::string> names = featureNamesOf(space);
  size_t n = names.size() + 1;
  std::vector<std::vector<double>> products(n, std::vector<double>(n, 0));
  std::vector<double> residuals(n, 0);
  for (size_t i = 0; i < n; ++i)
    products[i][i] = ridge;
  double scale = prior ? priorSamples / double(prior->kernels) : 0;
  for (size_t i = 0; prior && i < names.size(); ++i) {
    auto row = prior->products.find(names[i]);
    if (row == prior->products.end())
      continue;
    residuals[i] = scale * prior->residuals.at(names[i]);
    for (size_t j = 0; j < names.size(); ++j)
      if (auto product = row->second.find(names[j]); product != row->second.end())
        products[i][j] += scale * product->second;
  }
  double least = 1;
  for (const Sample &sample : samples)
    least = std::min(least, sample.ratio);
  for (const Sample &sample : samples) {
    double weight = weightOf(sample.ratio, least);
    for (size_t i = 0; i < n; ++i) {
      residuals[i] += weight * sample.features[i] * sample.residual;
      for (size_t j = 0; j < n; ++j)
        products[i][j] += weight * sample.features[i] * sample.features[j];
    }
  }
  weights = solve(std::move(products), std::move(residuals));
}

double CostCorrection::expectedRatio(const Point &point, std::optional<double> cost) const {
  double expected = logCost(cost);
  if (!weights.empty()) {
    std::vector<double> features = featuresOf(point);
    for (size_t i = 0; i < weights.size(); ++i)
      expected += weights[i] * features[i];
  }
  return std::exp(expected);
}

} // namespace tw::tune
