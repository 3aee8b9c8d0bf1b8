// The macros of zones.h: what they do.
#ifndef ACCELSCOPE_ZONES_ON_H
#define ACCELSCOPE_ZONES_ON_H

// Zones within zones shadow each other by design: no reason to warn whoever marks a program.
#if defined(__GNUC__)
#pragma GCC system_header
#endif

// Zones
#define ZoneNamed(varname, active)                                                         \
  static constexpr tracy::SourceLocationData TracyConcat(accelscope_zone_place_, varname){ \
      nullptr, TracyFunction, TracyFile, static_cast<uint32_t>(TracyLine), 0};             \
  tracy::ScopedZone varname(&TracyConcat(accelscope_zone_place_, varname), active)
#define ZoneNamedN(varname, name, active)                                                  \
  static constexpr tracy::SourceLocationData TracyConcat(accelscope_zone_place_, varname){ \
      name, TracyFunction, TracyFile, static_cast<uint32_t>(TracyLine), 0};                \
  tracy::ScopedZone varname(&TracyConcat(accelscope_zone_place_, varname), active)
#define ZoneNamedC(varname, color, active)                                                 \
  static constexpr tracy::SourceLocationData TracyConcat(accelscope_zone_place_, varname){ \
      nullptr, TracyFunction, TracyFile, static_cast<uint32_t>(TracyLine), color};         \
  tracy::ScopedZone varname(&TracyConcat(accelscope_zone_place_, varname), active)
#define ZoneNamedNC(varname, name, color, active)                                          \
  static constexpr tracy::SourceLocationData TracyConcat(accelscope_zone_place_, varname){ \
      name, TracyFunction, TracyFile, static_cast<uint32_t>(TracyLine), color};            \
  tracy::ScopedZone varname(&TracyConcat(accelscope_zone_place_, varname), active)
#define ZoneTransient(varname, active)                                                                                 \
  tracy::ScopedZone varname(TracyLine, TracyFile, strlen(TracyFile), TracyFunction, strlen(TracyFunction), nullptr, 0, \
                            0, active)
#define ZoneTransientN(varname, name, active)                                                                    \
  tracy::ScopedZone varname(TracyLine, TracyFile, strlen(TracyFile), TracyFunction, strlen(TracyFunction), name, \
                            strlen(name), 0, active)
#define ZoneTransientNC(varname, name, color, active)                                                            \
  tracy::ScopedZone varname(TracyLine, TracyFile, strlen(TracyFile), TracyFunction, strlen(TracyFunction), name, \
                            strlen(name), color, 0, active)
#define ZoneScoped ZoneNamed(___tracy_scoped_zone, true)
#define ZoneScopedN(name) ZoneNamedN(___tracy_scoped_zone, name, true)
#define ZoneScopedC(color) ZoneNamedC(___tracy_scoped_zone, color, true)
#define ZoneScopedNC(name, color) ZoneNamedNC(___tracy_scoped_zone, name, color, true)
#define ZoneNamedS(varname, depth, active) ZoneNamed(varname, active)
#define ZoneNamedNS(varname, name, depth, active) ZoneNamedN(varname, name, active)
#define ZoneNamedCS(varname, color, depth, active) ZoneNamedC(varname, color, active)
#define ZoneNamedNCS(varname, name, color, depth, active) ZoneNamedNC(varname, name, color, active)
#define ZoneTransientS(varname, depth, active) ZoneTransient(varname, active)
#define ZoneTransientNS(varname, name, depth, active) ZoneTransientN(varname, name, active)
#define ZoneTransientNCS(varname, name, color, depth, active) ZoneTransientNC(varname, name, color, active)
#define ZoneScopedS(depth) ZoneScoped
#define ZoneScopedNS(name, depth) ZoneScopedN(name)
#define ZoneScopedCS(color, depth) ZoneScopedC(color)
#define ZoneScopedNCS(name, color, depth) ZoneScopedNC(name, color)

// What belongs to a zone
#define ZoneText(txt, size) ___tracy_scoped_zone.Text(txt, size)
#define ZoneTextV(varname, txt, size) varname.Text(txt, size)
#define ZoneName(txt, size) ___tracy_scoped_zone.Name(txt, size)
#define ZoneNameV(varname, txt, size) varname.Name(txt, size)
#define ZoneColor(color) ___tracy_scoped_zone.Color(color)
#define ZoneColorV(varname, color) varname.Color(color)
#define ZoneValue(value) ___tracy_scoped_zone.Value(value)
#define ZoneValueV(varname, value) varname.Value(value)
#define ZoneTextF(fmt, ...) ___tracy_scoped_zone.TextFmt(fmt, ##__VA_ARGS__)
#define ZoneTextVF(varname, fmt, ...) varname.TextFmt(fmt, ##__VA_ARGS__)
#define ZoneNameF(fmt, ...) ___tracy_scoped_zone.NameFmt(fmt, ##__VA_ARGS__)
#define ZoneNameVF(varname, fmt, ...) varname.NameFmt(fmt, ##__VA_ARGS__)
#define ZoneIsActive ___tracy_scoped_zone.IsActive()
#define ZoneIsActiveV(varname) varname.IsActive()

// Frames
#define FrameMark tracy::Profiler::SendFrameMark(nullptr)
#define FrameMarkNamed(name) tracy::Profiler::SendFrameMark(name)
#define FrameMarkStart(name) tracy::Profiler::Frame(ACCELSCOPE_FRAME_START, name)
#define FrameMarkEnd(name) tracy::Profiler::Frame(ACCELSCOPE_FRAME_END, name)
#define FrameImage(image, width, height, offset, flip) \
  tracy::Profiler::SendFrameImage(image, width, height, offset, flip)

// Locks
#define TracyLockable(type, varname)                                                           \
  tracy::Lockable<type> varname {                                                              \
    []() -> const tracy::SourceLocationData* {                                                 \
      static constexpr tracy::SourceLocationData place{nullptr, #type " " #varname, TracyFile, \
                                                       static_cast<uint32_t>(TracyLine), 0};   \
      return &place;                                                                           \
    }()                                                                                        \
  }
#define TracyLockableN(type, varname, desc)                                                                            \
  tracy::Lockable<type> varname {                                                                                      \
    []() -> const tracy::SourceLocationData* {                                                                         \
      static constexpr tracy::SourceLocationData place{nullptr, desc, TracyFile, static_cast<uint32_t>(TracyLine), 0}; \
      return &place;                                                                                                   \
    }()                                                                                                                \
  }
#define LockableBase(type) tracy::Lockable<type>
#define TracySharedLockable(type, varname)                                                     \
  tracy::SharedLockable<type> varname {                                                        \
    []() -> const tracy::SourceLocationData* {                                                 \
      static constexpr tracy::SourceLocationData place{nullptr, #type " " #varname, TracyFile, \
                                                       static_cast<uint32_t>(TracyLine), 0};   \
      return &place;                                                                           \
    }()                                                                                        \
  }
#define TracySharedLockableN(type, varname, desc)                                                                      \
  tracy::SharedLockable<type> varname {                                                                                \
    []() -> const tracy::SourceLocationData* {                                                                         \
      static constexpr tracy::SourceLocationData place{nullptr, desc, TracyFile, static_cast<uint32_t>(TracyLine), 0}; \
      return &place;                                                                                                   \
    }()                                                                                                                \
  }
#define SharedLockableBase(type) tracy::SharedLockable<type>
#define LockMark(varname)                                                                                          \
  static constexpr tracy::SourceLocationData accelscope_lock_place_##varname{nullptr, TracyFunction, TracyFile,    \
                                                                             static_cast<uint32_t>(TracyLine), 0}; \
  varname.Mark(&accelscope_lock_place_##varname)
#define LockableName(varname, txt, size) varname.CustomName(txt, size)

// Plots, messages, facts
#define TracyPlot(name, val) tracy::Profiler::PlotData(name, val)
#define TracyPlotConfig(name, ...) tracy::Profiler::ConfigurePlot(name, __VA_ARGS__)
#define TracyMessage(txt, size) tracy::Profiler::Message(txt, size)
#define TracyMessageL(txt) tracy::Profiler::Message(txt, strlen(txt))
#define TracyMessageC(txt, size, color) tracy::Profiler::Message(txt, size, color)
#define TracyMessageLC(txt, color) tracy::Profiler::Message(txt, strlen(txt), color)
#define TracyMessageS(txt, size, depth) TracyMessage(txt, size)
#define TracyMessageLS(txt, depth) TracyMessageL(txt)
#define TracyMessageCS(txt, size, color, depth) TracyMessageC(txt, size, color)
#define TracyMessageLCS(txt, color, depth) TracyMessageLC(txt, color)
#define TracyAppInfo(txt, size) tracy::Profiler::MessageAppInfo(txt, size)
#define TracySetProgramName(name) tracy::Profiler::ProgramName(name)

// Memory
#define TracyAlloc(ptr, size) tracy::Profiler::Allocated(ptr, size)
#define TracyFree(ptr) tracy::Profiler::Freed(ptr)
#define TracyAllocN(ptr, size, name) tracy::Profiler::Allocated(ptr, size, name)
#define TracyFreeN(ptr, name) tracy::Profiler::Freed(ptr, name)
#define TracyAllocS(ptr, size, depth) tracy::Profiler::Allocated(ptr, size)
#define TracyFreeS(ptr, depth) tracy::Profiler::Freed(ptr)
#define TracyAllocNS(ptr, size, depth, name) tracy::Profiler::Allocated(ptr, size, name)
#define TracyFreeNS(ptr, depth, name) tracy::Profiler::Freed(ptr, name)
#define TracySecureAlloc(ptr, size) tracy::Profiler::Allocated(ptr, size)
#define TracySecureFree(ptr) tracy::Profiler::Freed(ptr)
#define TracySecureAllocN(ptr, size, name) tracy::Profiler::Allocated(ptr, size, name)
#define TracySecureFreeN(ptr, name) tracy::Profiler::Freed(ptr, name)
#define TracySecureAllocS(ptr, size, depth) tracy::Profiler::Allocated(ptr, size)
#define TracySecureFreeS(ptr, depth) tracy::Profiler::Freed(ptr)
#define TracySecureAllocNS(ptr, size, depth, name) tracy::Profiler::Allocated(ptr, size, name)
#define TracySecureFreeNS(ptr, depth, name) tracy::Profiler::Freed(ptr, name)

// Others
#define TracyFiberEnter(fiber) tracy::Profiler::FiberEntered(fiber)
#define TracyFiberEnterHint(fiber, group) tracy::Profiler::FiberEntered(fiber)
#define TracyFiberLeave tracy::Profiler::FiberLeft()
#define TracyIsConnected tracy::Profiler::Collecting()
#define TracyIsStarted true
#define TracyParameterRegister(...) (void)0
#define TracyParameterSetup(idx, name, is_bool, val) (void)0
#define TracySourceCallbackRegister(...) (void)0
#define TracyNoop (void)accelscope_zones()

#endif
