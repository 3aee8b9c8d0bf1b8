// The events of a system profile: their rows, and what is derived from all of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "capture/sources/chrome/read/row_reader.h"
#include "capture/sources/neuron/importer.h"
#include "core/base/capped.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

[[nodiscard]] SystemCore core_of(const BoundRow& row) {
  return {std::string(row.text("instance_id")), row.integer("process_id").value_or(-1),
          row.integer("lnc_idx").value_or(-1), row.integer("worker_gid").value_or(-1)};
}

[[nodiscard]] SystemSource source_of(NeuronTable kind, const BoundRow& row) {
  if (kind == NeuronTable::framework_event) return SystemSource::framework;
  const std::array<json::JsonField, 2> told = {
      {{"group", row.text("group"), json::JsonKind::string}, {"name", row.name, json::JsonKind::string}}};
  return system_source(told);
}

// Whole numbers of a list, or of a text with other characters between.
template <typename Visit>
void each_number(std::string_view text, Visit&& visit) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::uint64_t number = 0;
    const auto [next, failure] = std::from_chars(at, end, number);
    if (failure == std::errc()) visit(number);
    at = next == at ? at + 1 : next;
  }
}

// "DMA rings IO" of "dma_rings_io".
[[nodiscard]] std::string category_title(std::string_view category) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords = {{{"dma", "DMA"},
                                                                                    {"io", "IO"},
                                                                                    {"dram", "DRAM"},
                                                                                    {"gpsimd", "GpSimd"},
                                                                                    {"stdio", "STDIO"},
                                                                                    {"ucode", "microcode"}}};
  std::string title;
  while (!category.empty()) {
    const std::string_view word = category.substr(0, category.find('_'));
    category.remove_prefix(std::min(category.size(), word.size() + 1));
    const auto* const known = std::ranges::find(kWords, word, [](const auto& each) { return each.first; });
    if (!title.empty()) title += ' ';
    title += known == kWords.end() ? word : known->second;
  }
  return title;
}

constexpr std::string_view kSourceWords[] = {"framework", "runtime", "hardware"};

}  // namespace

std::uint32_t NeuronImporter::track_of_call(ImportTable& into, NeuronTable kind, const BoundRow& row) {
  const SystemSource source = source_of(kind, row);
  const std::string host(row.text("instance_id"));
  const std::string process = fmt::format("process {}", row.text("process_id"));
  const auto planned = [&](SchemaNumber schema, std::string_view track_kind, const std::string& key,
                           const std::string& title, std::uint32_t parent) {
    const auto [known, is_new] = call_tracks_.try_emplace(key, 0);
    if (is_new) {
      known->second = plan_.track(schema, track_kind, key);
      plan_.set_host(known->second, host);
      plan_.set_title(known->second, title);
      if (parent != kNone) plan_.set_parent(known->second, parent);
    }
    return known->second;
  };
  const std::string of_process = fmt::format("{} {}", host, process);
  if (source == SystemSource::hardware) {
    const HardwareRow shown = hardware_row(row.name);
    const std::uint32_t core = system_.cores.find(core_of(row));
    const std::uint32_t track = planned(into.number(), shown.kind, fmt::format("{} core {} {}", host, core, shown.name),
                                        std::string(shown.name), kNone);
    system_.core_tracks[track] = core;
    return track;
  }
  // Framework and runtime show the same thread, so their rows differ in the last word alone.
  const std::string_view word = kSourceWords[static_cast<std::size_t>(source)];
  const std::string thread = fmt::format(" thread {} {}", row.text("thread_id"), word);
  if (const auto known = call_tracks_.find(of_process + thread); known != call_tracks_.end()) return known->second;
  const std::uint32_t above = planned(kNone, "host_thread", of_process, process, kNone);
  const std::uint32_t part =
      planned(kNone, "host_thread", fmt::format("{} {}", of_process, word), fmt::format("{} {}", process, word), above);
  return planned(into.number(), "host_thread", of_process + thread, process + thread, part);
}

void NeuronImporter::look_at_call(NeuronTable kind, ImportTable& into, const BoundRow& row) {
  const SystemSource source = source_of(kind, row);
  const std::int64_t end = *row.start + *row.duration;
  const SystemCore core = core_of(row);
  const json::JsonField* key = row.get("id");
  const std::optional<std::uint64_t> id = key == nullptr ? std::nullopt : json::to_uint64(*key);
  if (const std::string_view list = row.text("flow_id"); id && !list.empty()) {
    const std::uint32_t process = system_.cores.find({core.instance, core.process});
    each_number(list, [&](std::uint64_t flow) { system_.flows.add(process, flow, *row.start, source, *id); });
  }
  if (source == SystemSource::framework) {
    const auto place = chrome::parse_code_place(row.name);
    if (!place) return;
    const std::string location = fmt::format("{}:{}", place->file, place->line);
    into.sorter().string(into.column("source_location"), writer_.intern(location));
    remember_location(location);
    return;
  }
  if (source == SystemSource::hardware) {
    if (row.name != kExecutionEvent) return;
    ProfileExecution times{*row.start, *row.duration, {}};
    const auto device = row.integer("nc_timestamp_ns");
    const auto cpu = row.integer("cpu_timestamp_ns");
    if (device && cpu) times.device_behind_ns = capped_difference(*cpu, *device);
    system_.executions.push_back({system_.cores.find(core), row.integer("model_id").value_or(-1), times});
    return;
  }
  const auto direction = HostTransfers::direction_of(row.name);
  if (!direction) return;
  const std::string thread = fmt::format("{} {} {}", core.instance, core.process, row.text("thread_id"));
  const std::uint32_t number =
      system_.threads.try_emplace(thread, static_cast<std::uint32_t>(system_.threads.size())).first->second;
  const std::int64_t size = row.integer("size").value_or(0);
  const std::int64_t bytes = size > 0 ? size : row.integer("total_size").value_or(0);
  system_.transfers.add(
      {number, system_.cores.find(core), *direction, *row.start, end, std::max<std::int64_t>(bytes, 0)});
}

void NeuronImporter::derive_system_flows() {
  constexpr std::size_t in_id = neuron_column(NeuronTable::flow, "in_id");
  constexpr std::size_t out_id = neuron_column(NeuronTable::flow, "out_id");
  const StringId type = writer_.intern("FLOW");
  system_.flows.links([&](std::uint64_t from, std::uint64_t to, std::int64_t start) {
    ImportTable& flows = table(NeuronTable::flow);
    EventSorter& sorter = flows.sorter();
    sorter.begin();
    sorter.unsigned_integer(in_id, from);
    sorter.unsigned_integer(out_id, to);
    sorter.commit(flows.track(plan_, "flow", "", "Dependencies", CorePlan::kWhole), start, 0, type);
  });
}

void NeuronImporter::derive_host_transfers() {
  std::array<std::int64_t, 2> all{};
  const auto state = [&](TransferDirection direction, std::int64_t bytes, const std::string& device) {
    const bool in = direction == TransferDirection::to_device;
    writer_.add_metric({.name = in ? "host_to_device_bytes" : "device_to_host_bytes",
                        .group = "data_movement",
                        .value = static_cast<double>(bytes),
                        .unit = "B",
                        .text = {},
                        .device = device});
  };
  for (auto& [place, pieces] : system_.transfers.pieces(system_.cores)) {
    std::erase_if(pieces, [&](const auto& piece) { return !bounds_.hold(piece.start, piece.end - piece.start); });
    const auto& [core, direction] = place;
    ImportTable& rates = table(NeuronTable::host_transfer);
    const std::string name(sources::neuron::name_of(direction));
    const std::uint32_t track =
        rates.track(plan_, "counter", "", fmt::format("{} core {} {}", system_.cores.core(core).instance, core, name),
                    CorePlan::kWhole);
    plan_.set_host(track, system_.cores.core(core).instance);
    plan_.set_title(track, name);
    system_.core_tracks[track] = core;
    for (const HostTransfers::Step& step : HostTransfers::steps(pieces)) {
      rates.sorter().begin();
      rates.sorter().real(0, step.rate);
      rates.sorter().commit(track, step.time, 0, 0);
    }
    std::int64_t bytes = 0;
    for (const HostTransfers::Call& piece : pieces) bytes = capped_sum(bytes, piece.bytes);
    std::int64_t& of_all = all[static_cast<std::size_t>(direction)];
    of_all = capped_sum(of_all, bytes);
    if (const std::string device = system_.cores.device(core); !device.empty()) state(direction, bytes, device);
  }
  for (const TransferDirection direction : {TransferDirection::to_device, TransferDirection::to_host}) {
    if (all[static_cast<std::size_t>(direction)] > 0) state(direction, all[static_cast<std::size_t>(direction)], "");
  }
}

// Each category is a counter, and a block of the memory tracker that is as large as its last sample.
void NeuronImporter::derive_hbm_usage() {
  constexpr std::size_t bytes = neuron_column(NeuronTable::memory, "allocation_bytes");
  constexpr std::size_t tensor = neuron_column(NeuronTable::memory, "tensor");
  constexpr std::size_t pool = neuron_column(NeuronTable::memory, "pool");
  system_.hbm.settle();
  for (const auto& [memory, categories] : system_.hbm.memories()) {
    const std::string device = fmt::format("nd{}", memory.device);
    const std::string name = fmt::format("HBM {}", memory.number);
    const auto planned = [&](ImportTable& into, std::string_view kind, const std::string& title) {
      const std::uint32_t track =
          into.track(plan_, kind, fmt::format("{} {} ", memory.instance, device), title, CorePlan::kWhole);
      plan_.set_host(track, memory.instance);
      plan_.set_device(track, device);
      plan_.set_title(track, title);
      return track;
    };
    std::int64_t most = 0;
    for (const auto& [category, samples] : categories) {
      const bool is_total = category == "total";
      const std::string title = category_title(category);
      ImportTable& usage = table(NeuronTable::hbm_usage);
      const std::uint32_t counter = planned(usage, "counter", fmt::format("{} {}", name, title));
      for (std::size_t i = 0; i < samples.size(); ++i) {
        if (is_total) most = std::max(most, samples[i].bytes);
        usage.sorter().begin();
        usage.sorter().integer(0, samples[i].bytes);
        usage.sorter().commit(counter, samples[i].time, 0, 0);
      }
      ImportTable& blocks = table(NeuronTable::memory);
      for (std::size_t first = 0; first < samples.size() && !is_total;) {
        std::size_t next = first + 1;
        while (next < samples.size() && samples[next].bytes == samples[first].bytes) ++next;
        const std::int64_t end =
            next < samples.size() ? samples[next].time : std::max(last_ticks_, samples[first].time + 1);
        if (samples[first].bytes > 0) {
          EventSorter& sorter = blocks.sorter();
          sorter.begin();
          sorter.integer(bytes, samples[first].bytes);
          sorter.string(tensor, writer_.intern(title));
          sorter.string(pool, writer_.intern(name));
          sorter.commit(planned(blocks, "memory", name), samples[first].time, end - samples[first].time,
                        writer_.intern(title));
        }
        first = next;
      }
    }
    if (system_.hbm_capacity >= most && most > 0)
      writer_.set_meta(fmt::format("capacity.{} {}", device, name), std::to_string(system_.hbm_capacity));
    report_.note(
        "memory_estimated",
        "the use of HBM by category is sampled: it is shown as it was at the last sample, and what was taken and "
        "given back between two samples is not seen");
  }
}

void NeuronImporter::name_cores() {
  for (const auto& [track, core] : system_.core_tracks) plan_.set_device(track, system_.cores.device(core));
  state_executions();
}

// Where the device profiles of the same run lie among the executions of their cores.
void NeuronImporter::state_executions() {
  constexpr std::size_t kMostExecutions = 1000;  // the first runs are those that are profiled
  std::ranges::sort(system_.executions, {},
                    [](const SystemProfile::Execution& each) { return each.times.begin_unix_ns; });
  for (const SystemProfile::Listed& profile : system_.listed) {
    std::vector<ProfileExecution> of_model, of_core;
    for (const SystemProfile::Execution& execution : system_.executions) {
      const SystemCore& core = system_.cores.core(execution.core);
      if (core.instance != profile.instance || core.process != profile.process || core.number != profile.core) continue;
      if (of_core.size() < kMostExecutions) of_core.push_back(execution.times);
      if (execution.model == profile.model && profile.model >= 0 && of_model.size() < kMostExecutions)
        of_model.push_back(execution.times);
    }
    writer_.set_meta(executions_fact(profile.name, profile.model),
                     executions_text(of_model.empty() ? of_core : of_model));
  }
}

}  // namespace accelscope::capture::sources::neuron
