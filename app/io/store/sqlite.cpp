#include "app/io/store/sqlite.hpp"

#include <sqlite3.h>

namespace purgatory::sqlite {

namespace {

/// Another process looking into the file (a backup, a shell) may hold it for
/// a moment.
constexpr int busy_timeout_ms = 5000;

[[noreturn]] void fail(sqlite3* handle, int code) {
  const std::string what
    = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  throw error{"SQLite: " + what, code & 0xFF};
}

void check(sqlite3* handle, int code) {
  if (code != SQLITE_OK)
    fail(handle, code);
}

void check(sqlite3_stmt* statement, int code) {
  check(sqlite3_db_handle(statement), code);
}

} // namespace

static_assert(damage_code == SQLITE_CORRUPT);

bool error::is_damage() const {
  return code_ == SQLITE_CORRUPT || code_ == SQLITE_NOTADB;
}

bool error::is_mismatch() const {
  return code_ == SQLITE_ERROR;
}

void connection_closer::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}

void statement_closer::operator()(sqlite3_stmt* handle) const {
  sqlite3_finalize(handle);
}

connection::connection(const std::string& path) {
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(
    path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  handle_.reset(handle);
  check(handle, result);
  check(handle, sqlite3_busy_timeout(handle, busy_timeout_ms));
}

void connection::run(const std::string& sql) {
  check(handle(),
        sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr));
}

std::int64_t connection::number(const std::string& sql) {
  const statement question{*this, sql};
  auto row = question();
  return row.next() ? row.number(0) : 0;
}

std::string connection::text(const std::string& sql) {
  const statement question{*this, sql};
  auto row = question();
  return row.next() ? std::string{row.text(0)} : std::string{};
}

std::int64_t connection::changes() const {
  return sqlite3_changes64(handle_.get());
}

void connection::keep_log_on_close() {
  check(handle(), sqlite3_db_config(handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
                                    1, nullptr));
}

cursor::~cursor() {
  if (statement_ == nullptr)
    return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

cursor& cursor::bind(std::int64_t value) {
  check(statement_, sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

cursor& cursor::bind(std::string_view value) {
  check(statement_,
        sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

cursor& cursor::bind_column(const cursor& other, int column) {
  check(statement_,
        sqlite3_bind_value(statement_, ++bound_,
                           sqlite3_column_value(other.statement_, column)));
  return *this;
}

bool cursor::next() {
  const int result = sqlite3_step(statement_);
  if (result != SQLITE_ROW && result != SQLITE_DONE)
    fail(sqlite3_db_handle(statement_), result);
  return result == SQLITE_ROW;
}

void cursor::run() {
  next();
}

bool cursor::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t cursor::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string_view cursor::text(int column) const {
  const auto* start = sqlite3_column_text(statement_, column);
  if (start == nullptr)
    return {};
  const auto size = sqlite3_column_bytes(statement_, column);
  return {reinterpret_cast<const char*>(start), static_cast<std::size_t>(size)};
}

statement::statement(const connection& on, std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  check(on.handle(), sqlite3_prepare_v3(
                       on.handle(), sql.data(), static_cast<int>(sql.size()),
                       SQLITE_PREPARE_PERSISTENT, &handle, nullptr));
  handle_.reset(handle);
}

} // namespace purgatory::sqlite
