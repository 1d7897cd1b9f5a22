// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Calls of the driver API without Troupe. Each stream, handle and block of memory is made once and reused.
#include <algorithm>
#include <bench/raw/cuda_calls.hpp>
#include <bench/raw/cuda_libraries.hpp>
#include <troupe/base/clock.hpp>
#include <vector>

namespace troupe::bench {
namespace {

class kernel final : public raw_kernel {
 public:
  explicit kernel(std::span<const std::byte> image)
      : module_(load(image.data())), function_(only_kernel_of(module_)), stream_(make_stream()) {}
  void launch() override {
    must(::cuLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, stream_.get(), nullptr, nullptr), "cuLaunchKernel");
  }
  void poll_until_done() override { word_.poll_until_done(stream_); }
  void synchronize() override { wait_for(stream_); }
  void record(int launches, int branches) override {
    CUgraph empty = nullptr;
    must(::cuGraphCreate(&empty, 0), "cuGraphCreate");
    const cuda::graph recorded(empty);
    CUDA_KERNEL_NODE_PARAMS one{};
    one.func = function_;
    one.gridDimX = one.gridDimY = one.gridDimZ = one.blockDimX = one.blockDimY = one.blockDimZ = 1;
    std::vector<CUgraphNode> nodes(static_cast<std::size_t>(launches));
    const auto apart = static_cast<std::size_t>(branches);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      must(::cuGraphAddKernelNode(&nodes[i], empty, i < apart ? nullptr : &nodes[i - apart], i < apart ? 0 : 1, &one),
           "cuGraphAddKernelNode");
    CUgraphExec made = nullptr;
    must(::cuGraphInstantiate(&made, empty, 0), "cuGraphInstantiate");
    recorded_.reset(made);
  }
  void launch_recorded() override { must(::cuGraphLaunch(recorded_.get(), stream_.get()), "cuGraphLaunch"); }

 private:
  code_module module_;
  CUfunction function_;
  stream stream_;
  completion_word word_;
  cuda::executable_graph recorded_;
};

class steps final : public raw_steps {
 public:
  explicit steps(std::span<const std::byte> image)
      : module_(load(image.data())), stream_(make_stream()), memory_(make_memory(bytes)) {
    for (int k = 0; k < step::kinds; ++k)
      must(::cuModuleGetFunction(&functions_[k], module_.get(), ("step_" + std::to_string(k)).c_str()),
           "cuModuleGetFunction");
    must(::cuMemsetD8(memory_.get(), 0, bytes), "cuMemsetD8");
  }
  void launch(const step& s, std::uint32_t by) override {
    CUdeviceptr numbers = memory_.get();
    void* arguments[] = {&numbers, &by};
    must(::cuLaunchKernel(functions_[s.kind], static_cast<unsigned>(s.blocks), 1, 1, step::threads, 1, 1, 0,
                          stream_.get(), arguments, nullptr),
         "cuLaunchKernel");
  }
  void synchronize() override { wait_for(stream_); }
  std::vector<std::uint32_t> numbers() override {
    std::vector<std::uint32_t> out(step::numbers);
    must(::cuMemcpyDtoH(out.data(), memory_.get(), bytes), "cuMemcpyDtoH");
    return out;
  }

 private:
  static constexpr std::size_t bytes = step::numbers * sizeof(std::uint32_t);
  code_module module_;
  CUfunction functions_[step::kinds]{};
  stream stream_;
  device_memory memory_;
};

class copies final : public raw_copies {
 public:
  explicit copies(std::size_t bytes)
      : bytes_(bytes), stream_(make_stream()), device_(make_memory(bytes)), pinned_(make_pinned(bytes)) {
    std::fill_n(pinned_.get(), bytes, std::byte{1});
  }
  void in() override {
    must(::cuMemcpyHtoDAsync(device_.get(), pinned_.get(), bytes_, stream_.get()), "cuMemcpyHtoDAsync");
    wait_for(stream_);
  }
  void out() override {
    must(::cuMemcpyDtoHAsync(pinned_.get(), device_.get(), bytes_, stream_.get()), "cuMemcpyDtoHAsync");
    wait_for(stream_);
  }
  void in_from(const void* pageable) override { must(::cuMemcpyHtoD(device_.get(), pageable, bytes_), "cuMemcpyHtoD"); }

 private:
  std::size_t bytes_;
  stream stream_;
  device_memory device_;
  pinned_memory pinned_;
};

class pipeline final : public raw_pipeline {
 public:
  pipeline(std::span<const std::byte> image, int chunks, int elements, int block)
      : module_(load(image.data())),
        function_(only_kernel_of(module_)),
        elements_(elements),
        block_(block),
        in_(make_stream()),
        compute_(make_stream()),
        out_(make_stream()) {
    const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(elements);
    for (int i = 0; i < chunks; ++i)
      chunks_.push_back(
          {make_pinned(bytes), make_pinned(bytes), make_memory(bytes), make_memory(bytes), make_event(), make_event()});
  }
  float* input(int i) override { return reinterpret_cast<float*>(at(i).from.get()); }
  const float* output(int i) const override {
    return reinterpret_cast<const float*>(chunks_[static_cast<std::size_t>(i)].to.get());
  }
  void run() override {
    const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(elements_);
    const auto blocks = static_cast<unsigned>((elements_ + block_ - 1) / block_);
    for (chunk& c : chunks_) {
      must(::cuMemcpyHtoDAsync(c.x.get(), c.from.get(), bytes, in_.get()), "cuMemcpyHtoDAsync");
      must(::cuEventRecord(c.is_in.get(), in_.get()), "cuEventRecord");
      must(::cuStreamWaitEvent(compute_.get(), c.is_in.get(), 0), "cuStreamWaitEvent");
      CUdeviceptr x = c.x.get(), y = c.y.get();
      void* arguments[] = {&x, &y, &elements_};
      must(::cuLaunchKernel(function_, blocks, 1, 1, static_cast<unsigned>(block_), 1, 1, 0, compute_.get(), arguments,
                            nullptr),
           "cuLaunchKernel");
      must(::cuEventRecord(c.is_done.get(), compute_.get()), "cuEventRecord");
      must(::cuStreamWaitEvent(out_.get(), c.is_done.get(), 0), "cuStreamWaitEvent");
      must(::cuMemcpyDtoHAsync(c.to.get(), c.y.get(), bytes, out_.get()), "cuMemcpyDtoHAsync");
    }
    wait_for(out_);
  }

 private:
  struct chunk {
    pinned_memory from, to;
    device_memory x, y;
    event is_in, is_done;
  };
  chunk& at(int i) { return chunks_[static_cast<std::size_t>(i)]; }

  code_module module_;
  CUfunction function_;
  int elements_, block_;
  stream in_, compute_, out_;
  std::vector<chunk> chunks_;
};

constexpr const char* wild_pointer = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry wild_pointer() {
  .reg .u64 a; .reg .u32 v;
  mov.u64 a, 16; mov.u32 v, 1;
  st.global.u32 [a], v;
  ret;
}
)";

class gpu final : public raw_gpu {
 public:
  explicit gpu(int ordinal) {
    must(::cuInit(0), "cuInit");
    must(::cuDeviceGet(&device_, ordinal), "cuDeviceGet");
    // The context is never released; otherwise, libraries would initialize their state in it again for each measure.
    CUcontext c = nullptr;
    must(::cuDevicePrimaryCtxRetain(&c, device_), "cuDevicePrimaryCtxRetain");
    must(::cuCtxSetCurrent(c), "cuCtxSetCurrent");
    stream_ = make_stream();
    // Sets the pool to keep its memory; otherwise it releases all of it whenever the stream is idle.
    CUmemoryPool pool = nullptr;
    must(::cuDeviceGetDefaultMemPool(&pool, device_), "cuDeviceGetDefaultMemPool");
    std::uint64_t keeps_all = UINT64_MAX;
    must(::cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keeps_all), "cuMemPoolSetAttribute");
  }
  std::string description() const override {
    char name[128] = "";
    int version = 0;
    must(::cuDeviceGetName(name, sizeof name, device_), "cuDeviceGetName");
    must(::cuDriverGetVersion(&version), "cuDriverGetVersion");
    return std::string(name) + ", driver for CUDA " + cuda::version_text(version);
  }
  std::unique_ptr<raw_kernel> kernel(std::span<const std::byte> image) override {
    return std::make_unique<bench::kernel>(image);
  }
  std::unique_ptr<raw_steps> steps(std::span<const std::byte> image) override {
    return std::make_unique<bench::steps>(image);
  }
  std::unique_ptr<raw_products> products(raw_number type, int n, int count, std::span<const std::byte> a,
                                         std::span<const std::byte> b) override {
    return make_products(type, n, count, a, b);
  }
  std::unique_ptr<raw_matmuls> matmuls(const raw_matmul_problem& p, std::span<const std::byte> a,
                                       std::span<const std::byte> b, std::span<const std::byte> third) override {
    return make_matmuls(p, a, b, third);
  }
  std::unique_ptr<raw_groups> groups(std::span<const std::int32_t> sizes, int n, int k, std::span<const std::byte> a,
                                     std::span<const std::byte> b) override {
    return make_groups(sizes, n, k, a, b);
  }
  std::unique_ptr<raw_reads> reads(std::size_t bytes, int count) override { return make_reads(bytes, count); }
  std::unique_ptr<raw_transforms> transforms(std::span<const int> n, int batch, int count,
                                             std::span<const std::byte> one) override {
    return make_transforms(n, batch, count, one);
  }
  std::unique_ptr<raw_copies> copies(std::size_t bytes) override { return std::make_unique<bench::copies>(bytes); }
  std::unique_ptr<raw_pipeline> pipeline(std::span<const std::byte> image, int chunks, int elements,
                                         int block) override {
    return std::make_unique<bench::pipeline>(image, chunks, elements, block);
  }
  std::unique_ptr<raw_dnn> dnn() override { return make_dnn(device_); }
  void alloc_and_free(std::size_t bytes) override {
    CUdeviceptr p = 0;
    must(::cuMemAllocAsync(&p, bytes, stream_.get()), "cuMemAllocAsync");
    must(::cuMemFreeAsync(p, stream_.get()), "cuMemFreeAsync");
  }
  std::int64_t fault() override {
    const code_module m = load(wild_pointer);
    const CUfunction f = only_kernel_of(m);
    const std::int64_t start = now_ns();
    must(::cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream_.get(), nullptr, nullptr), "cuLaunchKernel");
    CUresult r;
    while ((r = ::cuStreamQuery(stream_.get())) == CUDA_ERROR_NOT_READY) {
    }
    const std::int64_t took = now_ns() - start;
    if (!cuda::is_sticky(r))
      throw bad_result(error(reaction::fatal, "bench", "a wild pointer caused " + cuda::text_of(r)));
    return took;
  }

 private:
  CUdevice device_ = 0;
  stream stream_;
};

}  // namespace
}  // namespace troupe::bench

extern "C" __attribute__((visibility("default"))) troupe::bench::raw_gpu* troupe_bench_raw_gpu(int ordinal) {
  return new troupe::bench::gpu(ordinal);
}
