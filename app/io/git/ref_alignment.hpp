#pragma once

#include "app/io/git/bare_repository.hpp"
#include "libsync/ports.hpp"

namespace purgatory::io {

/// Makes refs/heads, refs/tags and HEAD what `wanted` says (rules §6.4) and
/// reads them back. Nothing moves unless every target is here, every branch's
/// target is a commit and all names can stand side by side. The report lists
/// what is different now, also when the end is a conflict.
store_report align_refs(bare_repository& repo, const git::desired_refs& wanted);

/// Sets refs/nostr/<pr> to the commit `tip`, whatever it was.
store_report align_pr_ref(bare_repository& repo, const event_id& pr,
                          const oid& tip);

/// Keeps `wants` alive until refs name them: one private ref for each. Reports
/// those that are not here as missing.
store_report anchor(bare_repository& repo, const std::vector<oid>& wants);

} // namespace purgatory::io
