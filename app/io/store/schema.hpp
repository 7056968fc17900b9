#pragma once

#include <string>

namespace purgatory::sqlite {

class connection;

/// Number of the newest migration that this version knows.
int schema_version();

/// Throws std::runtime_error, naming `path`, when the file belongs to another
/// program or was written by a newer version. Writes nothing.
void require_ours(connection& database, const std::string& path);

/// Brings a database of ours, or an empty one, to `schema_version()`; each
/// migration is one transaction.
void migrate(connection& database);

} // namespace purgatory::sqlite
