// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/own_descriptors.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/control_socket.hpp>
#include <troupe/channel/elsewhere.hpp>
#include <troupe/channel/internal/poll_until.hpp>
#include <troupe/channel/internal/system_error.hpp>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace troupe {
namespace {

std::vector<file_descriptor> take_fds(msghdr& header) {
  std::vector<file_descriptor> fds;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      fds.push_back(above_standard(file_descriptor(fd)));
    }
  }
  return fds;
}

error gone() {
  return error(reaction::context_lost, "channel",
               "control message not sent: the other end of the control socket is closed");
}

}  // namespace

result<control_pair> control_socket::make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return channel_error("socketpair", errno);
  file_descriptor first(ends[0]), second(ends[1]);
  file_descriptor ours = above_standard(std::move(first)), theirs = above_standard(std::move(second));
  if (!ours || !theirs) return channel_error("fcntl(F_DUPFD_CLOEXEC)", errno);
  return control_pair{control_socket(std::move(ours)), control_socket(std::move(theirs))};
}

result<control_socket> control_socket::adopt(file_descriptor fd) {
  int type = 0;
  socklen_t size = sizeof type;
  const std::string what = cat("descriptor ", fd.get());
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET)
    return error(reaction::caller_bug, "channel",
                 what + " is not a control socket: this program is started by Troupe, not by users");
  if (::fcntl(fd.get(), F_SETFD, FD_CLOEXEC) != 0) return channel_error("fcntl(FD_CLOEXEC) of " + what, errno);
  return control_socket(std::move(fd));
}

result<void> control_socket::send(std::span<const std::byte> data, std::span<const int> fds, std::int64_t deadline_ns) {
  if (data.empty())
    return error(reaction::caller_bug, "channel",
                 "control message has 0 bytes; expected at least 1, because 0 bytes mean that the other end is closed");
  if (fds.size() > most_fds)
    return error(reaction::caller_bug, "channel",
                 cat("control message carries ", fds.size(), " descriptors; expected at most ", most_fds));
  iovec io{.iov_base = const_cast<std::byte*>(data.data()), .iov_len = data.size()};
  msghdr header{};
  header.msg_iov = &io;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(most_fds * sizeof(int))];
  if (!fds.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    std::memset(control, 0, header.msg_controllen);
    cmsghdr* c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(c), fds.data(), fds.size_bytes());
  }
  for (;;) {
    if (::sendmsg(fd_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) return gone();
    if (errno == ETOOMANYREFS)
      return error::from_errno(
          reaction::retry_later, "channel",
          "sendmsg on the control socket: too many descriptors were sent and not received yet (limit: ulimit -n)",
          errno);
    if (errno != EAGAIN) return channel_error("sendmsg on the control socket", errno);
    const auto room = TROUPE_TRY(wait_for_room(deadline_ns));
    if (!room)
      return error(reaction::retry_later, "channel",
                   "a control message was not sent before its deadline: the other end does not read its socket");
  }
}

result<bool> control_socket::wait_for_room(std::int64_t deadline_ns) const {
  return poll_until(fd_.get(), POLLOUT, deadline_ns);
}

result<control_socket::received> control_socket::receive(std::span<std::byte> into, std::size_t max_fds,
                                                         std::int64_t deadline_ns) {
  iovec io{.iov_base = into.data(), .iov_len = into.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(most_fds * sizeof(int))];
  // If no descriptors are expected, looks at each message before taking it, without copying its content. Because the
  // caller provides no space for descriptors, the kernel sets MSG_CTRUNC if there are some; taking the message would
  // close them on this thread. SO_PASSRIGHTS would reject them, but only since Linux 6.16, and the receiver would not
  // learn of the attempt.
  bool was_reset = false, takes = max_fds != 0;
  for (;;) {
    msghdr header{};
    header.msg_iov = &io;
    header.msg_iovlen = takes ? 1 : 0;
    header.msg_control = takes ? control : nullptr;
    header.msg_controllen = takes ? sizeof control : 0;
    const ssize_t got = ::recvmsg(fd_.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT | (takes ? 0 : MSG_PEEK));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      takes = max_fds != 0;
      const auto ready = TROUPE_TRY(poll_until(fd_.get(), POLLIN, deadline_ns));
      if (!ready) return received{.outcome = outcome::timed_out};
      continue;
    }
    // The other side closed without reading everything. Messages that it sent before can still be received after this
    // error.
    if (got < 0 && errno == ECONNRESET && !std::exchange(was_reset, true)) continue;
    if (got < 0 && errno == ECONNRESET) return received{.outcome = outcome::closed};
    if (got < 0) return channel_error("recvmsg on the control socket", errno);
    if (!takes && (header.msg_flags & MSG_CTRUNC))
      return error(reaction::fatal, "channel", "control message carries descriptors; expected none");
    if (!std::exchange(takes, true)) continue;
    auto fds = take_fds(header);  // closed by every return below: an error, or an empty message that carries some
    if (got == 0) return received{.outcome = outcome::closed};
    if (header.msg_flags & MSG_TRUNC)
      return error(reaction::fatal, "channel",
                   cat("control message is too large; expected at most ", into.size(), " bytes"));
    if (header.msg_flags & MSG_CTRUNC)
      return error(reaction::retry_later, "channel",
                   "descriptors of a control message were lost: the limit of open files (ulimit -n) may be reached");
    if (fds.size() > max_fds)
      return error(reaction::fatal, "channel",
                   cat("control message carries ", fds.size(), " descriptors; expected at most ", max_fds));
    return received{.outcome = outcome::message, .bytes = static_cast<std::size_t>(got), .fds = std::move(fds)};
  }
}

void control_socket::shut_down() noexcept { (void)::shutdown(fd_.get(), SHUT_RDWR); }

void control_socket::close_elsewhere() noexcept {
  if (!fd_) return;
  shut_down();
  // Without a thread, the socket stays open.
  (void)run_elsewhere([fd = fd_.release()] { ::close(fd); });
}

}  // namespace troupe
