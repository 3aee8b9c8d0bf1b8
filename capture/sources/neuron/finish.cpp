// The end of a Neuron import: time unit, what is derived from whole tables, the sorted events, and the quality report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "capture/sources/base/source_finder.h"
#include "capture/sources/base/tar_reader.h"
#include "capture/sources/neuron/importer.h"
#include "capture/sources/tracks/track_events.h"
#include "core/analysis/selection/summary.h"

namespace accelscope::capture::sources::neuron {
namespace fs = std::filesystem;

Result<void> NeuronImporter::finish() {
  if (first_ticks_ > last_ticks_) first_ticks_ = last_ticks_ = 0;
  settle_bounds();
  settle_time_unit();
  cores_.settle(facts_.physical_cores(), facts_.core_number());
  derive_trigger_flows();
  derive_memory();
  derive_system_flows();
  derive_host_transfers();
  derive_hbm_usage();
  name_cores();
  facts_.write(writer_, report_, path_, format_, cores_);
  for (const auto& [table, rows] : row_counts_) {
    const auto name = names_counted_.find(table);
    const std::uint64_t skipped = report_.skipped_rows(name == names_counted_.end() ? table : name->second);
    set_row_counts(writer_, table, rows, rows - std::min(rows, skipped));
  }
  if (const Result<void> written = write_tables(); !written) return written;
  frames_.collect_files(source_files_);
  kernel_calls_.collect_files(source_files_);
  add_source_files(source_files_, options_.source_roots, "the profile names", writer_, {}, read_source_archive());
  report_quality();
  report_bindings();
  report_.write(writer_);
  return writer_.finish();
}

// The files of the archive beside the tables that the profile may name. They are found by their names and never
// written, so it does not matter where a member claims to lie.
std::vector<SourceFile> NeuronImporter::read_source_archive() {
  constexpr std::uint64_t kMostUnpacked = std::uint64_t{1} << 30;
  constexpr std::uint64_t kMostRetained = 256U << 20;
  std::vector<SourceFile> files;
  std::error_code unknown;
  if (source_archive_.empty() || !fs::exists(source_archive_, unknown)) return files;
  if (source_files_.empty()) {
    report_.note("files_skipped",
                 fmt::format("{} beside the tables: the profile names no source file", kSourceArchive));
    return files;
  }
  std::set<std::string> wanted;
  for (const std::string& name : source_files_) wanted.insert(fs::path(name).filename().string());
  const auto read = [&]() -> Result<void> {
    TarReader archive(TRY(json::ByteSource::open(source_archive_)), source_archive_, "copy it again");
    ArchiveMember member;
    std::uint64_t retained = 0;
    for (std::size_t looked_at = 0; !writer_.cancelled() && TRY(archive.next(member)); ++looked_at) {
      const bool is_wanted = member.is_file && wanted.contains(fs::path(member.path).filename().string());
      if (looked_at >= kMostSourceFiles || archive.unpacked_bytes() + member.size > kMostUnpacked)
        return Error{fmt::format("{}: holds more than {} files, or {} MiB", source_archive_, kMostSourceFiles,
                                 kMostUnpacked >> 20U)};
      if (!is_wanted || member.size > kMostSourceBytes || retained + member.size > kMostRetained) continue;
      retained += member.size;
      std::string text = TRY(archive.content());
      files.push_back({member.path, std::move(text)});
    }
    return {};
  };
  if (const Result<void> done = read(); !done) {
    report_.note(QualityKind("files_skipped").as(Severity::warning),
                 done.message() +
                     "; source files behind that were not read: unpack it, and name its folder with "
                     "--source-root");
  }
  return files;
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
  settle_device_unit();
  if (first_ticks_ == last_ticks_) return;
  const std::int64_t first_ns = first_ticks_ / ticks_per_ns_;
  const auto begun = facts_.first_unix_ns();
  // Times of the device's own clock, which has run for days, would make the session as long.
  constexpr std::int64_t kLongestNs = std::int64_t{3600} * 1'000'000'000;
  const std::int64_t zero_ns = options_.beside_others && first_ns > kLongestNs ? first_ns : 0;
  if (clock_ == kNone && (begun || options_.beside_others)) {
    clock_ = writer_.add_clock({.name = "profile", .anchors = {{zero_ns, 0}}});
  }
  if (begun) {
    // The date is that of the first time stamp of the hardware.
    const std::int64_t stated = facts_.first_hw_timestamp().value_or(first_ns);
    const std::int64_t at = stated >= 0 && stated <= first_ns ? stated : first_ns;
    writer_.set_meta("begin_unix_ns", std::to_string(*begun - (at - zero_ns)));
  } else if (options_.beside_others) {
    writer_.set_meta(own_span_fact(facts_.profile_name()),
                     own_span_text(first_ns, last_ticks_ / ticks_per_ns_, zero_ns));
  }
}

void NeuronImporter::settle_device_unit() {
  const std::optional<std::int64_t> stated = facts_.last_hw_timestamp();
  writer_.set_meta(analysis::kCutTimesFact, "yes");
  if (!stated || *stated <= 0 || last_ticks_ <= 0) return;
  constexpr double kTolerance = 0.02;
  const double ratio = static_cast<double>(last_ticks_) / static_cast<double>(*stated);
  if (std::fabs(ratio / 1000 - 1) < kTolerance) {
    ticks_per_ns_ = 1000;
    writer_.set_meta(analysis::kCutTimesFact, "");
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
  if (first_ticks_ == last_ticks_) static_tensors_.clear();  // of a program without a run
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
    if (into == instructions) visitor = instruction_visitor(*into);
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

// What other tables say of an instruction, where its own row does not.
ImportTable::Visitor NeuronImporter::instruction_visitor(ImportTable& instructions) {
  struct Columns {
    std::size_t elements, stack_ids, stacks, other_stacks, kernel_name, core, loop, source, bir_source;
    std::size_t framework_id, layer, hlo_id, hlo, penguin_id, penguin, bir_id, bir;
  };
  const auto at = [&](std::string_view name) { return instructions.column(name); };
  const Columns columns{at("elements"),
                        at("stack_frame_ids"),
                        at("stack_frames"),
                        at("other_stack_frames"),
                        at("kernel_instruction_name"),
                        at("pcore_idx"),
                        at("loop_variables"),
                        at("nki_source_location"),
                        at("bir_debug_info_source_location"),
                        at("raw_framework_id"),
                        at("layer"),
                        at("raw_hlo_id"),
                        at("hlo_name"),
                        at("raw_penguin_id"),
                        at("penguin_name"),
                        at("raw_bir_id"),
                        at("bir_instruction_name")};
  return [this, columns](const SortedEvent& event, Row& row) {
    const auto fill = [&](std::size_t column, StringId text) {
      const bool fills = text != 0 && (!event.has(column) || event.uint64(column) == 0);
      if (fills) row.string(column, text);
      return fills;
    };
    StringId ids = 0, kernel_name = 0;  // of its stacks
    if (!frames_.empty() && event.has(columns.stack_ids)) {
      ids = static_cast<StringId>(event.uint64(columns.stack_ids));
      if (const StringId others = stack_of(ids).others; others != 0) row.string(columns.other_stacks, others);
    }
    const std::int64_t core = event.has(columns.core) ? event.int64(columns.core) : KernelCalls::kNoCore;
    if (!kernel_calls_.empty() && event.has(columns.kernel_name)) {
      kernel_name = static_cast<StringId>(event.uint64(columns.kernel_name));
      const KernelCalls::Texts& texts = kernel_calls_.of_instruction(kernel_name, core, writer_);
      fill(columns.loop, texts.loop_variables);
      if (fill(columns.source, texts.location) && !event.has(columns.bir_source)) --counts_.without_location;
    }
    if (ids != 0 || kernel_name != 0) fill(columns.stacks, whole_stack(ids, kernel_name, core));
    if (!levels_.empty()) {
      const auto by_number = [&](CompilerLevels::Level level, std::size_t id, std::size_t name) {
        if (event.has(id)) fill(name, levels_.name(level, event.int64(id)));
      };
      by_number(CompilerLevels::Level::hlo, columns.hlo_id, columns.hlo);
      by_number(CompilerLevels::Level::penguin, columns.penguin_id, columns.penguin);
      by_number(CompilerLevels::Level::bir, columns.bir_id, columns.bir);
      if (event.has(columns.framework_id))
        fill(columns.layer, levels_.framework_name(static_cast<StringId>(event.uint64(columns.framework_id))));
    }
    if (!utilization_.empty() && event.has(columns.elements)) {
      utilization_.at(plan_.core(event.track)).add(event.start, event.duration, event.int64(columns.elements));
    }
  };
}

const StackFrames::Texts& NeuronImporter::stack_of(StringId frame_ids) {
  const auto [known, is_new] = stacks_.try_emplace(frame_ids);
  const auto text = stack_texts_.find(frame_ids);
  if (is_new && text != stack_texts_.end()) known->second = frames_.resolve(text->second, writer_);
  return known->second;
}

// The calls inside of the kernel, and those of the framework that led to it; 0: neither is known.
StringId NeuronImporter::whole_stack(StringId frame_ids, StringId kernel_name, std::int64_t core) {
  const auto [known, is_new] = whole_stacks_.try_emplace({frame_ids, kernel_name, core}, 0);
  if (!is_new) return known->second;
  std::string stack;
  if (kernel_name != 0) stack = kernel_calls_.of_instruction(kernel_name, core, writer_).stack;
  if (frame_ids != 0) {
    const std::string& outer = stack_of(frame_ids).stack;
    stack += (stack.empty() || outer.empty() ? "" : "\n") + outer;
  }
  return known->second = stack.empty() ? 0 : writer_.intern(stack);
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
                 static_cast<std::uint64_t>(std::abs(std::max(last.value, -INT64_MAX))));
  }
  report_coverage();
  report_schema();
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
    // Frames are read into stacks, and kept as tables beside; so are rows that lack what makes events of them.
    if (is_joined_table(json_name) || find_table(known_schema(), json_name) != nullptr) continue;
    report_.note(
        "unknown_table",
        fmt::format("the table \"{}\" is not known to this version; its columns were inferred from its first rows",
                    json_name.substr(0, 80)),
        into->sorter().event_count());
  }
}

}  // namespace accelscope::capture::sources::neuron
