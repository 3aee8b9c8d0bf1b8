// Records of the library's buffers, and what it calls back for, become records of the rings. A record is read as far as
// it says that it reaches; one that is shorter than its layout is counted and left out.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "capture/probe/rocm/collector.h"

namespace accelscope::probe::rocm {
namespace {

// Of the calling thread: the streams that it works for, from 1, and how its pushed ranges nest.
constexpr std::size_t kDeepest = 16;
struct OfThread {
  std::uint64_t streams[kDeepest];
  std::size_t depth;
  int ranges;
  int chosen;  // depth of the range that the user chose, + 1; 0: none is open
};
constinit thread_local OfThread t_own __attribute__((tls_model("initial-exec"))) = {};

constexpr std::uint64_t kLongestPayload = 4096;  // of a callback

}  // namespace

void Collector::taken(sdk::Context, sdk::Buffer, sdk::RecordHeader** headers, std::size_t count, void*,
                      std::uint64_t dropped) {
  Collector& here = instance();
  if (!here.channel_.attached()) return;
  here.lost(LossCause::no_room, dropped);
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i] == nullptr || headers[i]->record == nullptr) {
      here.lost(LossCause::cut, 1);
    } else {
      here.translate(*headers[i]);
    }
  }
}

std::uint32_t Collector::operation_of(std::uint32_t kind, std::int32_t operation) {
  if (operation < 0 || static_cast<std::size_t>(operation) >= kMostOperations) operation = 0;
  const std::uint32_t number = kind << 16U | static_cast<std::uint32_t>(operation);
  const bool is_recorded = operations_.contain(kind, static_cast<std::size_t>(operation), [&] {
    const char* given = nullptr;
    std::uint64_t length = 0;
    (void)library_.get_operation(kind, operation, &given, &length);
    const std::string name = given == nullptr ? "" : given;
    if (rows_[kind]->layout == sdk::Layout::call &&
        std::find(excluded_.begin(), excluded_.end(), name) != excluded_.end()) {
      return false;
    }
    BodyWriter body;
    define(DefinitionType::operation, body.number(number).text(rows_[kind]->name).text(name));
    return true;
  });
  return is_recorded ? number : 0;
}

void Collector::translate(const sdk::RecordHeader& header) {
  const KindRow* row =
      header.category == sdk::kTracingCategory && header.kind < kMostKinds ? rows_[header.kind] : nullptr;
  if (row == nullptr) return lost(LossCause::not_read, 1);
  const sdk::LayoutRow& layout = sdk::row_of(row->layout);
  const std::size_t wider = layout.is_wider && version_ >= sdk::kWideIds ? sdk::kWider : 0;
  const std::uint64_t own = RawRecord{header.record, sizeof(std::uint64_t)}.get(sdk::kSize);
  if (own < layout.least_bytes + wider) return lost(LossCause::cut, 1);
  const std::size_t bytes = std::min<std::size_t>(own, layout.most_bytes + wider);
  const std::uint32_t operation = operation_of(header.kind, RawRecord{header.record, bytes}.get(sdk::kOperation));
  ThreadRing* ring = channel_.ring_even_paused();
  if (ring == nullptr || operation == 0) return;
  const auto type = static_cast<std::uint16_t>(RecordType::first_of_sdk) + static_cast<std::uint16_t>(row->layout);
  ring->put_with_bytes(SdkRecord{{static_cast<std::uint16_t>(type), 0, operation}},
                       {reinterpret_cast<const char*>(header.record), bytes});
}

int Collector::requested(std::uint64_t, sdk::Context, std::uint32_t, std::int32_t, std::uint64_t,
                         std::uint64_t* external, void*) {
  *external = t_own.depth == 0 ? 0 : t_own.streams[std::min(t_own.depth, kDeepest) - 1];
  return 0;
}

template <typename OfCall>
void Collector::called(sdk::CallbackRecord<OfCall> record, std::uint64_t*, void*) {
  Collector& here = instance();
  if (record.payload == nullptr || !here.channel_.attached()) return;
  const std::uint64_t own = RawRecord{record.payload, sizeof(std::uint64_t)}.get(sdk::kSize);
  here.called(record.kind, record.operation, record.phase, {record.payload, std::min(own, kLongestPayload)});
}
template void Collector::called(sdk::CallbackRecord<sdk::Ids>, std::uint64_t*, void*);
template void Collector::called(sdk::CallbackRecord<sdk::WideIds>, std::uint64_t*, void*);

void Collector::called(std::uint32_t kind, std::int32_t operation, std::int32_t phase, const RawRecord& raw) {
  const char* text = nullptr;
  if (kind == callbacks_.marks) return mark(operation, phase, raw);
  if (kind == callbacks_.streams) {
    std::uint64_t stream = 0;
    if (operation != sdk::kStreamSet || !raw.read(sdk::stream::id, stream)) return;
    if (phase == sdk::kEnter && t_own.depth++ < kDeepest) t_own.streams[t_own.depth - 1] = stream + 1;
    if (phase == sdk::kExit && t_own.depth > 0) --t_own.depth;
  } else if (kind == callbacks_.symbols) {
    namespace from = sdk::symbol;
    if (operation != sdk::kDeviceSymbol || phase != sdk::kEnter) return;
    if (!raw.read(from::name, text)) return lost(LossCause::cut, 1);
    BodyWriter body;
    body.number(raw.get(from::kernel)).number(raw.get(from::sgprs)).number(raw.get(from::vgprs));
    define(DefinitionType::kernel, body.number(raw.get(from::accum_vgprs)).text(text == nullptr ? "" : text));
  } else if (kind == callbacks_.names && operation == sdk::kNameThread && phase == sdk::kEnter) {
    if (!raw.read(sdk::roctx::text, text) || text == nullptr) return;
    name_thread(static_cast<std::uint32_t>(::syscall(SYS_gettid)), text);
  } else if (kind == callbacks_.controls && phase == sdk::kExit) {
    if (operation == sdk::kResume) enter_profiler_range();
    if (operation == sdk::kPause) leave_range();
  }
}

void Collector::put_mark(RecordType type, const char* text, std::uint64_t range) {
  const bool begins = type == RecordType::mark || type == RecordType::push || type == RecordType::start;
  if (begins && (!in_range() || !channel_.collecting())) return;
  ThreadRing* ring = channel_.ring_even_paused();  // what was begun before ends
  if (ring == nullptr) return;
  MarkRecord record{{static_cast<std::uint16_t>(type), sizeof(MarkRecord) / 8, 0}, 0, range};
  if (begins) record.head.value = names_->number(text);
  record.time = monotonic_ns();
  ring->put(record);
}

// A range that is begun lies between the ends of the calls that begin it and the begins of those that end it.
void Collector::mark(std::int32_t operation, std::int32_t phase, const RawRecord& raw) {
  const char* text = nullptr;
  (void)raw.read(sdk::roctx::text, text);
  const bool is_exit = phase == sdk::kExit;
  if (operation == sdk::kMark && !is_exit) {
    put_mark(RecordType::mark, text, 0);
  } else if (operation == sdk::kPush && is_exit) {
    ++t_own.ranges;
    if (t_own.chosen == 0 && is_chosen(text)) {
      t_own.chosen = t_own.ranges;
      enter_range();
    }
    put_mark(RecordType::push, text, 0);
  } else if (operation == sdk::kPop && !is_exit && t_own.ranges > 0) {
    put_mark(RecordType::pop, nullptr, 0);
    if (t_own.chosen == t_own.ranges--) {
      t_own.chosen = 0;
      leave_range();
    }
  } else if (operation == sdk::kStart && is_exit) {
    const auto range = raw.get(sdk::roctx::started);
    if (is_chosen(text)) {
      {
        const std::lock_guard lock(mutex_);
        chosen_.push_back(range);
      }
      enter_range();
    }
    put_mark(RecordType::start, text, range);
  } else if (operation == sdk::kStop && !is_exit) {
    const auto range = raw.get(sdk::roctx::range);
    put_mark(RecordType::stop, nullptr, range);
    if (!has_range()) return;
    std::unique_lock lock(mutex_);
    const bool was_chosen = std::erase(chosen_, range) > 0;
    lock.unlock();
    if (was_chosen) leave_range();
  }
}

}  // namespace accelscope::probe::rocm
