// One import of an XSpace. The file is gone over three times: where everything lies, which stats its events have, the
// events themselves. Nothing of it is kept in memory but the places of metadata and the names that events use.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/sources/base/source.h"
#include "capture/sources/tracks/kernel_work.h"
#include "capture/sources/tracks/unordered_session.h"
#include "capture/sources/xplane/read/space_index.h"
#include "capture/sources/xplane/tables.h"

namespace accelscope::capture::sources::xplane {

// What planes and lines are by their names, and so where their events are shown.

enum class PlaneKind : std::uint8_t {
  gpu,
  tpu,           // and other devices that run whole XLA programs
  device_notes,  // tells of a device, in rows that are nobody's work: a chip's shared parts, traces from inside a
                 // kernel
  host,
  runtime,  // calls of CUDA's or ROCm's runtime
  nvtx,
  environment,  // when the profile was taken
};

struct PlaneRole {
  PlaneKind kind = PlaneKind::host;
  std::string device;  // "TPU 0", as tracks name it; "" of a host
  std::string part;    // "SparseCore 1" of the device; "": its main part
  std::int64_t ordinal = -1;
};
[[nodiscard]] PlaneRole role_of_plane(std::string_view name);
// Whether a plane could be called so: for telling files apart.
[[nodiscard]] bool is_plane_name(std::string_view name) noexcept;

enum class LineClass : std::uint8_t {
  stream,
  ops,        // that occupy the device one after another, and within one another
  async_ops,  // transfers and collectives beside them
  waits,
  notes,  // others' time under other names: modules, steps, scopes
  counters,
  thread,
  calls,     // a thread's, of the runtime
  ranges,    // a thread's, of NVTX
  profiler,  // what the profiler itself costs
};

struct LineRole {
  LineClass of = LineClass::notes;
  XTable table = XTable::xla_annotation;  // that its events are of, unless they say otherwise
  std::string name;                       // of its row, or of its thread
  std::int64_t place = 0;                 // among the rows of its device
  std::optional<std::int64_t> stream;
};
[[nodiscard]] LineRole role_of_line(const PlaneRole& plane, std::string_view name, std::int64_t id);

// By an operation's category, "all-reduce", "all-gather fusion", or by its name where it has none.
[[nodiscard]] bool is_collective_op(std::string_view category) noexcept;
// "copy-start", "copy-done": where an operation that runs beside others begins, and where it is waited for.
[[nodiscard]] bool is_async_begin(std::string_view category) noexcept;
[[nodiscard]] bool is_async_end(std::string_view category) noexcept;
// "while", "conditional", "call": their time and their costs are those of the operations inside.
[[nodiscard]] bool is_holder_op(std::string_view category) noexcept;
[[nodiscard]] bool names_wait(std::string_view name) noexcept;  // "dependency-wait", "barrier-cores"

// "jit(f)/dense/dot_general" of "jit(f)/dense/dot_general:XlaModule"; "" where it names no place in a model.
[[nodiscard]] std::string_view layer_of_op(std::string_view tf_op) noexcept;

// What is known of things by the numbers that a plane gives them: almost always they count up from 1, so that most lie
// in a row; any others are found by their hash.

template <typename Thing>
class IdMap {
 public:
  // How many there are about: memory is bounded by it, whatever the ids.
  void expect(std::size_t count) { row_most_ = 64 + 2 * count; }
  // Null: not made yet. Valid as long as nothing else is asked for.
  [[nodiscard]] std::unique_ptr<Thing>& operator[](std::int64_t id) {
    const auto place = static_cast<std::uint64_t>(id);
    if (place < row_.size()) return row_[place];
    if (place >= row_most_) return others_[id];
    row_.resize(row_most_);
    return row_[place];
  }

 private:
  std::size_t row_most_ = 64;
  std::vector<std::unique_ptr<Thing>> row_;
  std::unordered_map<std::int64_t, std::unique_ptr<Thing>> others_;
};

// kernel_details, ready for the columns.
struct LaunchText {
  tracks::KernelDetails details;
  StringId grid = 0, block = 0;
};

class XPlaneImporter {
 public:
  XPlaneImporter(std::string path, const ImportOptions& options, EventSink& sink)
      : path_(std::move(path)), options_(options), session_(sink) {}

  Result<void> run(const SpaceBytes& bytes);

 private:
  // A stat of a plane, by its metadata.
  struct StatSlot {
    std::string name;
    Stat stat = Stat::other;
    std::array<std::uint32_t, kXTableCount> fields{};  // of StatTable; kUnasked
    std::array<std::uint8_t, kXTableCount> seen{};     // what of its values each table has seen: see source.cpp
  };
  // A text that events refer to, and what it means once an event has asked.
  struct Reference {
    std::string text;
    StringId id = 0;                   // 0: not asked for yet
    std::optional<StringId> layer;     // of a tf_op
    std::optional<LaunchText> launch;  // of kernel_details
    bool is_source = false;            // noted among sources_
  };
  // An event's metadata, as far as events use it.
  struct MetadataSlot {
    StringId name = 0;
    std::string text;  // the name of a counter
    StringId hlo = 0;  // the long name of one that is shown by a short one
    bool python = false, memory = false, release = false, copy = false, set = false;
    bool missing = false;
    bool collective = false, async_begin = false, async_end = false, holder = false, wait = false, nccl = false;
    std::uint32_t tables_seen = 0;  // a bit for each XTable
    std::vector<std::pair<XTable, std::unique_ptr<tracks::EventValues>>> constants;
    StringId layer = 0;
    std::optional<std::int64_t> flops, bytes;
  };
  enum class Variant : std::uint8_t { plain, collective, waiting };
  static constexpr std::size_t kVariantCount = 3;
  struct LineState {
    LineIndex index;
    LineRole role;
    std::optional<std::int64_t> begin_ps;  // where it lies so that sums with it fit; else start_of() is careful
    std::uint32_t tables = 0;              // a bit for each that its events are of
    std::array<std::array<std::uint32_t, kVariantCount>, kXTableCount> rows{};  // of the session; kNone: not yet
    std::size_t thread = 0;                                                     // of threads_
  };
  struct PlaneState {
    PlaneIndex index;
    PlaneRole role;
    std::vector<LineState> lines;
    bool has_counters = false;
    IdMap<StatSlot> stats;
    IdMap<MetadataSlot> metadata;
    IdMap<Reference> references;
    std::unordered_map<StringId, std::uint32_t> counters;  // rows, by name
  };
  // A thread of the host may have lines in several planes.
  struct ThreadState {
    std::string name;
    std::uint32_t tables = 0;
    std::uint32_t group = kNone;
    std::array<std::uint32_t, kXTableCount> rows{};  // kNone: not yet
    bool launches = false;
  };
  struct TableState {
    explicit TableState(XTable which) : table(which), stats(which) {}
    XTable table;
    StatTable stats;
    std::uint32_t number = kNone;  // of the session
  };
  struct Counts {
    std::uint64_t broken_events = 0, first_broken = 0;
    std::uint64_t cut_events = 0;
    std::uint64_t long_events = 0;
    std::uint64_t out_of_range = 0, first_out_of_range = 0;
    std::uint64_t without_metadata = 0;
    std::uint64_t implausible = 0;
    std::uint64_t bytes_stats = 0;
    std::uint64_t counters_without_value = 0;
    std::uint64_t releases_without_size = 0, releases_joined = 0;
    std::uint64_t rounded_times = 0;
    std::uint64_t cut_texts = 0;
  };
  // What a stat of the event at hand says, for what it means here.
  struct Meanings {
    std::optional<std::int64_t> correlation, producer, consumer, producer_type, consumer_type, flops, bytes, address,
        allocated, reserved, allocation, host_index, context;
    std::optional<double> counter;
    std::string_view kernel_details, transfer_details, tf_op, op_name, category, allocator, source;
    // Where these are texts that events refer to.
    Reference *kernel_reference = nullptr, *tf_op_reference = nullptr, *op_name_reference = nullptr;
    bool is_kernel = false, is_copy = false, is_set = false, is_memory = false;
  };

  // Where things lie, what they are: importer.cpp
  Result<void> take_index(const SpaceBytes& bytes, SpaceIndex index);
  [[nodiscard]] Error nothing_in(const SpaceBytes& bytes, const SpaceIndex& index) const;
  void find_times();
  void add_threads();
  [[nodiscard]] StatSlot& slot_of(PlaneState& plane, std::int64_t id);
  [[nodiscard]] MetadataSlot& metadata_of(PlaneState& plane, std::int64_t id);
  [[nodiscard]] Reference& reference(PlaneState& plane, const StatValue& value);
  // Of a text of any kind, "" of others. Valid as long as the event.
  [[nodiscard]] std::string_view text_of(PlaneState& plane, const StatValue& value);
  [[nodiscard]] std::string_view inflated(std::string_view packed);
  [[nodiscard]] XTable table_of(const LineState& line, const MetadataSlot& metadata, const Meanings& meanings,
                                bool is_total) const noexcept;
  void understand(PlaneState& plane, const StatValue& value, StatSlot& slot, Meanings& meanings);
  [[nodiscard]] TableState& table(XTable table) noexcept { return tables_[static_cast<std::size_t>(table)]; }
  // The start in ticks of the session; nothing where it does not fit.
  [[nodiscard]] std::optional<std::int64_t> start_of(const LineState& line, const EventRecord& event) const noexcept;
  [[nodiscard]] __int128 begin_ps_of(const LineState& line) const noexcept;
  [[nodiscard]] bool goes_on(std::uint64_t done);
  using Visit = void (XPlaneImporter::*)(PlaneState&, LineState&, const EventRecord&);
  // Calls with every event. False: the import was cancelled.
  [[nodiscard]] bool each_event(const SpaceBytes& bytes, std::uint64_t done_before, Visit visit);

  // First reading: source.cpp
  void survey_event(PlaneState& plane, LineState& line, const EventRecord& event);
  void survey_constants(PlaneState& plane, MetadataSlot& slot, std::int64_t id, XTable table);
  void make_tables();

  // Second reading: events.cpp
  void write_event(PlaneState& plane, LineState& line, const EventRecord& event);
  void bind_stats(PlaneState& plane, const EventRecord& event, TableState& to);
  void note_source(PlaneState& plane, const StatValue& stat);
  [[nodiscard]] StringId layer_of(const MetadataSlot& metadata, const Meanings& meanings);
  [[nodiscard]] const tracks::EventValues& constants_of(PlaneState& plane, MetadataSlot& slot, std::int64_t id,
                                                        TableState& to);
  void bind_common(PlaneState& plane, LineState& line, const MetadataSlot& metadata, const Meanings& meanings,
                   const EventRecord& event, TableState& to);
  [[nodiscard]] const LaunchText& launch_of(const Meanings& meanings);
  void bind_kernel(const PlaneState& plane, const LineState& line, const Meanings& meanings, TableState& to);
  void bind_transfer(const PlaneState& plane, const LineState& line, const Meanings& meanings,
                     const EventRecord& event);
  void write_memory(PlaneState& plane, const MetadataSlot& metadata, const Meanings& meanings, const EventRecord& event,
                    std::int64_t start);
  void write_counter(PlaneState& plane, const LineState& line, const MetadataSlot& metadata, const Meanings& meanings,
                     std::int64_t start);
  void add_flows(const Meanings& meanings, XTable table, const tracks::WrittenEvent& written);
  [[nodiscard]] std::uint32_t row_of(const PlaneState& plane, LineState& line, XTable table, Variant variant);
  [[nodiscard]] std::uint32_t host_row(LineState& line, XTable table);
  void own_integer(TableState& to, OwnColumn column, std::int64_t value);
  void own_string(TableState& to, OwnColumn column, StringId value);
  [[nodiscard]] std::int64_t start_of_end(const LineState& line, const EventRecord& event) const noexcept;

  // The end: finish.cpp
  void write_facts();
  void write_plane_facts(PlaneState& plane);
  void write_report(const SpaceBytes& bytes);

  std::string path_;
  const ImportOptions& options_;
  tracks::UnorderedSession session_;
  std::unique_ptr<SpaceWindow> metadata_window_;
  SpaceIndex space_;  // its planes move to planes_
  std::vector<PlaneState> planes_;
  std::vector<ThreadState> threads_;
  std::vector<TableState> tables_;
  std::map<std::string, std::uint32_t> pools_, pool_counters_;
  struct Allocation {
    std::int64_t start = 0;
    std::int64_t bytes = 0;
  };
  std::unordered_map<std::uint64_t, std::vector<Allocation>> allocations_;  // by pool and address, for their releases
  std::size_t allocation_count_ = 0;
  bool any_release_without_size_ = false;
  bool has_tpu_ = false;
  std::set<std::string> sources_;
  std::deque<std::string> inflated_;  // texts of the event at hand that were packed
  tracks::EventValues values_;
  std::vector<StatSlot*> slots_;  // of the stats of the event at hand
  LaunchText launch_;             // of the event at hand, where it does not refer to one
  StatTable::Intern intern_ = [this](std::string_view text) { return session_.intern(text); };
  std::unordered_map<std::int64_t, StringId> context_names_;
  std::vector<std::uint64_t> set_;  // by column: the number of the event that has set it
  std::uint64_t event_number_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t beyond_ps_ = 0;  // events of the first reading that no time in ps reaches
  std::uint64_t survey_events_ = 0;
  std::string host_;
  std::optional<std::int64_t> start_unix_ns_;  // of the profile
  std::int64_t base_ns_ = 0;                   // of lines that tell the time of day
  bool in_ns_ = false;                         // ticks are ns: in ps there would be too many
  Counts counts_;
};

}  // namespace accelscope::capture::sources::xplane
