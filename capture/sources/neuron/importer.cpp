#include "capture/sources/neuron/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/json/json_cursor.h"
#include "capture/json/window_pipeline.h"

namespace accelscope::capture::sources::neuron {
namespace {

constexpr std::size_t kSortMemoryBytes = 192U << 20;  // packed runs beyond this go to a temporary file
constexpr std::size_t kMaxInferredTables = 100;
constexpr std::size_t kMaxTableNames = 10'000;
// Times of ns since 1970 are 1.8e18; beyond this a number is no time, and sums of two could overflow.
constexpr std::int64_t kMaxTicks = std::int64_t{1} << 61;

struct ConsumedKeys {
  NeuronTable table;
  std::array<std::string_view, 4> keys;
};
constexpr ConsumedKeys kConsumed[] = {
    {NeuronTable::instruction, {"predecessors"}}, {NeuronTable::dma, {"aggregated"}},
    {NeuronTable::dma_transfer, {"aggregated"}},  {NeuronTable::sbuf_usage, {"type"}},
    {NeuronTable::psum_usage, {"type"}},          {NeuronTable::memory, {"start_address", "end_address", "partition"}},
};

[[nodiscard]] std::span<const std::string_view> consumed_by(NeuronTable table) noexcept {
  for (const ConsumedKeys& consumed : kConsumed) {
    if (consumed.table != table) continue;
    const auto last = std::find(consumed.keys.begin(), consumed.keys.end(), std::string_view{});
    return {consumed.keys.begin(), last};
  }
  return {};
}

[[nodiscard]] bool is_truncation(const json::JsonProblem& problem) noexcept {
  return problem.kind == json::JsonProblem::Kind::truncated;
}

[[nodiscard]] std::string_view value_of(std::span<const json::JsonField> fields, std::string_view key) noexcept {
  for (const json::JsonField& field : fields) {
    if (field.key == key) return field.text;
  }
  return {};
}

}  // namespace

NeuronImporter::NeuronImporter(std::string path, const ImportOptions& options, EventSink& sink)
    : path_(std::move(path)), options_(options), sink_(sink), writer_(sink), spill_(kSortMemoryBytes) {}

Result<void> NeuronImporter::run(std::unique_ptr<json::ByteSource> source,
                                 const json::JsonTableReader::Options& reader_options) {
  json::WindowPipeline<> windows(json::JsonTableReader(std::move(source), reader_options));
  json::JsonRowParser parser;
  bool any = false;
  while (const auto* slot = windows.next()) {
    const json::JsonWindow& window = slot->window;
    if (writer_.cancelled()) return Error{fmt::format("{}: the import was cancelled", path_)};
    if (window.first_of_table || window.table != current_.json_name || current_rows_ == nullptr) {
      begin_table(window.table, !window.rows.empty(),
                  [&](SchemaInference& inference) { parser.parse(window, inference); });
    }
    any = true;
    parser.parse(window, *this);
    if (options_.progress) options_.progress(windows.bytes_done(), windows.bytes_total());
  }
  const json::JsonTableReader& reader = windows.reader();
  if (!reader.is_json()) {
    const auto& problems = reader.problems();
    const auto unreadable = std::find_if(problems.begin(), problems.end(), [](const json::JsonProblem& problem) {
      return problem.kind == json::JsonProblem::Kind::unreadable;
    });
    if (unreadable != problems.end()) return Error{unreadable->what};
    return Error{fmt::format("{}: {}; a profile is made with: neuron-profile view --output-format json", path_,
                             reader.bytes_read() == 0 ? "the file is empty" : "this is not JSON")};
  }
  for (const json::JsonProblem& problem : reader.problems()) report_.add(problem);
  if (!any && std::any_of(reader.problems().begin(), reader.problems().end(), is_truncation)) {
    return Error{fmt::format("{}: the file ends at byte {} before the first row; copy it completely or export it again",
                             path_, reader.bytes_read())};
  }
  if (!any) {
    return Error{fmt::format(
        "{}: holds no tables at all; a profile is made with: neuron-profile view --output-format json", path_)};
  }
  return finish();
}

void NeuronImporter::begin_table(const std::string& name, bool has_rows, const ShowRows& show_rows) {
  for (const auto& table : tables_) {
    // The batches of the table before are packed, so that few are in memory at a time; failures come up again later.
    if (table != nullptr) (void)table->sorter().flush();
  }
  current_ = {};
  current_.json_name = name;
  current_.rule = find_table_rule(name);
  current_.plain = find_plain_table(name);
  current_.facts = current_.rule == nullptr && (is_fact_table(name) || is_summary_key(name));
  current_.frames = StackFrames::is_frame_table(name);
  // Tables of Parquet have other names than their schemas, and are a table each.
  const bool by_schema = is_parquet_ && current_.rule != nullptr;
  const std::string counted(by_schema ? tables::kTables[static_cast<std::size_t>(current_.rule->table)].schema.name
                                      : std::string_view(name));
  if (row_counts_.size() < kMaxTableNames || row_counts_.contains(counted)) {
    current_rows_ = &row_counts_[counted];
  } else {
    current_rows_ = &row_counts_["(further tables)"];
  }
  if (current_.rule == nullptr && !current_.facts && has_rows) current_.inferred = inferred_table(name, show_rows);
}

ImportTable& NeuronImporter::table(NeuronTable table) {
  auto& slot = tables_[static_cast<std::size_t>(table)];
  if (slot == nullptr) {
    Schema schema = neuron_schema(table);
    add_extra_column(schema);
    slot = std::make_unique<ImportTable>(std::move(schema), consumed_by(table), spill_, writer_);
  }
  return *slot;
}

ImportTable* NeuronImporter::inferred_table(const std::string& name, const ShowRows& show_rows) {
  const auto found = inferred_.find(name);
  if (found != inferred_.end()) return found->second.get();
  if (inferred_.size() >= kMaxInferredTables) return nullptr;
  SchemaInference inference;
  show_rows(inference);
  Schema schema = inference.schema(name);
  // Another table may have come to the same name in SQL.
  const auto taken = [&](const std::string& wanted) {
    const auto same = [&](const auto& table) { return table != nullptr && table->schema().name == wanted; };
    return std::any_of(tables_.begin(), tables_.end(), same) ||
           std::any_of(inferred_.begin(), inferred_.end(), [&](const auto& entry) { return same(entry.second); });
  };
  const std::string base = schema.name;
  for (int suffix = 2; taken(schema.name); ++suffix) schema.name = fmt::format("{}_{}", base, suffix);
  auto made = std::make_unique<ImportTable>(std::move(schema), std::span<const std::string_view>{}, spill_, writer_);
  return inferred_.emplace(name, std::move(made)).first->second.get();
}

void NeuronImporter::on_row(std::span<const json::JsonField> fields, bool is_object, const json::RowPlace& place) {
  ++*current_rows_;
  if (current_.inferred != nullptr && !is_object) {
    json::JsonField field = fields.front();
    field.key = kValueKey;
    import_row(*current_.inferred, std::span(&field, 1), place);
    return;
  }
  if (!is_object) {
    report_.skipped_row(current_.json_name, "a row is not an object", place.offset);
    return;
  }
  if (current_.frames) frames_.add(current_.json_name, fields);
  if (current_.facts) {
    facts_.add(fact_table_name(current_.json_name), fields);
  } else if (current_.rule != nullptr) {
    const NeuronTable kind = table_of_row(fields);
    if (kind == NeuronTable::neff_header || kind == NeuronTable::model_info) {
      facts_.add(fact_table_name(current_.json_name), fields);
    }
    import_row(table(kind), fields, place);
  } else if (current_.inferred != nullptr) {
    import_row(*current_.inferred, fields, place);
  } else {
    report_.skipped_row("(further tables)", fmt::format("more than {} tables that are not known", kMaxInferredTables),
                        place.offset);
  }
}

void NeuronImporter::on_bad_row(std::string_view text, const json::RowPlace& place) {
  ++*current_rows_;
  report_.skipped_row(current_.json_name,
                      fmt::format("not JSON, beginning with {}", json::mend_utf8(text.substr(0, 40))), place.offset);
}

void NeuronImporter::on_mended_row(const json::RowPlace& place) {
  (void)place;
  report_.note(
      "rows_mended",
      fmt::format("rows of \"{}\" hold bytes that are not UTF-8, stray commas or control characters and were read "
                  "after mending; texts in them may differ",
                  current_.json_name.substr(0, 80)));
}

// Packets and transfers share one JSON table, and so do the two on-chip memories.
NeuronTable NeuronImporter::table_of_row(std::span<const json::JsonField> fields) const noexcept {
  const NeuronTable named = current_.rule->table;
  if (named == NeuronTable::dma) {
    const std::string_view aggregated = value_of(fields, "aggregated");
    if (aggregated == "yes" || aggregated == "true") return NeuronTable::dma_transfer;
  } else if (named == NeuronTable::sbuf_usage && value_of(fields, "type") == "psum") {
    return NeuronTable::psum_usage;
  }
  return named;
}

void NeuronImporter::import_row(ImportTable& into, std::span<const json::JsonField> fields,
                                const json::RowPlace& place) {
  BoundRow row;
  into.binding().bind(fields, into.sorter(), writer_, row);
  const bool known = current_.rule != nullptr;
  const NeuronTable kind = known ? table_of_row(fields) : NeuronTable::error;
  if (kind == NeuronTable::flow && !settle_flow(row, place)) return;
  if (!settle_times(into, row, place)) return;
  place_ = known ? place_of(kind, row) : CorePlan::kWhole;
  if (known && !look_at(kind, into, row, place)) return;
  const std::uint32_t track = known ? track_of(into, kind, row) : track_of_plain(into);
  const StringId name = known ? name_of(kind, row) : writer_.intern(row.name);
  into.sorter().commit(track, row.start.value_or(0), row.duration.value_or(0), name);
  if (into.schema().kind != EventKind::slice && into.schema().kind != EventKind::instant) return;
  if (track >= sketches_.size()) sketches_.resize(track + 1);
  sketches_[track].add(row.start.value_or(0), row.duration.value_or(0));
}

bool NeuronImporter::settle_times(const ImportTable& into, BoundRow& row, const json::RowPlace& place) {
  if (!into.timed()) return true;
  if (!row.start) {
    report_.skipped_row(current_.json_name, "no time stamp", place.offset);
    return false;
  }
  if (*row.start > kMaxTicks || *row.start < -kMaxTicks) {
    report_.skipped_row(current_.json_name, "the time stamp is out of any range", place.offset);
    return false;
  }
  if (!row.duration && row.end && *row.end <= kMaxTicks && *row.end >= -kMaxTicks) row.duration = *row.end - *row.start;
  const bool has_extent = into.schema().kind == EventKind::slice || into.schema().kind == EventKind::memory;
  if (!row.duration || !has_extent) row.duration = 0;
  if (*row.duration < 0) {
    ++counts_.negative_durations;
    row.duration = 0;
  }
  if (*row.duration > kMaxTicks) {
    report_.skipped_row(current_.json_name, "the duration is out of any range", place.offset);
    return false;
  }
  first_ticks_ = std::min(first_ticks_, *row.start);
  last_ticks_ = std::max(last_ticks_, *row.start + *row.duration);
  extremes_.add(*row.start, *row.start + *row.duration);
  return true;
}

std::int64_t NeuronImporter::place_of(NeuronTable kind, const BoundRow& row) {
  CorePlan::Named named{row.integer("pcore_idx"), row.text("subgraph"), std::nullopt, row.text("device")};
  switch (kind) {
    case NeuronTable::model_info:
      named.graph = row.name;
      named.number = row.integer("nc_idx");
      break;
    case NeuronTable::neff_node:
      named.graph = row.text("sg_name");
      break;
    case NeuronTable::nc_mem_usage:
      named.number = row.integer("nc");
      break;
    case NeuronTable::trace_event:
    case NeuronTable::host_memory:
    case NeuronTable::cpu_util:
      return named.device.empty() ? CorePlan::kWhole : cores_.place(named);  // of a host
    default:
      break;
  }
  if (named.graph.empty() && !named.core) {  // "/sg01/..."
    std::string_view path = row.text("fully_qualified_subgraph");
    if (path.starts_with('/')) path.remove_prefix(1);
    named.graph = path.substr(0, path.find('/'));
  }
  return cores_.place(named);
}

std::uint32_t NeuronImporter::track_of(ImportTable& into, NeuronTable kind, const BoundRow& row) {
  const TableRule& rule = *current_.rule;
  std::string_view name;
  if (rule.key.is_any()) name = row.text(rule.key);
  if (kind == NeuronTable::instruction && name.empty()) name = row.text("subgroup");
  if (kind == NeuronTable::trace_event) {
    scratch_ = fmt::format("process {} thread {}", row.text("process_id"), row.text("thread_id"));
    if (const std::string_view host = row.text("instance_id"); !host.empty()) scratch_ += fmt::format(" · {}", host);
    const std::uint32_t track = into.track(plan_, rule.track_kind, "", scratch_, -1);
    plan_.set_host(track, std::string(row.text("instance_id")));
    return track;
  }
  if (kind == NeuronTable::psum_usage) return into.track(plan_, rule.track_kind, "PSUM usage", "", place_);
  if (name.empty() && rule.track_name.empty()) name = "unnamed";
  if (kind == NeuronTable::dma && name.rfind("-Q") == std::string_view::npos && row.get("dma_queue") != nullptr &&
      row.get("dma_engine") != nullptr && name.find("-E") == std::string_view::npos) {
    // As files that name the queue alone would have it: "queue-Q1-E0".
    scratch_ = fmt::format("{}-Q{}-E{}", name, row.text("dma_queue"), row.text("dma_engine"));
    name = scratch_;
  }
  const std::size_t tracks_before = plan_.size();
  const std::uint32_t track = into.track(plan_, rule.track_kind, rule.track_name, name, place_);
  if (kind == NeuronTable::dma && plan_.size() > tracks_before) {
    // Packets of "queue-Q1-E0" lie below the transfers of "queue".
    const std::size_t ring = name.rfind("-Q");
    if (ring != std::string_view::npos && ring > 0) {
      plan_.set_parent_name(track, table(NeuronTable::dma_transfer).number(), std::string(name.substr(0, ring)));
    }
  }
  return track;
}

std::uint32_t NeuronImporter::track_of_plain(ImportTable& into) {
  const std::string_view name = current_.json_name.empty() ? std::string_view("rows") : current_.json_name;
  if (current_.plain == nullptr) return into.track(plan_, "table", "", name, CorePlan::kWhole);
  return into.track(plan_, current_.plain->track_kind, "",
                    current_.plain->track_name.empty() ? name : current_.plain->track_name, CorePlan::kWhole);
}

StringId NeuronImporter::name_of(NeuronTable kind, const BoundRow& row) {
  if (kind == NeuronTable::throttle) {
    const auto type = row.integer("type");
    return writer_.intern(type ? neuron_throttle_kind(*type) : row.text("type"));
  }
  return writer_.intern(row.name);
}

}  // namespace accelscope::capture::sources::neuron
