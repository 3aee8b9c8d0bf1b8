#include "capture/sources/input_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "capture/sources/base/importers.h"
#include "capture/sources/neuron/system_profile.h"
#include "capture/system/shown_command.h"
#include "core/base/text.h"

namespace accelscope::capture::sources {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRankLabel = "rank ";
constexpr std::string_view kProgramFormat = "neuron-neff";
constexpr int kMaxDepth = 4;  // of folders below the named one
constexpr std::size_t kMaxFiles = 10'000;
constexpr std::size_t kMaxParts = 500;  // a session holds some 510 sources

// The number that follows the word, at most one of "_-" between: "3" of "profile_rank_3.json" for "rank".
[[nodiscard]] std::string_view number_after(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    std::string_view rest = text.substr(at + word.size());
    if (!rest.empty() && (rest.front() == '_' || rest.front() == '-')) rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (end > 0) return rest.substr(0, end);
  }
  return {};
}

[[nodiscard]] bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// Whether a raw capture is looked into for files of another format.
[[nodiscard]] bool is_looked_into(const RecognisedFile& folder, const SourceFormat* only) {
  return only != nullptr && folder.format() != nullptr && folder.format() != only &&
         folder.format()->converter() != nullptr;
}

// Everything but folders, in natural order of their paths. A folder that a format claims as a whole is there as one.
[[nodiscard]] std::vector<RecognisedFile> files_below(const std::string& folder, const SourceFormat* only) {
  std::vector<RecognisedFile> files;
  std::error_code failure;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, failure);
  for (; !failure && entry != fs::recursive_directory_iterator() && files.size() < kMaxFiles;
       entry.increment(failure)) {
    std::error_code unknown;  // an entry that cannot be looked at is left to the reader, which says why
    if (is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_directory(unknown)) {
      RecognisedFile whole = recognise(entry->path().string());
      const bool is_claimed = whole.format() != nullptr && !is_looked_into(whole, only);
      if (is_claimed) files.push_back(std::move(whole));
      if (is_claimed || entry.depth() >= kMaxDepth) entry.disable_recursion_pending();
    } else {
      files.push_back(recognise(entry->path().string()));
    }
  }
  std::ranges::sort(files, natural_less, &RecognisedFile::path);
  return files;
}

// "a" of "a.json", and of "a@latest", as neuron-explorer's store has it.
[[nodiscard]] std::string stem_of(const std::string& path) {
  constexpr std::string_view kVersion = "@latest";
  std::string stem = fs::path(path).lexically_normal().stem().string();
  if (stem.ends_with(kVersion)) stem.resize(stem.size() - kVersion.size());
  return stem;
}

// Moves the parts that are not wanted to those that were skipped.
template <typename Unwanted>
void skip_parts(InputParts& found, Unwanted unwanted) {
  std::vector<InputPart> retained;
  for (const InputPart& part : found.parts) {
    if (unwanted(part)) {
      found.skipped.push_back(part.file.path);
    } else {
      retained.push_back(part);
    }
  }
  found.parts = std::move(retained);
}

// A raw trace beside its own conversion would be the same events twice.
void drop_converted(InputParts& found) {
  const auto is_raw = [](const InputPart& part) { return part.format->converter() != nullptr; };
  const auto same_run = [](const InputPart& a, const InputPart& b) {
    if (b.file.path.starts_with(fmt::format("{}{}", a.file.path, kConvertedFolder))) return true;
    if (!a.label.empty() || !b.label.empty()) return a.label == b.label;
    return fs::path(a.file.path).replace_extension() == fs::path(b.file.path).replace_extension();
  };
  skip_parts(found, [&](const InputPart& part) {
    return is_raw(part) && std::any_of(found.parts.begin(), found.parts.end(),
                                       [&](const InputPart& other) { return !is_raw(other) && same_run(part, other); });
  });
}

// The same events in another format of the same tool.
void drop_same_outputs(InputParts& found) {
  std::map<std::string, const SourceFormat*> first;
  const auto output_of = [](const InputPart& part) {
    return part.format->facts.output_of == nullptr ? std::string() : part.format->facts.output_of(part.file.path);
  };
  for (const InputPart& part : found.parts) {
    const std::string output = output_of(part);
    if (output.empty()) continue;
    const SourceFormat*& best = first.try_emplace(output, part.format).first->second;
    best = std::min(best, part.format);  // all lie in one table
  }
  skip_parts(found, [&](const InputPart& part) {
    const auto best = first.find(output_of(part));
    return best != first.end() && best->second != part.format;
  });
}

// A log directory of the XLA profiler holds a folder for each run, and in it a file for each host. What lies beside
// those is the same once more, or made of them. Of several runs the last one is taken: they are no parts of each other.
void keep_last_xla_run(InputParts& found) {
  const auto is_xplane = [](const InputPart& part) { return part.format->name == "xplane"; };
  std::string last;
  for (const InputPart& part : found.parts) {
    const std::string run = fs::path(part.file.path).parent_path().string();
    if (is_xplane(part) && !xplane::is_double_of_xplane(part.file.path) && (last.empty() || natural_less(last, run)))
      last = run;
  }
  if (last.empty()) return;
  const auto is_left_out = [&](const InputPart& part) {
    const std::string folder = fs::path(part.file.path).parent_path().string();
    return xplane::is_double_of_xplane(part.file.path) || (is_xplane(part) && folder != last);
  };
  skip_parts(found, is_left_out);
  for (InputPart& part : found.parts) {
    if (is_xplane(part) && part.label.empty()) part.label = xplane::host_of_file(part.file.path);
  }
  if (found.parts.size() == 1) found.parts.front().label.clear();
}

// A session file among profiles was made of them.
void drop_sessions(InputParts& found) {
  const auto is_session = [](const InputPart& part) { return part.file.is_session; };
  if (std::all_of(found.parts.begin(), found.parts.end(), is_session)) return;
  skip_parts(found, is_session);
}

[[nodiscard]] Error nothing_found(const std::string& path, std::size_t files) {
  std::string formats;
  for (const SourceFormat& format : source_formats()) {
    formats += fmt::format("{}{}", formats.empty() ? "" : ", ", format.title);
  }
  return Error{fmt::format(
      "{}: nothing in this folder can be read ({}); looked for folders or files profile_rank_<n>, "
      "system_profile.json and device_profile_model_<id>.json, and files of these formats: {}. Name the folder that "
      "holds them, or the file itself",
      path, files == 0 ? "it holds no files" : fmt::format("{} files looked at", files), formats)};
}

// Files that no format recognises: one that is named as a rank that nothing else holds is a damaged rank.
struct Stranger {
  std::string path;
  std::string label;
  std::string why;
};

void sort_out(const std::vector<Stranger>& strangers, InputParts& found) {
  for (const Stranger& stranger : strangers) {
    const bool known =
        stranger.label.empty() || std::any_of(found.parts.begin(), found.parts.end(),
                                              [&](const InputPart& part) { return part.label == stranger.label; });
    if (known) {
      found.skipped.push_back(stranger.path);
    } else {
      found.unreadable.push_back(stranger.why);
    }
  }
}

// Whether one of the profiles says that the others are of its run.
[[nodiscard]] bool lists_others(const InputParts& found) {
  return std::ranges::any_of(found.parts, [&](const InputPart& part) {
    const std::vector<std::string> listed = neuron::listed_profiles(part.file.path);
    return !listed.empty() && std::ranges::all_of(found.parts, [&](const InputPart& other) {
      return &other == &part || !other.format->facts.stands_alone ||
             std::ranges::find(listed, stem_of(other.file.path)) != listed.end();
    });
  });
}

// A tool's store of profiles is no session.
[[nodiscard]] Result<void> check_alone(const std::string& path, const InputParts& found) {
  std::string commands;
  std::size_t count = 0;
  for (const InputPart& part : found.parts) {
    if (!part.format->facts.stands_alone || is_rank_label(part.label)) continue;
    commands += "\n  accelscope " + system::shell_quote(part.file.path);
    ++count;
  }
  if (count < 2 || lists_others(found)) return {};
  return Error{fmt::format("{}: holds {} profiles, each of them a session of its own; open one of them:{}", path, count,
                           commands)};
}

Result<InputParts> parts_of_folder(const std::string& path, const SourceFormat* only, bool one_run) {
  InputParts found;
  std::vector<Stranger> strangers;
  std::vector<InputPart> programs;
  const std::vector<RecognisedFile> files = files_below(path, only);
  for (const RecognisedFile& file : files) {
    const bool is_program = file.path.ends_with(".neff");
    const bool is_wanted = is_program && std::ranges::find(file.formats, only) != file.formats.end();
    if (is_program && (only == nullptr || only->name != kProgramFormat)) {  // that a trace belongs to
      if (only == nullptr && file.format() != nullptr) programs.push_back({file, file.format(), {}});
      continue;
    }
    const std::string name = fs::path(file.path).lexically_relative(path).string();
    if (file.format() == nullptr) {
      strangers.push_back({file.path, label_of_path(name), file.why_not});
    } else if (only != nullptr && file.format() != only && !is_wanted) {
      found.skipped.push_back(file.path);
    } else {
      found.parts.push_back({file, is_wanted ? only : file.format(), label_of_file(file, name)});
    }
  }
  if (found.parts.empty()) found.parts = std::move(programs);
  drop_converted(found);
  drop_same_outputs(found);
  drop_sessions(found);
  keep_last_xla_run(found);
  sort_out(strangers, found);
  std::vector<InputPart*> runs;
  for (InputPart& part : found.parts) runs.push_back(&part);
  join_runs(runs);
  std::erase_if(found.parts, [](const InputPart& part) { return part.file.path.empty(); });
  if (found.parts.empty()) return nothing_found(path, files.size());
  if (found.parts.size() > kMaxParts) {
    return Error{fmt::format("{}: holds {} profiles; at most {} become one session, so open fewer of them", path,
                             found.parts.size(), kMaxParts)};
  }
  const bool is_conversion = fs::path(path + "/").parent_path().filename().string().ends_with(kConvertedFolder);
  if (!one_run && !is_conversion) TRY(check_alone(path, found));
  std::vector<InputPart*> all;
  for (InputPart& part : found.parts) all.push_back(&part);
  share_rank(all);
  tell_apart(all);
  std::stable_sort(found.parts.begin(), found.parts.end(),
                   [](const InputPart& a, const InputPart& b) { return natural_less(a.label, b.label); });
  return found;
}

// "3" of "rank 03 run 2", whichever run of it. "": the label is not one of a rank.
[[nodiscard]] std::string_view rank_in_label(std::string_view label) {
  if (!label.starts_with(kRankLabel)) return {};
  std::string_view rank = label.substr(kRankLabel.size());
  rank = rank.substr(0, rank.find(' '));
  while (rank.size() > 1 && rank.front() == '0') rank.remove_prefix(1);
  return rank;
}

}  // namespace

Result<std::vector<InputPart>> parts_of_conversion(const InputPart& raw, const Converted& made) {
  std::vector<InputPart> parts;
  for (const std::string& path : made.paths) {
    RecognisedFile file = recognise(path);
    const SourceFormat* format = file.format();
    if (format == nullptr) format = TRY(find_format(made.format));
    std::string label = label_of_file(file, file_name(path));
    parts.push_back({std::move(file), format, std::move(label)});
  }
  if (parts.size() == 1) {
    parts.front().label = raw.label;
    parts.front().shown = made.shown.empty() ? raw.file.path : made.shown;
    return parts;
  }
  std::vector<InputPart*> all;
  for (InputPart& part : parts) all.push_back(&part);
  share_rank(all);
  tell_apart(all);
  for (InputPart& part : parts) {
    if (!raw.label.empty()) part.label = part.label.empty() ? raw.label : fmt::format("{} {}", raw.label, part.label);
  }
  return parts;
}

bool are_of_one_run(const std::vector<RecognisedFile>& files) {
  if (files.size() < 2) return false;
  std::map<const SourceFormat*, std::multiset<std::string>> ranks;  // "" where a file says none
  for (const RecognisedFile& file : files) {
    std::error_code failure;
    if (!fs::is_regular_file(file.path, failure) || !file.format() || file.format()->facts.in_place) return false;
    ranks[file.format()].emplace(rank_in_label(label_of_file(file, file_name(file.path))));
  }
  const bool distinguished = std::all_of(ranks.begin(), ranks.end(), [](const auto& format) {
    const std::multiset<std::string>& of_format = format.second;
    if (of_format.size() > 1 && of_format.contains("")) return false;
    return std::adjacent_find(of_format.begin(), of_format.end()) == of_format.end();
  });
  const auto whole =
      std::count_if(ranks.begin(), ranks.end(), [](const auto& format) { return !format.first->facts.one_side; });
  return distinguished && whole <= 1;
}

void share_rank(const std::vector<InputPart*>& parts) {
  std::set<std::string> ranks;
  std::set<const SourceFormat*> tell_ranks;
  for (const InputPart* part : parts) {
    if (!is_rank_label(part->label)) continue;
    ranks.insert(part->label);
    tell_ranks.insert(part->format);
  }
  if (ranks.size() != 1) return;
  for (InputPart* part : parts) {
    if (part->label.empty() && !tell_ranks.contains(part->format)) part->label = *ranks.begin();
  }
}

bool is_rank_label(std::string_view label) { return !rank_in_label(label).empty(); }

std::string label_of_file(const RecognisedFile& file, std::string_view path) {
  std::string named = label_of_path(path);
  if (!file.rank) return named;
  std::string reported = fmt::format("{}{}", kRankLabel, *file.rank);
  return named == reported || named.starts_with(reported + " ") ? named : reported;
}

void join_runs(const std::vector<InputPart*>& parts) {
  std::map<std::pair<const SourceFormat*, std::string>, InputPart*> first;
  for (InputPart* part : parts) {
    if (part->file.run.empty()) continue;
    const auto [known, is_new] = first.try_emplace({part->format, part->file.run}, part);
    if (is_new) continue;
    InputPart& with = *known->second;
    with.companions.push_back(part->file.path);
    with.companions.insert(with.companions.end(), part->companions.begin(), part->companions.end());
    with.label.clear();
    part->file.path.clear();
  }
}

void tell_apart(const std::vector<InputPart*>& parts) {
  using Key = std::pair<const SourceFormat*, std::string>;
  std::map<Key, std::size_t> seen;
  for (const InputPart* part : parts) ++seen[{part->format, part->label}];
  // A profile that lists the others is of the run itself.
  std::vector<const InputPart*> listing;
  for (const InputPart* part : parts) {
    if (seen[{part->format, part->label}] > 1 && !neuron::listed_profiles(part->file.path).empty())
      listing.push_back(part);
  }
  std::map<Key, std::size_t> used;
  for (InputPart* part : parts) {
    if (listing.size() == 1 && part == listing.front()) continue;
    if (seen[{part->format, part->label}] > 1)
      part->label += part->label.empty() ? stem_of(part->file.path) : fmt::format(" {}", stem_of(part->file.path));
    const std::size_t use = ++used[{part->format, part->label}];
    if (use > 1) part->label += fmt::format(" ({})", use);
  }
}

std::string label_of_path(std::string_view path) {
  const fs::path whole(path);
  std::vector<std::string> names;
  for (const fs::path& name : whole) names.push_back(name.string());
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    std::string lower = *name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (const std::string_view rank = number_after(lower, "rank"); !rank.empty()) {
      const std::string_view run = number_after(lower, "exec");
      return run.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} run {}", rank, run);
    }
    if (const std::string_view model = number_after(lower, "device_profile_model"); !model.empty()) {
      return fmt::format("model {}", model);
    }
  }
  return {};
}

Result<InputParts> find_input_parts(const RecognisedFile& file, std::string_view format, bool one_run) {
  if (!file.is_readable) return Error{file.why_not};
  const SourceFormat* named = nullptr;
  if (!format.empty()) {
    const SourceFormat* known = TRY(find_format(format));
    named = known;
  }
  // A format may claim a folder as a whole; else the folder is the sum of its files.
  std::error_code failure;
  if ((file.format() == nullptr || is_looked_into(file, named)) && fs::is_directory(file.path, failure))
    return parts_of_folder(file.path, named, one_run);
  if (named == nullptr) named = file.format();
  if (named == nullptr) return Error{file.why_not};
  return InputParts{{{file, named, {}}}, {}, {}};
}

}  // namespace accelscope::capture::sources
