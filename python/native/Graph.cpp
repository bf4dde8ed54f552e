// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph.h"
#include "DTypes.h"
#include "Errors.h"
#include <fmt/format.h>

namespace nb = nanobind;

namespace tw::python {

using Kind = GraphOutput::Kind;

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// An int, or a tuple of the index of a dynamic one.
static Number readNumber(nb::handle object) {
  if (nb::isinstance<nb::tuple>(object))
    return {0, nb::cast<int>(object[0])};
  return {nb::cast<int64_t>(object), -1};
}

static std::vector<Number> readNumbers(nb::handle objects) {
  std::vector<Number> numbers;
  for (nb::handle object : nb::cast<nb::sequence>(objects))
    numbers.push_back(readNumber(object));
  return numbers;
}

static GraphOutput readOutput(nb::handle given) {
  static constexpr std::pair<std::string_view, Kind> kinds[] = {
      {"constant", Kind::Constant},          {"argument", Kind::Argument},
      {"argument view", Kind::ArgumentView}, {"base", Kind::Base},
      {"base view", Kind::BaseView},         {"int", Kind::Int}};
  std::string_view kind = nb::cast<nb::str>(given[0]).c_str();
  GraphOutput output;
  for (const auto &[name, value] : kinds)
    if (name == kind)
      output.kind = value;
  if (output.kind == Kind::Constant) {
    output.constant = given[1];
    return output;
  }
  output.index = nb::cast<int>(given[1]);
  if (output.kind == Kind::ArgumentView || output.kind == Kind::BaseView) {
    output.sizes = readNumbers(given[2]);
    output.strides = readNumbers(given[3]);
    output.offset = readNumber(given[4]);
  }
  return output;
}

Graph::Graph(nb::object program, nb::sequence givenInputs, nb::sequence givenBases,
             nb::sequence givenOutputs, nb::sequence givenConstants, nb::sequence givenSources,
             nb::object evaluate, nb::object threads)
    : program(std::move(program)), evaluate(std::move(evaluate)), threads(std::move(threads)) {
  for (nb::handle given : givenInputs) {
    GraphInput &input = inputs.emplace_back();
    input.isInt = nb::cast<bool>(given[0]);
    input.isUsed = nb::cast<bool>(given[1]);
    input.isMutated = nb::cast<bool>(given[2]);
    for (nb::handle dimension : nb::cast<nb::sequence>(given[3]))
      input.order.push_back(nb::cast<int>(dimension));
  }
  for (nb::handle given : givenBases) {
    nb::object strides = given[1];
    bases.push_back({readNumbers(given[0]),
                     strides.is_none() ? std::vector<Number>() : readNumbers(strides), given[2]});
    if (strides.is_none())
      bases.back().dtype = nb::none();
  }
  for (nb::handle given : givenOutputs)
    outputs.push_back(readOutput(given));
  for (nb::handle given : givenConstants)
    constants.push_back(nb::borrow(given));
  for (nb::handle given : givenSources)
    sources.push_back({nb::cast<int>(given[0]), nb::cast<int>(given[1])});
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Calls a method of a tensor whose name is only looked up once.
template <typename... Args>
static nb::object callMethod(nb::handle object, PyObject *name, Args... args) {
  PyObject *stack[] = {object.ptr(), args...};
  PyObject *result =
      PyObject_VectorcallMethod(name, stack, sizeof...(args) + 1, /*kwnames=*/nullptr);
  if (!result)
    throw nb::python_error();
  return nb::steal(result);
}

#define TW_NAME(text)                                                                              \
  [] {                                                                                             \
    static PyObject *name = PyUnicode_InternFromString(text);                                      \
    return name;                                                                                   \
  }()

static nb::object tupleOf(const std::vector<Number> &numbers, const std::vector<int64_t> &values) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (size_t i = 0; i < numbers.size(); ++i) {
    int64_t value = numbers[i].dynamic < 0 ? numbers[i].value : values[numbers[i].dynamic];
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(value));
  }
  return tuple;
}

namespace {

/// The arguments of one run as the artifact takes them.
class GraphArguments {
public:
  GraphArguments(const std::vector<GraphInput> &inputs, const dlpack::ExchangeApi &api)
      : inputs(inputs), api(api) {
    tensors.reserve(inputs.size());
    ints.reserve(inputs.size());
    permuted.reserve(inputs.size());
  }

  void add(size_t index, nb::handle object) {
    const GraphInput &input = inputs[index];
    if (!input.isUsed)
      return;
    if (input.isInt) {
      int64_t &value = ints.emplace_back(PyLong_AsLongLong(object.ptr()));
      if (value == -1 && PyErr_Occurred())
        throw nb::python_error();
      tensors.push_back({&value, sizeof value, TW_I64, 0, nullptr});
      return;
    }
    addTensor(input, index, object);
  }

  /// What was written to copies goes to the tensors that were given.
  void writeBack() const {
    for (const auto &[given, copy] : copies)
      callMethod(given, TW_NAME("copy_"), copy.ptr());
  }

  std::vector<tw_tensor> tensors;

private:
  static bool isInOrder(const dlpack::Tensor &view, const std::vector<int> &order) {
    int64_t expected = 1;
    for (size_t i = order.size(); i-- > 0;) {
      int d = order[i];
      if (view.sizes[d] == 0)
        return true;
      if (view.sizes[d] != 1 && view.strides[d] != expected)
        return false;
      expected *= view.sizes[d];
    }
    return true;
  }

  /// A copy of `tensor` whose memory is in `order`, as the artifact takes it.
  static nb::object ordered(nb::handle tensor, const std::vector<int> &order) {
    if (order.empty())
      return callMethod(tensor, TW_NAME("contiguous"));
    nb::list dimensions;
    for (int d : order)
      dimensions.append(d);
    nb::object turned = callMethod(tensor, TW_NAME("permute"), nb::tuple(dimensions).ptr());
    return callMethod(turned, TW_NAME("contiguous"));
  }

  void addTensor(const GraphInput &input, size_t index, nb::handle object) {
    dlpack::Tensor view;
    if (!torchApi(object))
      raise(Diagnostic{
          Code::PYTHON_1,
          fmt::format("argument {} of a compiled graph is a {}", index, typeName(object)),
          {},
          {},
          "give plain tensors in main memory"});
    if (!viewTensor(api, object, view))
      view.device.type = -1;
    auto dtype = view.device.type == dlpack::cpu ? fromDLPack(view.dtype) : std::nullopt;
    if (!dtype)
      raise(Diagnostic{Code::PYTHON_2,
                       fmt::format("argument {} of a compiled graph is not in main memory, or of "
                                   "another dtype than it was compiled for",
                                   index),
                       {},
                       {},
                       "give plain tensors in main memory"});
    bool isDense = input.order.empty() ? isContiguous(view.rank, view.sizes, view.strides)
                                       : isInOrder(view, input.order);
    std::vector<int64_t> *sizes = nullptr;
    if (!input.order.empty()) {
      sizes = &permuted.emplace_back();
      for (int d : input.order)
        sizes->push_back(view.sizes[d]);
    }
    if (!isDense) {
      nb::object copy = ordered(object, input.order);
      if (!viewTensor(api, copy, view))
        throw nb::type_error("a copy of a tensor has no memory");
      if (input.isMutated)
        copies.emplace_back(nb::borrow(object), inCallersOrder(copy, input.order));
      kept.push_back(std::move(copy));
    }
    int64_t bytes = tw_dtype_bytes(*dtype);
    for (int32_t d = 0; d < view.rank; ++d)
      bytes *= view.sizes[d];
    tensors.push_back({static_cast<char *>(view.data) + view.byteOffset, bytes, *dtype, view.rank,
                       sizes ? sizes->data() : view.sizes});
  }

  static nb::object inCallersOrder(const nb::object &copy, const std::vector<int> &order) {
    if (order.empty())
      return copy;
    std::vector<int> inverse(order.size());
    for (size_t i = 0; i < order.size(); ++i)
      inverse[order[i]] = static_cast<int>(i);
    nb::list dimensions;
    for (int d : inverse)
      dimensions.append(d);
    return callMethod(copy, TW_NAME("permute"), nb::tuple(dimensions).ptr());
  }

  const std::vector<GraphInput> &inputs;
  const dlpack::ExchangeApi &api;
  std::vector<int64_t> ints;
  std::vector<std::vector<int64_t>> permuted;
  std::vector<nb::object> kept;
  std::vector<std::pair<nb::object, nb::object>> copies;
};

} // namespace

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

std::vector<int64_t> Graph::evaluateSizes(nb::handle arguments) const {
  std::vector<int64_t> values;
  if (evaluate.is_none())
    return values;
  nb::object symbols = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(sources.size())));
  for (size_t i = 0; i < sources.size(); ++i) {
    nb::object value = nb::borrow(PyList_GET_ITEM(arguments.ptr(), sources[i].argument));
    if (sources[i].dimension >= 0) {
      nb::object dimension = nb::int_(sources[i].dimension);
      value = callMethod(value, TW_NAME("size"), dimension.ptr());
    }
    PyTuple_SET_ITEM(symbols.ptr(), static_cast<Py_ssize_t>(i), value.release().ptr());
  }
  nb::object result = nb::steal(PyObject_CallObject(evaluate.ptr(), symbols.ptr()));
  if (!result.is_valid())
    throw nb::python_error();
  for (nb::handle value : nb::cast<nb::sequence>(result))
    values.push_back(nb::cast<int64_t>(value));
  return values;
}

static nb::object viewOf(const nb::object &tensor, const GraphOutput &output,
                         const std::vector<int64_t> &values) {
  nb::object sizes = tupleOf(output.sizes, values), strides = tupleOf(output.strides, values);
  int64_t offset = output.offset.dynamic < 0 ? output.offset.value : values[output.offset.dynamic];
  if (offset == 0) // as_strided begins where the tensor does
    return callMethod(tensor, TW_NAME("as_strided"), sizes.ptr(), strides.ptr());
  offset += nb::cast<int64_t>(callMethod(tensor, TW_NAME("storage_offset")));
  return callMethod(tensor, TW_NAME("as_strided"), sizes.ptr(), strides.ptr(),
                    nb::object(nb::int_(offset)).ptr());
}

/// Memory for a base that is not row-major, from torch.empty_strided.
static nb::object stridedBase(const GraphBase &base, const std::vector<int64_t> &values) {
  static nb::handle empty =
      nb::object(nb::module_::import_("torch").attr("empty_strided")).release();
  return empty(tupleOf(base.sizes, values), tupleOf(base.strides, values),
               nb::arg("dtype") = base.dtype);
}

nb::list Graph::call(nb::list arguments) {
  const dlpack::ExchangeApi &api = *importedTorchApi();
  size_t count = inputs.size() - constants.size();
  if (nb::len(arguments) != count)
    raise(Diagnostic{Code::PYTHON_3, fmt::format("a compiled graph takes {} arguments, but {} were "
                                                 "given",
                                                 count, nb::len(arguments))});
  std::vector<int64_t> values = evaluateSizes(arguments);
  std::vector<nb::object> given;
  for (nb::handle argument : arguments)
    given.push_back(nb::borrow(argument));
  given.insert(given.end(), constants.begin(), constants.end());
  Results results(&api);
  std::vector<nb::object> made(bases.size());
  if (!program.is_none()) {
    GraphArguments run(inputs, api);
    for (size_t i = 0; i < given.size(); ++i)
      run.add(i, given[i]);
    for (size_t i = 0; i < bases.size(); ++i)
      if (!bases[i].dtype.is_none()) {
        made[i] = stridedBase(bases[i], values);
        dlpack::Tensor view;
        if (!viewTensor(api, made[i], view))
          throw nb::type_error("a new tensor has no memory");
        results.preset(i,
                       {static_cast<char *>(view.data) + view.byteOffset, 0, TW_F32, 0, nullptr});
      }
    nb::inst_ptr<Program>(program)->run(run.tensors, results, nb::cast<int>(threads()));
    run.writeBack();
  }
  PyList_SetSlice(arguments.ptr(), 0, PyList_GET_SIZE(arguments.ptr()), nullptr);
  for (size_t i = 0; i < bases.size(); ++i)
    if (!made[i].is_valid())
      made[i] = results.tensor(i, Library::Torch, {});
  nb::list list;
  for (const GraphOutput &output : outputs)
    switch (output.kind) {
    case Kind::Constant:
      list.append(output.constant);
      break;
    case Kind::Argument:
      list.append(given[output.index]);
      break;
    case Kind::ArgumentView:
      list.append(viewOf(given[output.index], output, values));
      break;
    case Kind::Base:
      list.append(made[output.index]);
      break;
    case Kind::BaseView:
      list.append(viewOf(made[output.index], output, values));
      break;
    case Kind::Int:
      list.append(values[output.index]);
      break;
    }
  return list;
}

int Graph::traverse(visitproc visit, void *arg) const {
  Py_VISIT(program.ptr());
  Py_VISIT(evaluate.ptr());
  Py_VISIT(threads.ptr());
  for (const nb::object &constant : constants)
    Py_VISIT(constant.ptr());
  return 0;
}

void Graph::clear() {
  program.reset();
  evaluate.reset();
  threads.reset();
  constants.clear();
}

//===----------------------------------------------------------------------===//
// The Python type
//===----------------------------------------------------------------------===//

static PyObject *callGraph(PyObject *self, PyObject *args, PyObject *named) {
  return slotResult([&] {
    if (PyTuple_GET_SIZE(args) != 1 || (named && PyDict_GET_SIZE(named)) ||
        !PyList_CheckExact(PyTuple_GET_ITEM(args, 0)))
      raise(Diagnostic{Code::PYTHON_3, "a compiled graph takes one list"});
    return nb::inst_ptr<Graph>(self)->call(nb::borrow<nb::list>(PyTuple_GET_ITEM(args, 0)));
  });
}

static int traverseGraph(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Graph>(self)->traverse(visit, arg) : 0;
}

static int clearGraph(PyObject *self) {
  nb::inst_ptr<Graph>(self)->clear();
  return 0;
}

void defineGraph(nb::module_ &module) {
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void *>(callGraph)},
                                {Py_tp_traverse, reinterpret_cast<void *>(traverseGraph)},
                                {Py_tp_clear, reinterpret_cast<void *>(clearGraph)},
                                {0, nullptr}};
  nb::class_<Graph>(module, "Graph", nb::type_slots(slots), nb::is_weak_referenceable(),
                    nb::dynamic_attr())
      .def(nb::init<nb::object, nb::sequence, nb::sequence, nb::sequence, nb::sequence,
                    nb::sequence, nb::object, nb::object>(),
           nb::arg("program").none(), nb::arg("inputs"), nb::arg("bases"), nb::arg("outputs"),
           nb::arg("constants"), nb::arg("sources"), nb::arg("evaluate").none(),
           nb::arg("threads"));
}

} // namespace tw::python
