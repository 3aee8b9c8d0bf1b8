// Pieces of something long that are cut off one after the other, worked on by several threads and handed out in the
// order in which they were cut. Whoever has nothing to do cuts the next one; as many wait as there are slots.
//
//   OrderedPipeline<Slot> pieces(threads, slots, [&](Slot& slot) { return file.next(slot.text); },  // one at a time
//                                [] { return [parser = Parser()](Slot& slot) mutable { parser.read(slot); }; });
//   while (Slot* slot = pieces.next()) ...
#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace accelscope {

// What was thrown on one thread, to be thrown on on the thread that waits for its work.
//
//   ThreadException thrown;
//   ... on a worker:   if (!thrown.keep([&] { work(); })) tell_whoever_waits();
//   ... who waits:     thrown.throw_on();
class ThreadException {
 public:
  // False: the function threw. The first exception of all calls is kept.
  template <typename Function>
  bool keep(Function&& function) {
    try {
      function();
      return true;
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      return false;
    }
  }
  [[nodiscard]] bool any() const {
    const std::scoped_lock lock(mutex_);
    return thrown_ != nullptr;
  }
  void throw_on() const {
    const std::scoped_lock lock(mutex_);
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  mutable std::mutex mutex_;
  std::exception_ptr thrown_;
};

template <typename Slot>
class OrderedPipeline {
 public:
  using Cut = std::function<bool(Slot&)>;  // false at the end
  using Work = std::function<void(Slot&)>;
  using MakeWork = std::function<Work()>;  // called by each thread for its own; null: nothing is to be done

  OrderedPipeline(std::size_t threads, std::size_t slots, Cut cut, MakeWork make_work = {})
      : cut_(std::move(cut)), make_work_(std::move(make_work)) {
    for (std::size_t i = 0; i < slots; ++i) places_.push_back(std::make_unique<Place>());
    try {
      for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) {
        threads_.emplace_back([this] {
          if (thrown_.keep([this] { run(); })) return;
          const std::scoped_lock lock(mutex_);
          ended_ = true;
          changed_.notify_all();
        });
      }
    } catch (...) {  // those that run wait for what nobody will take
      end_threads();
      throw;
    }
  }
  ~OrderedPipeline() { end_threads(); }
  OrderedPipeline(const OrderedPipeline&) = delete;
  OrderedPipeline& operator=(const OrderedPipeline&) = delete;

  // The next piece, valid until the next call; null at the end. Throws what a thread threw.
  [[nodiscard]] Slot* next() {
    std::unique_lock lock(mutex_);
    freed_ = taken_;
    changed_.notify_all();
    // What a thread has cut and cannot work on never gets ready.
    changed_.wait(lock, [&] { return thrown_.any() || (taken_ < begun_ ? place(taken_).ready : ended_); });
    thrown_.throw_on();
    return taken_ == begun_ ? nullptr : &place(taken_++).slot;
  }

 private:
  struct Place {
    Slot slot;
    bool ready = false;
  };
  [[nodiscard]] Place& place(std::size_t piece) { return *places_[piece % places_.size()]; }

  void end_threads() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    threads_.clear();  // joined before anything that they use goes away
  }

  void run() {
    const Work work = make_work_ ? make_work_() : Work();
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopping_ || ended_ || (!cutting_ && begun_ - freed_ < places_.size()); });
      if (stopping_ || ended_) return;
      cutting_ = true;
      Place& at = place(begun_);
      lock.unlock();
      const bool more = cut_(at.slot);
      lock.lock();
      cutting_ = false;
      at.ready = false;
      if (more) {
        ++begun_;
      } else {
        ended_ = true;
      }
      changed_.notify_all();
      if (!more) return;
      if (work) {
        lock.unlock();
        work(at.slot);
        lock.lock();
      }
      at.ready = true;
      changed_.notify_all();
    }
  }

  Cut cut_;
  MakeWork make_work_;
  std::vector<std::unique_ptr<Place>> places_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t begun_ = 0;  // pieces ever cut
  std::size_t taken_ = 0;  // and handed out
  std::size_t freed_ = 0;  // and done with
  bool cutting_ = false;
  bool ended_ = false;
  bool stopping_ = false;
  ThreadException thrown_;
  std::vector<std::jthread> threads_;
};

}  // namespace accelscope
