// The classes behind the macros of zones.h.
#ifndef ACCELSCOPE_ZONE_TYPES_H
#define ACCELSCOPE_ZONE_TYPES_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "zones_api.h"

namespace tracy {

typedef accelscope_zones_place SourceLocationData;

enum class PlotFormatType : uint8_t { Number, Memory, Percentage, Watt };

// Calls a function of the table, if an agent wants zones.
template <class Function, class... Values>
static inline void Tell(Function accelscope_zones_functions::*function, Values... values) {
  if (const accelscope_zones_functions* zones = accelscope_zones()) (zones->*function)(values...);
}

static inline void SetThreadName(const char* name) { Tell(&accelscope_zones_functions::thread_name, name); }
static inline void SetThreadNameWithHint(const char* name, int32_t) { SetThreadName(name); }

class ScopedZone {
 public:
  explicit ScopedZone(const SourceLocationData* place, bool active = true)
      : zones_(active ? accelscope_zones() : nullptr) {
    if (zones_ && !zones_->begin(place)) zones_ = nullptr;
  }
  ScopedZone(const SourceLocationData* place, int, bool active = true) : ScopedZone(place, active) {}
  ScopedZone(uint32_t line, const char* file, size_t file_size, const char* function, size_t function_size,
             const char* name, size_t name_size, uint32_t color, int, bool active)
      : zones_(active ? accelscope_zones() : nullptr) {
    if (zones_ &&
        !zones_->begin_site(zones_->site(line, file, file_size, function, function_size, name, name_size, color))) {
      zones_ = nullptr;
    }
  }
  ScopedZone(uint32_t line, const char* file, size_t file_size, const char* function, size_t function_size,
             const char* name, size_t name_size, int depth, bool active = true)
      : ScopedZone(line, file, file_size, function, function_size, name, name_size, 0, depth, active) {}
  ScopedZone(uint32_t line, const char* file, size_t file_size, const char* function, size_t function_size,
             const char* name, size_t name_size, bool active = true)
      : ScopedZone(line, file, file_size, function, function_size, name, name_size, 0, 0, active) {}
  ScopedZone(const ScopedZone&) = delete;
  ScopedZone& operator=(const ScopedZone&) = delete;
  ~ScopedZone() {
    if (zones_) zones_->end();
  }

  void Text(const char* text, size_t size) {
    if (zones_) zones_->text(text, size);
  }
  void Text(const char* text) { Text(text, strlen(text)); }
  void Name(const char* text, size_t size) {
    if (zones_) zones_->name(text, size);
  }
  void Name(const char* text) { Name(text, strlen(text)); }
  __attribute__((format(printf, 2, 3))) void TextFmt(const char* format, ...) {
    if (!zones_) return;
    va_list values;
    va_start(values, format);
    Formatted(zones_->text, format, values);
    va_end(values);
  }
  __attribute__((format(printf, 2, 3))) void NameFmt(const char* format, ...) {
    if (!zones_) return;
    va_list values;
    va_start(values, format);
    Formatted(zones_->name, format, values);
    va_end(values);
  }
  void Color(uint32_t color) {
    if (zones_) zones_->color(color);
  }
  void Value(uint64_t value) {
    if (zones_) zones_->value(value);
  }
  bool IsActive() const { return zones_ != nullptr; }

 private:
  static void Formatted(void (*put)(const char*, size_t), const char* format, va_list values) {
    char text[1024];
    const int size = vsnprintf(text, sizeof text, format, values);
    if (size > 0) put(text, static_cast<size_t>(size) < sizeof text ? static_cast<size_t>(size) : sizeof text - 1);
  }
  const accelscope_zones_functions* zones_;
};

// What a lock tells of itself; its number is its address.
class LockReported {
 public:
  explicit LockReported(const SourceLocationData* place) : place_(place) {
    const char* name = place->name ? place->name : place->function;
    Named(name, strlen(name));
  }
  LockReported(const LockReported&) = delete;
  LockReported& operator=(const LockReported&) = delete;
  void Reported(int what, bool shared) const {
    Tell(&accelscope_zones_functions::lock, what, Number(), shared ? 1 : 0);
  }
  bool Tried(bool obtained, bool shared) const {
    if (obtained) Reported(ACCELSCOPE_LOCK_OBTAIN, shared);
    return obtained;
  }
  void Named(const char* name, size_t size) const {
    Tell(&accelscope_zones_functions::lock_named, Number(), place_, name, size);
  }
  void Marked(const SourceLocationData* place) const {
    Tell(&accelscope_zones_functions::lock_marked, Number(), place);
  }

 private:
  uint64_t Number() const { return reinterpret_cast<uintptr_t>(this); }
  const SourceLocationData* place_;
};

template <class T>
class Lockable {
 public:
  explicit Lockable(const SourceLocationData* place) : reported_(place) {}
  void lock() {
    reported_.Reported(ACCELSCOPE_LOCK_WAIT, false);
    lockable_.lock();
    reported_.Reported(ACCELSCOPE_LOCK_OBTAIN, false);
  }
  void unlock() {
    lockable_.unlock();
    reported_.Reported(ACCELSCOPE_LOCK_RELEASE, false);
  }
  bool try_lock() { return reported_.Tried(lockable_.try_lock(), false); }
  void Mark(const SourceLocationData* place) { reported_.Marked(place); }
  void CustomName(const char* name, size_t size) { reported_.Named(name, size); }

 protected:
  T lockable_;
  LockReported reported_;
};

template <class T>
class SharedLockable : public Lockable<T> {
 public:
  using Lockable<T>::Lockable;
  void lock_shared() {
    this->reported_.Reported(ACCELSCOPE_LOCK_WAIT, true);
    this->lockable_.lock_shared();
    this->reported_.Reported(ACCELSCOPE_LOCK_OBTAIN, true);
  }
  void unlock_shared() {
    this->lockable_.unlock_shared();
    this->reported_.Reported(ACCELSCOPE_LOCK_RELEASE, true);
  }
  bool try_lock_shared() { return this->reported_.Tried(this->lockable_.try_lock_shared(), true); }
};

// What programs call on the profiler itself.
class Profiler {
 public:
  static void Plot(const char* name, double value) { Tell(&accelscope_zones_functions::plot_real, name, value); }
  static void PlotData(const char* name, double value) { Plot(name, value); }
  static void PlotData(const char* name, float value) { Plot(name, static_cast<double>(value)); }
  template <class Integer>
  static void PlotData(const char* name, Integer value) {
    Tell(&accelscope_zones_functions::plot_integer, name, static_cast<int64_t>(value));
  }
  static void ConfigurePlot(const char* name, PlotFormatType format, bool = false, bool = true, uint32_t = 0) {
    Tell(&accelscope_zones_functions::plot_format, name, static_cast<int>(format));
  }
  static void Frame(int what, const char* name) { Tell(&accelscope_zones_functions::frame, what, name); }
  static void SendFrameMark(const char* name) { Frame(ACCELSCOPE_FRAME_MARK, name); }
  static void SendFrameImage(const void*, uint16_t, uint16_t, uint8_t, bool) {
    Tell(&accelscope_zones_functions::frame_image);
  }
  static void Message(const char* text, size_t size, uint32_t color = 0, int severity = 2) {
    Tell(&accelscope_zones_functions::message, text, size, color, severity);
  }
  static void MessageAppInfo(const char* text, size_t size) { Tell(&accelscope_zones_functions::app_info, text, size); }
  static void Allocated(const void* address, size_t size, const char* pool = nullptr) {
    Tell(&accelscope_zones_functions::allocated, address, size, pool);
  }
  static void Freed(const void* address, const char* pool = nullptr) {
    Tell(&accelscope_zones_functions::freed, address, pool);
  }
  static void ProgramName(const char* name) { Tell(&accelscope_zones_functions::program_name, name); }
  static void FiberEntered(const char* name) { Tell(&accelscope_zones_functions::fiber_entered, name); }
  static void FiberLeft() { Tell(&accelscope_zones_functions::fiber_left); }
  static bool Collecting() {
    const accelscope_zones_functions* zones = accelscope_zones();
    return zones && zones->collecting() != 0;
  }
};

static inline bool ProfilerAvailable() { return true; }

}  // namespace tracy

#endif
