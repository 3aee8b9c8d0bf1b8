#include "app/library/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "app/session/retained_beside.h"
#include "capture/sources/base/source.h"
#include "core/base/file_system.h"
#include "core/base/text.h"
#include "core/store/overlay.h"

namespace accelscope::app::library {

namespace {

namespace fs = std::filesystem;

constexpr int kMostLevels = 4;  // of folders below a folder
constexpr std::string_view kSidecarEnding = ".overlay";

[[nodiscard]] std::int64_t unix_time_ns(const fs::path& path) {
  std::error_code error;
  const auto changed = fs::last_write_time(path, error);
  if (error) return 0;
  const auto system = std::chrono::file_clock::to_sys(changed);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(system.time_since_epoch()).count();
}

void read_session(LibraryEntry& entry) {
  const Result<OverlayValues> values = read_overlay(entry.path, &entry.remark);
  if (!values) {
    entry.problem = values.message();
    return;
  }
  const auto value = [&](const char* key) {
    const auto found = values->find(key);
    return found == values->end() ? std::string() : found->second;
  };
  entry.tags = split_tags(value(workspace::kTagsKey));
  entry.project = value(session::kProjectKey);
  entry.configuration = value(session::kConfigurationKey);
  entry.name = value(workspace::kDisplayNameKey);
  entry.is_named = !entry.name.empty();
  // Without one there are no figures until the session is looked into.
  if (const auto headline = workspace::headline_of(value(workspace::kHeadlineKey))) take_headline(entry, *headline);
}

[[nodiscard]] bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// Regular files of a folder and of those below it, by path. A folder that links lead to again is listed once.
class FolderWalk {
 public:
  // reported: at every folder; false ends it.
  FolderWalk(std::vector<std::string>& problems, std::function<bool()> reported)
      : problems_(problems), reported_(std::move(reported)) {}
  // False: it was ended.
  bool collect(const fs::path& folder, int levels) {
    if (!reported_()) return false;
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (!seen_.insert(error ? folder.string() : real.string()).second) return true;
    std::vector<fs::path> below, found;
    error.clear();
    for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
      std::error_code kind_error;
      if (is_hidden(each->path())) continue;
      if (each->is_directory(kind_error)) {
        below.push_back(each->path());
      } else if (each->is_regular_file(kind_error) && each->path().extension() != kSidecarEnding) {
        found.push_back(each->path());
      }
    }
    if (error) problems_.push_back(fmt::format("{}: cannot be listed: {}", folder.string(), error.message()));
    std::ranges::sort(found);
    std::ranges::sort(below);
    for (const fs::path& file : found) files.push_back(file.string());
    return levels == 0 || std::ranges::all_of(below, [&](const fs::path& each) { return collect(each, levels - 1); });
  }

  std::vector<std::string> files;

 private:
  std::vector<std::string>& problems_;
  std::function<bool()> reported_;
  std::unordered_set<std::string> seen_;  // as they are called without links
};

[[nodiscard]] Error about(const std::string& path, std::string_view what, const std::error_code& error) {
  return Error{fmt::format("{}: {}: {}", path, what, error.message())};
}

// Onto another disk: nobody sees a half-written file, and what fails leaves nothing behind.
Result<void> move_by_copy(const std::string& from, const std::string& to) {
  const std::string draft = TRY(draft_beside(to));
  std::error_code error;
  fs::copy_file(from, draft, fs::copy_options::overwrite_existing, error);
  Result<void> done = error ? Result<void>(Error{error.message()}) : sync_file(draft);
  if (done) done = replace_file(draft, to);
  if (!done) {
    remove_file(draft);
    return done;
  }
  fs::remove(from, error);
  if (!error) return {};
  remove_file(to);
  return Error{error.message()};
}

Result<void> move_file(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return {};
  return error == std::errc::cross_device_link ? move_by_copy(from, to) : Result<void>(Error{error.message()});
}

constexpr std::size_t kFoundFields = 4;  // path, size, time, headline

constexpr std::string_view kFoldersSetting = "library.folders";
constexpr std::ptrdiff_t kMostImports = 2;  // at once: each may take much memory

[[nodiscard]] Result<void> check_free(const std::string& target, const std::string& profile) {
  std::error_code error;
  if (!std::filesystem::exists(target, error)) return {};
  return Error{target + ": is there already; open it, or rename it to import " + file_name(profile) + " anew"};
}

[[nodiscard]] bool comes_before(const LibraryEntry& a, const LibraryEntry& b, LibraryOrder order) {
  switch (order) {
    case LibraryOrder::name:
      return natural_less(a.name, b.name);
    case LibraryOrder::device:
      return natural_less(a.headline.device, b.headline.device);
    case LibraryOrder::work:
      return a.headline.work_ns < b.headline.work_ns;
    case LibraryOrder::events:
      return a.headline.events < b.headline.events;
    case LibraryOrder::when:
      return a.when_unix_s() < b.when_unix_s();
  }
  return false;
}

[[nodiscard]] std::vector<std::string> most_used_first(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::pair<std::string, std::size_t>> all(counts.begin(), counts.end());
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (auto& [word, count] : all) words.push_back(std::move(word));
  return words;
}

}  // namespace

std::vector<std::string> split_tags(std::string_view text) {
  std::vector<std::string> found, tags;
  if (auto names = names_of_list(text)) {
    found = std::move(*names);
  } else {
    found.emplace_back(text);  // a quote without an end belongs to the tag
  }
  for (std::string& tag : found)
    if (std::ranges::find(tags, tag) == tags.end()) tags.push_back(std::move(tag));
  return tags;
}

std::string join_tags(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) {
    text += text.empty() ? "" : ",";
    if (tag.find(',') == std::string::npos && !tag.starts_with('"') && trimmed(tag) == tag) {
      text += tag;
      continue;
    }
    text += '"';
    for (const char c : tag) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    text += '"';
  }
  return text;
}

void take_headline(LibraryEntry& entry, const workspace::Headline& headline) {
  entry.headline = headline;
  if (!entry.is_named && !headline.name.empty()) entry.name = headline.name;
}

LibraryEntry read_entry(const std::string& path, const std::string& folder) {
  const std::int64_t changed_ns = unix_time_ns(path);
  LibraryEntry entry{
      .path = path, .folder = folder, .changed_unix_s = changed_ns / 1'000'000'000, .changed_ns = changed_ns};
  std::error_code error;
  entry.size_bytes = fs::file_size(path, error);
  if (error) entry.problem = fmt::format("{}: cannot be read: {}", path, error.message());
  const capture::sources::RecognisedFile file = capture::sources::recognise(path);
  entry.is_session = file.is_session;
  if (entry.is_session && entry.problem.empty()) read_session(entry);
  if (!entry.is_session) entry.format = file.name();
  if (entry.name.empty()) entry.name = workspace::title_of_path(path);
  return entry;
}

LibraryScan scan_library(const std::vector<std::string>& folders,
                         const std::function<bool(std::size_t done, std::size_t total)>& reported) {
  LibraryScan scan;
  std::vector<std::pair<std::string, std::string>> files;  // with the folder that was named
  std::unordered_set<std::string> known;
  for (const std::string& folder : folders) {
    std::error_code error;
    FolderWalk walk(scan.problems, [&] { return !reported || reported(0, 0); });
    if (fs::is_regular_file(folder, error)) {
      walk.files.push_back(folder);
    } else if (!walk.collect(folder, kMostLevels)) {
      return scan;
    }
    for (std::string& file : walk.files) {
      if (known.insert(file).second) files.emplace_back(std::move(file), folder);
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    LibraryEntry entry = read_entry(files[i].first, files[i].second);
    if (entry.is_session || !entry.format.empty()) scan.entries.push_back(std::move(entry));
    if (reported && !reported(i + 1, files.size())) break;
  }
  return scan;
}

bool matches(const LibraryEntry& entry, std::string_view text) {
  const std::string all =
      fmt::format("{} {} {} {} {} {} {} {}", entry.name, entry.headline.device, entry.path, join_tags(entry.tags),
                  entry.project, entry.configuration, entry.format, joined(entry.headline.processes, " "));
  return matches_words(all, text);
}

Result<void> set_tags(const std::string& path, const std::vector<std::string>& tags) {
  return write_overlay_value(path, workspace::kTagsKey, join_tags(tags));
}

Result<void> set_title(const std::string& path, const std::string& title) {
  return write_overlay_value(path, workspace::kDisplayNameKey, std::string(trimmed(title)));
}

Result<void> set_project(const std::string& path, const std::string& project) {
  return write_overlay_value(path, session::kProjectKey, std::string(trimmed(project)));
}

Result<std::string> move_session(const std::string& path, const std::string& folder) {
  const fs::path target = fs::path(folder) / fs::path(path).filename();
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return Error{fmt::format("{}: there is no such folder; choose another", folder)};
  if (fs::exists(target, error)) {
    return Error{fmt::format("{}: there is a file of this name in {} already; rename one of them", path, folder)};
  }
  const std::string sidecar = path + std::string(kSidecarEnding);
  const std::string sidecar_target = target.string() + std::string(kSidecarEnding);
  if (fs::exists(fs::symlink_status(sidecar_target, error))) {
    return Error{fmt::format("{}: what was kept beside another session of this name is in the way; move it away",
                             sidecar_target)};
  }
  if (Result<void> moved = move_file(path, target.string()); !moved)
    return Error{fmt::format("{}: cannot be moved to {}: {}", path, folder, moved.message())};
  if (!fs::exists(sidecar, error)) return target.string();
  if (Result<void> moved = move_file(sidecar, sidecar_target); !moved) {
    return Error{fmt::format("{}: what is kept beside the session stayed where it was: {}", sidecar, moved.message())};
  }
  return target.string();
}

Result<void> delete_session(const std::string& path) {
  std::error_code error;
  if (!fs::remove(path, error) || error)
    return about(path, "cannot be deleted", error ? error : std::make_error_code(std::errc::no_such_file_or_directory));
  remove_file(path + std::string(kSidecarEnding));
  return {};
}

bool lacks_headline(const LibraryEntry& entry) {
  return entry.is_session && entry.problem.empty() && !entry.has_figures();
}

Result<workspace::Headline> look_into(const LibraryEntry& entry, WorkerPool& pool, TaskControl& control) {
  const auto store = TRY(Store::open_unchanged(entry.path));
  return workspace::find_headline({*store, store->snapshot(), pool, control}, entry.changed_unix_s);
}

Result<void> FoundHeadlines::load() {
  found_.clear();
  if (file_.empty()) return {};
  const auto records = TRY(persist::read_records(file_));
  for (const persist::TextRecord& fields : records) {
    Found found;
    if (fields.size() < kFoundFields || !read_number(fields[1], found.size_bytes) ||
        !read_number(fields[2], found.changed_ns))
      continue;
    if (!fields[3].empty()) {
      const auto headline = workspace::headline_of(fields[3]);
      if (!headline) continue;  // of another version: found anew
      found.headline = *headline;
    }
    if (found_.size() < kMost) found_[fields[0]] = std::move(found);
  }
  return {};
}

const workspace::Headline* FoundHeadlines::find(const LibraryEntry& entry) const {
  const auto found = found_.find(entry.path);
  if (found == found_.end()) return nullptr;
  const bool same = found->second.size_bytes == entry.size_bytes && found->second.changed_ns == entry.changed_ns;
  return same ? &found->second.headline : nullptr;
}

void FoundHeadlines::keep(const LibraryEntry& entry, workspace::Headline headline) {
  if (found_.size() >= kMost && !found_.contains(entry.path)) found_.erase(found_.begin());
  found_[entry.path] = {entry.size_bytes, entry.changed_ns, std::move(headline)};
}

Result<void> FoundHeadlines::write() const {
  if (file_.empty()) return {};
  std::vector<persist::TextRecord> records;
  for (const auto& [path, found] : found_) {
    records.push_back({path, std::to_string(found.size_bytes), std::to_string(found.changed_ns),
                       found.headline == workspace::Headline() ? std::string() : workspace::to_text(found.headline)});
  }
  return persist::write_records(file_, records);
}

Library::Library(persist::Settings& settings, WorkerPool& pool, std::function<void()> wake, std::string headline_file)
    : settings_(settings), pool_(pool), wake_(std::move(wake)), found_(std::move(headline_file)) {
  const std::string retained = settings_.value(kFoldersSetting);
  if (!retained.empty()) folders_ = persist::decode_record(retained);
}

Library::~Library() {
  if (keeping_.valid()) (void)keeping_.take();
  looking_.reset();
  // Nobody is left to be told; what is lost is looked for again.
  if (not_retained_ > 0) (void)found_.write();
}

void Library::add_folder(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(folder, error);
  const std::string path = error ? folder : absolute.lexically_normal().string();
  if (std::ranges::find(folders_, path) != folders_.end()) return;
  folders_.push_back(path);
  settings_.set(kFoldersSetting, persist::encode_record(folders_));
  scanned_ = false;
  scan();
}

void Library::remove_folder(const std::string& folder) {
  std::erase(folders_, folder);
  settings_.set(kFoldersSetting, folders_.empty() ? "" : persist::encode_record(folders_));
  scan();
}

void Library::scan() {
  if (scanning_) {
    scan_again_ = true;
    return;
  }
  scan_again_ = false;
  scan_result_ = std::make_shared<LibraryScan>();
  if (!std::exchange(found_loaded_, true)) loading_ = std::make_shared<FoundHeadlines>(found_);
  auto work = [folders = folders_, result = scan_result_,
               loading = loading_](session::JobControl& control) -> Result<void> {
    Result<void> loaded;
    if (loading) loaded = loading->load();
    *result = scan_library(folders, [&](std::size_t done, std::size_t total) { return control.report(done, total); });
    if (control.cancelled()) return Error{"The library was not read to its end; Refresh reads it anew."};
    if (!loaded) result->problems.push_back(loaded.message());
    return {};
  };
  scanning_ = std::make_unique<session::BackgroundJob>("Reading the library", std::move(work), wake_);
}

void Library::scan_once() {
  if (!scanned_ && !scanning_ && !folders_.empty()) scan();
}

void Library::take_scan() {
  if (!scanning_ || !scanning_->finished()) return;
  const Result<void> done = scanning_->finish();
  scanning_.reset();
  scanned_ = true;  // or tried: nobody is made to wait for the next
  if (const auto loaded = std::exchange(loading_, nullptr)) found_ = std::move(*loaded);
  if (!done) {
    wrong_.push_back(done.message());
    if (scan_again_) scan();
    return;
  }
  entries_ = std::move(scan_result_->entries);
  for (std::string& problem : scan_result_->problems) wrong_.push_back(std::move(problem));
  matched_ = false;
  matched_entries_.clear();
  count_words();
  fill_in();
  if (scan_again_) scan();
}

void Library::fill_in() {
  to_look_.clear();
  for (LibraryEntry& entry : entries_) {
    if (!lacks_headline(entry)) continue;
    if (const workspace::Headline* known = found_.find(entry)) {
      take_headline(entry, *known);
    } else if (!looking_ || looking_->entry.path != entry.path) {
      to_look_.push_back(entry);
    }
  }
}

void Library::look_further() {
  if (looking_ && looking_->task.ready()) {
    const Result<workspace::Headline> found = looking_->task.take();
    const LibraryEntry looked = std::move(looking_->entry);
    looking_.reset();
    // What cannot be read has no figures; opening it says why.
    found_.keep(looked, found ? *found : workspace::Headline());
    for (LibraryEntry& entry : entries_) {
      if (found && entry.path == looked.path && lacks_headline(entry)) take_headline(entry, *found);
    }
    matched_ = false;
    matched_entries_.clear();
    ++not_retained_;
  }
  keep_found();
  if (looking_ || to_look_.empty()) return;
  looking_.emplace(Look{std::move(to_look_.front()), {}});
  to_look_.pop_front();
  looking_->task = pool_.start(Priority::background, [entry = looking_->entry, &pool = pool_](TaskControl& control) {
    return look_into(entry, pool, control);
  });
}

void Library::keep_found() {
  constexpr std::size_t kEvery = 100;
  if (keeping_.ready()) {
    if (Result<void> retained = keeping_.take(); !retained) wrong_.push_back(retained.message());
  }
  const bool worth_it = not_retained_ >= kEvery || (not_retained_ > 0 && !looking_ && to_look_.empty());
  if (!worth_it || keeping_.valid()) return;
  not_retained_ = 0;
  keeping_ = pool_.start(Priority::background, [found = found_](TaskControl&) { return found.write(); });
}

void Library::count_words() {
  std::map<std::string, std::size_t> tags, projects;
  for (const LibraryEntry& entry : entries_) {
    for (const std::string& tag : entry.tags) ++tags[tag];
    if (!entry.project.empty()) ++projects[entry.project];
  }
  tags_ = most_used_first(tags);
  projects_ = most_used_first(projects);
}

std::vector<std::string> Library::update() {
  take_scan();
  look_further();
  bool any_ended = false;
  for (auto work = works_.begin(); work != works_.end();) {
    if (!work->job || !work->job->finished()) {
      ++work;
      continue;
    }
    const Result<void> done = work->job->finish();
    if (!done && !work->job->cancelled()) wrong_.push_back(done.message());
    if (done && work->then) work->then();
    work = works_.erase(work);
    any_ended = true;
  }
  start_imports();
  if (any_ended) scan();
  return std::exchange(wrong_, {});
}

const std::vector<const LibraryEntry*>& Library::matching(const Intent& intent) {
  if (matched_ && matched_for_ == intent) return matched_entries_;
  matched_ = true;
  matched_for_ = intent;
  matched_entries_.clear();
  for (const LibraryEntry& entry : entries_) {
    const bool has_tag = intent.tag.empty() || std::ranges::find(entry.tags, intent.tag) != entry.tags.end();
    if (!has_tag || (!intent.project.empty() && entry.project != intent.project) || !matches(entry, intent.text))
      continue;
    matched_entries_.push_back(&entry);
  }
  std::ranges::stable_sort(matched_entries_, [&](const auto* a, const auto* b) {
    return intent.descending ? comes_before(*b, *a, intent.order) : comes_before(*a, *b, intent.order);
  });
  return matched_entries_;
}

void Library::change(std::string title, std::function<Result<void>()> work, std::function<void()> then) {
  auto job = [work = std::move(work)](session::JobControl&) { return work(); };
  works_.push_back({.job = std::make_unique<session::BackgroundJob>(std::move(title), std::move(job), wake_),
                    .then = std::move(then)});
}

void Library::import(const std::string& path, const workspace::OpenSessionOptions& open_options) {
  if (is_importing(path)) return;
  const std::string target =
      (std::filesystem::path(path).parent_path() / (workspace::title_of_path(path) + ".accel")).string();
  if (std::ranges::any_of(works_, [&](const Work& work) { return work.target == target; })) {
    wrong_.push_back(path + ": " + file_name(target) + " is being imported from another profile; rename one of them");
    return;
  }
  auto work = [path, target, open_options, &pool = pool_](session::JobControl& control) -> Result<void> {
    if (Result<void> is_free = check_free(target, path); !is_free) return is_free;
    auto session = TRY(workspace::load_session({capture::sources::recognise(path)}, open_options, control));
    workspace::keep_headline(*session.store, pool);
    if (Result<void> is_free = check_free(target, path); !is_free) return is_free;  // another program's, meanwhile
    return session.store->save(target,
                               [&](std::uint64_t done, std::uint64_t total) { return control.report(done, total); });
  };
  works_.push_back({.path = path, .target = target, .waiting = std::move(work)});
  start_imports();
}

void Library::start_imports() {
  auto running = std::ranges::count_if(works_, [](const Work& w) { return w.job && !w.path.empty(); });
  for (Work& work : works_) {
    if (work.job || running >= kMostImports) continue;
    work.job =
        std::make_unique<session::BackgroundJob>("Importing " + file_name(work.path), std::move(work.waiting), wake_);
    ++running;
  }
}

bool Library::is_importing(const std::string& path) const {
  return std::ranges::any_of(works_, [&](const Work& work) { return work.path == path; });
}

const session::BackgroundJob* Library::importing(const std::string& path) const {
  const auto found = std::ranges::find_if(works_, [&](const Work& work) { return work.path == path; });
  return found == works_.end() ? nullptr : found->job.get();
}

std::vector<session::BackgroundJob*> Library::jobs() const {
  std::vector<session::BackgroundJob*> jobs;
  for (const Work& work : works_) {
    if (work.job && !work.path.empty()) jobs.push_back(work.job.get());
  }
  if (scanning_) jobs.push_back(scanning_.get());
  return jobs;
}

}  // namespace accelscope::app::library
