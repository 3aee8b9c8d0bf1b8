// Real XPlane profiles, where the environment names a folder that holds some: what a plain reading of their bytes
// counts comes out of the store again.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/capture/sources/xplane/imported_space.h"
#include "tests/support/files.h"

namespace accelscope::capture {
namespace {

// Events, and their durations in ps, by walking the bytes with nothing of the importer. Nothing: they are damaged.
struct PlainCount {
  std::uint64_t events = 0;
  std::int64_t duration_ps = 0;
  bool broken = false;
};

struct PlainField {
  std::uint64_t number = 0, value = 0;
  std::string_view bytes;
};

bool next_field(std::string_view& bytes, PlainField& field, bool& broken) {
  if (bytes.empty()) return false;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (bytes.empty() || shift > 63) {
        broken = true;
        return value;
      }
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
  };
  const std::uint64_t tag = varint();
  field = {.number = tag >> 3U};
  const std::uint64_t type = tag & 7U;
  if (type == 0) {
    field.value = varint();
  } else {
    const std::uint64_t size = type == 2 ? varint() : type == 1 ? 8 : type == 5 ? 4 : ~std::uint64_t{0};
    if (size > bytes.size()) broken = true;
    if (!broken) {
      field.bytes = bytes.substr(0, size);
      bytes.remove_prefix(size);
    }
  }
  return !broken;
}

template <typename Visit>
void each_field(std::string_view bytes, bool& broken, Visit visit) {
  for (PlainField field; !broken && next_field(bytes, field, broken);) visit(field);
}

PlainCount count_plainly(std::string_view space) {
  PlainCount count;
  each_field(space, count.broken, [&](const PlainField& plane) {
    if (plane.number != 1) return;
    each_field(plane.bytes, count.broken, [&](const PlainField& line) {
      if (line.number != 3) return;
      each_field(line.bytes, count.broken, [&](const PlainField& event) {
        if (event.number != 4) return;
        ++count.events;
        each_field(event.bytes, count.broken, [&](const PlainField& field) {
          if (field.number == 3) count.duration_ps += static_cast<std::int64_t>(field.value);
        });
      });
    });
  });
  return count;
}

}  // namespace

TEST_CASE("every event of real XPlane profiles arrives, with its time to the picosecond") {
  const char* folder = std::getenv("ACCELSCOPE_REAL_DATA");
  if (folder == nullptr) return;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder) / "xplane", failure)) {
    if (entry.path().extension() != ".pb") continue;
    CAPTURE(entry.path().string());
    const std::string bytes = test::read_file(entry.path().string());
    const PlainCount count = count_plainly(bytes);
    if (count.broken) {
      CHECK_FALSE(failure_of_space(bytes).empty());
      continue;
    }
    const Imported session = imported_space(bytes);
    std::uint64_t events = 0;
    std::int64_t duration_ps = 0;
    for (const char* table :
         {"kernel", "memcpy", "memset", "runtime_call", "nvtx", "device_event", "xla_op", "xla_async_op", "xla_module",
          "step", "xla_annotation", "host_event", "python_function", "memory"}) {
      for (const EventValues& event : session.events(table)) {
        ++events;
        duration_ps += event.integer("dur_ps").value_or((event.end - event.begin) * 1000);
      }
    }
    CHECK(events == count.events);
    CHECK(duration_ps == count.duration_ps);
    CHECK(session.quality("bad_records") == nullptr);
  }
}

}  // namespace accelscope::capture
