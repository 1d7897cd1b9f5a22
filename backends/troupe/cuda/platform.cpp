// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The platform plug-in for NVIDIA GPUs, on the driver API.
#include <cuda.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/access.hpp>
#include <troupe/cuda/descriptors.hpp>
#include <troupe/protocol/descriptions/gpu_description.hpp>
#include <troupe/worker/plugins/platform.hpp>

namespace troupe::cuda {
namespace {

constexpr int oldest_driver = 12080;
// Every GPU so far allocates device memory in multiples of this. The application relies on it for its segments and
// seals.
constexpr std::size_t granule = std::size_t{2} << 20;
constexpr std::uint64_t page = 4096;

error unsupported(std::string text) {
  return error(error::details{.reaction = reaction::unsupported, .domain = "cuda", .text = std::move(text)});
}

CUdeviceptr pointer(std::uint64_t address) noexcept { return static_cast<CUdeviceptr>(address); }
CUstream as_stream(void* s) noexcept { return static_cast<CUstream>(s); }
CUdeviceptr pointer(std::atomic<std::uint64_t>& word) noexcept { return reinterpret_cast<CUdeviceptr>(&word); }

class gpu final : public platform {
 public:
  static result<std::unique_ptr<platform>> make(const platform_options& o);
  ~gpu() override {
    // With isolation::thread, the worker's thread ends while its process continues.
    (void)::cuCtxSetCurrent(context_);
    for (const CUstream s : streams_) (void)::cuStreamDestroy(s);
    for (const auto& [address, bytes] : mapped_) (void)::cuMemUnmap(pointer(address), bytes);
    if (reserved_.second != 0) (void)::cuMemAddressFree(pointer(reserved_.first), reserved_.second);
    if (context_ != nullptr) (void)(shared_ ? ::cuDevicePrimaryCtxRelease(device_) : ::cuCtxDestroy(context_));
  }

  void* context() const noexcept override { return context_; }
  result<void> enter() override { return done(::cuCtxSetCurrent(context_), "cuCtxSetCurrent"); }
  std::string description() const override { return description_; }

  result<void> reserve(std::uint64_t address, std::uint64_t bytes) override;
  result<file_descriptor> make_memory(std::uint64_t bytes) override;
  result<void> try_to_map(std::uint64_t bytes, const file_descriptor& memory) override;
  result<void> map(std::uint64_t address, std::uint64_t bytes, const file_descriptor& memory,
                   map_access access) override;
  void unmap(std::uint64_t address) noexcept override;
  result<void> protect(std::uint64_t address, std::uint64_t bytes, map_access access) override;
  result<void> pin(std::byte* at, std::uint64_t bytes, map_access access) override;
  void unpin(std::byte* at) noexcept override { (void)::cuMemHostUnregister(at); }

  result<std::uint64_t> make_managed(std::uint64_t bytes) override;
  void free_managed(std::uint64_t address) noexcept override;

  result<std::uint64_t> free_bytes() override {
    std::size_t free = 0, total = 0;
    if (const CUresult r = ::cuMemGetInfo(&free, &total); r != CUDA_SUCCESS) return failed("cuMemGetInfo", r);
    return std::uint64_t{free};
  }
  result<void*> make_stream(priority urgency, std::int32_t& counts) override;
  result<void> write(void* stream, std::atomic<std::uint64_t>& where, std::uint64_t value) override {
    return done(::cuStreamWriteValue64(as_stream(stream), pointer(where), value, CU_STREAM_WRITE_VALUE_DEFAULT),
                "cuStreamWriteValue64");
  }
  result<void> wait(void* stream, std::atomic<std::uint64_t>& where, std::uint64_t value) override {
    return done(::cuStreamWaitValue64(as_stream(stream), pointer(where), value, CU_STREAM_WAIT_VALUE_GEQ),
                "cuStreamWaitValue64");
  }
  result<void> check(void* stream) override {
    const CUresult r = ::cuStreamQuery(as_stream(stream));
    return r == CUDA_ERROR_NOT_READY ? result<void>() : done(r, "the GPU");
  }
  bool has_ended_kernels(const error& why) const noexcept override {
    return why.domain() == "cuda" && ends_kernels(static_cast<CUresult>(why.code()));
  }

 private:
  explicit gpu(CUdevice d) noexcept : device_(d) {}
  result<void> check_device();
  std::vector<protocol::gpu_description::peer> peers() const;
  result<void> make_context(bool shared);
  int attribute(CUdevice_attribute a) const noexcept {
    int value = 0;
    (void)::cuDeviceGetAttribute(&value, a, device_);
    return value;
  }
  CUmemAllocationProp properties() const noexcept {
    CUmemAllocationProp p{};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device_};
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    p.allocFlags.gpuDirectRDMACapable = rdma_ ? 1 : 0;
    return p;
  }
  result<void> map_at(CUdeviceptr address, std::uint64_t bytes, const file_descriptor& memory, map_access access);
  result<void> set_access(std::uint64_t address, std::uint64_t bytes, map_access access);

  CUdevice device_;
  CUcontext context_ = nullptr;
  bool shared_ = false, rdma_ = false, reads_only_ = false;
  std::string description_;
  std::mutex lock_;
  std::map<std::uint64_t, std::uint64_t> mapped_;  // sizes, by address
  // allocations of the driver, by the address of their first whole page
  std::map<std::uint64_t, CUdeviceptr> managed_;
  std::vector<CUstream> streams_;
  std::pair<std::uint64_t, std::uint64_t> reserved_{};  // address, bytes
};

// Makes the driver write a core dump after a fault. Applies to all contexts of the process and must precede the first
// one. The driver ends the process after writing the file. An option prevents that, but the stream would then continue
// after the faulty kernel and report it as completed.
result<void> enable_core_dump(const std::string& file) {
  const auto set = [](CUcoredumpSettings what, const void* value, std::size_t bytes) {
    return done(::cuCoredumpSetAttributeGlobal(what, const_cast<void*>(value), &bytes),
                "cuCoredumpSetAttributeGlobal, for device_options::gpu_core_folder");
  };
  const bool yes = true;
  const unsigned flags = CU_COREDUMP_LIGHTWEIGHT_FLAGS;
  TROUPE_TRY(set(CU_COREDUMP_FILE, file.c_str(), file.size() + 1));
  TROUPE_TRY(set(CU_COREDUMP_GENERATION_FLAGS, &flags, sizeof flags));
  return set(CU_COREDUMP_ENABLE_ON_EXCEPTION, &yes, sizeof yes);
}

// After a fault, the whole GPU stops, and the more channels its contexts have, used or not, the longer it stops: with
// the driver's defaults, 8 and 8, by 11 ms for each idle context beside the faulty one. Most of that time is spent on
// the channels for copies; two of these suffice for copies of one stream to overtake copies of another stream that wait
// for a kernel. Values that the user has set take precedence. The driver reads both variables when it is initialized,
// which happens here in a process that belongs to Troupe.
void ask_for_few_channels() noexcept {
  (void)::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "4", 0);
  (void)::setenv("CUDA_DEVICE_MAX_COPY_CONNECTIONS", "2", 0);
}

result<std::unique_ptr<platform>> gpu::make(const platform_options& o) {
  const int ordinal = o.device;
  int version = 0;
  if (!o.in_application) ask_for_few_channels();
  if (const CUresult r = ::cuDriverGetVersion(&version); r != CUDA_SUCCESS) return failed("cuDriverGetVersion", r);
  if (version < oldest_driver)
    return unsupported("the driver supports CUDA " + version_text(version) + "; expected " +
                       version_text(oldest_driver) + " or newer: install a newer NVIDIA driver");
  if (const CUresult r = ::cuInit(0); r != CUDA_SUCCESS)
    return failed("cuInit: no GPU can be used (nvidia-smi lists the GPUs of this machine)", r);
  int count = 0;
  if (const CUresult r = ::cuDeviceGetCount(&count); r != CUDA_SUCCESS) return failed("cuDeviceGetCount", r);
  if (ordinal >= count)
    return unsupported(
        cat("there is no GPU ", ordinal, ": ", count, " are visible (CUDA_VISIBLE_DEVICES decides which)"));
  CUdevice device = 0;
  if (const CUresult r = ::cuDeviceGet(&device, ordinal); r != CUDA_SUCCESS) return failed("cuDeviceGet", r);
  if (!o.core_file.empty()) TROUPE_TRY(enable_core_dump(o.core_file));
  std::unique_ptr<gpu> out(new gpu(device));
  TROUPE_TRY(out->check_device());
  TROUPE_TRY(out->make_context(o.in_application));
  return std::unique_ptr<platform>(std::move(out));
}

// Two contexts of a process cannot use each other's memory, so a worker that is a thread uses the primary context, as
// cudart and other code in the process do.
result<void> gpu::make_context(bool shared) {
  shared_ = shared;
  if (shared) {
    TROUPE_TRY(done(::cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain"));
    return done(::cuCtxSetCurrent(context_), "cuCtxSetCurrent");
  }
#if CUDA_VERSION >= 13000
  const CUresult r = ::cuCtxCreate(&context_, nullptr, CU_CTX_SCHED_AUTO | CU_CTX_MAP_HOST, device_);
#else
  const CUresult r = ::cuCtxCreate(&context_, CU_CTX_SCHED_AUTO | CU_CTX_MAP_HOST, device_);
#endif
  return done(r, "cuCtxCreate");
}

result<void> gpu::check_device() {
  const struct {
    CUdevice_attribute attribute;
    const char* what;
  } needed[] = {
      {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, "virtual memory management"},
      {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, "memory that has a file descriptor"},
      {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, "64-bit memory operations in streams"},
      {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, "registered host memory at its own addresses"}};
  for (const auto& n : needed)
    if (attribute(n.attribute) == 0)
      return unsupported(std::string("this GPU, or its driver, has no ") + n.what + ", which Troupe needs");
  rdma_ = attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED) != 0;
  reads_only_ = attribute(CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED) != 0;
  const CUmemAllocationProp p = properties();
  std::size_t least = 0;
  if (const CUresult r = ::cuMemGetAllocationGranularity(&least, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
      r != CUDA_SUCCESS)
    return failed("cuMemGetAllocationGranularity", r);
  if (least == 0 || granule % least != 0)
    return unsupported(cat("device memory is allocated in multiples of ", least, " bytes; expected 2 MiB"));
  const auto number = [this](CUdevice_attribute a) { return static_cast<std::uint32_t>(attribute(a)); };
  char name[128] = "", bus[32] = "";
  std::size_t total = 0;
  int driver = 0;
  (void)::cuDeviceGetName(name, sizeof name, device_);
  (void)::cuDeviceGetPCIBusId(bus, sizeof bus, device_);
  (void)::cuDeviceTotalMem(&total, device_);
  (void)::cuDriverGetVersion(&driver);
  description_ = protocol::text_of({.name = name,
                                    .pci = bus,
                                    .driver = version_text(driver),
                                    .capability_major = number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                                    .capability_minor = number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
                                    .multiprocessors = number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                                    .memory_bytes = total,
                                    .peers = peers()});
  return {};
}

// Lists the other GPUs that this process can see.
std::vector<protocol::gpu_description::peer> gpu::peers() const {
  std::vector<protocol::gpu_description::peer> out;
  int count = 0;
  (void)::cuDeviceGetCount(&count);
  for (int i = 0; i < count; ++i) {
    CUdevice other = 0;
    char bus[32] = "";
    if (::cuDeviceGet(&other, i) != CUDA_SUCCESS || other == device_) continue;
    if (::cuDeviceGetPCIBusId(bus, sizeof bus, other) != CUDA_SUCCESS) continue;
    int access = 0;
    (void)::cuDeviceCanAccessPeer(&access, device_, other);
    const auto figure = [&](CUdevice_P2PAttribute what) {
      int value = 0;
      (void)::cuDeviceGetP2PAttribute(&value, what, device_, other);
      return value;
    };
    const bool allowed = access != 0 && figure(CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED) != 0;
    out.push_back({.pci = bus,
                   .access = allowed,
                   .native_atomics = allowed && figure(CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED) != 0,
                   .performance_rank = figure(CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK)});
  }
  return out;
}

result<void> gpu::reserve(std::uint64_t address, std::uint64_t bytes) {
  CUdeviceptr got = 0;
  const CUresult r = ::cuMemAddressReserve(&got, bytes, granule, pointer(address), 0);
  if (r != CUDA_SUCCESS) return failed(cat("cuMemAddressReserve of ", bytes, " bytes"), r);
  if (got == pointer(address)) {
    reserved_ = {got, bytes};
    return {};
  }
  (void)::cuMemAddressFree(got, bytes);
  return error(
      reaction::fatal, "cuda",
      cat("the ", bytes, " bytes at address ", address,
          ", where every worker of the device maps its memory, are already in use in this process. With "
          "isolation::thread, the process is your program: open the device earlier, or use isolation::process"));
}

result<file_descriptor> gpu::make_memory(std::uint64_t bytes) {
  const CUmemAllocationProp p = properties();
  CUmemGenericAllocationHandle handle = 0;
  if (const CUresult r = ::cuMemCreate(&handle, bytes, &p, 0); r != CUDA_SUCCESS)
    return failed(cat("cuMemCreate of ", bytes, " bytes"), r);
  int fd = -1;
  const CUresult r = ::cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  (void)::cuMemRelease(handle);
  if (r != CUDA_SUCCESS) return failed("cuMemExportToShareableHandle", r);
  return file_descriptor(fd);
}

result<std::uint64_t> gpu::make_managed(std::uint64_t bytes) {
  if (attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) == 0 ||
      attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) == 0)
    return unsupported(
        "this GPU, or its driver, has no managed memory that host and device can use at the same time; use alloc() for "
        "memory that fits the GPU, or alloc_host()");
  // Allocates whole pages, because migration and advice apply to pages. The driver places small allocations next to
  // each other, so the first page of this one may belong to another allocation; one more page is then requested.
  bytes = round_up(bytes, page);
  CUdeviceptr at = 0;
  CUresult r = ::cuMemAllocManaged(&at, bytes, CU_MEM_ATTACH_GLOBAL);
  if (r == CUDA_SUCCESS && at % page != 0) {
    (void)::cuMemFree(at);
    r = ::cuMemAllocManaged(&at, bytes + page, CU_MEM_ATTACH_GLOBAL);
  }
  if (r != CUDA_SUCCESS) return failed(cat("cuMemAllocManaged of ", bytes, " bytes"), r);
  const std::uint64_t begin = round_up(at, page);
  const std::scoped_lock guard(lock_);
  managed_.insert_or_assign(begin, at);
  return begin;
}

void gpu::free_managed(std::uint64_t address) noexcept {
  CUdeviceptr at = 0;
  {
    const std::scoped_lock guard(lock_);
    if (const auto known = managed_.extract(address)) at = known.mapped();
  }
  if (at != 0) (void)::cuMemFree(at);
}

result<void> gpu::set_access(std::uint64_t address, std::uint64_t bytes, map_access access) {
  return cuda::set_access(
      device_, pointer(address), bytes,
      access == map_access::read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

result<void> gpu::try_to_map(std::uint64_t bytes, const file_descriptor& memory) {
  const char* const expected =
      "; expected a descriptor of memory that cuMemCreate has made on this GPU, with exactly that size";
  if (const auto what = kind_if_not_gpu_memory(memory.get()); !what.empty())
    return error(reaction::caller_bug, "cuda", "the descriptor refers to " + std::string(what) + expected);
  CUdeviceptr at = 0;
  const CUresult r = ::cuMemAddressReserve(&at, bytes, granule, 0, 0);
  if (r != CUDA_SUCCESS) return failed(cat("cuMemAddressReserve of ", bytes, " bytes"), r);
  auto mapped = map_at(at, bytes, memory, map_access::read_write);
  if (mapped) (void)::cuMemUnmap(at, bytes);
  (void)::cuMemAddressFree(at, bytes);
  if (mapped || mapped.error().reaction() != reaction::fatal) return mapped;
  return error(reaction::caller_bug, "cuda", mapped.error().text() + expected);
}

result<void> gpu::map(std::uint64_t address, std::uint64_t bytes, const file_descriptor& memory, map_access access) {
  TROUPE_TRY(map_at(pointer(address), bytes, memory, access));
  const std::scoped_lock guard(lock_);
  mapped_.insert_or_assign(address, bytes);
  return {};
}

result<void> gpu::map_at(CUdeviceptr address, std::uint64_t bytes, const file_descriptor& memory, map_access access) {
  CUmemGenericAllocationHandle handle = 0;
  if (const CUresult r =
          ::cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory.get())),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
      r != CUDA_SUCCESS)
    return failed("cuMemImportFromShareableHandle", r);
  const CUresult r = ::cuMemMap(address, bytes, 0, handle, 0);
  (void)::cuMemRelease(handle);  // the mapping keeps the memory alive
  if (r != CUDA_SUCCESS) return failed(cat("cuMemMap of ", bytes, " bytes"), r);
  if (auto ok = set_access(static_cast<std::uint64_t>(address), bytes, access); !ok) {
    (void)::cuMemUnmap(address, bytes);
    return ok;
  }
  return {};
}

void gpu::unmap(std::uint64_t address) noexcept {
  const std::scoped_lock guard(lock_);
  const auto at = mapped_.find(address);
  if (at == mapped_.end()) return;
  (void)::cuMemUnmap(pointer(address), at->second);
  mapped_.erase(at);
}

result<void> gpu::protect(std::uint64_t address, std::uint64_t bytes, map_access access) {
  if (access == map_access::read_only) return set_access(address, bytes, access);
  return allow_writing(device_, pointer(address), bytes);
}

result<void> gpu::pin(std::byte* at, std::uint64_t bytes, map_access access) {
  const bool read_only = access == map_access::read_only;
  if (read_only && !reads_only_) return {};  // copies from such memory use the driver's own pinned buffers
  const unsigned flags =
      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | (read_only ? CU_MEMHOSTREGISTER_READ_ONLY : 0u);
  const CUresult r = ::cuMemHostRegister(at, bytes, flags);
  if (r == CUDA_ERROR_OUT_OF_MEMORY)
    return failed(
        cat("cuMemHostRegister of ", bytes,
            " bytes, which the system cannot pin; free host buffers, or lower device_options::host_memory_limit"),
        r);
  return done(r, "cuMemHostRegister");
}

// Lower numbers mean higher priority. Normal streams get the middle of the range, so that others can be lower.
result<void*> gpu::make_stream(priority urgency, std::int32_t& counts) {
  int least = 0, greatest = 0;
  TROUPE_TRY(done(::cuCtxGetStreamPriorityRange(&least, &greatest), "cuCtxGetStreamPriorityRange"));
  counts = urgency == priority::high ? greatest : urgency == priority::low ? least : (least + greatest) / 2;
  CUstream s = nullptr;
  const CUresult r = ::cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, counts);
  if (r != CUDA_SUCCESS) return failed("cuStreamCreateWithPriority", r);
  const std::scoped_lock guard(lock_);
  streams_.push_back(s);
  return static_cast<void*>(s);
}

}  // namespace
}  // namespace troupe::cuda

TROUPE_PLATFORM(troupe::cuda::gpu::make)
