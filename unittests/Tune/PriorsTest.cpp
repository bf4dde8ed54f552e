// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Priors.h"
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace tw::tune {
namespace {

/// One of `kind`, of so many columns, of which some blocks were measured: small ones are fast, and
/// the model thinks they are slow.
RecordedKernel kernelOf(const std::string &kind, int64_t columns) {
  RecordedKernel made;
  made.kernel = {fmt::format("{} {}", kind, columns), 0, "rows=16", kind, "Xeon, 1 thread", "0.1"};
  made.description.dtypes = "f32, f32";
  made.description.sizes["columns"] = {columns, columns};
  made.description.space.knobs = {{"rows", {1, 2, 4, 8, 16}, ""}};
  made.description.startCost = 1.0 / 16;
  for (int64_t rows : {1, 2, 4, 8}) {
    double ratio = std::sqrt(double(rows) / 16);
    made.measurements.push_back(
        {{{"rows", rows}}, 1 / double(rows), "", {ratio, ratio, ratio}, 7, 100, 0});
  }
  return made;
}

class PriorsTest : public testing::Test {
protected:
  std::string path = testing::TempDir() + "tune_priors_" +
                     testing::UnitTest::GetInstance()->current_test_info()->name() + ".sqlite";
  void SetUp() override { std::filesystem::remove(path); }
  void TearDown() override { std::filesystem::remove(path); }

  /// `sizes` kernels of each of the first so many kinds.
  void fill(int kinds, int64_t sizes) {
    ASSERT_TRUE(Database::open(path).ok());
    sqlite3 *raw = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
    std::string text = "BEGIN;";
    for (int kind = 0; kind < kinds; ++kind)
      for (int64_t size = 0; size < sizes; ++size) {
        int64_t id = kind * sizes + size + 1;
        text += fmt::format("INSERT INTO kernels VALUES ({}, 's{}', 0, 'rows=16', 'kind{}', "
                            "'Xeon, 1 thread', '0.1', 'f32, f32', 'columns {} {}\n', "
                            "'rows 1 2 4 8 16\n', '', 0.0625, 0);",
                            id, id, kind, 64 + size, 64 + size);
        for (int64_t rows : {1, 2, 4, 8})
          text += fmt::format(
              "INSERT INTO measurements VALUES ({}, 'rows={}', {}, '', {}, 1, 1, 7, 100, 0);", id,
              rows, 1 / double(rows), std::sqrt(double(rows) / 16));
      }
    EXPECT_EQ(sqlite3_exec(raw, (text + "COMMIT").c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(raw);
    sqlite3_close(raw);
  }

  /// What reading takes for searches of kernels of the first kind, of each of so many sizes.
  int64_t stepsFor(int64_t searches) {
    auto database = Database::open(path);
    EXPECT_TRUE(database.ok());
    DatabasePriors priors(*database);
    for (int64_t size = 0; size < searches; ++size) {
      auto prior = priors.of(kernelOf("kind0", 64 + size));
      EXPECT_TRUE(prior.ok() && !prior->isEmpty());
    }
    return database->stepsOfReading();
  }
};

/// What a search has to read grows neither with what else is known nor with how many kernels it
/// searches: 2,000 kernels of a database are read once, and those of other kinds never.
TEST_F(PriorsTest, EachKindIsReadOnce) {
  fill(1, 40);
  int64_t alone = stepsFor(1);
  EXPECT_GT(alone, 40 * 5); // rows at least
  std::filesystem::remove(path);
  fill(50, 40);
  int64_t among = stepsFor(1);
  EXPECT_LT(double(among), 1.1 * double(alone));
  EXPECT_EQ(stepsFor(40), among);
}

/// Each of 2,000 is compared with the sum of all others, not with each of them: what were billions
/// of sums ends at once.
TEST_F(PriorsTest, ManyOfOneKind) {
  fill(1, 2000);
  int64_t few = stepsFor(1);
  EXPECT_EQ(stepsFor(2000), few);
  EXPECT_LT(few, 2000 * 200); // 5 rows each
}

/// What is said of a size is what its own measurements had no part in.
TEST(KindPrior, LeavesOutTheSameSizes) {
  std::vector<RecordedKernel> known;
  for (int64_t columns : {32, 64, 64, 96})
    known.push_back(kernelOf("cpu", columns));
  std::vector<RecordedKernel> others = {known[0], known[3]};
  CorrectionPrior sum(others[0]);
  sum.add(CorrectionPrior(others[1]));
  CorrectionPrior prior = KindPrior(known).of(known[1]);
  ASSERT_FALSE(prior.isEmpty());
  Candidate start{{{"rows", 16}}, 1.0 / 16};
  CostCorrection expected(known[1].description.space, start, &sum),
      found(known[1].description.space, start, &prior);
  expected.fit();
  found.fit();
  for (int64_t rows : {1, 4, 8})
    EXPECT_NEAR(found.expectedRatio({{"rows", rows}}, 1 / double(rows)),
                expected.expectedRatio({{"rows", rows}}, 1 / double(rows)), 1e-9);
  // Of sizes that nobody has measured, all of them say something; one alone is not compared.
  EXPECT_FALSE(KindPrior(known).of(kernelOf("cpu", 128)).isEmpty());
  EXPECT_TRUE(KindPrior(std::span(known).subspan(1, 2)).of(kernelOf("cpu", 128)).isEmpty());
}

/// Kernels that were searched with other knobs have a part in those that are theirs.
TEST(CorrectionPrior, SubtractsWhatWasAdded) {
  RecordedKernel rows = kernelOf("cpu", 64), both = kernelOf("cpu", 96);
  both.description.space.knobs.insert(both.description.space.knobs.begin(),
                                      {"columns", {16, 32}, ""});
  for (Measurement &each : both.measurements)
    each.point["columns"] = each.point["rows"] < 4 ? 16 : 32;
  CorrectionPrior sum(both), alone(rows);
  sum.add(alone);
  sum.subtract(CorrectionPrior(both));
  Candidate start{{{"rows", 16}}, 1.0 / 16};
  CostCorrection expected(rows.description.space, start, &alone),
      found(rows.description.space, start, &sum);
  expected.fit();
  found.fit();
  EXPECT_NEAR(found.expectedRatio({{"rows", 2}}, 0.5), expected.expectedRatio({{"rows", 2}}, 0.5),
              1e-9);
  sum.subtract(alone);
  EXPECT_TRUE(sum.isEmpty());
}

} // namespace
} // namespace tw::tune
