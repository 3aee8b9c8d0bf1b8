// The channel's socket, as both sides use it: whole frames with the descriptors that ride with their heads, and where
// an agent waits for programs that are started by hand. Inline, since probes link nothing.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "capture/probe/channel_format.h"

namespace accelscope::probe {

constexpr std::size_t kMaxFrameDescriptors = 2;  // of a frame that is sent

// Through interruptions; false at the other side's end, or when the socket's own limit of time is over.
inline bool send_all(int socket, const char* bytes, std::size_t count) noexcept {
  while (count > 0) {
    const ssize_t sent = ::send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}
inline bool receive_all(int socket, void* bytes, std::size_t count) noexcept {
  char* to = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = ::recv(socket, to, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

// A frame whose body has two parts.
inline bool send_frame(int socket, FrameType type, std::string_view head, std::string_view body,
                       std::initializer_list<int> descriptors = {}) noexcept {
  FrameHead frame{static_cast<std::uint32_t>(type), static_cast<std::uint32_t>(head.size() + body.size())};
  iovec part{&frame, sizeof frame};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFrameDescriptors * sizeof(int))> room{};
  if (const std::size_t bytes = descriptors.size() * sizeof(int); bytes > 0) {
    message.msg_control = room.data();
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* extra = CMSG_FIRSTHDR(&message);
    extra->cmsg_level = SOL_SOCKET;
    extra->cmsg_type = SCM_RIGHTS;
    extra->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(extra), descriptors.begin(), bytes);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent <= 0) return false;
  const auto done = static_cast<std::size_t>(sent);
  return send_all(socket, reinterpret_cast<const char*>(&frame) + done, sizeof frame - done) &&
         send_all(socket, head.data(), head.size()) && send_all(socket, body.data(), body.size());
}

template <typename T>
std::string_view bytes_of(const T& value) noexcept {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string user_socket_folder() {
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime != '\0') {
    return std::string(runtime) + "/accelscope";
  }
  return "/tmp/accelscope-" + std::to_string(::getuid());
}

}  // namespace accelscope::probe
