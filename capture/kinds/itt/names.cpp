#include "capture/kinds/itt/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "capture/json/json_cursor.h"

namespace accelscope::capture::kinds::itt {
namespace {

using namespace probe::itt;

// Ids count from 1 without gaps; a probe keeps fewer sites than this.
constexpr std::uint32_t kMostIds = 1U << 21;
constexpr std::uintmax_t kLargestSource = 2U << 20;

[[nodiscard]] std::string text_of(probe::BodyReader& body) { return json::repair_utf8(body.text()); }

}  // namespace

IttNames::IttNames(SessionWriter& writer, const probes::ProbeProcess& process) : writer_(writer) {
  std::error_code failure;
  const auto directory = std::filesystem::read_symlink(fmt::format("/proc/{}/cwd", process.id), failure);
  if (!failure) folders_.push_back(directory.string());
  std::filesystem::path folder = std::filesystem::path(process.program).parent_path();
  for (; folder.has_relative_path(); folder = folder.parent_path()) folders_.push_back(folder.string());
}

bool IttNames::define(std::uint32_t type, std::string_view body) {
  // By DefinitionType from 1.
  constexpr bool (IttNames::*kDefine[])(probe::BodyReader&) = {&IttNames::define_domain, &IttNames::define_site,
                                                               &IttNames::define_counter, &IttNames::define_lock,
                                                               &IttNames::define_fact};
  probe::BodyReader reader(body);
  return type >= 1 && type <= std::size(kDefine) && (this->*kDefine[type - 1])(reader);
}

bool IttNames::define_fact(probe::BodyReader& body) {
  std::string key = text_of(body);
  std::string value = text_of(body);
  if (body.ok()) facts_.emplace_back(std::move(key), std::move(value));
  return body.ok();
}

bool IttNames::define_domain(probe::BodyReader& body) {
  const auto id = body.number<std::uint32_t>();
  std::string name = text_of(body);
  if (!body.ok() || id >= kMostIds) return false;
  if (id >= domains_.size()) {
    domains_.resize(id + 1);
    domain_names_.resize(id + 1);
  }
  domains_[id] = writer_.intern(name);
  domain_names_[id] = std::move(name);
  return true;
}

bool IttNames::define_site(probe::BodyReader& body) {
  const auto id = body.number<std::uint32_t>();
  const auto domain_id = body.number<std::uint32_t>();
  auto line = body.number<std::uint32_t>();
  const auto colour = body.number<std::uint32_t>();
  std::string name = text_of(body);
  const std::string function = text_of(body);
  std::string file = text_of(body);
  if (!body.ok() || id == 0 || id >= kMostIds) return false;
  if (std::optional<OpenMpName> known = parse_openmp_name(name)) {
    name = std::move(known->name);
    file = std::move(known->file);
    line = known->line;
  }
  if (id >= sites_.size()) sites_.resize(id + 1);
  IttSite& site = sites_[id];
  site.name = writer_.intern(name);
  site.domain = domain(domain_id);
  site.domain_id = domain_id;
  site.function = writer_.intern(function);
  site.colour = colour;
  site.text = std::move(name);
  site.place = place_of(file, line);
  return true;
}

// Compilers name files as they were called with them: from the folder that they were built in, which is most often one
// above that of the program.
std::string IttNames::find_source(const std::string& path) const {
  std::error_code failure;
  if (path.starts_with('/')) return std::filesystem::is_regular_file(path, failure) ? path : "";
  if (path.find('/') == std::string::npos) return "";
  for (const std::string& folder : folders_) {
    const std::string found = (std::filesystem::path(folder) / path).lexically_normal().string();
    if (std::filesystem::is_regular_file(found, failure)) return found;
  }
  return "";
}

StringId IttNames::place_of(const std::string& file, std::uint32_t line) {
  if (file.empty() || line == 0) return 0;
  keep_source(file);
  return writer_.intern(fmt::format("{}:{}", file, line));
}

// Retained with the session, so that its lines can be shown.
void IttNames::keep_source(const std::string& path) {
  if (!sources_.insert(path).second) return;
  const std::string found = find_source(path);
  std::error_code failure;
  if (found.empty() || std::filesystem::file_size(found, failure) > kLargestSource || failure) return;
  std::ifstream file(found, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (file) writer_.add_source_file(path, json::repair_utf8(content.str()));
}

bool IttNames::define_counter(probe::BodyReader& body) {
  const auto id = body.number<std::uint32_t>();
  const auto domain_id = body.number<std::uint32_t>();
  const auto type = body.number<CounterType>();
  const auto format = body.number<CounterFormat>();
  const std::string name = text_of(body);
  if (!body.ok() || type < CounterType::unsigned_integer || type > CounterType::real) return false;
  if (format > CounterFormat::watt) return false;
  const std::string domain = domain_id < domain_names_.size() ? domain_names_[domain_id] : "";
  const bool plain = domain.empty() || domain == "zones";
  counters_[id] = {plain ? name : fmt::format("{}: {}", domain, name), type, format};
  return true;
}

const IttCounter* IttNames::counter(std::uint32_t id) const {
  const auto found = counters_.find(id);
  return found == counters_.end() ? nullptr : &found->second;
}

bool IttNames::define_lock(probe::BodyReader& body) {
  const auto number = body.number<std::uint64_t>();
  const auto site_id = body.number<std::uint32_t>();
  std::string name = text_of(body);
  if (!body.ok()) return false;
  const IttSite& declared = site(site_id);
  StringId place = declared.place;
  if (const std::optional<OpenMpName> known = parse_openmp_name(name)) {
    name = known->name;
    place = place_of(known->file, known->line);
  }
  if (name.empty()) name = declared.text;
  locks_[number] = {writer_.intern(name), place, site_id != 0};
  return true;
}

const IttLock& IttNames::lock(std::uint64_t number) {
  IttLock& lock = locks_[number];
  if (lock.name == 0) lock.name = writer_.intern(fmt::format("lock {:#x}", number));
  return lock;
}

namespace {

constexpr std::string_view kUnknown = "unknown";

// What lies before the separator; the text goes on behind it.
[[nodiscard]] std::string_view cut_to(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

[[nodiscard]] std::uint32_t number_of(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void set_place(OpenMpName& name, std::string_view file, std::string_view line) {
  if (file == kUnknown || file.empty() || number_of(line) == 0) return;
  name.file = file;
  name.line = number_of(line);
}

[[nodiscard]] std::string in_function(std::string_view function) {
  return function.empty() || function == kUnknown ? "" : fmt::format(" in {}", function);
}

[[nodiscard]] OpenMpName parse_region(std::string_view function, std::string_view rest) {
  OpenMpName region;
  std::string_view what = cut_to(rest, '@');
  const std::string_view kind = cut_to(what, ':');
  const std::uint32_t threads = number_of(what);
  region.name = fmt::format("omp {}{}", kind, in_function(function));
  if (threads > 0) region.name += fmt::format(", {} threads", threads);
  // A file's own name may hold ':'; the numbers stand at the end.
  const std::size_t slash = rest.rfind('/');
  const std::size_t colon = rest.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon == std::string_view::npos) return region;
  std::string_view lines = rest.substr(colon + 1);
  set_place(region, rest.substr(0, colon), cut_to(lines, ':'));
  return region;
}

}  // namespace

std::optional<OpenMpName> parse_openmp_name(std::string_view text) {
  constexpr std::string_view kRegion = "$omp$";
  if (const std::size_t at = text.find(kRegion); at != std::string_view::npos) {
    return parse_region(text.substr(0, at), text.substr(at + kRegion.size()));
  }
  if (!text.starts_with("OMP ")) return std::nullopt;
  const std::size_t at = text.find(" ;");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + 2);
  const std::string_view file = cut_to(rest, ';'), function = cut_to(rest, ';'), line = cut_to(rest, ';');
  OpenMpName object;
  object.name = std::string(text.substr(0, at)) + in_function(function);
  set_place(object, file, line);
  return object;
}

}  // namespace accelscope::capture::kinds::itt
