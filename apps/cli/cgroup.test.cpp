// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <apps/cli/cgroup.hpp>
#include <filesystem>
#include <fstream>

namespace troupe::apps {
namespace {

namespace fs = std::filesystem;

class groups {
 public:
  groups() {
    char name[] = "/tmp/troupe-groups-XXXXXX";
    root_ = ::mkdtemp(name);
  }
  ~groups() { fs::remove_all(root_); }
  void write(const std::string& file, std::string_view text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  cgroup_limits limits(std::string_view membership) const { return read_cgroup_limits(membership, root_); }

 private:
  fs::path root_;
};

TEST(cgroup, uses_the_lowest_limit_of_a_group_and_its_ancestors) {
  groups g;
  g.write("service/cpu.max", "150000 100000");
  g.write("service/memory.max", "1073741824");
  g.write("service/job/cpu.max", "max 100000");
  g.write("service/job/memory.max", "4294967296");
  const auto limits = g.limits("0::/service/job\n");
  EXPECT_EQ(limits.cores, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1073741824u);
}

TEST(cgroup, reports_no_limits_if_none_are_set) {
  groups g;
  g.write("cpu.max", "max 100000");
  g.write("memory.max", "max");
  EXPECT_FALSE(g.limits("0::/\n").cores);
  EXPECT_FALSE(g.limits("0::/\n").memory_bytes);
  EXPECT_FALSE(g.limits("").cores);
}

TEST(cgroup, falls_back_to_the_visible_group_in_a_container) {
  groups g;
  g.write("cpu.max", "50000 100000");
  EXPECT_EQ(g.limits("0::/system.slice/docker-1234.scope\n").cores, 0.5);
}

TEST(cgroup, reads_limits_from_the_separate_trees_of_version_1) {
  groups g;
  g.write("cpu/box/cpu.cfs_quota_us", "400000");
  g.write("cpu/box/cpu.cfs_period_us", "100000");
  g.write("memory/memory.limit_in_bytes", "9223372036854771712");  // what version 1 writes for "no limit"
  g.write("memory/box/memory.limit_in_bytes", "536870912");
  const auto limits = g.limits("4:cpu,cpuacct:/box\n3:memory:/box\n1:name=systemd:/box\n");
  EXPECT_EQ(limits.cores, 4.0);
  EXPECT_EQ(limits.memory_bytes, 536870912u);
  g.write("cpu/box/cpu.cfs_quota_us", "-1");
  EXPECT_FALSE(g.limits("4:cpu,cpuacct:/box\n").cores);
}

}  // namespace
}  // namespace troupe::apps
