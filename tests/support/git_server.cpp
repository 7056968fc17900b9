#include "tests/support/git_server.hpp"

#include "tests/support/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace purgatory::test {

namespace {

constexpr const char* apache = "/usr/sbin/apache2";
constexpr const char* modules = "/usr/lib/apache2/modules";
constexpr std::chrono::seconds start_deadline{15};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool answers(const std::string& address, std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  ::inet_pton(AF_INET, address.c_str(), &name.sin_addr);
  const bool connected
    = ::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
  ::close(fd);
  return connected;
}

} // namespace

git_server::git_server(git_server_options options)
  : address_(options.port == 0 ? own_loopback_address() : options.address),
    port_(options.port == 0 ? free_port(address_) : options.port) {
  std::filesystem::create_directories(root());
  write_config(options);
  process_ = std::make_unique<background_process>(
    command{{apache, "-f", (files_ / "httpd.conf").string(), "-DFOREGROUND"},
            std::nullopt,
            {},
            {}},
    files_ / "stderr.log");
  wait_until_ready();
}

git_server::~git_server() {
  // Apache removes its shared memory when asked to stop; then the group is
  // killed in any case.
  process_->signal(SIGTERM);
  process_->wait(std::chrono::seconds{5});
}

std::string git_server::url(const std::string& name) const {
  return "http://" + address_ + ":" + std::to_string(port_) + "/" + name;
}

void git_server::write_config(const git_server_options& options) const {
  // As root, apache serves as another user than the one who made the
  // repositories; git would refuse them.
  std::ofstream{files_ / "gitconfig"} << "[safe]\n\tdirectory = *\n";
  std::ofstream config{files_ / "httpd.conf"};
  const auto load = [&](const char* name) {
    config << "LoadModule " << name << "_module " << modules << "/mod_" << name
           << ".so\n";
  };
  for (const auto* name :
       {"mpm_event", "authz_core", "alias", "env", "cgid", "headers"})
    load(name);
  const auto& at = files_.path();
  config << "ServerName " << address_ << "\n"
         << "ServerRoot " << at << "\n"
         << "Listen " << address_ << ":" << port_ << "\n"
         << "PidFile " << at / "httpd.pid"
         << "\n"
         << "ErrorLog " << at / "error.log"
         << "\n"
         << "DefaultRuntimeDir " << at << "\n"
         << "ScriptSock " << at / "cgid.sock"
         << "\n"
         << "StartServers 1\nThreadsPerChild 32\nMaxRequestWorkers 64\n"
         << "LogFormat \"%{begin:usec}t %{end:usec}t %m %>s %{Git-Protocol}i "
            "%U%q\" test\n"
         << "CustomLog " << at / "access.log"
         << " test\n"
         << "SetEnv GIT_PROJECT_ROOT " << root() << "\n"
         << "SetEnv GIT_HTTP_EXPORT_ALL 1\n"
         << "SetEnv GIT_CONFIG_NOSYSTEM 1\n"
         << "SetEnv GIT_CONFIG_GLOBAL " << at / "gitconfig"
         << "\n"
         << "ScriptAlias / /usr/lib/git-core/git-http-backend/\n"
         << "<Location />\n  Require all granted\n</Location>\n";
  if (::geteuid() == 0)
    config << "User www-data\nGroup www-data\n";
  if (options.strip_git_protocol)
    config << "RequestHeader unset Git-Protocol early\n";
}

void git_server::wait_until_ready() {
  const auto end = std::chrono::steady_clock::now() + start_deadline;
  while (!answers(address_, port_)) {
    if (process_->poll() || std::chrono::steady_clock::now() > end)
      throw std::runtime_error("apache2 does not answer at " + url("") + ": "
                               + read_file(files_ / "stderr.log")
                               + read_file(files_ / "error.log"));
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

std::vector<logged_request> git_server::requests() const {
  std::ifstream log{files_ / "access.log"};
  std::vector<logged_request> result;
  logged_request one;
  while (log >> one.started_us >> one.ended_us >> one.method >> one.status
           >> one.git_protocol
         && std::getline(log >> std::ws, one.target))
    result.push_back(one);
  return result;
}

} // namespace purgatory::test
