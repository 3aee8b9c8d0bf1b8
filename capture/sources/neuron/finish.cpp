// The end of a Neuron import: time unit, what is derived from whole tables, the sorted events, and the quality report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "capture/sources/base/source_finder.h"
#include "capture/sources/neuron/importer.h"
#include "capture/sources/tracks/track_events.h"
#include "core/analysis/selection/summary.h"

namespace accelscope::capture::sources::neuron {

Result<void> NeuronImporter::finish() {
  if (first_ticks_ > last_ticks_) first_ticks_ = last_ticks_ = 0;
  settle_bounds();
  settle_time_unit();
  cores_.settle(facts_.physical_cores(), facts_.core_number());
  derive_trigger_flows();
  derive_memory();
  facts_.write(writer_, report_, path_, is_parquet_ ? "neuron-parquet" : "neuron-json", cores_);
  for (const auto& [table, rows] : row_counts_)
    set_row_counts(writer_, table, rows, rows - std::min(rows, report_.skipped_rows(table)));
  if (const Result<void> written = write_tables(); !written) return written;
  frames_.collect_files(source_files_);
  add_source_files(source_files_, options_.source_roots, "the profile names", writer_);
  report_quality();
  report_bindings();
  report_.write(writer_);
  return writer_.finish();
}

void NeuronImporter::settle_bounds() {
  std::vector<tracks::SketchedTrack> known;
  for (const tracks::TimeSketch& sketch : sketches_) known.push_back({&sketch, false});
  bounds_ = tracks::bounds_of(known, 1);
  if (bounds_.hold(first_ticks_, 0) && bounds_.hold(last_ticks_, 0)) return;
  first_ticks_ = extremes_.first_within(bounds_).value_or(0);
  last_ticks_ = std::max(first_ticks_, extremes_.last_within(bounds_).value_or(0));
}

// The file is in ns if its last event ends at the last time stamp that the hardware gave; some exports are said to be
// in ps. Ticks are kept as they are; a clock then says how long they last.
void NeuronImporter::settle_time_unit() {
  // A system profile counts from 1970, a session from its own beginning.
  constexpr std::int64_t kUnixTimes = 1'000'000'000'000'000'000;  // ns: 2001
  if (first_ticks_ >= kUnixTimes) {
    clock_ = writer_.add_clock({.name = "system (since 1970)", .anchors = {{first_ticks_, 0}}});
    writer_.set_meta("begin_unix_ns", fmt::format("{}", first_ticks_));
    return;
  }
  const std::optional<std::int64_t> stated = facts_.last_hw_timestamp();
  writer_.set_meta(kCutTimesFact, "yes");
  if (!stated || *stated <= 0 || last_ticks_ <= 0) return;
  constexpr double kTolerance = 0.02;
  const double ratio = static_cast<double>(last_ticks_) / static_cast<double>(*stated);
  if (std::fabs(ratio / 1000 - 1) < kTolerance) {
    ticks_per_ns_ = 1000;
    writer_.set_meta(kCutTimesFact, "");
    clock_ = writer_.add_clock({.name = "profile (ps)", .ticks_per_ns = 1000});
    report_.note("time_unit",
                 "the times of the file are picoseconds: its last event ends at a thousand times the last "
                 "hardware time stamp; they were converted");
  } else if (std::fabs(ratio - 1) > kTolerance) {
    report_.note(
        "time_check",
        fmt::format("the last event ends at {} but the file states {} as the last hardware time stamp; times are "
                    "taken as ns, rows may be missing",
                    last_ticks_, *stated));
  }
}

void NeuronImporter::derive_trigger_flows() {
  if (has_flow_table_) return;
  constexpr std::size_t in_id = neuron_column(NeuronTable::flow, "in_id");
  constexpr std::size_t out_id = neuron_column(NeuronTable::flow, "out_id");
  const StringId type = writer_.intern("DMA_TRIGGER");
  triggers_.links([&](std::uint64_t instruction, std::uint64_t transfer, std::int64_t start) {
    ImportTable& flows = table(NeuronTable::flow);
    EventSorter& sorter = flows.sorter();
    sorter.begin();
    sorter.unsigned_integer(in_id, instruction);
    sorter.unsigned_integer(out_id, transfer);
    sorter.commit(flows.track(plan_, "flow", "", "Dependencies", -1), start, 0, type);
  });
}

// Device memory: tensors of the program lie there all the time; spilled ones from their save to their last reload.
void NeuronImporter::derive_memory() {
  const std::vector<SpillLifetimes::Block> spills = spills_.blocks();
  if (spills.empty() && static_tensors_.empty()) return;
  ImportTable& memory = table(NeuronTable::memory);
  constexpr std::size_t bytes = neuron_column(NeuronTable::memory, "allocation_bytes");
  constexpr std::size_t tensor = neuron_column(NeuronTable::memory, "tensor");
  constexpr std::size_t pool = neuron_column(NeuronTable::memory, "pool");
  EventSorter& sorter = memory.sorter();
  const auto add = [&](std::string_view where, std::string_view name, std::int64_t begin, std::int64_t end,
                       std::int64_t size) {
    sorter.begin();
    sorter.integer(bytes, size);
    sorter.string(tensor, writer_.intern(name));
    sorter.string(pool, writer_.intern(where));
    const std::uint32_t track = memory.track(plan_, "memory", "", where, -1);
    sorter.commit(track, begin, std::max<std::int64_t>(end - begin, 0), writer_.intern(name));
  };
  for (const StaticTensor& known : static_tensors_) {
    add("HBM tensors", known.name, first_ticks_, last_ticks_, known.bytes);
  }
  for (const SpillLifetimes::Block& block : spills)
    add("Scratchpad", block.variable, block.begin, block.end, block.bytes);
  if (!spills.empty()) {
    report_.note(
        "memory_estimated",
        "device memory of spilled tensors is estimated from the DMA transfers that save and reload them; for the "
        "allocations themselves capture with --enable-dge-notifs and view with --enable-memory-tracker",
        spills.size());
  }
  if (!static_tensors_.empty()) {
    report_.note(
        "memory_estimated",
        "inputs, outputs and weights are shown in device memory from the first to the last event: the file has "
        "their sizes but not their lifetimes",
        static_tensors_.size());
  }
}

Result<void> NeuronImporter::write_tables() {
  const double macs_per_ns = facts_.peak_macs_per_ns();
  const auto& instructions = tables_[static_cast<std::size_t>(NeuronTable::instruction)];
  ImportTable* const utilization =
      instructions != nullptr && macs_per_ns > 0 ? &table(NeuronTable::pe_utilization) : nullptr;
  plan_.settle(cores_);
  std::map<std::int64_t, std::uint32_t> utilization_tracks;
  if (utilization != nullptr) {
    // One for each physical core that has instructions; cores without matrix work get no samples.
    for (std::uint32_t track = 0, count = static_cast<std::uint32_t>(plan_.size()); track < count; ++track) {
      if (plan_.schema(track) != instructions->number()) continue;
      const std::int64_t core = plan_.core(track);
      utilization_tracks.emplace(core, utilization->track(plan_, "counter", "PE utilisation (estimated)", "", core));
      utilization_.try_emplace(core, first_ticks_, last_ticks_, ticks_per_ns_, macs_per_ns);
    }
  }
  plan_.write(writer_, cores_, clock_);
  for (const auto& into : tables_) {
    if (into == nullptr) continue;
    ImportTable::Visitor visitor;
    if (into == instructions) {
      visitor = [this, from = into.get(), elements = into->column("elements"),
                 stack_ids = into->column("stack_frame_ids"),
                 stacks = into->column("stack_frames")](const SortedEvent& event, Row& row) {
        if (!frames_.empty() && event.has(stack_ids) && !event.has(stacks)) {
          row.string(stacks, stack_of(static_cast<StringId>(event.uint64(stack_ids))));
        }
        if (!utilization_.empty() && event.has(elements)) {
          utilization_.at(plan_.core(event.track)).add(event.start, event.duration, event.int64(elements));
        }
      };
    }
    if (const Result<void> written = into->write(plan_, writer_, bounds_, ticks_per_ns_, visitor); !written)
      return written;
  }
  for (const auto& [json_name, into] : inferred_) {
    if (const Result<void> written = into->write(plan_, writer_, bounds_, ticks_per_ns_, {}); !written) return written;
  }
  for (const auto& [core, shares] : utilization_) {
    const TrackNumber track = plan_.written(utilization_tracks.at(core));
    if (shares.empty()) continue;
    shares.samples([&](std::int64_t ticks, double share) { writer_.sample(track, ticks, share); });
    report_.note(
        "utilization_estimated",
        "the use of the systolic array over time is computed from the elements of the matrix multiplications and "
        "the clock that the file states");
  }
  return writer_.status();
}

StringId NeuronImporter::stack_of(StringId frame_ids) {
  const auto known = stacks_.find(frame_ids);
  if (known != stacks_.end()) return known->second;
  const auto text = stack_texts_.find(frame_ids);
  const StringId stack = text == stack_texts_.end() ? 0 : writer_.intern(frames_.resolve(text->second));
  stacks_.emplace(frame_ids, stack);
  return stack;
}

void NeuronImporter::report_quality() {
  if (counts_.undescribed_packets > 0) {
    report_.note(
        "missing_dge_notifications",
        fmt::format("{} of {} DMA packets have no tensor, source or destination: they were described while running "
                    "and their notifications were not captured. Tensors loaded twice, spills, transfers by tensor, "
                    "what waits for which transfer and dma_transfer_count are told of the other {} alone; bytes and "
                    "times of packets, and all of the engines, are whole. Capture again with neuron-profile capture "
                    "--enable-dge-notifs, or set NEURON_RT_ENABLE_DGE_NOTIFICATIONS=1",
                    counts_.undescribed_packets, counts_.packets, counts_.packets - counts_.undescribed_packets),
        counts_.undescribed_packets);
  }
  if (counts_.without_location > 0) {
    report_.note(
        QualityKind("missing_source_locations")
            .as(counts_.without_location == counts_.instructions ? Severity::warning : Severity::note),
        fmt::format("{} of {} instructions name no line of source. Set NEURON_FRAMEWORK_DEBUG=1 before compiling "
                    "(and XLA_IR_DEBUG=1 XLA_HLO_DEBUG=1 for lines of the framework), then compile and capture "
                    "again",
                    counts_.without_location, counts_.instructions),
        counts_.without_location);
  }
  for (const auto& [core, last] : last_pending_) {
    if (last.value == 0) continue;
    report_.note("pending_dma_open",
                 fmt::format("the count of pending DMA transfers ends at {} and not at 0: completions of transfers "
                             "described while running were not captured, so the curve is too high. Capture with "
                             "--enable-dge-notifs",
                             last.value),
                 static_cast<std::uint64_t>(std::abs(last.value)));
  }
  report_coverage();
  report_.note("duplicate_dma",
               "DMA rows that the file marks as duplicates of others; sums over all rows count them twice",
               counts_.duplicate_moves);
  std::uint64_t doubtful = 0;
  for (const auto& into : tables_) doubtful += into == nullptr ? 0 : into->doubtful();
  for (const auto& [json_name, into] : inferred_) doubtful += into->doubtful();
  report_.note("impossible_times", std::string(tracks::kDoubtfulTimesAreSetAside), doubtful);
  report_.note("negative_durations", "events that end before they begin; they are shown with a duration of 0",
               counts_.negative_durations);
}

// The vendor's own sum of what was moved, where it says more than the transfers that it lists.
void NeuronImporter::report_coverage() {
  const std::optional<double> stated = facts_.summary_number("dma_transfer_total_bytes");
  constexpr double kLeastCovered = 0.95;
  const auto listed = static_cast<double>(counts_.transfer_bytes);
  if (!stated || !(*stated > 0) || listed >= kLeastCovered * *stated) return;
  report_.note("transfers_incomplete",
               fmt::format("the transfers that the profile lists move {:.0f} bytes, {:.1f} % of the {:.0f} that its "
                           "summary states: sums over them are too small. The packets are complete; capture with "
                           "--enable-dge-notifs",
                           listed, 100 * listed / *stated, *stated));
}

void NeuronImporter::report_bindings() {
  const auto report = [&](const std::string& name, const BindingCounts& counts) {
    if (counts.unknown_keys > 0) {
      report_.note(
          "unknown_fields",
          fmt::format("values of fields of \"{}\" that this version has no column for, such as {}; they are kept "
                      "in its column \"extra\"",
                      name, counts.first_unknown_key.substr(0, 80)),
          counts.unknown_keys);
    }
    if (counts.wrong_types > 0) {
      report_.note("wrong_types",
                   fmt::format("values of \"{}\" that do not fit their column, such as one of {}; they are kept in its "
                               "column \"extra\"",
                               name, counts.first_wrong_type.substr(0, 80)),
                   counts.wrong_types);
    }
    if (counts.duplicate_keys > 0) {
      report_.note("duplicate_keys",
                   fmt::format("keys that come twice in one row of \"{}\"; the last one counts", name),
                   counts.duplicate_keys);
    }
    if (counts.not_finite > 0) {
      report_.note("not_finite", fmt::format("NaN or infinite values in \"{}\"; they are shown as no value", name),
                   counts.not_finite);
    }
  };
  for (const auto& into : tables_) {
    if (into != nullptr) report(into->schema().name, into->binding().counts());
  }
  for (const auto& [json_name, into] : inferred_) {
    report(into->schema().name, into->binding().counts());
    // Frames are read into stacks, and kept as tables beside.
    if (StackFrames::is_frame_table(json_name) || find_plain_table(json_name) != nullptr) continue;
    report_.note(
        "unknown_table",
        fmt::format("the table \"{}\" is not known to this version; its columns were inferred from its first rows",
                    json_name.substr(0, 80)),
        into->sorter().event_count());
  }
}

}  // namespace accelscope::capture::sources::neuron
