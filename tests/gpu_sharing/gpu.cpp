// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What a device on a GPU shares with CUDA code beside it, and what it reports about the GPU, compared with the driver's
// own figures.
#include <cuda.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <tests/support/devices.hpp>
#include <tests/support/gpu.hpp>
#include <troupe/device/managed.hpp>
#include <troupe/device/sharing.hpp>
#include <troupe/events/events.hpp>
#include <troupe/interop/abi.hpp>
#include <troupe/interop/dlpack.hpp>
#include <troupe/jit/jit.hpp>

namespace troupe {
namespace {

using namespace whole;

constexpr std::uint64_t granule = 2 << 20;

// Opens a descriptor as another program does.
class opened {
 public:
  opened(const shared_memory& m, CUdevice device) : bytes_(m.allocation_bytes) {
    CUmemGenericAllocationHandle handle = 0;
    must(::cuMemImportFromShareableHandle(&handle,
                                          reinterpret_cast<void*>(static_cast<std::uintptr_t>(m.descriptor.get())),
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    must(::cuMemAddressReserve(&base_, bytes_, 0, 0, 0));
    must(::cuMemMap(base_, bytes_, 0, handle, 0));
    must(::cuMemRelease(handle));
    CUmemAccessDesc access{};
    access.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    must(::cuMemSetAccess(base_, bytes_, &access, 1));
    at = base_ + m.offset_bytes;
  }
  ~opened() {
    (void)::cuMemUnmap(base_, bytes_);
    (void)::cuMemAddressFree(base_, bytes_);
  }
  opened(const opened&) = delete;
  CUdeviceptr at = 0;

 private:
  CUdeviceptr base_ = 0;
  std::uint64_t bytes_;
};

class sharing_with_cuda : public testing::Test {
 protected:
  void SetUp() override {
    must(::cuInit(0));
    must(::cuDeviceGet(&device_, 0));
    must(::cuDevicePrimaryCtxRetain(&context_, device_));
    must(::cuCtxSetCurrent(context_));
  }
  void TearDown() override { (void)::cuDevicePrimaryCtxRelease(device_); }

  device open(isolation where = isolation::process, device_options o = {}) {
    o.engine = "cuda";
    o.isolation = where;
    return runtime_.open_device(std::move(o));
  }
  file_descriptor made(std::uint64_t bytes, const std::vector<float>& content) {
    CUmemAllocationProp p{};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device_};
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle handle = 0;
    must(::cuMemCreate(&handle, bytes, &p, 0));
    int fd = -1;
    must(::cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    must(::cuMemRelease(handle));
    const opened here({.descriptor = file_descriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0)),
                       .form = memory_form::cuda,
                       .bytes = bytes,
                       .allocation_bytes = bytes},
                      device_);
    must(::cuMemcpyHtoD(here.at, content.data(), content.size() * sizeof(float)));
    must(::cuCtxSynchronize());
    return file_descriptor(fd);
  }

  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  runtime runtime_;
};

TEST_F(sharing_with_cuda, exports_memory_that_cuda_maps_reads_and_writes) {
  const device gpu = open();
  const auto all = gpu.alloc<float>(1000), x = all.slice(100, 50);
  gpu.upload(all, counting(1000));
  const auto shared = export_memory(gpu, x);
  ASSERT_TRUE(shared) << error_text(shared);
  EXPECT_EQ(shared->form, memory_form::cuda);
  ASSERT_EQ(error_text(lend(gpu, x).get()), "");
  const opened theirs(*shared, device_);
  std::vector<float> seen(50);
  must(::cuMemcpyDtoH(seen.data(), theirs.at, 200));
  EXPECT_EQ(seen, counting(50, 100));
  const float one = -1;
  must(::cuMemcpyHtoD(theirs.at + 12, &one, 4));
  must(::cuCtxSynchronize());
  ASSERT_EQ(error_text(take_back(gpu, x).get()), "");
  EXPECT_EQ(gpu.download(x).get().value()[3], -1);
  EXPECT_EQ(gpu.download(all).get().value()[99], 99);
}

TEST_F(sharing_with_cuda, keeps_imported_memory_across_a_restart) {
  const device gpu = open(isolation::process, {.salvage = salvage::untouched});
  const auto x = import_memory<float>(gpu, {.descriptor = made(2 * granule, counting(1000)),
                                            .form = memory_form::cuda,
                                            .offset_bytes = 40,
                                            .bytes = 400,
                                            .allocation_bytes = 2 * granule});
  ASSERT_TRUE(x.readable()) << x.cause()->to_string();
  EXPECT_EQ(gpu.download(x).get().value(), counting(100, 10));
  ASSERT_EQ(::kill(gpu.statistics().worker_pid.value(), SIGKILL), 0);
  while (gpu.statistics().generation == 1) std::this_thread::yield();
  const auto again = gpu.download(x).get();
  ASSERT_TRUE(again) << error_text(again);
  EXPECT_EQ(*again, counting(100, 10));
}

TEST_F(sharing_with_cuda, refuses_invalid_imports_without_losing_the_worker) {
  const device gpu = open();
  ASSERT_EQ(error_text(gpu.ping(1).get()), "");
  const auto why = [&](shared_memory m) {
    m.form = memory_form::cuda;
    m.bytes = 4;
    const auto cause = import_memory<float>(gpu, std::move(m)).cause();
    return cause ? cause->to_string() : "it was taken";
  };
  EXPECT_NE(why({.descriptor = file_descriptor(::open("/dev/zero", O_RDWR | O_CLOEXEC)), .allocation_bytes = granule})
                .find("a device like /dev/zero"),
            std::string::npos);
  EXPECT_NE(why({.descriptor = made(granule, {1}), .allocation_bytes = 4 * granule}).find("cuMemMap"),
            std::string::npos);
  EXPECT_NE(why({.descriptor = made(granule, {1}), .allocation_bytes = 5000}).find("2 MiB"), std::string::npos);
  EXPECT_EQ(error_text(gpu.ping(1).get()), "");
  EXPECT_EQ(gpu.statistics().generation, 1u);
}

TEST_F(sharing_with_cuda, shares_pointers_with_a_worker_thread) {
  const device gpu = open(isolation::thread);
  CUdeviceptr mine = 0;
  must(::cuMemAlloc(&mine, 4000));
  const auto values = counting(1000);
  must(::cuMemcpyHtoD(mine, values.data(), 4000));
  must(::cuCtxSynchronize());
  {
    const auto x = adopt_memory(gpu, reinterpret_cast<float*>(mine), 1000, nullptr);
    EXPECT_EQ(gpu.download(x).get().value(), values);
    ASSERT_EQ(error_text(gpu.fill(x.slice(10, 5), 7).get()), "");
  }
  float seen = 0;
  must(::cuMemcpyDtoH(&seen, mine + 4 * 12, 4));
  EXPECT_EQ(seen, 7);

  const auto y = gpu.alloc<float>(10);
  gpu.upload(y, counting(10, 3));
  ASSERT_EQ(error_text(lend(gpu, y).get()), "");
  const auto at = address(gpu, y);
  ASSERT_TRUE(at) << error_text(at);
  EXPECT_TRUE(at->on_gpu);
  must(::cuMemcpyDtoH(&seen, reinterpret_cast<CUdeviceptr>(at->data) + 36, 4));
  EXPECT_EQ(seen, 12);
  EXPECT_EQ(error_text(gpu.close().get()), "");
  must(::cuMemFree(mine));
}

TEST_F(sharing_with_cuda, shares_tensors_both_ways_with_a_worker_thread) {
  const device gpu = open(isolation::thread), apart = open();
  const auto x = gpu.alloc<float>(12);
  gpu.upload(x, counting(12));
  const auto lent = dlpack::to_dlpack(gpu, x, {.shape = {3, 4}}).get();
  ASSERT_TRUE(lent) << error_text(lent);
  DLManagedTensorVersioned* const raw = lent->managed();
  auto& t = *reinterpret_cast<dlpack::abi::managed_tensor_versioned*>(raw);
  EXPECT_EQ(t.tensor.device.type, dlpack::abi::cuda);
  EXPECT_EQ(t.tensor.device.id, 0);
  float seen = 0;
  must(::cuMemcpyDtoH(&seen, reinterpret_cast<CUdeviceptr>(t.tensor.data) + 44, 4));
  EXPECT_EQ(seen, 11);
  {
    const auto back = dlpack::from_dlpack<float>(gpu, raw);
    ASSERT_TRUE(back) << error_text(back);
    EXPECT_EQ(gpu.download(back->data).get().value(), counting(12));
  }
  const auto z = apart.alloc<float>(12, {.zeroed = true});
  EXPECT_EQ(dlpack::to_dlpack(apart, z).get().error().reaction(), reaction::unsupported);
}

TEST_F(sharing_with_cuda, reports_the_drivers_figures_in_statistics) {
  const device gpu = open();
  ASSERT_EQ(error_text(gpu.started().get()), "");
  char name[128] = "", bus[32] = "";
  int major = 0, processors = 0;
  must(::cuDeviceGetName(name, sizeof name, device_));
  must(::cuDeviceGetPCIBusId(bus, sizeof bus, device_));
  must(::cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_));
  must(::cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_));
  // Other programs may use the GPU at the same time: the device's figure must be between the driver's figures before
  // and after, at a moment when the others allocate and free little.
  const auto compare = [&] {
    constexpr std::size_t close = std::size_t{64} << 20;
    std::size_t before = 0, after = 0, total = 0;
    device_hardware h;
    for (int attempt = 0; attempt < 3000; ++attempt) {
      must(::cuMemGetInfo(&before, &total));
      std::this_thread::sleep_for(20ms);  // longer than a figure counts as current
      h = gpu.statistics().hardware;
      must(::cuMemGetInfo(&after, &total));
      const auto [least, most] = std::minmax(before, after);
      if (most - least <= close && h.free_bytes + close >= least && h.free_bytes <= most + close) break;
    }
    EXPECT_GE(h.free_bytes + close, std::min(before, after));
    EXPECT_LE(h.free_bytes, std::max(before, after) + close);
    EXPECT_LE(std::max(before, after) - std::min(before, after), close)
        << "other programs never stopped allocating and freeing memory";
    EXPECT_GE(h.total_bytes, total);
    return h;
  };
  const device_hardware h = compare();
  EXPECT_EQ(h.model, name);
  EXPECT_EQ(h.pci, bus);
  EXPECT_EQ(h.capability_major, static_cast<std::uint32_t>(major));
  EXPECT_EQ(h.processors, static_cast<std::uint32_t>(processors));
  // Memory that another program allocates is visible too; tries again if others have freed as much meanwhile.
  bool seen = false;
  for (int attempt = 0; attempt < 5 && !seen; ++attempt) {
    const std::uint64_t before = compare().free_bytes;
    CUdeviceptr taken = 0;
    must(::cuMemAlloc(&taken, std::size_t{1} << 30));
    seen = compare().free_bytes + (std::uint64_t{900} << 20) < before;
    must(::cuMemFree(taken));
  }
  EXPECT_TRUE(seen);
}

constexpr const char* busy_source = R"(
__global__ void busy(long long ns, int* done) {
  long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - begin < ns);
  if (threadIdx.x == 0 && blockIdx.x == 0) *done = 1;
}
)";

// Keeps a device busy for a given time, in a kernel that is already loaded.
struct busy_kernel {
  explicit busy_kernel(const device& on)
      : gpu(on), program(jit::compile(on, {.source = busy_source})), written(on.alloc<int>(1, {.zeroed = true})) {
    EXPECT_EQ(error_text(run(1ns).get()), "");
  }
  pending<void> run(std::chrono::nanoseconds time) const {
    return gpu.ask(jit::launch{.kernel = program.kernel("busy"),
                               .grid = 1,
                               .block = 1,
                               .arguments = {std::int64_t{time.count()}, inout(written)}});
  }
  device gpu;
  jit::program program;
  buffer<int> written;
};

TEST_F(sharing_with_cuda, measures_time_on_the_gpu_by_events) {
  const device gpu = open();
  const busy_kernel busy(gpu);
  const events::event before(gpu), after(gpu);
  (void)before.record(busy.written);
  (void)busy.run(5ms);
  (void)after.record(busy.written);
  EXPECT_FALSE(after.query()) << "the kernel takes 5 ms";
  const auto took = elapsed(before, after).get();
  ASSERT_TRUE(took) << error_text(took);
  EXPECT_GE(*took, 5ms);
  EXPECT_LT(*took, 7ms);
  EXPECT_TRUE(after.query());
}

// Opens an event as another process would.
events::event opened_on(const device& other, const events::event& e) {
  const auto handle = e.handle().get();
  EXPECT_TRUE(handle) << error_text(handle);
  return events::event::open(other, handle ? *handle : events::event_handle{});
}

TEST_F(sharing_with_cuda, waits_for_an_event_of_another_process) {
  const device one = open(), two = open();
  const events::event e(one, {.inter_process = true});
  ASSERT_EQ(error_text(e.record().get()), "");
  const events::event theirs = opened_on(two, e);
  EXPECT_EQ(error_text(theirs.reached().get()), "");
  const events::event plain(one);
  ASSERT_EQ(error_text(plain.record().get()), "");
  EXPECT_EQ(plain.handle().get().error().reaction(), reaction::caller_bug);
  EXPECT_EQ(elapsed(e, plain).get().error().reaction(), reaction::caller_bug);
}

TEST_F(sharing_with_cuda, shares_an_event_before_it_is_recorded) {
  const device one = open(), two = open();
  const events::event e(one, {.inter_process = true});
  const auto handle = e.handle().get();
  ASSERT_TRUE(handle) << error_text(handle);
  EXPECT_NE(error_text(e.reached().get()).find("never recorded"), std::string::npos);
  EXPECT_FALSE(e.query() || e.enqueued());
  const events::event theirs = events::event::open(two, *handle);
  EXPECT_EQ(error_text(theirs.reached().get()), "");
  EXPECT_EQ(error_text(e.record().get()), "");
  EXPECT_EQ(error_text(e.reached().get()), "");
  EXPECT_EQ(theirs.handle().get().value(), *handle);
  EXPECT_EQ(e.handle().get().value(), *handle) << "the handle is of the same event";
}

TEST_F(sharing_with_cuda, holds_back_another_process_by_an_enqueued_event) {
  const device one = open(), two = open();
  const busy_kernel busy(one);
  const events::event e(one, {.inter_process = true});
  const events::event theirs = opened_on(two, e);
  const auto x = two.alloc<float>(1, {.zeroed = true});
  ASSERT_EQ(error_text(theirs.hold_back(x).get()), "") << "everything is loaded";
  for (int round = 0; round < 3; ++round) {
    const auto begun = std::chrono::steady_clock::now();
    (void)busy.run(1s);
    const pending<void> recorded = e.record(busy.written);
    while (!e.enqueued() && !recorded.ready()) std::this_thread::yield();
    ASSERT_TRUE(e.enqueued());
    EXPECT_FALSE(e.query()) << "the kernel takes a second";
    (void)theirs.hold_back(x);
    const auto content = two.download(x).get();
    EXPECT_TRUE(content) << error_text(content);
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 990ms) << "round " << round;
  }
}

TEST_F(sharing_with_cuda, shows_a_recording_of_an_opened_event_to_its_owner) {
  const device one = open(), two = open();
  const events::event e(one, {.inter_process = true});
  ASSERT_EQ(error_text(e.record().get()), "");
  const events::event theirs = opened_on(two, e);
  const busy_kernel busy(two);
  const auto begun = std::chrono::steady_clock::now();
  (void)busy.run(1s);
  const pending<void> recorded = theirs.record(busy.written);
  while (!theirs.enqueued() && !recorded.ready()) std::this_thread::yield();
  ASSERT_TRUE(theirs.enqueued());
  EXPECT_FALSE(theirs.query());
  EXPECT_EQ(error_text(e.reached().get()), "");
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 990ms);
}

TEST_F(sharing_with_cuda, reopens_an_opened_event_after_a_restart) {
  const device one = open(), two = open(isolation::process, {.salvage = salvage::untouched});
  const events::event e(one, {.inter_process = true});
  const auto handle = e.handle().get();
  ASSERT_TRUE(handle) << error_text(handle);
  const events::event theirs = events::event::open(two, *handle);
  ASSERT_EQ(error_text(theirs.reached().get()), "");
  ASSERT_EQ(::kill(two.statistics().worker_pid.value(), SIGKILL), 0);
  while (two.statistics().generation == 1) std::this_thread::yield();
  for (int i = 0; i < 2; ++i) {
    const auto refused = theirs.record().get();
    ASSERT_FALSE(refused) << "the recording went to a new event";
    EXPECT_EQ(refused.error().reaction(), reaction::context_lost);
    EXPECT_NE(error_text(refused).find("open it again"), std::string::npos) << error_text(refused);
  }
  const events::event again = events::event::open(two, *handle);
  EXPECT_EQ(error_text(again.record().get()), "");
  EXPECT_EQ(error_text(again.reached().get()), "");
}

TEST_F(sharing_with_cuda, refuses_to_record_an_invalid_event_handle) {
  const device gpu = open();
  const events::event theirs = events::event::open(gpu, {});
  for (int i = 0; i < 2; ++i) {
    const auto refused = theirs.record().get();
    ASSERT_FALSE(refused) << "the recording went to a new event";
    EXPECT_NE(error_text(refused).find("cuIpcOpenEventHandle"), std::string::npos) << error_text(refused);
    EXPECT_NE(error_text(refused).find("open it again"), std::string::npos) << error_text(refused);
  }
}

TEST_F(sharing_with_cuda, shares_an_event_again_after_a_restart) {
  const device one = open(isolation::process, {.salvage = salvage::untouched}), two = open();
  const events::event e(one, {.inter_process = true});
  ASSERT_EQ(error_text(e.record().get()), "");
  ASSERT_EQ(::kill(one.statistics().worker_pid.value(), SIGKILL), 0);
  while (one.statistics().generation == 1) std::this_thread::yield();
  const auto handle = e.handle().get();
  ASSERT_TRUE(handle) << error_text(handle);
  EXPECT_EQ(e.reached().get().error().reaction(), reaction::context_lost) << "the recording is stale anyway";
  const events::event theirs = events::event::open(two, *handle);
  EXPECT_EQ(error_text(theirs.reached().get()), "");
  EXPECT_EQ(error_text(e.record().get()), "");
  EXPECT_EQ(error_text(e.reached().get()), "");
}

TEST_F(sharing_with_cuda, does_not_confuse_an_event_with_a_later_one_in_its_memory) {
  for (const isolation where : {isolation::process, isolation::thread}) {
    // As many as busy_kernel needs at once, and one more.
    const device gpu = open(where, {.mailbox_capacity = 4, .when_full = when_full::refuse});
    const busy_kernel busy(gpu);
    std::optional<events::event> before(gpu);
    ASSERT_EQ(error_text(before->record().get()), "");
    std::vector<pending<void>> going;
    for (int i = 0; i < 4; ++i) going.push_back(busy.run(250ms));
    before.reset();
    const auto full = gpu.ping(1).get();
    ASSERT_FALSE(full) << "the mailbox should be full";
    ASSERT_EQ(full.error().reaction(), reaction::retry_later);
    for (pending<void>& one : going) EXPECT_EQ(error_text(one.get()), "");
    for (int i = 0; i < 10; ++i) {
      const events::event next(gpu);
      EXPECT_NE(error_text(next.reached().get()).find("never recorded"), std::string::npos) << i;
    }
  }
}

TEST_F(sharing_with_cuda, lets_high_priority_overtake_waiting_kernels) {
  const device gpu = open();
  const jit::program program = jit::compile(gpu, {.source = busy_source});
  const auto flags = gpu.alloc<int>(64, {.zeroed = true});
  const auto launch = [&](int i, std::int64_t ns, extent blocks) {
    return jit::launch{
        .kernel = program.kernel("busy"), .grid = blocks, .block = 1024, .arguments = {ns, inout(flags.slice(i, 1))}};
  };
  ASSERT_EQ(error_text(gpu.ask(launch(0, 1, 1)).get()), "");
  // Each launch fills the GPU several times over.
  std::vector<pending<void>> low;
  for (int i = 1; i < 20; ++i) low.push_back(gpu.ask(launch(i, 1'000'000, 4000), {.priority = priority::low}));
  const auto urgent = gpu.ask(launch(40, 1'000'000, 100), {.priority = priority::high}).get();
  EXPECT_EQ(error_text(urgent), "");
  EXPECT_FALSE(low.back().ready()) << "the urgent launch waited for all others";
  for (auto& p : low) EXPECT_EQ(error_text(p.get()), "");
  int lowest = 0, highest = 0;
  must(::cuCtxGetStreamPriorityRange(&lowest, &highest));
  for (const lane_statistics& l : gpu.statistics().lanes) {
    if (l.purpose != lane_purpose::high && l.purpose != lane_purpose::low) continue;
    EXPECT_EQ(l.priority, l.purpose == lane_purpose::high ? highest : lowest);
  }
}

}  // namespace
}  // namespace troupe
