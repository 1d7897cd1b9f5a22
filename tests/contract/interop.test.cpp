// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Memory that is shared with code outside of the device: by descriptor, by address, by DLPack.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <troupe/base/complex.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/interop/dlpack.hpp>
#include <troupe/interop/internal/abi.hpp>
#include <troupe/memory/requests.hpp>

#include "harness.hpp"
#include "memory_of_others.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

// What another program sees of it.
class opened {
 public:
  explicit opened(const shared_memory& m) : bytes_(m.allocation_bytes), offset_(m.offset_bytes) {
    at_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, m.descriptor.get(), 0);
  }
  ~opened() { ::munmap(at_, bytes_); }
  opened(const opened&) = delete;
  explicit operator bool() const { return at_ != MAP_FAILED; }
  float* floats() const { return reinterpret_cast<float*>(static_cast<std::byte*>(at_) + offset_); }

 private:
  std::size_t bytes_, offset_;
  void* at_;
};

template <class F>
bool soon(F&& so) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!so() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  return so();
}

file_descriptor memory_with(std::size_t count, float first, int seals = F_SEAL_SHRINK | F_SEAL_GROW) {
  return memory_of_others(8192, counting(count, first), seals);
}

TEST(sharing, what_is_exported_shows_the_content_and_takes_what_others_write) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto all = gpu.alloc<float>(1000), x = all.slice(100, 50);
  gpu.upload(all, counting(1000));
  const auto shared = gpu.export_memory(x);
  ASSERT_OK(shared);
  EXPECT_EQ(shared->form, memory_form::file);
  EXPECT_EQ(shared->bytes, 200u);
  ASSERT_OK(gpu.lend(x).get());
  const opened theirs(*shared);
  ASSERT_TRUE(theirs);
  EXPECT_EQ(theirs.floats()[0], 100);
  EXPECT_EQ(theirs.floats()[49], 149);
  theirs.floats()[3] = -1;
  gpu.tell(memory::take_back{.target = out<std::byte>(x.as<std::byte>()), .bytes = 200});
  EXPECT_EQ(gpu.download(x).get().value()[3], -1);
  EXPECT_EQ(gpu.download(all).get().value()[99], 99);
}

TEST(sharing, a_buffer_is_lent_when_what_was_sent_before_is_done_and_not_earlier) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.inline_bytes = 0}));
  blockade first(gpu);
  ASSERT_TRUE(first.entered());
  const auto x = gpu.alloc<float>(10, {.zeroed = true});
  gpu.tell(increment{.x = x, .n = 10});  // behind the blockade
  pending<void> lent = gpu.lend(x);
  EXPECT_OK(gpu.ping(1).get());
  EXPECT_FALSE(lent.ready());
  first.lift();
  EXPECT_OK(lent.get());
  EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(10, 1.f));
}

TEST(sharing, what_is_taken_back_is_valid_whatever_it_was) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = gpu.alloc<float>(10);
  gpu.tell(spoil{.target = x, .n = 10, .text = "oh"});
  EXPECT_TRUE(is_error(error_of(gpu.lend(x)), reaction::unsupported, {"oh"}));
  EXPECT_FALSE(x.valid());
  EXPECT_OK(gpu.take_back(x).get());
  EXPECT_TRUE(x.valid());
}

TEST(sharing, exported_memory_stays_as_long_as_somebody_has_it) {
  std::optional<opened> theirs;
  {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines());
    const auto x = gpu.alloc<float>(10);
    ASSERT_OK(gpu.upload(x, counting(10)).get());
    theirs.emplace(gpu.export_memory(x).value());
    ASSERT_OK(gpu.close().get());
  }
  EXPECT_EQ(theirs->floats()[9], 9);
}

TEST(sharing, host_buffers_are_exported_too) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto h = gpu.alloc_host<float>(10);
  const auto shared = gpu.export_memory(h.slice(2, 8));
  ASSERT_OK(shared);
  EXPECT_EQ(shared->form, memory_form::file);
  h[2] = 7;
  const opened theirs(*shared);
  EXPECT_EQ(theirs.floats()[0], 7);
}

TEST(sharing, what_cannot_be_exported_is_refused_with_the_reason) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines()), other = rt.open_device(with_test_engines());
  EXPECT_TRUE(is_error(error_of(gpu.export_memory(buffer<float>())), reaction::caller_bug, {"empty"}));
  EXPECT_TRUE(is_error(error_of(gpu.export_memory(other.alloc<float>(1))), reaction::caller_bug, {"another device"}));
  const auto sealed = gpu.alloc<float>(10, {.zeroed = true, .sealable = true});
  ASSERT_OK(gpu.seal(sealed).get());
  EXPECT_TRUE(is_error(error_of(gpu.export_memory(sealed)), reaction::caller_bug, {"sealed", "copy it"}));
  const auto beside = gpu.alloc<float>(10, {.zeroed = true, .sealable = true});
  EXPECT_TRUE(is_error(error_of(gpu.export_memory(beside.slice(5, 1))), reaction::caller_bug,
                       {"others that may be sealed", "without alloc_options::sealable"}));
  EXPECT_OK(gpu.seal(beside).get());
  EXPECT_TRUE(is_error(error_of(gpu.export_memory(gpu.alloc<float>(-1))), reaction::caller_bug, {"alloc"}));
}

TEST(sharing, nobody_gets_a_descriptor_of_what_is_sealed_with_a_neighbour) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = gpu.alloc<float>(1000, {.zeroed = true}), sealed = gpu.alloc<float>(1000, {.sealable = true});
  gpu.upload(sealed, counting(1000));
  ASSERT_OK(gpu.seal(sealed).get());
  const auto shared = gpu.export_memory(x);
  ASSERT_OK(shared);
  ASSERT_OK(gpu.lend(x).get());
  void* const all =
      ::mmap(nullptr, shared->allocation_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared->descriptor.get(), 0);
  ASSERT_NE(all, MAP_FAILED);
  std::memset(all, 0xff, shared->allocation_bytes);
  ::munmap(all, shared->allocation_bytes);
  EXPECT_EQ(gpu.download(sealed).get().value(), counting(1000));
}

TEST(sharing, a_buffer_lies_in_imported_memory_in_every_worker) {
  for (const auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where}));
    file_descriptor fd = memory_with(100, 5);
    const file_descriptor mine(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    const auto x = gpu.import_memory<float>(
        {.descriptor = std::move(fd), .offset_bytes = 40, .bytes = 80, .allocation_bytes = 8192});
    ASSERT_TRUE(x.valid()) << x.cause()->to_string();
    EXPECT_EQ(gpu.statistics().memory.imported_bytes, 80u);
    EXPECT_EQ(gpu.download(x).get().value(), counting(20, 15));
    ASSERT_OK(gpu.ask(increment{.x = x, .n = 20}).get());
    float now = 0;
    ASSERT_EQ(::pread(mine.get(), &now, sizeof now, 40), 4);
    EXPECT_EQ(now, 16);
  }
}

TEST(sharing, imported_memory_is_there_after_a_restart) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.restarts = 2, .salvage = salvage::untouched}));
  const auto x = gpu.import_memory<float>(
      {.descriptor = memory_with(100, 5), .offset_bytes = 0, .bytes = 400, .allocation_bytes = 8192});
  EXPECT_EQ(gpu.download(x).get().value(), counting(100, 5));
  kill_and_wait(gpu);
  EXPECT_EQ(gpu.download(x).get().value(), counting(100, 5));
}

// Else no worker to come could map it for writing, and none would start.
TEST(sharing, whoever_made_imported_memory_cannot_close_it_to_workers_to_come) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.restarts = 2, .salvage = salvage::untouched}));
  file_descriptor fd = memory_with(100, 5);
  const file_descriptor mine(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  const auto x = gpu.import_memory<float>({.descriptor = std::move(fd), .bytes = 400, .allocation_bytes = 8192});
  ASSERT_OK(gpu.sync().get());
  EXPECT_NE(::fcntl(mine.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
  kill_worker(gpu);
  while (gpu.statistics().generation == 1 && !gpu.stopped().ready()) std::this_thread::yield();
  EXPECT_EQ(gpu.download(x).get().value(), counting(100, 5));
}

// They have the same mailbox, and whatever they ran would have been run before.
// Far more than its socket holds of messages while it starts.
TEST(sharing, a_worker_is_told_of_as_much_memory_as_there_is) {
  for (const isolation how : {isolation::process, isolation::thread})
    for (const std::uint32_t standbys : {0u, 1u}) {
      if (how == isolation::thread && standbys != 0) continue;
      runtime rt;
      const device gpu = rt.open_device(
          with_test_engines({.isolation = how, .standbys = standbys, .restarts = 20, .salvage = salvage::untouched}));
      std::vector<buffer<float>> all;
      for (int i = 0; i < 300; ++i)
        all.push_back(gpu.import_memory<float>({.descriptor = memory_with(10, static_cast<float>(i)),
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

TEST(sharing, a_worker_that_is_behind_is_told_of_all_memory_that_comes_and_goes) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  ASSERT_OK(gpu.sync().get());
  const int worker = gpu.statistics().worker_pid;
  const auto while_it_stands_still = [&](auto&& work) {  // for a moment, in which its socket is full
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
      all.push_back(gpu.import_memory<float>(
          {.descriptor = memory_with(10, static_cast<float>(i)), .bytes = 40, .allocation_bytes = 8192}));
  });
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(gpu.download(all[i]).get().value(), counting(10, static_cast<float>(i)));
  EXPECT_GE(seen(), 400);
  while_it_stands_still([&] { all.clear(); });
  EXPECT_TRUE(soon([&] { return seen() == 0; })) << seen();
  EXPECT_EQ(gpu.statistics().faults, 0u);
}

TEST(sharing, what_stands_by_runs_nothing_when_the_device_closes) {
  file_descriptor fd = memory_with(100, 5);
  const file_descriptor mine(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.standbys = 2, .restarts = 2}));
  const auto x = gpu.import_memory<float>({.descriptor = std::move(fd), .bytes = 400, .allocation_bytes = 8192});
  ASSERT_OK(gpu.fill(x, 7.f).get());
  while (gpu.statistics().standby_pids.size() != 2) std::this_thread::yield();
  float now = 9;
  ASSERT_EQ(::pwrite(mine.get(), &now, sizeof now, 0), 4);
  ASSERT_OK(gpu.close().get());
  ASSERT_EQ(::pread(mine.get(), &now, sizeof now, 0), 4);
  EXPECT_EQ(now, 9);
}

TEST(sharing, imported_memory_may_be_larger_than_the_devices_own) {
  constexpr std::uint64_t bytes = std::uint64_t{1} << 30;
  for (const auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where, .memory_limit = 64 << 20}));
    const auto x = gpu.import_memory<float>(
        {.descriptor = memory_of_others(bytes), .offset_bytes = bytes - 400, .bytes = 400, .allocation_bytes = bytes});
    ASSERT_TRUE(x.valid()) << x.cause()->to_string();
    ASSERT_OK(gpu.fill(x, 7.f).get());
    EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(100, 7.f));
  }
}

TEST(sharing, imported_memory_is_let_go_with_the_last_handle) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  for (int i = 0; i < 200; ++i) {
    const auto x = gpu.import_memory<float>(
        {.descriptor = memory_with(10, static_cast<float>(i)), .bytes = 40, .allocation_bytes = 8192});
    EXPECT_EQ(gpu.download(x).get().value(), counting(10, static_cast<float>(i)));
  }
  EXPECT_EQ(gpu.statistics().memory.imported_bytes, 0u);
  EXPECT_EQ(gpu.statistics().generation, 1u);
}

TEST(sharing, what_one_device_exports_another_imports) {
  runtime rt;
  const device one = rt.open_device(with_test_engines()), two = rt.open_device(with_test_engines());
  const auto x = one.alloc<float>(10);
  one.upload(x, counting(10));
  ASSERT_OK(one.lend(x).get());
  const auto y = two.import_memory<float>(one.export_memory(x).value());
  ASSERT_OK(two.ask(increment{.x = y, .n = 10}).get());
  ASSERT_OK(one.take_back(x).get());
  EXPECT_EQ(one.download(x).get().value(), counting(10, 1));
}

// A worker that tried would end, and all that it holds with it.
TEST(sharing, what_cannot_be_imported_is_refused_with_the_reason_and_harms_nobody) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto why = [&](shared_memory m) {
    const auto cause = gpu.import_memory<float>(std::move(m)).cause();
    return cause ? *cause : error(reaction::fatal, "test", "it was taken");
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
                       reaction::caller_bug, {"at a multiple of 4"}));
  EXPECT_TRUE(is_error(why({.descriptor = memory_with(1, 0, F_SEAL_SEAL), .bytes = 4, .allocation_bytes = 8192}),
                       reaction::caller_bug, {"sealed size", "F_ADD_SEALS"}));
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

TEST(sharing, a_worker_that_is_a_thread_works_in_the_programs_own_memory) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  std::vector<float> mine = counting(10);
  auto share = std::make_shared<int>(0);
  {
    const auto x = gpu.adopt_memory(mine.data() + 2, 5, share);
    ASSERT_TRUE(x.valid());
    EXPECT_EQ(share.use_count(), 2);
    EXPECT_OK(gpu.ask(increment{.x = x.slice(1, 4), .n = 4}).get());
    EXPECT_TRUE(is_error(error_of(gpu.export_memory(x)), reaction::unsupported, {"has no descriptor"}));
  }
  EXPECT_OK(gpu.sync().get());
  EXPECT_TRUE(soon([&] { return share.use_count() == 1; }));
  EXPECT_EQ(mine, (std::vector<float>{0, 1, 2, 4, 5, 6, 7, 7, 8, 9}));
}

TEST(sharing, memory_that_was_adopted_is_not_let_go_while_a_thread_may_still_write_it) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  std::array<std::atomic<std::uint32_t>, 2> gate{};
  auto share = std::make_shared<int>(0);
  {
    const auto x = gpu.adopt_memory(reinterpret_cast<std::uint32_t*>(gate.data()), 2, share);
    EXPECT_TRUE(is_error(error_of(gpu.ask(hold{.gate = x}, {.run_timeout = 50ms})), reaction::context_lost, {}));
    EXPECT_EQ(gate[entered], 1u);
  }
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(share.use_count(), 2) << "the thread is still in there";
  gate[testing_actor::open] = 1;
  EXPECT_TRUE(soon([&] { return share.use_count() == 1; }));
}

TEST(sharing, who_waits_for_an_answer_lets_go_of_nothing_that_needs_locks) {
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
    gpu.tell(increment{.x = gpu.adopt_memory(mine.data(), 10, std::move(keep)), .n = 10});
    waiting = true;
    EXPECT_OK(gpu.ping(1).get());
    waiting = false;
  }
  EXPECT_OK(gpu.sync().get());
  EXPECT_TRUE(soon([&] { return gone == 100; }));
  EXPECT_EQ(here, 0);
}

TEST(sharing, a_worker_that_is_a_process_says_what_would_work_instead) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  std::vector<float> mine(10);
  EXPECT_TRUE(is_error(*gpu.adopt_memory(mine.data(), 10, nullptr).cause(), reaction::unsupported,
                       {"another process", "isolation::thread", "upload", "import_memory"}));
}

using dlpack::abi::managed_tensor;
using dlpack::abi::managed_tensor_versioned;

managed_tensor_versioned& look(DLManagedTensorVersioned* t) { return *reinterpret_cast<managed_tensor_versioned*>(t); }

TEST(dlpack, a_buffer_of_the_host_is_a_tensor_of_this_process) {
  for (const auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where}));
    auto x = gpu.alloc<float>(100).slice(10, 24);
    gpu.upload(x, counting(24));
    const auto lent = dlpack::to_dlpack(gpu, x, {.shape = {2, 3, 4}}).get();
    ASSERT_OK(lent);
    DLManagedTensorVersioned* const raw = lent->managed();
    managed_tensor_versioned& t = look(raw);
    EXPECT_EQ(t.version.major, 1u);
    EXPECT_EQ(t.flags, 0u);
    EXPECT_EQ(t.tensor.device.type, 1);
    EXPECT_EQ(t.tensor.type.code, 2);
    EXPECT_EQ(t.tensor.type.bits, 32);
    EXPECT_EQ(t.tensor.type.lanes, 1);
    ASSERT_EQ(t.tensor.dimensions, 3);
    EXPECT_EQ(std::vector<std::int64_t>(t.tensor.shape, t.tensor.shape + 3), (std::vector<std::int64_t>{2, 3, 4}));
    EXPECT_EQ(std::vector<std::int64_t>(t.tensor.strides, t.tensor.strides + 3), (std::vector<std::int64_t>{12, 4, 1}));
    auto* const theirs = static_cast<float*>(t.tensor.data);
    EXPECT_EQ(theirs[23], 23);
    theirs[5] = -5;
    ASSERT_OK(gpu.take_back(x).get());
    EXPECT_EQ(gpu.download(x).get().value()[5], -5);
    t.deleter(&t);
  }
}

TEST(dlpack, the_memory_lives_as_long_as_a_receiver_has_it) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  auto x = gpu.alloc<double>(10);
  auto lent = dlpack::to_dlpack(gpu, x).get();
  auto& one = look(lent->managed());
  auto& two = *reinterpret_cast<managed_tensor*>(lent->managed_unversioned());
  *lent = {};
  x = {};
  const auto used = [&] { return gpu.statistics().memory.live_buffers; };
  EXPECT_EQ(used(), 1u);
  static_cast<double*>(one.tensor.data)[9] = 4;
  EXPECT_EQ(static_cast<double*>(two.tensor.data)[9], 4);
  one.deleter(&one);
  EXPECT_EQ(used(), 1u);
  two.deleter(&two);
  EXPECT_EQ(used(), 0u);
}

TEST(dlpack, a_tensor_outlives_its_device_whatever_its_worker_was) {
  for (const isolation how : {isolation::process, isolation::thread}) {
    result<dlpack::tensor> lent = error(reaction::fatal, "test", "not lent");
    {
      runtime rt;
      const device gpu = rt.open_device({.isolation = how});
      const auto x = gpu.alloc<float>(3);
      ASSERT_OK(gpu.upload(x, counting(3)).get());
      lent = dlpack::to_dlpack(gpu, x).get();
      ASSERT_OK(lent);
    }
    auto& theirs = look(lent->managed());
    auto* const data = static_cast<float*>(theirs.tensor.data);
    EXPECT_EQ(data[2], 2.f);
    data[2] = 7;
    theirs.deleter(&theirs);
  }
}

TEST(dlpack, a_host_buffer_is_a_tensor_at_once) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto h = gpu.alloc_host<complex64>(6);
  const auto lent = dlpack::to_dlpack(h, {.shape = {2, 2}, .strides = {1, 3}});
  ASSERT_OK(lent);
  auto& t = look(lent->managed());
  EXPECT_EQ(t.tensor.data, h.data());
  EXPECT_EQ(t.tensor.type.code, 5);
  EXPECT_EQ(t.tensor.type.bits, 64);
  EXPECT_EQ(t.tensor.strides[1], 3);
  t.deleter(&t);
}

TEST(dlpack, what_is_sealed_is_lent_for_reading_only) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = gpu.alloc<float>(10, {.sealable = true});
  gpu.upload(x, counting(10));
  ASSERT_OK(gpu.seal(x).get());
  const auto lent = dlpack::to_dlpack(gpu, x).get();
  ASSERT_OK(lent);
  auto& t = look(lent->managed());
  EXPECT_EQ(t.flags, dlpack::abi::read_only);
  EXPECT_EQ(static_cast<const float*>(t.tensor.data)[9], 9);
  EXPECT_EQ(lent->managed_unversioned(), nullptr);
  t.deleter(&t);
  EXPECT_TRUE(x.sealed());
}

TEST(dlpack, what_a_receiver_can_write_is_not_sealed_before_it_has_let_go) {
  for (const auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where}));
    const auto x = gpu.alloc<float>(10, {.sealable = true});
    gpu.upload(x, counting(10));
    auto lent = dlpack::to_dlpack(gpu, x).get();
    ASSERT_OK(lent);
    auto& t = look(lent->managed());
    *lent = {};
    static_cast<float*>(t.tensor.data)[9] = -9;
    ASSERT_OK(gpu.take_back(x).get());
    EXPECT_TRUE(is_error(error_of(gpu.seal(x)), reaction::caller_bug, {"can write", "to_dlpack", "copy"}));
    EXPECT_FALSE(x.sealed());
    t.deleter(&t);
    ASSERT_OK(gpu.seal(x).get());
    EXPECT_EQ(gpu.download(x).get().value()[9], -9);
  }
}

TEST(sharing, an_address_that_can_be_written_puts_off_the_seal_and_one_of_what_is_sealed_cannot) {
  for (const auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.isolation = where}));
    const auto x = gpu.alloc<float>(10, {.zeroed = true, .sealable = true});
    ASSERT_OK(gpu.lend(x).get());
    {
      const auto at = gpu.address(x);
      ASSERT_OK(at);
      EXPECT_FALSE(at->read_only);
      *reinterpret_cast<float*>(at->data) = 5;
      EXPECT_TRUE(is_error(error_of(gpu.seal(x)), reaction::caller_bug, {"address()"}));
    }
    ASSERT_OK(gpu.seal(x).get());
    const auto at = gpu.address(x);
    ASSERT_OK(at);
    EXPECT_TRUE(at->read_only);
    EXPECT_EQ(*reinterpret_cast<const float*>(at->data), 5);
    EXPECT_TRUE(x.sealed());
  }
}

TEST(dlpack, a_layout_that_does_not_fit_the_buffer_is_refused) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = gpu.alloc<float>(24, {.zeroed = true});
  const auto why = [&](dlpack::layout how) { return error_of(dlpack::to_dlpack(gpu, x, std::move(how))); };
  EXPECT_TRUE(is_error(why({.shape = {5, 5}}), reaction::caller_bug, {"{5, 5}", "25 elements", "24"}));
  EXPECT_TRUE(is_error(why({.shape = {2, 2}, .strides = {23, 1}}), reaction::caller_bug, {"25 elements"}));
  EXPECT_TRUE(is_error(why({.shape = {2, 2}, .strides = {-1, 1}}), reaction::caller_bug, {"below 0"}));
  EXPECT_TRUE(is_error(why({.shape = {2, 0}}), reaction::caller_bug, {"at least 1 element"}));
  EXPECT_TRUE(is_error(why({.shape = {2, 2}, .strides = {1}}), reaction::caller_bug, {"2 dimensions and 1 strides"}));
  EXPECT_TRUE(is_error(why({.shape = {INT64_MAX, INT64_MAX}}), reaction::caller_bug, {"64 bits"}));
  EXPECT_TRUE(
      is_error(error_of(dlpack::to_dlpack(gpu, gpu.alloc<float4_e2m1>(2))), reaction::unsupported, {"float4_e2m1x2"}));
  EXPECT_TRUE(is_error(error_of(dlpack::to_dlpack(gpu, buffer<float>())), reaction::caller_bug, {"empty"}));
}

// A tensor of another library.
struct foreign {
  explicit foreign(std::vector<std::int64_t> extents) : shape(std::move(extents)) {
    t.version = {1, 3};
    t.manager = this;
    t.deleter = [](managed_tensor_versioned* self) { ++static_cast<foreign*>(self->manager)->deleted; };
    t.tensor = {.data = values.data(),
                .device = {1, 0},
                .dimensions = static_cast<std::int32_t>(shape.size()),
                .type = {2, 32, 1},
                .shape = shape.data(),
                .strides = nullptr,
                .byte_offset = 0};
  }
  DLManagedTensorVersioned* raw() { return reinterpret_cast<DLManagedTensorVersioned*>(&t); }

  std::vector<float> values = counting(100);
  std::vector<std::int64_t> shape, strides;
  managed_tensor_versioned t{};
  int deleted = 0;
};

TEST(dlpack, a_worker_that_is_a_thread_works_in_a_tensor_and_gives_it_back) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  foreign f({3, 5});
  f.strides = {20, 2};
  f.t.tensor.strides = f.strides.data();
  f.t.tensor.byte_offset = 8;
  {
    const auto got = dlpack::from_dlpack<float>(gpu, f.raw());
    ASSERT_OK(got);
    EXPECT_EQ(got->data.size(), extent(49));
    EXPECT_EQ(got->layout.shape, f.shape);
    EXPECT_EQ(got->layout.strides, f.strides);
    EXPECT_OK(gpu.ask(increment{.x = got->data, .n = 1}).get());
    EXPECT_EQ(gpu.download(got->data).get().value()[48], 50);
    EXPECT_EQ(f.deleted, 0);
  }
  EXPECT_OK(gpu.sync().get());
  EXPECT_EQ(f.values[2], 3);
  EXPECT_EQ(f.deleted, 1);
}

TEST(dlpack, a_tensor_that_is_refused_stays_the_callers) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.isolation = isolation::thread})),
               apart = rt.open_device(with_test_engines());
  foreign f({10});
  const auto why = [&](auto&& change, const device& on) {
    const managed_tensor_versioned before = f.t;
    change(f.t);
    const error e = error_of(dlpack::from_dlpack<float>(on, f.raw()));
    f.t = before;
    return e;
  };
  const auto as_is = [](auto&) {};
  EXPECT_TRUE(is_error(why(as_is, apart), reaction::unsupported, {"another process", "isolation::thread"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.type.bits = 64; }, gpu), reaction::caller_bug,
                       {"code 2 with 64 bits", "expected code 2 with 32 bits", "f32"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.type.lanes = 4; }, gpu), reaction::caller_bug, {"4 lanes"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.device.type = 2; }, gpu), reaction::unsupported,
                       {"device 2:0", "kDLCPU", "upload"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.version.major = 2; }, gpu), reaction::unsupported, {"DLPack 2.3"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.flags = 1; }, gpu), reaction::unsupported, {"read-only"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.byte_offset = 2; }, gpu), reaction::caller_bug, {"multiple of 4"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.dimensions = -1; }, gpu), reaction::caller_bug, {"-1 dimensions"}));
  EXPECT_TRUE(is_error(why([](auto& t) { t.tensor.shape = nullptr; }, gpu), reaction::caller_bug, {"with a shape"}));
  EXPECT_TRUE(is_error(why([&](auto&) { f.shape[0] = 0; }, gpu), reaction::caller_bug, {"at least 1 element"}));
  EXPECT_EQ(f.deleted, 0);
}

TEST(dlpack, tensors_of_before_version_1_and_scalars_are_borrowed_too) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  float one = 7;
  static int deleted;
  deleted = 0;
  managed_tensor t{};
  t.tensor = {.data = &one,
              .device = {1, 0},
              .dimensions = 0,
              .type = {2, 32, 1},
              .shape = nullptr,
              .strides = nullptr,
              .byte_offset = 0};
  t.deleter = [](managed_tensor*) { ++deleted; };
  {
    const auto got = dlpack::from_dlpack<float>(gpu, reinterpret_cast<DLManagedTensor*>(&t));
    ASSERT_OK(got);
    EXPECT_EQ(gpu.download(got->data).get().value(), std::vector<float>{7});
  }
  EXPECT_OK(gpu.sync().get());
  EXPECT_EQ(deleted, 1);
}

}  // namespace
}  // namespace troupe::whole
