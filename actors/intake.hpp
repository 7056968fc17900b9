#pragma once

#include "libsync/nostr/git_events.hpp"
#include "libsync/nostr/parse.hpp"
#include "messages/actors.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace purgatory {

class signature_verifier;

/// Everybody intake talks to.
struct intake_doors {
  supervisor_actor supervisor;
  journal_actor journal;
  metrics_actor metrics;
};

/// Turns offered text into verified, typed events and routes them by
/// identifier. Decides only what needs no knowledge of a repository: broken
/// events are refused, kinds that we do not hold pass.
class intake_state {
public:
  using pointer = intake_actor::stateful_pointer<intake_state>;
  using promise = caf::typed_response_promise<offer_answer>;
  static inline const char* name = "intake";

  explicit intake_state(pointer self) : self_(self) {}

  intake_actor::behavior_type
  make_behavior(intake_doors doors, nostr::event_limits limits,
                std::shared_ptr<const signature_verifier> verifier);

private:
  promise take(const offer& message);
  void route(const nostr::event& ev, provenance from, const identifier& repo,
             promise owed, std::string raw_id);
  void route_update(const nostr::event& ev, provenance from,
                    const event_id& updates, promise owed, std::string raw_id);
  /// A deletion on its way round the identifiers that it concerns.
  struct withdrawal {
    nostr::event ev;
    provenance from = provenance::sync;
    std::vector<event_id> unknown; ///< Still to be looked up.
    std::map<identifier, std::vector<nostr::tag>> concerned;
    promise owed;
    std::string raw_id;
  };
  static std::shared_ptr<withdrawal>
  withdrawal_of(const nostr::event& ev, provenance from,
                const nostr::deletion& content, promise owed,
                std::string raw_id);
  void look_up_next(std::shared_ptr<withdrawal> w);
  void tell_next(std::shared_ptr<withdrawal> w);
  void refuse(promise& owed, std::string raw_id, std::uint32_t kind,
              const std::string& reason);

  pointer self_;
  intake_doors doors_;
  nostr::event_limits limits_;
  std::shared_ptr<const signature_verifier> verifier_;
};

/// Spawn function: `sys.spawn(intake, doors, limits, verifier)`.
intake_actor::behavior_type
intake(intake_state::pointer self, intake_doors doors,
       nostr::event_limits limits,
       std::shared_ptr<const signature_verifier> verifier);

} // namespace purgatory
