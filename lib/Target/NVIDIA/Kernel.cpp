// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Kernel.h"
#include "IR/Coded.h"
#include "Target/NVIDIA/Attention/AttentionEmitter.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Emission/PlainPrograms.h"
#include "Target/NVIDIA/Emission/Width.h"
#include "Target/NVIDIA/HostSide.h"
#include "Target/NVIDIA/Product/Emission/ProductEmitter.h"
#include "Target/NVIDIA/Product/Pipeline.h"
#include "Target/NVIDIA/Product/WorkTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tw::target::nvidia {
namespace {

constexpr int64_t fillThreads = 256;
/// Of a block that was chosen for tensor cores: as many as may have all registers that a thread can
/// have, which it needs for 8 x 8 sums and for places that follow from unknown sizes. Beside them
/// it has none for tiles.
constexpr int64_t threadsBeside = 256;
/// In the plain lowering two blocks share a multiprocessor.
constexpr int64_t blocksOfMultiprocessor = 2;
constexpr unsigned sharedSpace = 3;
constexpr char sharedName[] = "tw_shared";
constexpr int64_t sharedAlignment = 128, productAlignment = 1024; // of a swizzle's pattern
constexpr int64_t mapBytes = 128, mapAlignment = 64;              // CUtensorMap

class KernelLowering {
public:
  KernelLowering(tile::KernelOp kernel, ModuleOp device, ModuleOp host,
                 const GpuArchitecture &architecture, const Cancellation *cancellation = nullptr)
      : kernel(kernel), device(device), host(host), architecture(architecture),
        cancellation(cancellation), signature(kernel), width(widthOf(kernel)),
        b(kernel.getContext()), loc(kernel.getLoc()), i64(b.getI64Type()),
        pointer(LLVM::LLVMPointerType::get(b.getContext())) {}

  /// `avoidsTensorCores`: another kernel has the place of the one that would use them.
  FailureOr<LoweredForDevice> run(bool avoidsTensorCores = false) {
    LoweredForDevice result;
    result.info.name = kernel.getSymName().str();
    result.info.passedSizes = signature.passedSizes();
    result.arguments = signature.count();
    findStructure();
    result.usesTensorCores = product || attention;
    if (!result.usesTensorCores) {
      if (failed(emitPlain(result, plan, result.info.name)))
        return failure();
    } else if (failed(avoidsTensorCores ? emitInPlace(result)
                      : product         ? emitProduct(result)
                                        : emitAttention(result)) ||
               (!plan.conditions.empty() && failed(emitBeside(result)))) {
      return failure();
    }
    emitFill(result);
    HostSide(kernel, signature, host, architecture, plan, plain).emit(result.info);
    return std::move(result);
  }

private:
  /// Decides whether the tensor cores can take the kernel, and as what.
  void findStructure() {
    int64_t dots = 0;
    kernel.walk([&](tile::DotOp) { ++dots; });
    ProductMatch match = matchProduct(kernel);
    std::string why = whyNoTensorCores(architecture);
    bool hasTensorCores = why.empty();
    if (hasTensorCores)
      why = match.why;
    if (hasTensorCores && match.product)
      planFor(std::move(*match.product), why);
    else if (hasTensorCores && match.isWanted && dots > 1)
      findAttention(why);
    if (!product && !attention && match.isWanted)
      emitReport(loc) << "multiplies without tensor cores: " << why;
    if (product && product->element.isF32())
      emitReport(loc) << "multiplies f32 on tensor cores, rounded to tf32: a mantissa of 10 bits";
    if (product)
      planLaunch(productPlan->threads(), productPlan->sharedBytes, 1,
                 mapsOf(*product, *productPlan).all, product->conditions);
    if (attention)
      planLaunch(attentionPlan->threads(), attentionPlan->sharedBytes,
                 attentionPlan->blocksOfMultiprocessor, mapsOf(*attention, *attentionPlan).all,
                 attention->conditions);
    if (!plan.conditions.empty())
      emitReport(loc) << "multiplies on tensor cores " << plan.conditions.text()
                      << ", else without them";
    reportFewPrograms();
  }

  /// Where multiprocessors have nothing to do, and a loop that could keep them busy is not cut.
  void reportFewPrograms() {
    std::optional<int64_t> programs = knownPrograms();
    bool isFew = programs && *programs < architecture.multiprocessors;
    if (isFew && !plan.conditions.loops.empty())
      emitReport(loc) << "has " << *programs << " programs for " << architecture.multiprocessors
                      << " multiprocessors, and its loop is not run in parts: how often it runs is "
                         "known only at the call";
  }

  void planFor(Product found, std::string &why) {
    int64_t bytes = found.element.getIntOrFloatBitWidth() / 8;
    ProductShape shape{
        found.rows, found.columns, found.depth, found.a.isSumInnermost, found.b.isSumInnermost,
        bytes,      found.tileRows};
    if (found.isLeftComputed)
      shape.computedFromBytes = Emitter::bytesOf(
          cast<tile::BufferType>(found.a.load.getBuffer().getType()).getTileElementType());
    PipelineConfiguration pipeline = pipelineOf(kernel, shape, architecture);
    // Warp groups in turns count each other's trips.
    pipeline.isPingPong &= !found.hasUnevenTrips && !found.isLeftComputed;
    productPlan = planProduct(shape, pipeline, architecture);
    if (productPlan)
      product = std::move(found);
    else
      why = "its block does not fit in shared memory or registers";
  }

  void findAttention(std::string &why) {
    AttentionMatch match = matchAttention(kernel);
    why = match.why;
    if (!match.attention)
      return;
    const Attention &found = *match.attention;
    AttentionShape shape{found.rows,
                         paddedTerms(found.terms),
                         found.depth,
                         found.width,
                         found.queries.isSumInnermost,
                         found.parts[0].keys.isSumInnermost,
                         found.parts.size() > 1 || found.parts[0].loop,
                         found.parts.size() > 1 && found.parts.back().loop,
                         found.parts.size() > 1 && !found.parts.back().loop,
                         found.isMasked,
                         found.maskRegisters,
                         !found.conditions.empty(),
                         warpGroupsToDeal(found)};
    if (tile::ForOp loop = found.parts[0].loop)
      shape.carriedRows = loop.getNumResults() - 1;
    shape.tileRows = found.tileRows;
    shape.hides = found.hides;
    shape.mayHaveNoTrip = found.mayHaveNoTrip(shape.dealtTo > 0);
    int64_t stages = pipelineField(kernel, stagesField);
    attentionPlan =
        planAttention(shape, stages ? stages : chooseStages(shape, architecture), architecture);
    if (attentionPlan) {
      attentionPlan->isTriggerLate =
          stages ? pipelineField(kernel, lateTriggerField) != 0 : isTriggerBetterLate(shape);
      attention = std::move(match.attention);
    } else {
      why = "its block does not fit in shared memory or registers";
    }
  }

  /// How many warp groups share trips or stand side by side, where the configuration has more of
  /// them than rows for them.
  int64_t warpGroupsToDeal(const Attention &found) {
    int64_t warpGroups = pipelineField(kernel, warpGroupsField);
    if (warpGroups * 64 <= found.rows)
      return 0;
    std::optional<int64_t> programs = knownPrograms();
    bool hasTrips = found.knownTrips.value_or(warpGroups) >= warpGroups;
    if (found.isDealable && programs && hasTrips)
      return warpGroups;
    emitReport(loc)
        << "does not deal trips to " << warpGroups << " warp groups: "
        << (!programs ? "how many programs there are is not known, or too many"
            : found.isDealable
                ? "it has fewer trips"
                : "it has no loop that can be dealt, with operands that programs share");
    return 0;
  }

  /// Where a table of them can be made.
  std::optional<int64_t> knownPrograms() {
    constexpr int64_t mostPrograms = 1 << 16;
    int64_t all = 1;
    for (auto size : kernel.getGrid().getAsRange<tile::SizeAttr>()) {
      std::optional<int64_t> count = size.getSize().constant();
      if (!count || *count > mostPrograms || all * *count > mostPrograms)
        return std::nullopt;
      all *= *count;
    }
    return all;
  }

  /// A launch on tensor cores: `blocks` blocks a multiprocessor, which run one program after the
  /// other.
  void planLaunch(int64_t threads, int64_t sharedBytes, int64_t blocks,
                  const std::vector<MapPlan> &maps, const LaunchConditions &conditions) {
    plan.threads = threads;
    plan.sharedBytes = sharedBytes;
    plan.blocksOfMultiprocessor = blocks;
    plan.maps = maps;
    plan.conditions = conditions;
  }

  /// A kernel, with so many tensor maps behind its arguments; the builder stands in it, before its
  /// end.
  LLVM::LLVMFuncOp function(const std::string &name, int64_t threads, size_t maps = 0) {
    b.setInsertionPointToEnd(device.getBody());
    SmallVector<Type> types = signature.types(b);
    size_t firstMap = types.size();
    types.append(maps, pointer);
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
    auto made = LLVM::LLVMFuncOp::create(b, loc, name, type);
    made->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    made->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  b.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
    for (unsigned i = 0; i < signature.tensors() + signature.mayFail(); ++i)
      made.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    for (size_t i = firstMap; i < types.size(); ++i) {
      auto number = unsigned(i);
      auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), mapBytes);
      made.setArgAttr(number, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
      made.setArgAttr(number, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
      made.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(mapAlignment));
    }
    b.setInsertionPointToStart(made.addEntryBlock(b));
    b.setInsertionPoint(LLVM::ReturnOp::create(b, loc, ValueRange{}));
    return made;
  }

  template <typename Op>
  Value sreg() {
    return arith::ExtUIOp::create(b, loc, i64, Op::create(b, loc, b.getI32Type()));
  }

  /// The block's shared memory, of as many bytes as the launch says.
  Value sharedMemory(int64_t alignment) {
    if (auto made = device.lookupSymbol<LLVM::GlobalOp>(sharedName)) {
      made.setAlignment(uint64_t(std::max(alignment, int64_t(made.getAlignment().value_or(1)))));
    } else {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(device.getBody());
      LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                             /*isConstant=*/false, LLVM::Linkage::External, sharedName, Attribute(),
                             uint64_t(alignment), sharedSpace);
    }
    auto type = LLVM::LLVMPointerType::get(b.getContext(), sharedSpace);
    return LLVM::AddressOfOp::create(b, loc, type, sharedName);
  }

  using MakeEmitter = llvm::function_ref<std::unique_ptr<WarpGroupsEmitter>(
      Emitter &, Value shared, ValueRange maps, BlockPrograms)>;

  /// On tensor cores.
  LogicalResult emitPersistent(LoweredForDevice &result, MakeEmitter make) {
    size_t maps = plan.maps.size();
    LLVM::LLVMFuncOp made = function(result.info.name, plan.threads, maps);
    made->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  b.getI32IntegerAttr(int32_t(plan.blocksOfMultiprocessor)));
    Emitter e(kernel, b, cancellation);
    signature.bind(e, made.getArguments());
    Indices grid = signature.grid(e);
    BlockPrograms programs{sreg<NVVM::BlockIdXOp>(), e.ix().value(e.ix().product(grid)),
                           sreg<NVVM::GridDimXOp>(), [&](const Ix &number) -> Value {
                             numberInBands(e, number, grid);
                             return {};
                           }};
    if (std::optional<WorkTable> table = workTable(e, grid))
      followTable(e, *table, grid, programs);
    Value shared = sharedMemory(productAlignment);
    if (failed(make(e, shared, made.getArguments().take_back(maps), programs)->emit()))
      return failure();
    result.arguments += int64_t(maps) * mapWords;
    result.entries.push_back({result.info.name, plan.sharedBytes, 0, 0, 0});
    return success();
  }

  LogicalResult emitProduct(LoweredForDevice &result) {
    ProductMaps maps = mapsOf(*product, *productPlan);
    return emitPersistent(
        result, [&](Emitter &e, Value shared, ValueRange given, const BlockPrograms &programs) {
          return std::make_unique<ProductEmitter>(e, *product, *productPlan, maps, shared, given,
                                                  programs);
        });
  }

  LogicalResult emitAttention(LoweredForDevice &result) {
    AttentionMaps maps = mapsOf(*attention, *attentionPlan);
    return emitPersistent(
        result, [&](Emitter &e, Value shared, ValueRange given, const BlockPrograms &programs) {
          return std::make_unique<AttentionEmitter>(e, *attention, *attentionPlan, maps, shared,
                                                    given, programs);
        });
  }

  /// The plain lowering, with blocks as they suit it.
  LogicalResult emitPlain(LoweredForDevice &result, LaunchPlan &own, const std::string &name,
                          bool isBeside = false) {
    int64_t sharedLimit = architecture.sharedBytes / blocksOfMultiprocessor - systemSharedBytes;
    BlockShape shape = blockShapeFor(width, knownPrograms(), architecture);
    if (isBeside)
      shape.threads = std::min(shape.threads, threadsBeside);
    std::optional<BulkPlan> bulk;
    if (!isBeside)
      bulk = planBulkLoads(kernel, width, architecture);
    if (bulk) {
      shape = bulk->shape;
      sharedLimit = architecture.sharedBytes / bulk->blocks - systemSharedBytes;
    }
    own.threads = shape.allThreads();
    own.programsBeside = shape.programs;
    bool keeps = bulk && bulk->keeps();
    if (keeps)
      own.blocksOfMultiprocessor = bulk->blocks;
    own.claims = result.claims = keeps;
    return emitPrograms(result, own, shape, name, sharedLimit,
                        isBeside || (bulk && !keeps) ? 0 : width.held, bulk);
  }

  /// The same beside the kernel for tensor cores, for other sizes.
  LogicalResult emitBeside(LoweredForDevice &result) {
    result.hasPlain = true;
    return emitPlain(result, plain, result.info.name + plainSuffix, /*isBeside=*/true);
  }

  /// The plain lowering, launched as the kernel for tensor cores would be.
  LogicalResult emitInPlace(LoweredForDevice &result) {
    LaunchPlan own = plan;
    BlockShape shape{plan.threads, 1};
    if (failed(emitPrograms(result, own, shape, result.info.name, plan.sharedBytes, width.held)))
      return failure();
    result.arguments += int64_t(plan.maps.size()) * mapWords;
    result.entries.back().sharedBytes = plan.sharedBytes; // that the launch asks for
    return success(own.requests.empty());
  }

  /// Says in `own` what the launch needs. `mostHeld`: points of a tile in a thread's registers.
  LogicalResult emitPrograms(LoweredForDevice &result, LaunchPlan &own, const BlockShape &shape,
                             const std::string &name, int64_t sharedLimit, int64_t mostHeld,
                             const std::optional<BulkPlan> &bulk = std::nullopt) {
    LLVM::LLVMFuncOp made = function(name, own.threads, own.maps.size());
    // Operands of several terms are on their way at one time: without it ptxas rather loads them
    // one after the other, into registers for twice as many blocks.
    if (kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted())
      made->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
    if (bulk)
      made->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(int32_t(bulk->blocks)));
    Emitter e(kernel, b, cancellation);
    signature.bind(e, made.getArguments());
    // As in Product/Emission/WarpGroups.cpp: memory is touched behind it.
    if (architecture.has(Capability::DependentLaunches))
      for (auto kind : {NVVM::GridDepActionKind::wait, NVVM::GridDepActionKind::launch_dependents})
        NVVM::GriddepcontrolOp::create(b, loc, kind);
    e.width = width.neighbours;
    e.rowsTogether = width.rows;
    e.mostHeld = mostHeld;
    Value workspace = made.getArgument(unsigned(signature.count()) - 1);
    PlainPrograms programs(e, shape, sharedMemory(sharedAlignment), workspace);
    if (failed(programs.emit(signature.grid(e), bulk, sharedLimit)))
      return failure();
    own.requests = e.requests;
    own.sharedBytes = programs.sharedBytes();
    result.info.failures = e.failures;
    result.entries.push_back({name, own.sharedBytes, 0, 0, 0});
    return success();
  }

  /// Program `number` where programs that run at one time share operands: in bands of so many rows
  /// of programs as the order of programs says (`tile.block`), and in a band column by column.
  void numberInBands(Emitter &e, const Ix &number, const Indices &grid) {
    auto order = kernel->getAttrOfType<DenseI64ArrayAttr>(tile::TileDialect::blockName);
    setProgram(e, number, grid);
    size_t rank = grid.size();
    if (!order || size_t(order.size()) != rank || rank < 2 || order[int64_t(rank) - 2] <= 1)
      return;
    IndexBuilder ix = e.ix();
    const Ix &rows = grid[rank - 2], &columns = grid[rank - 1];
    Ix inMatrix = ix.add(ix.mul(e.programIds[rank - 2], columns), e.programIds[rank - 1]);
    int64_t most = order[int64_t(rank) - 2];
    Ix band = ix.div(inMatrix, ix.mul(columns, most)), first = ix.mul(band, most);
    Ix inBand = ix.rem(inMatrix, ix.mul(columns, most)), height = ix.min(ix.sub(rows, first), most);
    e.programIds[rank - 2] = ix.add(first, ix.rem(inBand, height));
    e.programIds[rank - 1] = ix.div(inBand, height);
  }

  /// Who runs what, where programs are of different lengths and all sizes are known.
  std::optional<WorkTable> workTable(Emitter &e, const Indices &grid) {
    std::optional<int64_t> all = knownPrograms();
    if (!all)
      return std::nullopt;
    int64_t blocks = std::min(*all, architecture.multiprocessors * plan.blocksOfMultiprocessor);
    if (product)
      return workTableOfProduct(e, grid, blocks);
    if (attentionPlan->dealsTrips) {
      int64_t ofHead = attention->sharesOperands ? *grid.back().constant() : 1;
      return dealPrograms(ofHead, *all / ofHead, attentionPlan->warpGroups, blocks);
    }
    if (attention->trips.empty())
      return std::nullopt;
    int64_t heads = *all / int64_t(attention->trips.size());
    return makeWorkTable(attention->trips, heads,
                         std::max<int64_t>(1, architecture.cachedBytes / bytesOfHead()), blocks);
  }

  /// Where blocks have several programs each. Those of one length stay in the order of bands.
  std::optional<WorkTable> workTableOfProduct(Emitter &e, const Indices &grid, int64_t blocks) {
    const std::vector<int64_t> &trips = product->programTrips;
    auto count = int64_t(trips.size());
    if (count <= blocks)
      return std::nullopt;
    std::vector<int64_t> inBands;
    for (int64_t number = 0; number < count; ++number) {
      numberInBands(e, Ix(number), grid);
      int64_t program = 0;
      for (auto [id, size] : llvm::zip(e.programIds, grid))
        program = program * *size.constant() + *id.constant();
      inBands.push_back(trips[size_t(program)]);
    }
    return makeWorkTable(inBands, 1, 1, blocks);
  }

  /// Program after program of the table's column for the block.
  void followTable(Emitter &e, const WorkTable &table, const Indices &grid,
                   BlockPrograms &programs) {
    Type i32 = b.getI32Type();
    auto count = int64_t(table.words.size());
    LLVM::GlobalOp global;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(device.getBody());
      auto values =
          DenseElementsAttr::get(RankedTensorType::get({count}, i32), ArrayRef(table.words));
      global = LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(i32, uint64_t(count)),
                                      /*isConstant=*/true, LLVM::Linkage::Internal,
                                      kernel.getSymName().str() + "_work", values);
    }
    Value words = LLVM::AddressOfOp::create(b, loc, global);
    auto word = [&e, words, i32](const Ix &at) -> Value {
      Value loaded = e.loadFrom(words, i32, at);
      return arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), loaded);
    };
    int64_t blocks = table.blocks;
    programs.end =
        e.ix().value(e.ix().add(programs.first, e.ix().mul(word(programs.first), blocks)));
    programs.step = e.ix().value(blocks);
    programs.number = [this, &e, &grid, word, blocks](const Ix &number) -> Value {
      Ix own = word(e.ix().add(number, blocks));
      if (product) {
        numberInBands(e, own, grid);
        return {};
      }
      bool mayBeDealt = attentionPlan->dealsTrips;
      setProgram(e, mayBeDealt ? e.ix().rem(own, dealtProgram) : own, grid);
      return mayBeDealt ? e.ix().less(dealtProgram - 1, own) : Value();
    };
  }

  /// Keys and values that all programs along the last dimension read.
  int64_t bytesOfHead() {
    constexpr int64_t usualKeys = 2048, elementBytes = 2;
    const ProductOperand &keys = attention->parts[0].keys;
    tile::LoadOp load = keys.load;
    auto sizes = tile::sizesOf(cast<tile::BufferType>(load.getBuffer().getType()));
    int64_t count = sizes[keys.freeDim].constant().value_or(usualKeys);
    return count * (attention->depth + attention->width) * elementBytes;
  }

  /// What outputs and the launch's counter hold before any program runs: k_fill, each thread of it
  /// an element.
  void emitFill(LoweredForDevice &result) {
    SmallVector<Filled> fills = signature.fills(kernel);
    result.info.fills = !fills.empty() || plan.claims;
    for (const Filled &fill : fills)
      if (fill.from >= 0)
        result.info.inPlace.push_back(
            {unsigned(fill.from), unsigned(fill.buffer - signature.inputs(kernel))});
    if (!result.info.fills)
      return;
    std::string name = result.info.name + "_fill";
    plan.fillThreads = fillThreads;
    LLVM::LLVMFuncOp made = function(name, fillThreads);
    Emitter e(kernel, b, cancellation);
    signature.bind(e, made.getArguments());
    Value block = sreg<NVVM::BlockIdXOp>(), thread = sreg<NVVM::ThreadIdXOp>();
    Ix first = e.ix().add(e.ix().mul(block, fillThreads), thread);
    Ix step = e.ix().mul(sreg<NVVM::GridDimXOp>(), fillThreads);
    for (const Filled &fill : fills)
      emitOneFill(e, fill, first, step);
    if (plan.claims)
      emitCounter(e, first, made.getArguments()[size_t(signature.count()) - 1]);
    result.entries.push_back({name, 0, 0, 0, 0});
  }

  /// Whatever the workspace held before, also where an earlier call has ended early.
  void emitCounter(Emitter &e, const Ix &thread, Value workspace) {
    OpBuilder::InsertionGuard guard(b);
    Value isFirst = e.ix().equal(thread, 0);
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, isFirst, false).thenBlock());
    Type i32 = b.getI32Type();
    e.storeTo(arith::ConstantOp::create(b, loc, b.getZeroAttr(i32)), workspace, i32, 0);
  }

  void emitOneFill(Emitter &e, const Filled &fill, const Ix &first, const Ix &step) {
    const Buffer to = e.buffers.find(signature.buffers[fill.buffer])->second;
    Buffer from;
    Ix count = e.ix().product(to.sizes);
    if (fill.from >= 0) {
      from = e.buffers.find(signature.buffers[fill.from])->second;
      Value isSame = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, from.base, to.base);
      count = e.ix().select(isSame, 0, count);
    }
    SmallVector<Value> none;
    (void)e.loop(first, count, step, none, [&](const Ix &i) {
      Value value = fill.init ? Value(arith::ConstantOp::create(b, loc, fill.init))
                              : e.loadFrom(from.base, from.element, i);
      e.storeTo(value, to.base, to.element, i);
      return success();
    });
  }

  tile::KernelOp kernel;
  ModuleOp device, host;
  const GpuArchitecture &architecture;
  const Cancellation *cancellation;
  Signature signature;
  Width width; // of the plain lowering
  OpBuilder b;
  Location loc;
  Type i64, pointer;
  LaunchPlan plan, plain; // `plain`: where sizes do not fit the conditions of `plan`
  std::optional<Product> product;
  std::optional<ProductPlan> productPlan;
  std::optional<Attention> attention;
  std::optional<AttentionPlan> attentionPlan;
};

} // namespace

std::vector<std::string> LoweredForDevice::launches() const {
  std::vector<std::string> names;
  if (info.fills)
    names.push_back(info.name + "_fill");
  names.push_back(info.name);
  if (hasPlain)
    names.push_back(info.name + plainSuffix);
  return names;
}

/// Which tiles exist as a whole, and where, is up to who uses them here: `keep` asks for nothing.
static tile::KernelOp withoutKeep(tile::KernelOp kernel) {
  kernel.walk([](tile::KeepOp op) {
    op.replaceAllUsesWith(op.getOperand());
    op.erase();
  });
  return kernel;
}

FailureOr<LoweredForDevice> lowerKernel(tile::KernelOp kernel, ModuleOp device, ModuleOp host,
                                        const GpuArchitecture &architecture,
                                        const Cancellation *cancellation) {
  return KernelLowering(withoutKeep(kernel), device, host, architecture, cancellation).run();
}

FailureOr<LoweredForDevice> lowerWithoutTensorCores(tile::KernelOp kernel, ModuleOp device,
                                                    ModuleOp host,
                                                    const GpuArchitecture &architecture) {
  return KernelLowering(kernel, device, host, architecture).run(/*avoidsTensorCores=*/true);
}

} // namespace tw::target::nvidia
