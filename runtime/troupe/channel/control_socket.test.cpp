// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include <troupe/base/clock.hpp>
#include <troupe/channel/control_socket.hpp>
#include <troupe/channel/testing/ring_memory.hpp>

namespace troupe {
namespace {

using testing::bytes_of;
using testing::text_of;
using outcome = control_socket::outcome;

struct control_sockets : ::testing::Test {
  control_pair ends = control_socket::make_pair().value();
  std::byte into[64];

  file_descriptor null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  static ino_t inode(int fd) {
    struct stat s{};
    return ::fstat(fd, &s) == 0 ? s.st_ino : 0;
  }
  static int open_descriptors() {
    int count = 0;
    DIR* dir = ::opendir("/proc/self/fd");
    while (::readdir(dir) != nullptr) ++count;
    ::closedir(dir);
    return count;
  }
};

TEST_F(control_sockets, messages_stay_whole_and_in_order) {
  ASSERT_TRUE(ends.ours.send(bytes_of("first")));
  ASSERT_TRUE(ends.ours.send(bytes_of("second")));
  for (const std::string expected : {"first", "second"}) {
    const auto got = ends.theirs.receive(into).value();
    ASSERT_EQ(got.outcome, outcome::message);
    EXPECT_EQ(text_of({into, got.bytes}), expected);
    EXPECT_TRUE(got.fds.empty());
  }
}

TEST_F(control_sockets, descriptors_of_an_empty_message_do_not_stay_open) {
  const int before = open_descriptors(), fd = null.get();
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)]{};
  msghdr header{};
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* c = CMSG_FIRSTHDR(&header);
  *c = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  ASSERT_EQ(::sendmsg(ends.theirs.fd(), &header, 0), 0);
  EXPECT_EQ(ends.ours.receive(into, 4).value().outcome, outcome::closed);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(control_sockets, descriptors_arrive_with_their_message_and_are_close_on_exec) {
  const int both[] = {null.get(), ends.ours.fd()};
  ASSERT_TRUE(ends.ours.send(bytes_of("two"), both));
  const auto got = ends.theirs.receive(into, 2).value();
  ASSERT_EQ(got.fds.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(inode(got.fds[i].get()), inode(both[i]));
    EXPECT_TRUE(::fcntl(got.fds[i].get(), F_GETFD) & FD_CLOEXEC);
  }
}

TEST_F(control_sockets, carry_as_many_descriptors_as_the_kernel_allows_and_no_more) {
  std::vector<int> many(control_socket::most_fds, null.get());
  ASSERT_TRUE(ends.ours.send(bytes_of("many"), many));
  EXPECT_EQ(ends.theirs.receive(into, many.size()).value().fds.size(), many.size());
  many.push_back(null.get());
  EXPECT_EQ(ends.ours.send(bytes_of("more"), many).error().text(),
            "control message carries 254 descriptors; expected at most 253");
}

TEST_F(control_sockets, a_message_larger_than_expected_is_refused_and_its_descriptors_are_closed) {
  const int fd = null.get();
  ASSERT_TRUE(ends.ours.send(bytes_of(std::string(65, 'x')), {&fd, 1}));
  const int before = open_descriptors();
  const auto got = ends.theirs.receive(into, 1);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().text(), "control message is too large; expected at most 64 bytes");
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(control_sockets, more_descriptors_than_expected_are_refused_and_closed) {
  const int three[] = {null.get(), null.get(), null.get()};
  for (const std::size_t expected : {1, 2}) {
    ASSERT_TRUE(ends.ours.send(bytes_of("x"), three));
    const int before = open_descriptors();
    const auto got = ends.theirs.receive(into, expected);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().text(),
              "control message carries 3 descriptors; expected at most " + std::to_string(expected));
    EXPECT_EQ(open_descriptors(), before);
  }
}

// Sends a socket whose close blocks as long as its peer does not read, and closes all other descriptors of it.
void send_lingering(control_socket& to, std::string_view text) {
  const file_descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  file_descriptor sent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  ASSERT_EQ(::connect(sent.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  static const file_descriptor reads_nothing(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const std::string data(1 << 16, 'x');
  while (::send(sent.get(), data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
  }
  const linger five_seconds{.l_onoff = 1, .l_linger = 5};
  ASSERT_EQ(::setsockopt(sent.get(), SOL_SOCKET, SO_LINGER, &five_seconds, sizeof five_seconds), 0);
  const int fd = sent.get();
  ASSERT_TRUE(to.send(bytes_of(std::string(text)), {&fd, 1}));
}

// The sending process decides how long closing such a descriptor takes.
TEST_F(control_sockets, unexpected_descriptors_are_neither_received_nor_closed_by_the_receiver) {
  ASSERT_TRUE(ends.theirs.send(bytes_of("before")));
  send_lingering(ends.theirs, "here");
  const int before = open_descriptors();
  const std::int64_t began = now_ns();
  EXPECT_EQ(ends.ours.receive(into).value().bytes, 6u);
  for (int i = 0; i < 2; ++i) {
    const auto got = ends.ours.receive(into);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().text(), "control message carries descriptors; expected none");
    EXPECT_EQ(got.error().reaction(), reaction::fatal);
  }
  EXPECT_EQ(open_descriptors(), before);
  ends.ours.close_elsewhere();
  EXPECT_FALSE(ends.ours);
  EXPECT_EQ(ends.theirs.send(bytes_of("anyone?")).error().reaction(), reaction::context_lost);
  EXPECT_LT(now_ns() - began, 2'000'000'000) << "the descriptor lingers for 5 s";
}

TEST_F(control_sockets, report_a_closed_end_once_all_messages_are_read) {
  ASSERT_TRUE(ends.ours.send(bytes_of("last")));
  ends.ours = {};
  EXPECT_EQ(ends.theirs.receive(into).value().outcome, outcome::message);
  EXPECT_EQ(ends.theirs.receive(into).value().outcome, outcome::closed);
  const auto sent = ends.theirs.send(bytes_of("anyone?"));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().reaction(), reaction::context_lost);
}

TEST_F(control_sockets, report_a_closed_end_even_if_it_left_messages_unread) {
  ASSERT_TRUE(ends.ours.send(bytes_of("never read")));
  ends.theirs = {};
  EXPECT_EQ(ends.ours.receive(into).value().outcome, outcome::closed);
}

TEST_F(control_sockets, deliver_messages_sent_before_the_end_closed_with_others_unread) {
  ASSERT_TRUE(ends.theirs.send(bytes_of("never read")));
  ASSERT_TRUE(ends.ours.send(bytes_of("last words")));
  ends.ours = {};
  const auto got = ends.theirs.receive(into, 0, 0).value();
  ASSERT_EQ(got.outcome, outcome::message);
  EXPECT_EQ(text_of(std::span(into).first(got.bytes)), "last words");
  EXPECT_EQ(ends.theirs.receive(into, 0, 0).value().outcome, outcome::closed);
}

TEST_F(control_sockets, waiting_ends_at_the_deadline) {
  const std::int64_t until = now_ns() + 2'000'000;
  EXPECT_EQ(ends.ours.receive(into, 0, until).value().outcome, outcome::timed_out);
  EXPECT_GE(now_ns(), until);
}

TEST_F(control_sockets, sending_to_an_end_that_does_not_read_fails_at_the_deadline) {
  const std::string large(60'000, 'x');
  for (int i = 0; i < 10'000; ++i) {
    const auto sent = ends.ours.send(bytes_of(large), {}, now_ns() + 1'000'000);
    if (sent) continue;
    EXPECT_EQ(sent.error().reaction(), reaction::retry_later);
    return;
  }
  FAIL() << "600 MB went into a socket that is not read";
}

TEST_F(control_sockets, an_empty_message_is_refused) {
  EXPECT_EQ(ends.ours.send({}).error().reaction(), reaction::caller_bug);
}

TEST_F(control_sockets, only_a_control_socket_can_be_adopted) {
  EXPECT_TRUE(control_socket::adopt(file_descriptor(::dup(ends.ours.fd()))));
  const auto wrong = control_socket::adopt(std::move(null));
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text().find("is not a control socket"), std::string::npos) << wrong.error().text();
  EXPECT_FALSE(control_socket::adopt(file_descriptor()));
}

TEST_F(control_sockets, both_ends_are_close_on_exec_and_above_the_standard_descriptors) {
  for (const int fd : {ends.ours.fd(), ends.theirs.fd()}) {
    EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC);
    EXPECT_GT(fd, 2);
  }
  // The same if the program has closed its standard input.
  file_descriptor saved(::fcntl(0, F_DUPFD_CLOEXEC, 10));
  ::close(0);
  const control_pair other = control_socket::make_pair().value();
  EXPECT_GT(other.ours.fd(), 2);
  EXPECT_GT(other.theirs.fd(), 2);
  ::dup2(saved.get(), 0);
}

}  // namespace
}  // namespace troupe
