// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/CostCorrection.h"
#include <cmath>
#include <utility>

namespace tw::tune {

CostCorrection::CostCorrection(const Space &space, const Candidate &start)
    : space(space), start(start) {}

/// Of each knob how many octaves it is above or below the start, and the square of that.
std::vector<double> CostCorrection::featuresOf(const Point &point) const {
  std::vector<double> made = {1};
  for (const Knob &knob : space.knobs) {
    auto octaves = [&](const Point &of) { return std::log2(1 + double(of.at(knob.name))); };
    double distance = octaves(point) - octaves(start.point);
    made.push_back(distance);
    made.push_back(distance * distance);
  }
  return made;
}

double CostCorrection::logCost(std::optional<double> cost) const {
  return cost && start.cost && *cost > 0 && *start.cost > 0 ? std::log(*cost / *start.cost) : 0;
}

void CostCorrection::learn(const Point &point, std::optional<double> cost, double ratio) {
  if (!(ratio > 0))
    return;
  features.push_back(featuresOf(point));
  residuals.push_back(std::log(ratio) - logCost(cost));
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
  constexpr double ridge = 1; // of knobs that vary by octaves and noise of some percent
  if (residuals.size() < fewest)
    return;
  size_t n = features.front().size();
  std::vector<std::vector<double>> squares(n, std::vector<double>(n, 0));
  std::vector<double> products(n, 0);
  for (size_t i = 0; i < n; ++i)
    squares[i][i] = ridge;
  for (size_t sample = 0; sample < residuals.size(); ++sample)
    for (size_t i = 0; i < n; ++i) {
      products[i] += features[sample][i] * residuals[sample];
      for (size_t j = 0; j < n; ++j)
        squares[i][j] += features[sample][i] * features[sample][j];
    }
  weights = solve(std::move(squares), std::move(products));
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
