// Writes small Perfetto traces for tests: messages of protobuf, field by field.
//
//   TraceMessage event; event.number(9, 1).number(11, 100).text(23, "matmul");
//   std::string trace = packet(TraceMessage().number(8, 1000).message(11, event));
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace accelscope::test {

class TraceMessage {
 public:
  TraceMessage& number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
    return *this;
  }
  TraceMessage& fixed(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3 | 1);
    for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(value >> (8 * byte));
    return *this;
  }
  TraceMessage& real(std::uint32_t field, double value) { return fixed(field, std::bit_cast<std::uint64_t>(value)); }
  TraceMessage& text(std::uint32_t field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  TraceMessage& message(std::uint32_t field, const TraceMessage& value) { return text(field, value.bytes_); }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value > 0x7f; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// A packet as a file holds it.
[[nodiscard]] inline std::string packet(const TraceMessage& packet) {
  return TraceMessage().message(1, packet).bytes();
}

// The commonest packets. Times are ns.
[[nodiscard]] inline std::string thread_packet(std::uint64_t uuid, std::uint64_t pid, std::uint64_t tid,
                                               std::string_view name) {
  const TraceMessage thread = TraceMessage().number(1, pid).number(2, tid).text(5, name);
  return packet(TraceMessage().message(60, TraceMessage().number(1, uuid).message(4, thread)));
}
[[nodiscard]] inline std::string begin_packet(std::uint64_t ns, std::uint64_t track, std::string_view name,
                                              const TraceMessage& more = {}) {
  std::string event = TraceMessage().number(9, 1).number(11, track).text(23, name).bytes() + more.bytes();
  return packet(TraceMessage().number(8, ns).number(10, 1).text(11, event));
}
[[nodiscard]] inline std::string end_packet(std::uint64_t ns, std::uint64_t track) {
  return packet(TraceMessage().number(8, ns).number(10, 1).message(11, TraceMessage().number(9, 2).number(11, track)));
}

// Something of everything that is read.
[[nodiscard]] inline std::string varied_trace() {
  const TraceMessage names = TraceMessage().message(2, TraceMessage().number(1, 1).text(2, "interned name"));
  const TraceMessage kernel = TraceMessage().number(1, 1).text(2, "_Z4gemm").text(3, "gemm(float*)").text(4, "sm_90");
  const TraceMessage queue = TraceMessage().number(1, 100).text(2, "stream 007");
  const TraceMessage stage = TraceMessage().number(1, 1).text(2, "Kernel").number(4, 2);
  const TraceMessage interned = TraceMessage(names)
                                    .message(24, queue)
                                    .message(24, stage)
                                    .message(23, TraceMessage().number(1, 1).number(2, 77).number(3, 4))
                                    .message(1000, kernel);
  std::string trace = packet(TraceMessage().number(10, 1).message(
      6, TraceMessage()
             .number(2, 6)
             .message(1, TraceMessage().number(1, 6).number(2, 5'000))
             .message(1, TraceMessage().number(1, 1).number(2, 1'700'000'000'000'005'000))
             .message(1, TraceMessage().number(1, 64).number(2, 5).number(4, 1000).number(3, 1))));
  trace += packet(TraceMessage().number(10, 1).number(13, 1).message(12, interned));
  trace += thread_packet(10, 77, 78, "worker");
  trace += packet(TraceMessage().message(60, TraceMessage()
                                                 .number(1, 11)
                                                 .number(5, 10)
                                                 .text(2, "bytes")
                                                 .message(8, TraceMessage().number(3, 3).number(4, 1024))));
  const TraceMessage nested = TraceMessage()
                                  .text(10, "shape")
                                  .message(12, TraceMessage().number(4, 3))
                                  .message(12, TraceMessage().number(4, 4));
  trace += begin_packet(6'000, 10, "step", TraceMessage().message(4, nested).fixed(47, 9));
  trace += packet(TraceMessage().number(8, 2).number(58, 64).number(10, 1).number(13, 2).message(
      11, TraceMessage().number(9, 1).number(10, 1).number(11, 10).fixed(48, 9).text(22, "cpu_op")));
  trace += end_packet(8'000, 10);
  trace += packet(TraceMessage().number(8, 8'100).number(10, 1).message(
      11, TraceMessage().number(9, 4).number(11, 11).number(30, 3)));
  const TraceMessage launch = TraceMessage()
                                  .message(1, TraceMessage().number(1, 256).number(2, 2).number(3, 1))
                                  .message(2, TraceMessage().number(1, 128).number(2, 1).number(3, 1));
  trace += packet(TraceMessage().number(8, 8'200).number(10, 1).number(13, 2).message(
      53, TraceMessage()
              .number(1, 42)
              .number(2, 500)
              .number(5, 1)
              .number(13, 100)
              .number(14, 1)
              .number(19, 1)
              .message(6, TraceMessage().text(1, "correlation").text(2, "42"))
              .message(21, launch)));
  trace += packet(TraceMessage().number(8, 8'300).number(10, 1).message(
      11, TraceMessage().number(9, 2).number(11, 10).message(4, TraceMessage().text(10, "result").real(5, 0.5))));
  return trace;
}

}  // namespace accelscope::test
