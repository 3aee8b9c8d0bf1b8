#include "capture/probe/host/socket.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace accelscope::capture::probes {
namespace {

constexpr std::size_t kSocketReadBytes = 64U << 10;
constexpr std::size_t kMaxDescriptors = 16;  // that one read may bring

}  // namespace

bool ProbeFrames::receive(int socket) {
  if (used_ > 0) {
    buffer_.erase(0, used_);
    used_ = 0;
  }
  for (;;) {
    const std::size_t before = buffer_.size();
    buffer_.resize(before + kSocketReadBytes);
    iovec part{buffer_.data() + before, kSocketReadBytes};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> room{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const int failure = errno;
    buffer_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    for (cmsghdr* extra = CMSG_FIRSTHDR(&message); got > 0 && extra != nullptr; extra = CMSG_NXTHDR(&message, extra)) {
      if (extra->cmsg_level != SOL_SOCKET || extra->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (extra->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int number = -1;
        std::memcpy(&number, CMSG_DATA(extra) + i * sizeof number, sizeof number);
        descriptors_.emplace_back(number);
      }
    }
    descriptors_lost_ = descriptors_lost_ || (got > 0 && (message.msg_flags & MSG_CTRUNC) != 0);
    if (got == 0) return false;
    if (got < 0 && failure == EINTR) continue;
    if (got < 0) return failure == EAGAIN || failure == EWOULDBLOCK;
    if (buffer_.size() > 2 * std::size_t{probe::kMaxFrameBytes}) return true;  // the rest at the next turn
  }
}

Result<std::optional<ProbeFrame>> ProbeFrames::next() {
  probe::FrameHead head{};
  if (buffer_.size() - used_ < sizeof head) return std::optional<ProbeFrame>();
  std::memcpy(&head, buffer_.data() + used_, sizeof head);
  if (head.bytes > probe::kMaxFrameBytes) return Error{"a frame is longer than any may be"};
  if (buffer_.size() - used_ < sizeof head + head.bytes) return std::optional<ProbeFrame>();
  ProbeFrame frame{static_cast<probe::FrameType>(head.type), buffer_.substr(used_ + sizeof head, head.bytes), {}};
  if (frame.type == probe::FrameType::ring) {
    if (descriptors_.empty() || descriptors_lost_) {
      return Error{"the memory of a thread could not be taken over; raise the agent's limit on open files (ulimit -n)"};
    }
    frame.descriptor = std::move(descriptors_.front());
    descriptors_.pop_front();
  }
  used_ += sizeof head + head.bytes;
  return std::optional<ProbeFrame>(std::move(frame));
}

}  // namespace accelscope::capture::probes
