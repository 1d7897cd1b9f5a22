// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Weights that are replaced while clients use them: each product is of one version, and none waits for the next.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>
#include <troupe/base/half.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/weights.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

constexpr std::int64_t rows = 4, terms = 512, columns = 256;
constexpr int versions = 12, clients = 3;

int failed(const char* what, const error& why) {
  return std::fprintf(stderr, "refitted_weights: %s: %s\n", what, why.to_string().c_str()), 1;
}

struct counts {
  int products = 0, mixtures = 0;
};

// Version v of the weights is v everywhere, so a product with ones is v * terms everywhere.
class service {
 public:
  service(const device& gpu, cutlass::weights w)
      : gpu_(gpu),
        weights_(std::move(w)),
        ones_(gpu.upload(std::vector<half>(rows * terms, half(1.0f))), rows, terms) {}

  // Multiplies until `over`, and counts the products of each version.
  void serve(const std::atomic<bool>& over) {
    const matrix d(gpu_.alloc<float>(rows * columns), rows, columns);
    while (!over) {
      const cutlass::packed_weights now = weights_.in_force();
      gpu_.tell(cutlass::gemm{.a = ones_, .b = now.b, .d = d, .b_scales = now.b_scales});
      const auto got = gpu_.download(d.memory()).get();
      if (!got) continue;
      const float version = got->front() / static_cast<float>(terms);
      bool mixed = false;
      for (const float x : *got) mixed |= std::fabs(x - got->front()) > 1e-3f;
      const std::lock_guard guard(mutex_);
      counts& c = found_[static_cast<int>(std::lround(version))];
      ++(mixed ? c.mixtures : c.products);
    }
  }

  const std::map<int, counts>& found() const { return found_; }

 private:
  device gpu_;
  cutlass::weights weights_;
  matrix<half> ones_;
  std::mutex mutex_;
  std::map<int, counts> found_;
};

int main() {
  troupe::runtime rt;
  const device gpu = rt.open_device();
  // 8-bit floats with a scale for each 128 terms of a column: a byte and a quarter of a bit for each weight.
  const auto made = cutlass::weights::make(gpu, terms, columns, {.type = dtype::f8e4m3, .block = 128});
  if (!made) return failed("make", made.error());
  const cutlass::weights& weights = *made;

  const auto refit = [&](int version) {
    const matrix next(gpu.upload(std::vector<float>(terms * columns, static_cast<float>(version))), terms, columns);
    return weights.refit(gpu, next).get();  // when it is answered, the version is in force
  };
  if (auto first = refit(1); !first) return failed("refit", first.error());

  service s(gpu, weights);
  std::atomic<bool> over{false};
  std::vector<std::thread> all;
  for (int i = 0; i < clients; ++i) all.emplace_back([&] { s.serve(over); });
  result<void> last;
  for (int v = 2; v <= versions && last; ++v) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    last = refit(v);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  over = true;
  for (auto& t : all) t.join();
  if (!last) return failed("refit", last.error());

  std::printf("version  products  mixtures\n");
  int mixtures = 0, products = 0;
  for (const auto& [version, c] : s.found()) {
    std::printf("%7d  %8d  %8d\n", version, c.products, c.mixtures);
    mixtures += c.mixtures, products += c.products;
    if (version < 1 || version > versions) ++mixtures;
  }
  std::printf("%d refits of %lld x %lld weights under load, %d products, %d mixtures\n", versions,
              static_cast<long long>(terms), static_cast<long long>(columns), products, mixtures);
  return mixtures == 0 && products > 0 && s.found().contains(versions) ? 0 : 1;
}
