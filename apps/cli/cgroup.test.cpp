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

TEST(cgroup, the_narrowest_limit_on_the_way_up_counts) {
  groups g;
  g.write("service/cpu.max", "150000 100000");
  g.write("service/memory.max", "1073741824");
  g.write("service/job/cpu.max", "max 100000");
  g.write("service/job/memory.max", "4294967296");
  const auto limits = g.limits("0::/service/job\n");
  EXPECT_EQ(limits.cores, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1073741824u);
}

TEST(cgroup, without_limits_there_are_none) {
  groups g;
  g.write("cpu.max", "max 100000");
  g.write("memory.max", "max");
  EXPECT_FALSE(g.limits("0::/\n").cores);
  EXPECT_FALSE(g.limits("0::/\n").memory_bytes);
  EXPECT_FALSE(g.limits("").cores);
}

TEST(cgroup, a_path_of_the_host_that_a_container_does_not_see_leads_to_what_it_sees) {
  groups g;
  g.write("cpu.max", "50000 100000");
  EXPECT_EQ(g.limits("0::/system.slice/docker-1234.scope\n").cores, 0.5);
}

TEST(cgroup, version_1_keeps_each_limit_in_a_tree_of_its_own) {
  groups g;
  g.write("cpu/box/cpu.cfs_quota_us", "400000");
  g.write("cpu/box/cpu.cfs_period_us", "100000");
  g.write("memory/memory.limit_in_bytes", "9223372036854771712");  // how version 1 says none
  g.write("memory/box/memory.limit_in_bytes", "536870912");
  const auto limits = g.limits("4:cpu,cpuacct:/box\n3:memory:/box\n1:name=systemd:/box\n");
  EXPECT_EQ(limits.cores, 4.0);
  EXPECT_EQ(limits.memory_bytes, 536870912u);
  g.write("cpu/box/cpu.cfs_quota_us", "-1");
  EXPECT_FALSE(g.limits("4:cpu,cpuacct:/box\n").cores);
}

}  // namespace
}  // namespace troupe::apps
