#pragma once

#include "libsync/git/alignment.hpp"
#include "libsync/journal.hpp"
#include "libsync/types.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The doors to the world as the core sees them. app/io implements them; tests
/// bring their own. Every function blocks and is called from a worker thread.
namespace purgatory {

/// Checks BIP-340 signatures. Safe to share between threads.
class signature_verifier {
public:
  virtual ~signature_verifier() = default;
  /// True when `sig` (128 hex digits) is `key`'s signature of the 32 bytes
  /// whose hex is `digest`. False also for anything malformed.
  virtual bool verify(const pubkey& key, const event_id& digest,
                      const std::string& sig) const = 0;
};

/// Verified objects of one job that are not yet visible in any repository.
/// The last owner to let go removes them from disk.
class quarantine {
public:
  virtual ~quarantine() = default;
  /// The object directory, absolute.
  virtual const std::string& directory() const = 0;
};

/// One fetch from one URL.
struct fetch_order {
  remote_url url;
  std::vector<oid> wants; ///< Newest event first; at most 2000 are asked.
  tenant target;          ///< Exists. Its objects complete the pack.
};

/// What one fetch brought.
struct fetch_outcome {
  fetch_class outcome = fetch_class::internal;
  std::vector<oid> got;     ///< Wants now in `pack` or in the target, verified.
  std::vector<oid> missing; ///< Wants that the server does not have.
  std::shared_ptr<quarantine> pack;   ///< Null when no pack came.
  std::optional<remote_url> redirect; ///< With `redirected`: where to ask.
  /// With `limited`: how long the server asks us to stay away, if it says so.
  std::optional<std::chrono::seconds> retry_after;
  std::string peer;        ///< IP address last connected to; may be empty.
  std::uint64_t bytes = 0; ///< Received, decoded.
  std::uint32_t wire_requests = 0; ///< HTTP requests sent.
  std::string
    detail; ///< For people; never decides anything. May hold server text.
};

/// Who hears how a job goes on, from the thread that runs it. Each is called
/// at most once for a job; an empty one is not called.
struct fetch_watch {
  std::function<void()> first_send;      ///< The first request leaves now.
  std::function<void()> first_pack_byte; ///< A server began to send a pack.
};

/// Smart HTTP, fetch only. One object per worker thread.
class git_transport {
public:
  virtual ~git_transport() = default;
  /// Runs one job to its end. Returns within 200 ms after `cancel` became
  /// true, with class `internal`. Never throws for anything a server does.
  virtual fetch_outcome fetch(const fetch_order& order,
                              const std::atomic<bool>& cancel,
                              const fetch_watch& watch)
    = 0;
};

enum class object_kind : std::uint8_t { absent, commit, tree, blob, tag };

/// How a step on a repository ended.
enum class store_result : std::uint8_t {
  done,
  conflict, ///< Somebody else moved a ref meanwhile: read again, then retry.
  missing,  ///< A named object or the repository is not there.
  failed,   ///< Disk or permission; `detail` says what.
};

const char* to_string(object_kind value);
const char* to_string(store_result value);

struct store_report {
  store_result result = store_result::failed;
  std::vector<git::ref_change> changes; ///< What was done, for the journal.
  std::string detail;
};

/// The bare repositories `<git_root>/<npub>/<d>.git`. At most one thread works
/// on one repository at a time; the repository actor sees to that.
class object_store {
public:
  virtual ~object_store() = default;
  /// Creates the bare repository if it is not there.
  virtual store_report create(const tenant& repository) = 0;
  /// The kind of each object, in order; all absent without a repository.
  virtual std::vector<object_kind> kinds(const tenant& repository,
                                         const std::vector<oid>& ids)
    = 0;
  /// Makes the objects of `pack` visible and durable, and anchors `wants`.
  virtual store_report promote(const tenant& repository, const quarantine& pack,
                               const std::vector<oid>& wants)
    = 0;
  /// Gives `repository`, created if need be, what it lacks of `ids` and of all
  /// that they need, from `from`; durable and anchored. `missing` when `from`
  /// has not all of `ids`. May run while others write to `from`.
  virtual store_report copy(const tenant& repository, const tenant& from,
                            const std::vector<oid>& ids)
    = 0;
  /// Moves refs/heads, refs/tags and HEAD to `wanted` in one transaction and
  /// reads them back.
  virtual store_report align(const tenant& repository,
                             const git::desired_refs& wanted)
    = 0;
  /// Sets `refs/nostr/<pr>` to the commit `tip`.
  virtual store_report set_pr_ref(const tenant& repository, const event_id& pr,
                                  const oid& tip)
    = 0;
  /// Removes quarantines that no process owns any more. Called at start.
  virtual std::size_t remove_stale_quarantines() = 0;
};

/// The journal's storage. One thread. Throws std::runtime_error when the
/// storage fails: a journal that can't write must not answer.
class event_store {
public:
  virtual ~event_store() = default;
  /// Applies `records` to the open transaction, opening one if needed.
  virtual void apply(const std::vector<journal_record>& records) = 0;
  /// Makes everything applied durable (fsync) and closes the transaction.
  virtual void commit() = 0;
  /// All that is known of one identifier.
  virtual identifier_image load(const identifier& repo) = 0;
  /// Notes how long the daemon has run. The next commit, or a clean stop, makes
  /// it durable together with what it stamps; it never goes back.
  virtual void stamp(live_seconds now) = 0;
  /// Identifiers with entries that wait, or with verdicts to keep.
  virtual std::vector<pending_identifier> pending() = 0;
  /// What is remembered of hosts.
  virtual std::vector<host_record> hosts() = 0;
  /// Sleeping identifiers that `host` could help: those after `after`, in order
  /// of name, at most `limit`.
  virtual std::vector<identifier> interested_in(const host_key& host,
                                                const identifier& after,
                                                std::size_t limit)
    = 0;
  /// True when `author` took `id` back before it came.
  virtual bool is_buried(const pubkey& author, const event_id& id) = 0;
  /// Where an event is, if we know it.
  virtual std::optional<known_event> find(const event_id& id) = 0;
  /// How the previous run ended.
  virtual previous_run last_run() const = 0;
  /// Notes a clean stop at wall time `now`.
  virtual void close_clean(unix_seconds now) = 0;
};

/// Where released events go when there is no relay. One thread at a time.
class release_log {
public:
  virtual ~release_log() = default;
  /// True for an event that was appended, in this or an earlier run.
  virtual bool contains(const event_id& id) const = 0;
  /// Appends one event as one line of JSON; durable when it returns. On
  /// failure the log is as before and std::runtime_error is thrown.
  virtual void append(const event_id& id, const std::string& json) = 0;
};

/// What a relay socket reports, from a thread of its own: `opened` at most
/// once, then any number of `text`, then `closed` once. Nothing after the
/// socket was destroyed.
struct relay_socket_events {
  std::function<void()> opened;
  std::function<void(std::string message)> text;
  std::function<void(std::string reason)> closed;
};

/// One connection to a relay, from the first attempt to its end. Calls never
/// block; they do nothing once the connection is closed. Destroying closes.
class relay_socket {
public:
  virtual ~relay_socket() = default;
  /// Sends one message, after those before it.
  virtual void send(std::string message) = 0;
  /// Lets so many more messages be reported; none is read before, so a slow
  /// reader slows the relay down instead of filling our memory.
  virtual void permit(std::size_t messages) = 0;
};

/// Starts to connect to `url` (ws://host[:port][/path]). Every failure, a URL
/// that makes no sense included, is reported by `closed`.
using relay_socket_factory = std::function<std::unique_ptr<relay_socket>(
  const std::string& url, relay_socket_events events)>;

} // namespace purgatory
