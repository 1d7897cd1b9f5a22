// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The service with Troupe. After a fault it repeats the batch; the weights are sealed, so they survive.
#include <comparison/service.hpp>
#include <stdexcept>
#include <troupe/blas/blas.hpp>
#include <troupe/device/sealing.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;
using namespace std::chrono_literals;
using comparison::largest_batch, comparison::width;

constexpr const char* source = R"(
__global__ void add_bias(const float* bias, float* y, int width, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = max(y[i] + bias[i % width], 0.0f);
}
__global__ void write_wild(float* y, unsigned long long address) { *(float*)address = y[0]; }
)";

class troupe_service {
 public:
  explicit troupe_service(const comparison::model& m) {
    gpu_.upload(weights_, m.weights);
    gpu_.upload(bias_, m.bias);
    for (const auto& b : {weights_, bias_}) {
      if (auto sealed = seal(gpu_, b).get(); !sealed) throw std::runtime_error(sealed.error().to_string());
    }
  }
  bool answer(std::span<const comparison::vector> in, std::span<comparison::vector> out) {
    const extent rows = in.size(), n = rows * width;
    const matrix x(x_, rows, width), y(y_, rows, width), w(weights_, width, width);
    for (int tries = 0;; ++tries) {
      gpu_.upload(x.memory(), {in.data()->data(), in.size() * width});
      blas::multiply(gpu_, y, x, w.transposed());
      gpu_.tell(add_bias_(kernel::blocks_for(n, 256), 256)(bias_, y.memory(), width, static_cast<int>(n.value())));
      const auto done = gpu_.download(y.memory(), {out.data()->data(), out.size() * width}).get();
      if (done) return true;
      std::fprintf(stderr, "troupe: %s\n", done.error().to_string().c_str());
      if (done.error().reaction() != reaction::context_lost || tries == 3) return false;
    }
  }
  void inject_fault() { gpu_.tell(write_wild_(1, 1)(y_, comparison::wild_address)); }
  std::string where() const { return gpu_.name(); }

 private:
  runtime rt_;
  const device gpu_ = rt_.open_device({.wait = wait_policy::latency, .standbys = 1, .run_timeout = 10s});
  const buffer<float> weights_ = gpu_.alloc<float>(width * width, {.sealable = true});
  const buffer<float> bias_ = gpu_.alloc<float>(width, {.sealable = true});
  const buffer<float> x_ = gpu_.alloc<float>(largest_batch * width), y_ = gpu_.alloc<float>(largest_batch * width);
  const jit::program program_ = jit::compile(gpu_, {.source = source});
  const jit::typed_kernel<void(in<float>, inout<float>, int, int)> add_bias_{program_.kernel("add_bias")};
  const jit::typed_kernel<void(inout<float>, unsigned long long)> write_wild_{program_.kernel("write_wild")};
};

int main(int argc, char** argv) { return comparison::run<troupe_service>("troupe", argc, argv); }
