// A program that is marked with every macro of zones, as programs marked for Tracy's client are. Built twice: with
// marks switched on and off. The tests know its lines by the names of its zones.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include "tests/support/itt/zones_in_c.h"
#include "tracy/Tracy.hpp"
#include "tracy/TracyC.h"

namespace {

TracyLockable(std::mutex, plain_mutex);
TracyLockableN(std::mutex, named_mutex, "queue");
TracySharedLockable(std::shared_mutex, plain_shared);
TracySharedLockableN(std::shared_mutex, named_shared, "table");

void scoped_zones([[maybe_unused]] bool yes) {
  ZoneScoped;
  { ZoneScopedN("scoped N"); }
  { ZoneScopedC(tracy::Color::SteelBlue); }
  { ZoneScopedNC("scoped NC", 0xff8800); }
  { ZoneScopedS(5); }
  { ZoneScopedNS("scoped NS", 5); }
  { ZoneScopedCS(0x102030, 5); }
  { ZoneScopedNCS("scoped NCS", 0x102030, 5); }
  {
    ZoneNamed(zone, yes);
    ZoneNamedN(zone_n, "named N", yes);
    ZoneNamedC(zone_c, 0x1, yes);
    ZoneNamedNC(zone_nc, "named NC", 0x2, yes);
    ZoneNamedN(never, "not active", !yes);
    if (ZoneIsActiveV(never)) std::puts("a zone that is not active says it is");
  }
  {
    ZoneNamedS(zone_s, 3, yes);
    ZoneNamedNS(zone_ns, "named NS", 3, yes);
    ZoneNamedCS(zone_cs, 0x3, 3, yes);
    ZoneNamedNCS(zone_ncs, "named NCS", 0x4, 3, yes);
  }
  {
    ZoneTransient(transient, yes);
    const std::string made = std::string("made ") + "while it runs";
    ZoneTransientN(transient_n, made.c_str(), yes);
    ZoneTransientNS(transient_ns, made.c_str(), 3, yes);
  }
}

void reported_zones() {
  ZoneScopedN("told");
  ZoneText("some text", 9);
  ZoneTextF("%d of %s", 3, "them");
  ZoneValue(18446744073709551615ULL);
  ZoneColor(0xabcdef);
  if (ZoneIsActive) {
    ZoneNamedN(inner, "renamed", true);
    ZoneNameV(inner, "by hand", 7);
    ZoneTextV(inner, "inner text", 10);
    ZoneTextVF(inner, "n=%d", 5);
    ZoneValueV(inner, 7);
    ZoneColorV(inner, 0x111111);
  }
  {
    ZoneScopedN("named late");
    ZoneName("late", 4);
  }
  {
    ZoneScopedN("formatted");
    ZoneNameF("step %d", 12);
    ZoneNamedN(other, "other", true);
    ZoneNameVF(other, "other %d", 1);
  }
}

void frames_and_plots() {
  for (int i = 0; i < 4; ++i) FrameMark;
  for (int i = 0; i < 3; ++i) FrameMarkNamed("physics");
  FrameMarkStart("upload");
  FrameMarkEnd("upload");
  const unsigned image = 0;
  FrameImage(&image, 1, 1, 0, false);
  (void)image;
  TracyPlotConfig("bytes in use", tracy::PlotFormatType::Memory, true, false, 0xff);
  TracyPlot("bytes in use", static_cast<std::int64_t>(9007199254740993));
  for (int i = 0; i < 3; ++i) TracyPlot("loss", 1.5 - i);
  TracyPlot("rate", 2.5F);
}

void locks() {
  {
    std::lock_guard<LockableBase(std::mutex)> guard(plain_mutex);
    LockMark(plain_mutex);
  }
  LockableName(named_mutex, "work queue", 10);
  if (named_mutex.try_lock()) named_mutex.unlock();
  {
    std::shared_lock<SharedLockableBase(std::shared_mutex)> shared(plain_shared);
    std::unique_lock<SharedLockableBase(std::shared_mutex)> alone(named_shared);
  }
  if (named_shared.try_lock_shared()) named_shared.unlock_shared();
}

void messages() {
  TracyMessage("a message", 9);
  TracyMessageL("a literal");
  TracyMessageC("coloured", 8, 0x00ff00);
  TracyMessageLC("coloured literal", tracy::Color::Tomato);
  TracyMessageS("with stack", 10, 4);
  TracyMessageLS("literal with stack", 4);
  TracyMessageCS("coloured with stack", 19, 0xff, 4);
  TracyMessageLCS("all of it", 0xff, 4);
  TracyAppInfo("version 7", 9);
  TracySetProgramName("zones");
}

void memory() {
  static char block[4096];
  TracyAlloc(block, 1024);
  TracyFree(block);
  TracyAllocN(block, 2048, "arena");
  TracyFreeN(block, "arena");
  TracyAllocS(block, 100, 3);
  TracyFreeS(block, 3);
  TracyAllocNS(block, 300, 3, "arena");
  TracyFreeNS(block, 3, "arena");
  TracySecureAlloc(block, 10);
  TracySecureFree(block);
  TracySecureAllocN(block, 10, "arena");
  TracySecureFreeN(block, "arena");
  TracySecureAllocS(block, 10, 3);
  TracySecureFreeS(block, 3);
  TracySecureAllocNS(block, 20, 3, "arena");
  TracyFree(&block[1]);  // nothing was allocated there
  (void)block;
}

// One fiber that is begun on a thread and ended on another.
void fibers() {
#ifdef TRACY_ENABLE
  static tracy::SourceLocationData place{"in the fiber", "fibers", __FILE__, __LINE__, 0};
  const accelscope_zones_functions* zones = accelscope_zones();
  TracyFiberEnter("a fiber");
  if (zones) zones->begin(&place);
  TracyFiberLeave;
  std::thread([&] {
    TracyFiberEnter("a fiber");
    if (zones) zones->end();
    TracyFiberLeave;
  }).join();
#else
  TracyFiberEnter("a fiber");
  TracyFiberLeave;
#endif
}

void loop() {
  tracy::SetThreadName("second");
  for (int i = 0; i < 1000; ++i) {
    ZoneScopedN("loop");
  }
}

int on_register(int value) { return value; }

}  // namespace

int main(int argc, char**) {
  TracyNoop;
  tracy::SetThreadName("first");
  TracyParameterRegister(on_register);
  TracyParameterSetup(0, "quality", false, 3);
  (void)on_register;
  scoped_zones(argc > 0);
  reported_zones();
  frames_and_plots();
  locks();
  messages();
  memory();
  fibers();
  zones_in_c();
  std::thread(loop).join();
  std::puts(TracyIsConnected ? "connected" : "not connected");
  return 0;
}
