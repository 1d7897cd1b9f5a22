// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/kernel/engine/programs.hpp>

namespace troupe::kernel {
namespace {

TEST(programs, are_made_when_they_are_asked_for_unless_they_were_unloaded) {
  int made = 0;
  const programs::maker make = [&](const program_root&) -> result<program_ref> {
    ++made;
    return error(reaction::caller_bug, "test", "cannot be made");
  };
  programs all(make);
  program_root root{};
  EXPECT_EQ(all.find(root, "jit.launch").error().text(), "cannot be made");
  EXPECT_EQ(made, 1);
  all.unload(root);
  const char* refusal = "jit.image: the program was unloaded; compile or load it again";
  EXPECT_EQ(all.find(root, "jit.image").error().text(), refusal);
  programs next(make);  // of the worker that takes the place of this one
  EXPECT_EQ(next.find(root, "jit.image").error().text(), refusal);
  EXPECT_EQ(next.attributes(root, "k", nullptr, 0, "jit.image").error().text(), refusal);
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace troupe::kernel
