#include "core/analysis/compilation/compile_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/text.h"

namespace accelscope {
namespace {

// What stands behind a mark in the line, up to one of some characters; "": the line names nothing.
struct LineRow {
  std::string_view text;  // what the line must hold
  std::string_view also;  // and this, somewhere
  bool at_begin = false;  // nothing but dots and blanks, which compilers print for progress, before `text`
  CompileLineRole role = CompileLineRole::none;
  std::string_view what_after, what_until;
  bool keeps_mark = false;           // `what_after` is a part of the name
  std::string_view took_after = {};  // seconds, such as "1.26 sec" and "4.44s"
};

constexpr std::string_view kModule = "MODULE_", kModuleEnd = " ./'\",";

// Lines as libneuronxla and neuronx-cc, JAX and XLA, torch.compile, Triton and PyOpenCL print them.
constexpr LineRow kLineRows[] = {
    {"CC_WRAPPER||: Call compiler with cmd", "", false, CompileLineRole::begins, kModule, kModuleEnd, true},
    {"Compiling function _NeuronGraph", "with neuron-cc", false, CompileLineRole::begins, "Compiling function ", " "},
    {"Compiling module ", "with neuronx-cc", false, CompileLineRole::begins, "Compiling module ", " "},
    {"No candidate found under ", kModule, false, CompileLineRole::begins, kModule, kModuleEnd, true},
    {"Compiler status ", "", true, CompileLineRole::ends, "", ""},
    {"Compilation Successfully Completed for ", "", false, CompileLineRole::ends, kModule, kModuleEnd, true},
    {"CC_WRAPPER||: Failed compilation with", "", false, CompileLineRole::ends, kModule, kModuleEnd, true},
    {"Using a cached neff at ", "", false, CompileLineRole::hits, kModule, kModuleEnd, true},
    {"Finished XLA compilation of ", " sec", false, CompileLineRole::whole, "compilation of ", " ", false, " in "},
    {"ersistent compilation cache hit for ", "", false, CompileLineRole::hits, "hit for '", "'"},
    {"PERSISTENT COMPILATION CACHE HIT for ", "", false, CompileLineRole::hits, "HIT for '", "'"},
    {"Compiled cluster using XLA!", "", false, CompileLineRole::whole, "", ""},
    {"[__recompiles] Recompiling function ", "", false, CompileLineRole::recompiles, "Recompiling function ", " "},
    {"torchinductor done compiling ", "", false, CompileLineRole::ends, "done compiling ", ""},
    {"torchinductor compiling ", "", false, CompileLineRole::begins, "inductor compiling ", ""},
    {"fx graph cache hit for key ", "", false, CompileLineRole::hits, "for key ", " "},
    {"Triton autotuning for function ", "finished after ", true, CompileLineRole::whole, "for function ", " ", false,
     "finished after "},
    {"Built kernel retrieved from cache.", "", false, CompileLineRole::hits, "", ""},
    {"From-source build succeeded, but resulted in", "", false, CompileLineRole::whole, "", ""},
};

bool holds(const LineRow& row, std::string_view line) noexcept {
  const std::size_t at = line.find(row.text);
  if (at == std::string_view::npos) return false;
  if (row.at_begin && line.find_first_not_of(". \t") != at) return false;
  return row.also.empty() || line.find(row.also) != std::string_view::npos;
}

std::string_view what_of(const LineRow& row, std::string_view line) noexcept {
  if (row.what_after.empty()) return {};
  const std::size_t mark = line.find(row.what_after);
  if (mark == std::string_view::npos) return {};
  const std::size_t first = row.keeps_mark ? mark : mark + row.what_after.size();
  const std::size_t last = row.what_until.empty() ? std::string_view::npos
                                                  : line.find_first_of(row.what_until, mark + row.what_after.size());
  return trimmed(line.substr(first, last == std::string_view::npos ? last : last - first));
}

std::int64_t took_of(const LineRow& row, std::string_view line) noexcept {
  if (row.took_after.empty()) return -1;
  const std::size_t mark = line.rfind(row.took_after);
  if (mark == std::string_view::npos) return -1;
  const std::string_view number = line.substr(mark + row.took_after.size());
  double seconds = 0;
  constexpr double kMostSeconds = 1e7;  // a quarter of a year: what is longer is no duration
  const auto read = std::from_chars(number.data(), number.data() + number.size(), seconds);
  if (read.ec != std::errc() || !(seconds >= 0) || seconds > kMostSeconds) return -1;
  return std::llround(seconds * 1e9);
}

// Compilations that have begun and not ended.
class OpenCompilations {
 public:
  static constexpr std::size_t kMost = 256;  // more than a machine compiles at once: then nothing tells their ends

  // The one that is given up for it, where there are too many.
  [[nodiscard]] std::optional<CompileLineAt> begin(const CompileLineAt& line) {
    // The same one is told of several times: it has been open since the first.
    if (!line.what.empty() && find(line.what)) return std::nullopt;
    open_.push_back(line);
    return open_.size() > kMost ? take(0) : std::nullopt;
  }
  // Without a name the one that has been open longest.
  [[nodiscard]] std::optional<CompileLineAt> close(const std::string& what) {
    if (open_.empty()) return std::nullopt;
    const std::optional<std::size_t> at = what.empty() ? std::optional<std::size_t>(0) : find(what);
    return at ? take(*at) : std::nullopt;
  }
  [[nodiscard]] std::size_t count() const noexcept { return open_.size(); }
  [[nodiscard]] const std::vector<CompileLineAt>& left() const noexcept { return open_; }

 private:
  [[nodiscard]] std::optional<std::size_t> find(const std::string& what) const {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (open_[i].what == what) return i;
    }
    return std::nullopt;
  }
  std::optional<CompileLineAt> take(std::size_t at) {
    CompileLineAt taken = std::move(open_[at]);
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
    return taken;
  }
  std::vector<CompileLineAt> open_;  // a handful; the longest open one first
};

class LinePairs {
 public:
  void add(const CompileLineAt& line) {
    if (line.role == CompileLineRole::begins) {
      if (const auto given_up = open_.begin(line)) add_instant(*given_up);
    } else if (line.role == CompileLineRole::ends) {
      line.what.empty() ? end_unnamed(line) : end_named(line);
    } else {
      const std::int64_t took = std::max<std::int64_t>(0, line.took_ns);
      stretches_.push_back({line.role, line.ns - took, line.ns, line.what, line.event});
    }
  }

  std::vector<CompileStretch> take() {
    for (const CompileLineAt& end : held_) end_oldest(end);
    for (const CompileLineAt& line : open_.left()) add_instant(line);
    std::stable_sort(stretches_.begin(), stretches_.end(),
                     [](const CompileStretch& a, const CompileStretch& b) { return a.begin_ns < b.begin_ns; });
    return std::move(stretches_);
  }

 private:
  // Of several that are open it is not known which has ended: the line that names it comes next.
  void end_unnamed(const CompileLineAt& line) {
    if (open_.count() > 1 || !held_.empty()) {
      held_.push_back(line);
    } else {
      end_oldest(line);
    }
  }

  // The line without a name that was printed last tells of the same end.
  void end_named(const CompileLineAt& line) {
    const auto begun = open_.close(line.what);
    if (!begun) {
      if (std::find(ended_.begin(), ended_.end(), line.what) == ended_.end()) add_instant(line);
      return;
    }
    std::int64_t end_ns = line.ns;
    if (!held_.empty() && held_.back().ns >= begun->ns) {
      end_ns = held_.back().ns;
      held_.pop_back();
    }
    add_stretch(*begun, end_ns);
  }

  void end_oldest(const CompileLineAt& line) {
    if (const auto begun = open_.close("")) {
      add_stretch(*begun, line.ns);
    } else {
      add_instant(line);
    }
  }

  void add_stretch(const CompileLineAt& begun, std::int64_t end_ns) {
    // Where nothing names the ends, the oldest may have begun after one of them was printed.
    stretches_.push_back({CompileLineRole::whole, begun.ns, std::max(begun.ns, end_ns), begun.what, begun.event});
    if (begun.what.empty()) return;
    std::erase(ended_, begun.what);
    if (ended_.size() >= OpenCompilations::kMost) ended_.erase(ended_.begin());
    ended_.push_back(begun.what);
  }
  void add_instant(const CompileLineAt& line) {
    stretches_.push_back({CompileLineRole::whole, line.ns, line.ns, line.what, line.event});
  }

  std::vector<CompileStretch> stretches_;
  OpenCompilations open_;
  std::vector<CompileLineAt> held_;  // ends without names, by time
  // What has ended, the last at the end: two lines may tell of one end, of which only one names it.
  std::vector<std::string> ended_;
};

}  // namespace

CompileLine read_compile_line(std::string_view line) noexcept {
  for (const LineRow& row : kLineRows) {
    if (holds(row, line)) return {row.role, what_of(row, line), took_of(row, line)};
  }
  return {};
}

std::vector<CompileStretch> pair_compile_lines(const std::vector<CompileLineAt>& lines) {
  LinePairs pairs;
  for (const CompileLineAt& line : lines) pairs.add(line);
  return pairs.take();
}

}  // namespace accelscope
