// What a process has named: domains, sites, counters, locks. Each gets an id once, whichever static part or zone names
// it, and is defined to the agent; a forked child, which has a connection of its own, defines everything anew.
// One object for the process, never destroyed: threads may outlive static destruction.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "capture/probe/client/channel.h"
#include "capture/probe/itt/records.h"

namespace accelscope::probe::itt {

// For the process's life. Where a program has no memory left for a name, nothing can be told any more.
template <typename Object, typename... Arguments>
[[nodiscard]] Object* make_lasting(Arguments&&... arguments) noexcept {
  return new Object(std::forward<Arguments>(arguments)...);  // NOLINT(bugprone-unhandled-exception-at-new)
}

struct Place {
  std::string_view function, file;
  std::uint32_t line = 0;
  std::uint32_t colour = 0;
};

// A name that several domains use; kept for the process's life.
struct Name {
  explicit Name(std::string_view given) : text(given) {}
  const std::string text;
  std::atomic<std::uint64_t> last_site{0};     // domain << 32 | site: what most callers ask for
  std::atomic<std::uint64_t> last_counter{0};  // (domain << 2 | type) << 30 | counter
};

class Names {
 public:
  static constexpr std::uint32_t kOffDomain = 0;  // the id of what the user does not want

  static Names& instance() noexcept {
    Names* made = made_.load(std::memory_order_acquire);
    return made != nullptr ? *made : make();
  }

  [[nodiscard]] Channel& channel() noexcept { return channel_; }
  // Of whoever makes objects for the program; free in a forked child. May be held while calling the functions below.
  [[nodiscard]] std::mutex& making() noexcept { return making_; }
  [[nodiscard]] const Wanted& wanted() const noexcept { return wanted_; }

  // The calling thread's ring, with all definitions sent; null while nothing is collected.
  [[nodiscard]] ThreadRing* ring() noexcept {
    ThreadRing* ring = channel_.ring();
    if (ring != nullptr && channel_.generation() != defined_.load(std::memory_order_relaxed)) define_anew();
    return ring;
  }
  // The same also while paused: for the ends of what was begun.
  [[nodiscard]] ThreadRing* ring_for_end() noexcept {
    ThreadRing* ring = channel_.ring_even_paused();
    if (ring != nullptr && channel_.generation() != defined_.load(std::memory_order_relaxed)) define_anew();
    return ring;
  }

  [[nodiscard]] std::uint32_t domain(std::string_view name) noexcept;
  [[nodiscard]] Name* name(std::string_view text) noexcept;
  [[nodiscard]] std::uint32_t site(std::uint32_t domain, Name& name) noexcept {
    const std::uint64_t last = name.last_site.load(std::memory_order_relaxed);
    if (last >> 32 == domain) return static_cast<std::uint32_t>(last);
    return look_up_site(domain, name);
  }
  [[nodiscard]] std::uint32_t site(std::uint32_t domain, std::string_view name, const Place& place) noexcept;
  // Counters of one name whose values are of different types are different counters.
  [[nodiscard]] std::uint32_t counter(std::uint32_t domain, std::string_view name, CounterType type) noexcept;
  [[nodiscard]] std::uint32_t counter(std::uint32_t domain, Name& name, CounterType type) noexcept {
    const std::uint64_t wanted = std::uint64_t{domain} << 2 | static_cast<std::uint64_t>(type);
    std::uint64_t last = name.last_counter.load(std::memory_order_relaxed);
    if (last >> 30 != wanted) {
      last = wanted << 30 | counter(domain, std::string_view(name.text), type);
      name.last_counter.store(last, std::memory_order_relaxed);
    }
    return static_cast<std::uint32_t>(last) & ((1U << 30) - 1);
  }
  void set_format(std::uint32_t counter, CounterFormat format) noexcept;
  void define_lock(std::uint64_t lock, std::uint32_t site, std::string_view name) noexcept;
  void define_fact(std::string_view key, std::string_view value) noexcept;

 private:
  struct Defined {
    DefinitionType type;
    std::string body;
  };
  friend Names* make_lasting<Names>() noexcept;
  Names();
  static Names& make() noexcept;
  void unlock_both() noexcept {
    mutex_.unlock();
    making_.unlock();
  }
  void read_settings();
  [[nodiscard]] bool wants(std::string_view domain) const;
  [[nodiscard]] std::uint32_t look_up_site(std::uint32_t domain, Name& name) noexcept;
  void define(DefinitionType type, std::string body);
  void define_anew() noexcept;

  static std::atomic<Names*> made_;
  Channel channel_;
  Wanted wanted_;
  std::string included_, excluded_;
  std::atomic<std::uint32_t> defined_{0};  // the generation that knows all of `all_`
  std::mutex making_;
  std::mutex mutex_;  // of all below
  std::unordered_map<std::string, std::uint32_t> domains_;
  std::unordered_map<std::string, Name*> names_;
  std::unordered_map<std::string, std::uint32_t> sites_;     // by their definitions without an id
  std::unordered_map<std::string, std::uint32_t> counters_;  // by type, domain and name
  std::unordered_map<std::uint32_t, std::size_t> counter_definitions_;
  std::unordered_map<std::uint64_t, std::size_t> lock_definitions_;
  std::deque<Defined> all_;
  std::uint32_t domain_count_ = 0;
  std::uint32_t site_count_ = 0;
  std::uint32_t other_site_ = 0;  // of the names that are too many
};

}  // namespace accelscope::probe::itt
