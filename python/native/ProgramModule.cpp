// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Program as a Python type. It is called through its type's slot, which costs less than a method.
#include "ArgumentDType.h"
#include "DTypes.h"
#include "Errors.h"
#include "Program.h"
#include "Support/Counted.h"
#include <fmt/format.h>
#include <iterator>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace tw::python {

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

[[noreturn]] static void refuseCall(const Program &program, const std::string &what) {
  std::string names;
  for (const tw_value_info &input : program.inputs())
    names += fmt::format("{}{}: {}", names.empty() ? "" : ", ", input.name, shapeText(input));
  raise(Diagnostic{
      Code::PYTHON_3,
      program.callee().prefix() + what,
      {},
      {fmt::format("{} takes {}", program.callee().noun(), names.empty() ? "nothing" : names)},
      "give each input once, by place or by name"});
}

using Objects = std::span<PyObject *const>;

/// The object for each input: by place, then by name. Behind them those for outputs, by name; null
/// where none is given. They are those of the tuple where that has all, else in `objects`.
static Objects gather(const Program &program, PyObject *args, PyObject *named,
                      std::vector<PyObject *> &objects) {
  const auto &inputs = program.inputs();
  size_t count = static_cast<size_t>(PyTuple_GET_SIZE(args));
  if (count > inputs.size())
    refuseCall(program, fmt::format("{} has {}, but {} {} given", program.callee().noun(),
                                    counted(inputs.size(), "input"), count,
                                    oneOrMany(count, "was", "were")));
  if (count == inputs.size() && !named)
    return {PySequence_Fast_ITEMS(args), count};
  objects.resize(inputs.size() + program.outputs().size());
  for (size_t i = 0; i < count; ++i)
    objects[i] = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i));
  PyObject *key, *value;
  for (Py_ssize_t at = 0; named && PyDict_Next(named, &at, &key, &value);) {
    const char *name = asName(key);
    int32_t index = name ? tw_program_find_input(program.c(), name) : -1;
    if (name && index < 0)
      if (int32_t output = tw_program_find_output(program.c(), name); output >= 0)
        index = static_cast<int32_t>(inputs.size()) + output;
    if (index < 0)
      refuseCall(program,
                 fmt::format("{} has no input {}", program.callee().noun(), shownName(key)));
    if (objects[index])
      refuseCall(program, fmt::format("input \"{}\" is given twice", name));
    objects[index] = value;
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!objects[i])
      refuseCall(program, fmt::format("input \"{}\" is missing", inputs[i].name));
  return objects;
}

/// Results go to the memory of the objects that are given for them.
static void presetOutputs(const Program &program, Objects objects, Arguments &arguments,
                          Results &results) {
  size_t inputs = program.inputs().size();
  for (size_t i = 0; inputs + i < objects.size(); ++i) {
    if (!objects[inputs + i])
      continue;
    tw_value_info info = program.outputs()[i];
    info.mutated = 1;
    if (info.kind != TW_KIND_TENSOR)
      refuseCall(program, fmt::format("output \"{}\" is a number, and given", info.name));
    arguments.add({info, resultRole, program.callee()}, objects[inputs + i]);
    results.preset(i, arguments.tensors().back(), info.name);
  }
}

/// What the call gives: one result alone, several as a tuple. Those whose memory was given are the
/// objects that gave it.
static nb::object resultsOf(const Program &program, Objects objects, const Arguments &arguments,
                            Results &results, Library library) {
  size_t inputs = program.inputs().size();
  auto result = [&](size_t i) -> nb::object {
    if (inputs + i < objects.size() && objects[inputs + i])
      return nb::borrow(objects[inputs + i]);
    tw_kind kind = program.outputs()[i].kind;
    return kind == TW_KIND_TENSOR ? results.tensor(i, library, arguments.other())
                                  : results.scalar(i, kind);
  };
  const auto &fixed = program.fixedOutputs();
  size_t count = results.count() + fixed.size(), nextFixed = 0;
  auto next = [&](size_t position) {
    if (nextFixed < fixed.size() && fixed[nextFixed].first == position)
      return fixed[nextFixed++].second;
    return result(position - nextFixed);
  };
  if (count == 1)
    return next(0);
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), next(i).release().ptr());
  return tuple;
}

static nb::object runProgram(Program &program, PyObject *args, PyObject *named) {
  std::vector<PyObject *> gathered;
  Objects objects = gather(program, args, named, gathered);
  CallMemory memory;
  Arguments arguments(objects.size(), program.device(), &memory);
  size_t inputs = program.inputs().size();
  for (size_t i = 0; i < inputs; ++i)
    arguments.add({program.inputs()[i], inputRole, program.callee()}, objects[i]);
  Library library = arguments.library();
  if (library == Library::None)
    library = program.defaultLibrary();
  // On a device all memory for results is PyTorch's.
  bool isTorch = library == Library::Torch || arguments.place().type != dlpack::cpu;
  Results results(isTorch ? importedTorchApi() : nullptr, program.outputs(), arguments.place(),
                  program.callee(), &memory);
  presetOutputs(program, objects, arguments, results);
  if (program.writesInputs() || arguments.tensors().size() > inputs)
    arguments.checkOverlaps(program.callee());
  std::span<const tw_tensor> given(arguments.tensors());
  bool follows = program.followsTorch() && library == Library::Torch;
  program.run(given.first(inputs), results, follows ? torchThreads() : 0);
  arguments.announceWrites();
  return resultsOf(program, objects, arguments, results, library);
}

static PyObject *callProgram(PyObject *self, PyObject *args, PyObject *named) {
  return slotResult([&] {
    if (!nb::inst_ready(self))
      raise(Diagnostic{Code::PYTHON_3,
                       "a tilewright.Program is called that was never loaded",
                       {},
                       {},
                       "make programs with tilewright.compile or tilewright.load"});
    return runProgram(*nb::inst_ptr<Program>(self), args, named);
  });
}

/// Says of a type's __call__ what it does, in place of Python's "Call self as a function.". It
/// stays the wrapper of the type's slot, by which subclasses of Python inherit the slot as it is.
static void documentCall(nb::handle type, const char *doc) {
  PyObject *known = reinterpret_cast<PyTypeObject *>(type.ptr())->tp_dict;
  PyObject *call = PyDict_GetItemString(known, "__call__");
  if (!call || Py_TYPE(call) != &PyWrapperDescr_Type)
    return;
  auto *wrapper = reinterpret_cast<PyWrapperDescrObject *>(call);
  static wrapperbase base = *wrapper->d_base;
  base.doc = doc;
  nb::object documented = nb::steal(
      PyDescr_NewWrapper(reinterpret_cast<PyTypeObject *>(type.ptr()), &base, wrapper->d_wrapped));
  if (!documented.is_valid() || PyDict_SetItemString(known, "__call__", documented.ptr()))
    throw nb::python_error();
  PyType_Modified(reinterpret_cast<PyTypeObject *>(type.ptr()));
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

static nb::dict describeValue(const tw_value_info &info) {
  static const char *kinds[] = {"tensor", "int", "float", "bool"};
  nb::list sizes;
  for (int32_t d = 0; d < info.rank; ++d)
    sizes.append(info.sizes[d] >= 0 ? nb::object(nb::int_(info.sizes[d]))
                                    : nb::object(nb::str(info.size_texts[d])));
  nb::dict value;
  value["name"] = info.name;
  value["kind"] = kinds[info.kind];
  value["dtype"] = tw_dtype_name(info.dtype);
  value["sizes"] = nb::tuple(sizes);
  value["mutated"] = info.mutated != 0;
  value["trainable"] = info.trainable != 0;
  value["value"] = nb::none();
  return value;
}

static nb::dict describeFixed(const tw_fixed_output &fixed) {
  nb::dict value;
  value["name"] = fixed.name;
  value["kind"] = fixed.text ? "str" : "None";
  value["dtype"] = "";
  value["sizes"] = nb::tuple();
  value["mutated"] = value["trainable"] = false;
  value["value"] = fixed.text ? nb::object(nb::str(fixed.text)) : nb::object(nb::none());
  return value;
}

static nb::list describeAll(const Program &program, int32_t count,
                            const tw_value_info *(*get)(const tw_program *, int32_t)) {
  nb::list values;
  for (int32_t i = 0; i < count; ++i)
    values.append(describeValue(*get(program.c(), i)));
  return values;
}

static nb::dict describe(const Program &program) {
  const tw_program_info &info = *tw_program_describe(program.c());
  nb::list dispatches, symbols;
  for (int32_t i = 0; i < info.dispatch_count; ++i) {
    const tw_dispatch_info &dispatch = *tw_program_dispatch(program.c(), i);
    nb::dict facts;
    facts["name"] = dispatch.name;
    facts["kernel"] = dispatch.kernel;
    facts["source"] = dispatch.source;
    facts["ops"] = dispatch.ops;
    dispatches.append(facts);
  }
  for (int32_t i = 0; i < info.symbol_count; ++i) {
    const tw_symbol_info &symbol = *tw_program_symbol(program.c(), i);
    symbols.append(nb::make_tuple(symbol.name, symbol.min, symbol.max));
  }
  nb::dict facts;
  facts["model"] = info.model;
  facts["key"] = info.key;
  facts["target"] = info.target;
  facts["device"] = tw_program_device(program.c());
  facts["compiler"] = info.compiler;
  facts["weight_bytes"] = info.weight_bytes;
  facts["state_bytes"] = info.state_bytes;
  facts["inputs"] = describeAll(program, info.input_count, tw_program_input);
  facts["outputs"] = describeAll(program, info.output_count, tw_program_output);
  for (int32_t i = 0; const tw_fixed_output *fixed = tw_program_fixed_output(program.c(), i); ++i)
    facts["outputs"].attr("insert")(fixed->position, describeFixed(*fixed));
  facts["state"] = describeAll(program, info.state_count, tw_program_state);
  facts["symbols"] = symbols;
  facts["dispatches"] = dispatches;
  return facts;
}

static nb::list eventList(Program &program) {
  nb::list list;
  for (const Event &event : program.stopProfile())
    list.append(nb::make_tuple(event.dispatch, event.begin, event.end));
  return list;
}

static nb::tuple memoryTuple(Program &program) {
  tw_memory_info memory = program.memory();
  return nb::make_tuple(memory.arena_bytes, memory.arena_bound_bytes, memory.reserved_bytes);
}

void defineProgram(nb::module_ &module) {
  module.def(
      "gpu_of",
      [](nb::handle tensor) {
        auto place = gpuOf(tensor);
        return place ? std::optional(placeText(*place)) : std::nullopt;
      },
      nb::arg("tensor").none(), "\"cuda:0\" of a tensor on such a device, else None.");
  module.def(
      "plain_dtype_of",
      [](nb::handle tensor) {
        static PyObject *names[std::size(dtypes)]; // made once: they are keys in each call
        auto dtype = plainDTypeOf(tensor);
        if (!dtype)
          return nb::object(nb::none());
        PyObject *&name = names[*dtype];
        if (!name)
          name = PyUnicode_InternFromString(tw_dtype_name(*dtype));
        return nb::borrow(name);
      },
      nb::arg("tensor").none(),
      "The dtype (\"f32\") of a tensor or array; None of what dtype_of has to look at.");
  module.def(
      "dtype_of",
      [](nb::handle tensor, const char *kernel, const char *name, const char *wanted) {
        tw_value_info info = {};
        info.name = name;
        info.kind = TW_KIND_TENSOR;
        Slot slot(info, inputRole, {kernel});
        slot.wanted = wanted;
        return tw_dtype_name(dtypeOf(slot, tensor));
      },
      nb::arg("tensor").none(), nb::arg("kernel"), nb::arg("name"), nb::arg("wanted"),
      "The dtype (\"f32\") of what is given for the argument `name` of a kernel, which takes what "
      "is `wanted`. Errors: TW-PYTHON-0001 and 0002, as of a call.");
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void *>(callProgram)}, {0, nullptr}};
  nb::class_<Program> program(module, "Program", nb::type_slots(slots));
  documentCall(program,
               "__call__($self, /, *inputs, **named)\n--\n\n"
               "Runs the program on its inputs, in order or by name; memory for results by their "
               "names. Gives\nthe results, one alone or several as a tuple. inputs and outputs say "
               "dtypes and sizes; the\nclass, what else is asked of tensors, and the errors.");
  program
      .def(nb::init<const std::string &, int, int, std::string, const std::string &>(),
           nb::arg("path"), nb::arg("descriptor") = -1, nb::arg("threads") = 0,
           nb::arg("library") = "numpy", nb::arg("device") = "")
      .def("_describe", &describe)
      .def_prop_ro("_descriptor", &Program::descriptor)
      .def_prop_ro("_path", &Program::path)
      .def("_get_state", &Program::getState, nb::arg("name").none())
      .def("_set_state", &Program::setState, nb::arg("name").none(), nb::arg("value").none())
      .def("_reset_state", &Program::resetState, nb::arg("name").none())
      .def("_memory", &memoryTuple)
      .def("_start_profile", &Program::startProfile)
      .def("_stop_profile", &eventList);
}

} // namespace tw::python
