// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/base/linux/errno_reaction.hpp>

namespace troupe {
namespace {

TEST(errno_reaction, is_retry_later_only_for_exhausted_resources) {
  for (const int code : {EAGAIN, EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOSPC, EDQUOT})
    EXPECT_EQ(reaction_to_errno(code), reaction::retry_later) << ::strerror(code);
  for (const int code : {E2BIG, EACCES, EBADF, EFAULT, EINVAL, ENOENT, ENOSYS, ENOTDIR, EPERM, EROFS})
    EXPECT_EQ(reaction_to_errno(code), reaction::fatal) << ::strerror(code);
}

}  // namespace
}  // namespace troupe
