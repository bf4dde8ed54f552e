// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// embed MODEL.so: succeeds when twice 3 is 6.
#include <tilewright/Runtime.h>

int main(int, char **argv) {
  tw::runtime::Program program(argv[1]);
  tw::runtime::Instance instance(program);
  std::vector<float> x(4, 3), y(4);
  std::vector<tw::runtime::Tensor> outputs = {tw::runtime::Tensor::of(y, {4})};
  instance.run({tw::runtime::Tensor::of(x, {4})}, outputs);
  return y[3] == 6 ? 0 : 1;
}
