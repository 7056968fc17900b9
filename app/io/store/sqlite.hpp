#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

/// The little of SQLite that the store needs, with owners for its handles.
namespace purgatory::sqlite {

/// The result code of a file that is broken (SQLITE_CORRUPT).
inline constexpr int damage_code = 11;

/// A call failed; `code` is SQLite's primary result code.
class error : public std::runtime_error {
public:
  error(const std::string& what, int code)
    : std::runtime_error(what), code_(code) {}
  int code() const { return code_; }
  /// True when the file itself is broken or is no database.
  bool is_damage() const;
  /// True when the SQL does not fit what is in the file.
  bool is_mismatch() const;

private:
  int code_;
};

struct connection_closer {
  void operator()(sqlite3* handle) const;
};

/// One connection. Statements made from it must go first.
class connection {
public:
  /// Opens `path`, creating the file if it is missing.
  explicit connection(const std::string& path);

  /// Runs one or more statements that answer nothing.
  void run(const std::string& sql);

  /// The first column of the first row, or nothing at all as 0 or "".
  std::int64_t number(const std::string& sql);
  std::string text(const std::string& sql);

  /// Rows that the last INSERT, UPDATE or DELETE changed.
  std::int64_t changes() const;

  /// Leaves the write-ahead log alone on closing: for files that are evidence.
  void keep_log_on_close();

  sqlite3* handle() const { return handle_.get(); }

private:
  std::unique_ptr<sqlite3, connection_closer> handle_;
};

/// A statement in use: bound values, then rows. Resets it when it goes.
class cursor {
public:
  explicit cursor(sqlite3_stmt* statement) : statement_(statement) {}
  ~cursor();
  cursor(cursor&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_) {}
  cursor& operator=(cursor&&) = delete;

  cursor& bind(std::int64_t value);
  cursor& bind(std::string_view value);
  /// Binds column `column` of the row where `other` stands.
  cursor& bind_column(const cursor& other, int column);

  /// Steps to the next row; false when there is none.
  bool next();
  /// Runs a statement without rows.
  void run();

  bool is_null(int column) const;
  std::int64_t number(int column) const;
  /// Valid until the next step.
  std::string_view text(int column) const;

private:
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

struct statement_closer {
  void operator()(sqlite3_stmt* handle) const;
};

/// A statement that is compiled once and used many times, by one cursor at a
/// time.
class statement {
public:
  statement(const connection& on, std::string_view sql);

  /// Binds `values` to the parameters, in order.
  template <class... Ts>
  cursor operator()(const Ts&... values) const {
    cursor used{handle_.get()};
    (used.bind(values), ...);
    return used;
  }

private:
  std::unique_ptr<sqlite3_stmt, statement_closer> handle_;
};

} // namespace purgatory::sqlite
