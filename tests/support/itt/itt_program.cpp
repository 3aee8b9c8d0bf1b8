// A program that tells by ITT calls what the tests then look for: the numbers below are theirs.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/support/itt/static_part.h"

namespace {

using accelscope::test::Id;
using accelscope::test::StaticPart;

constexpr int kThreads = 3;
constexpr int kOuter = 100;

struct Marked {
  StaticPart first, second;  // two parts, as in a program and its library
  itt_domain* early_domain = first.early_domain("early");
  itt_string_handle* early_string = first.early_string("early task");
  itt_counter_info* early_counter = first.early_counter("early counter", "early", 1);
  itt_domain* alpha = nullptr;

  bool attach() {
    if (!first.attach() || !second.attach() || !first.attach()) return false;
    alpha = first.domain("alpha");
    return alpha != nullptr;  // null: there is no agent
  }
  void task(const char* name) {
    first.begin(alpha, first.string(name));
    first.end(alpha);
  }
};

void worker(Marked& marked, int number, itt_counter_info* counter) {
  StaticPart& part = number == 1 ? marked.second : marked.first;
  const std::string name = "worker " + std::to_string(number);
  part.function<void(const char*)>("thread_set_name")(name.c_str());
  itt_domain* domain = part.domain("alpha");
  itt_string_handle* outer = part.string("outer");
  itt_string_handle* inner = part.string("inner");
  itt_string_handle* key = part.string("sizes");
  itt_string_handle* format = part.string("row %d of %s");
  const auto inc = part.function<void(itt_counter_info*)>("counter_inc");
  const auto add = part.function<void(itt_domain*, Id, itt_string_handle*, int, std::size_t, void*)>("metadata_add");
  const auto formatted = part.function<void(itt_domain*, itt_string_handle*, ...)>("formatted_metadata_add");
  for (int i = 0; i < kOuter; ++i) {
    part.begin(domain, outer);
    part.begin(domain, inner);
    unsigned long long sizes[2] = {static_cast<unsigned long long>(i), ~0ULL};
    add(domain, {}, key, 1, 2, sizes);
    part.end(domain);
    formatted(domain, format, i, name.c_str());
    part.begin(domain, inner);
    part.end(domain);
    part.end(domain);
    inc(counter);
  }
}

void objects(Marked& marked) {
  StaticPart& part = marked.first;
  itt_domain* beta = part.domain("beta");
  const auto frame_begin = part.function<void(itt_domain*, Id*)>("frame_begin_v3");
  const auto frame_end = part.function<void(itt_domain*, Id*)>("frame_end_v3");
  for (int i = 0; i < 5; ++i) {
    frame_begin(beta, nullptr);
    frame_end(beta, nullptr);
  }
  const unsigned long long begin = part.function<unsigned long long()>("get_timestamp")();
  part.function<void(itt_domain*, Id*, unsigned long long, unsigned long long)>("frame_submit_v3")(
      beta, nullptr, begin, part.function<unsigned long long()>("get_timestamp")());

  const auto region_begin = part.function<void(itt_domain*, Id, Id, itt_string_handle*)>("region_begin");
  const auto region_end = part.function<void(itt_domain*, Id)>("region_end");
  for (unsigned long long i = 1; i <= 3; ++i) region_begin(beta, Id{100 + i, 0, 0}, {}, part.string("region"));
  for (unsigned long long i = 1; i <= 3; ++i) region_end(beta, Id{100 + i, 0, 0});

  // Two that overlap; the second ends on another thread.
  const auto begin_overlapped = part.function<void(itt_domain*, Id, Id, itt_string_handle*)>("task_begin_overlapped");
  const auto end_overlapped = part.function<void(itt_domain*, Id)>("task_end_overlapped");
  part.function<void(itt_domain*, Id, Id, itt_string_handle*)>("task_group")(beta, Id{9, 0, 0}, {},
                                                                             part.string("group"));
  begin_overlapped(beta, Id{1, 2, 0}, Id{9, 0, 0}, part.string("first"));
  begin_overlapped(beta, Id{2, 2, 0}, {}, part.string("second"));
  part.function<void(itt_domain*, Id, itt_string_handle*, const char*, std::size_t)>("metadata_str_add")(
      beta, Id{1, 2, 0}, part.string("colour"), "green", 0);
  part.function<void(itt_domain*, Id, int, Id)>("relation_add")(beta, Id{1, 2, 0}, 7, Id{2, 2, 0});
  end_overlapped(beta, Id{1, 2, 0});
  std::thread([&] { end_overlapped(beta, Id{2, 2, 0}); }).join();

  const int event = part.function<int(const char*, int)>("event_create")("eventful", 5);
  const auto start = part.function<int(int)>("event_start");
  const auto stop = part.function<int(int)>("event_end");
  for (int i = 0; i < 4; ++i) {
    start(event);
    stop(event);
  }
  const int point = part.function<int(const char*, int)>("event_create")("point", 5);
  start(point);
  start(point);

  const auto mark = part.function<void(itt_domain*, Id, itt_string_handle*, int)>("marker");
  mark(beta, {}, part.string("here"), 1);
  mark(beta, {}, part.string("there"), 3);
  part.function<void(itt_domain*, int, itt_string_handle*, const char*, std::size_t)>("metadata_str_add_with_scope")(
      beta, 1, part.string("build"), "nightly", 7);

  // An early counter, one of doubles, and one by domain and name that falls below where it began.
  unsigned long long early = 7;
  const auto set = part.function<void(itt_counter_info*, void*)>("counter_set_value");
  set(marked.early_counter, &early);
  itt_counter_info* ratio =
      part.function<itt_counter_info*(const char*, const char*, int)>("counter_create_typed")("ratio", "beta", 8);
  for (double value : {0.25, 0.5}) set(ratio, &value);
  part.function<void(itt_domain*, itt_string_handle*, unsigned long long)>("counter_inc_delta_v3")(
      beta, part.string("bytes"), 1ULL << 60);

  const auto lock_create = part.function<void(void*, const char*, const char*, int)>("sync_create");
  lock_create(&marked, "mutex", "the lock", 0);
  part.function<void(void*)>("sync_prepare")(&marked);
  part.function<void(void*)>("sync_acquired")(&marked);
  part.function<void(void*)>("sync_releasing")(&marked);
  auto* histogram = part.function<itt_histogram*(itt_domain*, const char*, int, int)>("histogram_create")(
      beta, "sizes of rows", 1, 4);
  unsigned long long x[] = {1, 2};
  int y[] = {-5, 6};
  part.function<void(itt_histogram*, std::size_t, void*, void*)>("histogram_submit")(histogram, 2, x, y);
}

int tell_all(Marked& marked) {
  marked.first.function<void(const char*)>("thread_set_name")("the main one");
  marked.first.begin(marked.early_domain, marked.early_string);
  marked.first.end(marked.early_domain);
  itt_counter_info* counter =
      marked.first.function<itt_counter_info*(const char*, const char*)>("counter_create")("rounds", "alpha");
  std::thread threads[kThreads];
  for (int i = 0; i < kThreads; ++i) threads[i] = std::thread(worker, std::ref(marked), i, counter);
  for (std::thread& thread : threads) thread.join();
  objects(marked);
  return 0;
}

void pause(Marked& marked) {
  marked.task("before");
  marked.first.begin(marked.alpha, marked.first.string("spans"));
  marked.first.function<void()>("pause")();
  for (int i = 0; i < 10; ++i) marked.task("hidden");
  marked.first.begin(marked.alpha, marked.first.string("half hidden"));
  marked.first.function<void()>("resume")();
  marked.task("after");
  marked.first.end(marked.alpha);
  marked.first.end(marked.alpha);
  marked.task("last");
  marked.first.function<void()>("detach")();
  marked.task("gone");
}

void many(Marked& marked, int count) {
  itt_string_handle* name = marked.first.string("one of many");
  const auto begin = marked.first.function<void(itt_domain*, Id, Id, itt_string_handle*)>("task_begin");
  const auto end = marked.first.function<void(itt_domain*)>("task_end");
  for (int i = 0; i < count; ++i) {
    begin(marked.alpha, {}, {}, name);
    end(marked.alpha);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  static Marked marked;
  if (!marked.attach()) {
    std::puts("no collector");
    return 3;
  }
  if (what == "all") return tell_all(marked);
  if (what == "one") marked.task("one");
  if (what == "pause") pause(marked);
  if (what == "many") many(marked, std::atoi(argv[2]));
  if (what == "crash" || what == "exit") {
    marked.first.begin(marked.alpha, marked.first.string("outer"));
    marked.first.begin(marked.alpha, marked.first.string("inner"));
    many(marked, 1000);
    if (what == "crash") std::raise(SIGKILL);
    ::_exit(0);
  }
  if (what == "fork") {
    marked.task("parent");
    const pid_t child = ::fork();
    marked.task(child == 0 ? "child" : "parent");
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
  }
  if (what == "exec") {
    marked.task("before");
    ::execl(argv[0], argv[0], "one", nullptr);
  }
  return 0;
}
