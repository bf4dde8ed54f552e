// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Database.h"
#include "Tune/DatabaseText.h"
#include <fmt/format.h>
#include <sqlite3.h>

namespace tw::tune {

/// In the file's header: whose it is, and the version of its tables.
static constexpr int applicationId = 0x54575455, formatVersion = 2; // "TWTU"

static constexpr char tables[] = R"sql(
CREATE TABLE IF NOT EXISTS kernels (
  id INTEGER PRIMARY KEY,
  signature TEXT NOT NULL, number INTEGER NOT NULL, start TEXT NOT NULL, target TEXT NOT NULL,
  machine TEXT NOT NULL, compiler TEXT NOT NULL,
  dtypes TEXT NOT NULL DEFAULT '', sizes TEXT NOT NULL DEFAULT '', knobs TEXT NOT NULL DEFAULT '',
  constraints TEXT NOT NULL DEFAULT '', start_cost REAL, enumerated INTEGER NOT NULL DEFAULT 0,
  UNIQUE (signature, number, start, target, machine, compiler));
CREATE TABLE IF NOT EXISTS measurements (
  kernel INTEGER NOT NULL REFERENCES kernels,
  point TEXT NOT NULL, cost REAL, rejection TEXT NOT NULL,
  ratio REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  pairs INTEGER NOT NULL, start_us REAL NOT NULL, unix_seconds INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS by_measured_kernel ON measurements (kernel);
CREATE INDEX IF NOT EXISTS by_kind ON kernels (target, machine, dtypes);
)sql";

static constexpr char selectId[] =
    "SELECT id FROM kernels WHERE signature = ? AND number = ? AND start = ? AND target = ? "
    "AND machine = ? AND compiler = ?";

/// Version 1 had one table, with all that identifies a kernel in each row of it.
static constexpr char beforeTables[] = R"sql(
ALTER TABLE measurements RENAME TO measurements_of_version_1;
)sql";
static constexpr char afterTables[] = R"sql(
INSERT INTO kernels (signature, number, start, target, machine, compiler)
  SELECT signature, number, start, target, machine, compiler FROM measurements_of_version_1
  GROUP BY signature, number, start, target, machine, compiler ORDER BY min(rowid);
INSERT INTO measurements
  SELECT id, point, NULL, rejection, ratio, low, high, pairs, start_us, unix_seconds
  FROM measurements_of_version_1 AS old
  JOIN kernels USING (signature, number, start, target, machine, compiler) ORDER BY old.rowid;
DROP TABLE measurements_of_version_1;
)sql";

namespace {

/// A prepared statement with its arguments; `steps` counts what running it takes.
class Query {
public:
  Query(sqlite3 *database, const char *text, int64_t *steps = nullptr) : steps(steps) {
    sqlite3_prepare_v2(database, text, -1, &statement, nullptr);
  }
  Query(const Query &) = delete;
  ~Query() {
    if (steps && statement)
      *steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, /*reset=*/0);
    sqlite3_finalize(statement);
  }

  Query &operator<<(const std::string &text) {
    sqlite3_bind_text(statement, ++bound, text.c_str(), int(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Query &operator<<(int64_t number) {
    sqlite3_bind_int64(statement, ++bound, number);
    return *this;
  }
  Query &operator<<(double number) {
    sqlite3_bind_double(statement, ++bound, number);
    return *this;
  }
  Query &operator<<(const std::optional<double> &number) {
    if (number)
      return *this << *number;
    sqlite3_bind_null(statement, ++bound);
    return *this;
  }
  Query &operator<<(const MeasuredKernel &kernel) {
    return *this << kernel.signature << kernel.number << kernel.start << kernel.target
                 << kernel.machine << kernel.compiler;
  }

  /// SQLITE_ROW, SQLITE_DONE or an error; that of preparing it, too.
  int step() { return statement ? sqlite3_step(statement) : SQLITE_ERROR; }
  std::string text(int column) const {
    auto *found = reinterpret_cast<const char *>(sqlite3_column_text(statement, column));
    return found ? found : "";
  }
  double real(int column) const { return sqlite3_column_double(statement, column); }
  int64_t integer(int column) const { return sqlite3_column_int64(statement, column); }
  std::optional<double> realOrNull(int column) const {
    bool isNull = sqlite3_column_type(statement, column) == SQLITE_NULL;
    return isNull ? std::nullopt : std::optional(real(column));
  }

private:
  sqlite3_stmt *statement = nullptr;
  int64_t *steps;
  int bound = 0;
};

int64_t pragma(sqlite3 *database, const char *name) {
  Query query(database, fmt::format("PRAGMA {}", name).c_str());
  return query.step() == SQLITE_ROW ? query.integer(0) : -1;
}

} // namespace

Database::Database(std::string path, sqlite3 *database)
    : path(std::move(path)), database(database, sqlite3_close) {}
Database::Database(Database &&) noexcept = default;
Database &Database::operator=(Database &&) noexcept = default;
Database::~Database() = default;

Diagnostic Database::failure(const char *doing) const {
  return {
      Code::TUNE_1,
      fmt::format("the database {} cannot be {}: {}", path, doing, sqlite3_errmsg(database.get())),
      {},
      {},
      "give another file with --database"};
}

Result<Database> Database::open(const std::string &path) {
  sqlite3 *opened = nullptr;
  int status =
      sqlite3_open_v2(path.c_str(), &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, nullptr);
  Database database(path, opened);
  if (status != SQLITE_OK)
    return database.failure("opened");
  sqlite3_busy_timeout(opened, 10'000); // another search may be writing
  // Nobody else looks at a file that is being set up, and a kill leaves it as it was.
  if (sqlite3_exec(opened, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK)
    return database.failure(sqlite3_errcode(opened) == SQLITE_NOTADB ? "read" : "written");
  int64_t application = pragma(opened, "application_id"), version = pragma(opened, "user_version");
  int64_t found = pragma(opened, "schema_version"); // 0: an empty file
  if (application < 0 || version < 0 || found < 0)
    return database.failure("read");
  if (found != 0 && application != applicationId)
    return Diagnostic{Code::TUNE_1,
                      fmt::format("{} is a database of something else than measurements", path),
                      {},
                      {},
                      "give another file with --database"};
  if (version > formatVersion)
    return Diagnostic{Code::TUNE_1,
                      fmt::format("the database {} is of version {}, this tool reads {}", path,
                                  version, formatVersion),
                      {},
                      {},
                      "use the tool that made it, or give another file with --database"};
  bool isUpgrade = found != 0 && version == 1;
  std::string setUp = fmt::format("PRAGMA application_id={}; PRAGMA user_version={}; {}{}{} COMMIT",
                                  applicationId, formatVersion, isUpgrade ? beforeTables : "",
                                  tables, isUpgrade ? afterTables : "");
  if (sqlite3_exec(opened, setUp.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return database.failure("written");
  return database;
}

Result<int64_t> Database::idOf(const MeasuredKernel &kernel) {
  Query insert(database.get(), "INSERT OR IGNORE INTO kernels (signature, number, start, target, "
                               "machine, compiler) VALUES (?, ?, ?, ?, ?, ?)");
  insert << kernel;
  Query find(database.get(), selectId);
  find << kernel;
  if (insert.step() != SQLITE_DONE || find.step() != SQLITE_ROW)
    return failure("written");
  return find.integer(0);
}

Status Database::describe(const MeasuredKernel &kernel, const KernelDescription &description) {
  TW_ASSIGN(int64_t id, idOf(kernel));
  Query update(database.get(), "UPDATE kernels SET dtypes = ?, sizes = ?, knobs = ?, constraints = "
                               "?, start_cost = ?, enumerated = max(enumerated, ?) WHERE id = ?");
  update << description.dtypes << sizesText(description.sizes) << knobsText(description.space)
         << constraintsText(description.space) << description.startCost << description.enumerated
         << id;
  return update.step() == SQLITE_DONE ? Status() : Status(failure("written"));
}

Status Database::add(const MeasuredKernel &kernel, const Measurement &m) {
  TW_ASSIGN(int64_t id, idOf(kernel));
  Query insert(database.get(), "INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert << id << pointText(m.point) << m.cost << m.rejection << m.ratio.median << m.ratio.low
         << m.ratio.high << m.pairs << m.startUs << m.unixSeconds;
  return insert.step() == SQLITE_DONE ? Status() : Status(failure("written"));
}

Result<std::vector<Measurement>> Database::measurementsOf(int64_t kernel) const {
  Query query(database.get(),
              "SELECT point, cost, rejection, ratio, low, high, pairs, start_us, unix_seconds "
              "FROM measurements WHERE kernel = ? ORDER BY rowid",
              &readingSteps);
  query << kernel;
  std::vector<Measurement> found;
  int status = query.step();
  for (; status == SQLITE_ROW; status = query.step())
    found.push_back({parsePoint(query.text(0)), query.realOrNull(1), query.text(2),
                     TimeRatio{query.real(3), query.real(4), query.real(5)}, query.integer(6),
                     query.real(7), query.integer(8)});
  if (status != SQLITE_DONE)
    return failure("read");
  return found;
}

Result<std::vector<Measurement>> Database::find(const MeasuredKernel &kernel) const {
  Query query(database.get(), selectId, &readingSteps);
  query << kernel;
  int status = query.step();
  if (status == SQLITE_ROW)
    return measurementsOf(query.integer(0));
  if (status != SQLITE_DONE)
    return failure("read");
  return std::vector<Measurement>();
}

Result<bool> Database::isEmpty() const {
  Query query(database.get(), "SELECT 1 FROM measurements LIMIT 1", &readingSteps);
  int status = query.step();
  if (status != SQLITE_ROW && status != SQLITE_DONE)
    return failure("read");
  return status == SQLITE_DONE;
}

KernelKind kindOf(const RecordedKernel &kernel) {
  return {kernel.kernel.target, kernel.kernel.machine, kernel.description.dtypes};
}

Result<std::vector<RecordedKernel>> Database::all() const { return kernelsWhere("true", {}); }

Result<std::vector<RecordedKernel>> Database::ofKind(const KernelKind &kind) const {
  return kernelsWhere("target = ? AND machine = ? AND dtypes = ?",
                      {kind.target, kind.machine, kind.dtypes});
}

Result<std::vector<RecordedKernel>>
Database::kernelsWhere(const std::string &condition, const std::vector<std::string> &values) const {
  std::string text =
      fmt::format("SELECT id, signature, number, start, target, machine, compiler, dtypes, sizes, "
                  "knobs, constraints, start_cost, enumerated FROM kernels WHERE {} ORDER BY id",
                  condition);
  Query query(database.get(), text.c_str(), &readingSteps);
  for (const std::string &value : values)
    query << value;
  std::vector<RecordedKernel> found;
  int status = query.step();
  for (; status == SQLITE_ROW; status = query.step()) {
    RecordedKernel &made = found.emplace_back();
    made.kernel = {query.text(1), query.integer(2), query.text(3),
                   query.text(4), query.text(5),    query.text(6)};
    auto sizes = parseSizes(query.text(8));
    auto space = parseSpace(query.text(9), query.text(10));
    // What somebody has changed by hand is as good as what was never described.
    if (sizes && space)
      made.description = {query.text(7), *std::move(sizes), *std::move(space), query.realOrNull(11),
                          query.integer(12)};
    TW_ASSIGN(made.measurements, measurementsOf(query.integer(0)));
  }
  if (status != SQLITE_DONE)
    return failure("read");
  return found;
}

} // namespace tw::tune
