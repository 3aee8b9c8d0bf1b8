// Answers HTTP requests for one page of text, such as figures for a monitoring system: GET and HEAD of its path, one
// request a connection. A thread of its own; what a client sends is bounded in bytes and in time, and clients that send
// or read slowly, or nothing at all, keep nobody else from an answer.
//
//   Result<std::unique_ptr<TextServer>> server =
//       TextServer::open(address, {.path = "/metrics", .type = "text/plain; version=0.0.4; charset=utf-8"}, make_text);
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "capture/system/address.h"
#include "capture/system/descriptor.h"
#include "core/base/result.h"

namespace accelscope::capture::system {

class TextServer {
 public:
  struct Page {
    std::string path;
    std::string type;  // Content-Type
  };
  static constexpr std::size_t kLongestRequest = 8'192;  // with its headers
  static constexpr std::size_t kMostClients = 16;        // at the same time; others wait in the system's queue
  static constexpr int kPatienceMs = 5'000;              // for a whole request, and for its answer to be read

  // Listens on an IP address. `text` is called on the server's thread, for each request.
  [[nodiscard]] static Result<std::unique_ptr<TextServer>> open(const Address& listen, Page page,
                                                                std::function<std::string()> text);
  ~TextServer();
  TextServer(const TextServer&) = delete;
  TextServer& operator=(const TextServer&) = delete;

  [[nodiscard]] const Address& address() const noexcept { return address_; }  // with the port that it has

 private:
  TextServer(Address address, Descriptor listener, std::pair<Descriptor, Descriptor> end, Page page,
             std::function<std::string()> text);
  void serve();

  Address address_;
  Descriptor listener_;
  std::pair<Descriptor, Descriptor> end_;  // closing the second ends the thread
  Page page_;
  std::function<std::string()> text_;
  std::thread thread_;
};

}  // namespace accelscope::capture::system
