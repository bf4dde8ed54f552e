// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python objects as the inputs of one run: PyTorch tensors (through the DLPack C exchange API),
// arrays with the buffer protocol (NumPy), anything with __dlpack__, and numbers for scalars.
// Contiguous memory is read where it is; other memory is made contiguous first. The tensors of one
// call are all in main memory, or all on the program's device.
#pragma once
#include "CallMemory.h"
#include "TorchTensors.h"
#include "tilewright/tilewright.h"
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <vector>

namespace tw::python {

/// Whose arrays a call is given and gives.
enum class Library { None, Torch, NumPy, Other };

/// What a value is to the program that is given it, in the words of messages.
struct Role {
  const char *noun, *needs;
};
inline constexpr Role inputRole{"input", "takes"}, resultRole{"the memory for output", "gives"},
    stateRole{"the new value of state", "keeps"};

/// Who is called, in messages: a program, or the kernel that one was made of.
struct Callee {
  const char *kernel = nullptr; // its name; null: a program
  const char *noun() const { return kernel ? "the kernel" : "the program"; }
  /// What messages begin with: "kernel softmax: ", or nothing.
  std::string prefix() const;
};

/// What to give, by tw_kind.
inline constexpr const char *scalarHelps[] = {"", "give an integer from -2**63 to 2**63 - 1",
                                              "give a number that a float can be of",
                                              "give True or False"};
/// For what a module takes as one argument, and a program as the tensors in it.
inline constexpr const char *nestedHelp =
    "give the tensors in it, each as an argument of its own, in the order of program.inputs";
inline bool isNestedArgument(nanobind::handle object) {
  return PyDict_Check(object.ptr()) || PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) ||
         nanobind::hasattr(object, "__dataclass_fields__");
}

/// What an object is given for.
struct Slot {
  Slot(const tw_value_info &value, const Role &role = inputRole, Callee callee = {})
      : value(value), role(role), callee(callee) {}
  const tw_value_info &value;
  const Role &role;
  Callee callee;
  const char *wanted = nullptr; // for messages; null: what `value` says
};

class Arguments {
public:
  /// `device`: the program's. `memory`: of the lists.
  explicit Arguments(size_t count, dlpack::Device device = {},
                     std::pmr::memory_resource *memory = heap());
  Arguments(const Arguments &) = delete;
  ~Arguments();

  /// Takes the next object. Throws a tilewright.Error (PYTHON_1, 2, 4) that names the slot when it
  /// is nothing that a program can read, or cannot be written but would be.
  void add(const Slot &slot, nanobind::handle object);
  /// Throws (PYTHON_4) when memory that the run writes overlaps another input's.
  void checkOverlaps(Callee callee) const;
  /// To be called when the run has written what it writes: tensors of torch have another version
  /// then, as after PyTorch's own operators in place, so that what autograd has kept of them is no
  /// longer valid.
  void announceWrites() const;

  const std::pmr::vector<tw_tensor> &tensors() const { return given; }
  /// Where the tensors are: in main memory when there is none.
  dlpack::Device place() const { return firstName ? firstPlace : dlpack::Device(); }
  /// That of the first tensor.
  Library library() const { return firstLibrary; }
  /// The first tensor of Library::Other.
  nanobind::handle other() const { return firstOther; }

private:
  void addScalar(const Slot &slot, nanobind::handle object);
  /// A tensor that is not torch's own.
  [[gnu::noinline]] void addOther(const Slot &slot, nanobind::handle object);
  void addTorch(const Slot &slot, nanobind::handle object, const dlpack::ExchangeApi &api);
  int64_t makeDense(const Slot &slot, nanobind::handle tensor, const dlpack::ExchangeApi &api,
                    dlpack::Tensor &view);
  void addBuffer(const Slot &slot, nanobind::handle object);
  void addDLPack(const Slot &slot, nanobind::handle object);
  /// Notes that the run writes the next tensor.
  void noteWritten(const Slot &slot, bool isReadOnly);
  /// The same of one of torch. Refuses (PYTHON_4) what requires a gradient: no graph would say what
  /// it is of the result.
  void noteWrittenTorch(const Slot &slot, nanobind::handle tensor);
  void noteLibrary(Library library);
  /// Refuses (PYTHON_2) a tensor that is elsewhere than the ones before.
  void notePlace(const Slot &slot, dlpack::Device place) {
    if (!firstName || place != firstPlace)
      checkPlace(slot, place);
  }
  void checkPlace(const Slot &slot, dlpack::Device place);

  size_t count; // of tensors at most
  dlpack::Device device, firstPlace;
  const char *firstName = nullptr; // of the first tensor
  std::pmr::vector<tw_tensor> given;
  std::vector<std::pair<size_t, const char *>> written; // indices into `given`, and names
  std::pmr::vector<int64_t> scalars;
  std::vector<Py_buffer> buffers;
  std::vector<nanobind::object> kept; // what `given` points into
  std::vector<nanobind::object> writtenTorch;
  Library firstLibrary = Library::None;
  nanobind::handle firstOther;
};

/// How many elements a tensor has that is row-major; none where it is not. Strides of dimensions of
/// size 1 and of empty tensors mean nothing.
std::optional<int64_t> contiguousCount(int32_t rank, const int64_t *sizes, const int64_t *strides);

/// The stream on which work for tensors of a device is put: PyTorch's current one where torch is
/// imported, else null, which is the device's default stream. Throws.
void *currentStream(dlpack::Device device);
/// "main memory", "cuda:0", or the numbers of another kind of device.
std::string placeText(dlpack::Device place);
/// Where a tensor on a GPU is; none for what is elsewhere, no tensor, or refused as an argument.
std::optional<dlpack::Device> gpuOf(nanobind::handle object);
/// The device "cpu" or "cuda:N" of a program.
dlpack::Device deviceOf(const tw_program *program);

/// "TypeName", with its module unless that is builtins.
std::string typeName(nanobind::handle object);
/// The same with its article: "a numpy.ndarray".
std::string aType(nanobind::handle object);
/// "f32[2, s0]"; "f32" where the rank is -1, which stands for any.
std::string shapeText(const tw_value_info &value);

} // namespace tw::python
