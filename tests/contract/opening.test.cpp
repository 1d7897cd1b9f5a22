// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of devices that cannot start, or that start with something missing.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <troupe/base/compiler/sanitizers.hpp>
#include <troupe/device/managed.hpp>
#include <troupe/memory/requests.hpp>

#include "fake_runtime.hpp"
#include "harness.hpp"

namespace troupe::whole {
namespace {

namespace fs = std::filesystem;

// Expects that the device reports the reason in every way in which it can be queried, and never crashes or hangs.
void expect_never_serves(const device& gpu, reaction how, std::initializer_list<const char*> words) {
  tally early;
  early.watch(gpu.ping(1));
  EXPECT_TRUE(is_error(error_of(gpu.started()), how, words));
  EXPECT_TRUE(is_error(error_of(gpu.stopped()), how, words));
  early.await_all();
  EXPECT_EQ(early.fine(), 0);
  const error later = error_of(gpu.ping(2));
  for (const char* word : words) EXPECT_NE(later.text().find(word), std::string::npos) << later.to_string();
  EXPECT_EQ(gpu.state(), device_state::stopped);
  const auto x = gpu.alloc<float>(10);
  EXPECT_FALSE(x.readable());
  EXPECT_NE(error_text(gpu.download(x).get()), "");
  EXPECT_NE(error_text(gpu.upload(x, counting(10)).get()), "");
  const auto h = gpu.alloc_host<float>(10);
  EXPECT_EQ(h.data(), nullptr);
  const device_statistics s = gpu.statistics();
  EXPECT_EQ(s.state, device_state::stopped);
  EXPECT_EQ(s.depth, 0u);
  EXPECT_EQ(gpu.trim(), 0u);
  (void)gpu.close().get();
  (void)gpu.close_now().get();
}

TEST(opening, a_missing_worker_program_is_named) {
  const fake_runtime nothing;
  runtime rt;
  const std::string named = "cannot start '" + nothing.folder() +
                            "/troupe-worker': there is no such file; device_options::runtime_folder names this folder. "
                            "To name another one, set TROUPE_RUNTIME";
  expect_never_serves(rt.open_device({.runtime_folder = nothing.folder()}), reaction::fatal, {named.c_str()});
}

TEST(opening, a_worker_program_that_cannot_be_executed_is_named) {
  const fake_runtime folder;
  std::ofstream(folder.program()) << "not a program";
  runtime rt;
  expect_never_serves(rt.open_device({.runtime_folder = folder.folder()}), reaction::fatal, {"troupe-worker"});
}

TEST(opening, a_worker_program_that_others_may_write_is_not_started) {
  const fake_runtime folder;
  fs::copy_file(path_of("TROUPE_FAKE_WORKER", TROUPE_FAKE_WORKER), folder.program());
  std::ofstream(folder.folder() + "/mode") << "exits\n";
  fs::permissions(folder.program(), fs::perms::all);
  runtime rt;
  expect_never_serves(rt.open_device({.runtime_folder = folder.folder()}), reaction::fatal,
                      {folder.program().c_str(), "others may write it", "mode 0777", "chmod go-w", "runtime_folder"});
  fs::permissions(folder.program(), fs::perms::owner_all);
  fs::permissions(folder.folder(), fs::perms::all);
  const std::string named = "the folder '" + folder.folder() + "' above it: others may write it";
  expect_never_serves(rt.open_device({.runtime_folder = folder.folder()}), reaction::fatal, {named.c_str()});
}

TEST(opening, an_engine_that_others_may_write_is_not_loaded) {
  for (const auto where : {isolation::process, isolation::thread}) {
    const fake_runtime folder;
    const std::string engine = folder.folder() + "/planted.host.so";
    fs::copy_file(std::string(test_engine_folder()) + "/testing.host.so", engine);
    fs::permissions(engine, fs::perms::all);
    runtime rt;
    const device gpu = rt.open_device(
        {.engine = "host", .isolation = where, .libraries = {"planted"}, .engine_folders = {folder.folder()}});
    EXPECT_TRUE(is_error(error_of(gpu.started()), reaction::unsupported,
                         {"library planted", engine.c_str(), "others may write it", "engine_folders"}));
  }
}

TEST(opening, a_worker_of_another_version_is_refused_with_its_own_message) {
  const fake_runtime folder;
  folder.behave("other version");
  runtime rt;
  expect_never_serves(rt.open_device({.runtime_folder = folder.folder()}), reaction::fatal,
                      {"protocol 1", "99", "same version"});
}

TEST(opening, a_silent_worker_is_killed_after_the_start_timeout) {
  for (const char* mode : {"silent", "deaf"}) {
    SCOPED_TRACE(mode);
    const fake_runtime folder;
    folder.behave(mode);
    runtime rt;
    const device gpu = rt.open_device({.start_timeout = 50ms, .runtime_folder = folder.folder()});
    expect_never_serves(gpu, reaction::stopped, {"did not become ready in time"});
    const int worker = gpu.statistics().worker_pid.value();
    ASSERT_GT(worker, 0);
    const auto limit = std::chrono::steady_clock::now() + 5s;  // the worker was killed, but may not have ended yet
    while (!has_ended(worker) && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(has_ended(worker)) << "the worker outlives its device";
  }
}

TEST(opening, a_worker_that_sends_invalid_messages_is_ended) {
  for (const char* mode : {"garbage", "short", "descriptors"}) {
    SCOPED_TRACE(mode);
    const fake_runtime folder;
    folder.behave(mode);
    runtime rt;
    expect_never_serves(rt.open_device({.runtime_folder = folder.folder()}), reaction::fatal, {"the worker sent"});
  }
}

TEST(opening, an_unknown_reaction_counts_as_fatal) {
  const fake_runtime folder;
  folder.behave("no reaction");
  runtime rt;
  expect_never_serves(rt.open_device({.runtime_folder = folder.folder()}), reaction::fatal,
                      {"a reaction that does not exist"});
}

TEST(opening, a_worker_that_exits_at_once_is_reported_with_its_status) {
  const fake_runtime folder;
  folder.behave("exits");
  runtime rt;
  expect_never_serves(rt.open_device({.runtime_folder = folder.folder()}), reaction::context_lost,
                      {"exited with code 9"});
}

TEST(opening, a_worker_that_is_ready_and_exits_stops_the_device) {
  const fake_runtime folder;
  folder.behave("ready and gone");
  runtime rt;
  const device gpu = rt.open_device({.runtime_folder = folder.folder()});
  EXPECT_TRUE(is_error(error_of(gpu.stopped()), reaction::context_lost, {"exited with code 0"}));
  EXPECT_TRUE(is_error(error_of(gpu.ping(1)), reaction::stopped, {"exited"}));
}

TEST(opening, a_standby_is_not_told_to_load_engines_that_do_not_exist) {
  const fake_runtime folder;
  folder.behave("ready and boastful");
  fs::create_directory(folder.folder() + "/engines");
  std::ofstream(folder.folder() + "/engines/real.host.so") << "an engine";
  runtime rt;
  const device gpu = rt.open_device({.engine = "host", .close_timeout = 50ms, .runtime_folder = folder.folder()});
  ASSERT_OK(gpu.started().get());
  const auto loads = [&] {
    std::ifstream file(folder.folder() + "/loads");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto limit = std::chrono::steady_clock::now() + 20s;
  while (loads().find("real\n") == std::string::npos && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(loads(), "real\n");
  (void)gpu.close_now().get();
}

TEST(opening, a_worker_that_never_serves_is_ended_by_close_now) {
  const fake_runtime folder;
  folder.behave("ready and deaf");
  runtime rt;
  const device gpu = rt.open_device({.close_timeout = 50ms, .runtime_folder = folder.folder()});
  ASSERT_OK(gpu.started().get());
  tally answers;
  for (int i = 0; i < 100; ++i) answers.watch(gpu.ping(1));
  const auto closed = gpu.close_now().get();
  answers.await_all();
  EXPECT_EQ(answers.failed(reaction::stopped), 100);  // cancelled, because none had started
  EXPECT_EQ(gpu.state(), device_state::stopped);
  EXPECT_EQ(gpu.statistics().depth, 0u);
}

TEST(opening, a_worker_that_returns_a_foreign_address_as_managed_memory_is_ended) {
  const fake_runtime folder;
  folder.behave("ready and generous");
  runtime rt;
  const device gpu = rt.open_device({.standbys = 0, .restarts = 0, .runtime_folder = folder.folder()});
  ASSERT_OK(gpu.started().get());
  const auto x = alloc_managed<float>(gpu, 1000);
  ASSERT_FALSE(x.readable());
  EXPECT_TRUE(is_error(*x.cause(), reaction::context_lost, {"alloc_managed", "impossible address"}));
  EXPECT_TRUE(is_error(error_of(gpu.stopped()), reaction::context_lost, {"the address of managed memory"}));
}

TEST(opening, a_missing_required_library_is_named) {
  runtime rt;
  expect_never_serves(rt.open_device(with_test_engines({.libraries = {"testing", "quantum"}})), reaction::unsupported,
                      {"quantum", "quantum.host.so", test_engine_folder(), "memory"});
}

TEST(opening, a_library_that_cannot_be_loaded_is_named_with_the_package_to_install) {
  runtime rt;
  expect_never_serves(rt.open_device(with_test_engines({.libraries = {"broken"}})), reaction::unsupported,
                      {"broken", "install libbroken-dev"});
}

TEST(opening, an_engine_of_another_interface_version_is_refused_without_calling_it) {
  runtime rt;
  expect_never_serves(rt.open_device(with_test_engines({.libraries = {"outdated"}})), reaction::unsupported,
                      {"outdated", "interface 999999", "build it again"});
}

TEST(opening, an_engine_with_indistinguishable_requests_is_refused) {
  runtime rt;
  expect_never_serves(rt.open_device(with_test_engines({.libraries = {"twins"}})), reaction::unsupported,
                      {"twins", "cannot be distinguished", "twins.look<bytes>"});
}

TEST(opening, an_engine_that_cannot_start_gives_its_own_reason) {
  runtime rt;
  expect_never_serves(rt.open_device(with_test_engines({.libraries = {"failing"}})), reaction::unsupported,
                      {"failing", "expected model 7"});
}

TEST(opening, available_libraries_are_loaded_before_ready) {
  for (auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where, .libraries = {"testing"}}));
    ASSERT_OK(gpu.started().get());
    const auto engines = gpu.statistics().engines;
    const auto found =
        std::find_if(engines.begin(), engines.end(), [](const engine_info& e) { return e.library == "testing"; });
    ASSERT_NE(found, engines.end()) << engines.size() << " engines";
    EXPECT_EQ(found->backend, "host");
    EXPECT_EQ(found->version, "1.0");
    EXPECT_EQ(gpu.statistics().worker_pid.has_value(), where == isolation::process);
  }
}

TEST(opening, an_unknown_backend_is_named) {
  runtime rt;
  expect_never_serves(rt.open_device({.engine = "abacus"}), reaction::unsupported, {"memory.abacus.so"});
}

TEST(opening, a_worker_thread_names_what_is_missing_as_a_process_does) {
  runtime rt;
  expect_never_serves(rt.open_device(with_test_engines({.isolation = isolation::thread, .libraries = {"quantum"}})),
                      reaction::unsupported, {"quantum"});
}

TEST(opening, options_out_of_range_are_refused_naming_the_field) {
  const auto expect_refused = [](device_options o, const char* field) {
    SCOPED_TRACE(field);
    runtime rt;
    expect_never_serves(rt.open_device(std::move(o)), reaction::caller_bug, {field, "expected"});
  };
  expect_refused({.mailbox_capacity = 0}, "mailbox_capacity");
  expect_refused({.mailbox_capacity = 65537}, "mailbox_capacity");
  expect_refused({.lane_pool = 0}, "lane_pool");
  expect_refused({.lane_pool = 9}, "lane_pool");
  expect_refused({.memory_limit = UINT64_MAX}, "memory_limit");
  expect_refused({.host_memory_limit = UINT64_MAX}, "host_memory_limit");
  expect_refused({.helpers = 0}, "helpers");
  expect_refused({.helpers = 5}, "helpers");
  expect_refused({.engine = ""}, "engine");
  expect_refused({.engine = "../../etc"}, "engine");
  expect_refused({.libraries = {"a/b"}}, "libraries");
  expect_refused({.libraries = {"testing\nmemory"}}, "libraries");
  expect_refused({.engine_folders = {"/tmp\n/etc"}}, "engine_folders");
}

TEST(opening, the_smallest_and_the_largest_mailbox_work) {
  for (const std::uint32_t capacity : {1u, 2u, 3u, 65536u}) {
    runtime rt;
    const device gpu = rt.open_device({.mailbox_capacity = capacity, .when_full = when_full::wait});
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(gpu.ping(i).get().value_or(99), i);
    EXPECT_GE(gpu.statistics().capacity, capacity);
  }
}

TEST(opening, requests_may_be_queued_before_the_worker_is_ready) {
  runtime rt;
  const device gpu = rt.open_device();
  const auto x = gpu.alloc<float>(100);
  gpu.upload(x, counting(100));
  EXPECT_EQ(gpu.download(x).get().value(), counting(100));
  EXPECT_OK(gpu.started().get());
}

TEST(opening, readiness_and_the_end_can_be_awaited_before_and_after) {
  runtime rt;
  const device gpu = rt.open_device();
  auto before = gpu.started(), end = gpu.stopped();
  EXPECT_FALSE(end.ready());
  EXPECT_OK(before.get());
  EXPECT_EQ(gpu.state(), device_state::ready);
  EXPECT_OK(gpu.started().get());
  EXPECT_OK(gpu.close().get());
  EXPECT_OK(end.get());
  EXPECT_OK(gpu.stopped().get());
  EXPECT_OK(gpu.started().get()) << "the device was ready before";
  EXPECT_EQ(gpu.state(), device_state::stopped);
}

TEST(opening, auto_is_the_engine_that_the_environment_names) {
  const char* const before = std::getenv("TROUPE_ENGINE");
  const std::string set = before != nullptr ? before : "";
  ::setenv("TROUPE_ENGINE", "host", 1);
  runtime rt;
  const device gpu = rt.open_device();
  EXPECT_EQ(gpu.statistics().engine, "host");
  EXPECT_EQ(gpu.statistics().engine_reason, "the environment variable TROUPE_ENGINE names it");
  ::setenv("TROUPE_ENGINE", "nonesuch", 1);
  EXPECT_TRUE(is_error(error_of(rt.open_device().started()), reaction::unsupported, {"nonesuch"}));
  EXPECT_EQ(rt.open_device({.engine = "host"}).statistics().engine_reason, "device_options::engine names it");
  if (set.empty())
    ::unsetenv("TROUPE_ENGINE");
  else
    ::setenv("TROUPE_ENGINE", set.c_str(), 1);
}

TEST(opening, open_ready_returns_a_device_that_serves_or_the_reason_why_it_never_will) {
  runtime rt;
  const auto gpu = rt.open_ready(with_test_engines());
  ASSERT_OK(gpu);
  EXPECT_TRUE(gpu->ready());
  EXPECT_TRUE(is_error(error_of(rt.open_ready({.engine = "nonesuch"})), reaction::unsupported, {"nonesuch"}));
}

#if !TROUPE_ADDRESS_SANITIZER && !TROUPE_THREAD_SANITIZER  // which need all addresses

// Limits the address space of this process, and of the workers that it starts.
class address_limit {
 public:
  explicit address_limit(std::uint64_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~address_limit() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST(opening, a_device_fits_a_limited_address_space) {
  const address_limit limit(std::uint64_t{8} << 30);
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  ASSERT_OK(gpu.started().get());
  EXPECT_LE(gpu.statistics().memory.total_bytes, std::uint64_t{1} << 30);
  const auto x = gpu.alloc<float>(1000);
  gpu.upload(x, counting(1000));
  EXPECT_EQ(gpu.download(x).get().value(), counting(1000));
}

TEST(opening, a_device_larger_than_the_address_space_is_refused_for_good_and_names_the_remedy) {
  const address_limit limit(std::uint64_t{8} << 30);
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.memory_limit = std::uint64_t{16} << 30}));
  EXPECT_TRUE(is_error(error_of(gpu.started()), reaction::fatal,
                       {"mapping", "memory_limit", "host_memory_limit", "ulimit -v"}));
}

#endif

TEST(opening, several_devices_in_one_runtime_do_not_disturb_each_other) {
  runtime rt;
  std::vector<device> all;
  for (int i = 0; i < 3; ++i)
    all.push_back(rt.open_device(with_test_engines({.isolation = i == 2 ? isolation::thread : isolation::process})));
  EXPECT_EQ(rt.devices(), all);
  std::vector<buffer<float>> data;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].name(), "host:" + std::to_string(i));
    data.push_back(all[i].alloc<float>(50));
    all[i].upload(data.back(), counting(50, static_cast<float>(i)));
  }
  EXPECT_OK(all[0].sync().get());
  kill_worker(all[0]);
  EXPECT_TRUE(is_error(error_of(all[0].stopped()), reaction::context_lost, {"host:0"}));
  for (std::size_t i = 1; i < all.size(); ++i)
    EXPECT_EQ(all[i].download(data[i]).get().value(), counting(50, static_cast<float>(i)));
}

TEST(opening, the_runtime_folder_defaults_to_the_environment) {
  const fake_runtime nothing;
  ::setenv("TROUPE_RUNTIME", nothing.folder().c_str(), 1);
  {
    runtime rt;
    EXPECT_TRUE(is_error(error_of(rt.open_device().started()), reaction::fatal,
                         {nothing.folder().c_str(), "the environment variable TROUPE_RUNTIME names this folder"}));
  }
  ::unsetenv("TROUPE_RUNTIME");
}

// The values must agree with the system's if the test runs on the host.
TEST(opening, a_device_describes_its_hardware) {
  for (const auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where}));
    ASSERT_OK(gpu.ping(1).get());
    const device_hardware h = gpu.statistics().hardware;
    EXPECT_NE(h.model, "");
    EXPECT_GT(h.processors, 0u);
    EXPECT_GT(h.free_bytes, 0u);
    EXPECT_LE(h.free_bytes, h.total_bytes);
    if (gpu.statistics().engine == "host") {
      EXPECT_EQ(h.capability_major, 0u);
      EXPECT_EQ(h.pci + h.link + h.driver, "");
      EXPECT_EQ(h.total_bytes, static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                                   static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
    } else {
      EXPECT_GE(h.capability_major, 5u);
      EXPECT_NE(h.pci, "");
      EXPECT_NE(h.driver, "");
    }
  }
}

// Other programs allocate and free continuously, so the value is compared several times. For GPUs, see
// tests/gpu_sharing.
TEST(opening, the_free_memory_of_the_host_is_current) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  constexpr std::uint64_t slack = 64 << 20;
  const auto available = [] {
    std::ifstream lines("/proc/meminfo");
    std::string key;
    std::uint64_t kib = 0;
    while (lines >> key)
      if (key == "MemAvailable:" && lines >> kib) break;
    return kib << 10;
  };
  bool agreed = false;
  std::uint64_t before = 0, reported = 0, after = 0;
  for (int i = 0; i < 100 && !agreed; ++i) {
    before = available();
    reported = gpu.statistics().hardware.free_bytes;
    after = available();
    agreed = reported + slack >= std::min(before, after) && reported <= std::max(before, after) + slack;
    std::this_thread::sleep_for(11ms);  // longer than a value counts as current
  }
  EXPECT_TRUE(agreed) << reported << " between " << before << " and " << after;
}

TEST(opening, a_device_reports_its_lanes) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.lanes = lane_policy::pooled, .lane_pool = 3, .helpers = 1}));
  ASSERT_OK(gpu.ping(1).get());
  ASSERT_OK(gpu.ask(memory::ping{.value = 1}, {.priority = priority::high}).get());
  std::array<int, 7> of{};
  std::uint64_t high = 0, all = 0;
  for (const lane_statistics& l : gpu.statistics().lanes) {
    ++of[static_cast<std::size_t>(l.purpose)];
    all += l.completed;
    if (l.purpose == lane_purpose::high) high += l.completed;
  }
  EXPECT_EQ(of, (std::array<int, 7>{0, 1, 1, 3, 1, 1, 1}));
  EXPECT_EQ(high, 1u);
  EXPECT_EQ(all, 2u);
}

}  // namespace
}  // namespace troupe::whole
