// Two hosts on a bad line: two network namespaces, joined by a pair of TUN devices, between which this process carries
// every packet, or loses it, doubles it, lets later ones pass it, or alters it: so that TCP notices, and so that it
// does not.
//
//   BadLink link({.lost = 0.01, .late = 0.02});
//   if (!link.there()) return;                                       // see problem()
//   Process::start(link.at_agent({agent, "--listen", BadLink::kAgentHost + ":0"s}));
//   Process::start(link.at_viewer({viewer, "record", ...}));
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace accelscope::test {

// Shares of the packets.
struct LinkFaults {
  double lost = 0;
  double doubled = 0;
  double late = 0;                  // by up to 20 ms
  double damaged = 0;               // a bit of it flips: TCP's checksum finds that
  double forged = 0;                // two words of what it carries change places: the sum is the same
  std::uint64_t forged_after = 50;  // packets, so that a first connection comes about
  std::uint64_t most_forged = 3;
  unsigned seed = 1;
};

struct LinkCounts {
  std::uint64_t embedded = 0, lost = 0, doubled = 0, late = 0, damaged = 0, forged = 0;
};

class BadLink {
 public:
  static constexpr const char* kAgentHost = "10.77.0.1";
  static constexpr const char* kViewerHost = "10.77.0.2";

  explicit BadLink(const LinkFaults& faults);
  ~BadLink();
  BadLink(const BadLink&) = delete;
  BadLink& operator=(const BadLink&) = delete;

  [[nodiscard]] bool there() const;
  [[nodiscard]] const std::string& problem() const;  // why it is not there
  // The command as one that runs on that host.
  [[nodiscard]] std::vector<std::string> at_agent(const std::vector<std::string>& command) const;
  [[nodiscard]] std::vector<std::string> at_viewer(const std::vector<std::string>& command) const;
  [[nodiscard]] LinkCounts counts() const;  // from any thread

 private:
  struct Implementation;
  std::unique_ptr<Implementation> impl_;
};

}  // namespace accelscope::test
