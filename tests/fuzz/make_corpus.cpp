// Makes the seeds of every fuzz target from the simulator: FOLDER/<target>/<seed>. Usage: make_corpus FOLDER
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "capture/sim/simulator.h"
#include "core/store/store.h"

using namespace accelscope;

namespace {

class Collect final : public EventSink {
 public:
  Result<void> define(const Definition& definition) override {
    definitions.push_back(definition);
    return {};
  }
  Result<void> append(SealedChunk chunk) override {
    chunks.push_back(std::move(chunk));
    return {};
  }
  std::vector<Definition> definitions;
  std::vector<SealedChunk> chunks;
};

void write(const std::filesystem::path& path, ByteView bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

capture::SimulationOptions small(capture::Detail detail) {
  capture::SimulationOptions options;
  options.detail = detail;
  options.events = 300;
  options.kernels = 1;
  return options;
}

Result<void> make(const std::filesystem::path& folder) {
  for (const capture::Detail detail : {capture::Detail::full, capture::Detail::slim}) {
    Collect collect;
    if (Result<void> done = capture::simulate(small(detail), collect); !done) return done;
    const char* name = detail == capture::Detail::full ? "full" : "slim";
    for (std::size_t i = 0; i < collect.chunks.size() && i < 40; ++i) {
      write(folder / "chunk_fuzz" / fmt::format("{}-{}", name, i), collect.chunks[i].bytes);
    }
    Result<std::unique_ptr<Store>> store = Store::create();
    if (!store) return store.error();
    StoreSink sink(**store);
    if (Result<void> done = capture::simulate(small(detail), sink); !done) return done;
    std::filesystem::create_directories(folder / "session_fuzz");
    if (Result<void> saved = (*store)->save((folder / "session_fuzz" / name).string()); !saved) return saved;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "make_corpus: needs one argument, the folder to write to\n");
    return 2;
  }
  const Result<void> made = make(argv[1]);
  if (!made) fmt::print(stderr, "make_corpus: {}\n", made.message());
  return made ? 0 : 1;
}
