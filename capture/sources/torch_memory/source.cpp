// PyTorch's memory snapshots (torch.cuda.memory._dump_snapshot): pickles, plain or packed with gzip or zstd, of any
// version that wrote segments. Tables: memory (every alloc and free, and the blocks that were there before),
// memory_segment, out_of_memory, memory_snapshot, user_annotation, counter. Times are ns since 1970; without times in
// the file an entry is a microsecond.
#include <fmt/format.h>

#include <algorithm>

#include "capture/sources/base/import_report.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/pickle/pickle_reader.h"
#include "capture/sources/torch_memory/snapshot_writer.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::torch_memory {

int probe_torch_memory(std::string_view head, const std::string& /*path*/) {
  constexpr int kCertain = 95, kLikely = 70;
  constexpr std::string_view kNames[] = {"device_traces", "segments", "total_size"};
  if (head.size() < 2 || static_cast<unsigned char>(head[0]) != 0x80 || head[1] < 2) return 0;
  const std::string_view begin = head.substr(0, 4096);
  for (const std::string_view name : kNames) {
    if (begin.find(name) != std::string_view::npos) return kCertain;
  }
  return head.find("total_size") != std::string_view::npos ? kLikely : 0;
}

Result<void> import_torch_memory(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                 const ImportOptions& options, EventSink& sink) {
  SessionWriter writer(sink);
  ImportReport report;
  // Reading is half of the work, writing the other.
  const pickle::PickleOptions reading{.name = name, .kind_of_file = "a memory snapshot", .go_on = [&] {
                                        if (options.progress)
                                          options.progress(bytes->file_bytes_read() / 2, bytes->file_bytes());
                                        return !writer.cancelled();
                                      }};
  pickle::ReadPickle read = TRY(pickle::read_pickle(*bytes, reading));
  SnapshotWriter snapshots(writer, report);
  const Result<void> written = snapshots.write(std::move(read), [&](std::uint64_t done, std::uint64_t of) {
    if (options.progress) options.progress(of + done, 2 * std::max<std::uint64_t>(of, 1));
  });
  if (Result<void> done = writer.status(); !done) return done;
  if (!written) return Error{fmt::format("{}: {}", name, written.message())};
  if (writer.cancelled()) return Error{name + ": the import was cancelled"};
  snapshots.end();
  report.write(writer);
  return writer.finish();
}

}  // namespace accelscope::capture::sources::torch_memory
