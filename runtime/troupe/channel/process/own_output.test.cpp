// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <troupe/channel/process/own_output.hpp>

namespace troupe {
namespace {

bool blocks(const file_descriptor& fd) { return (::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) == 0; }

std::string read_all(int fd) {
  char text[64];
  const ssize_t n = ::read(fd, text, sizeof text);
  return {text, n > 0 ? static_cast<std::size_t>(n) : 0};
}

TEST(own_output, has_flags_of_its_own_and_keeps_the_order_of_text_on_a_pipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const file_descriptor out(ends[0]), in(ends[1]);
  const file_descriptor again = open_output_again(in.get());
  ASSERT_TRUE(again);
  EXPECT_TRUE(blocks(again));
  ASSERT_EQ(::fcntl(again.get(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_TRUE(blocks(in));
  ASSERT_EQ(::write(in.get(), "one ", 4), 4);
  ASSERT_EQ(::write(again.get(), "two ", 4), 4);
  ASSERT_EQ(::write(in.get(), "three", 5), 5);
  EXPECT_EQ(read_all(out.get()), "one two three");
}

TEST(own_output, is_separate_for_a_file_only_if_both_append) {
  char name[] = "/tmp/troupe-output-XXXXXX";
  const file_descriptor by_position(::mkostemp(name, O_CLOEXEC));
  ASSERT_TRUE(by_position);
  EXPECT_FALSE(open_output_again(by_position.get())) << "the program would overwrite what its worker wrote";
  const file_descriptor appending(::open(name, O_WRONLY | O_APPEND));
  const file_descriptor again = open_output_again(appending.get());
  ASSERT_TRUE(again);
  ASSERT_EQ(::write(appending.get(), "one ", 4), 4);
  ASSERT_EQ(::write(again.get(), "two ", 4), 4);
  ASSERT_EQ(::write(appending.get(), "three", 5), 5);
  EXPECT_EQ(read_all(by_position.get()), "one two three");
  ::unlink(name);
}

TEST(own_output, is_empty_for_a_socket_or_a_closed_descriptor) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const file_descriptor one(ends[0]), other(ends[1]);
  EXPECT_FALSE(open_output_again(one.get()));
  EXPECT_FALSE(open_output_again(-1));
}

TEST(own_output, is_empty_for_a_descriptor_that_children_must_not_get) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const file_descriptor out(ends[0]), in(ends[1]);
  EXPECT_FALSE(open_output_again(in.get())) << "a program without standard output has a file of its own there";
}

}  // namespace
}  // namespace troupe
