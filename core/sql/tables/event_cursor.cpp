#include "core/sql/tables/event_cursor.h"

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>

#include "core/chunk/chunk_format.h"

namespace accelscope::sql {

LaneScan::LaneScan(Context& context, const EventTableSpec& spec, std::uint32_t lane_index,
                   const std::vector<EventCondition>& conditions)
    : context_(context),
      schema_columns_(spec.schema_columns.at(context.snapshot->lanes[lane_index].schema.get())),
      predicate_(context.snapshot->lanes[lane_index], lane_index, context.mask_of(context.snapshot->lanes[lane_index])),
      strings_(context.strings(scope_of(lane().number()))) {
  for (const EventCondition& condition : conditions) {
    add_condition(
        predicate_,
        lane_value(*context.snapshot, lane(), spec.columns[condition.column], schema_columns_[condition.column]),
        condition.test);
  }
  chunks_ = predicate_.chunks();
}

FilteredChunk LaneScan::filter_chunk(std::uint32_t chunk) const {
  FilteredChunk filtered;
  filtered.chunk = chunk;
  context_.control->add_done(1);
  const ChunkPart part = predicate_.part(chunk);
  if (!part.any || !predicate_.names_may_match(chunk)) return filtered;
  const ChunkPlace& place = lane().chunk(chunk);
  const auto loaded = context_.load(lane(), chunk);
  if (!loaded) {
    context_.report.skip(place.count, loaded.message());
    return filtered;
  }
  const ChunkView& view = (*loaded)->view;
  if (!predicate_.may_match(view)) return filtered;
  BlockReader reader;
  reader.open(lane(), strings_, place, view);
  filtered.matches.resize(view.block_count());
  for (std::uint32_t block = 0; block < view.block_count(); ++block) {
    reader.seek(block);
    filtered.matches[block] = predicate_.matches(reader, part);
    filtered.count += static_cast<std::uint64_t>(std::popcount(filtered.matches[block]));
  }
  if (filtered.count > 0) filtered.loaded = *loaded;
  return filtered;
}

void LaneScan::enter(FilteredChunk chunk) {
  filtered_ = std::move(chunk);
  reader_.open(lane(), strings_, lane().chunk(filtered_.chunk), filtered_.loaded->view);
  next_block_ = 0;
  matches_ = 0;
}

bool LaneScan::next_block() {
  while (next_block_ < filtered_.matches.size()) {
    const std::uint32_t block = next_block_++;
    matches_ = filtered_.matches[block];
    if (matches_ == 0) continue;
    reader_.seek(block);
    return true;
  }
  filtered_ = {};  // makes room for the chunks to come
  next_block_ = 0;
  return false;
}

void LaneScan::skip(std::uint64_t& rows) {
  while (rows > 0 && (matches_ != 0 || next_block())) {
    for (; matches_ != 0 && rows > 0; matches_ &= matches_ - 1) --rows;
  }
}

void LaneScan::result(sqlite3_context* context, std::size_t schema_column) {
  const ColumnType type = lane().schema->columns[schema_column].type;
  const BlockValues block = reader_.column(schema_column, type);
  if (((block.valid >> row_in_block_) & 1U) == 0) return sqlite3_result_null(context);
  const std::uint64_t value = block.values[row_in_block_];
  switch (type) {
    case ColumnType::int64:
    case ColumnType::boolean:
      return sqlite3_result_int64(context, static_cast<std::int64_t>(value));
    case ColumnType::uint64:
      return result_uint64(context, value);
    case ColumnType::float64:
      return sqlite3_result_double(context, std::bit_cast<double>(value));
    case ColumnType::string:
      return result_pooled_text(context, context_.text(static_cast<StringId>(value)));
    case ColumnType::text:
      return result_text(context, reader_.view().text(schema_column, static_cast<std::uint32_t>(value)));
  }
}

// What the stream and its workers have in common. A worker that comes after the stream has gone finds it closed.
struct EventStream::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Request>> waiting;  // nobody runs them yet
  std::size_t called = 0;                        // workers that were asked to come
  std::size_t running = 0;                       // requests that workers run
  bool closed = false;

  static void run(Request& request) { request.filtered = request.scan->filter_chunk(request.chunk); }

  void work() {
    std::unique_lock lock(mutex);
    while (!closed && !waiting.empty()) {
      const std::shared_ptr<Request> request = std::move(waiting.front());
      waiting.pop_front();
      ++running;
      lock.unlock();
      run(*request);
      lock.lock();
      --running;
      request->done = true;
      changed.notify_all();
    }
    --called;
  }
};

EventStream::EventStream(Context& context, const EventTableSpec& spec, const std::vector<EventCondition>& conditions,
                         std::vector<std::uint32_t> lanes, std::size_t ahead)
    : context_(context), spec_(spec), conditions_(conditions), lanes_(std::move(lanes)), most_ahead_(ahead) {
  if (ahead > 1) shared_ = std::make_shared<Shared>();
}

EventStream::~EventStream() {
  if (!shared_) return;
  std::unique_lock lock(shared_->mutex);
  shared_->closed = true;
  shared_->changed.wait(lock, [this] { return shared_->running == 0; });
}

bool EventStream::next_lane() {
  while (next_lane_ < lanes_.size()) {
    auto scan = std::make_shared<LaneScan>(context_, spec_, lanes_[next_lane_++], conditions_);
    const ChunkSpan& chunks = scan->chunks();
    if (chunks.first >= chunks.last) continue;
    context_.control->add_total(chunks.last - chunks.first);
    next_chunk_ = chunks.first;
    lane_ = std::move(scan);
    return true;
  }
  lane_.reset();
  return false;
}

std::shared_ptr<EventStream::Request> EventStream::next_request() {
  while (true) {
    if ((!lane_ || next_chunk_ >= lane_->chunks().last) && !next_lane()) return nullptr;
    // Only while nothing is on its way are the rows still to skip those of the next chunk.
    const std::uint32_t chunk = next_chunk_++;
    const std::uint64_t count = lane_->lane().chunk(chunk).count;
    if (count <= offset_ && requests_.empty() && lane_->keeps_all_of(chunk)) {
      offset_ -= count;
      context_.control->add_done(1);
      continue;
    }
    return std::make_shared<Request>(Request{lane_, chunk, false, {}});
  }
}

void EventStream::fill() {
  const std::size_t wanted = offset_ > 0 ? 1 : ahead_;
  while (requests_.size() < wanted) {
    std::shared_ptr<Request> request = next_request();
    if (!request) return;
    requests_.push_back(request);
    if (!shared_) continue;
    const std::scoped_lock lock(shared_->mutex);
    shared_->waiting.push_back(std::move(request));
  }
}

void EventStream::call_workers() {
  std::size_t missing = 0;
  {
    const std::scoped_lock lock(shared_->mutex);
    // The caller takes one itself.
    const std::size_t useful = std::min(context_.pool.concurrency() - 1, shared_->waiting.size());
    if (shared_->waiting.size() > 1 && shared_->called < useful) missing = useful - shared_->called;
    shared_->called += missing;
  }
  for (std::size_t i = 0; i < missing; ++i) {
    // A task that nobody keeps is told that it is cancelled, which this one does not ask.
    (void)context_.pool.start([shared = shared_](TaskControl&) {
      shared->work();
      return true;
    });
  }
}

// Runs the first request, or what can be run meanwhile if somebody else does.
void EventStream::finish_front() {
  const std::shared_ptr<Request>& front = requests_.front();
  if (!shared_) return Shared::run(*front);
  std::unique_lock lock(shared_->mutex);
  while (!front->done) {
    if (shared_->waiting.empty()) {
      shared_->changed.wait(lock);
      continue;
    }
    const std::shared_ptr<Request> request = std::move(shared_->waiting.front());
    shared_->waiting.pop_front();
    lock.unlock();
    Shared::run(*request);
    lock.lock();
    request->done = true;
  }
}

bool EventStream::next_chunk() {
  current_.reset();
  while (true) {
    if (context_.cancelled()) {
      status_ = SQLITE_INTERRUPT;
      return false;
    }
    fill();
    if (requests_.empty()) return false;
    if (shared_) call_workers();
    finish_front();
    const std::shared_ptr<Request> request = std::move(requests_.front());
    requests_.pop_front();
    ahead_ = std::min(ahead_ * 2, most_ahead_);
    if (request->filtered.count <= offset_) {
      offset_ -= request->filtered.count;
      continue;
    }
    current_ = request->scan;
    current_->enter(std::move(request->filtered));
    current_->skip(offset_);
    return true;
  }
}

bool is_number(EventField field) noexcept {
  switch (field) {
    case EventField::id:
    case EventField::track_id:
    case EventField::lane:
    case EventField::ts_ns:
    case EventField::dur_ns:
    case EventField::end_ns:
      return true;
    default:
      return false;
  }
}

std::int64_t number_of(LaneScan& scan, EventField field) {
  switch (field) {
    case EventField::id:
      return static_cast<std::int64_t>(scan.id());
    case EventField::track_id:
      return scan.lane().track;
    case EventField::lane:
      return scan.lane().data->lane.depth;
    case EventField::ts_ns:
      return scan.begin_ns();
    case EventField::dur_ns:
      return scan.end_ns() - scan.begin_ns();
    case EventField::end_ns:
      return scan.end_ns();
    default:
      return 0;
  }
}

void NameGroups::add(LaneScan& scan) {
  const StringId name = scan.name();
  if (name >= group_of_name_.size()) group_of_name_.resize(name + std::size_t{1});
  std::uint32_t& group = group_of_name_[name];
  if (group == 0) {
    groups_.push_back({name, 0, {}});
    group = static_cast<std::uint32_t>(groups_.size());
  }
  Group& place = groups_[group - 1];
  ++place.count;
  for (const EventField field : fields_) place.numbers.push_back(number_of(scan, field));
}

void NameGroups::sort(const StringPool& strings, bool descending) {
  std::sort(groups_.begin(), groups_.end(), [&](const Group& a, const Group& b) {
    return descending ? strings.text(b.name) < strings.text(a.name) : strings.text(a.name) < strings.text(b.name);
  });
  group_ = 0;
  row_ = 0;
}

void NameGroups::next() noexcept {
  if (++row_ < groups_[group_].count) return;
  row_ = 0;
  groups_[group_].numbers = {};  // read once: what has been read makes room
  ++group_;
}

std::int64_t NameGroups::number(EventField field) const noexcept {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i] == field) return groups_[group_].numbers[row_ * fields_.size() + i];
  }
  return 0;
}

namespace {

constexpr std::size_t kChunksPerThread = 4;  // filtered ahead: a few hundred KB each

}  // namespace

int EventCursor::start(EventRequest request) {
  streams_.clear();
  heads_.clear();
  groups_.reset();
  conditions_ = std::move(request.conditions);
  order_ = request.order;
  current_ = nullptr;
  if (order_ == RowOrder::any) return start_stream(request.offset);
  const int code = order_ == RowOrder::time ? start_merge() : gather(request.used);
  return code == SQLITE_OK ? skip_rows(request.offset) : code;
}

int EventCursor::skip_rows(std::uint64_t rows) {
  for (; rows > 0 && !at_end(); --rows) {
    if (const int code = next(); code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

int EventCursor::next() {
  if (groups_) {
    groups_->next();
    return SQLITE_OK;
  }
  return order_ == RowOrder::time ? next_merged() : next_in_stream();
}

int EventCursor::start_stream(std::uint64_t offset) {
  const std::size_t ahead = kChunksPerThread * context_.pool.concurrency();
  streams_.push_back(std::make_unique<EventStream>(context_, spec_, conditions_, lanes_with_rows(), ahead));
  current_ = streams_.back().get();
  current_->skip(offset);
  return next_in_stream();
}

int EventCursor::next_in_stream() {
  if (current_->next()) return SQLITE_OK;
  const int code = current_->status();
  current_ = nullptr;
  return code;
}

int EventCursor::gather(const std::vector<EventField>& used) {
  std::vector<EventField> retained;
  std::copy_if(used.begin(), used.end(), std::back_inserter(retained), is_number);
  auto groups = std::make_unique<NameGroups>(std::move(retained));
  int code = start_stream(0);
  for (; current_ != nullptr; code = next_in_stream()) groups->add(current_->scan());
  if (code != SQLITE_OK) return code;
  groups->sort(*context_.snapshot->strings, order_ == RowOrder::name_descending);
  groups_ = std::move(groups);
  return SQLITE_OK;
}

int EventCursor::row_id(std::int64_t& id) {
  if (groups_) return context_.fail("rowid cannot be used with GROUP BY or DISTINCT of the name; use the column id");
  id = static_cast<std::int64_t>(current_->scan().id());
  return SQLITE_OK;
}

void EventCursor::group_result(sqlite3_context* context, const EventColumn& column) const {
  if (column.field == EventField::name)
    return result_pooled_text(context, context_.snapshot->strings->text(groups_->name()));
  sqlite3_result_int64(context, groups_->number(column.field));
}

bool EventCursor::may_hold_rows(const LaneSnapshot& lane) const {
  const std::vector<int>& schema_columns = spec_.schema_columns.at(lane.schema.get());
  return lane.event_count > 0 && std::all_of(conditions_.begin(), conditions_.end(), [&](const EventCondition& each) {
           const EventColumn& column = spec_.columns[each.column];
           return may_hold(lane, lane_value(*context_.snapshot, lane, column, schema_columns[each.column]), each.test);
         });
}

std::vector<std::uint32_t> EventCursor::lanes_with_rows() const {
  std::vector<std::uint32_t> lanes;
  std::copy_if(spec_.lanes.begin(), spec_.lanes.end(), std::back_inserter(lanes),
               [this](std::uint32_t lane) { return may_hold_rows(context_.snapshot->lanes[lane]); });
  return lanes;
}

int EventCursor::start_merge() {
  for (const std::uint32_t lane : lanes_with_rows()) {
    auto stream = std::make_unique<EventStream>(context_, spec_, conditions_, std::vector{lane}, 1);
    if (stream->next()) {
      heads_.push_back({stream->scan().begin_ns(), stream->scan().id(), stream.get()});
      streams_.push_back(std::move(stream));
    } else if (stream->status() != SQLITE_OK) {
      return stream->status();
    }
  }
  std::make_heap(heads_.begin(), heads_.end(), std::greater<>());
  if (!heads_.empty()) current_ = heads_.front().stream;
  return SQLITE_OK;
}

int EventCursor::next_merged() {
  std::pop_heap(heads_.begin(), heads_.end(), std::greater<>());
  Head& head = heads_.back();
  if (head.stream->next()) {
    head.begin_ns = head.stream->scan().begin_ns();
    head.id = head.stream->scan().id();
    std::push_heap(heads_.begin(), heads_.end(), std::greater<>());
  } else {
    if (head.stream->status() != SQLITE_OK) return head.stream->status();
    heads_.pop_back();
  }
  current_ = heads_.empty() ? nullptr : heads_.front().stream;
  return SQLITE_OK;
}

void EventCursor::result(sqlite3_context* context, std::size_t table_column) {
  const EventColumn& column = spec_.columns[table_column];
  if (groups_) return group_result(context, column);
  LaneScan& scan = current_->scan();
  const LaneSnapshot& lane = scan.lane();
  if (is_number(column.field)) return sqlite3_result_int64(context, number_of(scan, column.field));
  if (column.field == EventField::name) return result_pooled_text(context, context_.text(scan.name()));
  if (column.field == EventField::schema) return result_pooled_text(context, lane.schema->name);
  const int schema_column = scan.schema_column(table_column);
  if (schema_column >= 0) return scan.result(context, static_cast<std::size_t>(schema_column));
  if (column.field == EventField::category) return result_pooled_text(context, track_kind(*context_.snapshot, lane));
  sqlite3_result_null(context);
}

}  // namespace accelscope::sql
