#include "capture/sources/nsys/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "capture/sources/base/importers.h"
#include "capture/system/child_process.h"
#include "capture/system/shown_command.h"
#include "core/base/own_files.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::nsys {

Result<void> NsysStacks::open(const sqlite::ForeignDatabase& file, std::string_view table) {
  any_ = false;
  known_.clear();
  if (!file.has_table(table)) return {};
  // Without an index every stack would cost a pass over the table.
  if (!file.has_index(table, "id")) {
    return Error{fmt::format("{} has no index, so that its stacks cannot be found", table)};
  }
  Statement lookup = TRY(file.prepare(fmt::format(
      "SELECT \"symbol\", \"module\" FROM {} WHERE \"id\" = ? ORDER BY \"stackDepth\"", sqlite::quoted_name(table))));
  lookup_ = std::move(lookup);
  any_ = true;
  return {};
}

NsysStacks::Stack NsysStacks::stack(std::int64_t number) {
  if (!any_) return {};
  if (const auto known = known_.find(number); known != known_.end()) return known->second;
  lookup_.reset();
  lookup_.bind(1, number);
  text_.clear();
  Stack stack;
  for (std::size_t depth = 0; depth < kMostFrames; ++depth) {
    const Result<bool> row = lookup_.step();
    if (!row || !row.value()) break;
    ++frames_read_;
    const std::int64_t symbol = lookup_.integer(0);
    const std::int64_t module = lookup_.integer(1);
    if (depth == 0) stack.innermost = strings_.intern(symbol);
    if (!text_.empty()) text_ += '\n';
    const std::string function(strings_.text(symbol));
    const std::string library = file_name(strings_.text(module));
    text_ += function;
    if (!library.empty() && library != function) text_ += fmt::format(" ({})", library);
  }
  if (!text_.empty()) stack.frames = writer_.intern(text_);
  if (known_.size() < kMostRememberedStacks) known_.try_emplace(number, stack);
  return stack;
}

namespace {

constexpr std::uint64_t kRowsBetweenLooks = 8192;

}  // namespace

NsysImporter::NsysImporter(sqlite::ForeignDatabase file, sqlite::ForeignDatabase events, std::string path,
                           const ImportOptions& options, EventSink& sink)
    : file_(std::move(file)),
      events_(std::move(events)),
      path_(std::move(path)),
      options_(options),
      session_(sink),
      strings_(session_.writer()),
      stacks_(strings_, session_.writer()),
      facts_(file_, strings_),
      rows_(session_, facts_) {}

Result<void> NsysImporter::run() {
  if (file_.is_cut()) {
    session_.report().note("truncated",
                           "the file is shorter than it says it is: rows in what is missing are lost, all others were "
                           "read; copy it again, or export the report anew");
  }
  if (file_.is_damaged()) {
    session_.report().note("salvaged",
                           "what the file says of its tables is damaged: those that can be found were read, others may "
                           "be missing; copy it again, or export the report anew");
  }
  words_.read(file_);
  if (Result<void> done = strings_.open(file_); !done) {
    session_.report().note("unreadable", fmt::format("the table of strings cannot be read: {}", done.message()));
  }
  if (Result<void> done = facts_.read(); !done) {
    session_.report().note("unreadable", fmt::format("of names and facts not all can be read: {}", done.message()));
  }
  payloads_.read(file_);
  count_sources();
  // Devices first: a call that started nothing needs no flow.
  read_kernels();
  read_copies();
  read_sets();
  read_graphs();
  read_device_events();
  read_waits();  // for events of other streams
  read_memory();
  read_memory_pools();
  read_page_faults();
  remember_launched();
  read_calls();
  may_launch_ = {};
  read_ranges();
  read_libraries();
  read_system_calls();
  read_overhead();
  read_cpu_samples();
  read_thread_states();
  read_metrics();
  read_messages();
  close_ranges();
  if (session_.cancelled()) {
    const Result<void> status = session_.status();
    return status ? Error{fmt::format("{}: the import was cancelled", path_)} : status.error();
  }
  tell_unread_tables();
  tell_unread_columns();
  rows_.name_all();
  write_facts();
  write_report();
  return session_.finish(
      {.clock = "session",
       .unix_ns = facts_.unix_ns(),
       .path = path_,
       .unjoined_targets =
           "kernels, copies and graphs have no call that launched them in the file: the capture began later, or only a "
           "part of it was exported"});
}

void NsysImporter::count_sources() {
  for (const std::string& table : file_.tables()) {
    if (table.starts_with("ENUM_") || table.starts_with("META_DATA") || table == "StringIds") continue;
    Result<sqlite::ForeignRows> last =
        file_.select(fmt::format("SELECT max(rowid) FROM {}", sqlite::quoted_name(table)));
    if (last && last->next()) rows_total_ += static_cast<std::uint64_t>(std::max<std::int64_t>(last->integer(0), 0));
  }
}

void NsysImporter::each_row(std::string_view table, std::string_view becomes, Columns columns,
                            const std::function<void(const Row&)>& visit, std::string_view further) {
  if (!file_.has_table(table) || session_.cancelled()) return;
  sqlite::RowsAhead rows(events_, table, columns, further);
  std::uint64_t count = 0;
  const std::uint64_t left_out = counts_.left_out();
  while (const Row* row = rows.next()) {
    visit(*row);
    if (++count % kRowsBetweenLooks != 0) continue;
    if (session_.cancelled()) break;
    if (options_.progress) options_.progress(rows_done_ + count, std::max(rows_total_, rows_done_ + count));
  }
  rows_done_ += count;
  read_tables_[std::string(table)] += count;
  if (count > 0) {
    auto& [all, read] = source_rows_[std::string(becomes)];
    all += count;
    read += count - std::min(count, counts_.left_out() - left_out);
  }
  if (!session_.cancelled() && !rows.status()) {
    session_.report().note("lost_events",
                           fmt::format("table {} is damaged behind its first {} rows, which were read: {}; export the "
                                       "report anew if it is still there",
                                       table, count, rows.status().message()));
  }
}

void NsysImporter::each_row(std::string_view table, NsysTable kind, Columns columns,
                            const std::function<void(const Row&)>& visit, std::string_view further) {
  std::vector<std::string_view> all(columns.begin(), columns.end());
  for (const ColumnSpec& column : nsys_rule(kind).further) all.push_back(column.name);
  each_row(table, nsys_table_name(kind), Columns(all), visit, further);
}

void NsysImporter::set_further(NsysTable kind, const Row& row, std::size_t first) {
  const std::span<const ColumnSpec> further = nsys_rule(kind).further;
  const std::size_t place = nsys_further_place(kind);
  for (std::size_t i = 0; i < further.size(); ++i) {
    if (!row.has_column(first + i)) continue;
    const std::optional<std::int64_t> number = row.number(first + i);
    if (!number) continue;
    if (further[i].type == ColumnType::string) {
      values_.string(place + i, strings_.intern(*number));
    } else {
      values_.integer(place + i, *number);
    }
  }
}

void NsysImporter::set_number(std::size_t column, const Row& row, std::size_t field) {
  if (const auto number = row.number(field)) values_.integer(column, *number);
}

void NsysImporter::set_word(std::size_t column, NsysEnum family, std::int64_t number) {
  const auto [known, added] = interned_words_.try_emplace({family, number}, 0);
  if (added) {
    const std::string_view word = words_.word(family, number);
    known->second = session_.intern(word.empty() ? std::to_string(number) : std::string(word));
  }
  values_.string(column, known->second);
}

// What is told once every table is read.

namespace {

// Tables that say what others mean; they are read with the facts, or say nothing of what happened.
constexpr std::string_view kDescribing[] = {"StringIds",
                                            "PROCESSES",
                                            "ThreadNames",
                                            "ProcessStreams",
                                            "UnwindMethodType",
                                            "META_DATA_EXPORT",
                                            "META_DATA_CAPTURE",
                                            "EXPORT_META_DATA",
                                            "ANALYSIS_DETAILS",
                                            "ANALYSIS_FILE",
                                            "NVTX_PAYLOAD_SCHEMAS",
                                            "NVTX_PAYLOAD_SCHEMA_ENTRIES",
                                            "NVTX_PAYLOAD_ENUMS",
                                            "NVTX_PAYLOAD_ENUM_ENTRIES",
                                            "NVTX_SCOPES"};
constexpr std::string_view kDescribingBegins[] = {"ENUM_", "TARGET_INFO_", "sqlite_"};

// Of the machine; the rest is the profiler's own concern, or the environment of a user.
constexpr std::string_view kShownFacts[] = {"Hostname",        "OsDescription",     "KernelVersion",
                                            "CpuDescription",  "CpuCores",          "CpuArchitecture",
                                            "NvDriverVersion", "CudaDriverVersion", "HardwarePlatform"};

[[nodiscard]] bool describes(std::string_view table) noexcept {
  return std::find(std::begin(kDescribing), std::end(kDescribing), table) != std::end(kDescribing) ||
         std::any_of(std::begin(kDescribingBegins), std::end(kDescribingBegins),
                     [&](std::string_view begin) { return table.starts_with(begin); });
}

}  // namespace

void NsysImporter::tell_unread_tables() {
  for (const std::string& table : file_.tables()) {
    if (read_tables_.contains(table) || describes(table)) continue;
    const Result<std::int64_t> rows = file_.row_count(table);
    if (rows && rows.value() == 0) continue;
    session_.report().note("unknown_table", fmt::format("rows of table {} were not read", table),
                           rows ? static_cast<std::uint64_t>(rows.value()) : 1);
  }
}

void NsysImporter::tell_unread_columns() {
  std::vector<std::string> unread = file_.unread_columns();
  std::erase_if(unread, [](const std::string& column) { return describes(column.substr(0, column.find('.'))); });
  session_.report().note_unread("the report", unread);
}

void NsysImporter::write_facts() {
  SessionWriter& writer = session_.writer();
  writer.set_meta("source_format", "Nsight Systems export (SQLite)");
  for (const std::string_view name :
       {"EXPORT_SCHEMA_VERSION", "EXPORT_PRODUCT_NAME", "EXPORT_PRODUCT_VERSION", "DERIVED_FROM", "DERIVED_BY"}) {
    const std::string key(name);
    if (const std::string value = facts_.exported_value(key); !value.empty()) writer.set_meta("nsys." + key, value);
  }
  for (const std::string_view name : kShownFacts) {
    const auto known = facts_.environment().find(std::string(name));
    if (known != facts_.environment().end()) writer.set_meta(fmt::format("nsys.{}", name), known->second);
  }
  for (const auto& [number, gpu] : facts_.gpus()) {
    if (!gpu.name.empty()) writer.set_meta(fmt::format("device.{}.name", number), gpu.name);
    if (gpu.multiprocessors > 0) {
      writer.set_meta(fmt::format("device.{}.numSms", number), std::to_string(gpu.multiprocessors));
    }
    if (gpu.memory_bytes > 0) {
      writer.set_meta(fmt::format("device.{}.totalGlobalMem", number), std::to_string(gpu.memory_bytes));
      writer.set_meta(fmt::format("capacity.{} memory", rows_.device_label(number)), std::to_string(gpu.memory_bytes));
    }
  }
  if (const auto ranges = source_rows_.find("nvtx"); ranges != source_rows_.end()) {
    ranges->second.all -= counts_.naming_ranges;
    ranges->second.read -= counts_.naming_ranges;
  }
  for (const auto& [table, rows] : source_rows_) set_row_counts(writer, table, rows.all, rows.read);
}

void NsysImporter::write_report() {
  ImportReport& report = session_.report();
  report.note("rows_skipped", "rows have no begin, so that they cannot be shown", counts_.missing_times);
  report.note("times_out_of_capture", "rows of devices have no time: the driver did not collect it; they were left out",
              counts_.not_collected);
  report.note("times_out_of_capture", "samples of metrics lie before the session began; they were left out",
              counts_.before_session);
  report.note("rows_mended",
              "waits have a type that other versions number otherwise; they are named by the stream and event that "
              "they wait for, and syncType is what the file says",
              counts_.renamed_waits);
  report.note("begin_without_end", "ranges never end; they are shown up to the end of the session",
              counts_.open_ranges);
  report.note("unknown_types", "rows of NVTX_EVENTS are of types that are not known; they were skipped",
              counts_.unknown_ranges);
  report.note("values_left_out",
              "payloads of ranges have a layout that the file does not describe; export with --include-json=true",
              counts_.unread_payloads);
  report.note("names_left_out", "names are numbers that the file has no string for; they are shown as nothing",
              strings_.missing());
  report.note("unmatched_begins", "threads still had a CPU when the capture ended; that stretch is not shown",
              counts_.open_states);
  report.note("unmatched_ends", "threads got or lost a CPU where they had it so already; what lies before is not shown",
              counts_.unknown_states);
  if (any_call_ && !any_work_) {
    report.note("nothing_on_device",
                "the file has calls of CUDA but nothing that ran on a device: the program ended before the driver "
                "handed its records over, or no kernel was launched; profile with --trace=cuda and let it end by "
                "itself");
  }
}

// Exports of Nsight Systems: the SQLite file that "nsys export --type sqlite" writes, and reports (.nsys-rep), which
// are the vendor's own affair: its tool converts them where it is installed. Where it is not, the error names the
// command to run elsewhere.

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kReportMark = "NVIDIA Tegra Profiler Report";
constexpr std::string_view kReportEndings[] = {".nsys-rep", ".qdrep"};
constexpr int kByTables = 95, kByMark = 95, kByReportEnding = 80;
constexpr std::size_t kShownToolOutput = 2000;

// Tables that only these files have.
[[nodiscard]] bool is_nsys_table(std::string_view table) noexcept {
  constexpr std::string_view kBegins[] = {"CUPTI_ACTIVITY_KIND_", "TARGET_INFO_", "ENUM_NSYS_",
                                          "NVTX_EVENTS",          "OSRT_API",     "GPU_METRICS"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return table.starts_with(begin); });
}

// Where the vendor's packages put the tool: a folder for each release, the newest last in order.
[[nodiscard]] std::vector<std::string> tool_folders() {
  std::vector<std::string> folders;
  for (const char* root : {"/opt/nvidia/nsight-systems", "/opt/nvidia/nsight-systems-cli"}) {
    std::error_code failure;
    std::vector<std::string> releases;
    for (fs::directory_iterator entry(root, failure); !failure && entry != fs::directory_iterator();
         entry.increment(failure)) {
      releases.push_back((entry->path() / "bin").string());
    }
    std::sort(releases.rbegin(), releases.rend());
    folders.insert(folders.end(), releases.begin(), releases.end());
  }
  folders.emplace_back("/usr/local/cuda/bin");
  return folders;
}

[[nodiscard]] std::vector<std::string> export_command(const std::string& tool, const std::string& report,
                                                      const std::string& output) {
  return {tool, "export", "--type", "sqlite", "--force-overwrite", "true", "--output", output, report};
}

[[nodiscard]] std::string last_of_output(std::string text) {
  if (text.size() > kShownToolOutput) text = "..." + text.substr(text.size() - kShownToolOutput);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.empty() ? "it printed nothing" : "it printed:\n" + text;
}

}  // namespace

Result<void> import_nsys(const std::string& file, const ImportOptions& options, EventSink& sink) {
  const std::string& shown = options.shown.empty() ? file : options.shown;
  Result<sqlite::ForeignDatabase> opened = sqlite::ForeignDatabase::open(file);
  if (!opened) {
    return Error{fmt::format("{}: cannot be read as a database: {}; export the report anew", shown, opened.message())};
  }
  const std::vector<std::string>& tables = opened->tables();
  if (std::none_of(tables.begin(), tables.end(), is_nsys_table)) {
    return Error{
        fmt::format("{}: none of the {} tables is one of Nsight Systems; write the file by nsys export "
                    "--type sqlite",
                    shown, tables.size())};
  }
  Result<sqlite::ForeignDatabase> again = opened->another();
  if (!again) return Error{fmt::format("{}: cannot be read as a database: {}", shown, again.message())};
  NsysImporter importer(std::move(opened).value(), std::move(again).value(), shown, options, sink);
  return importer.run();
}

int probe_nsys(const FileHead& head) {
  if (head.database) return std::ranges::any_of(head.database->tables(), is_nsys_table) ? kByTables : 0;
  // Where the list of tables is damaged, some of it stands at the beginning of the file.
  const auto has = [&](std::string_view words) { return head.bytes.find(words) != std::string::npos; };
  const bool named =
      has("CREATE TABLE CUPTI_ACTIVITY_KIND_") || has("CREATE TABLE TARGET_INFO_") || has("CREATE TABLE ENUM_NSYS_");
  return named ? kByTables : 0;
}

int probe_nsys_report(std::string_view head, const std::string& path) {
  if (head.substr(0, 256).find(kReportMark) != std::string_view::npos) return kByMark;
  const std::string ending = fs::path(path).extension().string();
  const bool ends = std::find(std::begin(kReportEndings), std::end(kReportEndings), ending) != std::end(kReportEndings);
  return ends && !sqlite::is_database(head) ? kByReportEnding : 0;
}

Result<Converted> convert_nsys_report(const std::string& path, const ImportOptions& options, const EventSink& sink) {
  const std::string tool = system::find_program("nsys", tool_folders());
  const std::string beside = fs::path(path).replace_extension(".sqlite").string();
  if (tool.empty()) {
    return Error{
        fmt::format("{}: a report of Nsight Systems has to be converted by its own tool, and nsys is not on "
                    "PATH here; where it is, run: {} and open what it writes",
                    path, system::shell_command(export_command("nsys", path, beside)))};
  }
  const Result<std::shared_ptr<OwnTemporaryFolder>> folder = OwnTemporaryFolder::make("nsys");
  if (!folder) return Error{fmt::format("{}: it cannot be converted: {}", path, folder.message())};
  const std::string converted = (*folder)->file("report.sqlite");
  std::vector<std::string> command = export_command(tool, path, converted);
  command.insert(command.end() - 1, options.converter_options.begin(), options.converter_options.end());
  const Result<system::ChildOutcome> ended = system::run_child(command, [&] { return sink.cancelled(); });
  if (!ended) return Error{fmt::format("{}: {}", path, ended.message())};
  if (ended->cancelled) return Error{fmt::format("{}: the import was cancelled", path)};
  const std::string rerun = system::shell_command(export_command(tool, path, beside));
  std::error_code failure;
  if (ended->exit_code != 0 || !fs::exists(converted, failure)) {
    return Error{
        fmt::format("{}: {} could not convert it (exit code {}); it reads reports of its own release and "
                    "older ones; to try by hand: {}; {}",
                    path, tool, ended->exit_code, rerun, last_of_output(ended->output))};
  }
  return Converted{.folder = *folder, .paths = {converted}, .format = "nsys"};
}

}  // namespace accelscope::capture::sources::nsys
