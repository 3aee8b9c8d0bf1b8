#include "tests/support/itt/zones_in_c.h"

#include "tracy/TracyC.h"

void zones_in_c(void) {
  static char block[64];
  TracyCZone(plain, 1);
  TracyCZoneN(named, "C zone", 1);
  TracyCZoneText(named, "from C", 6);
  TracyCZoneValue(named, 42);
  TracyCZoneColor(named, 0x334455);
  TracyCZoneName(named, "named in C", 10);
  TracyCZoneEnd(named);
  TracyCZoneNC(coloured, "coloured in C", 0x112233, 1);
  TracyCZoneEnd(coloured);
  TracyCZoneC(only_coloured, 0x112233, 1);
  TracyCZoneEnd(only_coloured);
  TracyCZoneN(never, "not active in C", 0);
  TracyCZoneEnd(never);
  TracyCZoneEnd(plain);
  TracyCFrameMark;
  TracyCFrameMarkNamed("frame in C");
  TracyCFrameMarkNamed("frame in C");
  TracyCPlot("plot in C", 0.5);
  TracyCPlotI("plot in C", 3);
  TracyCMessageL("message in C");
  TracyCAlloc(block, 64);
  TracyCFree(block);
  TracyCSetThreadName("first again");
  (void)block;
}
