// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Arguments.h"
#include "DTypes.h"
#include "Errors.h"
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace nb = nanobind;

namespace tw::python {

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// str(object).
static std::string textOf(nb::handle object) { return nb::str(object).c_str(); }

std::string typeName(nb::handle object) {
  nb::handle type = object.type();
  std::string module = textOf(type.attr("__module__")), name = textOf(type.attr("__qualname__"));
  return module == "builtins" ? name : module + "." + name;
}

std::string aType(nb::handle object) { return withArticle(typeName(object)); }

std::string shapeText(const tw_value_info &value) {
  static const char *scalars[] = {"", "an int", "a float", "a bool"};
  if (value.kind != TW_KIND_TENSOR)
    return scalars[value.kind];
  if (value.rank < 0)
    return tw_dtype_name(value.dtype);
  std::string text;
  for (int32_t d = 0; d < value.rank; ++d)
    text += (d ? ", " : "") + std::string(value.size_texts[d]);
  return fmt::format("{}[{}]", tw_dtype_name(value.dtype), text);
}

std::string Callee::prefix() const { return kernel ? fmt::format("kernel {}: ", kernel) : ""; }

[[noreturn]] static void refuse(const Slot &slot, Code code, const std::string &what,
                                std::string help) {
  raise(Diagnostic{
      code,
      fmt::format("{}{} \"{}\" {}", slot.callee.prefix(), slot.role.noun, slot.value.name, what),
      {},
      {fmt::format("{} {} {}", slot.callee.noun(), slot.role.needs,
                   slot.wanted ? slot.wanted : shapeText(slot.value))},
      std::move(help)});
}

[[noreturn]] static void refuseUnwritable(const Slot &slot, const char *what) {
  refuse(slot, Code::PYTHON_4, fmt::format("is written by {}, but {}", slot.callee.noun(), what),
         "give a contiguous array of its own that can be written, or a copy");
}

/// Whether a method of a tensor without arguments answers True.
static bool asks(nb::handle object, const char *method) {
  return nb::cast<bool>(object.attr(method)());
}

/// What keeps a tensor's memory from being its elements; null when nothing does.
struct Oddity {
  const char *what, *help;
};

static std::optional<Oddity> oddity(nb::handle tensor) {
  if (nb::cast<bool>(tensor.attr("is_nested")))
    return Oddity{"is nested", "call .to_padded_tensor(0.0) first"};
  if (nb::cast<bool>(tensor.attr("is_quantized")))
    return Oddity{"is quantized", "call .dequantize() first"};
  if (textOf(tensor.attr("layout")) != "torch.strided")
    return Oddity{"is not strided: its layout is sparse or another one", "call .to_dense() first"};
  if (textOf(tensor.attr("device").attr("type")) == "cpu")
    return Oddity{"has no memory of its own", "give a plain torch.Tensor"};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

dlpack::Device deviceOf(const tw_program *program) {
  std::string_view name = tw_program_device(program);
  constexpr std::string_view cuda = "cuda:";
  if (!name.starts_with(cuda))
    return {};
  int32_t index = 0;
  std::from_chars(name.data() + cuda.size(), name.data() + name.size(), index);
  return {dlpack::cuda, index};
}

std::string placeText(dlpack::Device place) {
  if (place.type == dlpack::cpu)
    return "main memory";
  if (place.type == dlpack::cuda)
    return fmt::format("cuda:{}", place.index);
  return fmt::format("the DLPack device ({}, {})", place.type, place.index);
}

void *currentStream(dlpack::Device device) {
  const dlpack::ExchangeApi *api = importedTorchApi();
  void *stream = nullptr;
  if (api && api->currentStream(device.type, device.index, &stream))
    throw nb::python_error();
  return stream;
}

/// Main memory is one place, however libraries number it.
static bool isSamePlace(dlpack::Device a, dlpack::Device b) {
  return a.type == b.type && (a.type == dlpack::cpu || a.index == b.index);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Arguments::Arguments(size_t count, dlpack::Device device, std::pmr::memory_resource *memory)
    : count(count), device(device), given(memory), scalars(memory) {
  given.reserve(count);
}

Arguments::~Arguments() {
  for (Py_buffer &buffer : buffers)
    PyBuffer_Release(&buffer);
}

void Arguments::noteLibrary(Library library) {
  if (firstLibrary == Library::None)
    firstLibrary = library;
}

std::optional<dlpack::Device> gpuOf(nb::handle object) {
  dlpack::Device place;
  if (const dlpack::ExchangeApi *api = torchApi(object)) {
    dlpack::Tensor view;
    if (viewTensor(*api, object, view))
      place = view.device;
  } else if (!isTorchSubclass(object) && !PyObject_CheckBuffer(object.ptr()) &&
             nb::hasattr(object, "__dlpack_device__")) {
    nb::object device = object.attr("__dlpack_device__")();
    if (!nb::isinstance<nb::tuple>(device) || nb::len(device) != 2 ||
        !nb::try_cast(device[0], place.type) || !nb::try_cast(device[1], place.index))
      return std::nullopt;
  }
  return place.type == dlpack::cuda ? std::optional(place) : std::nullopt;
}

void Arguments::checkPlace(const Slot &slot, dlpack::Device place) {
  if (!isSamePlace(place, {}) && !isSamePlace(place, device))
    refuse(
        slot, Code::PYTHON_2,
        device.type == dlpack::cpu
            ? fmt::format("is on {}, not in main memory", placeText(place))
            : fmt::format("is on {}, but the program on {}", placeText(place), placeText(device)),
        device.type == dlpack::cpu ? "copy it there first, as .cpu() does"
                                   : "move it there, or load the program on the other device");
  if (!firstName) {
    firstPlace = place;
    firstName = slot.value.name;
  } else if (!isSamePlace(place, firstPlace)) {
    refuse(slot, Code::PYTHON_2,
           fmt::format("is in {}, but \"{}\" in {}", placeText(place), firstName,
                       placeText(firstPlace)),
           "give all tensors of a call in the same memory");
  }
}

/// Whether it has a mask beside its memory: numpy.ma's. numpy.ndarray itself is asked nothing.
static bool isMasked(nb::handle object) {
  const PyTypeObject *type = Py_TYPE(object.ptr());
  return std::string_view(type->tp_name) != "numpy.ndarray" && nb::hasattr(object, "mask");
}

/// A program reads memory. That of a tensor with a __torch_dispatch__ need not have its elements,
/// and what other subclasses mean by theirs they say to PyTorch's functions alone.
[[noreturn]] static void refuseSubclass(const Slot &slot, nb::handle tensor) {
  bool hasMemory = hasTorchMemory(tensor);
  refuse(slot, Code::PYTHON_1,
         fmt::format("is {}, a subclass of torch.Tensor, {}", aType(tensor),
                     hasMemory ? "which may mean something else by what is in its memory"
                               : "whose elements need not be in its memory"),
         hasMemory ? "give a plain tensor: x.as_subclass(torch.Tensor) is one on the same memory"
                   : "give a plain torch.Tensor");
}

void Arguments::add(const Slot &slot, nb::handle object) {
  if (slot.value.kind != TW_KIND_TENSOR)
    return addScalar(slot, object);
  if (const dlpack::ExchangeApi *api = torchApi(object))
    return addTorch(slot, object, *api);
  addOther(slot, object);
}

void Arguments::addOther(const Slot &slot, nb::handle object) {
  if (isTorchSubclass(object))
    refuseSubclass(slot, object);
  if (isMasked(object))
    refuse(slot, Code::PYTHON_1,
           fmt::format("is {}, and has a mask, which programs do not read", aType(object)),
           "call .filled(value) first");
  if (PyObject_CheckBuffer(object.ptr()))
    return addBuffer(slot, object);
  if (nb::hasattr(object, "__dlpack__"))
    return addDLPack(slot, object);
  bool isNested = &slot.role == &inputRole && !slot.callee.kernel && isNestedArgument(object);
  refuse(slot, Code::PYTHON_1, fmt::format("is {}, not a tensor", aType(object)),
         isNested ? nestedHelp
                  : "give a torch tensor, a NumPy array, or anything else with __dlpack__");
}

void Arguments::addScalar(const Slot &slot, nb::handle object) {
  scalars.reserve(count); // tensors point into it
  int64_t &value = scalars.emplace_back(0);
  bool isFine = false;
  if (slot.value.kind == TW_KIND_FLOAT) {
    double number = PyFloat_AsDouble(object.ptr());
    isFine = !(number == -1.0 && PyErr_Occurred());
    std::memcpy(&value, &number, sizeof value);
  } else {
    nb::object index = nb::steal(PyNumber_Index(object.ptr()));
    int overflow = 0;
    if (index.is_valid())
      value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    isFine = index.is_valid() && !overflow &&
             (slot.value.kind == TW_KIND_INT || value == 0 || value == 1);
  }
  if (!isFine) {
    PyErr_Clear();
    refuse(slot, Code::PYTHON_1, fmt::format("is {} of type {}", shown(object), typeName(object)),
           scalarHelps[slot.value.kind]);
  }
  given.push_back({&value, tw_dtype_bytes(slot.value.dtype), slot.value.dtype, 0, nullptr});
}

void Arguments::noteWritten(const Slot &slot, bool isReadOnly) {
  if (isReadOnly)
    refuseUnwritable(slot, "its memory is read-only");
  written.emplace_back(given.size(), slot.value.name);
}

void Arguments::noteWrittenTorch(const Slot &slot, nb::handle tensor) {
  noteWritten(slot, /*isReadOnly=*/false);
  if (nb::cast<bool>(tensor.attr("requires_grad")) &&
      nb::cast<bool>(nb::module_::import_("torch").attr("is_grad_enabled")()))
    refuse(slot, Code::PYTHON_4,
           fmt::format("is written by {}, but requires a gradient", slot.callee.noun()),
           "call within torch.no_grad(), give a detached tensor, or register a kernel with a "
           "backward");
  writtenTorch.push_back(nb::borrow(tensor));
}

void Arguments::announceWrites() const {
  nb::list versioned;
  for (const nb::object &tensor : writtenTorch)
    if (!asks(tensor, "is_inference"))
      versioned.append(tensor);
  if (nb::len(versioned) > 0)
    nb::module_::import_("torch.autograd.graph").attr("increment_version")(versioned);
}

std::optional<int64_t> contiguousCount(int32_t rank, const int64_t *sizes, const int64_t *strides) {
  int64_t count = 1; // fits, as it is in memory
  bool isContiguous = true;
  for (int32_t d = rank; d-- > 0;) {
    if (sizes[d] == 0)
      return 0;
    isContiguous &= sizes[d] == 1 || !strides || strides[d] == count;
    count *= sizes[d];
  }
  return isContiguous ? std::optional(count) : std::nullopt;
}

/// Says why a tensor cannot be read, whose memory can be viewed or not.
[[noreturn]] static void refuseTorch(const Slot &slot, nb::handle tensor, bool isViewed) {
  if (!isViewed)
    if (auto odd = oddity(tensor))
      refuse(slot, Code::PYTHON_1, odd->what, odd->help);
  nb::object device = tensor.attr("device");
  std::string type = textOf(device.attr("type"));
  if (type != "cpu" && type != "cuda")
    refuse(slot, Code::PYTHON_2, fmt::format("is on device {}, not in main memory", textOf(device)),
           "call .cpu() first");
  refuse(slot, Code::PYTHON_1, fmt::format("has dtype {}", textOf(tensor.attr("dtype"))),
         "convert it with .to(dtype)");
}

/// Its elements one behind the other, none of them still to be negated.
static nb::object contiguousCopy(const Slot &slot, nb::handle tensor) {
  try {
    return tensor.attr("resolve_neg")().attr("contiguous")();
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_RuntimeError)) // PyTorch has no memory
      throw;
    std::string why = textOf(error.value());
    refuse(slot, Code::PYTHON_1,
           fmt::format("cannot be copied: {}", std::string_view(why).substr(0, why.find('\n'))),
           "give a contiguous tensor, which is read in place");
  }
}

/// Makes `view` that of a contiguous copy, where `tensor` is not contiguous or its elements are
/// still to be negated. The number of its elements.
int64_t Arguments::makeDense(const Slot &slot, nb::handle tensor, const dlpack::ExchangeApi &api,
                             dlpack::Tensor &view) {
  auto count = contiguousCount(view.rank, view.sizes, view.strides);
  bool isNegated = asks(tensor, "is_neg");
  if (count && !isNegated)
    return *count;
  if (slot.value.mutated)
    refuseUnwritable(slot, isNegated ? "it is a negated view" : "it is not contiguous");
  nb::object dense = contiguousCopy(slot, tensor);
  kept.push_back(dense);
  count.reset();
  if (viewTensor(api, dense, view))
    count = contiguousCount(view.rank, view.sizes, view.strides);
  if (!count)
    refuse(slot, Code::PYTHON_1, "cannot be made contiguous", "call .contiguous() first");
  return *count;
}

void Arguments::addTorch(const Slot &slot, nb::handle object, const dlpack::ExchangeApi &api) {
  dlpack::Tensor view;
  bool isViewed = viewTensor(api, object, view);
  std::optional<tw_dtype> dtype;
  if (isViewed) {
    notePlace(slot, view.device);
    dtype = fromDLPack(view.dtype, slot.value.dtype);
  }
  if (!dtype)
    refuseTorch(slot, object, isViewed);
  noteLibrary(Library::Torch);
  int64_t count = contiguousCount(view.rank, view.sizes, view.strides).value_or(0);
  // Elements behind a negation that is still to be made are parts of complex numbers, so more than
  // one of them never lie side by side unless somebody asked for exactly that.
  if (count <= 1)
    count = makeDense(slot, object, api, view);
  if (slot.value.mutated)
    noteWrittenTorch(slot, object);
  given.push_back({static_cast<char *>(view.data) + view.byteOffset, count * (view.dtype.bits / 8),
                   *dtype, view.rank, view.sizes});
}

static bool isContiguous(const Py_buffer &buffer, const int64_t *sizes) {
  if (!buffer.strides) // as arrays of ctypes, which are always contiguous
    return true;
  int64_t strides[PyBUF_MAX_NDIM];
  for (int d = 0; d < buffer.ndim; ++d) {
    strides[d] = buffer.itemsize ? buffer.strides[d] / buffer.itemsize : 0;
    if (buffer.strides[d] != strides[d] * buffer.itemsize)
      return false;
  }
  return contiguousCount(buffer.ndim, sizes, strides).has_value();
}

void Arguments::addBuffer(const Slot &slot, nb::handle object) {
  Py_buffer buffer;
  // Writable memory is only asked for where it is written.
  int flags = PyBUF_STRIDES | PyBUF_FORMAT | (slot.value.mutated ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &buffer, flags)) {
    PyErr_Clear();
    if (slot.value.mutated)
      refuseUnwritable(slot, "its memory is read-only");
    if (nb::hasattr(object, "__dlpack__")) // dtypes that buffers cannot say
      return addDLPack(slot, object);
    refuse(slot, Code::PYTHON_1, fmt::format("is {} without a plain buffer", aType(object)),
           "give an array of numbers");
  }
  auto dtype = fromBufferFormat(buffer.format, buffer.itemsize);
  if (!dtype) {
    std::string format = buffer.format ? buffer.format : "B";
    PyBuffer_Release(&buffer);
    bool isSwapped = format[0] == '>' || format[0] == '!';
    refuse(slot, Code::PYTHON_1,
           isSwapped ? fmt::format("has the byte order of another kind of machine: \"{}\"", format)
                     : fmt::format("has elements of the format \"{}\"", format),
           isSwapped ? "convert it with .astype(a.dtype.newbyteorder('='))"
                     : "convert it with .astype(dtype)");
  }
  int32_t rank = static_cast<int32_t>(buffer.ndim);
  const auto *sizes = reinterpret_cast<const int64_t *>(buffer.shape);
  bool contiguous = isContiguous(buffer, sizes);
  if (!contiguous) {
    PyBuffer_Release(&buffer);
    if (slot.value.mutated)
      refuseUnwritable(slot, "it is not contiguous");
    nb::object dense = nb::module_::import_("numpy").attr("ascontiguousarray")(object);
    kept.push_back(dense);
    return addBuffer(slot, dense);
  }
  noteLibrary(Library::NumPy);
  notePlace(slot, {});
  buffers.reserve(count); // tensors point into it
  buffers.push_back(buffer);
  if (buffer.shape == &buffer.len) // as of bytes: the one size lies in the description itself
    sizes = reinterpret_cast<const int64_t *>(&buffers.back().len);
  if (slot.value.mutated)
    noteWritten(slot, buffer.readonly != 0);
  given.push_back({buffer.buf, static_cast<int64_t>(buffer.len), *dtype, rank, sizes});
}

static dlpack::Device placeOf(const Slot &slot, nb::handle object) {
  nb::object device = object.attr("__dlpack_device__")();
  dlpack::Device place;
  if (!nb::isinstance<nb::tuple>(device) || nb::len(device) != 2 ||
      !nb::isinstance<nb::int_>(device[0]) || !nb::isinstance<nb::int_>(device[1]))
    refuse(slot, Code::PYTHON_1,
           fmt::format("is {} whose __dlpack_device__ gives {}", aType(object), shown(device)),
           "update the library it comes from");
  if (!nb::try_cast(device[0], place.type) || !nb::try_cast(device[1], place.index))
    refuse(slot, Code::PYTHON_2, fmt::format("is on the DLPack device {}", shown(device)),
           "copy it to main memory first");
  return place;
}

/// The stream as DLPack numbers it for consumers on a GPU: 1 is the default stream.
static nb::object streamNumber(dlpack::Device place) {
  if (place.type != dlpack::cuda)
    return nb::none();
  auto stream = reinterpret_cast<intptr_t>(currentStream(place));
  return nb::int_(stream ? stream : 1);
}

/// The capsule that an object exports, of the newer form where it has that. Its elements can be
/// read in the order of the stream.
static nb::object callDLPack(nb::handle object, dlpack::Device place) {
  nb::object exporter = object.attr("__dlpack__"), stream = streamNumber(place);
  try {
    nb::tuple version = nb::make_tuple(1, 1);
    return stream.is_none()
               ? exporter(nb::arg("max_version") = version)
               : exporter(nb::arg("stream") = stream, nb::arg("max_version") = version);
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_TypeError))
      throw;
  }
  return stream.is_none() ? exporter() : exporter(nb::arg("stream") = stream);
}

static nb::object exportDLPack(const Slot &slot, nb::handle object, dlpack::Device place) {
  try {
    return callDLPack(object, place);
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_BufferError))
      throw;
    refuse(slot, Code::PYTHON_1,
           fmt::format("is {} that cannot be exported: {}", aType(object), textOf(error.value())),
           "give an array of numbers");
  }
}

/// The tensor in a capsule, and whether it may only be read; null when it is none of DLPack 1.
static std::pair<const dlpack::Tensor *, bool> tensorIn(nb::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto *managed = static_cast<dlpack::ManagedVersioned *>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    bool isReadOnly = managed->flags & dlpack::readOnly;
    return {managed->version.major == 1 ? &managed->tensor : nullptr, isReadOnly};
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor"))
    return {
        &static_cast<dlpack::Managed *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"))->tensor,
        false};
  return {nullptr, false};
}

void Arguments::addDLPack(const Slot &slot, nb::handle object) {
  dlpack::Device place = placeOf(slot, object);
  notePlace(slot, place);
  nb::object capsule = exportDLPack(slot, object, place);
  auto [tensor, isReadOnly] = tensorIn(capsule);
  if (!tensor)
    refuse(slot, Code::PYTHON_1,
           fmt::format("is {} whose __dlpack__ gives no tensor of DLPack 1", aType(object)),
           "update the library it comes from");
  kept.push_back(capsule); // which frees the tensor, as it is not marked as used
  if (!isSamePlace(tensor->device, place))
    refuse(slot, Code::PYTHON_2,
           fmt::format("is in {} by __dlpack__, but in {} by __dlpack_device__",
                       placeText(tensor->device), placeText(place)),
           "update the library it comes from");
  auto dtype = fromDLPack(tensor->dtype);
  if (!dtype)
    refuse(slot, Code::PYTHON_1, fmt::format("has the DLPack dtype {}", dtypeText(tensor->dtype)),
           dtypeHelp(tensor->dtype));
  auto count = contiguousCount(tensor->rank, tensor->sizes, tensor->strides);
  if (!count) {
    if (slot.value.mutated)
      refuseUnwritable(slot, "it is not contiguous");
    refuse(slot, Code::PYTHON_1, fmt::format("is {} that is not contiguous", aType(object)),
           "make it contiguous first");
  }
  noteLibrary(Library::Other);
  if (!firstOther)
    firstOther = object;
  if (slot.value.mutated)
    noteWritten(slot, isReadOnly);
  given.push_back({static_cast<char *>(tensor->data) + tensor->byteOffset,
                   *count * tw_dtype_bytes(*dtype), *dtype, tensor->rank, tensor->sizes});
}

void Arguments::checkOverlaps(Callee callee) const {
  auto begin = [&](size_t i) { return reinterpret_cast<uintptr_t>(given[i].data); };
  for (auto [i, name] : written)
    for (size_t j = 0; j < given.size(); ++j)
      if (i != j && begin(i) < begin(j) + given[j].bytes && begin(j) < begin(i) + given[i].bytes)
        raise(Diagnostic{
            Code::PYTHON_4,
            fmt::format("{}\"{}\" is written by {}, but overlaps other memory of the call",
                        callee.prefix(), name, callee.noun()),
            {},
            {},
            "give memory of its own, or a copy"});
}

} // namespace tw::python
