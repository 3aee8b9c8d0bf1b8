// A running capture that feeds the store of a tab, and all else that the viewer wants of the capture side: behind an
// interface and a struct of functions, so that the viewer can be driven without sockets. The real ones are
// CaptureSession and its neighbours (capture/client/capture_session.h); the words mean the same here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/client/capture_session.h"
#include "core/base/result.h"
#include "core/store/store.h"

namespace accelscope::app {

class LiveLink {
 public:
  LiveLink() = default;
  LiveLink(const LiveLink&) = delete;
  LiveLink& operator=(const LiveLink&) = delete;
  virtual ~LiveLink() = default;  // hangs up; the recovery folder stays

  [[nodiscard]] virtual capture::client::CaptureStatus status() const = 0;
  virtual void add(const std::string& place) = 0;
  virtual void leave(const std::string& place) = 0;
  virtual void pause() = 0;
  virtual void resume() = 0;
  virtual void stop() = 0;  // asks for the orderly end: all sealed data still arrives
  [[nodiscard]] virtual std::optional<capture::client::CaptureQuestion> question() const = 0;
  virtual void answer(std::uint64_t id, const std::optional<std::string>& answer) = 0;
  virtual void saved() = 0;
  virtual void discard() = 0;
};

struct CaptureServices {
  std::function<Result<std::unique_ptr<LiveLink>>(const capture::client::CapturePlan&, std::shared_ptr<Store>,
                                                  const capture::client::CaptureSessionOptions&)>
      begin;
  // Waits until the folder is read.
  std::function<Result<std::unique_ptr<LiveLink>>(const capture::client::Recoverable&, std::shared_ptr<Store>,
                                                  const capture::client::CaptureSessionOptions&)>
      recover;
  // Waits; any thread.
  std::function<Result<capture::client::Reached>(const std::string& place, const std::string& token_file,
                                                 const std::function<bool()>& cancelled)>
      reach;
  std::function<std::vector<capture::client::Recoverable>(const std::string& recovery_directory)> find_recoverable;
  std::function<Result<void>(const capture::client::Recoverable&)> discard;
  std::function<std::vector<capture::request::KindFacts>()>
      kinds;  // that this program knows: what a form offers at first
};

[[nodiscard]] CaptureServices real_capture_services();

// Starts an agent with the simulated accelerator in this process and connects to it over TCP.
[[nodiscard]] Result<std::unique_ptr<LiveLink>> make_demo_link(std::shared_ptr<Store> store,
                                                               const capture::client::CaptureSessionOptions& options);

}  // namespace accelscope::app
