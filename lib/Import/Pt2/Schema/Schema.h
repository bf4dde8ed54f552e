// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An exported program as its JSON says it, in typed structs (torch/_export/serde/schema.py, major
// version 8). Texts are views into the JsonDocument, which must outlive all of this. Unknown
// members are ignored; unknown union tags are kept as such and refused where they are used.
#pragma once
#include "IO/Formats/Json.h"
#include "Support/DType.h"
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace tw::pt2 {

/// A size or stride: a constant, or an expression over symbols.
struct SymInt {
  int64_t value = 0;           // of a constant
  std::string_view expression; // sympy's srepr, "Symbol('s77', positive=True, integer=True)"
  std::optional<int64_t> hint; // of an expression: its value when the model was exported
  bool isConstant() const { return expression.empty(); }
};

/// PyTorch's numbering of dtypes in exported programs.
using ScalarType = int64_t;
/// Ours; empty when there is none.
std::optional<DType> dtypeOf(ScalarType type);
/// "torch.complex64"; "dtype 99" when nobody knows it.
std::string scalarTypeName(ScalarType type);
/// The number ATen's schemas use ("torch.float32" is 6); empty for one nobody knows.
std::optional<int64_t> atenScalarType(ScalarType type);

struct TensorMeta {
  ScalarType dtype = 0;
  std::vector<SymInt> sizes, strides;
  SymInt storageOffset;
  int64_t layout = 7;
  bool sizesUnknown = false; // what is recorded may be wrong (RecordedSizes.h)
  bool isStrided() const { return layout == 7; }
};

struct Graph;

/// A value given to a node, or a name it defines.
struct Argument {
  enum class Kind {
    None,
    Tensor,
    SymInt,
    SymFloat,
    SymBool, // a name in `text`
    Int,
    Float,
    Bool,
    String, // constants
    ScalarType,
    MemoryFormat,
    Layout,   // numbers of the schema's enums, in `integer`
    Device,   // "cuda:0" or "cpu" in `text`
    List,     // of `elements`
    GraphRef, // `graph`, called `text`
    Operator,
    CustomObject,
    Complex,
    Dict,
    Unknown // a tag of a later version, in `text`
  };
  Kind kind = Kind::None;
  int64_t integer = 0; // also Bool: 0 or 1
  double real = 0;
  std::string_view text;
  std::vector<Argument> elements;
  std::shared_ptr<Graph> graph;

  /// "a tensor", "a list": for messages.
  std::string_view kindText() const;
  bool isName() const { return kind >= Kind::Tensor && kind <= Kind::SymBool; }
};

struct NamedArgument {
  std::string_view name; // of the operator's schema; empty for higher-order operators
  Argument value;
  bool isKeyword = false;
};

struct Node {
  std::string_view target; // "torch.ops.aten.add.Tensor"
  std::string_view name;
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  std::string_view stackTrace, moduleStack;
  std::string path; // of the JSON, for messages
};

/// An ordered list of (name, T): what JSON's objects are here.
template <typename T>
using Named = std::vector<std::pair<std::string_view, T>>;

struct Graph {
  std::vector<Argument> inputs, outputs;
  std::vector<Node> nodes;
  Named<TensorMeta> tensors;
  Named<SymInt> symInts;
};

struct InputSpec {
  enum class Kind { UserInput, Parameter, Buffer, TensorConstant, ConstantInput, Unsupported };
  Kind kind;
  Argument value;        // the graph's input; of a ConstantInput its constant
  std::string_view name; // user's: "fc1.weight"; of a ConstantInput its argument's name
  std::string_view tag;  // as in the file
};

struct OutputSpec {
  enum class Kind {
    UserOutput,
    Loss,
    BufferMutation,
    ParameterMutation,
    UserInputMutation,
    GradientToParameter,
    GradientToUserInput,
    Unsupported
  };
  Kind kind;
  Argument value;
  std::string_view name; // of the parameter, buffer or input it belongs to
  std::string_view tag;
};

struct Range {
  std::optional<int64_t> min, max;
};

struct Program {
  Graph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  Named<Range> ranges;
  std::string_view outputSpec; // pytree description of the user's outputs, JSON; may be empty
  std::string_view torchVersion;
};

/// Where the bytes of one parameter, buffer or constant are.
struct Payload {
  std::string_view pathName; // "weight_0"
  bool isPickled = false;
  bool hasMeta = false;
  TensorMeta meta;
};

/// Reads a program. Errors: IO_17 (form), IMPORT_3 (another major version).
Result<Program> readProgram(const JsonDocument &document);
/// Reads a weights or constants configuration.
Result<Named<Payload>> readPayloads(const JsonDocument &document);

} // namespace tw::pt2
