#include "tests/support/tracy_trace.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <random>
#include <set>

namespace accelscope::test {
namespace {

constexpr std::size_t kBlock = 64U << 10;
constexpr std::uint64_t kFirstLiteral = 0x500000;
constexpr std::uint64_t kFirstPointer = 0x7f0000001000;

[[nodiscard]] bool since(TracyRelease release, std::uint8_t minor, std::uint8_t patch) {
  return release.minor > minor || (release.minor == minor && release.patch >= patch);
}

constexpr std::uint32_t kGeneratedPlaces = 40;
constexpr std::uint32_t kGeneratedInner = 9;

std::int64_t below(std::mt19937_64& random, std::int64_t limit) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

// All texts of a model, each once, numbered as they are met.
class Texts {
 public:
  std::uint32_t number(const std::string& text) {
    const auto [known, added] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (added) texts_.push_back(text);
    return known->second;
  }
  std::uint32_t above(const std::string& text) { return text.empty() ? 0 : number(text) + 1; }
  std::uint64_t literal(const std::string& text) {
    literals_.insert(number(text));
    return kFirstLiteral + number(text);
  }
  [[nodiscard]] const std::set<std::uint32_t>& literals() const { return literals_; }
  [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

 private:
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
  std::set<std::uint32_t> literals_;
};

class TraceWriter {
 public:
  TraceWriter(const TracyModel& model, TracyRelease release, TracyPacking packing)
      : model_(model), release_(release), out_(packing) {}

  std::string write() {
    gather();
    header();
    frames();
    sections();
    texts();
    places();
    locks();
    messages();
    extras();
    threads();
    gpus();
    plots();
    pools();
    stacks();
    out_.number<std::uint64_t>(0);  // facts about the program
    images();
    switches();
    processors();
    symbols();
    out_.number<std::uint64_t>(model_.source_files.size());
    for (const auto& [path, content] : model_.source_files) {
      out_.number(static_cast<std::uint32_t>(path.size()));
      out_.bytes(path.data(), path.size());
      out_.number(static_cast<std::uint32_t>(content.size()));
      out_.bytes(content.data(), content.size());
    }
    return out_.finish();
  }

 private:
  void gather_zones(const std::vector<TracyModelZone>& zones) {
    for (const TracyModelZone& zone : zones) {
      texts_.above(zone.name);
      texts_.above(zone.text);
      gather_zones(zone.inner);
    }
  }
  void gather_threads(const std::vector<TracyModelGpuZone>& zones) {
    for (const TracyModelGpuZone& zone : zones) {
      thread_number(zone.thread);
      gather_threads(zone.inner);
    }
  }
  // Texts and numbers of threads lie before what refers to them.
  void gather() {
    texts_.number("first text");
    for (const TracyModelPlace& place : model_.places) {
      for (const std::string* text : {&place.name, &place.function, &place.file}) {
        if (!text->empty()) texts_.literal(*text);
      }
    }
    for (const TracyModelFrames& set : model_.frames) {
      if (!set.name.empty()) texts_.literal(set.name);
    }
    for (const TracyModelSection& section : model_.sections) texts_.above(section.text);
    for (const TracyModelThread& thread : model_.threads) {
      thread_number(thread.id);
      texts_.above(thread.name);
      gather_zones(thread.zones);
      for (const TracyModelMessage& message : thread.messages) texts_.above(message.text);
    }
    for (const TracyModelLock& lock : model_.locks) texts_.above(lock.name);
    for (const TracyModelGpu& gpu : model_.gpus) {
      texts_.above(gpu.name);
      for (const auto& [thread, zones] : gpu.threads) gather_threads(zones);
      for (const TracyModelGpu::Note& note : gpu.notes) texts_.above(note.name);
      for (const auto& [thread, markers] : gpu.markers) {
        for (const TracyModelGpu::Marker& marker : markers) texts_.above(marker.meta);
      }
    }
    for (const TracyModelPlot& plot : model_.plots) texts_.literal(plot.name);
    for (const TracyModelPool& pool : model_.pools) {
      if (!pool.name.empty()) texts_.literal(pool.name);
      for (const TracyModelPool::Use& use : pool.uses) thread_number(use.thread);
    }
    for (const auto& stack : model_.stacks) {
      for (const std::string& function : stack) texts_.above(function);
    }
  }

  std::uint16_t thread_number(std::uint64_t thread) {
    const auto found = std::find(threads_.begin(), threads_.end(), thread);
    if (found != threads_.end()) return static_cast<std::uint16_t>(found - threads_.begin());
    threads_.push_back(thread);
    return static_cast<std::uint16_t>(threads_.size() - 1);
  }
  // The first half of the places were known when the program was built.
  [[nodiscard]] std::size_t built_in() const { return (model_.places.size() + 1) / 2; }
  [[nodiscard]] std::int16_t place(std::size_t place) const {
    return place < built_in() ? static_cast<std::int16_t>(place)
                              : static_cast<std::int16_t>(-static_cast<std::int64_t>(place - built_in()) - 1);
  }
  void time(std::int64_t time, std::int64_t& reference) {
    out_.number(time - reference);
    reference = time;
  }
  void reference(const std::string& text, bool by_number) {
    const bool there = !text.empty();
    out_.number<std::uint64_t>(!there ? 0 : by_number ? texts_.number(text) : texts_.literal(text));
    out_.number(static_cast<std::uint8_t>((by_number ? 1 : 0) | (there ? 2 : 0)));
  }

  void header() {
    out_.bytes("tracy", 5);
    out_.number<std::uint8_t>(0);
    out_.number(release_.minor);
    out_.number(release_.patch);
    if (!since(release_, 12, 3)) out_.number<std::uint64_t>(18);
    out_.number<std::uint64_t>(9);
    out_.number(0.4);
    out_.number(model_.last_time);
    out_.number<std::uint64_t>(0);
    out_.number<std::uint64_t>(4711);
    out_.number<std::int64_t>(100'000);
    out_.number<std::uint8_t>(2);
    out_.number<std::uint32_t>(0x800f12);
    out_.bytes("AuthenticAMD", 12);
    if (since(release_, 9, 2)) out_.number<std::uint8_t>(0);
    out_.text("capture name");
    out_.text(model_.program);
    out_.number<std::uint64_t>(1'743'000'718);
    out_.number<std::uint64_t>(1'737'124'534);
    out_.text("OS: Linux\n");
    out_.number<std::uint64_t>(1);  // one package, one die, one core, two threads
    out_.number<std::uint32_t>(0);
    out_.number<std::uint64_t>(1);
    for (int level = since(release_, 11, 2) ? 0 : 1; level < 2; ++level) {
      out_.number<std::uint32_t>(7);
      out_.number<std::uint64_t>(level == 0 ? 1 : 2);
    }
    out_.number<std::uint64_t>(0x0000000100000000);
    for (int i = 0; i < 3; ++i) out_.number<std::uint64_t>(0);  // no crash
    out_.number<std::uint32_t>(0);
  }

  void frames() {
    out_.number<std::uint64_t>(model_.frames.size());
    for (const TracyModelFrames& set : model_.frames) {
      out_.number<std::uint64_t>(set.name.empty() ? 0 : texts_.literal(set.name));
      out_.number<std::uint8_t>(set.continuous ? 1 : 0);
      out_.number<std::uint64_t>(set.frames.size());
      std::int64_t at = 0;
      for (const auto& [begin, end] : set.frames) {
        time(begin, at);
        if (!set.continuous) time(end, at);
        out_.number<std::int32_t>(-1);
      }
    }
  }

  void sections() {
    if (!since(release_, 13, 4) || release_.tenstorrent) return;
    out_.number<std::uint64_t>(model_.sections.size());
    for (const TracyModelSection& section : model_.sections) {
      out_.bytes(&section.begin, 6);
      out_.bytes(&section.end, 6);
      out_.number24(texts_.above(section.text));
    }
  }

  void texts() {
    const std::vector<std::string>& all = texts_.all();
    const auto pointer = [](std::size_t number) { return kFirstPointer + 16 * number; };
    out_.number<std::uint64_t>(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      out_.number<std::uint64_t>(pointer(i));
      out_.text(all[i]);
    }
    out_.number<std::uint64_t>(texts_.literals().size());
    for (const std::uint32_t literal : texts_.literals()) {
      out_.number<std::uint64_t>(kFirstLiteral + literal);
      out_.number<std::uint64_t>(pointer(literal));
    }
    out_.number<std::uint64_t>(model_.threads.size());
    for (const TracyModelThread& thread : model_.threads) {
      out_.number(thread.id);
      out_.number<std::uint64_t>(pointer(texts_.number(thread.name)));
    }
    out_.number<std::uint64_t>(1);
    out_.number<std::uint64_t>(999);  // a thread of another process
    out_.number<std::uint64_t>(pointer(0));
    out_.number<std::uint64_t>(pointer(0));
    out_.number<std::uint64_t>(threads_.size());
    for (const std::uint64_t thread : threads_) out_.number(thread);
    out_.number<std::uint64_t>(threads_.size() + 1);
    for (const std::uint64_t thread : threads_) out_.number(thread);
    out_.number<std::uint64_t>(999);
  }

  void write_place(const TracyModelPlace& place, bool by_number) {
    reference(place.name, by_number);
    reference(place.function, by_number);
    reference(place.file, by_number);
    out_.number(place.line);
    out_.number<std::uint32_t>(0xff8844);
  }
  void places() {
    out_.number<std::uint64_t>(built_in());
    for (std::size_t i = 0; i < built_in(); ++i) {
      out_.number<std::uint64_t>(0x400000 + 64 * i);
      write_place(model_.places[i], false);
    }
    out_.number<std::uint64_t>(built_in());
    for (std::size_t i = 0; i < built_in(); ++i) out_.number<std::uint64_t>(0x400000 + 64 * i);
    out_.number<std::uint64_t>(model_.places.size() - built_in());
    for (std::size_t i = built_in(); i < model_.places.size(); ++i) write_place(model_.places[i], true);
    for (int kind = 0; kind < 2; ++kind) {  // counts of zones, and of GPU zones
      out_.number<std::uint64_t>(1);
      out_.number<std::int16_t>(0);
      out_.number<std::uint64_t>(5);
    }
  }

  void locks() {
    out_.number<std::uint64_t>(model_.locks.size());
    for (const TracyModelLock& lock : model_.locks) {
      out_.number(lock.number);
      out_.number24(texts_.above(lock.name));
      out_.number(place(0));
      out_.number<std::uint8_t>(0);
      out_.number<std::uint8_t>(1);
      out_.number<std::int64_t>(5);
      out_.number<std::int64_t>(0);
      out_.number<std::uint64_t>(lock.threads.size());
      for (const std::uint64_t thread : lock.threads) out_.number(thread);
      out_.number<std::uint64_t>(lock.events.size());
      std::int64_t at = 5;
      for (const TracyModelLock::Event& event : lock.events) {
        time(event.time, at);
        out_.number(place(0));
        out_.number(event.thread);
        out_.number(event.step);
      }
    }
  }

  // All of them by their times; threads refer to them by what were their addresses.
  void messages() {
    struct Said {
      std::int64_t time;
      std::uint64_t address;
      const TracyModelMessage* message;
    };
    std::vector<Said> said;
    std::uint64_t address = 0x7e0000000000;
    for (const TracyModelThread& thread : model_.threads) {
      for (const TracyModelMessage& message : thread.messages) said.push_back({message.time, address += 48, &message});
    }
    std::stable_sort(said.begin(), said.end(), [](const Said& a, const Said& b) { return a.time < b.time; });
    out_.number<std::uint64_t>(said.size());
    std::int64_t at = 0;
    for (const Said& each : said) {
      out_.number(each.address);
      time(each.time, at);
      reference(each.message->text, true);
      out_.number<std::uint32_t>(0xffffffff);
      out_.number24(0);
      if (since(release_, 13, 2)) {
        out_.number<std::uint8_t>(0);
        out_.number(each.message->severity);
      }
    }
  }

  void extras_of(const std::vector<TracyModelZone>& zones) {
    for (const TracyModelZone& zone : zones) {
      if (has_extra(zone)) extras_.push_back(&zone);
      extras_of(zone.inner);
    }
  }
  [[nodiscard]] static bool has_extra(const TracyModelZone& zone) {
    return !zone.name.empty() || !zone.text.empty() || zone.stack != 0;
  }
  void extras() {
    for (const TracyModelThread& thread : model_.threads) extras_of(thread.zones);
    out_.number<std::uint64_t>(extras_.size() + 1);
    for (int i = 0; i < 12; ++i) out_.number<std::uint8_t>(0);
    for (const TracyModelZone* zone : extras_) {
      out_.number24(zone->stack);
      out_.number24(texts_.above(zone->text));
      out_.number24(texts_.above(zone->name));
      out_.number24(0x00aa00);
    }
  }

  [[nodiscard]] static std::uint64_t count(const std::vector<TracyModelZone>& zones) {
    std::uint64_t all = zones.size();
    for (const TracyModelZone& zone : zones) all += count(zone.inner);
    return all;
  }
  void zone_begin(std::int64_t& at, std::int64_t after, std::uint32_t inner) {
    out_.number(place(static_cast<std::size_t>(below(random_, kGeneratedPlaces))));
    time(at + after, at);
    out_.number<std::uint32_t>(0);
    out_.number(inner);
  }
  void generated_zones(std::uint64_t outer, std::int64_t& at) {
    for (; outer > 0; --outer) {
      zone_begin(at, 50, kGeneratedInner);
      for (std::uint32_t inner = 0; inner < kGeneratedInner; ++inner) {
        zone_begin(at, 10 + below(random_, 300), 0);
        time(at + 100 + below(random_, 4000), at);
      }
      time(at + 20, at);
    }
  }
  void zones(const std::vector<TracyModelZone>& zones, std::int64_t& at, std::uint64_t generated = 0) {
    out_.number(static_cast<std::uint32_t>(zones.size() + generated / (kGeneratedInner + 1)));
    generated_zones(generated / (kGeneratedInner + 1), at);
    for (const TracyModelZone& zone : zones) {
      out_.number(place(zone.place));
      time(zone.begin, at);
      out_.number(has_extra(zone) ? ++extra_ : 0);
      this->zones(zone.inner, at);
      time(zone.end, at);
    }
  }
  void samples(const std::vector<std::pair<std::int64_t, std::uint32_t>>& samples) {
    out_.number<std::uint64_t>(samples.size());
    std::int64_t at = 0;
    for (const auto& [when, stack] : samples) {
      time(when, at);
      out_.number24(stack);
    }
  }
  void threads() {
    std::uint64_t all = 0;
    for (const TracyModelThread& thread : model_.threads) all += count(thread.zones) + thread.generated;
    out_.number(all);
    out_.number<std::uint64_t>(0);
    out_.number<std::uint64_t>(model_.threads.size());
    std::uint64_t address = 0x7e0000000000;
    for (const TracyModelThread& thread : model_.threads) {
      out_.number(thread.id);
      out_.number(count(thread.zones));
      out_.number<std::uint64_t>(0);
      out_.number<std::uint8_t>(0);
      if (since(release_, 11, 1)) out_.number<std::int32_t>(0);
      std::int64_t at = 0;
      zones(thread.zones, at, thread.generated);
      out_.number<std::uint64_t>(thread.messages.size());
      for (std::size_t i = 0; i < thread.messages.size(); ++i) out_.number(address += 48);
      samples({});
      samples(thread.samples);
    }
  }

  void gpu_zones(const std::vector<TracyModelGpuZone>& zones, std::int64_t& cpu, std::int64_t& gpu) {
    for (const TracyModelGpuZone& zone : zones) {
      time(zone.cpu_begin, cpu);
      time(zone.begin, gpu);
      out_.number(place(zone.place));
      out_.number24(0);
      out_.number(thread_number(zone.thread));
      out_.number<std::uint64_t>(zone.inner.size());
      gpu_zones(zone.inner, cpu, gpu);
      time(zone.cpu_end, cpu);
      time(zone.end, gpu);
      if (since(release_, 12, 4)) out_.number(zone.query);
    }
  }
  void gpus() {
    out_.number<std::uint64_t>(0);
    out_.number<std::uint64_t>(0);
    out_.number<std::uint64_t>(model_.gpus.size());
    for (const TracyModelGpu& gpu : model_.gpus) {
      out_.number<std::uint64_t>(0);
      out_.number<std::uint8_t>(1);
      out_.number<std::uint64_t>(3);
      out_.number(1.0F);
      out_.number(gpu.type);
      out_.number24(texts_.above(gpu.name));
      out_.number<std::uint64_t>(0);
      if (since(release_, 12, 4)) {
        out_.number<std::uint64_t>(gpu.notes.size());
        for (std::size_t i = 0; i < gpu.notes.size(); ++i) {
          out_.number(static_cast<std::int64_t>(i));
          out_.number24(texts_.above(gpu.notes[i].name));
        }
      }
      out_.number<std::uint64_t>(gpu.threads.size());
      for (const auto& [thread, zones] : gpu.threads) {
        out_.number(thread);
        out_.number<std::uint64_t>(zones.size());
        std::int64_t at = 0;
        std::int64_t device = 0;
        gpu_zones(zones, at, device);
      }
      if (since(release_, 12, 4)) {
        out_.number<std::uint64_t>(gpu.notes.size());
        for (std::size_t i = 0; i < gpu.notes.size(); ++i) {
          out_.number(gpu.notes[i].query);
          out_.number<std::uint64_t>(1);
          out_.number(static_cast<std::int64_t>(i));
          out_.number(gpu.notes[i].value);
        }
      }
      if (release_.tenstorrent) {
        out_.number<std::uint64_t>(gpu.markers.size());
        for (const auto& [thread, markers] : gpu.markers) {
          out_.number(thread);
          out_.number<std::uint64_t>(markers.size());
          for (const TracyModelGpu::Marker& marker : markers) {
            out_.number(marker.time);
            out_.number(place(marker.place));
            out_.number<std::uint8_t>(3);
            out_.number24(texts_.above(marker.meta));
          }
        }
      }
    }
  }

  void plots() {
    out_.number<std::uint64_t>(model_.plots.size());
    for (const TracyModelPlot& plot : model_.plots) {
      out_.number(plot.type);
      out_.number(plot.format);
      out_.number<std::uint16_t>(0x0100);
      out_.number<std::uint32_t>(0);
      out_.number(texts_.literal(plot.name));
      for (int i = 0; i < 3; ++i) out_.number(0.0);
      out_.number<std::uint64_t>(plot.samples.size());
      std::int64_t at = 0;
      for (const auto& [when, value] : plot.samples) {
        time(when, at);
        out_.number(value);
      }
    }
  }

  void pools() {
    out_.number<std::uint64_t>(model_.pools.size());
    out_.number<std::uint64_t>(0);
    for (const TracyModelPool& pool : model_.pools) {
      const std::uint64_t name = pool.name.empty() ? 0 : texts_.literal(pool.name);
      out_.number(name);
      out_.number<std::uint64_t>(pool.uses.size());
      out_.number<std::uint64_t>(0);
      out_.number<std::uint64_t>(0);
      std::int64_t at = 0;
      for (const TracyModelPool::Use& use : pool.uses) {
        out_.number(use.address);
        out_.number(use.bytes);
        out_.number24(1);
        out_.number24(0);
        time(use.allocated, at);
        out_.number(use.released < 0 ? use.released : use.released - use.allocated);
        out_.number(thread_number(use.thread));
        out_.number(thread_number(use.thread));
      }
      for (int i = 0; i < 3; ++i) out_.number<std::uint64_t>(0);
      out_.number(name);
    }
  }

  void stacks() {
    std::map<std::string, std::uint64_t> functions;
    for (const auto& stack : model_.stacks) {
      for (const std::string& function : stack) functions.try_emplace(function, 0x600000 + 32 * functions.size());
    }
    out_.number<std::uint64_t>(model_.stacks.size());
    for (const auto& stack : model_.stacks) {
      out_.number(static_cast<std::uint16_t>(stack.size()));
      for (const std::string& function : stack) out_.number(functions[function]);
    }
    out_.number<std::uint64_t>(functions.size());
    for (const auto& [function, address] : functions) {
      out_.number(address);
      out_.number<std::uint8_t>(1);
      out_.number24(0);
      out_.number24(texts_.above(function));
      out_.number24(1);
      out_.number<std::uint32_t>(7);
      out_.number(address);
    }
  }

  void images() {
    out_.number<std::uint32_t>(4);
    out_.number<std::uint32_t>(0);
    out_.number<std::uint64_t>(model_.images);
    for (std::uint32_t i = 0; i < model_.images; ++i) {
      out_.number<std::uint16_t>(8);
      out_.number<std::uint16_t>(4);
      out_.number<std::uint8_t>(0);
      for (int byte = 0; byte < 16; ++byte) out_.number<std::uint8_t>(0);
    }
  }

  void switches() {
    std::uint64_t with = 0;
    for (const TracyModelThread& thread : model_.threads) with += thread.ran.empty() ? 0 : 1;
    out_.number(with);
    for (const TracyModelThread& thread : model_.threads) {
      if (thread.ran.empty()) continue;
      out_.number(thread.id);
      out_.number<std::uint64_t>(thread.ran.size());
      std::int64_t at = 0;
      for (const auto& ran : thread.ran) {
        for (std::size_t i = 0; i < 3; ++i) time(ran[i], at);
        out_.number(static_cast<std::uint8_t>(ran[3]));
        out_.number<std::int8_t>(-1);
        out_.number<std::int8_t>(2);
        out_.number<std::uint64_t>(0);
        if (since(release_, 11, 3)) out_.number<std::uint8_t>(9);
      }
    }
  }

  void processors() {
    out_.number<std::uint64_t>(0);
    for (std::size_t cpu = 0; cpu < 256; ++cpu) {
      const bool known = cpu < model_.processors.size();
      out_.number<std::uint64_t>(known ? model_.processors[cpu].ran.size() : 0);
      if (!known) continue;
      std::int64_t at = 0;
      for (const auto& [begin, end, thread] : model_.processors[cpu].ran) {
        time(begin, at);
        time(end, at);
        out_.number(thread == 999 ? static_cast<std::uint16_t>(threads_.size())
                                  : thread_number(static_cast<std::uint64_t>(thread)));
      }
    }
    out_.number<std::uint64_t>(1);
    for (int i = 0; i < 2; ++i) out_.number<std::uint64_t>(999);
    out_.number<std::uint64_t>(1);
    for (int i = 0; i < 3; ++i) out_.number<std::uint64_t>(1);
  }

  void symbols() {
    out_.number<std::uint64_t>(model_.symbols);
    out_.number<std::uint64_t>(0);
    out_.number<std::uint64_t>(model_.symbols);
    for (std::uint32_t i = 0; i < model_.symbols; ++i) {
      for (int byte = 0; byte < 32; ++byte) out_.number<std::uint8_t>(1);
    }
    out_.number<std::uint64_t>(1);  // machine code
    out_.number<std::uint64_t>(0x400000);
    out_.number<std::uint32_t>(3);
    out_.bytes("\x90\x90\xc3", 3);
    out_.number<std::uint64_t>(1);
    for (int i = 0; i < 2; ++i) out_.number<std::uint64_t>(1);
    out_.number<std::uint64_t>(1);
    out_.number<std::uint64_t>(0x400000);
    for (int kind = 0; kind < 6; ++kind) {
      const std::uint32_t samples = kind == 1 ? model_.hardware_samples : 0;
      out_.number<std::uint64_t>(samples);
      for (std::uint32_t i = 0; i < samples; ++i) out_.number<std::int64_t>(5);
    }
  }

  const TracyModel& model_;
  TracyRelease release_;
  TracyPacker out_;
  Texts texts_;
  std::vector<std::uint64_t> threads_ = {0};
  std::vector<const TracyModelZone*> extras_;
  std::uint32_t extra_ = 0;
  std::mt19937_64 random_{5};
};

std::vector<TracyModelZone> nested(std::mt19937_64& random, std::int64_t begin, std::int64_t end, int depth) {
  std::vector<TracyModelZone> zones;
  for (std::int64_t at = begin; at + 4 < end;) {
    TracyModelZone zone;
    zone.place = static_cast<std::size_t>(below(random, 5));
    zone.begin = at + below(random, 3);
    zone.end = zone.begin + 1 + below(random, end - zone.begin - 1);
    if (below(random, 3) == 0) zone.text = fmt::format("text {}", below(random, 40));
    if (below(random, 5) == 0) zone.name = fmt::format("name {}", below(random, 9));
    if (below(random, 7) == 0) zone.stack = 2;
    if (depth < 5 && below(random, 2) == 0) zone.inner = nested(random, zone.begin, zone.end, depth + 1);
    at = zone.end + below(random, 60);
    zones.push_back(std::move(zone));
  }
  return zones;
}

}  // namespace

struct TracyPacker::Packing {
  struct Stream {
    std::array<std::string, 2> buffers;
    std::size_t current = 0;
    LZ4_stream_t* lz4 = nullptr;
    ZSTD_CStream* zstd = nullptr;
  };
  TracyPacking how;
  std::vector<Stream> streams;
  std::size_t turn = 0;
  std::string block;
  std::string file;
};

TracyPacker::TracyPacker(TracyPacking how) : packing_(std::make_unique<Packing>()) {
  Packing& packing = *packing_;
  packing.how = how;
  packing.streams.resize(how.streams == 0 ? 1 : how.streams);
  for (Packing::Stream& stream : packing.streams) {
    if (how.zstd) {
      stream.zstd = ZSTD_createCStream();
      ZSTD_CCtx_setParameter(stream.zstd, ZSTD_c_compressionLevel, 3);
      ZSTD_CCtx_setParameter(stream.zstd, ZSTD_c_contentSizeFlag, 0);
    } else {
      stream.lz4 = LZ4_createStream();
    }
  }
  if (how.unpacked) return;
  if (how.streams == 0) {
    packing.file = how.zstd ? "tZst" : "tlZ\x04";
  } else {
    packing.file = "tr\xfdP";
    packing.file += how.zstd ? '\1' : '\0';
    packing.file += static_cast<char>(how.streams);
  }
}

TracyPacker::~TracyPacker() {
  for (Packing::Stream& stream : packing_->streams) {
    LZ4_freeStream(stream.lz4);
    ZSTD_freeCStream(stream.zstd);
  }
}

void TracyPacker::bytes(const void* data, std::size_t size) {
  std::string& block = packing_->block;
  const char* from = static_cast<const char*>(data);
  while (size > 0) {
    const std::size_t part = std::min(size, kBlock - block.size());
    block.append(from, part);
    from += part;
    size -= part;
    if (block.size() == kBlock) pack();
  }
}

void TracyPacker::pack() {
  Packing& packing = *packing_;
  if (packing.how.unpacked) {
    packing.file += packing.block;
    packing.block.clear();
    return;
  }
  Packing::Stream& stream = packing.streams[packing.turn];
  packing.turn = (packing.turn + 1) % packing.streams.size();
  std::string out(2 * kBlock, '\0');
  // The block before must stay where it lies: the next one refers to it.
  stream.current = 1 - stream.current;
  std::string& source = stream.buffers[stream.current];
  source.assign(packing.block);
  std::uint32_t size = 0;
  if (stream.zstd != nullptr) {
    ZSTD_outBuffer to = {out.data(), out.size(), 0};
    ZSTD_inBuffer in = {source.data(), source.size(), 0};
    (void)ZSTD_compressStream2(stream.zstd, &to, &in, ZSTD_e_flush);
    size = static_cast<std::uint32_t>(to.pos);
  } else {
    size = static_cast<std::uint32_t>(LZ4_compress_fast_continue(
        stream.lz4, source.data(), out.data(), static_cast<int>(source.size()), static_cast<int>(out.size()), 1));
  }
  packing.file.append(reinterpret_cast<const char*>(&size), sizeof size);
  packing.file.append(out, 0, size);
  packing.block.clear();
}

std::string TracyPacker::finish() {
  if (!packing_->block.empty()) pack();
  return std::move(packing_->file);
}

std::vector<TracyRelease> tracy_releases() {
  return {{9, 0},  {9, 1},  {9, 2},  {10, 0}, {11, 0}, {11, 1}, {11, 2}, {11, 3},      {12, 2},
          {12, 3}, {12, 4}, {13, 1}, {13, 2}, {13, 3}, {13, 4}, {14, 0}, {13, 4, true}};
}

std::string tracy_trace(const TracyModel& model, TracyRelease release, TracyPacking packing) {
  return TraceWriter(model, release, packing).write();
}

std::string tracy_trace_unpacked(const TracyModel& model, TracyRelease release) {
  return tracy_trace(model, release, {.unpacked = true});
}

std::string tracy_trace_of_zones(std::uint64_t zones, TracyPacking packing) {
  TracyModel model;
  for (std::uint32_t i = 0; i < kGeneratedPlaces; ++i) {
    model.places.push_back({fmt::format("work {}", i), fmt::format("function {}", i), "src/work.cpp", 10 * i});
  }
  model.threads.push_back({.id = 77, .name = "main", .generated = zones});
  model.last_time = std::int64_t{1} << 46;
  return tracy_trace(model, {13, 1}, packing);
}

TracyModel rich_tracy_model(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  TracyModel model;
  model.last_time = 10'000;
  model.places = {{"", "run", "src/run.cpp", 12},
                  {"step", "step_function", "src/step.cpp", 3},
                  {"no line", "f", "src/f.cpp", 0},
                  {"dynamic", "OP ID:5", "device.cpp", 284},
                  {"", "g<int>", "g.cpp", 9}};
  model.frames = {{"", true, {{0, 0}, {1000, 0}, {2500, 0}}}, {"pass", false, {{10, 200}, {300, 900}}}};
  model.sections = {{100, 900, "warm up"}, {1000, 9000, "measured"}};
  for (const std::uint64_t id : {41353U, 41645U, 7U}) {
    TracyModelThread thread;
    thread.id = id;
    thread.name = id == 7 ? "7" : fmt::format("worker {}", id);
    thread.zones = nested(random, 0, 9000, 0);
    if (id == 41645)
      thread.zones.push_back(
          {.place = 1, .begin = 9500, .end = -1, .inner = {{.place = 0, .begin = 9600, .end = 9700}}});
    for (std::int64_t at = 50; at < 9000; at += 700 + below(random, 900)) {
      thread.messages.push_back(
          {at, at % 2 == 0 ? fmt::format("said at {}", at) : "`TT_DNN_DEVICE_OP: \"Matmul\", 1, 0, 1 ->\n{}`",
           static_cast<std::uint8_t>(at % 6)});
    }
    for (std::int64_t at = 5; at < 3000; at += 500)
      thread.samples.emplace_back(at, 1 + static_cast<std::uint32_t>(at % 2));
    for (std::int64_t at = 0; at < 3000; at += 1000) thread.ran.push_back({at, at + 10, at + 800, 3});
    model.threads.push_back(std::move(thread));
  }
  model.locks = {
      {1, "queue", {41353, 41645}, {{100, 0, 0}, {110, 0, 1}, {120, 1, 0}, {200, 0, 2}, {200, 1, 1}, {260, 1, 2}}},
      {2,
       "",
       {41353, 41645},
       {{300, 0, 3}, {305, 0, 4}, {306, 1, 3}, {307, 1, 4}, {400, 0, 5}, {500, 1, 5}, {600, 0, 0}}}};
  TracyModelGpu vulkan = {.name = "", .type = 2, .threads = {}, .notes = {{5, "bytes read", 12.5}}, .markers = {}};
  vulkan.threads[0] = {{1, 100, 110, 400, 900, 41353, 5, {{0, 102, 104, 410, 500, 41353, 6, {}}}},
                       {1, 200, 210, 300, 380, 41645, 7, {}},
                       {0, 300, 310, -1, -1, 41353, 8, {}}};
  TracyModelGpu core = {.name = "Device: 0, Core (3,1)", .type = 6, .threads = {}, .notes = {}, .markers = {}};
  core.threads[154] = {{3, 7000, 7100, 5000, 5400, 154, 1, {{3, 7010, 7090, 5100, 5200, 154, 2, {}}}}};
  core.threads[152] = {{3, 7000, 7100, 5000, 5300, 152, 3, {}}};
  core.markers[154] = {{5050, 3, "{\"data\": 17}"}, {5060, 3, ""}};
  model.gpus = {vulkan, core};
  model.plots = {{"queue depth", 0, 0, {{10, 1.5}, {20, -2}, {15, 4}}}, {"first text", 2, 2, {{100, 3.25}}}};
  model.pools = {
      {"", {{0x7fff0000, 256, 100, 900, 41353}, {0x7fff1000, 64, 150, -1, 41645}, {0x7fff0000, 32, 950, 960, 41353}}},
      {"device", {{0x10, 4096, 500, 800, 41645}}}};
  model.stacks = {{"inner", "main"}, {"main"}};
  model.processors.resize(4);
  model.processors[3].ran = {{0, 500, 41353}, {500, 700, 999}};
  model.source_files = {{"src/run.cpp", "int run() {\n  return 1;\n}\n"}};
  model.images = 2;
  model.symbols = 3;
  model.hardware_samples = 4;
  return model;
}

}  // namespace accelscope::test
