// What lies behind a path that a user names: a file, or a folder whose files become one session. In a folder are
// looked for: `profile_rank_<n>` folders or files, `device_profile_model_<id>.json` beside `system_profile.json`, one
// trace per rank, the files of the hosts of the last run in a log directory of the XLA profiler, and any other file of
// a known format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/source.h"

namespace accelscope::capture::sources {

struct InputPart {
  RecognisedFile file;
  const SourceFormat* format = nullptr;  // file's, or the one that --format names
  std::string label;  // "rank 3", "model 7": tells its devices from those of the other parts; "" where that is needless
  std::vector<std::string> companions = {};  // further files of the same run, which are read with it
  std::string shown = {};                    // the raw input that it alone was converted from; "": none
};

struct InputParts {
  std::vector<InputPart> parts;         // by label in natural order: rank 2 before rank 10
  std::vector<std::string> skipped;     // files of the folder that are no profiles, or are there twice
  std::vector<std::string> unreadable;  // why files that are named as profiles cannot be read, a sentence each
};

// `one_run`: the profiles of a folder are known to belong together. `format`: what --format takes, "": the file's own.
// Fails if nothing can be read there, and says what was looked for.
[[nodiscard]] Result<InputParts> find_input_parts(const RecognisedFile& file, std::string_view format = {},
                                                  bool one_run = false);

// What is read in place of a part that was converted.
[[nodiscard]] Result<std::vector<InputPart>> parts_of_conversion(const InputPart& raw, const Converted& made);

// Whether they belong into one session: profiles of different ranks of one job, a file each, or a profile and files of
// formats that tell of another side of its run (SourceFormat::one_side). False where one cannot be
// read, is a session or a folder, or where two of one format say no rank, or the same, be it of another run.
[[nodiscard]] bool are_of_one_run(const std::vector<RecognisedFile>& files);

// What the file itself says ("rank 3"), else what its path says.
[[nodiscard]] std::string label_of_file(const RecognisedFile& file, std::string_view path);
// Makes parts that are of one run (RecognisedFile::run) companions of the first of them; the others are left without
// a path.
void join_runs(const std::vector<InputPart*>& parts);
// A part that says no rank is of the only one that parts of other formats speak of.
void share_rank(const std::vector<InputPart*>& parts);
// Parts that could not be told apart get their file's name, and a number where that does not help; not the only one
// that lists the others.
void tell_apart(const std::vector<InputPart*>& parts);

// Whether the label tells a rank: "rank 3", "rank 3 run 2".
[[nodiscard]] bool is_rank_label(std::string_view label);

// "rank 3" of "profile_rank_3/ntff.json", "model 7" of "device_profile_model_7.json"; "" if the name says neither.
[[nodiscard]] std::string label_of_path(std::string_view path);

}  // namespace accelscope::capture::sources
