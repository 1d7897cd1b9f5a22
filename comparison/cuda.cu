// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The service with the CUDA runtime and cuBLAS. After a fault it resets the device, makes everything anew, and repeats
// the batch.
#include <comparison/gpu_model.cuh>

class cuda_service {
 public:
  explicit cuda_service(const comparison::model& m) : model_(m) {
    gpu_name_ = comparison::name_of_gpu();
    gpu_ = std::make_unique<comparison::gpu_model>(model_);
  }
  bool answer(std::span<const comparison::vector> in, std::span<comparison::vector> out) {
    while (gpu_ || recover()) {
      try {
        gpu_->answer(in, out);
        return true;
      } catch (const std::runtime_error& e) {
        std::fprintf(stderr, "cuda: %s\n", e.what());
        gpu_.reset();
      }
    }
    return false;
  }
  void inject_fault() { gpu_->launch_wild(); }
  std::string where() const { return gpu_name_; }

 private:
  // CUDA's manual says that only a new process helps after most errors.
  bool recover() {
    if (++recoveries_ > 3) return false;
    try {
      comparison::check(cudaDeviceReset(), "cudaDeviceReset");
      gpu_ = std::make_unique<comparison::gpu_model>(model_);
      return true;
    } catch (const std::runtime_error& e) {
      std::fprintf(stderr, "cuda: no recovery: %s\n", e.what());
      return recover();
    }
  }

  const comparison::model& model_;
  std::string gpu_name_;
  std::unique_ptr<comparison::gpu_model> gpu_;
  int recoveries_ = 0;
};

int main(int argc, char** argv) { return comparison::run<cuda_service>("cuda", argc, argv); }
