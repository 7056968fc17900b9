#pragma once

#include "libsync/memory_journal.hpp"

namespace purgatory::test {

using memory_image = journal_image;
using purgatory::memory_store;

} // namespace purgatory::test
