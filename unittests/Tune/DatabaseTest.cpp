// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Database.h"
#include "Tune/DatabaseText.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace tw::tune {
namespace {

class DatabaseTest : public testing::Test {
protected:
  std::string path = testing::TempDir() + "tune_database_" +
                     testing::UnitTest::GetInstance()->current_test_info()->name() + ".sqlite";
  void SetUp() override { std::filesystem::remove(path); }
  void TearDown() override { std::filesystem::remove(path); }

  const MeasuredKernel kernel{"a5b62a", 1, "rows=8", "cpu", "EPYC, 2 threads", "0.1"};
};

TEST_F(DatabaseTest, KeepsWhatIsMeasured) {
  {
    auto database = Database::open(path);
    ASSERT_TRUE(database.ok()) << database.error().render();
    ASSERT_TRUE(
        database->add(kernel, {{{"rows", 6}}, 1.5e6, "", {0.9, 0.8, 0.95}, 11, 120.5, 1700000000}));
    ASSERT_TRUE(database->add(kernel, {{{"rows", 7}}, {}, "results differ", {}, 0, 0, 1700000001}));
  }
  auto database = Database::open(path);
  ASSERT_TRUE(database.ok()) << database.error().render();
  auto found = database->find(kernel);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].point, (Point{{"rows", 6}}));
  EXPECT_EQ((*found)[0].cost, 1.5e6);
  EXPECT_EQ((*found)[1].cost, std::nullopt);
  EXPECT_EQ((*found)[0].ratio.high, 0.95);
  EXPECT_EQ((*found)[0].pairs, 11);
  EXPECT_EQ((*found)[1].rejection, "results differ");
  MeasuredKernel other = kernel;
  other.machine = "Xeon, 2 threads";
  auto none = database->find(other);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
}

TEST_F(DatabaseTest, DescribesKernels) {
  KernelDescription description{
      "f32, f32",
      {{"rows", {1, 512}}, {"columns", {64, 64}}},
      {{{"rows", {1, 2, 8}, ""}, {"columns", {16}, ""}}, {{"rows * (columns ceildiv 16)", "12"}}},
      2e5,
      3};
  {
    auto database = Database::open(path);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database->describe(kernel, description));
    ASSERT_TRUE(database->add(kernel, {{{"rows", 2}}, {}, "", {0.9, 0.8, 0.95}, 11, 120.5, 1}));
    description.enumerated = 0; // by a search that is not exhaustive
    ASSERT_TRUE(database->describe(kernel, description));
  }
  auto all = Database::open(path)->all();
  ASSERT_TRUE(all.ok()) << all.error().render();
  ASSERT_EQ(all->size(), 1u);
  const RecordedKernel &found = all->front();
  EXPECT_EQ(found.kernel.signature, kernel.signature);
  EXPECT_EQ(found.kernel.compiler, kernel.compiler);
  EXPECT_EQ(found.description.dtypes, "f32, f32");
  EXPECT_EQ(found.description.sizes, description.sizes);
  EXPECT_EQ(found.description.startCost, 2e5);
  EXPECT_EQ(found.description.enumerated, 3);
  ASSERT_EQ(found.description.space.knobs.size(), 2u);
  EXPECT_EQ(found.description.space.knobs[0].values, (std::vector<int64_t>{1, 2, 8}));
  EXPECT_TRUE(found.description.space.contains({{"rows", 8}, {"columns", 16}}));
  EXPECT_EQ(found.description.space.constraints.front().lessText, "rows * (columns ceildiv 16)");
  EXPECT_EQ(found.measurements.size(), 1u);
}

void execute(const std::string &path, const char *sql) {
  sqlite3 *database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

/// As version 1 was written.
TEST_F(DatabaseTest, ReadsWhatAnEarlierVersionHasKept) {
  execute(path, R"sql(
PRAGMA application_id=1415009365; PRAGMA user_version=1;
CREATE TABLE measurements (
  signature TEXT NOT NULL, number INTEGER NOT NULL, start TEXT NOT NULL, target TEXT NOT NULL,
  machine TEXT NOT NULL, compiler TEXT NOT NULL,
  point TEXT NOT NULL, rejection TEXT NOT NULL,
  ratio REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  pairs INTEGER NOT NULL, start_us REAL NOT NULL, unix_seconds INTEGER NOT NULL);
CREATE INDEX by_kernel ON measurements (signature, number, start);
INSERT INTO measurements VALUES
  ('a5b62a', 1, 'rows=8', 'cpu', 'EPYC, 2 threads', '0.1', 'rows=6', '', 0.9, 0.8, 0.95, 11, 120.5, 1),
  ('other', 0, 'rows=1', 'cpu', 'EPYC, 2 threads', '0.1', 'rows=2', '', 0.7, 0.6, 0.8, 11, 12.5, 2),
  ('a5b62a', 1, 'rows=8', 'cpu', 'EPYC, 2 threads', '0.1', 'rows=7', 'results differ', 1, 0, 9, 0, 0, 3);
)sql");
  for (int again = 0; again < 2; ++again) {
    auto database = Database::open(path);
    ASSERT_TRUE(database.ok()) << database.error().render();
    auto found = database->find(kernel);
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(found->size(), 2u);
    EXPECT_EQ((*found)[0].point, (Point{{"rows", 6}}));
    EXPECT_EQ((*found)[0].ratio.low, 0.8);
    EXPECT_EQ((*found)[0].startUs, 120.5);
    EXPECT_EQ((*found)[1].rejection, "results differ");
    auto all = database->all();
    ASSERT_TRUE(all.ok());
    ASSERT_EQ(all->size(), 2u);
    EXPECT_EQ((*all)[1].kernel.signature, "other");
    EXPECT_TRUE((*all)[1].description.space.knobs.empty());
  }
  execute(path, "PRAGMA user_version=3");
  auto later = Database::open(path);
  ASSERT_FALSE(later.ok());
  EXPECT_EQ(later.error().message, "the database " + path + " is of version 3, this tool reads 2");
}

TEST_F(DatabaseTest, TakesNothingFromATextThatIsNone) {
  EXPECT_TRUE(parseSpace("rows 1 2\n", "rows <= 2\n").has_value());
  EXPECT_FALSE(parseSpace("rows 2 1\n", "").has_value());
  EXPECT_FALSE(parseSpace("rows\n", "").has_value());
  EXPECT_FALSE(parseSpace("rows 1 x\n", "").has_value());
  EXPECT_FALSE(parseSpace("rows 1\n", "rows <= (2\n").has_value());
  EXPECT_FALSE(parseSpace("rows 1\n", "rows\n").has_value());
  EXPECT_FALSE(parseSizes("rows 1\n").has_value());
}

/// The last measurement counts, whatever the machine's clock said meanwhile.
TEST_F(DatabaseTest, OrderIsThatOfMeasuringNotThatOfClocks) {
  auto database = Database::open(path);
  ASSERT_TRUE(database.ok());
  for (int64_t seconds : {1700000000, 1600000000, 0})
    ASSERT_TRUE(database->add(kernel, {{{"rows", seconds}}, {}, "", {1, 1, 1}, 7, 100, seconds}));
  auto found = database->find(kernel);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ((*found)[0].unixSeconds, 1700000000);
  EXPECT_EQ((*found)[2].unixSeconds, 0);
}

/// Whoever opens it or reads what is gone is told.
TEST_F(DatabaseTest, SaysThatAFileIsDamaged) {
  {
    auto database = Database::open(path);
    ASSERT_TRUE(database.ok());
    for (int64_t rows = 0; rows < 60; ++rows)
      ASSERT_TRUE(database->add(kernel, {{{"rows", rows}}, {}, "", {1, 1, 1}, 7, 100, 0}));
  }
  auto size = std::filesystem::file_size(path);
  auto readAll = [&]() -> Status {
    TW_ASSIGN(Database database, Database::open(path));
    TW_TRY(database.add(kernel, {{{"rows", 1000}}, {}, "", {1, 1, 1}, 7, 100, 0}));
    auto found = database.find(kernel);
    return found ? Status() : Status(found.error());
  };
  std::filesystem::resize_file(path, size - size / 3);
  Status cut = readAll();
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, Code::TUNE_1);
}

TEST_F(DatabaseTest, RefusesWhatIsNoDatabase) {
  std::ofstream(path) << "this is a text, and long enough to be taken for a page of a database?";
  auto text = Database::open(path);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, Code::TUNE_1);
  EXPECT_EQ(Database::open(testing::TempDir()).error().code, Code::TUNE_1);
  EXPECT_EQ(Database::open("/no/such/folder/x.sqlite").error().code, Code::TUNE_1);
}

TEST(Point, TextIsSortedAndReadBack) {
  Point point = {{"rows", 8}, {"columns", 32}, {"k_block", 0}};
  EXPECT_EQ(pointText(point), "columns=32 k_block=0 rows=8");
  EXPECT_EQ(parsePoint(pointText(point)), point);
  EXPECT_EQ(parsePoint("rows=x columns =3 =4 k=5"), (Point{{"", 4}, {"k", 5}}));
}

} // namespace
} // namespace tw::tune
