// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Database.h"
#include <charconv>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sstream>

namespace tw::tune {

/// In the file's header: whose it is, and the version of its tables.
static constexpr int applicationId = 0x54575455, formatVersion = 1; // "TWTU"

static constexpr char tables[] = R"sql(
CREATE TABLE IF NOT EXISTS measurements (
  signature TEXT NOT NULL, number INTEGER NOT NULL, start TEXT NOT NULL, target TEXT NOT NULL,
  machine TEXT NOT NULL, compiler TEXT NOT NULL,
  point TEXT NOT NULL, rejection TEXT NOT NULL,
  ratio REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  pairs INTEGER NOT NULL, start_us REAL NOT NULL, unix_seconds INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS by_kernel ON measurements (signature, number, start);
)sql";

std::string pointText(const Point &point) {
  std::string text;
  for (const auto &[name, value] : point)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

Point parsePoint(const std::string &text) {
  Point point;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    int64_t value = 0;
    const char *end = word.data() + word.size();
    if (equals == word.npos)
      continue;
    auto read = std::from_chars(word.data() + equals + 1, end, value);
    if (read.ec == std::errc() && read.ptr == end)
      point[word.substr(0, equals)] = value;
  }
  return point;
}

namespace {

/// A prepared statement with its arguments.
class Query {
public:
  Query(sqlite3 *database, const char *text) {
    sqlite3_prepare_v2(database, text, -1, &statement, nullptr);
  }
  Query(const Query &) = delete;
  ~Query() { sqlite3_finalize(statement); }

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

private:
  sqlite3_stmt *statement = nullptr;
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
  std::string setUp = fmt::format("PRAGMA application_id={}; PRAGMA user_version={}; {}",
                                  applicationId, formatVersion, tables);
  if (sqlite3_exec(opened, setUp.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return database.failure("written");
  return database;
}

Status Database::add(const MeasuredKernel &kernel, const Measurement &m) {
  Query insert(database.get(),
               "INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert << kernel << pointText(m.point) << m.rejection << m.ratio.median << m.ratio.low
         << m.ratio.high << m.pairs << m.startUs << m.unixSeconds;
  return insert.step() == SQLITE_DONE ? Status() : Status(failure("written"));
}

Result<std::vector<Measurement>> Database::find(const MeasuredKernel &kernel) const {
  Query query(database.get(),
              "SELECT point, rejection, ratio, low, high, pairs, start_us, unix_seconds "
              "FROM measurements WHERE signature = ? AND number = ? AND start = ? AND target = ? "
              "AND machine = ? AND compiler = ? ORDER BY rowid");
  query << kernel;
  std::vector<Measurement> found;
  int status = query.step();
  for (; status == SQLITE_ROW; status = query.step())
    found.push_back({parsePoint(query.text(0)), query.text(1),
                     TimeRatio{query.real(2), query.real(3), query.real(4)}, query.integer(5),
                     query.real(6), query.integer(7)});
  if (status != SQLITE_DONE)
    return failure("read");
  return found;
}

} // namespace tw::tune
