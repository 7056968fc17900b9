#include "actors/harden.hpp"

#include "actors/log.hpp"

#include <caf/actor_system.hpp>
#include <caf/message.hpp>
#include <caf/message_view.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/sec.hpp>
#include <caf/system_messages.hpp>

#include <exception>
#include <string>

namespace purgatory {

namespace {

std::string text_of(const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "unknown exception";
  }
}

} // namespace

void harden(caf::scheduled_actor* self) {
  self->set_default_handler(
    [](caf::scheduled_actor* me,
       caf::message_view& what) -> caf::result<caf::message> {
      log::error(
        "Unexpected message",
        {{"actor", me->name()}, {"content", what.content().stringify()}});
      return caf::sec::unexpected_message;
    });
  self->set_down_handler([](caf::scheduled_actor* me, caf::down_msg& down) {
    log::debug(
      "Neighbour is down",
      {{"actor", me->name()}, {"reason", me->system().render(down.reason)}});
  });
  self->set_exception_handler(
    [](caf::scheduled_actor* me, std::exception_ptr& problem) -> caf::error {
      const auto what = text_of(problem);
      log::error("Exception ends an actor",
                 {{"actor", me->name()}, {"error", what}});
      return caf::make_error(caf::sec::runtime_error, what);
    });
}

} // namespace purgatory
