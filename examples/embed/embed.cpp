// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same as embed.c in C++: loads an artifact and runs it on inputs of ones, twice, with its
// state kept in between.
//
//   embed_cpp OUT.so [SIZE]        SIZE stands for every dynamic size, 8 if not given
#include "tilewright/Runtime.h"
#include <cstdlib>
#include <iostream>

using namespace tw::runtime;

/// An input with memory of its own.
struct Input {
  std::vector<unsigned char> memory;
  Tensor tensor;
};

static Input makeInput(const tw_value_info &value, int64_t dynamicSize) {
  std::vector<int64_t> sizes(value.sizes, value.sizes + value.rank);
  int64_t bytes = tw_dtype_bytes(value.dtype);
  for (int64_t &size : sizes) {
    size = size < 0 ? dynamicSize : size;
    bytes *= size;
  }
  std::vector<unsigned char> memory(bytes);
  Tensor tensor(memory.data(), bytes, value.dtype, std::move(sizes));
  if (value.dtype == TW_F32)
    for (float &element : tensor.values<float>())
      element = 1;
  else if (value.kind == TW_KIND_INT)
    tensor.values<int64_t>()[0] = dynamicSize;
  return {std::move(memory), std::move(tensor)};
}

static void print(const char *name, const Tensor &tensor) {
  std::cout << name << ": " << tw_dtype_name(tensor.dtype()) << "[";
  for (size_t d = 0; d < tensor.sizes().size(); ++d)
    std::cout << (d ? ", " : "") << tensor.sizes()[d];
  std::cout << "]";
  if (tensor.dtype() == TW_F32 && tensor.bytes() > 0)
    std::cout << " = " << tensor.values<float>()[0] << " ...";
  std::cout << "\n";
}

static void run(const char *path, int64_t dynamicSize) {
  Program program(path);
  std::vector<Input> inputs;
  std::vector<Tensor> tensors;
  for (const tw_value_info &value : program.inputs())
    tensors.push_back(inputs.emplace_back(makeInput(value, dynamicSize)).tensor);

  Instance instance(program, /*threads=*/2);
  for (int call = 1; call <= 2; ++call) {
    std::cout << "call " << call << "\n";
    std::vector<Tensor> results = instance.run(tensors);
    for (size_t i = 0; i < results.size(); ++i)
      print(program.outputs()[i].name, results[i]);
  }
  std::cout << "temporaries: " << instance.memory().arena_bytes << " bytes\n";
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: " << argv[0] << " OUT.so [SIZE]\n";
    return 2;
  }
  try {
    run(argv[1], argc > 2 ? std::atoll(argv[2]) : 8);
  } catch (const Error &error) {
    std::cerr << error.text();
    return error.category();
  }
}
