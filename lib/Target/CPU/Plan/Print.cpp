// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan as text: each operation as in the kernel's text, with what is decided for it below.
#include "Target/CPU/Plan/Plan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

class Printer {
public:
  Printer(tile::KernelOp kernel, raw_ostream &out)
      : kernel(kernel), out(out), names(kernel, OpPrintingFlags().skipRegions()) {}

  void run(const KernelPlan &plan) {
    line(0) << "plan of @" << kernel.getSymName() << '\n';
    for (Value output : kernel.getBody().getArguments())
      if (plan.nonTemporal.contains(output))
        line(1) << nameOf(output) << " is written with non-temporal stores\n";
    if (plan.multipliesPairs)
      line(1) << "denormal numbers may be rounded to bf16 as zero\n";
    block(1, plan.body);
  }

private:
  raw_ostream &line(unsigned depth) { return out.indent(2 * depth); }

  std::string nameOf(Value value) {
    std::string name;
    llvm::raw_string_ostream stream(name);
    value.printAsOperand(stream, names);
    return name;
  }

  std::string textOf(Operation *op) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    op->print(stream, names);
    return text;
  }

  static std::string describe(const Strips &strips) {
    std::string text;
    if (strips.lane < 0 || strips.lanes == 1)
      text = "one element at a time";
    else
      text = "vectors of " + std::to_string(strips.lanes) + " along dimension " +
             std::to_string(strips.lane);
    if (strips.isUnrolled)
      text += ", unrolled";
    if (!strips.cuts.empty())
      text +=
          ", loops end at " +
          llvm::join(llvm::map_range(strips.cuts, [](int64_t at) { return std::to_string(at); }),
                     ", ");
    return text;
  }

  void fill(unsigned depth, StringRef what, const Fill &fill) {
    placements(depth, fill.before);
    line(depth) << what << ": " << describe(fill.strips);
    if (fill.transposition)
      out << ", blocks transposed to vectors of " << fill.transposition->lanes
          << " along dimension " << fill.transposition->lane;
    if (fill.transposition && fill.transposition->rest > 0)
      out << ", and a part of a block, of " << fill.transposition->rest;
    if (fill.transposition && fill.transposition->laneRest > 0)
      out << ", and vectors of " << fill.transposition->laneRest;
    out << '\n';
  }

  void placements(unsigned depth, ArrayRef<Placement> all) {
    for (const Placement &one : all) {
      if (one.isView)
        line(depth) << nameOf(one.tile) << " is its operand's memory, reshaped\n";
      else
        fill(depth, nameOf(one.tile) + " in scratch memory", one.fill);
    }
  }

  void strided(unsigned depth, StringRef what, const StridedPlacement &placement) {
    placements(depth, placement.before);
    if (placement.isInBuffer)
      line(depth) << what << " is read in its buffer\n";
  }

  void handOver(unsigned depth, const HandOver &all) {
    for (auto [number, one] : llvm::enumerate(all)) {
      std::string what = "value " + std::to_string(number);
      placements(depth, one.before);
      if (one.form == HandedOver::Form::Registers)
        line(depth) << what << " in registers: " << describe(one.strips) << '\n';
      else if (one.form == HandedOver::Form::InPlace)
        fill(depth, what + " over the one before", one.fill);
      if (one.move)
        fill(depth, what + " is moved away", *one.move);
      if (one.copy)
        fill(depth, what + " is copied", *one.copy);
    }
  }

  void detail(unsigned, const Step &, std::monostate) {}

  void detail(unsigned depth, const Step &step, const StoreStep &store) {
    using Form = StoreStep::Form;
    if (store.form == Form::InGroup)
      line(depth) << "in the loop of the store before\n";
    else if (store.form == Form::Group)
      line(depth) << "one loop for " << store.group.size() << " stores\n";
    else if (store.form == Form::Interleaved)
      line(depth) << "the last dimension is interleaved\n";
    if (store.form != Form::InGroup)
      line(depth) << describe(step.strips) << '\n';
    if (!store.limited.empty()) {
      raw_ostream &end = line(depth) << "up to the end of the buffer along ";
      llvm::interleaveComma(store.limited, end);
      end << '\n';
    }
  }

  void detail(unsigned depth, const Step &step, const ReduceStep &reduce) {
    line(depth) << describe(step.strips) << (reduce.isUnrolled ? ", unrolled" : "") << '\n';
    if (reduce.together > 1 || reduce.sideBySide > 1)
      line(depth) << reduce.together << " vectors of results together, " << reduce.sideBySide
                  << " steps side by side\n";
    if (reduce.keep == ReduceStep::Keep::Scratch)
      line(depth) << "the operand is kept in scratch memory\n";
    else if (reduce.keep == ReduceStep::Keep::Output)
      line(depth) << "the operand is kept in " << nameOf(tile::StoreOp(reduce.output).getBuffer())
                  << '\n';
    if (reduce.inRegister)
      line(depth) << "the result is in a register\n";
    else
      line(depth) << "the result is in scratch memory"
                  << (reduce.hasWholeRows ? ", rows padded" : "") << ": "
                  << describe(reduce.results) << '\n';
  }

  void operand(unsigned depth, StringRef name, const DotOperand &operand) {
    using Form = DotOperand::Form;
    if (operand.fill)
      fill(depth,
           (name + (operand.form == Form::Converted ? " converted in scratch memory"
                                                    : " in scratch memory"))
               .str(),
           *operand.fill);
    if (operand.form == Form::InPlace)
      line(depth) << name << " is read in place\n";
    else if (operand.form == Form::CopiedByFirstRows)
      line(depth) << name << " is read in place by the first rows, which copy it\n";
    else if (operand.form == Form::Panels)
      line(depth) << name << " is read in place, in panels\n";
    else if (operand.form == Form::TransposedView)
      line(depth) << name << " is a transposed view\n";
  }

  void detail(unsigned depth, const Step &step, const DotStep &dot) {
    using Form = DotStep::Form;
    if (dot.form == Form::Pairs || dot.form == Form::Tiles) {
      strided(depth, "a", dot.pairsA);
      strided(depth, "b", dot.pairsB);
      if (dot.tileRows)
        line(depth) << "tile registers have " << dot.tileRows->str() << " rows\n";
      if (dot.packed)
        line(depth) << "b is packed in pairs, from " << nameOf(dot.packed) << '\n';
    } else {
      placements(depth, dot.a.before);
      if (dot.form == Form::OuterProducts)
        operand(depth, "a", dot.a);
      placements(depth, dot.b.before);
      if (dot.form == Form::OuterProducts)
        operand(depth, "b", dot.b);
    }
    placements(depth, dot.before);
    if (dot.fill)
      fill(depth, "the accumulator in scratch memory", *dot.fill);
    line(depth) << (dot.form == Form::OuterProducts   ? "outer products"
                    : dot.form == Form::RowsByColumns ? "rows of a by columns of b"
                    : dot.form == Form::Pairs         ? "pairs of bf16 in vectors"
                                                      : "pairs of bf16 in tile registers");
    if (dot.form != Form::Tiles)
      out << ": " << describe(step.strips);
    if (!dot.insideMeanwhile.empty())
      out << ", up to the end of the buffers";
    out << '\n';
    line(depth) << (dot.registers            ? "the result is in registers"
                    : dot.updatesAccumulator ? "the accumulator is updated in its memory"
                                             : "the result is in scratch memory")
                << '\n';
    if (dot.updatesAccumulator && dot.beginsWithZero)
      line(depth) << "the first trip begins with zero\n";
    if (dot.next && dot.next->streamAhead)
      line(depth) << "prefetches " << nameOf(dot.next->load->getResult(0)) << " "
                  << dot.next->streamAhead << " bytes ahead\n";
    else if (dot.next)
      line(depth) << "prefetches what comes next as " << nameOf(dot.next->load->getResult(0))
                  << ", part " << dot.next->part << " of " << dot.next->parts << '\n';
    if (dot.streams > 1)
      line(depth) << dot.streams << " parts of the steps along K side by side\n";
    placements(depth, dot.after);
    for (const Step &one : dot.epilogue) {
      line(depth) << "stores each block" << (dot.sums.size() > 1 ? " in the last trip" : "")
                  << ", beside the steps of the next one\n";
      this->step(depth + 1, one);
    }
    if (!dot.noEpilogue.empty())
      line(depth) << "blocks are not stored one by one: " << dot.noEpilogue << '\n';
  }

  void detail(unsigned depth, const Step &, const StridedPlacement &placement) {
    strided(depth, "the operand", placement);
  }

  void detail(unsigned depth, const Step &, const LoopStep &loop) {
    handOver(depth, loop.initial);
    block(depth, loop.blocks.front());
  }

  void detail(unsigned depth, const Step &, const BranchStep &branch) {
    for (auto [number, plan] : llvm::enumerate(branch.blocks)) {
      line(depth) << (number == 0 ? "then" : "else") << '\n';
      block(depth + 1, plan);
    }
  }

  void step(unsigned depth, const Step &step) {
    line(depth) << textOf(step.op) << '\n';
    placements(depth + 1, step.before);
    std::visit([&](const auto &more) { detail(depth + 1, step, more); }, step.detail);
    bool isPlain = std::holds_alternative<std::monostate>(step.detail);
    if (isPlain && step.form == Step::Form::Operation)
      line(depth + 1) << describe(step.strips) << '\n';
    if (step.form == Step::Form::MaterializeElement)
      line(depth + 1) << "in a register\n";
    for (const Prefetch &prefetch : step.prefetches)
      line(depth + 1) << "prefetches what the next program reads as "
                      << nameOf(prefetch.load->getResult(0)) << '\n';
    for (const LookAhead &ahead : step.lookAheads)
      lookAhead(depth + 1, ahead);
  }

  void lookAhead(unsigned depth, const LookAhead &ahead) {
    raw_ostream &end = line(depth) << "prefetches what is looked up later as "
                                   << nameOf(ahead.rows->getResult(0)) << ", by indices of "
                                   << nameOf(ahead.indices->getResult(0)) << ' ';
    llvm::interleaveComma(ahead.growth, end);
    end << " further\n";
  }

  /// One line for all dimensions of an operation.
  void inside(unsigned depth, ArrayRef<Access> accesses) {
    while (!accesses.empty()) {
      Operation *op = accesses.front().first;
      auto same = accesses.take_while([&](const Access &one) { return one.first == op; });
      line(depth) << "inside along "
                  << llvm::join(
                         llvm::map_range(
                             same, [](const Access &one) { return std::to_string(one.second); }),
                         ", ")
                  << ": " << textOf(op) << '\n';
      accesses = accesses.drop_front(same.size());
    }
  }

  void block(unsigned depth, const BlockPlan &plan) {
    inside(depth, plan.inside);
    for (const Guard &guard : plan.guards)
      line(depth) << (guard.isLine ? "tested to be a line along " : "tested along ")
                  << guard.access.second << ": " << textOf(guard.access.first) << '\n';
    for (auto [number, version] : llvm::enumerate(plan.versions)) {
      unsigned inner = depth;
      if (plan.versions.size() > 1) {
        line(depth) << (number == 0 ? "interior version" : "boundary version") << '\n';
        ++inner;
      }
      for (const Step &one : version.steps)
        step(inner, one);
      if (!version.results.empty())
        line(inner) << "results\n";
      handOver(inner + 1, version.results);
    }
  }

  tile::KernelOp kernel;
  raw_ostream &out;
  AsmState names;
};

} // namespace

void printPlan(tile::KernelOp kernel, const KernelPlan &plan, raw_ostream &out) {
  Printer(kernel, out).run(plan);
}

} // namespace tw::target::cpu
