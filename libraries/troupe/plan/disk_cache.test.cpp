// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <troupe/plan/disk_cache.hpp>
#include <troupe/plan/files.hpp>
#include <troupe/plan/private_folder.hpp>

namespace troupe::plan {
namespace {

namespace fs = std::filesystem;

class plan_disk_cache : public testing::Test {
 protected:
  std::string place(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string folder() const { return place("cache"); }
  fs::path only_entry() const {
    std::vector<fs::path> all;
    for (const auto& e : fs::directory_iterator(folder())) all.push_back(e.path());
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? fs::path() : all.front();
  }
  // Searches with a new `disk_cache`, as a new process would.
  std::optional<std::string> find(std::string_view key) {
    why_.clear();
    return value_in(disk_cache(folder()), key, why_);
  }
  static std::optional<std::string> value_in(disk_cache&& cache, std::string_view key, std::string& why) {
    return value_in(cache, key, why);
  }
  static std::optional<std::string> value_in(disk_cache& cache, std::string_view key, std::string& why) {
    auto got = cache.find(key, why);
    return got ? std::optional(std::move(got->value)) : std::nullopt;
  }
  static void write(const fs::path& path, std::string_view text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  static std::string bytes_of(const fs::path& path) { return read_file(path.string()).value_or("?"); }

  private_folder folder_ = private_folder::make().value();
  std::string why_;
};

TEST_F(plan_disk_cache, returns_what_was_stored_under_a_key_and_nothing_for_other_keys) {
  disk_cache cache(folder());
  EXPECT_FALSE(cache.find("a", why_));
  EXPECT_EQ(why_, "");
  EXPECT_EQ(cache.store("a", {}, std::string_view("\0image", 6)), "");
  EXPECT_EQ(value_in(cache, "a", why_), std::string("\0image", 6));
  EXPECT_EQ(find("a"), std::string("\0image", 6));
  EXPECT_FALSE(cache.find("b", why_));
  EXPECT_EQ(cache.store("a", {}, "newer"), "");
  EXPECT_EQ(find("a"), "newer");
  EXPECT_EQ(why_, "");
}

TEST_F(plan_disk_cache, creates_files_and_folders_accessible_to_its_user_only) {
  disk_cache cache(folder());
  EXPECT_EQ(cache.store("a", {}, "image"), "");
  struct stat s{};
  ASSERT_EQ(::stat(folder().c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(only_entry().c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0600u);
}

TEST_F(plan_disk_cache, compares_whole_keys_rather_than_hashes) {
  disk_cache cache(folder());
  EXPECT_EQ(cache.store("key", {}, "image"), "");
  // An entry stored under the file name of another key imitates a collision.
  fs::rename(only_entry(), folder() + "/" + to_hex(digest_of("other")) + ".entry");
  EXPECT_FALSE(cache.find("other", why_));
}

TEST_F(plan_disk_cache, forgets_results_made_from_a_file_that_has_changed) {
  write(place("header"), "one");
  ASSERT_EQ(disk_cache(folder()).store("a", {*stamp_of(place("header"))}, "image"), "");
  EXPECT_TRUE(find("a"));
  // The file has another time but the same content, so the entry is valid.
  fs::last_write_time(place("header"), fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_TRUE(find("a"));
  write(place("header"), "two");
  fs::last_write_time(place("header"), fs::file_time_type::clock::now() + std::chrono::hours(2));
  EXPECT_FALSE(find("a"));
  fs::remove(place("header"));
  EXPECT_FALSE(find("a"));
  write(place("header"), "one");
  EXPECT_TRUE(find("a"));
}

TEST_F(plan_disk_cache, forgets_results_if_an_absent_file_appears_or_a_folder_changes) {
  fs::create_directory(place("include"));
  ASSERT_EQ(disk_cache(folder()).store("a", {*stamp_of(place("absent")), *stamp_of(place("include"))}, "image"), "");
  EXPECT_TRUE(find("a"));
  write(place("include/new"), "");
  EXPECT_FALSE(find("a"));
  fs::remove(place("include/new"));
  EXPECT_TRUE(find("a"));
  write(place("absent"), "");
  EXPECT_FALSE(find("a"));
}

TEST_F(plan_disk_cache, rejects_entries_truncated_or_modified_anywhere) {
  ASSERT_EQ(disk_cache(folder()).store("key", {}, "a rather short image"), "");
  const fs::path entry = only_entry();
  const std::string good = bytes_of(entry);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write(entry, bad);
    EXPECT_FALSE(find("key")) << "byte " << i;
    EXPECT_NE(why_.find("it is damaged"), std::string::npos) << why_;
    write(entry, good.substr(0, i));
    EXPECT_FALSE(find("key")) << "truncated to " << i << " bytes";
  }
  EXPECT_EQ(disk_cache(folder()).store("key", {}, "again"), "");
  EXPECT_EQ(find("key"), "again");
}

TEST_F(plan_disk_cache, rejects_entries_writable_by_others_and_entries_that_are_not_files) {
  ASSERT_EQ(disk_cache(folder()).store("key", {}, "image"), "");
  const fs::path entry = only_entry();
  fs::permissions(entry, fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(find("key"));
  EXPECT_NE(why_.find("others may write it"), std::string::npos) << why_;
  fs::permissions(entry, fs::perms::others_write, fs::perm_options::remove);
  fs::rename(entry, place("elsewhere"));
  fs::create_symlink(place("elsewhere"), entry);
  EXPECT_FALSE(find("key"));
  EXPECT_NE(why_, "");
  fs::remove(entry);
  ASSERT_EQ(::mkfifo(entry.c_str(), 0600), 0);
  EXPECT_FALSE(find("key"));
  EXPECT_NE(why_.find("it is not a regular file"), std::string::npos) << why_;
  fs::remove(entry);
  fs::create_directory(entry);
  EXPECT_FALSE(find("key"));
  EXPECT_NE(disk_cache(folder()).store("key", {}, "image"), "");
}

TEST_F(plan_disk_cache, rejects_folders_writable_by_others_and_symbolic_links) {
  fs::create_directory(folder());
  fs::permissions(folder(), fs::perms::all);
  EXPECT_NE(disk_cache(folder()).store("key", {}, "image").find("others may write it"), std::string::npos);
  EXPECT_FALSE(find("key"));
  EXPECT_NE(why_.find("others may write it"), std::string::npos) << why_;
  EXPECT_TRUE(fs::is_empty(folder()));
  fs::rename(folder(), place("real"));
  fs::permissions(place("real"), fs::perms::owner_all);
  fs::create_directory_symlink(place("real"), folder());
  EXPECT_NE(disk_cache(folder()).store("key", {}, "image"), "");
}

TEST_F(plan_disk_cache, rejects_files_and_folders_of_other_users) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(disk_cache(folder()).store("key", {}, "image"), "");
  ASSERT_EQ(::chown(only_entry().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(find("key"));
  EXPECT_NE(why_.find("it belongs to user 12345"), std::string::npos) << why_;
  ASSERT_EQ(::chown(folder().c_str(), 12345, 12345), 0);
  EXPECT_NE(disk_cache(folder()).store("key", {}, "image").find("it belongs to user 12345"), std::string::npos);
}

TEST_F(plan_disk_cache, reports_why_it_cannot_be_created) {
  write(place("file"), "");
  const std::string why = disk_cache(place("file/cache")).store("key", {}, "image");
  EXPECT_NE(why.find("cannot make the folder"), std::string::npos) << why;
  EXPECT_NE(why.find("Not a directory"), std::string::npos) << why;
}

// Stores in a child process, because the limit holds for the whole process.
TEST_F(plan_disk_cache, survives_a_limit_on_file_sizes_and_leaves_no_partial_entry) {
  ASSERT_EQ(disk_cache(folder()).store("small", {}, "image"), "");
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit l{.rlim_cur = 4096, .rlim_max = 4096};
    ::setrlimit(RLIMIT_FSIZE, &l);
    disk_cache cache(folder());
    const std::string why = cache.store("large", {}, std::string(100'000, 'x'));
    std::string ignored;
    const bool fine = why.find("File too large") != std::string::npos && !cache.find("large", ignored) &&
                      value_in(cache, "small", ignored) == "image";
    std::_Exit(fine ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  only_entry();  // checks that there is no other file
}

TEST_F(plan_disk_cache, finds_entries_on_a_full_or_read_only_disk_and_reports_why_it_cannot_store) {
  fs::create_directory(place("disk"));
  if (::mount("tmpfs", place("disk").c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "mounting is not permitted";
  {
    disk_cache cache(place("disk/cache"));
    EXPECT_EQ(cache.store("small", {}, "image"), "");
    const std::string why = cache.store("large", {}, std::string(1'000'000, 'x'));
    EXPECT_NE(why.find("No space left on device"), std::string::npos) << why;
    EXPECT_EQ(value_in(cache, "small", why_), "image");
    EXPECT_FALSE(cache.find("large", why_));
    EXPECT_EQ(::mount(nullptr, place("disk").c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
    EXPECT_EQ(value_in(cache, "small", why_), "image");
    EXPECT_NE(cache.store("small", {}, "other").find("Read-only file system"), std::string::npos);
    EXPECT_EQ(value_in(cache, "small", why_), "image");
  }
  EXPECT_EQ(::umount(place("disk").c_str()), 0);
}

TEST_F(plan_disk_cache, drops_the_least_recently_used_entries_if_it_grows_too_large) {
  disk_cache cache(folder(), 100'000);
  const auto use_hours_ago = [&](const std::string& key, int hours) {
    fs::last_write_time(folder() + "/" + to_hex(digest_of(key)) + ".entry",
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (int i = 0; i < 9; ++i) {
    ASSERT_EQ(cache.store(std::to_string(i), {}, std::string(10'000, 'x')), "");
    use_hours_ago(std::to_string(i), 9 - i);
  }
  EXPECT_TRUE(cache.find("0", why_));  // used just now
  write(folder() + "/unfinished.1.2.3", "by a process that died");
  fs::last_write_time(folder() + "/unfinished.1.2.3", fs::file_time_type::clock::now() - std::chrono::hours(2));
  write(folder() + "/not ours", std::string(1'000'000, 'x'));
  ASSERT_EQ(cache.store("large", {}, std::string(20'000, 'x')), "");
  EXPECT_TRUE(cache.find("large", why_));
  EXPECT_TRUE(cache.find("0", why_));
  EXPECT_TRUE(cache.find("8", why_));
  EXPECT_FALSE(cache.find("1", why_));
  EXPECT_FALSE(fs::exists(folder() + "/unfinished.1.2.3"));
  EXPECT_TRUE(fs::exists(folder() + "/not ours"));
  EXPECT_NE(cache.store("huge", {}, std::string(200'000, 'x')).find("bytes; expected at most 100000"),
            std::string::npos);
}

TEST_F(plan_disk_cache, lists_its_folder_for_the_first_store_but_not_for_each_later_one) {
  const std::string abandoned = folder() + "/unfinished.1.2.3";  // is removed when the folder is listed
  const auto abandon = [&] {
    write(abandoned, "by a process that died");
    fs::last_write_time(abandoned, fs::file_time_type::clock::now() - std::chrono::hours(2));
  };
  disk_cache cache(folder());
  EXPECT_EQ(cache.store("a", {}, "image"), "");
  abandon();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(cache.store(std::to_string(i), {}, "image"), "");
  EXPECT_TRUE(fs::exists(abandoned));
  EXPECT_EQ(disk_cache(folder()).store("b", {}, "image"), "");
  EXPECT_FALSE(fs::exists(abandoned));
}

TEST_F(plan_disk_cache, stays_near_its_limit_while_two_caches_store_in_one_folder) {
  constexpr std::uint64_t limit = 100'000;
  disk_cache one(folder(), limit), other(folder(), limit);
  std::uint64_t most = 0, least_late = limit;
  for (int i = 0; i < 400; ++i) {
    EXPECT_EQ((i % 2 == 0 ? one : other).store(std::to_string(i), {}, std::string(900, 'x')), "");
    const std::uint64_t now = one.measure_usage().bytes;
    most = std::max(most, now);
    if (i > 200) least_late = std::min(least_late, now);
  }
  EXPECT_LE(most, limit + 2 * (limit / 16 + 1000));
  EXPECT_GE(least_late, limit / 10 * 9 - 1000) << "too much was removed";
}

TEST_F(plan_disk_cache, recovers_if_its_folder_is_removed) {
  disk_cache cache(folder());
  EXPECT_EQ(cache.store("a", {}, "image"), "");
  fs::remove_all(folder());
  EXPECT_FALSE(cache.find("a", why_));
  EXPECT_EQ(cache.store("a", {}, "image"), "");
  EXPECT_EQ(value_in(cache, "a", why_), "image");
}

// Processes store and find the same few keys in a cache that is too small for them, and are killed at random moments.
TEST_F(plan_disk_cache, never_returns_a_wrong_image_while_processes_are_killed_at_any_moment) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  constexpr int processes = 6, keys = 8;
  const auto image = [](std::uint64_t key) { return std::string(3000 + 1000 * key, static_cast<char>('a' + key)); };
  struct shared_counts {
    std::atomic<std::uint64_t> found{0}, wrong{0};
  };
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& counts = *new (memory) shared_counts;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 4; ++round) {
    std::vector<pid_t> children;
    for (int p = 0; p < processes; ++p) {
      const std::uint64_t own_seed = random();
      const pid_t child = ::fork();
      if (child == 0) {
        std::mt19937_64 own(own_seed);
        disk_cache cache(folder(), 30'000);
        while (true) {
          const std::uint64_t key = own() % keys;
          std::string why;
          const auto got = value_in(cache, std::to_string(key), why);
          if (got) counts.found.fetch_add(1);
          if ((got && *got != image(key)) || !why.empty()) counts.wrong.fetch_add(1);
          if (!got) (void)cache.store(std::to_string(key), {}, image(key));
        }
      }
      children.push_back(child);
    }
    const std::uint64_t enough = counts.found.load() + 200;
    while (counts.found.load() < enough) std::this_thread::yield();
    for (const pid_t c : children) ::kill(c, SIGKILL);
    for (const pid_t c : children) ::waitpid(c, nullptr, 0);
  }
  EXPECT_EQ(counts.wrong.load(), 0u);
  for (std::uint64_t key = 0; key < keys; ++key) {
    const auto got = find(std::to_string(key));
    if (got) {
      EXPECT_EQ(*got, image(key));
    }
    EXPECT_EQ(why_, "");
  }
  ::munmap(memory, 4096);
}

TEST_F(plan_disk_cache, reports_how_full_it_is_without_creating_anything) {
  disk_cache cache(folder());
  EXPECT_EQ(cache.measure_usage().entries, 0u);
  EXPECT_EQ(cache.measure_usage().why_not, "");
  EXPECT_FALSE(fs::exists(folder()));
  EXPECT_EQ(cache.store("a", {}, std::string(1000, 'x')), "");
  EXPECT_EQ(cache.store("b", {}, std::string(2000, 'x')), "");
  write(folder() + "/unfinished.1", "begun");
  write(folder() + "/notes.txt", "somebody else's");
  std::uintmax_t bytes = 0;
  for (const auto& e : fs::directory_iterator(folder()))
    if (e.path().extension() == ".entry") bytes += e.file_size();
  EXPECT_EQ(cache.measure_usage().entries, 2u);
  EXPECT_EQ(cache.measure_usage().bytes, bytes);
  EXPECT_GT(bytes, 3000u);
}

TEST_F(plan_disk_cache, reports_why_it_cannot_be_used) {
  write(place("file"), "no folder");
  EXPECT_EQ(disk_cache(place("file")).measure_usage().why_not,
            "cannot open the folder " + place("file") + ": Not a directory");
  fs::create_directory(folder());
  fs::permissions(folder(), fs::perms::all);
  EXPECT_EQ(disk_cache(folder()).measure_usage().why_not,
            "cannot use the folder " + folder() + ": others may write it (chmod go-w)");
  // Root can create folders anywhere.
  const bool root = ::geteuid() == 0;
  ASSERT_EQ(root ? ::seteuid(65534) : 0, 0);
  const std::string why = disk_cache("/usr/no/cache").measure_usage().why_not;
  ASSERT_EQ(root ? ::seteuid(0) : 0, 0);
  EXPECT_EQ(why, "cannot make the folder /usr/no/cache: Permission denied");
}

TEST(plan_disk_cache_folder, is_taken_from_TROUPE_CACHE_else_XDG_CACHE_HOME_else_HOME) {
  const auto with = [](const char* own, const char* base, const char* home) {
    const auto set = [](const char* name, const char* value) {
      value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
    };
    const std::string before = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
    set("TROUPE_CACHE", own);
    set("XDG_CACHE_HOME", base);
    set("HOME", home);
    const std::string found = disk_cache::default_folder();
    set("TROUPE_CACHE", nullptr);
    set("XDG_CACHE_HOME", nullptr);
    set("HOME", before.c_str());
    return found;
  };
  EXPECT_EQ(with("/a", "/b", "/c"), "/a");
  EXPECT_EQ(with(nullptr, "/b", "/c"), "/b/troupe");
  EXPECT_EQ(with("", "not absolute", "/c"), "/c/.cache/troupe");
  EXPECT_EQ(with("off", "/b", "/c"), "");
  EXPECT_EQ(with(nullptr, nullptr, nullptr), "");
}

}  // namespace
}  // namespace troupe::plan
