#pragma once

#include "actors/log.hpp"
#include "actors/relay_link.hpp"
#include "app/io/git/fetch_settings.hpp"
#include "app/io/intake/socket_server.hpp"
#include "app/io/intake/strfry_shim.hpp"
#include "app/io/intake/submit.hpp"
#include "libsync/config.hpp"
#include "libsync/git/plan_settings.hpp"

/// What each part has to know of the configuration, in the part's own words.
namespace purgatory {

git::plan_settings plan_settings_of(const config& c);
io::fetch_settings fetch_settings_of(const config& c);
io::socket_options socket_options_of(const config& c);
io::shim_options shim_options_of(const config& c);
io::submit_options submit_options_of(const config& c);
relay_link_config relay_link_config_of(const config& c);
log::settings log_settings_of(const config& c);

} // namespace purgatory
