// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect itself, its attributes and types.
#include "IR/Coded.h"
#include "IR/Tile/SizeText.h"
#include "IR/Tile/Tile.h"
#include "IR/Tile/Variants.h"
#include "Support/Checked.h"
#include "Support/Counted.h"
#include "Support/KernelLimits.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tw;
using namespace tw::tile;

#include "IR/Tile/Tile.dialect.cpp.inc"
#include "IR/Tile/Tile.enums.cpp.inc"

/// "6", or "workers 5".
static ParseResult parseVariantBound(AsmParser &parser, int64_t &most, int64_t &workers) {
  most = workers = 0;
  bool isOfWorkers = succeeded(parser.parseOptionalKeyword("workers"));
  return parser.parseInteger(isOfWorkers ? workers : most);
}

static void printVariantBound(AsmPrinter &printer, int64_t most, int64_t workers) {
  if (workers > 0)
    printer << "workers " << workers;
  else
    printer << most;
}

#define GET_ATTRDEF_CLASSES
#include "IR/Tile/Tile.attrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "IR/Tile/Tile.types.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "IR/Tile/Tile.attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "IR/Tile/Tile.types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "IR/Tile/Tile.ops.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// NOLINTNEXTLINE(performance-unnecessary-value-param): TableGen declares it so.
LogicalResult SizeAttr::verify(function_ref<InFlightDiagnostic()> emitError, Size size) {
  if (!size.valid())
    return emitError() << "the size overflows or divides by 0";
  return success();
}

LogicalResult DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                       function_ref<InFlightDiagnostic()> emitError) const {
  auto count = size_t(llvm::count_if(shape, ShapedType::isDynamic));
  if (count == 0)
    return emitError() << "a tile whose extents are all static has no #tile.dims";
  if (count != getSizes().size())
    return emitError() << "#tile.dims names " << counted(getSizes().size(), "extent")
                       << ", but the tile has " << count << " that are not static";
  for (SizeAttr size : getSizes())
    if (size.getSize().constant())
      return emitError() << "the extent " << size.getText() << " is static: write it as one";
  return success();
}

LogicalResult SymbolAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                                 int64_t min, int64_t max, int64_t multiple) {
  if (!Size::isSymbolName(name))
    return emitError() << "\"" << name << "\" cannot be the name of a symbol";
  if (min < 0 || max < min)
    return emitError() << "symbol " << name << ": no value is between min = " << min
                       << " and max = " << max << " and not negative";
  if (multiple < 1)
    return emitError() << "symbol " << name << ": multiple is " << multiple
                       << ", but must be positive";
  return success();
}

static LogicalResult verifyField(function_ref<InFlightDiagnostic()> emitError,
                                 const ConfigurationField &field, StringRef kind, Attribute value) {
  auto fail = [&](const Twine &what) {
    return emitError() << "field " << field.name << " of a " << kind << " configuration " << what;
  };
  using Field = ConfigurationField;
  auto number = dyn_cast_or_null<IntegerAttr>(value);
  auto list = dyn_cast_or_null<DenseI64ArrayAttr>(value);
  if (!value)
    return fail("is missing");
  if (field.kind == Field::Flag && !isa<BoolAttr>(value))
    return fail("is true or false");
  if (field.kind == Field::Number && !(number && number.getType().isInteger(64)))
    return fail("is an i64");
  if (field.kind == Field::List && !list)
    return fail("is an array of i64");
  SmallVector<int64_t> values;
  if (field.kind == Field::Number)
    values.push_back(number.getInt());
  else if (list)
    llvm::append_range(values, list.asArrayRef());
  for (int64_t each : values)
    if (each < field.least)
      return fail("is " + Twine(each) + ", but must be " + Twine(field.least) + " or more");
  return success();
}

/// Each list has a number for each loop dimension.
static LogicalResult verifyLists(function_ref<InFlightDiagnostic()> emitError,
                                 const ConfigurationSchema &schema, DictionaryAttr fields) {
  const ConfigurationField *first = nullptr;
  auto lengthOf = [&](const ConfigurationField &field) {
    return fields.getAs<DenseI64ArrayAttr>(field.name).size();
  };
  for (const ConfigurationField &field : schema.fields) {
    if (field.kind != ConfigurationField::List)
      continue;
    first = first ? first : &field;
    if (lengthOf(field) != lengthOf(*first))
      return emitError() << "fields " << first->name << " and " << field.name << " of a "
                         << schema.name << " configuration have a number for each dimension, but "
                         << "are of " << lengthOf(*first) << " and " << lengthOf(field);
  }
  return success();
}

LogicalResult ConfigurationAttr::verifyFields(function_ref<InFlightDiagnostic()> emitError) const {
  StringRef kind = getKind();
  const ConfigurationSchema *schema = cast<TileDialect>(getDialect()).getSchema(kind);
  if (!schema)
    return emitError() << "there is no kind of configurations called \"" << kind << "\"";
  for (NamedAttribute named : getFields())
    if (!schema->find(named.getName().str()))
      return emitError() << "a " << kind << " configuration has no field "
                         << named.getName().getValue();
  for (const ConfigurationField &field : schema->fields)
    if (failed(verifyField(emitError, field, kind, getFields().get(field.name))))
      return failure();
  if (failed(verifyLists(emitError, *schema, getFields())))
    return failure();
  if (getTarget() && failed(getTarget().verifyFields(emitError)))
    return failure();
  for (VariantAttr variant : getVariants())
    if (failed(variant.getConfiguration().verifyFields(emitError)))
      return failure();
  return success();
}

LogicalResult ConfigurationAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                        StringRef kind, DictionaryAttr, ConfigurationAttr,
                                        ArrayRef<VariantAttr> variants) {
  int64_t most = 0, workers = INT64_MAX;
  for (VariantAttr variant : variants) {
    if (variant.getWorkers() == 0 && workers != INT64_MAX)
      return emitError() << "a variant for sizes up to " << variant.getMost()
                         << " stands behind one for many workers";
    if (variant.getWorkers() == 0 && variant.getMost() <= most)
      return emitError() << "a variant is for sizes up to " << variant.getMost()
                         << ", but must be for more than " << most;
    if (variant.getWorkers() >= workers)
      return emitError() << "a variant is for " << variant.getWorkers()
                         << " workers or more, but must be for fewer than " << workers;
    if (variant.getWorkers() == 0)
      most = variant.getMost();
    else
      workers = variant.getWorkers();
    if (variant.getConfiguration().getKind() != kind)
      return emitError() << "a " << kind << " configuration has a variant of kind "
                         << variant.getConfiguration().getKind();
  }
  return success();
}

LogicalResult VariantAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t most,
                                  int64_t workers, ConfigurationAttr configuration) {
  if (workers == 0 && most < 1)
    return emitError() << "a variant is for sizes up to " << most << ", but must be for 1 or more";
  if (workers < 0 || workers == 1)
    return emitError() << "a variant is for " << workers
                       << " workers or more, but must be for 2 or more";
  if (!configuration.getVariants().empty())
    return emitError() << "a variant has variants itself";
  return success();
}

LogicalResult DispatchConfigurationAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                                ArrayRef<CutAttr> cuts,
                                                ArrayRef<ConfigurationAttr> kernels) {
  size_t least = 0;
  bool isExact = true;
  for (CutAttr cut : cuts) {
    Cut value = cut.getValue();
    least += value == Cut::SplitReductions || value == Cut::None ? 1 : 2;
    isExact &= value != Cut::SplitReductions && value != Cut::AlignRows;
  }
  if (kernels.size() < least || (isExact && kernels.size() > least))
    return emitError() << "the cuts make "
                       << (isExact ? counted(least, "kernel")
                                   : std::to_string(least) + " or more kernels")
                       << ", but " << kernels.size() << oneOrMany(kernels.size(), " is", " are")
                       << " configured";
  return success();
}

void TileDialect::registerSchema(ConfigurationSchema schema) {
  std::string name = schema.name;
  schemas.insert_or_assign(std::move(name), std::move(schema));
}

const ConfigurationSchema *TileDialect::getSchema(StringRef name) const {
  auto found = schemas.find(std::string_view(name));
  return found == schemas.end() ? nullptr : &found->second;
}

/// `tile.block`: how many programs one worker runs in a row, along each dimension of the grid.
static LogicalResult verifyBlock(KernelOp kernel, Attribute value) {
  auto block = dyn_cast<DenseI64ArrayAttr>(value);
  if (!block || block.size() != int64_t(kernel.getGrid().size()) ||
      llvm::any_of(block.asArrayRef(), [](int64_t programs) { return programs < 1; }))
    return kernel.emitOpError() << "tile.block is an array of i64, one positive number for each of "
                                << kernel.getGrid().size() << " dimensions of the grid, but is "
                                << value;
  return success();
}

/// One pair of `tile.begins`, argument numbers that fit their accesses.
static LogicalResult verifyBegin(KernelOp kernel, int64_t input, int64_t output) {
  auto name = [&](int64_t i) { return kernel.getArgument(unsigned(i)).getName(); };
  if (kernel.getBody().empty())
    return success(); // which is refused elsewhere
  Type from = kernel.getBlockArgument(unsigned(input)).getType();
  Type to = kernel.getBlockArgument(unsigned(output)).getType();
  if (from != to)
    return kernel.emitOpError() << "tile.begins: \"" << name(output) << "\" is " << to << ", but \""
                                << name(input) << "\", as whose copy it begins, is " << from;
  return success();
}

/// `tile.begins`: pairs of arguments, an input and a buffer that is read and written, which begins
/// as a copy of it.
static LogicalResult verifyBegins(KernelOp kernel, Attribute value) {
  auto pairs = dyn_cast<DenseI64ArrayAttr>(value);
  auto is = [&](int64_t argument, Access access) {
    return argument >= 0 && argument < int64_t(kernel.getArguments().size()) &&
           kernel.getArgument(unsigned(argument)).getAccess() == access;
  };
  bool fits = pairs && pairs.size() % 2 == 0;
  for (int64_t i = 0; fits && i < pairs.size(); i += 2)
    fits = is(pairs[i], Access::In) && is(pairs[i + 1], Access::InOut);
  if (!fits)
    return kernel.emitOpError() << "tile.begins is pairs of numbers, of an `in` and of an `inout` "
                                   "argument, but is "
                                << value;
  llvm::SmallDenseSet<int64_t> known;
  for (int64_t i = 0; i < pairs.size(); i += 2) {
    if (!known.insert(pairs[i + 1]).second)
      return kernel.emitOpError() << "tile.begins: \""
                                  << kernel.getArgument(unsigned(pairs[i + 1])).getName()
                                  << "\" begins as a copy of two inputs";
    if (failed(verifyBegin(kernel, pairs[i], pairs[i + 1])))
      return failure();
  }
  return success();
}

/// `tile.destinations`: calls give memory for the outputs.
static LogicalResult verifyDestinations(KernelOp kernel, Attribute value) {
  if (!isa<UnitAttr>(value))
    return kernel.emitOpError() << TileDialect::destinationsName << " is a unit, but is " << value;
  return success();
}

/// Whether each call that `other` is for, by sizes and workers, is one that `kernel` is for.
static bool takesAllOf(KernelOp kernel, KernelOp other) {
  if (workersOf(kernel) > workersOf(other))
    return false;
  auto others = other.getSymbols().getAsRange<SymbolAttr>();
  return llvm::all_of(kernel.getSymbols().getAsRange<SymbolAttr>(), [&](SymbolAttr symbol) {
    auto same =
        llvm::find_if(others, [&](SymbolAttr each) { return each.getName() == symbol.getName(); });
    bool isDeclared = same != others.end();
    return symbol.getMin() <= (isDeclared ? (*same).getMin() : 0) &&
           symbol.getMax() >= (isDeclared ? (*same).getMax() : INT64_MAX);
  });
}

/// A kernel by itself, as one of the variants of another.
static LogicalResult verifyVariant(KernelOp kernel, KernelOp variant) {
  auto fail = [&] {
    return kernel.emitOpError() << "the variant @" << variant.getSymName() << " ";
  };
  if (variant == kernel)
    return fail() << "is the kernel itself";
  if (variant->hasAttr(TileDialect::variantsName))
    return fail() << "has variants itself";
  if (variant.getBody().getArgumentTypes() != kernel.getBody().getArgumentTypes())
    return fail() << "takes other arguments";
  if (takesAllOf(variant, kernel))
    return fail() << "has no bound on a symbol or on workers that the kernel has not: no call "
                     "would go to the kernel itself";
  return success();
}

/// `tile.variants`: names of kernels that take what this one takes, each with a bound for a symbol.
/// A call goes to the first whose bounds it keeps, so none may stand behind one that takes as much.
static LogicalResult verifyVariants(KernelOp kernel, Attribute value) {
  auto names = dyn_cast<ArrayAttr>(value);
  if (!names || names.empty() || !llvm::all_of(names, llvm::IsaPred<FlatSymbolRefAttr>))
    return kernel.emitOpError() << "tile.variants is an array of names of kernels, but is "
                                << value;
  auto module = kernel->getParentOfType<ModuleOp>();
  if (!module || kernel.getBody().empty())
    return success(); // an empty one is refused elsewhere
  SmallVector<KernelOp> before;
  for (auto name : names.getAsRange<FlatSymbolRefAttr>()) {
    auto variant = module.lookupSymbol<KernelOp>(name);
    if (!variant)
      return kernel.emitOpError() << "there is no kernel " << name << " for a variant";
    if (failed(verifyVariant(kernel, variant)))
      return failure();
    for (KernelOp first : before)
      if (takesAllOf(first, variant))
        return kernel.emitOpError() << "no call would go to the variant " << name << ": @"
                                    << first.getSymName() << " stands before it and takes all";
    before.push_back(variant);
  }
  return success();
}

/// `tile.workers`: of a variant.
static LogicalResult verifyWorkers(KernelOp kernel, Attribute value) {
  auto workers = dyn_cast<IntegerAttr>(value);
  if (!workers || workers.getInt() < 2)
    return kernel.emitOpError() << TileDialect::workersName
                                << " is a number of workers, 2 or more, but is " << value;
  return success();
}

/// `tile.variant_size`: a symbol. Once it is bound, the kernel has it no more.
static LogicalResult verifyVariantSize(KernelOp kernel, Attribute value) {
  auto symbol = dyn_cast<StringAttr>(value);
  if (!symbol || symbol.empty())
    return kernel.emitOpError() << variantSizeName << " is the name of a symbol, but is " << value;
  return success();
}

/// `tile.replaces`: the kernel of a model in whose place this one comes.
static LogicalResult verifyReplaces(KernelOp kernel, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  if (!name || name.empty())
    return kernel.emitOpError() << TileDialect::replacesName << " is the name of a kernel, but is "
                                << value;
  return success();
}

static LogicalResult verifyConfiguration(Operation *op, Attribute value) {
  auto kernel = dyn_cast<ConfigurationAttr>(value);
  auto dispatch = dyn_cast<DispatchConfigurationAttr>(value);
  bool fits = isa<KernelOp>(op) ? bool(kernel) : op->hasAttr("tw.kernel") && dispatch;
  if (!fits)
    return op->emitOpError() << TileDialect::configurationName
                             << " is a #tile.config of a tile.kernel, or a "
                                "#tile.dispatch_config of a dispatch";
  auto emitError = [&] {
    InFlightDiagnostic error = emitCoded(op->getLoc(), Code::CONFIG_1);
    error.attachNote() << "help: docs/configurations.md has the fields of each kind";
    return error;
  };
  for (ConfigurationAttr each : kernel ? ArrayRef(kernel) : dispatch.getKernels())
    if (failed(each.verifyFields(emitError)))
      return failure();
  return success();
}

/// What only kernels have.
constexpr struct {
  StringLiteral name;
  LogicalResult (*verify)(KernelOp, Attribute);
} kernelAttributes[] = {{TileDialect::destinationsName, verifyDestinations},
                        {TileDialect::blockName, verifyBlock},
                        {TileDialect::beginsName, verifyBegins},
                        {TileDialect::variantsName, verifyVariants},
                        {TileDialect::workersName, verifyWorkers},
                        {variantSizeName, verifyVariantSize},
                        {TileDialect::replacesName, verifyReplaces}};

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  if (name == configurationName)
    return verifyConfiguration(op, attribute.getValue());
  const auto *rule = llvm::find_if(kernelAttributes, [&](auto &each) { return each.name == name; });
  if (rule == std::end(kernelAttributes))
    return op->emitOpError() << "there is no attribute " << name << " of the tile dialect";
  if (auto kernel = dyn_cast<KernelOp>(op))
    return rule->verify(kernel, attribute.getValue());
  return op->emitOpError() << "has an attribute " << name << ", but that is a kernel's";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isElement(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         (type.isSignlessInteger() &&
          llvm::is_contained({1u, 8u, 16u, 32u, 64u}, type.getIntOrFloatBitWidth()));
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<SizeAttr> shape, Type element) {
  if (!isElement(element) && !element.isUnsignedInteger(8))
    return emitError() << "elements of a buffer are f16, bf16, f32, f64, i8, i16, i32, i64, ui8 or "
                          "i1, but this one's are "
                       << element;
  for (SizeAttr size : shape)
    if (auto value = size.getSize().constant(); value && *value < 0)
      return emitError() << "the size " << *value << " is negative";
  return success();
}

Type BufferType::getTileElementType() const {
  return getElementType().isUnsignedInteger(8) ? IntegerType::get(getContext(), 8)
                                               : getElementType();
}

namespace tw::tile {

std::vector<Size> extentsOf(RankedTensorType tile) {
  std::vector<Size> extents;
  auto dims = dyn_cast_or_null<DimsAttr>(tile.getEncoding());
  size_t next = 0;
  for (int64_t extent : tile.getShape())
    extents.push_back(ShapedType::isDynamic(extent) ? dims.getSizes()[next++].getSize()
                                                    : Size(extent));
  return extents;
}

RankedTensorType tileType(ArrayRef<Size> extents, Type element) {
  SmallVector<int64_t> shape;
  SmallVector<SizeAttr> sizes;
  for (const Size &extent : extents) {
    shape.push_back(extent.constant().value_or(ShapedType::kDynamic));
    if (!extent.constant())
      sizes.push_back(SizeAttr::get(element.getContext(), extent));
  }
  Attribute encoding;
  if (!sizes.empty())
    encoding = DimsAttr::get(element.getContext(), sizes);
  return RankedTensorType::get(shape, element, encoding);
}

std::vector<Size> sizesOf(BufferType buffer) {
  std::vector<Size> sizes;
  for (SizeAttr size : buffer.getShape())
    sizes.push_back(size.getSize());
  return sizes;
}

std::optional<std::string> whyNotTile(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  auto tile = dyn_cast<RankedTensorType>(type);
  Type element = tile ? tile.getElementType() : type;
  if (!isElement(element) && !element.isIndex())
    return text + " is neither a tile nor a scalar of a kernel";
  if (tile && !tile.hasStaticShape() && !isa_and_nonnull<DimsAttr>(tile.getEncoding()))
    return text + " does not say its extents: #tile.dims is missing";
  if (tile && tile.hasStaticShape() && tile.getEncoding())
    return text + " has an encoding, but all its extents are static";
  std::vector<int64_t> known;
  for (int64_t extent : tile ? tile.getShape() : ArrayRef<int64_t>())
    known.push_back(ShapedType::isDynamic(extent) ? 1 : extent);
  if (auto count = checkedProduct(known); !count || *count > mostTileElements)
    return text + " has more than " + std::to_string(mostTileElements) + " elements";
  return std::nullopt;
}

} // namespace tw::tile
