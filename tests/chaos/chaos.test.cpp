// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Real workers die in every known way while clients use them and check every answer. TROUPE_SEED repeats a run, and
// TROUPE_CHAOS_SECONDS sets how long each run lasts.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <apps/chaos/show.hpp>
#include <apps/cli/installation.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <tests/support/devices.hpp>

namespace chaos {
namespace {

using namespace troupe;
using namespace std::chrono_literals;
using whole::seed_or;
namespace fs = std::filesystem;

double seconds_or(double otherwise) {
  const char* set = std::getenv("TROUPE_CHAOS_SECONDS");
  return set != nullptr ? std::strtod(set, nullptr) : otherwise;
}

class storms : public testing::Test {
 protected:
  // The first thread of a program makes the thread sanitizer start a thread of its own, which must not count as a leak.
  static void SetUpTestSuite() {
    std::thread([] {}).join();
  }
  // Expects that a run reports no fault of the device.
  report expect_good(settings s) {
    s.seed = seed_or(s.seed);
    s.seconds = seconds_or(s.seconds);
    SCOPED_TRACE("TROUPE_SEED=" + std::to_string(s.seed));
    const auto r = run(s, folder);
    EXPECT_TRUE(r) << r.error().to_string();
    if (!r) return {};
    EXPECT_TRUE(r->good()) << table(*r, apps::terminal());
    EXPECT_GT(r->all().injected, 0u) << table(*r, apps::terminal());
    return *r;
  }
  private_folder folder;
};

TEST_F(storms, of_all_kinds_of_faults_cause_no_wrong_or_lost_answer) {
  const report r = expect_good({.seconds = 12, .seed = 20260101});
  std::size_t kinds = 0;
  for (const kind_report& k : r.by_kind) kinds += k.injected > 0;
  EXPECT_GE(kinds, 10u);
  std::printf("%s", table(r, apps::terminal()).c_str());
}

TEST_F(storms, change_no_bit_of_the_results_of_a_training) {
  const report r =
      expect_good({.seconds = 60, .faults = 100, .seed = 12, .per_second = 25, .clients = 1, .training = true});
  EXPECT_GE(r.all().injected, 100u);
  EXPECT_GE(r.trained.trainings, 1u);
  EXPECT_GE(r.trained.workers_lost, 10u) << "too few faults occurred during the training";
  EXPECT_GT(r.trained.sent_again, 0u);
  std::printf("%s", table(r, apps::terminal()).c_str());
}

TEST_F(storms, faster_than_recovery_cause_no_wrong_or_lost_answer) {
  expect_good({.seconds = 4, .seed = 2, .per_second = 500, .one_at_a_time = false});
}

TEST_F(storms, without_a_standby_cause_no_wrong_or_lost_answer) {
  expect_good({.seconds = 4, .seed = 3, .device = {.standbys = 0}});
}

TEST_F(storms, with_many_standbys_cause_no_wrong_or_lost_answer) {
  expect_good({.seconds = 3, .seed = 4, .device = {.standbys = 3}});
}

TEST_F(storms, with_salvage_of_untouched_memory_cause_no_wrong_or_lost_answer) {
  expect_good({.seconds = 4, .seed = 5, .device = {.salvage = salvage::untouched}});
}

TEST_F(storms, with_a_small_mailbox_cause_no_wrong_or_lost_answer) {
  expect_good({.seconds = 3, .seed = 6, .clients = 8, .device = {.mailbox_capacity = 8}});
}

// Clients of a device that the test itself breaks.
struct clients_of {
  clients_of(const device& gpu, std::uint64_t seed, bool may_stop = false)
      : checked_answers(60s, may_stop),
        clients(gpu, {.clients = 3, .seed = seed, .wild_writes = false}, checked_answers) {}
  // Waits until the clients have received more answers.
  void let_them_be_served() const {
    const std::uint64_t before = checked_answers.right();
    while (checked_answers.right() < before + 20) std::this_thread::yield();
  }
  void expect_good() {
    clients.stop();
    const answer_counts c = checked_answers.counts();
    EXPECT_TRUE(c.good()) << checked_answers.first_complaint();
    EXPECT_EQ(c.asked, c.right + c.failed) << "every request has exactly one answer";
    EXPECT_GT(c.right, 0u);
  }
  answers checked_answers;
  workload clients;
};

TEST_F(storms, do_not_affect_another_device) {
  runtime rt;
  const device broken = rt.open_device({.when_full = when_full::wait, .restarts = 1'000'000}),
               other = rt.open_device({.when_full = when_full::wait});
  clients_of one(broken, 1), two(other, 2);
  {
    faults::storm storm(broken, {.seed = seed_or(7), .per_second = 100, .most = 20, .pause = 100ms});
    storm.wait();
  }
  two.let_them_be_served();
  one.expect_good();
  two.expect_good();
  EXPECT_EQ(two.checked_answers.counts().failed, 0u);
  EXPECT_EQ(other.statistics().generation, 1u);
}

TEST_F(storms, do_not_keep_a_device_from_closing) {
  for (std::uint64_t round = 0; round < 3; ++round) {
    const resources before = resources::now();
    {
      runtime rt;
      const device gpu = rt.open_device({.when_full = when_full::wait, .restarts = 1'000'000});
      clients_of them(gpu, round, true);
      faults::storm storm(gpu, {.kinds = {faults::kind::kill_worker, faults::kind::kill_all, faults::kind::abort},
                                .seed = seed_or(8) + round,
                                .per_second = 100,
                                .most = 30,
                                .one_at_a_time = false});
      them.let_them_be_served();
      auto closed = round == 0 ? gpu.close_now() : gpu.close();
      EXPECT_TRUE(closed.get_for(60s)) << "the device did not close within 60 s";
      EXPECT_EQ(gpu.statistics().depth, 0u);
      storm.stop();
      them.expect_good();
    }
    EXPECT_EQ(resources::left_beyond(before), "");
  }
}

TEST_F(storms, stop_a_device_under_load_beyond_its_budget_until_it_is_reset) {
  runtime rt;
  const device gpu = rt.open_device({.when_full = when_full::wait, .restarts = 3});
  clients_of them(gpu, 9, true);
  {
    faults::storm storm(gpu, {.kinds = {faults::kind::kill_worker}, .seed = seed_or(9), .per_second = 1000});
    EXPECT_TRUE(gpu.stopped().get_for(60s));
  }
  EXPECT_EQ(gpu.statistics().generation, 5u) << "three restarts are within the budget";
  EXPECT_EQ(gpu.statistics().depth, 0u);
  ASSERT_TRUE(gpu.reset().get());
  them.let_them_be_served();
  them.expect_good();
}

// A folder with its own worker, which can be removed.
class own_runtime {
 public:
  explicit own_runtime(const std::string& path) : path_(path) {
    const apps::installation here = apps::installation::of_this_program();
    fs::create_directories(path_);
    program_ = here.worker;
    fs::create_directory_symlink(here.engines, path_ + "/engines");
    restore();
  }
  const std::string& path() const noexcept { return path_; }
  void remove() const { fs::remove(path_ + "/troupe-worker"); }
  void restore() const { fs::copy_file(program_, path_ + "/troupe-worker"); }

 private:
  std::string path_, program_;
};

TEST_F(storms, after_the_worker_program_is_deleted_only_new_devices_fail) {
  const own_runtime own(folder.path() + "/runtime");
  const resources before = resources::now();
  own.remove();
  {
    runtime rt;
    const device gpu = rt.open_device({.when_full = when_full::wait, .restarts = 100, .runtime_folder = own.path()});
    const auto why = gpu.stopped().get();
    ASSERT_FALSE(why);
    const std::string text = why.error().to_string();
    EXPECT_NE(text.find("troupe-worker'"), std::string::npos) << text;
    EXPECT_NE(text.find("there is no such file"), std::string::npos) << text;
    const auto refused = gpu.ping().get();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reaction(), reaction::stopped);
    EXPECT_NE(refused.error().to_string().find("reset()"), std::string::npos) << refused.error().to_string();
    own.restore();
    ASSERT_TRUE(gpu.reset().get());
    clients_of them(gpu, 10, true);
    them.let_them_be_served();
    own.remove();
    for (int i = 0; i < 3; ++i) {
      faults::injector(gpu).kill_all();
      them.let_them_be_served();
    }
    them.expect_good();
  }
  EXPECT_EQ(resources::left_beyond(before), "");
}

// A file system without free space, or, if none can be mounted, a folder that cannot be created.
class full_disk {
 public:
  explicit full_disk(const std::string& folder) : path_(folder) {
    fs::create_directories(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=64k") == 0;
    if (!mounted_) {
      fs::remove(path_);
      std::ofstream(path_) << "no folder";
      return;
    }
    std::ofstream filler(path_ + "/filler");
    const std::string block(4096, 'x');
    while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  ~full_disk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  full_disk(const full_disk&) = delete;

 private:
  std::string path_;
  bool mounted_;
};

TEST_F(storms, on_a_machine_with_a_full_disk_cause_no_wrong_or_lost_answer) {
  const full_disk disk(folder.cache());
  expect_good({.seconds = 3,
               .seed = 11,
               .kinds = {faults::kind::kill_worker, faults::kind::kill_all, faults::kind::segmentation_fault}});
}

}  // namespace
}  // namespace chaos
