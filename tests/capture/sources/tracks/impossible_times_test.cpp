// Times that cannot be true, in the files of every profiler of GPUs: a kernel at 0, one of 2^63, one whose end was
// taken late on a stream that does one thing after another. They are kept and told of, and lengthen nothing.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "capture/sources/base/source.h"
#include "tests/capture/imported.h"
#include "tests/support/files.h"
#include "tests/support/nsys_export.h"
#include "tests/support/perfetto_writer.h"
#include "tests/support/xspace.h"

namespace accelscope::capture::impossible_times {
namespace {

constexpr int kKernels = 40;
constexpr std::int64_t kBegin = 200'000'000'000'000;  // ns: more than two days after the machine began
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();

struct KernelTimes {
  int number = 0;
  std::int64_t start = 0, end = 0;
};
std::vector<KernelTimes> kernel_times() {
  std::vector<KernelTimes> times;
  for (int i = 0; i < kKernels; ++i) {
    const std::int64_t start = i == 5 ? 0 : kBegin + i * 1000;
    times.push_back({i, start, i == 5 ? 1 : i == 9 ? kGreatest : start + (i == 20 ? 1'600'000'000 : 500)});
  }
  return times;
}

template <typename Line>
std::string lines(const Line& line) {
  std::string text;
  for (const KernelTimes& each : kernel_times()) text += line(each);
  return text;
}

void write_rocprof(const std::string& path) {
  test::write_file(path, "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,BeginNs,EndNs\n" +
                             lines([](const KernelTimes& of) {
                               return fmt::format("{},\"gemm\",8,2,0,42,42,64,64,{},{}\n", of.number, of.start, of.end);
                             }));
}

void write_rocprofv3(const std::string& path) {
  test::write_file(path,
                   "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\","
                   "\"Start_Timestamp\",\"End_Timestamp\"\n" +
                       lines([](const KernelTimes& of) {
                         return fmt::format("\"KERNEL_DISPATCH\",1,1,9,\"gemm\",{},{},{}\n", of.number + 1, of.start,
                                            of.end);
                       }));
}

void write_nsys(const std::string& path) {
  const std::string sql =
      "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
      "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel');"
      "CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"
      "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,"
      " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);" +
      lines([](const KernelTimes& of) {
        return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, 0, 1, 7, {}, 0, 1, 1);", of.start,
                           of.end, of.number + 1);
      });
  REQUIRE(test::make_nsys_export(path, sql).ok());
}

void write_perfetto(const std::string& path) {
  using test::packet;
  using test::TraceMessage;
  const TraceMessage interned = TraceMessage()
                                    .message(24, TraceMessage().number(1, 100).text(2, "stream 7"))
                                    .message(24, TraceMessage().number(1, 1).text(2, "Kernel").number(4, 2));
  std::string trace = packet(TraceMessage().number(10, 1).number(13, 1).message(12, interned));
  for (const KernelTimes& of : kernel_times()) {
    trace += packet(TraceMessage()
                        .number(8, static_cast<std::uint64_t>(of.start))
                        .number(10, 1)
                        .number(13, 2)
                        .message(53, TraceMessage()
                                         .number(1, static_cast<std::uint64_t>(of.number + 1))
                                         .number(2, static_cast<std::uint64_t>(of.end - of.start))
                                         .number(13, 100)
                                         .number(14, 1)));
  }
  test::write_file(path, trace);
}

void write_xplane(const std::string& path) {
  test::XPlane gpu("/device:GPU:0");
  gpu.event_name(1, "gemm");
  constexpr std::int64_t kPsPerNs = 1000;
  test::XLine stream(7, "Stream #7", 0);
  for (const KernelTimes& of : kernel_times())
    stream.event(1, of.start * kPsPerNs, std::min(of.end - of.start, kGreatest / kPsPerNs) * kPsPerNs);
  gpu.add(stream);
  test::write_file(path, test::XSpace().add(gpu).bytes());
}

void write_chrome(const std::string& path) {
  test::write_file(
      path,
      R"({"schemaVersion":1,"traceEvents":[)" + lines([](const KernelTimes& of) {
        return fmt::format(
            R"({}{{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"device":0,"stream":7}}}})",
            of.number == 0 ? "" : ",", of.start / 1000,
            of.end == kGreatest ? "4000000000000000"
                                : fmt::format("{:.1f}", static_cast<double>(of.end - of.start) / 1000));
      }) + "]}");
}

}  // namespace

TEST_CASE("kernels at 0, of 2^63 or that end far too late are kept and lengthen nothing, whatever wrote the file") {
  struct Profile {
    const char* file;
    void (*write)(const std::string& path);
  };
  for (const Profile& profile : {Profile{"results.csv", write_rocprof}, Profile{"1_kernel_trace.csv", write_rocprofv3},
                                 Profile{"report.sqlite", write_nsys}, Profile{"trace.pftrace", write_perfetto},
                                 Profile{"host.xplane.pb", write_xplane}, Profile{"trace.json", write_chrome}}) {
    CAPTURE(std::string(profile.file));
    const test::TemporaryFolder folder;
    profile.write(folder.file(profile.file));
    const sources::RecognisedFile file = sources::recognise(folder.file(profile.file));
    REQUIRE_MESSAGE(file.format() != nullptr, file.why_not);
    const Imported session = Imported::by([&](EventSink& sink) { return file.format()->run(file.path, {}, sink); });
    CHECK(session.snapshot().end_ns - session.snapshot().begin_ns < 100'000);
    std::size_t retained = 0, aside = 0;
    for (const LaneSnapshot& lane : session.snapshot().lanes) {
      const bool doubtful = session.snapshot().find_track(lane.track)->track->kind == "doubtful";
      (doubtful ? aside : retained) += lane.schema->kind == EventKind::slice ? lane.event_count : 0;
    }
    CHECK(retained == kKernels - 3);
    CHECK(aside == 3);
    CHECK(quality_count(session, "impossible_times") == 3);
  }
}

}  // namespace accelscope::capture::impossible_times
