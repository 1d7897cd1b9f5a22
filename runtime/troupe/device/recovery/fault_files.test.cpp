// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/recovery/fault_files.hpp>

namespace troupe {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class fault_files : public testing::Test {
 protected:
  fault_files() { fs::create_directory(folder_); }
  ~fault_files() override { fs::remove_all(folder_); }
  static fault_record record(int seconds, const char* device = "gpu/1") {
    return {.device = device,
            .cause = error(reaction::context_lost, "device", "it ended"),
            .generation = 1,
            .when = std::chrono::system_clock::time_point(1'800'000'000s + std::chrono::seconds(seconds))};
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string content(const std::string& path) {
    std::stringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }

  const std::string folder_ = testing::TempDir() + cat("fault_files_", ::getpid());
};

TEST_F(fault_files, are_named_after_device_time_process_and_generation) {
  const auto path = write_to_folder(folder_, record(0));
  ASSERT_TRUE(path) << path.error().to_string();
  EXPECT_EQ(*path, cat(folder_, "/gpu-1-20270115T080000.000Z-", ::getpid(), "-generation-1.txt"));
  EXPECT_EQ(content(*path), record(0).text());
}

TEST_F(fault_files, never_replace_another_file_or_follow_a_link) {
  const auto path = write_to_folder(folder_, record(0));
  ASSERT_TRUE(path);
  std::ofstream(*path) << "kept";
  const auto again = write_to_folder(folder_, record(0));
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().text().find("File exists"), std::string::npos) << again.error().to_string();
  EXPECT_EQ(content(*path), "kept");
  const std::string target = folder_ + "/target";
  fs::remove(*path);
  fs::create_symlink(target, *path);
  EXPECT_FALSE(write_to_folder(folder_, record(0)));
  EXPECT_FALSE(fs::exists(target));
}

TEST_F(fault_files, fail_with_an_error_and_no_signal_beyond_the_limit_on_file_sizes) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit few{.rlim_cur = 8, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &few), 0);
  const auto path = write_to_folder(folder_, record(0));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(path);
  EXPECT_NE(path.error().text().find("File too large"), std::string::npos) << path.error().to_string();
}

TEST_F(fault_files, are_limited_in_number_for_each_device) {
  std::ofstream(folder_ + "/gpu-1-notes.txt") << "of a person";
  ASSERT_TRUE(write_to_folder(folder_, record(0, "gpu")));
  std::vector<std::string> paths;
  for (int i = 0; i < 66; ++i) paths.push_back(write_to_folder(folder_, record(i)).value());
  EXPECT_EQ(count(), 66u) << "64 and the two others";
  for (int i = 0; i < 66; ++i) EXPECT_EQ(fs::exists(paths[static_cast<std::size_t>(i)]), i >= 2) << i;
}

}  // namespace
}  // namespace troupe
