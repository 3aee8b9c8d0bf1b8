#include "capture/client/record.h"

#include <fmt/format.h>

#include <utility>

namespace accelscope::capture {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollInterval{100};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Returns when the connection has ended or failed.
void follow(Connection& connection, const RecordOptions& options) {
  const Clock::time_point begin = Clock::now();
  bool asked_to_stop = false;
  while (!connection.wait_for(kPollInterval)) {
    const bool wanted = !options.progress || options.progress(connection.status(), {});
    const bool time_is_up = options.duration_seconds && seconds_since(begin) >= *options.duration_seconds;
    if ((wanted && !time_is_up) || std::exchange(asked_to_stop, true)) continue;
    connection.stop();
  }
}

Result<void> save(Store& store, const RecordOptions& options, const ConnectionStatus& status) {
  return store.save(options.output_path, [&](std::uint64_t done, std::uint64_t total) {
    if (!options.progress) return true;
    return options.progress(status, total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total));
  });
}

}  // namespace

Result<RecordReport> record(const RecordOptions& options) {
  const Result<Address> address = parse_address(options.address);
  if (!address) return address.error();
  Result<std::unique_ptr<Store>> store = Store::create(options.store);
  if (!store) return store.error();
  StoreSink sink(*store.value());
  ConnectionOptions connection_options;
  connection_options.address = address.value();
  connection_options.version = options.version;
  connection_options.description = fmt::format("records to {}", options.output_path);
  connection_options.stay_after_end = true;
  connection_options.limits = options.limits;
  Connection connection(connection_options, sink);
  follow(connection, options);

  const ConnectionStatus status = connection.status();
  if (status.last_sequence == 0) {
    connection.close();
    return Error{status.message.empty() ? fmt::format("{}: the agent sent nothing", status.peer) : status.message};
  }
  RecordReport report;
  report.path = options.output_path;
  report.peer = status.peer;
  report.description = status.description;
  report.events = store.value()->snapshot()->event_count;
  report.chunks = status.chunks;
  report.wire_bytes = status.bytes;
  report.doubled_frames = status.doubled_frames;
  report.outcome = status.outcome;
  report.message = status.message;
  report.capture_seconds = status.streaming_seconds;
  const StoreStatus kept = store.value()->status();
  report.memory_bytes = kept.memory_bytes;
  report.lost_events = status.lost_events + kept.lost;
  report.complete = status.state == ConnectionState::ended && report.lost_events == 0;

  const Clock::time_point save_begin = Clock::now();
  if (Result<void> saved = save(*store.value(), options, status); !saved) {
    connection.close();
    return saved.error();
  }
  report.save_seconds = seconds_since(save_begin);
  connection.acknowledge_durable(status.last_sequence);
  connection.close();
  return report;
}

}  // namespace accelscope::capture
