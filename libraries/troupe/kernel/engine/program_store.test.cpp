// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <troupe/kernel/engine/host/programs.hpp>

namespace troupe::kernel {
namespace {

// The state and the log of a program, in the layout that workers write.
struct program_memory {
  build_summary summary;
  char padding[program_root::state_bytes - sizeof(build_summary)];
  char log[32];
};

class program_store : public testing::Test {
 protected:
  host_programs::maker make_ = [this](const program_root&) -> host_programs::made {
    ++made_;
    return {error(reaction::caller_bug, "test", "cannot be built"), {.duration_ns = made_}, "the log"};
  };
  program_memory memory_{};
  program_root root_{.id = 7, .state = reinterpret_cast<std::uintptr_t>(&memory_), .log_bytes = sizeof memory_.log};
  int made_ = 0;
};

TEST_F(program_store, builds_programs_on_first_use_unless_they_were_unloaded) {
  host_programs all(make_);
  EXPECT_EQ(all.find(root_, "jit.launch").error().text(), "cannot be built");
  EXPECT_EQ(made_, 1);
  all.unload(root_);
  const char* refusal = "jit.image: the program was unloaded; compile or load it again";
  EXPECT_EQ(all.find(root_, "jit.image").error().text(), refusal)
      << "before the application has marked the program as unloaded";
  root_.unloaded = 1;
  host_programs next(make_);  // the store of the worker that replaces this one
  EXPECT_EQ(next.find(root_, "jit.image").error().text(), refusal);
  EXPECT_EQ(next.attributes(root_, "k", "jit.image").error().text(), refusal);
  EXPECT_EQ(next.summary(root_, "jit.image").error().text(), refusal);
  EXPECT_EQ(made_, 1);
}

TEST_F(program_store, knows_programs_that_need_not_be_built) {
  host_programs all(make_);
  EXPECT_FALSE(all.is_known(root_));
  EXPECT_EQ(made_, 0);
  all.unload(root_);
  EXPECT_TRUE(all.is_known(root_)) << "the program is refused at once";
}

TEST_F(program_store, reports_a_build_only_if_asked) {
  host_programs all(make_);
  EXPECT_EQ(all.find(root_, "jit.launch").error().text(), "cannot be built");
  EXPECT_EQ(memory_.summary.written, 0) << "no request asked for a report";
  EXPECT_EQ(all.make(root_).error().text(), "cannot be built");
  EXPECT_EQ(memory_.summary.written, 1);
  EXPECT_EQ(memory_.summary.duration_ns, 2);
  EXPECT_EQ(memory_.summary.log_bytes, 7u);
  EXPECT_EQ(std::memcmp(memory_.log, "the log", 7), 0);
}

TEST_F(program_store, repeats_a_failed_build_only_if_it_may_then_succeed) {
  host_programs all(make_);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(all.find(root_, "jit.launch").error().text(), "cannot be built");
  EXPECT_EQ(made_, 1);
  EXPECT_TRUE(all.is_known(root_)) << "the program is refused at once";
  EXPECT_FALSE(all.make(root_)) << "because the application has requested a build";
  EXPECT_EQ(made_, 2);
  program_root other = root_;
  other.id = 8;
  EXPECT_FALSE(all.find(other, "jit.launch"));
  EXPECT_EQ(made_, 3) << "another program";
  host_programs patient([this](const program_root&) -> host_programs::made {
    ++made_;
    return {error(reaction::retry_later, "test", "not now"), {}, ""};
  });
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(patient.find(root_, "jit.launch"));
  EXPECT_EQ(made_, 5);
  EXPECT_FALSE(patient.is_known(root_));
}

// An image with two kernels that have names and nothing else.
struct named {
  std::string name;
};
struct two_kernels {
  std::vector<named> all{{"first"}, {std::string(300, 'l')}};
  const std::vector<named>& kernels() const { return all; }
  const std::vector<named>& globals() const { return all; }
  const named* find_kernel(std::string_view name) const {
    const auto at = std::find_if(all.begin(), all.end(), [&](const named& k) { return k.name == name; });
    return at == all.end() ? nullptr : &*at;
  }
  const named* find_global(std::string_view name) const { return find_kernel(name); }
};
using store_of_two = kernel::program_store<two_kernels>;

store_of_two::made two(const program_root& root) {
  store_of_two::program_ref program = std::make_shared<loaded_program<two_kernels>>(
      "program " + std::to_string(root.id), two_kernels(), std::make_shared<std::string>());
  return {std::move(program), {}, ""};
}

TEST_F(program_store, finds_the_right_kernel_whatever_was_launched_before) {
  store_of_two all(two), others(two);
  program_root second = root_;
  second.id = 8;
  const std::string longest(300, 'l');
  const auto found = [](store_of_two& in, const program_root& root, std::string_view name) {
    return in.find_kernel(root, name, "jit.launch").value();
  };
  const auto a = found(all, root_, "first"), b = found(all, second, "first"), c = found(others, root_, "first");
  EXPECT_EQ((std::set{a.kernel, b.kernel, c.kernel}).size(), 3u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(found(all, root_, "first").kernel, a.kernel);
    EXPECT_EQ(found(all, root_, "first").image, a.image);
    EXPECT_EQ(found(all, root_, longest).kernel->name, longest);
    EXPECT_EQ(found(all, second, "first").kernel, b.kernel);
    EXPECT_EQ(found(others, root_, "first").kernel, c.kernel);
    EXPECT_FALSE(all.find_kernel(root_, "fir", "jit.launch"));
  }
}

TEST_F(program_store, finds_kernels_once_a_build_has_succeeded_after_a_failed_one) {
  bool works = false;
  store_of_two all([&](const program_root& root) -> store_of_two::made {
    if (works) return two(root);
    return {error(reaction::unsupported, "test", "no compiler"), {}, ""};
  });
  EXPECT_FALSE(all.make(root_));
  works = true;
  EXPECT_FALSE(all.find_kernel(root_, "first", "jit.launch"));
  EXPECT_TRUE(all.make(root_));
  EXPECT_TRUE(all.find_kernel(root_, "first", "jit.launch"));
}

TEST_F(program_store, keeps_a_program_when_building_it_again_fails) {
  bool works = true;
  store_of_two all([&](const program_root& root) -> store_of_two::made {
    if (works) return two(root);
    return {error(reaction::unsupported, "test", "no compiler"), {}, ""};
  });
  EXPECT_TRUE(all.make(root_));
  works = false;
  EXPECT_FALSE(all.make(root_));
  EXPECT_TRUE(all.find_kernel(root_, "first", "jit.launch"));
}

TEST_F(program_store, refuses_a_kernel_whose_program_was_unloaded) {
  store_of_two all(two);
  ASSERT_TRUE(all.find_kernel(root_, "first", "jit.launch"));
  all.unload(root_);
  EXPECT_EQ(all.find_kernel(root_, "first", "jit.launch").error().text(),
            "jit.launch: the program was unloaded; compile or load it again");
  EXPECT_TRUE(all.is_known(root_)) << "the program is refused at once";
}

}  // namespace
}  // namespace troupe::kernel
