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
  names = featureNamesOf(kernel.description.space);
  products.assign(names.size(), std::vector<double>(names.size(), 0));
  residuals.assign(names.size(), 0);
  for (const WeighedSample &each : samples)
    for (size_t i = 0; i < names.size(); ++i) {
      double weighed = each.weight * each.features[i];
      residuals[i] += weighed * each.residual;
      for (size_t j = 0; j < names.size(); ++j)
        products[i][j] += weighed * each.features[j];
    }
  kernels = 1;
}

size_t CorrectionPrior::positionOf(const std::string &name, size_t guess) const {
  if (guess < names.size() && names[guess] == name)
    return guess;
  return size_t(std::ranges::find(names, name) - names.begin());
}

void CorrectionPrior::addTimes(int sign, const CorrectionPrior &other) {
  kernels += sign * other.kernels;
  std::vector<size_t> positions;
  for (const std::string &name : other.names) {
    positions.push_back(positionOf(name, positions.size()));
    if (positions.back() == names.size())
      names.push_back(name);
  }
  residuals.resize(names.size());
  products.resize(names.size());
  for (std::vector<double> &row : products)
    row.resize(names.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    residuals[positions[i]] += sign * other.residuals[i];
    for (size_t j = 0; j < positions.size(); ++j)
      products[positions[i]][positions[j]] += sign * other.products[i][j];
  }
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

/// Of the features that kernels of other sizes have, too.
void CostCorrection::addPrior(const std::vector<std::string> &names,
                              std::vector<std::vector<double>> &products,
                              std::vector<double> &residuals) const {
  constexpr double priorSamples = 100; // that all other sizes together count as
  double scale = priorSamples / double(prior->kernels);
  std::vector<size_t> positions;
  for (const std::string &name : names)
    positions.push_back(prior->positionOf(name, positions.size()));
  for (size_t i = 0; i < names.size(); ++i) {
    if (positions[i] == prior->names.size())
      continue;
    residuals[i] += scale * prior->residuals[positions[i]];
    for (size_t j = 0; j < names.size(); ++j)
      if (positions[j] < prior->names.size())
        products[i][j] += scale * prior->products[positions[i]][positions[j]];
  }
}

void CostCorrection::fit() {
  constexpr size_t fewest = 8;
  constexpr double ridge = 0.1; // of knobs that vary by octaves and noise of some percent
  if (samples.size() < fewest && !prior)
    return;
  std::vector<std::string> names = featureNamesOf(space);
  size_t n = names.size() + 1;
  std::vector<std::vector<double>> products(n, std::vector<double>(n, 0));
  std::vector<double> residuals(n, 0);
  for (size_t i = 0; i < n; ++i)
    products[i][i] = ridge;
  if (prior)
    addPrior(names, products, residuals);
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
