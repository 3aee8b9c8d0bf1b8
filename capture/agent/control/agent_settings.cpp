#include "capture/agent/control/agent_settings.h"

#include "capture/command_line/options.h"
#include "core/base/format.h"

namespace accelscope::capture::agent {
namespace {

constexpr const char* kServing = "Serving";

}  // namespace

void AgentSettings::declare(command_line::OptionSet& command) {
  const auto option = [&command](const char* names, auto& value, const char* explanation) {
    return command.add_option(names, value, explanation).in_group(kServing);
  };
  const auto flag = [&command](const char* names, bool& value, const char* explanation) {
    return command.add_flag(names, value, explanation).in_group(kServing);
  };
  option("--listen", listen_, "HOST:PORT to listen on; port 0 takes any free one").shows_default();
  const command_line::Option file =
      option("--token-file", token_file, "file with the secret that viewers must know (mode 0600)");
  flag("--token-stdin", token_stdin, "read that secret as the first line of standard input").excludes(file);
  flag("--allow-run", allow_run, "start programs, and read files, for viewers that know the token");
  option("--spool", spool, "folder that keeps what no viewer has saved yet, also over the agent's death");
  option("--spool-limit", spool_limit_, "room for it on disk").shows_default();
  option("--buffer", buffer_, "memory to keep for a viewer that is behind").shows_default();
  option("--when-full", when_full_, "then wait: hold the source; stop: end the capture; drop: drop and count events")
      .one_of({"wait", "stop", "drop"})
      .shows_default();
  option("--idle-exit", idle_exit_s_, "end after so many seconds without a viewer and a capture").not_negative();
  option(
      "--scratch", scratch,
      "folder for the files of captures and the log of --detach; else the system's, and a folder of yours for the log");
  option("--name", name, "of captures that the viewer gives no name").shows_default();
  flag("--detach", detach, "print the address, then go on in the background");
  flag("--once", once, "end after the first capture");
  flag("--quiet", quiet, "no messages about connections");
}

bool any_serving_option(const command_line::OptionSet& command) { return command.any_given_of(kServing); }

Result<void> AgentSettings::read() {
  const Result<system::Address> address = system::parse_address(listen_);
  if (!address) return address.error();
  listen = *address;
  const Result<std::uint64_t> memory = parse_size(buffer_);
  if (!memory) return Error{"--buffer: " + memory.message()};
  outbox.buffer_bytes = *memory;
  const Result<std::uint64_t> limit = parse_size(spool_limit_);
  if (!limit) return Error{"--spool-limit: " + limit.message()};
  outbox.spool_limit = *limit;
  outbox.when_full = when_full_ == "stop" ? WhenFull::stop : when_full_ == "drop" ? WhenFull::drop : WhenFull::wait;
  constexpr double kMostSeconds = 1e9;
  if (!(idle_exit_s_ <= kMostSeconds)) return Error{"--idle-exit: is too long; leave it out to go on for ever"};
  idle_exit = std::chrono::milliseconds(static_cast<std::int64_t>(idle_exit_s_ * 1e3));
  if (name.empty()) return Error{"--name: is empty; give the captures a name"};
  return {};
}

}  // namespace accelscope::capture::agent
