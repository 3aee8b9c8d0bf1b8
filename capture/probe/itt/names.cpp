#include "capture/probe/itt/names.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>

namespace accelscope::probe::itt {
namespace {

constexpr std::uint32_t kMostSites = 1U << 20;
constexpr std::size_t kMostNameBytes = 4096;

template <typename Head>
std::string body_of(const Head& head, std::initializer_list<std::string_view> texts) {
  std::string body(reinterpret_cast<const char*>(&head), sizeof head);
  for (const std::string_view text : texts) body += text;
  return body;
}

[[nodiscard]] std::uint32_t size_of(std::string_view text) noexcept { return static_cast<std::uint32_t>(text.size()); }

[[nodiscard]] std::string_view cut(std::string_view text) noexcept { return text.substr(0, kMostNameBytes); }

// '*' stands for any characters.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, in = 0;
  std::size_t star = std::string_view::npos, after_star = 0;
  while (in < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      after_star = in;
    } else if (at < pattern.size() && pattern[at] == text[in]) {
      ++at;
      ++in;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in = ++after_star;
    } else {
      return false;
    }
  }
  return std::all_of(pattern.begin() + static_cast<std::ptrdiff_t>(at), pattern.end(), [](char c) { return c == '*'; });
}

[[nodiscard]] bool any_matches(std::string_view patterns, std::string_view text) {
  while (!patterns.empty()) {
    const std::size_t end = std::min(patterns.find('\t'), patterns.size());
    if (matches(patterns.substr(0, end), text)) return true;
    patterns.remove_prefix(std::min(end + 1, patterns.size()));
  }
  return false;
}

[[nodiscard]] bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

constinit std::atomic<Names*> Names::made_{nullptr};

Names& Names::make() noexcept {
  static Names& names = *make_lasting<Names>();
  made_.store(&names, std::memory_order_release);
  return names;
}

Names::Names() : channel_("itt") {
  read_settings();
  // A child must find them free. They are taken in the order in which calls nest.
  pthread_atfork(
      [] {
        instance().making_.lock();
        instance().mutex_.lock();
      },
      [] { instance().unlock_both(); }, [] { instance().unlock_both(); });
}

void Names::read_settings() {
  included_ = channel_.setting(kIncludeSetting);
  excluded_ = channel_.setting(kExcludeSetting);
  const std::string off = channel_.setting(kOffSetting);
  wanted_.tasks = !has_word(off, kOffTasks);
  wanted_.frames = !has_word(off, kOffFrames);
  wanted_.counters = !has_word(off, kOffCounters);
  wanted_.events = !has_word(off, kOffEvents);
  wanted_.metadata = !has_word(off, kOffMetadata);
  wanted_.locks = !has_word(off, kOffLocks);
  wanted_.zones = !has_word(off, kOffZones);
  wanted_.memory = !has_word(off, kOffMemory);
}

bool Names::wants(std::string_view domain) const {
  if (!included_.empty() && !any_matches(included_, domain)) return false;
  return !any_matches(excluded_, domain);
}

void Names::define(DefinitionType type, std::string body) {
  all_.push_back({type, std::move(body)});
  channel_.define(static_cast<std::uint32_t>(type), all_.back().body);
}

void Names::define_anew() noexcept {
  const std::lock_guard lock(mutex_);
  const std::uint32_t generation = channel_.generation();
  if (defined_.load(std::memory_order_relaxed) == generation) return;
  // What was defined while the first connection stood is known to it already; a second time does no harm.
  for (const Defined& defined : all_) channel_.define(static_cast<std::uint32_t>(defined.type), defined.body);
  defined_.store(generation, std::memory_order_release);
}

std::uint32_t Names::domain(std::string_view name) noexcept {
  name = cut(name);
  const std::lock_guard lock(mutex_);
  const auto found = domains_.find(std::string(name));
  if (found != domains_.end()) return found->second;
  const std::uint32_t id = wants(name) ? ++domain_count_ : kOffDomain;
  domains_.emplace(name, id);
  if (id != kOffDomain) define(DefinitionType::domain, body_of(DomainDefinition{id, size_of(name)}, {name}));
  return id;
}

Name* Names::name(std::string_view text) noexcept {
  text = cut(text);
  const std::lock_guard lock(mutex_);
  Name*& name = names_[std::string(text)];
  if (name == nullptr) name = make_lasting<Name>(text);
  return name;
}

std::uint32_t Names::look_up_site(std::uint32_t domain, Name& name) noexcept {
  const std::uint32_t id = site(domain, name.text, {});
  name.last_site.store(std::uint64_t{domain} << 32 | id, std::memory_order_relaxed);
  return id;
}

std::uint32_t Names::site(std::uint32_t domain, std::string_view name, const Place& place) noexcept {
  SiteDefinition head{.id = 0, .domain = domain, .line = place.line, .colour = place.colour};
  name = cut(name);
  const std::string_view function = cut(place.function), file = cut(place.file);
  head.name_bytes = size_of(name);
  head.function_bytes = size_of(function);
  head.file_bytes = size_of(file);
  std::string body = body_of(head, {name, function, file});
  const std::lock_guard lock(mutex_);
  if (const auto found = sites_.find(body); found != sites_.end()) return found->second;
  if (site_count_ >= kMostSites) {
    if (other_site_ != 0) return other_site_;
    constexpr std::string_view kOther = "(more names than can be kept apart)";
    head = {.id = 0, .domain = domain, .line = 0, .colour = 0, .name_bytes = size_of(kOther)};
    head.function_bytes = head.file_bytes = 0;
    body = body_of(head, {kOther});
    other_site_ = site_count_ + 1;
  }
  head.id = ++site_count_;
  sites_.emplace(body, head.id);
  std::memcpy(body.data(), &head, sizeof head);
  define(DefinitionType::site, std::move(body));
  return head.id;
}

std::uint32_t Names::counter(std::uint32_t domain, std::string_view name, CounterType type) noexcept {
  name = cut(name);
  const std::lock_guard lock(mutex_);
  const auto id = static_cast<std::uint32_t>(counters_.size() + 1);
  const std::string key = std::to_string(static_cast<int>(type)) + '\t' + std::to_string(domain) + '\t';
  const auto [at, is_new] = counters_.emplace(key + std::string(name), id);
  if (!is_new) return at->second;
  counter_definitions_[id] = all_.size();
  define(DefinitionType::counter,
         body_of(CounterDefinition{id, domain, type, CounterFormat::number, size_of(name)}, {name}));
  return id;
}

void Names::set_format(std::uint32_t counter, CounterFormat format) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = counter_definitions_.find(counter);
  if (found == counter_definitions_.end()) return;
  std::string& body = all_[found->second].body;
  CounterDefinition head;
  std::memcpy(&head, body.data(), sizeof head);
  head.format = format;
  std::memcpy(body.data(), &head, sizeof head);
  channel_.define(static_cast<std::uint32_t>(DefinitionType::counter), body);
}

void Names::define_lock(std::uint64_t lock, std::uint32_t site, std::string_view name) noexcept {
  name = cut(name);
  const std::lock_guard guard(mutex_);
  std::string body = body_of(LockDefinition{site, size_of(name), lock}, {name});
  const auto [at, is_new] = lock_definitions_.emplace(lock, all_.size());
  if (is_new) return define(DefinitionType::lock, std::move(body));
  all_[at->second].body = std::move(body);
  channel_.define(static_cast<std::uint32_t>(DefinitionType::lock), all_[at->second].body);
}

void Names::define_fact(std::string_view key, std::string_view value) noexcept {
  const std::lock_guard lock(mutex_);
  define(DefinitionType::fact, body_of(FactDefinition{size_of(key), size_of(value)}, {key, value}));
}

}  // namespace accelscope::probe::itt
