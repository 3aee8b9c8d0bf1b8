// The layer's functions for places of the table: each calls the driver's own, with the same arguments, and tells of it.
// What differs from call to call is a lambda of a few lines.
//
//   put<&Table::clRetainContext>(table, retain_context);                    a function of the layer's own
//   after<&Table::clRetainKernel>(table, [](cl_int result, cl_kernel kernel) { ... });
//   timed<&Table::clFlush>(table, [](std::uint64_t begin_ticks, cl_int result, cl_command_queue queue) { ... });
//   created<&Table::clCreateKernel, "clCreateKernel">(table, [](cl_kernel made, cl_program, const char*) { ... });
//   enqueued<&Table::clEnqueueCopyBuffer, "clEnqueueCopyBuffer", CommandKind::copy>(
//       table, [](cl_mem source, cl_mem target, ...) { return moves({...}); });
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "capture/probe/opencl/layer.h"

namespace accelscope::probe::opencl {

// A call that puts a command into a queue, from before the driver's own call until after it; wrapped_calls.h makes
// such.

// What is told of one, beside what all have.
struct CommandFacts {
  unsigned flags = 0;  // kBlocking ...
  bool moves = false;  // it has a transfer
  TransferRecord transfer{};
  cl_kernel kernel = nullptr;
  cl_uint dimensions = 0;
  const std::size_t* global = nullptr;
  const std::size_t* local = nullptr;
  const std::size_t* offset = nullptr;
};

struct CommandCall {
  Call call;
  CommandKind kind = CommandKind::kernel;
  cl_command_queue queue = nullptr;
  cl_uint wait_count = 0;
  const cl_event* waits = nullptr;
  cl_event* event = nullptr;  // where the program wants it; null: it does not
  CommandFacts facts;
};

class CommandEntry {
 public:
  explicit CommandEntry(const CommandCall& call);
  // Where the driver is to put the event.
  [[nodiscard]] cl_event* event() noexcept { return queue_ != nullptr && call_.event == nullptr ? &own_ : call_.event; }
  void finish(cl_int result);

 private:
  void write(std::uint64_t command, std::uint64_t end_ticks) const;

  const CommandCall& call_;
  std::shared_ptr<Queue> queue_;  // null: it is not recorded
  cl_event own_ = nullptr;
  std::uint64_t begin_ticks_ = 0;
};

// The number of the memory behind a handle; 0: not known.
[[nodiscard]] std::uint32_t number_of_memory(cl_mem memory);

// Only where the drivers have a function: programs ask the loader for what there is.
template <auto Place, typename Function>
void put(Table& table, Function* function) {
  if (table.*Place != nullptr) table.*Place = function;
}

template <auto Place, typename Pointer = std::remove_reference_t<decltype(std::declval<Table&>().*Place)>>
struct AtPlace;
template <auto Place, typename Result, typename... Arguments>
struct AtPlace<Place, Result(CL_API_CALL*)(Arguments...)> {
  static constexpr std::size_t kCount = sizeof...(Arguments);

  template <typename After>
  static Result CL_API_CALL call_after(Arguments... arguments) {
    const Result result = (layer().next.*Place)(arguments...);
    After{}(result, arguments...);
    return result;
  }

  template <typename After>
  static Result CL_API_CALL call_timed(Arguments... arguments) {
    const std::uint64_t begin_ticks = now_ticks();
    const Result result = (layer().next.*Place)(arguments...);
    After{}(begin_ticks, result, arguments...);
    return result;
  }

  // The last argument is where the program wants the error code; it may be null.
  template <Call kCall, typename Made>
  static Result CL_API_CALL call_created(Arguments... arguments) {
    std::tuple all(arguments...);
    cl_int result = CL_SUCCESS;
    cl_int* const wanted = std::exchange(std::get<kCount - 1>(all), &result);
    const std::uint64_t begin_ticks = now_ticks();
    Result made = std::apply(layer().next.*Place, all);
    record_call(kCall, begin_ticks, result);
    if (made != nullptr) of_own<0, kCount - 1>(all, [&](auto... own) { return Made{}(made, own...); });
    if (wanted != nullptr) *wanted = result;
    return made;
  }

  template <auto Objects>
  static Result CL_API_CALL call_release(Arguments... handle) {
    const auto object = (state().*Objects).find(handle...);
    // Forgotten before the driver may give the handle to another one.
    const bool last = object != nullptr && --object->references == 0;
    if (last) (state().*Objects).take(handle...);
    const Result result = (layer().next.*Place)(handle...);
    if constexpr (std::is_same_v<decltype(object), const std::shared_ptr<Queue>>) {
      if (last) state().collector.collect(*object);
    }
    return result;
  }

  // The queue comes first, then the command's own arguments, what it waits for unless it takes no list, and where the
  // program wants the event; maps have the error code behind it and return an address.
  template <Call kCall, CommandKind kKind, typename Describe>
  static Result CL_API_CALL call_enqueued(Arguments... arguments) {
    constexpr bool kMaps = std::is_pointer_v<Result>;
    constexpr std::size_t kEvent = kCount - (kMaps ? 2 : 1);
    constexpr std::size_t kOwnEnd = kEvent > 2 ? kEvent - 2 : kEvent;
    std::tuple all(arguments...);
    CommandCall call{.call = kCall, .kind = kKind, .queue = std::get<0>(all), .event = std::get<kEvent>(all)};
    if constexpr (kOwnEnd != kEvent) {
      call.wait_count = std::get<kOwnEnd>(all);
      call.waits = std::get<kOwnEnd + 1>(all);
    }
    call.facts = of_own<1, kOwnEnd>(all, Describe{});
    CommandEntry entry(call);
    std::get<kEvent>(all) = entry.event();
    if constexpr (kMaps) {
      cl_int result = CL_SUCCESS;
      cl_int* const wanted = std::exchange(std::get<kCount - 1>(all), &result);
      Result mapped = std::apply(layer().next.*Place, all);
      entry.finish(result);
      if (wanted != nullptr) *wanted = result;
      return mapped;
    } else {
      const Result result = std::apply(layer().next.*Place, all);
      entry.finish(result);
      return result;
    }
  }

 private:
  template <std::size_t kBegin, std::size_t kEnd, typename Take>
  static auto of_own(const std::tuple<Arguments...>& all, Take take) {
    return [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
      return take(std::get<kBegin + kAt>(all)...);
    }(std::make_index_sequence<kEnd - kBegin>{});
  }
};

// `after(result, arguments...)` is called once the driver has returned.
template <auto Place, typename After>
void after(Table& table, After) {
  put<Place>(table, AtPlace<Place>::template call_after<After>);
}
// The same with the time before the call: `after(begin_ticks, result, arguments...)`.
template <auto Place, typename After>
void timed(Table& table, After) {
  put<Place>(table, AtPlace<Place>::template call_timed<After>);
}
// A call that makes an object and is told of; `made(object, arguments without the last...)` unless it failed.
template <auto Place, Call kCall, typename Made>
void created(Table& table, Made) {
  put<Place>(table, AtPlace<Place>::template call_created<kCall, Made>);
}
// A call that puts a command into a queue; `describe(the command's own arguments...)` gives its CommandFacts.
template <auto Place, Call kCall, CommandKind kKind, typename Describe>
void enqueued(Table& table, Describe) {
  put<Place>(table, AtPlace<Place>::template call_enqueued<kCall, kKind, Describe>);
}

// Counts the program's references to objects that the layer knows: its members `Objects`.
template <auto Retain, auto Release, auto Objects>
void count_references(Table& table) {
  after<Retain>(table, [](cl_int result, auto handle) {
    const auto object = result == CL_SUCCESS ? (state().*Objects).find(handle) : nullptr;
    if (object != nullptr) ++object->references;
  });
  put<Release>(table, AtPlace<Release>::template call_release<Objects>);
}

}  // namespace accelscope::probe::opencl
