// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Pooling of images of bf16 that have their channels last, and its gradients, compared with copies within the GPU's
// memory.
#include <bench/case_list.hpp>
#include <bench/gpu/memory_limit.hpp>
#include <bench/gpu/torch_passes.hpp>
#include <bench/measures.hpp>
#include <troupe/base/text/cat.hpp>

namespace troupe::bench {
namespace {

/// Images before and after the first pooling of ResNet-50: windows of 3 x 3, every second one.
class pooled_images {
 public:
  pooled_images(const device& gpu, bool small)
      : images_(small ? 4 : 64),
        channels_(small ? 8 : 64),
        size_(small ? 12 : 112),
        x_(random(gpu, size_, 1)),
        dx_(random(gpu, size_, 2)),
        y_(random(gpu, size_ / 2, 3)),
        dy_(random(gpu, size_ / 2, 4)) {}

  std::int64_t images() const noexcept { return images_; }
  std::int64_t channels() const noexcept { return channels_; }
  std::int64_t size() const noexcept { return size_; }
  double bytes() const noexcept { return static_cast<double>(images_ * channels_ * size_ * size_) * sizeof(bfloat16); }

  // Return graphs of the last `n` images.
  dnn::graph maximum(std::int64_t n) const { return {write(max_pool(read(x_, n), 3, how()), last(y_, n))}; }
  dnn::graph mean(std::int64_t n) const { return {write(mean_pool(read(x_, n), 3, how()), last(y_, n))}; }
  dnn::graph gradient_of_maximum(std::int64_t n) const {
    return {write(max_pool_gradient(read(dy_, n), read(x_, n), 3, how()), last(dx_, n))};
  }

 private:
  static dnn::pooling_options how() { return {.padding = 1, .stride = 2}; }
  tensor<bfloat16> random(const device& gpu, std::int64_t size, std::uint64_t seed) const {
    return tensor(random_buffer<bfloat16>(gpu, images_ * channels_ * size * size, seed),
                  {images_, channels_, size, size}, {channels_ * size * size, 1, size * channels_, channels_});
  }
  tensor<bfloat16> last(const tensor<bfloat16>& t, std::int64_t n) const { return t.slice(0, images_ - n, n); }
  dnn::value read(const tensor<bfloat16>& t, std::int64_t n) const { return dnn::read(last(t, n)); }

  std::int64_t images_, channels_, size_;
  tensor<bfloat16> x_, dx_, y_, dy_;
};

}  // namespace

figures run_dnn_pool(const settings& s) {
  const dnn_sides on(s);
  const pooled_images all(*on.gpu, s.engine == "host");
  case_list cases(1e9, "GB/s");
  cases.begin_line("pooling");
  std::vector<torch_pass> torch;
  const std::string image = cat("a.view(", all.images(), ", ", all.size(), ", ", all.size(), ", ", all.channels(),
                                ").permute(0, 3, 1, 2)"),
                    maximum = "F.max_pool2d(x, 3, 2, 1)";
  const auto add = [&](const char* name, const std::string& in_torch, double passes, auto graph_of) {
    const double bytes = passes * all.bytes();
    const auto found = against_copies(s.rounds(11), on, {.graph = graph_of(all.images())}, bytes);
    cases.add(name, bytes, 1, found, difference_from_reference(*on.gpu, graph_of(1)));
    torch.push_back({name, "(lambda x: " + in_torch + ")(" + image + ")", bytes});
  };
  add("maximum", maximum, 1.25, [&](std::int64_t n) { return all.maximum(n); });
  add("mean", "F.avg_pool2d(x, 3, 2, 1)", 1.25, [&](std::int64_t n) { return all.mean(n); });
  add("gradient of the maximum", "torch.func.vjp(lambda i: " + maximum + ", x)[1](torch.ones_like(" + maximum + "))",
      2.25, [&](std::int64_t n) { return all.gradient_of_maximum(n); });
  figures f = cases.total(dnn_pool.goal.limit);
  f.note += note_of_torch(s, all.images() * all.size() * all.size(), all.channels(), torch);
  return f;
}

}  // namespace troupe::bench
