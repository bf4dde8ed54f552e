// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a trace, which every function of the kernel language adds to.
#ifndef TILEWRIGHT_LANGUAGE_TRACER_H
#define TILEWRIGHT_LANGUAGE_TRACER_H

#include "Language/Phrases.h"
#include "Language/Program.h"
#include "Language/Trace.h"

#include <map>

namespace tw::kernel::detail {

/// Ends the trace: thrown by fail(), caught by trace().
struct Failed {};

class Tracer {
public:
  /// What the body of a loop with combine is called.
  static constexpr const char *splitBody = "the body of the loop with combine";

  Tracer(std::string name, const std::vector<Binding> &bindings, Here here, const Phrases &say);
  ~Tracer();
  Tracer(const Tracer &) = delete;
  Tracer &operator=(const Tracer &) = delete;

  /// The trace of this thread; null outside of kernels, and after an error (then everything is
  /// without effect until the kernel has returned).
  static Tracer *current();

  /// Records an error, the first one counts, and leaves the kernel.
  [[noreturn]] void fail(Here here, std::string message, std::string help = "");

  // ---- Operations and regions
  uint64_t region() const { return open.back()->id; }
  /// Whether a region is the current one or around it.
  bool isOpen(uint64_t region) const;
  /// Whether a region is around the current one.
  bool isAround(uint64_t region) const;
  /// Counts an operation, which need not leave one behind: those on sizes do not. Refuses a kernel
  /// that has too many to end.
  void countOperation(Here here);
  /// Counts a call of the language, which need not be an operation: a constant is none. Whether
  /// there were too many for a kernel that ends.
  bool countCall() { return ++calls > mostCalls; }
  /// Refuses such a kernel.
  [[noreturn]] void failTooManyCalls(Here here);
  /// Adds an operation; gives its results, one for each type.
  Values emit(Here here, std::string name, Values operands, std::vector<Type> results,
              Attributes attributes = {}, std::vector<Region> regions = {});
  /// The same for one result.
  ValuePtr emit1(Here here, std::string name, Values operands, Type result,
                 Attributes attributes = {});
  /// Begins a region, which takes arguments of these types: until leave() operations go there.
  Refs enter(Here here, std::string what, const std::vector<Type> &arguments,
             const std::vector<std::string> &names);
  /// Ends the region that was entered last.
  Region leave(Here here, const Refs &yields);
  /// Ends regions until `depth` are open, when what was to fill them has failed.
  void abandon(size_t depth);
  size_t depth() const { return open.size(); }
  const Region &deepest() const { return *open.back(); }
  /// A region with the operations of a body, which takes arguments of these types.
  Region trace(Here here, std::string what, const std::vector<Type> &arguments,
               const std::vector<std::string> &names, const Body &body);
  /// A constant or size, one for each region that needs it.
  ValuePtr cached(Here here, const std::string &key, const std::function<ValuePtr()> &make);
  ValuePtr newValue(Here here, Type type, std::string name = "");
  /// Refuses a value that is not to be used here: of another kernel, or of a region that has ended.
  void checkUsable(Here here, const ValuePtr &value);
  /// Refuses an assignment, of `value` if it is one, to a variable from outside of this region.
  [[noreturn]] void failAssignment(const Value *value);
  /// A size may have the symbols of this kernel only.
  const tw::Size &checkSize(Here here, const SizePtr &size);
  Extents checkShape(Here here, const Shape &shape, const std::string &what);

  // ---- What the kernel is called with
  tw::Size declareSymbol(Here here, const std::string &name, SymbolRange range);
  int64_t declareParameter(Here here, const std::string &name, int64_t defaultValue);
  BufferPtr declareBuffer(BufferInfo buffer);
  ValuePtr declareScalar(Here here, const std::string &name, DType dtype,
                         const std::string &symbol);
  std::vector<Index> declareGrid(Here here, const std::vector<Size> &sizes);
  /// A coordinate of declareGrid.
  Index programId(Here here, int64_t dim);
  void addHint(Here here, const std::string &name, const std::vector<int64_t> &values);
  /// `tile.begins`: an argument begins as a copy of another one.
  void addBegin(Here here, const BufferPtr &source, const BufferPtr &destination);
  /// An input is the same in all calls.
  void addConstant(const BufferPtr &buffer) { result.constants.insert(buffer->name); }
  /// An attribute that is given once at most.
  void addAttribute(Here here, const std::string &name, std::string text);
  /// Of a buffer of this kernel: its number among the arguments.
  size_t argumentNumber(const BufferPtr &buffer) const;
  void letOutputsBind() { result.outputsBind = true; }
  const BufferPtr &checkBuffer(Here here, const Buffer &buffer, const char *what);

  /// A buffer is written, somewhere.
  void noteStore(const BufferPtr &buffer) { stored.insert(buffer->name); }
  /// The rules of loops with combine: memory is written, or such a loop begins.
  void noteEffect(Here here, const std::string &what);
  void checkSplit(Here here);

  /// Checks what only the whole kernel shows: a grid, bound symbols, no binding left over, no
  /// output forgotten.
  void finish();

  const Program &program() const { return result; }
  const Phrases &say() const { return phrases; }
  const std::optional<TraceError> &error() const { return failure; }
  const std::vector<Parameter> &parameters() const { return asked; }

private:
  void checkCount(Here here, const std::string &what, const Extents &shape, int64_t most,
                  const std::string &unit);
  [[noreturn]] void failEndless(Here here, int64_t most, const char *what);
  [[noreturn]] void failSymbol(Here here, const tw::Size &size, const std::string &name);
  std::optional<int64_t> takeBinding(const std::string &name);
  void checkName(Here here, const std::string &what, const std::string &name);
  void checkBound();
  void checkStored();

  struct Ended {
    std::string what;
    Here here;
  };

  Program result;
  const Phrases &phrases;
  std::vector<Region *> open;
  std::vector<std::unique_ptr<Region>> entered;      // those of `open` but the first
  static constexpr int64_t mostOperations = 100'000; // a program of a kernel has some hundred
  static constexpr size_t mostNested = 100;          // passes over the program recurse
  static constexpr int64_t mostCalls = 10 * mostOperations; // of the language
  int64_t operations = 0, calls = 0;
  std::map<uint64_t, Ended> ended;
  std::map<uint64_t, std::map<std::string, ValuePtr>> cache;
  std::map<std::string, Here> symbolsBound; // symbols that the request made constants
  std::map<std::string, Here> names;        // of arguments
  std::map<std::string, int64_t> bindings;
  std::set<std::string> used;   // bindings
  std::set<std::string> stored; // buffers
  std::vector<Parameter> asked;
  std::map<std::string, Here> parameterPlaces;
  std::optional<Here> gridPlace;
  std::vector<Index> gridIds;
  std::map<std::string, Here> hintPlaces;
  std::map<std::string, Here> beginPlaces; // by the buffer that begins
  std::optional<Here> effectPlace, splitPlace;
  std::optional<TraceError> failure;
  Tracer *outer;
};

std::string dtypeName(DType dtype);
std::string shapeText(const Extents &shape);
/// "f32[1, N]", or "i64" for a scalar.
std::string typeText(const Type &type);
bool isFloat(DType dtype);
/// i8 to i64 and u8.
bool isInteger(DType dtype);
int bits(DType dtype);
Shape toShape(const Extents &extents);

} // namespace tw::kernel::detail

#endif // TILEWRIGHT_LANGUAGE_TRACER_H
