// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The files of an installation are replaced or removed while a program with devices runs.
#include <filesystem>
#include <fstream>
#include <thread>
#include <troupe/fft/fft.hpp>

#include "harness.hpp"

namespace troupe::whole {
namespace {

namespace fs = std::filesystem;

// An installation with a worker, the engine of memory and an engine that is first needed later.
class upgrading : public ::testing::TestWithParam<const char*> {
 protected:
  upgrading() {
    char name[] = "/tmp/troupe-upgrade-XXXXXX";
    root_ = ::mkdtemp(name);
    install("v1", false);
    fs::create_directory_symlink("v1", root_ / "current");
  }
  ~upgrading() override { fs::remove_all(root_); }

  // The worker of the new version refuses this program, and its engine files are not engines.
  void install(const fs::path& version, bool is_new) const {
    const fs::path folder = root_ / version;
    fs::create_directories(folder / "engines");
    const fs::path from =
        fs::path(path_of("TROUPE_FAKE_WORKER", TROUPE_FAKE_WORKER)).parent_path().parent_path() / "libexec/troupe";
    if (is_new) {
      fs::copy_file(path_of("TROUPE_FAKE_WORKER", TROUPE_FAKE_WORKER), folder / "troupe-worker");
      std::ofstream(folder / "mode") << "other version\n";
      fs::create_directory(folder / "fft");
      for (const fs::path& file : files_of("v1"))
        if (file.extension() == ".so")
          std::ofstream(folder / file.lexically_relative(root_ / "v1")) << "of the new version";
    } else {
      fs::copy_file(from / "troupe-worker", folder / "troupe-worker");
      fs::copy_file(from / "engines/memory.host.so", folder / "engines/memory.host.so");
      fs::copy_file(std::string(test_engine_folder()) + "/testing.host.so", folder / "engines/testing.host.so");
      fs::copy_file(from / "engines/fft.host.so", folder / "engines/fft.host.so");
      fs::copy(from / "fft", folder / "fft");  // fft's engine loads these libraries
    }
  }

  std::vector<fs::path> files_of(const std::string& version) const {
    std::vector<fs::path> out;
    for (const auto& e : fs::recursive_directory_iterator(root_ / version))
      if (e.is_regular_file()) out.push_back(e.path());
    return out;
  }

  void upgrade(const std::string& how) const {
    if (how == "removed") {
      fs::remove_all(root_ / "v1");
      return;
    }
    install("v2", true);
    if (how == "linked") {
      fs::create_directory_symlink("v2", root_ / "next");
      fs::rename(root_ / "next", root_ / "current");
      return;
    }
    for (const fs::path& file : files_of("v2")) {
      const fs::path old = root_ / "v1" / file.lexically_relative(root_ / "v2");
      if (how == "overwritten") fs::remove(old);  // as `make install` does
      fs::rename(file, old);                      // as package managers do
    }
  }

  device_options options() const {
    return {.engine = "host", .restarts = 10, .runtime_folder = (root_ / "current").string()};
  }

  fs::path root_;
};

// Uploads and downloads on a thread of its own, and counts the outcomes.
class client {
 public:
  explicit client(const device& gpu) : gpu_(gpu), thread_([this] { run(); }) {}
  ~client() { end(); }
  client(const client&) = delete;

  // Waits until it was served once more.
  void await_service() const {
    const int before = served.load();
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (served.load() < before + 2 && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(1ms);
    EXPECT_GE(served.load(), before + 2) << gpu_.statistics().engine_reason;
  }
  void end() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::atomic<int> served{0}, lost{0};
  std::string wrong;  // valid after end()

 private:
  void run() {
    while (!over_) {
      const auto x = gpu_.alloc<float>(1000);
      gpu_.upload(x, counting(1000, 5));
      const auto got = gpu_.download(x).get();
      if (got && *got != counting(1000, 5)) wrong = "wrong content";
      if (!got && got.error().reaction() != reaction::context_lost) wrong = got.error().to_string();
      ++(got ? served : lost);
    }
  }

  const device gpu_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

TEST_P(upgrading, leaves_running_programs_with_the_version_that_they_started_with) {
  runtime rt;
  const device gpu = rt.open_device(options());
  ASSERT_OK(gpu.started().get());
  client busy(gpu);
  busy.await_service();
  upgrade(GetParam());
  constexpr int kills = 6;
  for (int i = 0; i < kills; ++i) {
    const std::uint64_t before = gpu.statistics().generation;
    kill_worker(gpu);
    ASSERT_FALSE(HasFatalFailure());
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while ((gpu.statistics().generation == before || !gpu.ready()) && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(1ms);
    ASSERT_TRUE(gpu.ready()) << "after " << i + 1 << " kills";
    busy.await_service();
  }
  EXPECT_OK(gpu.ask(testing_actor::nap{.microseconds = 1}).get()) << "an engine that no worker has loaded before";
  const auto time = gpu.alloc<float>(8);
  const auto frequency = gpu.alloc<complex64>(5);  // n / 2 + 1
  gpu.upload(time, counting(8));
  EXPECT_OK(gpu.ask(fft::r2c<float>{.input = time, .output = frequency, .n = 8}).get()) << "which loads a library";
  busy.end();
  EXPECT_EQ(busy.wrong, "");
  EXPECT_LE(busy.lost, 3 * kills) << "only requests of a killed worker are lost";
  EXPECT_EQ(gpu.state(), device_state::ready);
  const device another = rt.open_device(options());
  EXPECT_OK(another.ping(1).get()) << "a device that the same runtime opens later";
}

TEST_P(upgrading, is_refused_clearly_by_a_program_that_starts_with_the_wrong_version) {
  upgrade(GetParam());
  runtime rt;
  const error why = error_of(rt.open_device(options()).started());
  if (std::string(GetParam()) == "removed")
    EXPECT_TRUE(is_error(why, reaction::fatal, {"troupe-worker'", "there is no such file", "runtime_folder"}));
  else
    EXPECT_TRUE(is_error(why, reaction::fatal, {"protocol 1", "99", "same version"}));
}

INSTANTIATE_TEST_SUITE_P(an_installation_that_is, upgrading,
                         ::testing::Values("overwritten", "renamed_over", "linked", "removed"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace troupe::whole
