// What a mark costs a program, in ns of its own processor time: ROUNDS pairs of begin and end in each of THREADS
// threads. Prints one number. WHAT: task, disabled (a domain that is not wanted), zone.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/itt/static_part.h"
#include "tracy/Tracy.hpp"

namespace {

using accelscope::test::Id;
using accelscope::test::StaticPart;

double thread_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// As the interface's own macros: nothing is called for a domain whose flags are 0.
void tasks(StaticPart& part, itt_domain* domain, long rounds) {
  itt_string_handle* name = part.string("task");
  const auto begin = part.function<void(itt_domain*, Id, Id, itt_string_handle*)>("task_begin");
  const auto end = part.function<void(itt_domain*)>("task_end");
  for (long i = 0; i < rounds; ++i) {
    if (domain->flags != 0) begin(domain, {}, {}, name);
    if (domain->flags != 0) end(domain);
  }
}

void zones(long rounds) {
  for (long i = 0; i < rounds; ++i) {
    ZoneScopedN("zone");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string what = argv[1];
  const long rounds = std::atol(argv[2]);
  const int count = std::atoi(argv[3]);
  static StaticPart part;
  itt_domain* domain = nullptr;
  if (what != "zone") {
    if (!part.attach()) return 3;
    domain = part.domain(what.c_str());
    if (domain == nullptr) return 3;
  }
  std::vector<double> spent(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (double& ns : spent) {
    threads.emplace_back([&] {
      what == "zone" ? zones(1000) : tasks(part, domain, 1000);  // its ring is made
      const double begin = thread_ns();
      what == "zone" ? zones(rounds) : tasks(part, domain, rounds);
      ns = thread_ns() - begin;
    });
  }
  for (std::thread& thread : threads) thread.join();
  double total = 0;
  for (const double ns : spent) total += ns;
  std::printf("%.2f\n", total / (static_cast<double>(rounds) * count));
  return 0;
}
