// Writes an XSpace, the XLA profiler's file: protobuf, by hand.
//
//   XPlane plane("/device:TPU:0");
//   plane.event_name(1, "%add = f32[8] add(...)", "add", {plane.number("flops", 8)});
//   XLine line(2, "XLA Ops", 100);
//   line.event(1, 5'000, 2'500, {plane.text("tf_op", "jit(f)/add:")});
//   plane.add(line);
//   const std::string file = XSpace().add(plane).host("tpu-vm-0").bytes();
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace accelscope::test {

class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
    return *this;
  }
  Message& bytes(std::uint32_t field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& real(std::uint32_t field, double value) {
    varint(field << 3U | 1U);
    char raw[8];
    std::memcpy(raw, &value, 8);
    bytes_.append(raw, 8);
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

class XLine {
 public:
  XLine(std::int64_t id, std::string_view name, std::int64_t timestamp_ns) {
    message_.number(1, static_cast<std::uint64_t>(id))
        .bytes(2, name)
        .number(3, static_cast<std::uint64_t>(timestamp_ns));
  }
  // `stats`: as XPlane makes them.
  XLine& event(std::int64_t metadata, std::int64_t offset_ps, std::int64_t duration_ps,
               const std::vector<std::string>& stats = {}) {
    Message event;
    event.number(1, static_cast<std::uint64_t>(metadata)).number(2, static_cast<std::uint64_t>(offset_ps));
    if (duration_ps != 0) event.number(3, static_cast<std::uint64_t>(duration_ps));
    for (const std::string& stat : stats) event.bytes(4, stat);
    message_.bytes(4, event.bytes());
    return *this;
  }
  XLine& total(std::int64_t metadata, std::uint64_t occurrences, std::int64_t duration_ps) {
    Message event;
    event.number(1, static_cast<std::uint64_t>(metadata)).number(3, static_cast<std::uint64_t>(duration_ps));
    message_.bytes(4, event.number(5, occurrences).bytes());
    return *this;
  }
  XLine& raw_event(std::string_view bytes) {
    message_.bytes(4, bytes);
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return message_.bytes(); }

 private:
  Message message_;
};

class XPlane {
 public:
  explicit XPlane(std::string_view name, bool metadata_first = false) : name_(name), metadata_first_(metadata_first) {}

  // Stats, for events, their names and planes. `natural`: as uint64.
  std::string number(std::string_view name, std::int64_t value) {
    return stat(name).number(4, static_cast<std::uint64_t>(value)).bytes();
  }
  std::string natural(std::string_view name, std::uint64_t value) { return stat(name).number(3, value).bytes(); }
  std::string real(std::string_view name, double value) { return stat(name).real(2, value).bytes(); }
  std::string text(std::string_view name, std::string_view value) { return stat(name).bytes(5, value).bytes(); }
  std::string packed(std::string_view name, std::string_view gzip) { return stat(name).bytes(8, gzip).bytes(); }
  std::string raw(std::string_view name, std::string_view value) { return stat(name).bytes(6, value).bytes(); }
  std::string reference(std::string_view name, std::string_view value) {
    return stat(name).number(7, static_cast<std::uint64_t>(stat_id(value))).bytes();
  }

  XPlane& event_name(std::int64_t id, std::string_view name, std::string_view display = {},
                     const std::vector<std::string>& stats = {}) {
    Message metadata;
    metadata.number(1, static_cast<std::uint64_t>(id)).bytes(2, name);
    if (!display.empty()) metadata.bytes(4, display);
    for (const std::string& each : stats) metadata.bytes(5, each);
    const Message entry = Message().number(1, static_cast<std::uint64_t>(id)).bytes(2, metadata.bytes());
    events_.bytes(4, entry.bytes());
    return *this;
  }
  XPlane& add(const XLine& line) {
    lines_.bytes(3, line.bytes());
    return *this;
  }
  XPlane& add_stat(const std::string& stat) {
    stats_.bytes(6, stat);
    return *this;
  }
  [[nodiscard]] std::string bytes() const {
    Message stats;
    for (const auto& [name, id] : ids_) {
      const Message metadata = Message().number(1, static_cast<std::uint64_t>(id)).bytes(2, name);
      stats.bytes(5, Message().number(1, static_cast<std::uint64_t>(id)).bytes(2, metadata.bytes()).bytes());
    }
    const std::string names = events_.bytes() + stats.bytes();
    const std::string head = Message().bytes(2, name_).bytes();
    return head + (metadata_first_ ? names + lines_.bytes() : lines_.bytes() + names) + stats_.bytes();
  }

 private:
  std::int64_t stat_id(std::string_view name) {
    return ids_.try_emplace(std::string(name), static_cast<std::int64_t>(ids_.size()) * 7 + 3).first->second;
  }
  Message stat(std::string_view name) {
    Message made;
    made.number(1, static_cast<std::uint64_t>(stat_id(name)));
    return made;
  }
  std::string name_;
  bool metadata_first_;
  Message lines_, events_, stats_;
  std::map<std::string, std::int64_t> ids_;
};

class XSpace {
 public:
  XSpace& add(const XPlane& plane) {
    message_.bytes(1, plane.bytes());
    return *this;
  }
  XSpace& host(std::string_view name) {
    message_.bytes(4, name);
    return *this;
  }
  XSpace& warning(std::string_view text) {
    message_.bytes(3, text);
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return message_.bytes(); }

 private:
  Message message_;
};

// A TPU and its host: operations within one another, transfers and collectives beside them, a launch, memory, counters.
inline std::string small_tpu_space(bool metadata_first = false) {
  XPlane tpu("/device:TPU:0", metadata_first);
  tpu.add_stat(tpu.text("device_type_string", "TPU v6 Lite"));
  tpu.add_stat(tpu.real("peak_teraflops_per_second", 918));
  tpu.add_stat(tpu.real("peak_hbm_bw_gigabytes_per_second", 1638));
  const std::string category = "hlo_category";
  tpu.event_name(1, "%while = while(...)", "while", {tpu.text(category, "while"), tpu.number("flops", 100)});
  tpu.event_name(
      2, "%dot = f32[8,8] dot(a, b)", "dot",
      {tpu.text(category, "convolution fusion"), tpu.number("flops", 1024), tpu.number("bytes_accessed", 512),
       tpu.text("tf_op", "jit(f)/dense/dot_general:"), tpu.text("source", "/w/model.py:33"),
       tpu.natural("program_id", 0xFEDCBA9876543210ULL), tpu.raw("memory_access_breakdown", "\x0a\x01")});
  tpu.event_name(3, "%copy-start = copy-start(a)", "copy-start",
                 {tpu.text(category, "copy-start"), tpu.number("bytes_accessed", 4096)});
  tpu.event_name(4, "%copy-done = copy-done(c)", "copy-done",
                 {tpu.text(category, "copy-done"), tpu.number("bytes_accessed", 4096)});
  tpu.event_name(5, "%all-reduce = all-reduce(x)", "all-reduce",
                 {tpu.text(category, "all-reduce"), tpu.number("bytes_accessed", 64)});
  tpu.event_name(6, "jit_f(77)");
  tpu.event_name(-7, "dependency-wait");
  tpu.event_name(8, "0");
  tpu.event_name(9, "HBM bandwidth");
  tpu.add(XLine(1, "Steps", 100).event(8, 0, 9'000'500));
  tpu.add(XLine(2, "XLA Modules", 100)
              .event(6, 0, 9'000'500, {tpu.number("_ct", 12), tpu.number("_c", -5), tpu.natural("run_id", 3)}));
  tpu.add(XLine(3, "XLA Ops", 100)
              .event(1, 0, 5'000'250)
              .event(2, 125, 1'000'001, {tpu.natural("device_offset_ps", 99)})
              .event(2, 2'000'000, 1'000'000)
              .event(3, 6'000'000, 10)
              .event(4, 6'500'000, 500'000)
              .event(5, 7'000'000, 1'000'000));
  tpu.add(XLine(4, "Async XLA Ops", 100)
              .event(3, 6'000'000, 900'000)
              .event(3, 6'100'000, 900'000)
              .event(5, 6'200'000, 900'000));
  tpu.add(XLine(6, "XLA TraceMe", 100).event(-7, 50, 78));
  tpu.add(XLine(7, "_counters_", 100)
              .event(9, 0, 0, {tpu.natural("counter_value", 11)})
              .event(9, 1'000'000, 0, {tpu.real("counter_value", 12.5)}));
  XPlane host("/host:CPU", metadata_first);
  host.event_name(1, "$train.py:12 step");
  host.event_name(2, "PjitFunction(f)");
  host.event_name(3, "tpu::System::Execute");
  host.event_name(4, "MemoryAllocation");
  host.event_name(5, "MemoryDeallocation");
  const auto memory = [&](std::int64_t bytes, std::int64_t in_use) {
    std::vector<std::string> stats = {host.number("addr", 4096), host.number("bytes_allocated", in_use),
                                      host.number("index_on_host", 0)};
    if (bytes != 0) stats.push_back(host.number("allocation_bytes", bytes));
    return stats;
  };
  host.add(XLine(11, "python", 90)
               .event(1, 0, 9'000'000)
               .event(2, 1'000'000, 4'000'000)
               .event(3, 1'500'000, 100'000, {host.number("_pt", 12), host.number("_p", -5)})
               .event(4, 1'600'000, 0, memory(256, 256))
               .event(5, 4'600'000, 0, memory(0, 0)));
  XPlane environment("Task Environment");
  environment.add_stat(environment.natural("profile_start_time", 1'771'595'650'217'823'548));
  return XSpace().add(tpu).add(host).add(environment).host("tpu-vm-0").bytes();
}

}  // namespace accelscope::test
