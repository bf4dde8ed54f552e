// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tilewright's C API for C++20: the same calls with ownership in types and failures as exceptions.
// Header-only; link libtilewright. What each call does is said in tilewright.h.
//
//   tw::runtime::Program program("mlp.so");
//   tw::runtime::Instance instance(program);
//   std::vector<float> image(28 * 28);
//   auto outputs = instance.run({tw::runtime::Tensor::of(image, {1, 28, 28})});
//   std::span<const float> scores = outputs[0].values<float>();
#pragma once
#include "tilewright/tilewright.h"
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tw::runtime {

/// What a failed call throws; what() is the one-line message.
class Error : public std::runtime_error {
public:
  explicit Error(const tw_status *status)
      : std::runtime_error(tw_status_message(status)), stableCode(tw_status_code(status)),
        wholeText(tw_status_text(status)), kind(tw_status_category(status)) {}
  /// "TW-RUNTIME-0011".
  const std::string &code() const { return stableCode; }
  /// For people: code, message, notes and help on several lines.
  const std::string &text() const { return wholeText; }
  int category() const { return kind; }

private:
  std::string stableCode, wholeText;
  int kind;
};

/// Throws the error, if there is one, and frees the status.
inline void check(tw_status *status) {
  if (!status)
    return;
  Error error(status);
  tw_status_free(status);
  throw error;
}

/// The dtype of a C++ type; f16 and bf16, which C++20 lacks, go through Tensor's constructor.
template <typename T>
constexpr tw_dtype dtypeOf() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>)
    return TW_F32;
  else if constexpr (std::is_same_v<U, double>)
    return TW_F64;
  else if constexpr (std::is_same_v<U, int8_t>)
    return TW_I8;
  else if constexpr (std::is_same_v<U, int16_t>)
    return TW_I16;
  else if constexpr (std::is_same_v<U, int32_t>)
    return TW_I32;
  else if constexpr (std::is_same_v<U, int64_t>)
    return TW_I64;
  else if constexpr (std::is_same_v<U, uint8_t>)
    return TW_U8;
  else {
    static_assert(std::is_same_v<U, bool>, "not the C++ type of a dtype");
    return TW_BOOL;
  }
}

/// A tensor whose elements are somebody else's memory.
class Tensor {
public:
  Tensor(void *data, int64_t bytes, tw_dtype dtype, std::vector<int64_t> sizes)
      : memory(data), byteCount(bytes), elementType(dtype), extents(std::move(sizes)) {}

  /// The contiguous container `elements` (vector, array, span) as a tensor of these sizes. For an
  /// input that the program does not mutate it may be const.
  template <typename Container>
  static Tensor of(Container &&elements, std::vector<int64_t> sizes) {
    std::span view(elements);
    using T = typename decltype(view)::element_type;
    return {const_cast<std::remove_const_t<T> *>(view.data()),
            static_cast<int64_t>(view.size_bytes()), dtypeOf<T>(), std::move(sizes)};
  }
  /// A scalar input: int64_t, double or bool.
  template <typename T>
  static Tensor scalar(T &value) {
    return of(std::span<T, 1>(&value, 1), {});
  }

  tw_dtype dtype() const { return elementType; }
  const std::vector<int64_t> &sizes() const { return extents; }
  void *data() const { return memory; }
  int64_t bytes() const { return byteCount; }
  /// The elements; throws std::invalid_argument when T is not the dtype's type.
  template <typename T>
  std::span<T> values() const {
    if (dtypeOf<T>() != elementType)
      throw std::invalid_argument(std::string("the tensor is ") + tw_dtype_name(elementType));
    return {static_cast<T *>(memory), static_cast<size_t>(byteCount) / sizeof(T)};
  }
  /// Valid as long as this object.
  tw_tensor c() const {
    return {memory, byteCount, elementType, static_cast<int32_t>(extents.size()), extents.data()};
  }

private:
  void *memory;
  int64_t byteCount;
  tw_dtype elementType;
  std::vector<int64_t> extents;
};

/// A loaded artifact; see tw_program_load.
class Program {
public:
  /// No device: the one that the artifact was compiled for.
  explicit Program(const std::string &path, const char *device = nullptr)
      : Program(path, withDevice(device)) {}
  /// With options->struct_size set.
  Program(const std::string &path, const tw_load_options &options) {
    tw_program *loaded;
    check(tw_program_load(path.c_str(), &options, &loaded));
    handle.reset(loaded);
  }

  const tw_program_info &info() const { return *tw_program_describe(c()); }
  std::vector<tw_value_info> inputs() const { return list(info().input_count, tw_program_input); }
  std::vector<tw_value_info> outputs() const {
    return list(info().output_count, tw_program_output);
  }
  /// Results that are None or a text in every call, which Instance::run does not give.
  std::vector<tw_fixed_output> fixedOutputs() const {
    std::vector<tw_fixed_output> fixed;
    for (int32_t i = 0; const tw_fixed_output *each = tw_program_fixed_output(c(), i); ++i)
      fixed.push_back(*each);
    return fixed;
  }
  std::vector<tw_value_info> state() const { return list(info().state_count, tw_program_state); }
  /// The sizes of output `index` for inputs of these sizes; see tw_program_output_sizes.
  std::vector<int64_t> outputSizes(std::span<const Tensor> inputs, int32_t index = 0) const {
    std::vector<tw_tensor> given;
    for (const Tensor &tensor : inputs)
      given.push_back(tensor.c());
    const tw_value_info *output = tw_program_output(c(), index);
    std::vector<int64_t> sizes(output ? output->rank : 0);
    check(tw_program_output_sizes(c(), given.data(), static_cast<int32_t>(given.size()), index,
                                  sizes.data(), static_cast<int32_t>(sizes.size())));
    return sizes;
  }
  std::vector<int64_t> outputSizes(std::initializer_list<Tensor> inputs, int32_t index = 0) const {
    return outputSizes(std::span<const Tensor>(inputs.begin(), inputs.size()), index);
  }
  /// "cpu", "cuda:0".
  std::string device() const { return tw_program_device(c()); }
  const tw_program *c() const { return handle.get(); }

private:
  static tw_load_options withDevice(const char *device) {
    tw_load_options options{};
    options.struct_size = sizeof options;
    options.device = device;
    return options;
  }
  std::vector<tw_value_info> list(int32_t count,
                                  const tw_value_info *(*get)(const tw_program *, int32_t)) const {
    std::vector<tw_value_info> values;
    for (int32_t i = 0; i < count; ++i)
      values.push_back(*get(c(), i));
    return values;
  }
  struct Free {
    void operator()(tw_program *program) const { tw_program_free(program); }
  };
  std::unique_ptr<tw_program, Free> handle;
};

/// A running program; see tw_instance_create.
class Instance {
public:
  explicit Instance(const Program &program, int threads = 0, tw_graphs graphs = TW_GRAPHS_AUTO)
      : outputCount(program.info().output_count) {
    for (const tw_value_info &state : program.state())
      stateTypes.emplace_back(state.name, state.dtype);
    tw_instance_options options{sizeof(tw_instance_options), threads, 0, graphs};
    tw_instance *created;
    check(tw_instance_create(program.c(), &options, &created));
    handle.reset(created);
  }

  /// Runs once. Results are in `outputs`, where given, else in memory of the instance that the next
  /// run overwrites; the returned tensors say where and how large.
  std::vector<Tensor> run(std::span<const Tensor> inputs, std::span<const Tensor> outputs = {}) {
    std::vector<tw_tensor> given = asC(inputs), wanted = asC(outputs);
    check(tw_instance_run(c(), given.data(), static_cast<int32_t>(given.size()), wanted.data(),
                          static_cast<int32_t>(wanted.size())));
    return results();
  }
  std::vector<Tensor> run(std::initializer_list<Tensor> inputs,
                          std::span<const Tensor> outputs = {}) {
    return run(std::span<const Tensor>(inputs.begin(), inputs.size()), outputs);
  }

  /// The same on a GPU with tensors in its memory, without waiting; see tw_instance_enqueue.
  std::vector<Tensor> enqueue(void *stream, std::span<const Tensor> inputs,
                              std::span<const Tensor> outputs = {}) {
    std::vector<tw_tensor> given = asC(inputs), wanted = asC(outputs);
    check(tw_instance_enqueue(c(), stream, given.data(), static_cast<int32_t>(given.size()),
                              wanted.data(), static_cast<int32_t>(wanted.size())));
    return results();
  }
  std::vector<Tensor> enqueue(void *stream, std::initializer_list<Tensor> inputs,
                              std::span<const Tensor> outputs = {}) {
    return enqueue(stream, std::span<const Tensor>(inputs.begin(), inputs.size()), outputs);
  }
  /// Waits for what has been enqueued.
  void wait() { check(tw_instance_wait(c())); }

  /// Throw std::invalid_argument when T is not the type of the state's dtype; f16 and bf16 have no
  /// type in C++20 and go through the C API.
  template <typename T>
  void getState(const char *name, std::span<T> values) {
    checkStateType(name, dtypeOf<T>());
    check(tw_instance_state_get(c(), name, values.data(), values.size_bytes()));
  }
  template <typename T>
  void setState(const char *name, std::span<const T> values) {
    checkStateType(name, dtypeOf<T>());
    check(tw_instance_state_set(c(), name, values.data(), values.size_bytes()));
  }
  /// All of it where no name is given.
  void resetState(const char *name = nullptr) { check(tw_instance_state_reset(c(), name)); }

  tw_memory_info memory() const { return tw_instance_memory(handle.get()); }
  tw_graph_info graphs() const { return tw_instance_graphs(handle.get()); }
  tw_instance *c() { return handle.get(); }

private:
  static std::vector<tw_tensor> asC(std::span<const Tensor> tensors) {
    std::vector<tw_tensor> all;
    for (const Tensor &tensor : tensors)
      all.push_back(tensor.c());
    return all;
  }
  std::vector<Tensor> results() {
    std::vector<Tensor> all;
    for (int32_t i = 0; i < outputCount; ++i) {
      const tw_tensor &r = *tw_instance_output(c(), i);
      all.emplace_back(r.data, r.bytes, r.dtype, std::vector<int64_t>(r.sizes, r.sizes + r.rank));
    }
    return all;
  }
  void checkStateType(std::string_view name, tw_dtype given) const {
    for (const auto &[known, dtype] : stateTypes)
      if (known == name && dtype != given)
        throw std::invalid_argument("state \"" + known + "\" is " + tw_dtype_name(dtype) +
                                    ", but values of " + tw_dtype_name(given) + " are given");
  }
  struct Free {
    void operator()(tw_instance *instance) const { tw_instance_free(instance); }
  };
  std::unique_ptr<tw_instance, Free> handle;
  int32_t outputCount;
  std::vector<std::pair<std::string, tw_dtype>> stateTypes;
};

} // namespace tw::runtime
