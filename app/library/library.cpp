#include "app/library/library.h"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include "app/persist/persist.h"
#include "app/workspace/opening.h"
#include "core/base/text.h"

namespace accelscope::app {
namespace {

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
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (auto& [word, count] : all) words.push_back(std::move(word));
  return words;
}

}  // namespace

Library::Library(Settings& settings, WorkerPool& pool, std::function<void()> wake, std::string headline_file)
    : settings_(settings), pool_(pool), wake_(std::move(wake)), found_(std::move(headline_file)) {
  const std::string kept = settings_.value(kFoldersSetting);
  if (!kept.empty()) folders_ = decode_record(kept);
}

Library::~Library() {
  if (keeping_.valid()) (void)keeping_.take();
  looking_.reset();
  // Nobody is left to be told; what is lost is looked for again.
  if (not_kept_ > 0) (void)found_.write();
}

void Library::add_folder(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(folder, error);
  const std::string path = error ? folder : absolute.lexically_normal().string();
  if (std::find(folders_.begin(), folders_.end(), path) != folders_.end()) return;
  folders_.push_back(path);
  settings_.set(kFoldersSetting, encode_record(folders_));
  scanned_ = false;
  scan();
}

void Library::remove_folder(const std::string& folder) {
  std::erase(folders_, folder);
  settings_.set(kFoldersSetting, folders_.empty() ? "" : encode_record(folders_));
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
  auto work = [folders = folders_, result = scan_result_, loading = loading_](JobControl& control) -> Result<void> {
    Result<void> loaded;
    if (loading) loaded = loading->load();
    *result = scan_library(folders, [&](std::size_t done, std::size_t total) { return control.report(done, total); });
    if (control.cancelled()) return Error{"The library was not read to its end; Refresh reads it anew."};
    if (!loaded) result->problems.push_back(loaded.message());
    return {};
  };
  scanning_ = std::make_unique<BackgroundJob>("Reading the library", std::move(work), wake_);
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
    if (const Headline* known = found_.find(entry)) {
      take_headline(entry, *known);
    } else if (!looking_ || looking_->entry.path != entry.path) {
      to_look_.push_back(entry);
    }
  }
}

void Library::look_further() {
  if (looking_ && looking_->task.ready()) {
    const Result<Headline> found = looking_->task.take();
    const LibraryEntry looked = std::move(looking_->entry);
    looking_.reset();
    // What cannot be read has no figures; opening it says why.
    found_.keep(looked, found ? *found : Headline());
    for (LibraryEntry& entry : entries_) {
      if (found && entry.path == looked.path && lacks_headline(entry)) take_headline(entry, *found);
    }
    matched_ = false;
    matched_entries_.clear();
    ++not_kept_;
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
    if (Result<void> kept = keeping_.take(); !kept) wrong_.push_back(kept.message());
  }
  const bool worth_it = not_kept_ >= kEvery || (not_kept_ > 0 && !looking_ && to_look_.empty());
  if (!worth_it || keeping_.valid()) return;
  not_kept_ = 0;
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

const std::vector<const LibraryEntry*>& Library::matching(const Wish& wish) {
  if (matched_ && matched_for_ == wish) return matched_entries_;
  matched_ = true;
  matched_for_ = wish;
  matched_entries_.clear();
  for (const LibraryEntry& entry : entries_) {
    const bool has_tag =
        wish.tag.empty() || std::find(entry.tags.begin(), entry.tags.end(), wish.tag) != entry.tags.end();
    if (!has_tag || (!wish.project.empty() && entry.project != wish.project) || !matches(entry, wish.text)) continue;
    matched_entries_.push_back(&entry);
  }
  std::stable_sort(matched_entries_.begin(), matched_entries_.end(), [&](const auto* a, const auto* b) {
    return wish.descending ? comes_before(*b, *a, wish.order) : comes_before(*a, *b, wish.order);
  });
  return matched_entries_;
}

void Library::change(std::string title, std::function<Result<void>()> work, std::function<void()> then) {
  auto job = [work = std::move(work)](JobControl&) { return work(); };
  works_.push_back(
      {.job = std::make_unique<BackgroundJob>(std::move(title), std::move(job), wake_), .then = std::move(then)});
}

void Library::import(const std::string& path, const OpenSessionOptions& open_options) {
  if (is_importing(path)) return;
  const std::string target = (std::filesystem::path(path).parent_path() / (title_of_path(path) + ".accel")).string();
  if (std::any_of(works_.begin(), works_.end(), [&](const Work& work) { return work.target == target; })) {
    wrong_.push_back(path + ": " + file_name(target) + " is being imported from another profile; rename one of them");
    return;
  }
  auto work = [path, target, open_options, &pool = pool_](JobControl& control) -> Result<void> {
    if (Result<void> is_free = check_free(target, path); !is_free) return is_free;
    auto session = load_session({path}, open_options, control);
    if (!session) return session.error();
    keep_headline(*session->store, pool);
    if (Result<void> is_free = check_free(target, path); !is_free) return is_free;  // another program's, meanwhile
    return session->store->save(target,
                                [&](std::uint64_t done, std::uint64_t total) { return control.report(done, total); });
  };
  works_.push_back({.path = path, .target = target, .waiting = std::move(work)});
  start_imports();
}

void Library::start_imports() {
  auto running = std::count_if(works_.begin(), works_.end(), [](const Work& w) { return w.job && !w.path.empty(); });
  for (Work& work : works_) {
    if (work.job || running >= kMostImports) continue;
    work.job = std::make_unique<BackgroundJob>("Importing " + file_name(work.path), std::move(work.waiting), wake_);
    ++running;
  }
}

bool Library::is_importing(const std::string& path) const {
  return std::any_of(works_.begin(), works_.end(), [&](const Work& work) { return work.path == path; });
}

const BackgroundJob* Library::importing(const std::string& path) const {
  const auto found = std::find_if(works_.begin(), works_.end(), [&](const Work& work) { return work.path == path; });
  return found == works_.end() ? nullptr : found->job.get();
}

std::vector<BackgroundJob*> Library::jobs() const {
  std::vector<BackgroundJob*> jobs;
  for (const Work& work : works_) {
    if (work.job && !work.path.empty()) jobs.push_back(work.job.get());
  }
  if (scanning_) jobs.push_back(scanning_.get());
  return jobs;
}

}  // namespace accelscope::app
