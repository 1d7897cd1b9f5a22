// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The service with Thrust, and cuBLAS for the product. Errors are exceptions. After a fault it resets the device, makes
// everything anew, and repeats the batch.
#include <cublas_v2.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system_error.h>
#include <thrust/transform.h>
#include <comparison/service.hpp>
#include <memory>
#include <stdexcept>

using comparison::largest_batch, comparison::width;

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}

struct add_bias {
  const float* bias;
  __device__ float operator()(float y, int i) const { return fmaxf(y + bias[i % width], 0.0f); }
};
struct write_wild {
  __device__ void operator()(unsigned long long address) const { *reinterpret_cast<float*>(address) = 1; }
};

// Thrust's default stream. Copies block, and the algorithms of par_nosync do not.
class thrust_model {
 public:
  explicit thrust_model(const comparison::model& m)
      : weights_(m.weights.begin(), m.weights.end()),
        bias_(m.bias.begin(), m.bias.end()),
        x_(largest_batch * width),
        y_(largest_batch * width) {
    check(cublasCreate(&blas_), "cublasCreate");
  }
  thrust_model(const thrust_model&) = delete;
  ~thrust_model() { cublasDestroy(blas_); }

  void answer(std::span<const comparison::vector> in, std::span<comparison::vector> out) {
    const int batch = static_cast<int>(in.size()), n = batch * width;
    const float one = 1, zero = 0;
    thrust::copy_n(in.data()->data(), n, x_.begin());
    check(cublasSgemm(blas_, CUBLAS_OP_T, CUBLAS_OP_N, width, batch, width, &one, weights_.data().get(), width,
                      x_.data().get(), width, &zero, y_.data().get(), width),
          "cublasSgemm");
    thrust::transform(thrust::cuda::par_nosync, y_.begin(), y_.begin() + n, thrust::counting_iterator<int>(0),
                      y_.begin(), add_bias{bias_.data().get()});
    thrust::copy_n(y_.begin(), n, out.data()->data());
  }
  void launch_wild() {
    thrust::for_each_n(thrust::cuda::par_nosync, thrust::counting_iterator(comparison::wild_address), 1, write_wild{});
  }

 private:
  cublasHandle_t blas_ = nullptr;
  thrust::device_vector<float> weights_, bias_, x_, y_;
};

class thrust_service {
 public:
  explicit thrust_service(const comparison::model& m) : model_(m), gpu_(std::make_unique<thrust_model>(m)) {}

  bool answer(std::span<const comparison::vector> in, std::span<comparison::vector> out) {
    while (gpu_ || recover()) {
      try {
        gpu_->answer(in, out);
        return true;
      } catch (const std::exception& e) {
        std::fprintf(stderr, "thrust: %s\n", e.what());
        static_cast<void>(gpu_.release());  // a leak: a device_vector's destructor throws now, which ends the process
      }
    }
    return false;
  }
  void inject_fault() { gpu_->launch_wild(); }
  std::string where() const {
    cudaDeviceProp properties{};
    return cudaGetDeviceProperties(&properties, 0) == cudaSuccess ? properties.name : "a GPU";
  }

 private:
  bool recover() {
    if (++recoveries_ > 3) return false;
    try {
      if (const cudaError_t status = cudaDeviceReset(); status != cudaSuccess) {
        throw thrust::system_error(status, thrust::cuda_category(), "cudaDeviceReset");
      }
      gpu_ = std::make_unique<thrust_model>(model_);
      return true;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "thrust: no recovery: %s\n", e.what());
      return recover();
    }
  }

  const comparison::model& model_;
  std::unique_ptr<thrust_model> gpu_;
  int recoveries_ = 0;
};

int main(int argc, char** argv) { return comparison::run<thrust_service>("thrust", argc, argv); }
