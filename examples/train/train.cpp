// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trains a classifier of 28x28 images by gradient descent. The artifact is made of an exported
// forward + cross-entropy + backward graph; it keeps the parameters as state and gives the loss and
// the gradient of each parameter NAME as result grad.NAME.
//
//   tilewright compile e2e/models/train_classifier/train_classifier.pt2 -o step.so
//   train step.so [STEPS]
//
// The images are synthetic: each class is a pattern of its own, under noise. Exits with 1 if the
// loss does not fall to a tenth of what it was.
#include "tilewright/Runtime.h"
#include <cstdio>
#include <cstdlib>
#include <random>

using namespace tw::runtime;

namespace {

/// A batch of images with their classes.
struct Batch {
  static constexpr int64_t size = 16, pixels = 28 * 28, classes = 10;
  std::vector<float> images = std::vector<float>(size * pixels);
  std::vector<int64_t> labels = std::vector<int64_t>(size);
};

/// Draws images from ten fixed patterns.
class Patterns {
public:
  Patterns() : patterns(Batch::classes * Batch::pixels) {
    for (float &pixel : patterns)
      pixel = uniform(random);
  }

  void draw(Batch &batch) {
    for (int64_t i = 0; i < Batch::size; ++i) {
      int64_t label = batch.labels[i] = static_cast<int64_t>(random() % Batch::classes);
      for (int64_t p = 0; p < Batch::pixels; ++p)
        batch.images[i * Batch::pixels + p] =
            patterns[label * Batch::pixels + p] + 0.3f * uniform(random);
    }
  }

private:
  std::mt19937 random{1};
  std::uniform_real_distribution<float> uniform{-1, 1};
  std::vector<float> patterns;
};

/// One named parameter of the program, with the result that is its gradient.
struct Parameter {
  const char *name;
  int32_t gradient;
  std::vector<float> values;
};

} // namespace

static std::vector<Parameter> findParameters(const Program &program, Instance &instance) {
  std::vector<Parameter> parameters;
  auto outputs = program.outputs();
  for (const tw_value_info &state : program.state())
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].name == std::string("grad.") + state.name) {
        int64_t elements = 1;
        for (int32_t d = 0; d < state.rank; ++d)
          elements *= state.sizes[d];
        parameters.push_back({state.name, static_cast<int32_t>(i), std::vector<float>(elements)});
        instance.getState<float>(state.name, parameters.back().values);
      }
  return parameters;
}

/// parameter -= rate * gradient, in the program's own state.
static void descend(Instance &instance, Parameter &parameter, const Tensor &gradient, float rate) {
  std::span<const float> slope = gradient.values<float>();
  for (size_t i = 0; i < parameter.values.size(); ++i)
    parameter.values[i] -= rate * slope[i];
  instance.setState<float>(parameter.name, parameter.values);
}

static int train(const char *path, int steps) {
  Program program(path);
  Instance instance(program);
  std::vector<Parameter> parameters = findParameters(program, instance);
  Patterns patterns;
  Batch batch;
  float first = 0, loss = 0;
  for (int step = 0; step < steps; ++step) {
    patterns.draw(batch);
    auto results = instance.run(
        {Tensor::of(batch.images, {Batch::size, 28, 28}), Tensor::of(batch.labels, {Batch::size})});
    loss = results[0].values<float>()[0];
    if (step == 0)
      first = loss;
    for (Parameter &parameter : parameters)
      descend(instance, parameter, results[parameter.gradient], 0.01f);
    if (step % 10 == 0 || step == steps - 1)
      std::printf("step %3d  loss %.4f\n", step, loss);
  }
  return loss < first / 10 ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s STEP.so [STEPS]\n", argv[0]);
    return 2;
  }
  try {
    return train(argv[1], argc > 2 ? std::atoi(argv[2]) : 100);
  } catch (const Error &error) {
    std::fputs(error.text().c_str(), stderr);
    return error.category();
  }
}
