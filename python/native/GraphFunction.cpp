// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphFunction.h"
#include "Errors.h"
#include "Graph.h"
#include <cstddef>
#include <structmember.h>

namespace nb = nanobind;

namespace tw::python {

namespace {

struct GraphFunction {
  PyObject_HEAD vectorcallfunc call;
  PyObject *graph; // null: it has been taken away
  PyObject *attributes, *weakReferences;
};

GraphFunction &functionOf(PyObject *self) { return *reinterpret_cast<GraphFunction *>(self); }

PyObject *callFunction(PyObject *self, PyObject *const *args, size_t count, PyObject *named) {
  return slotResult([&] {
    nb::object graph = nb::borrow(functionOf(self).graph); // which may be taken while it runs
    if (!graph.is_valid())
      raise(Diagnostic{
          Code::PYTHON_3,
          "a compiled graph is called when Python ends",
          {},
          {},
          "call it in no handler of atexit, or in one that is registered after the first use of "
          "torch.compile"});
    bool isOne = PyVectorcall_NARGS(count) == 1 && !(named && PyTuple_GET_SIZE(named));
    return nb::inst_ptr<Graph>(graph)->callOn(isOne ? args[0] : nullptr);
  });
}

PyObject *makeFunction(PyTypeObject *type, PyObject *args, PyObject *named) {
  static const char *names[] = {"graph", nullptr};
  PyObject *graph = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, named, "O", const_cast<char **>(names), &graph))
    return nullptr;
  if (!nb::isinstance<Graph>(graph)) {
    PyErr_SetString(PyExc_TypeError, "a GraphFunction is made of a Graph");
    return nullptr;
  }
  PyObject *self = type->tp_alloc(type, 0);
  if (!self)
    return nullptr;
  functionOf(self).call = callFunction;
  functionOf(self).graph = Py_NewRef(graph);
  return self;
}

int traverseFunction(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(functionOf(self).graph);
  Py_VISIT(functionOf(self).attributes);
  return 0;
}

int clearFunction(PyObject *self) {
  Py_CLEAR(functionOf(self).graph);
  Py_CLEAR(functionOf(self).attributes);
  return 0;
}

void freeFunction(PyObject *self) {
  PyObject_GC_UnTrack(self);
  if (functionOf(self).weakReferences)
    PyObject_ClearWeakRefs(self);
  clearFunction(self);
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject *graphOf(PyObject *self, void *) {
  PyObject *graph = functionOf(self).graph;
  return Py_NewRef(graph ? graph : Py_None);
}

PyObject *endFunction(PyObject *self, PyObject *) {
  Py_CLEAR(functionOf(self).graph);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"end", endFunction, METH_NOARGS,
                          "Lets go of the graph: calls raise TW-PYTHON-0003 from now on."},
                         {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(GraphFunction, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(GraphFunction, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(GraphFunction, weakReferences), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef properties[] = {
    {"graph", graphOf, nullptr, "The graph; None when it has been let go of.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char *>("GraphFunction(graph)\n--\n\nA Graph as a function of one list: "
                                   "torch keeps it, and what holds the graph.")},
    {Py_tp_new, reinterpret_cast<void *>(makeFunction)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseFunction)},
    {Py_tp_clear, reinterpret_cast<void *>(clearFunction)},
    {Py_tp_dealloc, reinterpret_cast<void *>(freeFunction)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {0, nullptr}};
PyType_Spec spec = {"tilewright._native.GraphFunction", sizeof(GraphFunction), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

} // namespace

void defineGraphFunction(nb::module_ &module) {
  nb::object type = nb::steal(PyType_FromSpec(&spec));
  if (!type.is_valid())
    throw nb::python_error();
  module.attr("GraphFunction") = type;
}

} // namespace tw::python
