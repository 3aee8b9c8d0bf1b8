#include "capture/agent/agent_command.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "capture/agent/agent.h"
#include "capture/sim/simulator.h"
#include "capture/sources/paced_sink.h"
#include "capture/sources/source.h"
#include "capture/wire/messages.h"
#include "core/base/format.h"

namespace accelscope::capture {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

// Fast enough to fill a screen within a second, slow enough to follow.
constexpr const char* kDefaultRate = "100k";

struct ServeOptions {
  std::string listen = "127.0.0.1:7420";
  std::string buffer = "64MiB";
  bool once = false;
  bool quiet = false;
};

struct SimulateOptions {
  ServeOptions serve;
  std::string rate = kDefaultRate;
  std::string events;
  double seconds = 0;
  std::uint64_t seed = 1;
  std::uint32_t devices = 1;
  std::string detail = "full";
};

struct ReplayOptions {
  ServeOptions serve;
  std::string file;
  std::string format;
  std::string speed = "max";
};

int report(int status, const std::string& message) {
  fmt::print(stderr, "accelscope-agent: {}\n", message);
  return status;
}

int serve(const ServeOptions& options, const std::string& description, SourceFunction source) {
  const Result<Address> address = parse_address(options.listen);
  if (!address) return report(kWrongUsage, address.message());
  const Result<std::uint64_t> buffer = parse_size(options.buffer);
  if (!buffer) return report(kWrongUsage, "--buffer: " + buffer.message());
  const auto logger = spdlog::stderr_color_mt("accelscope-agent");
  logger->set_pattern("%H:%M:%S.%e %v");
  AgentOptions agent_options;
  agent_options.listen = address.value();
  agent_options.version = ACCELSCOPE_VERSION;
  agent_options.description = description;
  agent_options.once = options.once;
  agent_options.stop_on_signals = true;
  agent_options.outbox.buffer_bytes = buffer.value();
  if (!options.quiet) agent_options.log = [logger](const std::string& line) { logger->info("{}", line); };
  Result<std::unique_ptr<Agent>> agent = Agent::listen(std::move(agent_options), std::move(source));
  if (!agent) return report(kFailed, agent.message());
  // Scripts wait for this line, and read the port from it.
  fmt::print("listening on {}\n", agent.value()->address().text());
  std::fflush(stdout);
  const Result<void> served = agent.value()->run();
  return served ? kDone : report(kFailed, served.message());
}

int run_simulate(const SimulateOptions& options) {
  SimulationOptions simulation;
  const Result<double> rate = parse_rate(options.rate);
  if (!rate) return report(kWrongUsage, "--rate: " + rate.message());
  if (!options.events.empty()) {
    const Result<double> events = parse_rate(options.events);
    if (!events || !std::isfinite(events.value()) || events.value() < 1) {
      return report(kWrongUsage,
                    fmt::format("--events: '{}' is not a number of events; write 50M or 1000", options.events));
    }
    simulation.events = static_cast<std::uint64_t>(events.value());
  }
  simulation.rate_events_per_second = rate.value();
  simulation.seconds = options.seconds;
  simulation.seed = options.seed;
  simulation.devices = options.devices;
  simulation.detail = options.detail == "slim" ? Detail::slim : Detail::full;
  // Without a limit it runs until it is stopped.
  if (simulation.events == 0 && simulation.seconds == 0) simulation.kernels = ~std::uint64_t{0};
  const std::string description = fmt::format("simulated accelerator: {} device{}, seed {}", options.devices,
                                              options.devices == 1 ? "" : "s", options.seed);
  return serve(options.serve, description, [simulation](EventSink& sink) { return simulate(simulation, sink); });
}

int run_replay(const ReplayOptions& options) {
  const Result<double> speed = parse_rate(options.speed);
  if (!speed || speed.value() <= 0) {
    return report(kWrongUsage, fmt::format("--speed: '{}' is not a speed; write 1.0, 0.5 or max", options.speed));
  }
  const Result<const SourceFormat*> format =
      options.format.empty() ? guess_format(options.file) : find_format(options.format);
  if (!format) return report(kFailed, format.message());
  const std::string name = std::filesystem::path(options.file).filename().string();
  return serve(options.serve, fmt::format("{} ({})", name, format.value()->title),
               [path = options.file, format = format.value(), speed = speed.value()](EventSink& sink) -> Result<void> {
                 if (!std::isfinite(speed)) return format->run(path, {}, sink);
                 PacedSink paced(sink, speed);
                 return format->run(path, {}, paced);
               });
}

class CountingSink final : public EventSink {
 public:
  Result<void> define(const Definition& /*definition*/) override { return {}; }
  Result<void> append(SealedChunk chunk) override {
    events += chunk.count;
    return {};
  }
  std::uint64_t events = 0;
};

Result<std::string> check_listening(const std::string& listen) {
  const Result<Address> address = parse_address(listen);
  if (!address) return address.error();
  Loop loop;
  Result<std::unique_ptr<Listener>> listener = Listener::open(loop, address.value(), {});
  if (!listener) return listener.error();
  return "can listen on " + listener.value()->address().text();
}

Result<std::string> check_simulator() {
  CountingSink sink;
  SimulationOptions options;
  options.kernels = 1;
  if (Result<void> done = simulate(options, sink); !done) return done.error();
  return fmt::format("the simulated accelerator runs ({} events in a kernel)", format_count(sink.events));
}

Result<std::string> list_formats() {
  std::string names;
  for (const SourceFormat& format : source_formats()) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", format.title, format.name);
  }
  return "can replay " + names;
}

int run_doctor(const std::string& listen) {
  fmt::print("accelscope-agent {}, protocol {}.{}\n", ACCELSCOPE_VERSION, kProtocolMajor, kProtocolMinor);
  const std::vector<std::function<Result<std::string>()>> checks = {[&listen] { return check_listening(listen); },
                                                                    check_simulator, list_formats};
  int status = kDone;
  for (const auto& check : checks) {
    const Result<std::string> found = check();
    fmt::print("{}  {}\n", found ? "ok    " : "failed", found ? found.value() : found.message());
    if (!found) status = kFailed;
  }
  return status;
}

void add_serve_options(CLI::App& command, ServeOptions& options) {
  command.add_option("--listen", options.listen, "HOST:PORT to listen on; port 0 takes any free one")
      ->capture_default_str();
  command.add_option("--buffer", options.buffer, "memory to keep for a viewer that is behind")->capture_default_str();
  command.add_flag("--once", options.once, "end after the first capture");
  command.add_flag("--quiet", options.quiet, "no messages about connections");
}

CLI::App* add_simulate(CLI::App& app, SimulateOptions& options) {
  CLI::App* command = app.add_subcommand("simulate", "stream a simulated accelerator; needs no hardware");
  add_serve_options(*command, options.serve);
  command->add_option("--rate", options.rate, "events per second (2M, 100k), or max")->capture_default_str();
  command->add_option("--seconds", options.seconds, "end after so long")->check(CLI::NonNegativeNumber);
  command->add_option("--events", options.events, "end after so many events (50M)");
  command->add_option("--seed", options.seed, "the same seed makes the same events")->capture_default_str();
  command->add_option("--devices", options.devices, "NeuronCores")->check(CLI::Range(1, 64))->capture_default_str();
  command->add_option("--detail", options.detail, "full: all tables; slim: one table of six columns, made for rate")
      ->check(CLI::IsMember({"full", "slim"}))
      ->capture_default_str();
  command->footer("Example:\n  accelscope-agent simulate --rate 200k --seconds 60 --listen 127.0.0.1:7420");
  return command;
}

CLI::App* add_replay(CLI::App& app, ReplayOptions& options) {
  CLI::App* command = app.add_subcommand("replay", "stream a file as if it were captured now");
  add_serve_options(*command, options.serve);
  command->add_option("file", options.file, "a session file, or any file that can be imported")->required();
  command->add_option("--format", options.format, "the file's format, if its content does not tell");
  command->add_option("--speed", options.speed, "1.0: as it was captured; max: as fast as possible")
      ->capture_default_str();
  command->footer("Example:\n  accelscope-agent replay profile.json --speed 1.0");
  return command;
}

}  // namespace

int run_agent_command(int argc, const char* const* argv) {
  CLI::App app("Streams what an accelerator does to an Accelscope viewer over TCP.", "accelscope-agent");
  app.set_version_flag("--version", ACCELSCOPE_VERSION);
  app.require_subcommand(1);
  app.footer("Example:\n  accelscope-agent simulate --listen 127.0.0.1:7420\n  accelscope 127.0.0.1:7420");
  SimulateOptions simulate_options;
  ReplayOptions replay_options;
  std::string doctor_listen = ServeOptions{}.listen;
  const CLI::App* simulate_command = add_simulate(app, simulate_options);
  const CLI::App* replay_command = add_replay(app, replay_options);
  CLI::App* doctor_command = app.add_subcommand("doctor", "what works on this host, and what is missing");
  doctor_command->add_option("--listen", doctor_listen, "HOST:PORT to try")->capture_default_str();
  doctor_command->footer("Example:\n  accelscope-agent doctor");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& shown) {  // --help, --version
    return app.exit(shown);
  } catch (const CLI::ParseError& wrong) {
    return report(kWrongUsage, fmt::format("{}; see accelscope-agent --help", wrong.what()));
  }
  if (simulate_command->parsed()) return run_simulate(simulate_options);
  if (replay_command->parsed()) return run_replay(replay_options);
  return run_doctor(doctor_listen);
}

}  // namespace accelscope::capture
