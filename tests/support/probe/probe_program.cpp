// A program with a probe of kind "test" inside it, for tests of the channel. Record 1 is {head, number}: its value is
// the generation of its process, its word counts from 0 in each thread.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "capture/probe/client/channel.h"

namespace {

using namespace accelscope::probe;

struct Numbered {
  RecordHead head;
  std::uint64_t number;
  std::uint64_t ticks;
};

Channel& channel() {
  static Channel& only = *new Channel("test");
  return only;
}

void write_numbers(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (ThreadRing* ring = channel().ring()) ring->put(Numbered{{1, 3, channel().generation()}, i, now_ticks()});
  }
}

void write_in_threads(int threads, std::uint64_t count) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([=] {
      channel().name_thread("worker " + std::to_string(i));
      write_numbers(count);
    });
  }
  for (std::thread& thread : all) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  channel().define(7, "a definition");
  if (what == "threads") {
    write_in_threads(4, count);
  } else if (what == "crash") {
    write_numbers(count);
    ::raise(SIGSEGV);
  } else if (what == "exit") {
    write_numbers(count);
    ::_exit(3);
  } else if (what == "exec") {
    write_numbers(count);
    ::execl(argv[0], argv[0], "threads", "10", nullptr);
  } else if (what == "fork") {
    write_numbers(count);
    const pid_t child = ::fork();
    write_numbers(child == 0 ? 2 * count : count);
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
  } else if (what == "pause") {
    write_numbers(count);
    channel().intent(Intent::pause);
    write_numbers(count);
    channel().intent(Intent::resume);
    write_numbers(count);
  } else if (what == "until paused") {
    channel().intent(Intent::pause);
    channel().intent(Intent::resume);
    for (; channel().collecting(); ::usleep(1000)) write_numbers(10);
  } else if (what == "hold back" || what == "hold back for ever") {
    channel().flushes_at_end();
    write_numbers(1);
    while (!channel().ending()) ::usleep(1000);
    if (what == "hold back") write_numbers(count);
    if (what == "hold back") channel().flushed();
    while (channel().attached()) ::usleep(1000);
  } else if (what == "detach") {
    write_numbers(count);
    channel().detach();
    write_numbers(count);
  } else if (what == "settings") {
    std::printf("%s|%s\n", channel().setting("colour").c_str(), channel().setting("none").c_str());
  } else if (what == "large") {
    channel().define(8, std::string(3U << 20, 'x'));
    std::vector<std::uint64_t> words(kMaxRecordBytes / 8, 5);
    const RecordHead head{2, static_cast<std::uint16_t>(words.size()), 9};
    __builtin_memcpy(words.data(), &head, sizeof head);
    for (std::uint64_t i = 0; i < count; ++i) {
      ThreadRing* ring = channel().ring();
      char* room = ring == nullptr ? nullptr : ring->reserve(kMaxRecordBytes);
      if (room == nullptr) continue;
      __builtin_memcpy(room, words.data(), kMaxRecordBytes);
      ring->commit(kMaxRecordBytes);
    }
  }
  return 0;
}
