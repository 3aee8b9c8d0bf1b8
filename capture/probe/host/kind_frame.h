// What all kinds that work through a probe have alike: the options of the rings between program and agent, what is read
// of them, and how flags reach the probe.
//
//   facts.options = with_ring_options({...}, "1MiB");
//   ProbeHandler handler = probe_handler(*run.options);
//   tell(handler, *run.options, {"arguments", "sources"});
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "capture/probe/host/reader.h"
#include "capture/request/options.h"

namespace accelscope::capture::probes {

// The kind's own options, then `buffer` and `when-full`.
[[nodiscard]] std::vector<request::KindOption> with_ring_options(std::vector<request::KindOption> own,
                                                                 const std::string& usual_size);

// Fails on a ring that no channel has (probe::kMinRingBytes to kMaxRingBytes): CaptureKind::accept of such kinds.
[[nodiscard]] Result<void> accept_ring(const request::OptionReader& options);

[[nodiscard]] ProbeHandler probe_handler(const request::OptionReader& options);

// Flags as "name=on" or "name=off" among what the probe is told.
void tell(ProbeHandler& handler, const request::OptionReader& options, std::initializer_list<const char*> flags);

void tell(ProbeHandler& handler, const char* flag, bool is_on);

// What the collectors of vendors' libraries have alike: `exclude-calls`, `range` and `drop` of what they are told; that
// their texts are of one line; "CUDA of programs that are started by hand, within 'step'".
void tell_tracing(ProbeHandler& handler, const request::OptionReader& options);
[[nodiscard]] Result<void> accept_tracing(const request::OptionReader& options);
[[nodiscard]] std::string describe_tracing(std::string title, const request::CaptureRequest& request,
                                           const request::OptionReader& options);

// The request names nothing to run: programs are started by hand.
[[nodiscard]] bool waits_for_programs(const request::CaptureRequest& request) noexcept;

}  // namespace accelscope::capture::probes
