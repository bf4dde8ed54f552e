// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph.h"
#include "Errors.h"
#include "Results.h"
#include "Support/Counted.h"
#include <fmt/format.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace tw::python {

using Kind = GraphOutput::Kind;

static constexpr char callInstead[] = "call what torch.compile gives, which calls its graphs";

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
             nb::object evaluate, nb::object threads, nb::object frozen, nb::object device)
    : program(std::move(program)), evaluate(std::move(evaluate)), threads(std::move(threads)),
      device(std::move(device)) {
  if (nb::str(this->device.attr("type")).equal(nb::str("cuda")))
    place = {dlpack::cuda, nb::cast<int32_t>(this->device.attr("index"))};
  for (nb::handle given : givenInputs) {
    GraphInput &input = inputs.emplace_back();
    input.isInt = nb::cast<bool>(given[0]);
    input.isUsed = nb::cast<bool>(given[1]);
    input.isMutated = nb::cast<bool>(given[2]);
    for (nb::handle dimension : nb::cast<nb::sequence>(given[3]))
      input.order.push_back(nb::cast<int>(dimension));
    input.isFrozen = nb::cast<bool>(given[4]);
    input.mayBeNegated = nb::cast<bool>(given[5]);
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
  if (!frozen.is_none())
    weights.emplace(frozen[0], nb::cast<std::vector<int>>(frozen[1]),
                    nb::cast<std::vector<int>>(frozen[2]), frozen[3], inputs);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static nb::object tupleOf(const std::vector<Number> &numbers, const Numbers &values) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (size_t i = 0; i < numbers.size(); ++i) {
    int64_t value = numbers[i].dynamic < 0 ? numbers[i].value : values[numbers[i].dynamic];
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(value));
  }
  return tuple;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The value of a symbol.
static nb::object symbolValue(const SymbolSource &source, nb::handle arguments) {
  nb::object value = nb::borrow(PyList_GET_ITEM(arguments.ptr(), source.argument));
  if (source.dimension < 0)
    return value;
  nb::object dimension = nb::int_(source.dimension);
  return callMethod(value, TW_NAME("size"), dimension.ptr());
}

Numbers Graph::evaluateSizes(nb::handle arguments, CallMemory &memory) const {
  Numbers values(&memory);
  values.reserve(sources.size());
  if (evaluate.is_none()) {
    for (const SymbolSource &source : sources)
      values.push_back(nb::cast<int64_t>(symbolValue(source, arguments)));
    return values;
  }
  nb::object symbols = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(sources.size())));
  for (size_t i = 0; i < sources.size(); ++i)
    PyTuple_SET_ITEM(symbols.ptr(), static_cast<Py_ssize_t>(i),
                     symbolValue(sources[i], arguments).release().ptr());
  nb::object result = nb::steal(PyObject_CallObject(evaluate.ptr(), symbols.ptr()));
  if (!result.is_valid())
    throw nb::python_error();
  for (nb::handle value : nb::cast<nb::sequence>(result))
    values.push_back(nb::cast<int64_t>(value));
  return values;
}

static nb::object viewOf(nb::handle tensor, const GraphOutput &output, const Numbers &values) {
  nb::object sizes = tupleOf(output.sizes, values), strides = tupleOf(output.strides, values);
  int64_t offset = output.offset.dynamic < 0 ? output.offset.value : values[output.offset.dynamic];
  if (offset == 0) // as_strided begins where the tensor does
    return callMethod(tensor, TW_NAME("as_strided"), sizes.ptr(), strides.ptr());
  offset += nb::cast<int64_t>(callMethod(tensor, TW_NAME("storage_offset")));
  return callMethod(tensor, TW_NAME("as_strided"), sizes.ptr(), strides.ptr(),
                    nb::object(nb::int_(offset)).ptr());
}

/// Memory for a base that is not row-major, from torch.empty_strided.
static nb::object stridedBase(const GraphBase &base, const Numbers &values,
                              const nb::object &device) {
  static nb::handle empty =
      nb::object(nb::module_::import_("torch").attr("empty_strided")).release();
  return empty(tupleOf(base.sizes, values), tupleOf(base.strides, values),
               nb::arg("dtype") = base.dtype, nb::arg("device") = device);
}

/// What the program takes, of the arguments alone.
static void addAll(GraphArguments &run, Given given) {
  for (size_t i = 0; i < given.size(); ++i)
    run.add(i, given[i]);
}

/// What the program takes, of the arguments and of what has been prepared.
static void addFrozen(GraphArguments &run, Given given, const std::vector<GraphInput> &inputs,
                      const std::vector<int> &order, const PreparedWeights::Set &set) {
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] >= 0 && !inputs[order[i]].isFrozen)
      run.add(order[i], given[order[i]]);
    else
      run.tensors.push_back(set.tensors[i].tensor);
}

/// Runs the program. Results that need strides of their own are put into `made`.
void Graph::runProgram(Given given, const Numbers &numbers, const dlpack::ExchangeApi &api,
                       Results &results, std::pmr::vector<nb::object> &made, CallMemory &memory) {
  auto &compiled = *nb::inst_ptr<Program>(program);
  int threadCount = nb::cast<int>(threads());
  GraphArguments run(inputs, api, place, &memory);
  std::shared_ptr<const PreparedWeights::Set> set; // until the run is over
  if (weights) {
    set = weights->get(given, inputs, compiled, api, place, threadCount);
    addFrozen(run, given, inputs, weights->order(), *set);
  } else {
    addAll(run, given);
  }
  for (size_t i = 0; i < bases.size(); ++i)
    if (!bases[i].dtype.is_none()) {
      made[i] = stridedBase(bases[i], numbers, device);
      dlpack::Tensor view;
      if (!viewTensor(api, made[i], view))
        throw nb::type_error("a new tensor has no memory");
      results.preset(i, {static_cast<char *>(view.data) + view.byteOffset, 0, TW_F32, 0, nullptr});
    }
  compiled.run(run.tensors, results, threadCount);
  run.writeBack();
}

static nb::object outputOf(const GraphOutput &output, Given given,
                           const std::pmr::vector<nb::object> &made, const Numbers &numbers) {
  switch (output.kind) {
  case Kind::Constant:
    break;
  case Kind::Argument:
    return nb::borrow(given[output.index]);
  case Kind::ArgumentView:
    return viewOf(given[output.index], output, numbers);
  case Kind::Base:
    return made[output.index];
  case Kind::BaseView:
    return viewOf(made[output.index], output, numbers);
  case Kind::Int:
    return nb::int_(numbers[output.index]);
  }
  return output.constant;
}

nb::object Graph::call(nb::list arguments) {
  const dlpack::ExchangeApi &api = *importedTorchApi();
  size_t count = inputs.size() - constants.size();
  if (nb::len(arguments) != count)
    raise(Diagnostic{Code::PYTHON_3,
                     fmt::format("a compiled graph takes {}, but {} {} given",
                                 counted(count, "argument"), nb::len(arguments),
                                 oneOrMany(nb::len(arguments), "was", "were")),
                     {},
                     {},
                     callInstead});
  CallMemory memory;
  Numbers numbers = evaluateSizes(arguments, memory);
  // The list holds them until the end, and nobody else has it.
  Given given(reinterpret_cast<PyListObject *>(arguments.ptr())->ob_item, count);
  std::pmr::vector<PyObject *> withConstants(&memory);
  if (!constants.empty()) {
    withConstants.assign(given.begin(), given.end());
    for (const nb::object &constant : constants)
      withConstants.push_back(constant.ptr());
    given = withConstants;
  }
  static const std::vector<tw_value_info> nothing;
  Results results(&api, program.is_none() ? nothing : nb::inst_ptr<Program>(program)->outputs(),
                  place, {}, &memory);
  std::pmr::vector<nb::object> made(bases.size(), &memory);
  if (!program.is_none())
    runProgram(given, numbers, api, results, made, memory);
  for (size_t i = 0; i < bases.size(); ++i)
    if (!made[i].is_valid())
      made[i] = results.tensor(i, Library::Torch, {});
  nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(outputs.size())));
  for (size_t i = 0; i < outputs.size(); ++i)
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                    outputOf(outputs[i], given, made, numbers).release().ptr());
  PyList_SetSlice(arguments.ptr(), 0, PyList_GET_SIZE(arguments.ptr()), nullptr);
  return list;
}

nb::object Graph::callOn(nb::handle arguments) {
  if (!arguments || !PyList_CheckExact(arguments.ptr()))
    raise(Diagnostic{Code::PYTHON_3, "a compiled graph takes one list", {}, {}, callInstead});
  return call(nb::borrow<nb::list>(arguments));
}

int Graph::traverse(visitproc visit, void *arg) const {
  Py_VISIT(program.ptr());
  Py_VISIT(evaluate.ptr());
  Py_VISIT(threads.ptr());
  Py_VISIT(device.ptr());
  for (const nb::object &constant : constants)
    Py_VISIT(constant.ptr());
  return weights ? weights->traverse(visit, arg) : 0;
}

void Graph::clear() {
  program.reset();
  evaluate.reset();
  threads.reset();
  device.reset();
  constants.clear();
  if (weights)
    weights->clear();
}

int64_t Graph::preparations() const { return weights ? weights->runs() : 0; }

size_t Graph::preparedSets() const { return weights ? weights->size() : 0; }

//===----------------------------------------------------------------------===//
// The Python type
//===----------------------------------------------------------------------===//

static PyObject *callGraph(PyObject *self, PyObject *args, PyObject *named) {
  return slotResult([&] {
    bool isOne = PyTuple_GET_SIZE(args) == 1 && !(named && PyDict_GET_SIZE(named));
    return nb::inst_ptr<Graph>(self)->callOn(isOne ? PyTuple_GET_ITEM(args, 0) : nullptr);
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
                    nb::sequence, nb::object, nb::object, nb::object, nb::object>(),
           nb::arg("program").none(), nb::arg("inputs"), nb::arg("bases"), nb::arg("outputs"),
           nb::arg("constants"), nb::arg("sources"), nb::arg("evaluate").none(), nb::arg("threads"),
           nb::arg("frozen").none(), nb::arg("device"))
      .def_prop_ro("preparations", &Graph::preparations,
                   "How often the weights have been prepared, of a graph that is frozen.")
      .def_prop_ro("prepared_sets", &Graph::preparedSets,
                   "How many sets of weights are kept prepared.");
}

} // namespace tw::python
