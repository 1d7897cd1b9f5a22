// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of memory that is shared with code outside of the device by descriptor and by address.
#include <troupe/device/sealing.hpp>
#include <troupe/device/sharing.hpp>
#include "interop_fixture.hpp"

namespace troupe::whole::interop_tests {
namespace {

TEST(sharing, exports_memory_that_others_read_and_write) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto all = gpu.alloc<float>(1000), x = all.slice(100, 50);
  gpu.upload(all, counting(1000));
  const auto shared = export_memory(gpu, x);
  ASSERT_OK(shared);
  EXPECT_EQ(shared->form, memory_form::file);
  EXPECT_EQ(shared->bytes, 200u);
  ASSERT_OK(lend(gpu, x).get());
  const opened theirs(*shared);
  ASSERT_TRUE(theirs);
  EXPECT_EQ(theirs.floats()[0], 100);
  EXPECT_EQ(theirs.floats()[49], 149);
  theirs.floats()[3] = -1;
  gpu.tell(memory::take_back{.target = out<std::byte>(x.as<std::byte>()), .bytes = 200});
  EXPECT_EQ(gpu.download(x).get().value()[3], -1);
  EXPECT_EQ(gpu.download(all).get().value()[99], 99);
}

TEST(sharing, lends_a_buffer_after_all_earlier_requests) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.inline_bytes = 0}));
  blockade first(gpu);
  ASSERT_TRUE(first.entered());
  const auto x = gpu.alloc<float>(10, {.zeroed = true});
  gpu.tell(increment{.x = x, .n = 10});  // behind the blockade
  pending<void> lent = lend(gpu, x);
  EXPECT_OK(gpu.ping(1).get());
  EXPECT_FALSE(lent.ready());
  first.lift();
  EXPECT_OK(lent.get());
  EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(10, 1.f));
}

TEST(sharing, makes_a_buffer_valid_by_taking_it_back) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = gpu.alloc<float>(10);
  gpu.tell(spoil{.target = x, .n = 10, .text = "oh"});
  EXPECT_TRUE(is_error(error_of(lend(gpu, x)), reaction::unsupported, {"oh"}));
  EXPECT_FALSE(x.readable());
  EXPECT_OK(take_back(gpu, x).get());
  EXPECT_TRUE(x.readable());
}

TEST(sharing, keeps_exported_memory_while_a_descriptor_is_open) {
  std::optional<opened> theirs;
  {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines());
    const auto x = gpu.alloc<float>(10);
    ASSERT_OK(gpu.upload(x, counting(10)).get());
    theirs.emplace(export_memory(gpu, x).value());
    ASSERT_OK(gpu.close().get());
  }
  EXPECT_EQ(theirs->floats()[9], 9);
}

TEST(sharing, exports_host_buffers) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto h = gpu.alloc_host<float>(10);
  const auto shared = export_memory(gpu, h.slice(2, 8));
  ASSERT_OK(shared);
  EXPECT_EQ(shared->form, memory_form::file);
  h[2] = 7;
  const opened theirs(*shared);
  EXPECT_EQ(theirs.floats()[0], 7);
}

TEST(sharing, refuses_exports_with_the_reason) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines()), other = rt.open_device(with_test_engines());
  EXPECT_TRUE(is_error(error_of(export_memory(gpu, buffer<float>())), reaction::caller_bug, {"empty"}));
  EXPECT_TRUE(is_error(error_of(export_memory(gpu, other.alloc<float>(1))), reaction::caller_bug, {"another device"}));
  const auto sealed = gpu.alloc<float>(10, {.zeroed = true, .sealable = true});
  ASSERT_OK(seal(gpu, sealed).get());
  EXPECT_TRUE(is_error(error_of(export_memory(gpu, sealed)), reaction::caller_bug, {"sealed", "copy it"}));
  const auto beside = gpu.alloc<float>(10, {.zeroed = true, .sealable = true});
  EXPECT_TRUE(is_error(error_of(export_memory(gpu, beside.slice(5, 1))), reaction::caller_bug,
                       {"others that may be sealed", "without alloc_options::sealable"}));
  EXPECT_OK(seal(gpu, beside).get());
  EXPECT_TRUE(is_error(error_of(export_memory(gpu, gpu.alloc<float>(-1))), reaction::caller_bug, {"alloc"}));
}

TEST(sharing, keeps_sealed_buffers_out_of_exported_memory) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = gpu.alloc<float>(1000, {.zeroed = true}), sealed = gpu.alloc<float>(1000, {.sealable = true});
  gpu.upload(sealed, counting(1000));
  ASSERT_OK(seal(gpu, sealed).get());
  const auto shared = export_memory(gpu, x);
  ASSERT_OK(shared);
  ASSERT_OK(lend(gpu, x).get());
  void* const all =
      ::mmap(nullptr, shared->allocation_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared->descriptor.get(), 0);
  ASSERT_NE(all, MAP_FAILED);
  std::memset(all, 0xff, shared->allocation_bytes);
  ::munmap(all, shared->allocation_bytes);
  EXPECT_EQ(gpu.download(sealed).get().value(), counting(1000));
}

TEST(sharing, maps_imported_memory_into_every_worker) {
  for (const auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where}));
    file_descriptor fd = memory_with(100, 5);
    const file_descriptor mine(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    const auto x = import_memory<float>(
        gpu, {.descriptor = std::move(fd), .offset_bytes = 40, .bytes = 80, .allocation_bytes = 8192});
    ASSERT_TRUE(x.readable()) << x.cause()->to_string();
    EXPECT_EQ(gpu.statistics().memory.imported_bytes, 80u);
    EXPECT_EQ(gpu.download(x).get().value(), counting(20, 15));
    ASSERT_OK(gpu.ask(increment{.x = x, .n = 20}).get());
    float now = 0;
    ASSERT_EQ(::pread(mine.get(), &now, sizeof now, 40), 4);
    EXPECT_EQ(now, 16);
  }
}

TEST(sharing, keeps_imported_memory_after_a_restart) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.restarts = 2, .salvage = salvage::untouched}));
  const auto x = import_memory<float>(
      gpu, {.descriptor = memory_with(100, 5), .offset_bytes = 0, .bytes = 400, .allocation_bytes = 8192});
  EXPECT_EQ(gpu.download(x).get().value(), counting(100, 5));
  kill_and_wait(gpu);
  EXPECT_EQ(gpu.download(x).get().value(), counting(100, 5));
}

// Otherwise, no later worker could map the memory for writing, and none would start.
TEST(sharing, prevents_file_seals_that_would_lock_out_later_workers) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.restarts = 2, .salvage = salvage::untouched}));
  file_descriptor fd = memory_with(100, 5);
  const file_descriptor mine(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  const auto x = import_memory<float>(gpu, {.descriptor = std::move(fd), .bytes = 400, .allocation_bytes = 8192});
  ASSERT_OK(gpu.sync().get());
  EXPECT_NE(::fcntl(mine.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
  kill_worker(gpu);
  while (gpu.statistics().generation == 1 && !gpu.stopped().ready()) std::this_thread::yield();
  EXPECT_EQ(gpu.download(x).get().value(), counting(100, 5));
}

// Many more files than the socket of a starting worker can hold. Standbys have the same mailbox, and would run requests
// that have already run.
TEST(sharing, announces_any_number_of_memory_files_to_a_worker) {
  for (const isolation how : {isolation::process, isolation::thread})
    for (const std::uint32_t standbys : {0u, 1u}) {
      if (how == isolation::thread && standbys != 0) continue;
      runtime rt;
      const device gpu = rt.open_device(
          with_test_engines({.isolation = how, .standbys = standbys, .restarts = 20, .salvage = salvage::untouched}));
      std::vector<buffer<float>> all;
      for (int i = 0; i < 300; ++i)
        all.push_back(import_memory<float>(gpu, {.descriptor = memory_with(10, static_cast<float>(i)),
                                                 .offset_bytes = 0,
                                                 .bytes = 40,
                                                 .allocation_bytes = 8192}));
      EXPECT_EQ(gpu.download(all.back()).get().value(), counting(10, 299));
      for (int times = 0; how == isolation::process && times < 3; ++times) {
        kill_and_wait(gpu);
        EXPECT_EQ(gpu.download(all.front()).get().value(), counting(10, 0));
        EXPECT_EQ(gpu.download(all.back()).get().value(), counting(10, 299));
      }
    }
}

TEST(sharing, announces_every_memory_change_to_a_slow_worker) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  ASSERT_OK(gpu.sync().get());
  const int worker = gpu.statistics().worker_pid.value();
  const auto while_it_stands_still =
      [&](auto&& work) {  // the worker is stopped for a moment, in which its socket is full
        ASSERT_EQ(::kill(worker, SIGSTOP), 0);
        std::thread goes_on([worker] {
          std::this_thread::sleep_for(300ms);
          ::kill(worker, SIGCONT);
        });
        work();
        goes_on.join();
      };
  const auto seen = [worker] {
    std::ifstream maps("/proc/" + std::to_string(worker) + "/maps");
    int n = 0;
    for (std::string line; std::getline(maps, line);) n += line.find("memfd:theirs") != line.npos;
    return n;
  };
  std::vector<buffer<float>> all;
  while_it_stands_still([&] {
    for (int i = 0; i < 400; ++i)
      all.push_back(import_memory<float>(
          gpu, {.descriptor = memory_with(10, static_cast<float>(i)), .bytes = 40, .allocation_bytes = 8192}));
  });
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(gpu.download(all[i]).get().value(), counting(10, static_cast<float>(i)));
  EXPECT_GE(seen(), 400);
  while_it_stands_still([&] { all.clear(); });
  EXPECT_TRUE(soon([&] { return seen() == 0; })) << seen();
  EXPECT_EQ(gpu.statistics().faults, 0u);
}

TEST(sharing, runs_no_request_on_a_standby_when_the_device_closes) {
  file_descriptor fd = memory_with(100, 5);
  const file_descriptor mine(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.standbys = 2, .restarts = 2}));
  const auto x = import_memory<float>(gpu, {.descriptor = std::move(fd), .bytes = 400, .allocation_bytes = 8192});
  ASSERT_OK(gpu.fill(x, 7.f).get());
  while (gpu.statistics().standby_pids.size() != 2) std::this_thread::yield();
  float now = 9;
  ASSERT_EQ(::pwrite(mine.get(), &now, sizeof now, 0), 4);
  ASSERT_OK(gpu.close().get());
  ASSERT_EQ(::pread(mine.get(), &now, sizeof now, 0), 4);
  EXPECT_EQ(now, 9);
}

TEST(sharing, imports_memory_larger_than_the_devices_own) {
  constexpr std::uint64_t bytes = std::uint64_t{1} << 30;
  for (const auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where, .memory_limit = 64 << 20}));
    const auto x = import_memory<float>(
        gpu,
        {.descriptor = memory_of_others(bytes), .offset_bytes = bytes - 400, .bytes = 400, .allocation_bytes = bytes});
    ASSERT_TRUE(x.readable()) << x.cause()->to_string();
    ASSERT_OK(gpu.fill(x, 7.f).get());
    EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(100, 7.f));
  }
}

TEST(sharing, releases_imported_memory_with_the_last_handle) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  for (int i = 0; i < 200; ++i) {
    const auto x = import_memory<float>(
        gpu, {.descriptor = memory_with(10, static_cast<float>(i)), .bytes = 40, .allocation_bytes = 8192});
    EXPECT_EQ(gpu.download(x).get().value(), counting(10, static_cast<float>(i)));
  }
  EXPECT_EQ(gpu.statistics().memory.imported_bytes, 0u);
  EXPECT_EQ(gpu.statistics().generation, 1u);
}

TEST(sharing, imports_memory_that_another_device_exports) {
  runtime rt;
  const device one = rt.open_device(with_test_engines()), two = rt.open_device(with_test_engines());
  const auto x = one.alloc<float>(10);
  one.upload(x, counting(10));
  ASSERT_OK(lend(one, x).get());
  const auto y = import_memory<float>(two, export_memory(one, x).value());
  ASSERT_OK(two.ask(increment{.x = y, .n = 10}).get());
  ASSERT_OK(take_back(one, x).get());
  EXPECT_EQ(one.download(x).get().value(), counting(10, 1));
}

// If a worker tried the import, it would end, and lose everything that it holds.
TEST(sharing, refuses_imports_with_the_reason_and_no_harm) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto why = [&](shared_memory m) {
    const auto cause = import_memory<float>(gpu, std::move(m)).cause();
    return cause ? *cause : error(reaction::fatal, "test", "the import succeeded");
  };
  EXPECT_TRUE(is_error(why({.bytes = 4, .allocation_bytes = 8192}), reaction::caller_bug,
                       {"no descriptor", "isolation::thread", "upload", "memfd_create"}));
  EXPECT_TRUE(
      is_error(why({.descriptor = memory_with(1, 0), .allocation_bytes = 8192}), reaction::caller_bug, {"bytes is 0"}));
  EXPECT_TRUE(
      is_error(why({.descriptor = memory_with(1, 0), .offset_bytes = 8000, .bytes = 400, .allocation_bytes = 8192}),
               reaction::caller_bug, {"400 bytes at offset 8000", "8192"}));
  EXPECT_TRUE(is_error(why({.descriptor = memory_with(1, 0), .bytes = 4, .allocation_bytes = 1 << 20}),
                       reaction::caller_bug, {"8192 bytes", "1048576"}));
  EXPECT_TRUE(is_error(why({.descriptor = memory_with(1, 0), .bytes = 6, .allocation_bytes = 8192}),
                       reaction::caller_bug, {"whole elements of 4 bytes"}));
  EXPECT_TRUE(is_error(why({.descriptor = memory_with(1, 0), .offset_bytes = 2, .bytes = 4, .allocation_bytes = 8192}),
                       reaction::caller_bug, {"at an offset that is a multiple of 4"}));
  EXPECT_TRUE(is_error(why({.descriptor = memory_with(1, 0, F_SEAL_SEAL), .bytes = 4, .allocation_bytes = 8192}),
                       reaction::caller_bug, {"whose size is sealed", "F_ADD_SEALS"}));
  EXPECT_TRUE(is_error(why({.descriptor = memory_with(1, 0, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE),
                            .bytes = 4,
                            .allocation_bytes = 8192}),
                       reaction::caller_bug, {"cannot be mapped for writing"}));
  EXPECT_TRUE(
      is_error(why({.descriptor = memory_with(1, 0), .form = memory_form::cuda, .bytes = 4, .allocation_bytes = 8192}),
               reaction::unsupported, {"of a GPU's memory", "the host"}));
  EXPECT_OK(gpu.ping(1).get());
  EXPECT_EQ(gpu.statistics().generation, 1u);
}

TEST(sharing, lets_a_worker_thread_use_the_programs_own_memory) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  std::vector<float> mine = counting(10);
  auto share = std::make_shared<int>(0);
  {
    const auto x = adopt_memory(gpu, mine.data() + 2, 5, share);
    ASSERT_TRUE(x.readable());
    EXPECT_EQ(share.use_count(), 2);
    EXPECT_OK(gpu.ask(increment{.x = x.slice(1, 4), .n = 4}).get());
    EXPECT_TRUE(is_error(error_of(export_memory(gpu, x)), reaction::unsupported, {"has no descriptor"}));
  }
  EXPECT_OK(gpu.sync().get());
  EXPECT_TRUE(soon([&] { return share.use_count() == 1; }));
  EXPECT_EQ(mine, (std::vector<float>{0, 1, 2, 4, 5, 6, 7, 7, 8, 9}));
}

TEST(sharing, keeps_adopted_memory_while_a_thread_may_write_it) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  std::array<std::atomic<std::uint32_t>, 2> gate{};
  auto share = std::make_shared<int>(0);
  {
    const auto x = adopt_memory(gpu, reinterpret_cast<std::uint32_t*>(gate.data()), 2, share);
    EXPECT_TRUE(is_error(error_of(gpu.ask(hold{.gate = x}, {.run_timeout = 50ms})), reaction::context_lost, {}));
    EXPECT_EQ(gate[entered], 1u);
  }
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(share.use_count(), 2) << "the thread still uses it";
  gate[testing_actor::opened] = 1;
  EXPECT_TRUE(soon([&] { return share.use_count() == 1; }));
}

TEST(sharing, releases_no_adopted_memory_on_a_thread_that_waits_for_an_answer) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  std::vector<float> mine = counting(10);
  std::atomic<int> here = 0, gone = 0;
  bool waiting = false;
  for (int i = 0; i < 100; ++i) {
    std::shared_ptr<void> keep(nullptr, [&, waits = std::this_thread::get_id()](void*) {
      here += std::this_thread::get_id() == waits && waiting;
      ++gone;
    });
    gpu.tell(increment{.x = adopt_memory(gpu, mine.data(), 10, std::move(keep)), .n = 10});
    waiting = true;
    EXPECT_OK(gpu.ping(1).get());
    waiting = false;
  }
  EXPECT_OK(gpu.sync().get());
  EXPECT_TRUE(soon([&] { return gone == 100; }));
  EXPECT_EQ(here, 0);
}

TEST(sharing, suggests_an_alternative_to_a_worker_process) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  std::vector<float> mine(10);
  EXPECT_TRUE(is_error(*adopt_memory(gpu, mine.data(), 10, nullptr).cause(), reaction::unsupported,
                       {"another process", "isolation::thread", "upload", "import_memory"}));
}

}  // namespace
}  // namespace troupe::whole::interop_tests
