// What is told of a session on its way into the store, within definition_limits.h: one way for what is captured,
// imported, read from a session file and salvaged.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/model/time_range.h"
#include "core/store/store_state.h"

namespace accelscope {
namespace {

using Limits = DefinitionLimits;

// About what a list's element and its place in a hash table take beside what they hold.
constexpr std::uint64_t kPlaceBytes = 128;

void put_bit(std::vector<bool>& bits, std::uint32_t number) {
  if (bits.size() <= number) bits.resize(std::size_t{number} + 1);
  bits[number] = true;
}
bool has_bit(const std::vector<bool>& bits, std::uint32_t number) { return number < bits.size() && bits[number]; }

// Cuts texts and counts how many it cut.
class Cutter {
 public:
  explicit Cutter(std::uint64_t& bytes) : bytes_(bytes) {}
  void operator()(std::string& text, std::size_t most) {
    if (text.size() > most) {
      text.resize(utf8_front(text, most).size());
      text.shrink_to_fit();
      ++cut_;
    }
    bytes_ += text.size();
  }
  [[nodiscard]] std::uint64_t cut() const noexcept { return cut_; }

 private:
  std::uint64_t& bytes_;
  std::uint64_t cut_ = 0;
};

void cut(Schema& schema, Cutter& within) {
  within(schema.name, Limits::kName);
  within(schema.name_column, Limits::kName);
  within(schema.name_explanation, Limits::kExplanation);
  for (std::string& name : schema.wait_names) within(name, Limits::kName);
  for (Column& column : schema.columns) {
    for (std::string* text : {&column.name, &column.unit, &column.group, &column.title}) within(*text, Limits::kName);
    within(column.explanation, Limits::kExplanation);
  }
}
void cut(Clock& clock, Cutter& within) { within(clock.name, Limits::kName); }
void cut(Track& track, Cutter& within) {
  for (std::string* text : {&track.name, &track.kind, &track.device, &track.host, &track.unit}) {
    within(*text, Limits::kName);
  }
}
void cut(Lane& /*lane*/, Cutter& /*within*/) {}
void cut(StringBatch& batch, Cutter& within) {
  for (std::string& text : batch.strings) within(text, Limits::kString);
}
void cut(SourceFile& file, Cutter& within) {
  within(file.path, Limits::kName);
  within(file.content, Limits::kSourceFile);
}
void cut(MetaEntry& fact, Cutter& within) {
  within(fact.key, Limits::kName);
  within(fact.value, Limits::kValue);
}
void cut(QualityEntry& entry, Cutter& within) {
  within(entry.kind, Limits::kName);
  within(entry.detail, Limits::kExplanation);
}
void cut(Metric& metric, Cutter& within) {
  for (std::string* text : {&metric.name, &metric.group, &metric.unit, &metric.device}) within(*text, Limits::kName);
  within(metric.text, Limits::kValue);
}

std::uint64_t bytes_of(const Clock& clock) {
  return clock.name.size() + clock.anchors.size() * (sizeof(ClockAnchor) + 48);  // and a segment of its map for each
}
std::uint64_t bytes_of(const Track& track) {
  return track.name.size() + track.kind.size() + track.device.size() + track.host.size() + track.unit.size();
}
std::uint64_t bytes_of(const SourceFile& file) { return file.path.size() + file.content.size(); }
std::uint64_t bytes_of(const MetaEntry& fact) { return fact.key.size() + fact.value.size(); }

// Whether a clock may have these anchors: rising, near enough, and at a rate that can be one.
bool is_usable(const std::vector<ClockAnchor>& anchors) {
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    if (!is_near_enough(anchors[i].ticks) || !is_near_enough(anchors[i].ns)) return false;
    if (i == 0) continue;
    const auto ticks = static_cast<double>(anchors[i].ticks - anchors[i - 1].ticks);
    const auto ns = static_cast<double>(anchors[i].ns - anchors[i - 1].ns);
    if (ticks <= 0 || ns <= 0) continue;  // ClockMap leaves them out
    if (ns / ticks > Limits::kSteepest || ticks / ns > Limits::kSteepest) return false;
  }
  return true;
}

// Of what is numbered by its source.
std::optional<std::uint32_t> number_of(const Definition& definition) {
  if (const auto* schema = std::get_if<Schema>(&definition)) return schema->number;
  if (const auto* clock = std::get_if<Clock>(&definition)) return clock->number;
  if (const auto* track = std::get_if<Track>(&definition)) return track->number;
  if (const auto* lane = std::get_if<Lane>(&definition)) return lane->number;
  return {};
}

}  // namespace

// What one definition does to a store.
class Store::Implementation::Taking {
 public:
  Taking(Implementation& store, std::uint32_t scope, std::int64_t row, std::vector<DefinitionRow>* rows)
      : store_(store), book_(store.book), scope_(scope), row_(row), rows_(rows) {
    book_.last_row = std::max(book_.last_row, row);
  }

  template <typename T>
  Result<void> take(T definition) {
    Cutter within(bytes_);
    cut(definition, within);
    if (within.cut() > 0) {
      tell({"texts_cut", within.cut(), "texts longer than this program keeps were cut short"});
    }
    return add(std::move(definition));
  }

 private:
  Result<void> add(Schema schema);
  Result<void> add(Clock clock);
  Result<void> add(Track track);
  Result<void> add(const Lane& lane);
  Result<void> add(StringBatch batch);
  Result<void> add(SourceFile file);
  Result<void> add(MetaEntry fact);
  Result<void> add(const QualityEntry& entry);
  Result<void> add(Metric metric);

  void tell(const QualityEntry& entry);
  void count(const QualityEntry& entry, bool of_this_row);
  void refuse(const char* what) { tell({"definitions_refused", 1, what}); }
  [[nodiscard]] bool has_room(std::uint64_t instead_of = 0) const {
    return book_.text_bytes - instead_of + store_.strings->text_bytes() + bytes_ <= store_.most_text_bytes;
  }
  void leave_out(const char* of, std::size_t most) {
    tell({"definitions_left_out", 1,
          fmt::format("{} beyond the {} that a session may have were left out, and all that belongs to them", of,
                      most)});
  }
  void leave_out_for_room(const char* of) {
    tell({"definitions_left_out", 1,
          fmt::format("{} were left out: the texts of the session take {} MB already, and no more are kept", of,
                      store_.most_text_bytes >> 20)});
  }
  // Whether one more has a place; else it is told to be left out.
  [[nodiscard]] bool has_place(std::size_t count, std::size_t most, const char* of) {
    if (count >= most) {
      leave_out(of, most);
      return false;
    }
    if (!has_room()) leave_out_for_room(of);
    return has_room();
  }
  // The same for what takes the place of so many bytes, which are counted then.
  [[nodiscard]] bool takes_place_of(std::uint64_t bytes, const char* of) {
    if (!has_room(bytes)) {
      leave_out_for_room(of);
      return false;
    }
    book_.text_bytes = book_.text_bytes - bytes + bytes_;
    return true;
  }
  [[nodiscard]] bool facts_have_room(std::uint64_t instead_of) {
    if (book_.fact_bytes - instead_of + bytes_ <= Limits::kAllFacts) return true;
    tell({"definitions_left_out", 1,
          fmt::format("facts and figures beyond the {} MB that a session keeps were left out",
                      Limits::kAllFacts >> 20)});
    return false;
  }

  // A row for what is new; a row in place of what was there.
  template <typename T>
  std::int64_t write(const T& definition, std::int64_t in_place_of = 0) {
    if (rows_ == nullptr) return row_;
    const std::int64_t row = in_place_of != 0 ? in_place_of : ++book_.last_row;
    rows_->push_back({row, encode(Definition(definition), scope_)});
    return row;
  }

  Implementation& store_;
  DefinitionBook& book_;
  std::uint32_t scope_;
  std::int64_t row_;
  std::vector<DefinitionRow>* rows_;
  std::uint64_t bytes_ = 0;  // of the texts at hand
};

Result<void> Store::Implementation::Taking::add(Schema schema) {
  if (schema.columns.size() > Limits::kColumns) {
    tell({"columns_left_out", schema.columns.size() - Limits::kColumns,
          fmt::format("columns beyond the {} that the events of a table may have were left out; its events that have "
                      "more cannot be read",
                      Limits::kColumns)});
    schema.columns.resize(Limits::kColumns);
  }
  if (schema.wait_names.size() > Limits::kWaitNames) {
    tell({"definitions_left_out", schema.wait_names.size() - Limits::kWaitNames,
          fmt::format("names of events that wait, beyond the {} of a table, were left out: they count as busy",
                      Limits::kWaitNames)});
    schema.wait_names.resize(Limits::kWaitNames);
  }
  if (const auto known = book_.schemas.find(schema.number); known != book_.schemas.end()) {
    if (*store_.schemas[known->second.index] != schema) {
      refuse(
          "tables were announced a second time with other columns or as another kind; they stay as they were first; "
          "report this with the agent's version");
    }
    return {};
  }
  if (!has_place(store_.schemas.size(), Limits::kSchemas, "tables")) {
    put_bit(book_.schemas_left_out, schema.number);
    return {};
  }
  book_.text_bytes += bytes_ + schema.columns.size() * sizeof(Column);
  book_.schemas[schema.number] = {store_.schemas.size(), write(schema)};
  store_.schemas.push_back(std::make_shared<const Schema>(std::move(schema)));
  return {};
}

Result<void> Store::Implementation::Taking::add(Clock clock) {
  const auto known = book_.clocks.find(clock.number);
  const bool usable = clock.anchors.size() <= Limits::kAnchors && is_usable(clock.anchors);
  if (!usable) {
    refuse(
        "clocks were announced that run at no rate that a clock has, or with more points than can be used; they "
        "stay as they were, or count ns");
    if (known != book_.clocks.end()) return {};
    clock.anchors.clear();
  }
  if (!std::isfinite(clock.residual_ns)) clock.residual_ns = 0;
  bytes_ = bytes_of(clock);
  if (known != book_.clocks.end()) {
    const DefinitionPlace place = known->second;
    if (!takes_place_of(bytes_of(*store_.clocks[place.index]), "clocks")) return {};
    known->second.row = write(clock, place.row);
    store_.clock_maps[place.index] = std::make_shared<const ClockMap>(clock);
    store_.clocks[place.index] = std::make_shared<const Clock>(std::move(clock));
    book_.clocks_changed = true;
    return {};
  }
  if (!has_place(store_.clocks.size(), Limits::kClocks, "clocks")) {
    put_bit(book_.clocks_left_out, clock.number);
    return {};
  }
  book_.text_bytes += bytes_;
  book_.clocks[clock.number] = {store_.clocks.size(), write(clock)};
  store_.clock_maps.push_back(std::make_shared<const ClockMap>(clock));
  store_.clocks.push_back(std::make_shared<const Clock>(std::move(clock)));
  return {};
}

Result<void> Store::Implementation::Taking::add(Track track) {
  const bool left_out = (track.schema != kNone && has_bit(book_.schemas_left_out, track.schema)) ||
                        (track.clock != kNone && has_bit(book_.clocks_left_out, track.clock));
  if (left_out) {
    put_bit(book_.tracks_left_out, track.number);
    return {};
  }
  if (track.schema != kNone && !book_.schemas.contains(track.schema)) {
    return Error{fmt::format("track {} uses schema {}, which was never announced", track.name, local_of(track.schema))};
  }
  if (track.clock != kNone && !book_.clocks.contains(track.clock)) {
    return Error{fmt::format("track {} uses clock {}, which was never announced", track.name, local_of(track.clock))};
  }
  if (const auto known = book_.tracks.find(track.number); known != book_.tracks.end()) {
    const Track& before = *store_.tracks[known->second.index];
    if (before == track) return {};
    if (before.schema != track.schema || before.clock != track.clock) {
      refuse(
          "tracks were announced a second time with another table or clock; they stay as they were first; report "
          "this with the agent's version");
      return {};
    }
    if (!takes_place_of(bytes_of(before), "tracks")) return {};
    known->second.row = write(track, known->second.row);
    store_.tracks[known->second.index] = std::make_shared<const Track>(std::move(track));
    return {};
  }
  if (!has_place(store_.tracks.size(), Limits::kTracks, "tracks")) {
    put_bit(book_.tracks_left_out, track.number);
    return {};
  }
  book_.text_bytes += bytes_;
  book_.tracks[track.number] = {store_.tracks.size(), write(track)};
  store_.tracks.push_back(std::make_shared<const Track>(std::move(track)));
  return {};
}

Result<void> Store::Implementation::Taking::add(const Lane& lane) {
  const auto owner = book_.tracks.find(lane.track);
  if (owner == book_.tracks.end()) {
    if (has_bit(book_.tracks_left_out, lane.track)) {
      put_bit(book_.lanes_left_out, lane.number);
      return {};
    }
    return Error{fmt::format("lane {} belongs to track {}, which was never announced", local_of(lane.number),
                             local_of(lane.track))};
  }
  const Track& track = *store_.tracks[owner->second.index];
  if (track.schema == kNone) {
    return Error{fmt::format("lane {} belongs to track {}, which has no schema", local_of(lane.number), track.name)};
  }
  if (store_.lane_by_number.contains(lane.number)) {
    return Error{fmt::format("lane {} was announced twice", local_of(lane.number))};
  }
  if (store_.lanes.size() >= Limits::kLanes) {
    leave_out("lanes", Limits::kLanes);
    put_bit(book_.lanes_left_out, lane.number);
    return {};
  }
  auto data = std::make_shared<LaneData>();
  data->lane = lane;
  LaneSnapshot snapshot;
  snapshot.schema = store_.schemas[book_.schemas.at(track.schema).index];
  data->kind = snapshot.schema->kind;
  static const auto identity = std::make_shared<const ClockMap>();
  snapshot.clock = track.clock == kNone ? identity : store_.clock_maps[book_.clocks.at(track.clock).index];
  snapshot.track = lane.track;
  snapshot.data = data;
  store_.lane_by_number[lane.number] = store_.lanes.size();
  store_.lanes.push_back(std::move(snapshot));
  store_.lane_data.push_back(std::move(data));
  write(lane);
  return {};
}

Result<void> Store::Implementation::Taking::add(StringBatch batch) {
  if (!has_room()) {
    const std::uint64_t used = book_.text_bytes + store_.strings->text_bytes();
    std::uint64_t room = store_.most_text_bytes - std::min(used, store_.most_text_bytes);
    std::uint64_t left_out = 0;
    for (std::string& text : batch.strings) {
      if (text.size() <= room) {
        room -= text.size();
        continue;
      }
      text = kLeftOutString;
      ++left_out;
    }
    tell({"names_left_out", left_out,
          fmt::format("names are called \"{}\": the texts of the session take {} MB already, and no more are kept",
                      kLeftOutString, store_.most_text_bytes >> 20)});
  }
  if (Result<void> added = store_.strings->add(scope_, batch); !added) return added;
  write(batch);
  return {};
}

Result<void> Store::Implementation::Taking::add(SourceFile file) {
  if (const auto known = book_.sources.find(file.path); known != book_.sources.end()) {
    if (!takes_place_of(bytes_of(*store_.sources[known->second.index]), "source files")) return {};
    known->second.row = write(file, known->second.row);
    store_.sources[known->second.index] = std::make_shared<const SourceFile>(std::move(file));
    return {};
  }
  if (!has_place(store_.sources.size(), Limits::kSources, "source files")) return {};
  book_.text_bytes += bytes_;
  book_.sources[file.path] = {store_.sources.size(), write(file)};
  store_.sources.push_back(std::make_shared<const SourceFile>(std::move(file)));
  return {};
}

Result<void> Store::Implementation::Taking::add(MetaEntry fact) {
  const auto known = book_.facts.find(fact.key);
  // What is replayed or copied into a session was made by another program, the session by this one.
  if (known != book_.facts.end() && fact.key == kWrittenByFact) return {};
  const std::uint64_t was = known == book_.facts.end() ? 0 : bytes_of(store_.meta[known->second.index]);
  if (!facts_have_room(was)) return {};
  if (known != book_.facts.end()) {
    if (!takes_place_of(was, "facts")) return {};
    known->second.row = write(fact, known->second.row);
    store_.meta[known->second.index].value = std::move(fact.value);
  } else {
    if (!has_place(store_.meta.size(), Limits::kFacts, "facts")) return {};
    book_.text_bytes += bytes_;
    book_.facts[fact.key] = {store_.meta.size(), write(fact)};
    store_.meta.push_back(std::move(fact));
  }
  book_.fact_bytes = book_.fact_bytes - was + bytes_;
  return {};
}

Result<void> Store::Implementation::Taking::add(Metric metric) {
  if (!facts_have_room(0)) return {};
  if (!has_place(store_.metrics.size(), Limits::kMetrics, "figures of the vendor")) return {};
  book_.fact_bytes += bytes_;
  book_.text_bytes += bytes_;
  write(metric);
  store_.metrics.push_back(std::move(metric));
  return {};
}

Result<void> Store::Implementation::Taking::add(const QualityEntry& entry) {
  count(entry, true);
  return {};
}

// Of what this definition was refused for.
void Store::Implementation::Taking::tell(const QualityEntry& entry) { count(entry, false); }

// Entries of one kind and detail are one row of the table, which counts as they do.
void Store::Implementation::Taking::count(const QualityEntry& entry, bool of_this_row) {
  std::string key = entry.kind + '\0' + entry.detail;
  const auto add = [](std::uint64_t& sum, std::uint64_t more) {
    sum += std::min(more, std::numeric_limits<std::uint64_t>::max() - sum);
  };
  const bool is_known = book_.problems.contains(key);
  if (!is_known && store_.quality.size() + 1 >= Limits::kProblems) {
    QualityEntry further{"further_problems", entry.count,
                         fmt::format("problems of further kinds, beyond the first {}, are not listed one by one",
                                     Limits::kProblems - 1)};
    further.severity = std::max(further.severity, entry.severity);
    if (entry.detail != further.detail) return count(further, false);
  }
  DefinitionBook::Problem& problem = book_.problems[std::move(key)];
  if (!is_known) {
    problem.index = store_.quality.size();
    problem.scope = scope_;
    book_.problem_bytes += entry.kind.size() + entry.detail.size();
    store_.quality.push_back(entry);
  } else {
    QualityEntry& all = store_.quality[problem.index];
    add(all.count, entry.count);
    all.severity = std::max(all.severity, entry.severity);
  }
  if (rows_ == nullptr) {
    if (!of_this_row || row_ == 0) return;
    problem.row = row_;
    problem.scope = scope_;
    problem.in_file = entry.count;
    return;
  }
  add(problem.in_file, entry.count);
  if (problem.row == 0) problem.row = ++book_.last_row;
  QualityEntry written = store_.quality[problem.index];
  written.count = problem.in_file;
  rows_->push_back({problem.row, encode(Definition(written), problem.scope)});
}

Result<void> Store::define(std::uint32_t scope, const Definition& definition) {
  if (const auto number = number_of(definition); number && *number > kMaxLocalNumber) {
    return Error{fmt::format("number {} is beyond the {} that a source may have", *number, kMaxLocalNumber)};
  }
  Definition moved = definition;
  move_to_scope(moved, scope);
  return impl_->take(std::move(moved), scope);
}

Result<void> Store::Implementation::take(Definition definition, std::uint32_t scope) {
  const auto lock = lock_database();
  std::vector<DefinitionRow> rows;
  {
    const std::lock_guard index(index_mutex);
    if (Result<void> result = apply(std::move(definition), scope, 0, &rows); !result) return result;
    ++version;
  }
  return write_rows(rows);
}

Result<void> Store::Implementation::apply(Definition definition, std::uint32_t scope, std::int64_t row,
                                          std::vector<DefinitionRow>* rows) {
  if (const auto number = number_of(definition); number && scope_of(*number) != scope) {
    return Error{fmt::format("number {} is not one of its source's", *number)};
  }
  Taking taking(*this, scope, row, rows);
  return std::visit([&](auto& one) { return taking.take(std::move(one)); }, definition);
}

Result<void> Store::Implementation::write_rows(const std::vector<DefinitionRow>& rows) {
  for (const DefinitionRow& each : rows) {
    if (Result<void> result = insert_definition.run(each.row, ByteView(each.record)); !result) {
      return Error{fmt::format("the store cannot take a definition: {}", result.message())};
    }
  }
  return {};
}

void Store::Implementation::count_quality(QualityEntry entry) {
  (void)Taking(*this, 0, 0, nullptr).take(std::move(entry));
}

std::optional<QualityEntry> Store::Implementation::why_left_out(LaneNumber number, const ChunkHeader& header) const {
  if (has_bit(book.lanes_left_out, number)) {
    return QualityEntry("lanes_left_out", header.count, "events of lanes and tracks that were left out");
  }
  if (is_near_enough(header.begin_ticks) && is_near_enough(header.end_ticks)) return {};
  return QualityEntry(
      "times_out_of_range", header.count,
      "events of chunks whose times lie more than 2^62 ticks from 0 were left out; their source is broken");
}

void Store::Implementation::follow_clocks() {
  if (!std::exchange(book.clocks_changed, false)) return;
  for (LaneSnapshot& lane : lanes) {
    const ClockNumber clock = tracks[book.tracks.at(lane.track).index]->clock;
    if (clock != kNone) lane.clock = clock_maps[book.clocks.at(clock).index];
  }
}

std::uint64_t Store::Implementation::definition_bytes() const {
  const std::uint64_t listed =
      schemas.size() + clocks.size() + tracks.size() + sources.size() + meta.size() + quality.size() + metrics.size();
  // A lane is there twice: in the store's list and in that of the last snapshot.
  const std::uint64_t per_lane = sizeof(LaneData) + 2 * sizeof(LaneSnapshot) + 2 * kPlaceBytes;
  const std::uint64_t copies = book.fact_bytes + book.problem_bytes;  // of the last snapshot
  return strings->memory_bytes() + book.text_bytes + book.problem_bytes + copies +
         listed * (kPlaceBytes + sizeof(Track)) + lanes.size() * per_lane;
}

}  // namespace accelscope
