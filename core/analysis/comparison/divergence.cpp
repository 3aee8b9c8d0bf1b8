#include "core/analysis/comparison/divergence.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/analysis/dependencies/dependencies.h"
#include "core/analysis/vendors/vendor.h"
#include "core/scan/column_values.h"
#include "core/scan/event_reader.h"
#include "core/scan/group_by.h"

namespace accelscope::analysis {
namespace {

constexpr std::int64_t kNotTaken = 65535;

// 64 bits of FNV-1a, by which texts of two sessions are the same.
std::uint64_t text_hash(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) noexcept {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

struct ChecksumRow {
  std::uint64_t key = 0;  // of all that an event and its counterpart have in common
  std::int64_t begin_ns = 0;
  EventId id = kNoEvent;
  std::uint32_t in = kNotTaken, out = kNotTaken;
  std::uint32_t turn = 0;  // of those with this key, by time
};

std::optional<std::size_t> column_of(const Schema& schema, std::string_view name, bool as_text) noexcept {
  for (std::size_t i = 0; i < schema.columns.size(); ++i)
    if (schema.columns[i].name == name && is_text(schema.columns[i].type) == as_text) return i;
  return std::nullopt;
}

// Whose table of single transfers this is.
const Vendor* vendor_of_packets(const Schema& schema) {
  for (const Vendor& vendor : vendors())
    if (!vendor.packet_table.empty() && vendor.packet_table == schema.name) return &vendor;
  return nullptr;
}

struct ChecksumColumns {
  std::optional<std::size_t> in, out, pc;
  explicit ChecksumColumns(const Schema& schema) noexcept
      : in(column_of(schema, "crc_in", false)),
        out(column_of(schema, "crc_out", false)),
        pc(column_of(schema, "pc", false)) {
    if (!out) out = column_of(schema, "crc", false);
  }
  [[nodiscard]] bool any() const noexcept { return in || out; }
};

std::uint32_t checksum(const NumberBlock& values, std::uint32_t i) noexcept {
  if ((values.valid() >> i & 1) == 0 || values[i] < 0 || values[i] > UINT32_MAX) return kNotTaken;
  return static_cast<std::uint32_t>(values[i]);
}

std::vector<ChecksumRow> rows_of_chunk(const ScannedChunk& chunk, const Snapshot& snapshot) {
  const Schema& schema = *chunk.lane.schema;
  const ChecksumColumns columns(schema);
  const TrackSnapshot* track = snapshot.find_track(chunk.lane.track);
  const std::uint64_t place = text_hash(track == nullptr ? "" : track->track->name, text_hash(schema.name));
  std::unordered_map<StringId, std::uint64_t> names;
  std::vector<ChecksumRow> rows;
  const Vendor* vendor = vendor_of_packets(schema);
  const std::optional<std::size_t> purpose =
      vendor == nullptr ? std::nullopt : column_of(schema, vendor->purpose_column, true);
  const auto fetches_program = [&](std::uint32_t row) {
    return purpose &&
           text_at(chunk, *snapshot.strings, *purpose, schema.columns[*purpose].type, row) == vendor->program_purpose;
  };
  NumberBlock in, out, pc;
  chunk.for_each_block([&](const ScannedBlock& block) {
    if (columns.in) in.read(block.reader, *columns.in, schema.columns[*columns.in].type);
    if (columns.out) out.read(block.reader, *columns.out, schema.columns[*columns.out].type);
    if (columns.pc) pc.read(block.reader, *columns.pc, schema.columns[*columns.pc].type);
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      if (fetches_program(block.row(i))) continue;
      const auto [name, is_new] = names.try_emplace(block.name(i), 0);
      if (is_new) name->second = text_hash(snapshot.strings->text(block.name(i)), place);
      ChecksumRow row;
      row.key = (name->second ^ static_cast<std::uint64_t>(columns.pc ? pc[i] : 0)) * 0x9e3779b97f4a7c15;
      row.begin_ns = block.begin_ns(i);
      row.id = block.id(i);
      if (columns.in) row.in = checksum(in, i);
      if (columns.out) row.out = checksum(out, i);
      rows.push_back(row);
    }
  });
  return rows;
}

// All events with such columns, by key and time, and of each which of its key it is.
Result<std::vector<ChecksumRow>> checksum_rows(const QueryContext& query) {
  LaneIndices lanes;
  for (std::uint32_t i = 0; i < query.snapshot->lanes.size(); ++i) {
    const LaneSnapshot& lane = query.snapshot->lanes[i];
    if (lane.schema && lane.data->kind == EventKind::slice && ChecksumColumns(*lane.schema).any()) lanes.push_back(i);
  }
  auto found = gather(query, lanes, {}, std::vector<ChecksumRow>(), [&](const ScannedChunk& chunk, auto& rows) {
    merge_part(rows, rows_of_chunk(chunk, *query.snapshot));
  });
  if (!found) return found;
  std::vector<ChecksumRow>& all = *found;
  std::ranges::sort(all, [](const ChecksumRow& a, const ChecksumRow& b) {
    return std::tie(a.key, a.begin_ns, a.id) < std::tie(b.key, b.begin_ns, b.id);
  });
  for (std::size_t i = 1; i < all.size(); ++i) all[i].turn = all[i].key == all[i - 1].key ? all[i - 1].turn + 1 : 0;
  return found;
}

bool is_taken(const ChecksumRow& row) noexcept { return row.in != kNotTaken || row.out != kNotTaken; }

bool differs(std::uint32_t a, std::uint32_t b) noexcept { return a != kNotTaken && b != kNotTaken && a != b; }

struct RowPair {
  const ChecksumRow* base;
  const ChecksumRow* other;
};

// The pairs that differ, by the time of the base's; the counts go into `out`.
std::vector<RowPair> differing_pairs(const std::vector<ChecksumRow>& base, const std::vector<ChecksumRow>& other,
                                     Divergence& out) {
  std::vector<RowPair> pairs;
  std::size_t a = 0, b = 0;
  const auto place = [](const ChecksumRow& row) { return std::tie(row.key, row.turn); };
  while (a < base.size() || b < other.size()) {
    const bool base_first = b == other.size() || (a < base.size() && place(base[a]) < place(other[b]));
    const bool other_first = !base_first && (a == base.size() || place(other[b]) < place(base[a]));
    if (base_first) {
      out.base_alone += is_taken(base[a++]) ? 1U : 0U;
    } else if (other_first) {
      out.other_alone += is_taken(other[b++]) ? 1U : 0U;
    } else {
      const ChecksumRow &one = base[a++], &two = other[b++];
      if (!is_taken(one) || !is_taken(two)) continue;
      ++out.compared;
      if (differs(one.in, two.in) || differs(one.out, two.out)) pairs.push_back({&one, &two});
    }
  }
  std::ranges::sort(pairs, [](const RowPair& x, const RowPair& y) {
    return std::tie(x.base->begin_ns, x.base->id) < std::tie(y.base->begin_ns, y.base->id);
  });
  out.differing = pairs.size();
  return pairs;
}

// What a person calls an event and its place.
class EventDescriber {
 public:
  explicit EventDescriber(const QueryContext& query)
      : snapshot_(*query.snapshot), reader_(query.store, query.snapshot) {}

  Result<CheckedEvent> describe(EventId id) {
    const auto record = TRY(reader_.read(id));
    CheckedEvent out;
    out.id = id;
    out.begin_ns = record.begin_ns;
    out.end_ns = record.end_ns;
    out.name = record.name_text;
    const TrackSnapshot* track = snapshot_.find_track(record.lane->track);
    if (track != nullptr) out.track = track->track->name;
    // Of what moves data the name is the tensor's.
    if (record.lane->schema->name_column == "variable") out.tensor = record.name_text;
    const std::vector<Column>& columns = record.lane->schema->columns;
    for (std::size_t i = 0; i < columns.size() && i < record.fields.size(); ++i) {
      const auto* text = std::get_if<std::string>(&record.fields[i]);
      if (text == nullptr || text->empty()) continue;
      if (columns[i].role == Role::source_location && out.source.empty()) out.source = *text;
      if (columns[i].name == "operands") out.instruction = *text;
    }
    return out;
  }

 private:
  const Snapshot& snapshot_;
  EventReader reader_;
};

std::int64_t stated(std::uint32_t checksum) noexcept {
  return checksum == kNotTaken ? -1 : static_cast<std::int64_t>(checksum);
}

void count_place(std::map<std::string, DivergentPlace>& places, const std::string& name, const ChecksumRow& row) {
  if (name.empty()) return;
  DivergentPlace& place = places[name];
  if (place.events++ > 0) return;
  place.name = name;
  place.first = row.id;
  place.first_ns = row.begin_ns;
}

std::vector<DivergentPlace> by_first(std::map<std::string, DivergentPlace> places) {
  std::vector<DivergentPlace> out;
  for (auto& [name, place] : places) out.push_back(std::move(place));
  std::ranges::sort(out, [](const DivergentPlace& a, const DivergentPlace& b) {
    return std::tie(a.first_ns, a.name) < std::tie(b.first_ns, b.name);
  });
  return out;
}

// Of what an event waited for the last that differs, if any of it has checksums at all.
class ProducerSearch {
 public:
  ProducerSearch(const Dependencies& dependencies, const std::vector<RowPair>& pairs) : dependencies_(dependencies) {
    for (const RowPair& pair : pairs) differing_.emplace(pair.base->id, pair.base->begin_ns);
  }
  [[nodiscard]] EventId producer_of(EventId event) const {
    constexpr std::size_t kMostLooked = 64;
    EventId best = kNoEvent;
    std::int64_t latest = INT64_MIN;
    for (const Dependency& each : dependencies_.predecessors(event, kMostLooked).dependencies) {
      const auto known = differing_.find(each.source);
      if (known == differing_.end() || known->second <= latest) continue;
      latest = known->second;
      best = each.source;
    }
    return best;
  }

 private:
  const Dependencies& dependencies_;
  std::unordered_map<EventId, std::int64_t> differing_;
};

}  // namespace

bool Divergence::is_one_program() const noexcept {
  constexpr std::uint64_t kMostAlone = 10;  // percent
  return base_alone * 100 <= with_checksums * kMostAlone && other_alone * 100 <= other_with_checksums * kMostAlone;
}

const DivergentPair* Divergence::first() const noexcept {
  if (events.empty()) return nullptr;
  const auto found =
      std::ranges::find_if(events, [](const DivergentPair& pair) { return !pair.base.instruction.empty(); });
  return found == events.end() ? &events.front() : &*found;
}

bool has_checksums(const Snapshot& snapshot) noexcept {
  return std::ranges::any_of(snapshot.schemas, [](const auto& schema) { return ChecksumColumns(*schema).any(); });
}

Result<Divergence> find_divergence(const QueryContext& base, const QueryContext& other) {
  const auto base_rows = TRY(checksum_rows(base));
  const auto other_rows = TRY(checksum_rows(other));
  Divergence out;
  for (const ChecksumRow& row : base_rows) out.with_checksums += is_taken(row) ? 1U : 0U;
  for (const ChecksumRow& row : other_rows) out.other_with_checksums += is_taken(row) ? 1U : 0U;
  const std::vector<RowPair> pairs = differing_pairs(base_rows, other_rows, out);
  if (pairs.empty()) return out;
  const auto dependencies = TRY(Dependencies::build(base));
  const ProducerSearch producers(*dependencies, pairs);
  EventDescriber describer(base);
  std::map<std::string, DivergentPlace> tensors, lines;
  for (std::size_t i = 0; i < std::min(pairs.size(), Divergence::kMostPlaced); ++i) {
    if (base.control.cancelled()) return Error{"cancelled"};
    const auto& [one, two] = pairs[i];
    auto described = TRY(describer.describe(one->id));
    count_place(tensors, described.tensor, *one);
    count_place(lines, described.source, *one);
    if (i >= Divergence::kMostEvents) continue;
    DivergentPair pair;
    pair.base = std::move(described);
    pair.other = two->id;
    pair.other_begin_ns = two->begin_ns;
    pair.base_in = stated(one->in);
    pair.other_in = stated(two->in);
    pair.base_out = stated(one->out);
    pair.other_out = stated(two->out);
    if (const EventId producer = producers.producer_of(one->id); producer != kNoEvent) {
      auto known = TRY(describer.describe(producer));
      pair.produced_by = std::move(known);
    }
    out.events.push_back(std::move(pair));
  }
  out.tensors = by_first(std::move(tensors));
  out.lines = by_first(std::move(lines));
  return out;
}

}  // namespace accelscope::analysis
