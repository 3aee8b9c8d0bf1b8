// The tables of events: kernels, copies, memory, calls and regions, samples, counters.
#include <fmt/format.h>

#include <lz4frame.h>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "capture/json/json_cursor.h"
#include "capture/sources/rocm/rocpd/reader.h"

namespace accelscope::capture::sources::rocm {
namespace {

// Texts that a variant of rocpd (its fact "compression" is "lz4-frame-v1") packs, each for itself, as a frame of LZ4.

[[nodiscard]] bool is_packed_text(std::string_view bytes) noexcept {
  constexpr std::string_view kFrame("\x04\x22\x4d\x18", 4);
  return bytes.starts_with(kFrame);
}

// False: the frame is damaged, or its text longer than a megabyte.
[[nodiscard]] bool unpack_text(std::string_view bytes, std::string& text) {
  constexpr std::size_t kLongest = 1U << 20, kPiece = 4096;
  struct FreeContext {
    void operator()(LZ4F_dctx* context) const noexcept { LZ4F_freeDecompressionContext(context); }
  };
  LZ4F_dctx* made = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION)) != 0) return false;
  const std::unique_ptr<LZ4F_dctx, FreeContext> context(made);
  text.clear();
  std::size_t hint = 1;
  while (!bytes.empty() && hint != 0) {
    if (text.size() >= kLongest) return false;
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    std::size_t written = kPiece;
    std::size_t taken = bytes.size();
    hint = LZ4F_decompress(context.get(), text.data() + before, &written, bytes.data(), &taken, nullptr);
    text.resize(before + (LZ4F_isError(hint) != 0 ? 0 : written));
    if (LZ4F_isError(hint) != 0) return false;
    if (taken == 0 && written == 0) return false;
    bytes.remove_prefix(taken);
  }
  return hint == 0;
}

using sqlite::BatchedRow;
using sqlite::ForeignRows;
using sqlite::KeyedRows;

// Columns that say where an event was: these in this order, at the begin of every table's list.
constexpr std::size_t kRowId = 0, kRowStart = 1, kRowEnd = 2, kRowEvent = 3, kRowProcess = 4, kRowThread = 5,
                      kRowAgent = 6, kRowQueue = 7, kRowStream = 8, kRowTrack = 9, kRowRegionName = 10,
                      kRowGraphExec = 11, kRowGraphNode = 12, kRowOwn = 13;
constexpr std::array<std::string_view, kRowOwn> kPlaceColumns = {
    "id",       "start",     "end",      "event_id",       "pid",           "tid",          "agent_id",
    "queue_id", "stream_id", "track_id", "region_name_id", "graph_exec_id", "graph_node_id"};

template <std::size_t count>
[[nodiscard]] constexpr std::array<std::string_view, kRowOwn + count> and_own(
    const std::string_view (&own)[count]) {  // NOLINT(modernize-avoid-c-arrays): counted by the compiler
  std::array<std::string_view, kRowOwn + count> columns;
  std::copy(kPlaceColumns.begin(), kPlaceColumns.end(), columns.begin());
  std::copy(std::begin(own), std::end(own), columns.begin() + kRowOwn);
  return columns;
}

constexpr auto kDispatchColumns =
    and_own({"kernel_id", "dispatch_id", "private_segment_size", "group_segment_size", "workgroup_size_x",
             "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z"});
constexpr auto kCopyColumns =
    and_own({"name_id", "size", "src_agent_id", "dst_agent_id", "src_address", "dst_address"});
constexpr auto kAllocateColumns = and_own({"type", "level", "address", "size", "extdata"});
constexpr auto kRegionColumns = and_own({"name_id"});
constexpr auto kGraphColumns = and_own({"kernel_dispatch_count"});
constexpr std::array<std::string_view, 5> kSampleColumns = {"id", "track_id", "timestamp", "event_id", "name_id"};

// Of rocpd_event.
constexpr std::size_t kEventCategory = 0, kEventStack = 1, kEventParentStack = 2, kEventCorrelation = 3,
                      kEventCallStack = 4, kEventLineInfo = 5, kEventExtra = 6;

// Addresses beyond int64 were written as reals.
[[nodiscard]] std::optional<std::uint64_t> address_of(const BatchedRow& rows, std::size_t column) {
  if (!rows.has(column)) return std::nullopt;
  if (const auto number = rows.number(column)) return static_cast<std::uint64_t>(*number);
  const double real = rows.real(column);
  constexpr double kEndOfAddresses = 18446744073709551616.0;
  if (!(real >= 0) || real >= kEndOfAddresses) return std::nullopt;
  return static_cast<std::uint64_t>(real);
}

// An object of JSON without members says nothing.
[[nodiscard]] std::string_view unless_empty(std::string_view json) {
  return json == "{}" || json == "[]" ? std::string_view{} : json;
}

[[nodiscard]] std::string member_of(std::string_view object, std::string_view key) {
  std::string text;
  if (object.size() < key.size()) return text;
  (void)json::each_member(object, [&](const json::JsonField& field) {
    if (field.key == key) text = field.text;
    return field.key != key;
  });
  return text;
}

}  // namespace

void RocpdReader::each_row(std::string_view base, std::span<const std::string_view> columns,
                           const std::function<void(const BatchedRow&)>& visit, bool by_event) {
  const std::string_view table = part_.table(base);
  if (table.empty()) return;
  constexpr std::uint64_t kLookUpEvery = 4096;
  sqlite::RowsAhead rows(
      std::make_unique<sqlite::IdRows>(ahead_, table, columns, by_event ? " ORDER BY \"event_id\"" : ""),
      columns.size());
  std::uint64_t read = 0;
  while (const BatchedRow* const row = rows.next()) {
    visit(*row);
    ++progress_.done;
    if (++read % kLookUpEvery != 0) continue;
    progress_.inform();
    if (run_.session().cancelled() || !run_.session().status()) return;
  }
  run_.report().note(
      "unreadable",
      fmt::format("rows of {} lie on damaged pages ({}); {} others were read", table, rows.id_rows().failure(), read),
      rows.id_rows().gaps());
}

void RocpdReader::place_event(MaybeNumber event, RocmRecord& record) {
  if (!event) return;
  if (!events_.find(*event)) {
    ++missing_events_;
    return;
  }
  const ForeignRows& rows = events_.rows();
  record.category = category_of(rows.number(kEventCategory)).name;
  record.correlation = rows.number(kEventStack);
  record.external = rows.number(kEventCorrelation);
}

// What the row itself does not say, its track does.
void RocpdReader::place_on_device(const BatchedRow& rows, RocmOnDevice& event) {
  event.start = rows.integer(kRowStart);
  event.end = rows.integer(kRowEnd);
  MaybeNumber process = rows.number(kRowProcess);
  MaybeNumber thread = rows.number(kRowThread);
  event.agent = rows.number(kRowAgent);
  event.queue = rows.number(kRowQueue);
  event.stream = rows.number(kRowStream);
  if (rows.has(kRowTrack)) {
    const auto track = tracks_.find(rows.integer(kRowTrack));
    if (track != tracks_.end()) {
      process = process ? process : track->second.process;
      thread = thread ? thread : track->second.thread;
      event.agent = event.agent ? event.agent : track->second.agent;
      event.queue = event.queue ? event.queue : track->second.queue;
      event.stream = event.stream ? event.stream : track->second.stream;
    }
  }
  event.process = process_of(process);
  event.thread = thread_of(thread);
  event.region = strings_.name(rows.number(kRowRegionName));
  if (rows.integer(kRowGraphExec) != 0) {
    event.graph_exec = rows.number(kRowGraphExec);
    event.graph_node = rows.number(kRowGraphNode);
  }
  place_event(rows.number(kRowEvent), event);
}

std::vector<CounterValue> RocpdReader::counters_of(MaybeNumber event, std::string& further) {
  std::vector<CounterValue> values;
  if (!event || !counts_) return values;
  std::map<std::string, double> others;
  for (bool any = counts_->find(*event); any; any = counts_->next()) {
    const ForeignRows& rows = counts_->rows();
    const auto facts = counters_.find(rows.integer(0));
    ++counts_used_;
    if (facts == counters_.end() || !facts->second.column) {
      others[facts == counters_.end() ? fmt::format("counter {}", rows.integer(0)) : facts->second.name] +=
          rows.real(1);
      continue;
    }
    // A row for each place of the device that counts: the launch has their sum.
    const std::uint32_t column = *facts->second.column;
    const auto known =
        std::find_if(values.begin(), values.end(), [&](const CounterValue& each) { return each.counter == column; });
    if (known == values.end()) {
      values.push_back({column, rows.real(1)});
    } else {
      known->value += rows.real(1);
    }
  }
  for (const auto& [name, value] : others) further += fmt::format("{}{}={}", further.empty() ? "" : ", ", name, value);
  return values;
}

void RocpdReader::read_kernels() {
  constexpr std::size_t kKernel = kRowOwn, kDispatch = kRowOwn + 1, kScratch = kRowOwn + 2, kShared = kRowOwn + 3,
                        kWorkgroup = kRowOwn + 4, kGrid = kRowOwn + 7;
  bool by_event = false;
  if (has_counts_) {
    counts_ =
        std::make_unique<KeyedRows>(database_, part_.table("pmc_event"), "event_id",
                                    std::initializer_list<std::string_view>{"pmc_id", "value"}, streamed_condition());
    by_event = !sqlite::is_rising(database_, part_.table("kernel_dispatch"), "event_id");
  }
  std::string further;
  each_row(
      "kernel_dispatch", kDispatchColumns,
      [&](const BatchedRow& rows) {
        RocmDispatch dispatch;
        place_on_device(rows, dispatch);
        const Symbol& symbol = symbol_of(rows.number(kKernel));
        dispatch.name = symbol.name;
        dispatch.vgprs = symbol.vgprs;
        dispatch.accum_vgprs = symbol.accum_vgprs;
        dispatch.sgprs = symbol.sgprs;
        dispatch.kernel_id = rows.number(kKernel);
        dispatch.dispatch_id = rows.number(kDispatch);
        dispatch.scratch_bytes = rows.number(kScratch);
        dispatch.shared_bytes = rows.number(kShared);
        for (std::size_t axis = 0; axis < 3; ++axis) {
          dispatch.workgroup[axis] = rows.integer(kWorkgroup + axis);
          dispatch.work_items[axis] = rows.integer(kGrid + axis);
        }
        further.clear();
        const std::vector<CounterValue> counters = counters_of(rows.number(kRowEvent), further);
        dispatch.further_counters = further;
        run_.write(dispatch, counters);
      },
      by_event);
}

void RocpdReader::read_copies() {
  constexpr std::size_t kName = kRowOwn, kSize = kRowOwn + 1, kSource = kRowOwn + 2, kDestination = kRowOwn + 3,
                        kSourceAddress = kRowOwn + 4, kDestinationAddress = kRowOwn + 5;
  each_row("memory_copy", kCopyColumns, [&](const BatchedRow& rows) {
    RocmCopy copy;
    place_on_device(rows, copy);
    copy.name = strings_.name(rows.number(kName));
    copy.bytes = rows.number(kSize);
    copy.source = rows.number(kSource);
    copy.destination = rows.number(kDestination);
    copy.source_address = address_of(rows, kSourceAddress);
    copy.destination_address = address_of(rows, kDestinationAddress);
    run_.write(copy);
  });
}

void RocpdReader::read_allocations() {
  constexpr std::size_t kType = kRowOwn, kLevel = kRowOwn + 1, kAddress = kRowOwn + 2, kSize = kRowOwn + 3,
                        kFlags = kRowOwn + 4;
  each_row("memory_allocate", kAllocateColumns, [&](const BatchedRow& rows) {
    RocmAllocation allocation;
    place_on_device(rows, allocation);
    const std::string_view type = rows.text(kType);
    allocation.releases = type == "FREE" || type == "RECLAIM";
    allocation.type = run_.intern(type);
    allocation.name = allocation.type;
    allocation.level = run_.intern(rows.text(kLevel));
    allocation.address = address_of(rows, kAddress);
    allocation.bytes = rows.number(kSize);
    if (const std::string flags = member_of(rows.text(kFlags), "flags"); !flags.empty()) {
      allocation.flags = run_.intern(flags);
    }
    run_.write(allocation);
  });
}

std::string RocpdReader::arguments_of(MaybeNumber event) {
  std::string text;
  if (!event || !arguments_) return text;
  for (bool any = arguments_->find(*event); any; any = arguments_->next()) {
    const ForeignRows& rows = arguments_->rows();
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", rows.text(0), rows.text(1));
  }
  return text;
}

// Texts of events, which may be packed.
std::string_view RocpdReader::event_text(std::size_t column, std::string& storage) {
  const ForeignRows& rows = events_.rows();
  const std::string_view text = rows.text(column);
  if (!is_packed_text(text)) return unless_empty(text);
  if (!unpack_text(text, storage)) {
    ++packed_texts_;
    return {};
  }
  return unless_empty(storage);
}

void RocpdReader::describe_host_event(MaybeNumber event, RocmOnHost& host) {
  if (!event) return;
  place_event(event, host);
  arguments_text_ = arguments_of(event);
  host.arguments = arguments_text_;
  if (!events_.reachable()) return;
  host.parent = events_.rows().number(kEventParentStack);
  host.call_stack = event_text(kEventCallStack, call_stack_text_);
  host.line_info = event_text(kEventLineInfo, line_info_text_);
  const std::string_view extra = event_text(kEventExtra, extra_text_);
  message_text_ = member_of(extra, "message");
  host.message = message_text_.empty() ? extra : std::string_view(message_text_);
  host.table = category_of(events_.rows().number(kEventCategory)).table;
}

// Ranges and marks of the program are called by their message; the function that made them is how they were made.
void RocpdReader::write_host_event(RocmOnHost& host) {
  if (host.table == RocmHostTable::mark) {
    host.mark_kind = host.name;
    if (!message_text_.empty()) host.name = run_.intern(message_text_);
  } else if (!message_text_.empty() && host.name == host.category) {
    host.name = run_.intern(message_text_);
  }
  run_.write(host);
}

void RocpdReader::read_regions() {
  constexpr std::size_t kName = kRowOwn;
  const bool by_event = open_event_tables() && !sqlite::is_rising(database_, part_.table("region"), "event_id");
  each_row(
      "region", kRegionColumns,
      [&](const BatchedRow& rows) {
        RocmOnHost host;
        RocmOnDevice place;
        place_on_device(rows, place);
        static_cast<RocmRecord&>(host) = place;
        host.table = RocmHostTable::region;
        message_text_.clear();
        describe_host_event(rows.number(kRowEvent), host);
        host.name = strings_.name(rows.number(kName));
        (void)sample_counters(rows.number(kRowEvent), host.start);
        write_host_event(host);
      },
      by_event);
}

// Tables whose rows belong to events, from their begin.
bool RocpdReader::open_event_tables() {
  if (has_arguments_) {
    arguments_ = std::make_unique<KeyedRows>(database_, part_.table("arg"), "event_id",
                                             std::initializer_list<std::string_view>{"name", "value"});
  }
  if (has_counts_) {
    counts_ =
        std::make_unique<KeyedRows>(database_, part_.table("pmc_event"), "event_id",
                                    std::initializer_list<std::string_view>{"pmc_id", "value"}, streamed_condition());
  }
  return has_arguments_ || has_counts_;
}

// Counters that were read at a moment rather than for a kernel.
bool RocpdReader::sample_counters(MaybeNumber event, std::int64_t time) {
  if (!event || !counts_) return false;
  bool sampled = false;
  for (bool any = counts_->find(*event); any; any = counts_->next()) {
    const ForeignRows& rows = counts_->rows();
    const auto known = counters_.find(rows.integer(0));
    const CounterFacts facts = known == counters_.end()
                                   ? CounterFacts{fmt::format("counter {}", rows.integer(0)), {}, {}, {}, {}}
                                   : known->second;
    const std::uint32_t process = process_of(facts.process);
    run_.sample(run_.counter_row(process, facts.agent, facts.name, facts.unit), time, rows.real(1));
    ++counts_used_;
    sampled = true;
  }
  return sampled;
}

void RocpdReader::read_samples() {
  constexpr std::size_t kSampleTrack = 1, kTime = 2, kSampleEvent = 3, kSampleName = 4;
  const bool by_event = open_event_tables() && !sqlite::is_rising(database_, part_.table("sample"), "event_id");
  each_row(
      "sample", kSampleColumns,
      [&](const BatchedRow& rows) {
        if (streamed_samples_.contains(rows.integer(0))) return;
        RocmOnHost host;
        host.start = host.end = rows.integer(kTime);
        host.table = RocmHostTable::sample;
        MaybeNumber name = rows.number(kSampleName);
        MaybeNumber process;
        const auto track = tracks_.find(rows.integer(kSampleTrack));
        if (track != tracks_.end()) {
          process = track->second.process;
          host.thread = thread_of(track->second.thread);
          name = name ? name : track->second.name;
        }
        host.process = process_of(process);
        message_text_.clear();
        if (sample_counters(rows.number(kSampleEvent), host.start)) return;
        describe_host_event(rows.number(kSampleEvent), host);
        if (host.table == RocmHostTable::region) host.table = RocmHostTable::sample;
        host.name = strings_.name(name);
        write_host_event(host);
      },
      by_event);
}

std::string RocpdReader::streamed_condition() const {
  for (const std::string& column : database_.columns(part_.table("pmc_event"))) {
    if (column == "sample_id") return "\"sample_id\" IS NULL";
  }
  return {};
}

// Counters that the device wrote at a steady pace while kernels ran: a sample is the sum over the places that count.
void RocpdReader::read_streamed_counters() {
  if (!has_counts_ || streamed_condition().empty()) return;
  Result<ForeignRows> ids = database_.rows(part_.table("pmc_event"), {"sample_id"}, " WHERE \"sample_id\" IS NOT NULL");
  while (ids && ids->next()) streamed_samples_.insert(ids->integer(0));
  Result<ForeignRows> rows = database_.select(
      fmt::format("SELECT S.timestamp, P.pmc_id, sum(P.value), count(*) FROM {} P JOIN {} S ON S.id = P.sample_id "
                  "GROUP BY S.timestamp, P.pmc_id",
                  sqlite::quoted_name(part_.table("pmc_event")), sqlite::quoted_name(part_.table("sample"))));
  if (!rows) return;
  while (rows->next()) {
    const auto known = counters_.find(rows->integer(1));
    if (known == counters_.end()) continue;
    const CounterFacts& facts = known->second;
    run_.sample(run_.counter_row(process_of(facts.process), facts.agent, facts.name, facts.unit), rows->integer(0),
                rows->real(2));
    counts_used_ += static_cast<std::uint64_t>(rows->integer(3));
  }
}

void RocpdReader::read_graph_launches() {
  each_row("graph_launch", kGraphColumns, [&](const BatchedRow& rows) {
    RocmOnHost host;
    RocmOnDevice place;
    place_on_device(rows, place);
    static_cast<RocmRecord&>(host) = place;
    host.correlation.reset();  // the call itself is among the regions
    host.table = RocmHostTable::region;
    host.name = run_.intern(fmt::format("graph {}", rows.integer(kRowGraphExec)));
    graph_text_ = fmt::format("kernels={}", rows.integer(kRowOwn));
    host.arguments = graph_text_;
    run_.write(host);
  });
}

void RocpdReader::report_left_out() {
  ImportReport& report = run_.report();
  report.note("relations_open",
              "rows name an event that the file does not have, so that their category and what joins them with calls "
              "are not known; was the profiler stopped early?",
              missing_events_);
  report.note("relations_open", "texts are named that the file does not have; they are called by their numbers",
              strings_.missing());
  report.note("values_left_out", "texts of events are packed in a way that is not known, and were left out",
              packed_texts_);
  if (!has_counts_) return;
  const Result<std::int64_t> counts = database_.row_count(part_.table("pmc_event"));
  const auto all = counts ? static_cast<std::uint64_t>(std::max<std::int64_t>(*counts, 0)) : counts_used_;
  report.note("rows_left_out", "values of counters belong to no kernel, region or sample of the file",
              all > counts_used_ ? all - counts_used_ : 0);
}

}  // namespace accelscope::capture::sources::rocm
