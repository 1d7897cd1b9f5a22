// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/cuda/descriptors.hpp>

namespace troupe::cuda {
namespace {

std::string_view what_is(const file_descriptor& d) { return kind_if_not_gpu_memory(d.get()); }

TEST(descriptors_of_gpu_memory, are_distinguished_from_files_folders_pipes_sockets_and_memory_devices) {
  EXPECT_EQ(kind_if_not_gpu_memory(-1), "nothing that is open");
  EXPECT_EQ(what_is(file_descriptor(::memfd_create("host", MFD_CLOEXEC))), "a file, or memory of the host");
  EXPECT_EQ(what_is(file_descriptor(::open("/", O_RDONLY | O_CLOEXEC))), "a folder");
  EXPECT_EQ(what_is(file_descriptor(::open("/dev/zero", O_RDWR | O_CLOEXEC))), "a device like /dev/zero");
  EXPECT_EQ(what_is(file_descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))), "a socket");
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const file_descriptor in(ends[0]), out(ends[1]);
  EXPECT_EQ(what_is(in), "a pipe");
}

TEST(descriptors_of_gpu_memory, may_be_of_any_other_character_device) {
  const file_descriptor terminal(::open("/dev/ptmx", O_RDWR | O_CLOEXEC | O_NOCTTY));
  ASSERT_TRUE(terminal);
  EXPECT_EQ(what_is(terminal), "");
}

}  // namespace
}  // namespace troupe::cuda
