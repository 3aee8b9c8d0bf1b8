#include "capture/probe/itt/names.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>

#include "capture/probe/bodies.h"

namespace accelscope::probe::itt {
namespace {

constexpr std::uint32_t kMostSites = 1U << 20;
constexpr std::size_t kMostNameBytes = 4096;

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

// Whether one of the words with such separators between them fits.
template <typename Fits>
[[nodiscard]] bool any_of_words(std::string_view words, char separator, Fits fits) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(separator), words.size());
    if (fits(words.substr(0, end))) return true;
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
  for (const auto& [name, wanted] : kSwitches) {
    wanted_.*wanted = !any_of_words(off, ' ', [name = name](std::string_view word) { return word == name; });
  }
}

bool Names::wants(std::string_view domain) const {
  const auto fits = [domain](std::string_view pattern) { return matches(pattern, domain); };
  if (!included_.empty() && !any_of_words(included_, '\t', fits)) return false;
  return !any_of_words(excluded_, '\t', fits);
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
  if (id != kOffDomain) define(DefinitionType::domain, BodyWriter().number(id).text(name).bytes());
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
  const auto facts_of = [domain](std::string_view named, const Place& at) {
    BodyWriter facts;
    facts.number(domain).number(at.line).number(at.colour).text(cut(named)).text(cut(at.function)).text(cut(at.file));
    return facts.bytes();
  };
  std::string facts = facts_of(name, place);
  const std::lock_guard lock(mutex_);
  if (const auto found = sites_.find(facts); found != sites_.end()) return found->second;
  if (site_count_ >= kMostSites) {
    if (other_site_ != 0) return other_site_;
    facts = facts_of("(more names than can be kept apart)", {});
    other_site_ = site_count_ + 1;
  }
  const std::uint32_t id = ++site_count_;
  define(DefinitionType::site, BodyWriter().number(id).bytes() + facts);
  sites_.emplace(std::move(facts), id);
  return id;
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
         BodyWriter().number(id).number(domain).number(type).number(CounterFormat::number).text(name).bytes());
  return id;
}

void Names::set_format(std::uint32_t counter, CounterFormat format) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = counter_definitions_.find(counter);
  if (found == counter_definitions_.end()) return;
  std::string& body = all_[found->second].body;
  constexpr std::size_t kFormatAt = 2 * sizeof(std::uint32_t) + sizeof(CounterType);
  std::memcpy(body.data() + kFormatAt, &format, sizeof format);
  channel_.define(static_cast<std::uint32_t>(DefinitionType::counter), body);
}

void Names::define_lock(std::uint64_t lock, std::uint32_t site, std::string_view name) noexcept {
  name = cut(name);
  const std::lock_guard guard(mutex_);
  std::string body = BodyWriter().number(lock).number(site).text(name).bytes();
  const auto [at, is_new] = lock_definitions_.emplace(lock, all_.size());
  if (is_new) return define(DefinitionType::lock, std::move(body));
  all_[at->second].body = std::move(body);
  channel_.define(static_cast<std::uint32_t>(DefinitionType::lock), all_[at->second].body);
}

void Names::define_fact(std::string_view key, std::string_view value) noexcept {
  const std::lock_guard lock(mutex_);
  define(DefinitionType::fact, BodyWriter().text(key).text(value).bytes());
}

}  // namespace accelscope::probe::itt
