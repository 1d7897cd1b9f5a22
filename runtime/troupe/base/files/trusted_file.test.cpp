// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <troupe/base/files/trusted_file.hpp>

namespace troupe {
namespace {

namespace fs = std::filesystem;

constexpr uid_t another_user = 12345;

class trusted_file_test : public ::testing::Test {
 protected:
  trusted_file_test() {
    char name[] = "/tmp/troupe-trusted-XXXXXX";
    root_ = fs::canonical(::mkdtemp(name));
    fs::create_directories(folder());
    std::ofstream(file()) << "code";
    ::chmod(folder().c_str(), 0755);
    ::chmod(file().c_str(), 0755);
  }
  ~trusted_file_test() override { fs::remove_all(root_); }

  std::string folder() const { return root_ / "libexec/troupe"; }
  std::string file() const { return folder() + "/worker"; }
  // Returns why the file is refused; empty if it is opened.
  static std::string refusal(const std::string& path) {
    const auto opened = open_trusted(path, "test");
    return opened ? "" : opened.error().text();
  }
  void expect_refused(std::initializer_list<std::string> words) const {
    const std::string why = refusal(file());
    for (const std::string& word : words) EXPECT_NE(why.find(word), std::string::npos) << '"' << why << '"';
  }

  fs::path root_;
};

TEST_F(trusted_file_test, is_opened_if_only_this_user_can_write_it) {
  const auto opened = open_trusted(file(), "test");
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->path, file());
  struct stat named{}, held{};
  ASSERT_EQ(::stat(file().c_str(), &named), 0);
  ASSERT_EQ(::fstat(opened->fd.get(), &held), 0);
  EXPECT_EQ(named.st_ino, held.st_ino);
}

TEST_F(trusted_file_test, is_refused_with_owner_mode_and_remedy_if_everybody_may_write_it) {
  ::chmod(file().c_str(), 0757);
  expect_refused({file(), "others may write it", "mode 0757", "owner " + std::to_string(::geteuid()), "chmod go-w",
                  "device_options::runtime_folder"});
}

TEST_F(trusted_file_test, is_refused_if_everybody_may_write_a_folder_above_it) {
  for (const fs::path& above : {fs::path(folder()), root_ / "libexec"}) {
    ::chmod(above.c_str(), 0777);
    expect_refused({file(), "the folder '" + above.string() + "' above it", "others may write it", "mode 0777"});
    ::chmod(above.c_str(), 01777);
    EXPECT_EQ(refusal(file()), "") << "the sticky bit keeps others from replacing the file";
    ::chmod(above.c_str(), 0755);
  }
}

TEST_F(trusted_file_test, may_be_below_any_folder_that_contains_the_program) {
  ::chmod(root_.c_str(), 0777);
  const std::string program = root_ / "bin/program";
  EXPECT_FALSE(open_trusted(file(), "test", root_.string() + "-other/program"));
  EXPECT_FALSE(open_trusted(file(), "test", ""));
  const auto opened = open_trusted(file(), "test", program);
  EXPECT_TRUE(opened) << opened.error().text();
  ::chmod(folder().c_str(), 0777);
  EXPECT_FALSE(open_trusted(file(), "test", program)) << "that folder is not the program's";
}

TEST_F(trusted_file_test, may_be_writable_for_a_group_only_if_it_is_the_owners_private_group) {
  const uid_t owner = ::geteuid();
  ::chmod(file().c_str(), 0775);
  ::chmod(folder().c_str(), 0775);
  ASSERT_EQ(::chown(folder().c_str(), owner, owner), 0);
  ASSERT_EQ(::chown(file().c_str(), owner, owner), 0);
  EXPECT_EQ(refusal(file()), "") << "as a umask of 002 makes files";
  struct stat s{};
  ASSERT_EQ(::stat(file().c_str(), &s), 0);
  s.st_gid = owner + 100;
  EXPECT_EQ(why_untrusted(s, trusted_writers::program), "others may write it (chmod go-w)");
  s.st_gid = owner;
  EXPECT_EQ(why_untrusted(s, trusted_writers::user), "others may write it (chmod go-w)");
}

TEST_F(trusted_file_test, must_belong_to_root_this_user_or_the_owner_of_the_program) {
  struct stat s{};
  ASSERT_EQ(::stat(file().c_str(), &s), 0);
  s.st_uid = another_user;
  EXPECT_EQ(why_untrusted(s, trusted_writers::program), "it belongs to user 12345");
  s.st_uid = 0;
  EXPECT_EQ(why_untrusted(s, trusted_writers::program), "");
  struct stat program{};
  ASSERT_EQ(::stat("/proc/self/exe", &program), 0);
  s.st_uid = program.st_uid;
  EXPECT_EQ(why_untrusted(s, trusted_writers::program), "");
  if (::geteuid() != 0) return;  // the rest needs root
  ASSERT_EQ(::chown(file().c_str(), another_user, another_user), 0);
  expect_refused({"it belongs to user 12345", "owner 12345, group 12345, mode 0755"});
  ASSERT_EQ(::chown(file().c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(folder().c_str(), another_user, another_user), 0);
  expect_refused({"the folder '" + folder() + "' above it: it belongs to user 12345"});
}

TEST_F(trusted_file_test, is_checked_at_the_target_of_symbolic_links) {
  const std::string link = root_ / "current";
  fs::create_directory_symlink(root_ / "libexec", link);
  const auto opened = open_trusted(link + "/troupe/worker", "test");
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->path, file());
  ::chmod((root_ / "libexec").c_str(), 0777);
  EXPECT_NE(refusal(link + "/troupe/worker").find("'" + (root_ / "libexec").string() + "' above it"),
            std::string::npos);
}

TEST_F(trusted_file_test, fails_with_the_systems_code_if_it_does_not_exist) {
  const auto nothing = open_trusted(folder() + "/nothing", "test");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code(), ENOENT);
  const auto no_file = open_trusted(folder(), "test");
  ASSERT_FALSE(no_file);
  EXPECT_NE(no_file.error().text().find("not a regular file"), std::string::npos) << no_file.error().text();
}

}  // namespace
}  // namespace troupe
