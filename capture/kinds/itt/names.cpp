#include "capture/kinds/itt/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "capture/json/json_cursor.h"
#include "capture/kinds/itt/openmp_names.h"

namespace accelscope::capture::kinds::itt {
namespace {

using namespace probe::itt;

// Ids count from 1 without gaps; a probe keeps fewer sites than this.
constexpr std::uint32_t kMostIds = 1U << 21;
constexpr std::uintmax_t kLargestSource = 2U << 20;

[[nodiscard]] std::string text_of(probe::BodyReader& body) { return json::mend_utf8(body.text()); }

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

// Kept with the session, so that its lines can be shown.
void IttNames::keep_source(const std::string& path) {
  if (!sources_.insert(path).second) return;
  const std::string found = find_source(path);
  std::error_code failure;
  if (found.empty() || std::filesystem::file_size(found, failure) > kLargestSource || failure) return;
  std::ifstream file(found, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (file) writer_.add_source_file(path, json::mend_utf8(content.str()));
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

}  // namespace accelscope::capture::kinds::itt
