#include "capture/probe/host/kind_frame.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "capture/probe/channel_format.h"

namespace accelscope::capture::probes {
namespace {

constexpr const char* kTracingTexts[] = {"exclude-calls", "range"};

}  // namespace

std::vector<request::KindOption> with_ring_options(std::vector<request::KindOption> own,
                                                   const std::string& usual_size) {
  own.push_back({.name = "buffer",
                 .type = request::OptionType::size,
                 .default_value = usual_size,
                 .explanation = "Memory for each thread of what the agent has not read yet; 128KiB to 256MiB."});
  own.push_back(
      {.name = "when-full",
       .type = request::OptionType::choice,
       .default_value = "wait",
       .explanation = "If the agent falls behind: the thread waits, or what finds no room is dropped and counted.",
       .choices = {"wait", "drop"}});
  return own;
}

Result<void> accept_ring(const request::OptionReader& options) {
  const std::uint64_t bytes = options.size("buffer");
  if (bytes >= probe::kMinRingBytes && bytes <= probe::kMaxRingBytes) return {};
  return Error{
      fmt::format("--buffer: {} bytes is not between 128KiB and 256MiB; write 1MiB, or more for bursts of millions of "
                  "events",
                  bytes)};
}

ProbeHandler probe_handler(const request::OptionReader& options) {
  ProbeHandler handler;
  handler.ring_bytes = std::bit_ceil(options.size("buffer"));
  handler.drop_when_full = options.text("when-full") == "drop";
  return handler;
}

void tell(ProbeHandler& handler, const request::OptionReader& options, std::initializer_list<const char*> flags) {
  for (const char* name : flags) tell(handler, name, options.flag(name));
}

void tell(ProbeHandler& handler, const char* flag, bool is_on) {
  handler.settings.push_back(fmt::format("{}={}", flag, is_on ? "on" : "off"));
}

void tell_tracing(ProbeHandler& handler, const request::OptionReader& options) {
  tell(handler, "drop", handler.drop_when_full);
  for (const char* name : kTracingTexts) handler.settings.push_back(fmt::format("{}={}", name, options.text(name)));
}

Result<void> accept_tracing(const request::OptionReader& options) {
  for (const char* name : kTracingTexts) {
    if (options.text(name).find('\n') != std::string::npos)
      return Error{fmt::format("--{}: names of one line, without line breaks", name)};
  }
  return accept_ring(options);
}

std::string describe_tracing(std::string title, const request::CaptureRequest& request,
                             const request::OptionReader& options) {
  if (waits_for_programs(request)) title += " of programs that are started by hand";
  if (const std::string range = options.text("range"); !range.empty()) title += fmt::format(", within '{}'", range);
  return title;
}

bool waits_for_programs(const request::CaptureRequest& request) noexcept {
  return request.program.empty() && request.script.empty();
}

}  // namespace accelscope::capture::probes
