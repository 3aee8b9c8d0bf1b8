#include "capture/agent/control/agent_settings.h"

#include "capture/command_line/options.h"
#include "core/base/format.h"

namespace accelscope::capture::agent {
namespace {

constexpr const char* kServing = "Serving";

}  // namespace

void AgentOptionTexts::declare(command_line::OptionSet& command) {
  const auto option = [&command](const char* name, auto& value, const char* explanation) {
    return command.add_option(name, value, explanation).in_group(kServing);
  };
  const auto flag = [&command](const char* name, bool& value, const char* explanation) {
    return command.add_flag(name, value, explanation).in_group(kServing);
  };
  option("--listen", listen_, "HOST:PORT to listen on; port 0 takes any free one").shows_default();
  const command_line::Option file =
      option("--token-file", token_file_, "file with the secret that viewers must know (mode 0600)");
  flag("--token-stdin", token_stdin_, "read that secret as the first line of standard input").excludes(file);
  flag("--allow-run", allow_run_, "start programs, and read files, for viewers that know the token");
  option("--spool", spool_, "folder that keeps what no viewer has saved yet, also over the agent's death");
  option("--spool-limit", spool_limit_, "room for it on disk").shows_default();
  option("--buffer", buffer_, "memory to keep for a viewer that is behind").shows_default();
  option("--when-full", when_full_, "then wait: hold the source; stop: end the capture; drop: drop and count events")
      .one_of({"wait", "stop", "drop"})
      .shows_default();
  option("--idle-exit", idle_exit_s_, "end after so many seconds without a viewer and a capture").not_negative();
  option("--scratch", scratch_, "folder for the files of captures and the log of --detach");
  option("--name", name_, "of captures that the viewer gives no name").shows_default();
  flag("--detach", detach_, "print the address, then go on in the background");
  flag("--once", once_, "end after the first capture");
  flag("--quiet", quiet_, "no messages about connections");
}

bool any_serving_option(const command_line::OptionSet& command) { return command.any_given_of(kServing); }

Result<AgentSettings> AgentOptionTexts::read() const {
  AgentSettings settings;
  const Result<system::Address> address = system::parse_address(listen_);
  if (!address) return address.error();
  settings.listen = *address;
  const Result<std::uint64_t> buffer = parse_size(buffer_);
  if (!buffer) return Error{"--buffer: " + buffer.message()};
  settings.outbox.buffer_bytes = *buffer;
  const Result<std::uint64_t> limit = parse_size(spool_limit_);
  if (!limit) return Error{"--spool-limit: " + limit.message()};
  settings.outbox.spool_limit = *limit;
  settings.outbox.when_full = when_full_ == "stop"   ? WhenFull::stop
                              : when_full_ == "drop" ? WhenFull::drop
                                                     : WhenFull::wait;
  constexpr double kMostSeconds = 1e9;
  if (!(idle_exit_s_ <= kMostSeconds)) return Error{"--idle-exit: is too long; leave it out to go on for ever"};
  settings.idle_exit = std::chrono::milliseconds(static_cast<std::int64_t>(idle_exit_s_ * 1e3));
  if (name_.empty()) return Error{"--name: is empty; give the captures a name"};
  settings.token_file = token_file_;
  settings.token_stdin = token_stdin_;
  settings.allow_run = allow_run_;
  settings.spool = spool_;
  settings.scratch = scratch_;
  settings.name = name_;
  settings.detach = detach_;
  settings.once = once_;
  settings.quiet = quiet_;
  return settings;
}

}  // namespace accelscope::capture::agent
