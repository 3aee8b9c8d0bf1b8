#include "capture/kinds/itt/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "capture/kinds/itt/openmp_names.h"
#include "core/base/utf8.h"

namespace accelscope::capture::kinds::itt {
namespace {

using namespace probe::itt;

// Ids count from 1 without gaps; a probe keeps fewer sites than this.
constexpr std::uint32_t kMostIds = 1U << 21;
constexpr std::uintmax_t kLargestSource = 2U << 20;

// Takes a head and texts from the front of a definition.
class Body {
 public:
  explicit Body(std::string_view bytes) : bytes_(bytes) {}
  template <typename Head>
  [[nodiscard]] bool head(Head& head) {
    if (bytes_.size() < sizeof head) return false;
    std::memcpy(&head, bytes_.data(), sizeof head);
    bytes_.remove_prefix(sizeof head);
    return true;
  }
  [[nodiscard]] bool text(std::size_t size, std::string& text) {
    if (bytes_.size() < size) return false;
    text = valid_utf8(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return true;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      valid += "\xEF\xBF\xBD";
    } else {
      valid += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

IttNames::IttNames(SessionWriter& writer, const probes::ProbeProcess& process) : writer_(writer) {
  std::error_code failure;
  const auto directory = std::filesystem::read_symlink(fmt::format("/proc/{}/cwd", process.id), failure);
  if (!failure) folders_.push_back(directory.string());
  std::filesystem::path folder = std::filesystem::path(process.program).parent_path();
  for (; folder.has_relative_path(); folder = folder.parent_path()) folders_.push_back(folder.string());
}

bool IttNames::define(std::uint32_t type, std::string_view body) {
  switch (static_cast<DefinitionType>(type)) {
    case DefinitionType::domain: {
      Body parts(body);
      DomainDefinition head;
      std::string name;
      if (!parts.head(head) || !parts.text(head.name_bytes, name) || head.id >= kMostIds) return false;
      if (head.id >= domains_.size()) {
        domains_.resize(head.id + 1);
        domain_names_.resize(head.id + 1);
      }
      domains_[head.id] = writer_.intern(name);
      domain_names_[head.id] = std::move(name);
      return true;
    }
    case DefinitionType::site:
      return define_site(body);
    case DefinitionType::counter:
      return define_counter(body);
    case DefinitionType::lock:
      return define_lock(body);
    case DefinitionType::fact:
      return define_fact(body);
  }
  return false;
}

bool IttNames::define_site(std::string_view body) {
  Body parts(body);
  SiteDefinition head;
  std::string name, function, file;
  if (!parts.head(head) || head.id == 0 || head.id >= kMostIds) return false;
  if (!parts.text(head.name_bytes, name) || !parts.text(head.function_bytes, function)) return false;
  if (!parts.text(head.file_bytes, file)) return false;
  if (std::optional<OpenMpName> known = parse_openmp_name(name)) {
    name = std::move(known->name);
    file = std::move(known->file);
    head.line = known->line;
  }
  if (head.id >= sites_.size()) sites_.resize(head.id + 1);
  IttSite& site = sites_[head.id];
  site.name = writer_.intern(name);
  site.domain = domain(head.domain);
  site.domain_id = head.domain;
  site.function = writer_.intern(function);
  site.colour = head.colour;
  site.text = std::move(name);
  site.place = place_of(file, head.line);
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
  if (file) writer_.add_source_file(path, valid_utf8(content.str()));
}

bool IttNames::define_counter(std::string_view body) {
  Body parts(body);
  CounterDefinition head;
  std::string name;
  if (!parts.head(head) || !parts.text(head.name_bytes, name)) return false;
  if (head.type < CounterType::unsigned_integer || head.type > CounterType::real) return false;
  if (head.format > CounterFormat::watt) return false;
  const std::string domain = head.domain < domain_names_.size() ? domain_names_[head.domain] : "";
  const bool plain = domain.empty() || domain == "zones";
  counters_[head.id] = {plain ? name : fmt::format("{}: {}", domain, name), head.type, head.format};
  return true;
}

const IttCounter* IttNames::counter(std::uint32_t id) const {
  const auto found = counters_.find(id);
  return found == counters_.end() ? nullptr : &found->second;
}

bool IttNames::define_lock(std::string_view body) {
  Body parts(body);
  LockDefinition head;
  std::string name;
  if (!parts.head(head) || !parts.text(head.name_bytes, name)) return false;
  const IttSite& declared = site(head.site);
  StringId place = declared.place;
  if (const std::optional<OpenMpName> known = parse_openmp_name(name)) {
    name = known->name;
    place = place_of(known->file, known->line);
  }
  if (name.empty()) name = declared.text;
  locks_[head.lock] = {writer_.intern(name), place, head.site != 0};
  return true;
}

const IttLock& IttNames::lock(std::uint64_t number) {
  IttLock& lock = locks_[number];
  if (lock.name == 0) lock.name = writer_.intern(fmt::format("lock {:#x}", number));
  return lock;
}

bool IttNames::define_fact(std::string_view body) {
  Body parts(body);
  FactDefinition head;
  std::string key, value;
  if (!parts.head(head) || !parts.text(head.key_bytes, key) || !parts.text(head.value_bytes, value)) return false;
  facts_.emplace_back(std::move(key), std::move(value));
  return true;
}

}  // namespace accelscope::capture::kinds::itt
