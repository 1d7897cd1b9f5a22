// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Operations that are limited by the GPU's memory bandwidth: normalizations, and attention while text is generated.
// Compared with copies within that memory.
#include <algorithm>
#include <array>
#include <bench/case_list.hpp>
#include <bench/element_difference.hpp>
#include <bench/gpu/memory_limit.hpp>
#include <bench/measures.hpp>
#include <cmath>
#include <numeric>
#include <random>

namespace troupe::bench {
namespace {

/// The operands of normalizations over rows, and graphs that compute some of the rows.
class rows {
 public:
  rows(const device& gpu, std::int64_t count, std::int64_t width)
      : count_(count),
        width_(width),
        x_(random(gpu, 1)),
        dy_(random(gpu, 2)),
        y_(random(gpu, 3)),
        dx_(random(gpu, 4)),
        scale_(vector(gpu, 1.5f)),
        offset_(vector(gpu, 0.5f)),
        dscale_(vector(gpu, 0)),
        doffset_(vector(gpu, 0)),
        mean_(gpu.alloc<float>(static_cast<std::size_t>(count)), {count, 1}),
        inverse_deviation_(gpu.alloc<float>(static_cast<std::size_t>(count)), {count, 1}) {}

  double bytes_of_one() const noexcept { return static_cast<double>(count_ * width_) * sizeof(bfloat16); }
  std::int64_t count() const noexcept { return count_; }

  dnn::graph forward(bool rms, std::int64_t n) const {
    const dnn::value x = dnn::read(part(x_, n)), scale = dnn::read(scale_);
    const dnn::normalized of =
        rms ? rms_norm(x, 1, epsilon, scale) : layer_norm(x, 1, epsilon, dnn::affine{scale, dnn::read(offset_)});
    return {write(of.y, part(y_, n)), write(of.inverse_deviation, part(inverse_deviation_, n)),
            write(of.mean, part(mean_, n))};
  }
  // Gradients that are sums over rows are computed over all rows.
  dnn::graph backward(bool rms, std::int64_t n) const {
    const dnn::value x = dnn::read(part(x_, n)), dy = dnn::read(part(dy_, n)), scale = dnn::read(scale_);
    const dnn::normalized of{dnn::read(part(y_, n)), dnn::read(part(mean_, n)), dnn::read(part(inverse_deviation_, n))};
    const auto g = rms ? rms_norm_gradient(dy, x, of, scale) : normalization_gradient(dy, x, of, scale);
    std::vector<dnn::written> all{write(g.dx, part(dx_, n))};
    if (n == count_) all.push_back(write(g.dscale, dscale_));
    if (n == count_ && !rms) all.push_back(write(g.doffset, doffset_));
    return dnn::graph(all);
  }

 private:
  static constexpr double epsilon = 1e-5;
  tensor<bfloat16> random(const device& gpu, std::uint64_t seed) const {
    return tensor(random_buffer<bfloat16>(gpu, count_ * width_, seed), {count_, width_});
  }
  tensor<float> vector(const device& gpu, float value) const {
    const auto b = gpu.alloc<float>(static_cast<std::size_t>(width_));
    gpu.fill(b, value);
    return tensor(b, {1, width_});
  }
  // Returns the last rows of a tensor.
  template <class T>
  tensor<T> part(const tensor<T>& t, std::int64_t n) const {
    return t.slice(0, count_ - n, n);
  }
  std::int64_t count_, width_;
  tensor<bfloat16> x_, dy_, y_, dx_;
  tensor<float> scale_, offset_, dscale_, doffset_, mean_, inverse_deviation_;
};

/// The operands of group normalizations of images, and graphs that compute some of the images.
class images {
 public:
  images(const device& gpu, const std::array<std::int64_t, 4>& e)
      : e_(e),
        x_(random(gpu, 1)),
        dy_(random(gpu, 2)),
        to_(random(gpu, 3)),
        scale_(vector(gpu, 1.5f)),
        offset_(vector(gpu, 0.5f)),
        mean_(gpu.alloc<float>(static_cast<std::size_t>(e[0] * groups)), {e[0], groups, 1, 1}),
        inverse_deviation_(gpu.alloc<float>(static_cast<std::size_t>(e[0] * groups)), {e[0], groups, 1, 1}) {}

  double bytes_of_one() const noexcept { return static_cast<double>(e_[0] * e_[1] * e_[2] * e_[3]) * sizeof(bfloat16); }
  std::int64_t count() const noexcept { return e_[0]; }

  // With relu after it.
  dnn::graph forward(std::int64_t n) const {
    const auto of =
        group_norm(dnn::read(part(x_, n)), groups, epsilon, dnn::affine{dnn::read(scale_), dnn::read(offset_)});
    return {write(relu(of.y), part(to_, n)), write(of.mean, part(mean_, n)),
            write(of.inverse_deviation, part(inverse_deviation_, n))};
  }
  dnn::graph backward(std::int64_t n) const {
    const dnn::value x = dnn::read(part(x_, n));
    const dnn::normalized of{x, dnn::read(part(mean_, n)), dnn::read(part(inverse_deviation_, n))};
    return {write(normalization_gradient(dnn::read(part(dy_, n)), x, of, dnn::read(scale_)).dx, part(to_, n))};
  }

 private:
  static constexpr double epsilon = 1e-5;
  static constexpr std::int64_t groups = 32;
  tensor<bfloat16> random(const device& gpu, std::uint64_t seed) const {
    return tensor(random_buffer<bfloat16>(gpu, e_[0] * e_[1] * e_[2] * e_[3], seed), {e_[0], e_[1], e_[2], e_[3]});
  }
  tensor<float> vector(const device& gpu, float value) const {
    const auto b = gpu.alloc<float>(static_cast<std::size_t>(e_[1]));
    gpu.fill(b, value);
    return tensor(b, {1, e_[1], 1, 1});
  }
  template <class T>
  tensor<T> part(const tensor<T>& t, std::int64_t n) const {
    return t.slice(0, count() - n, n);
  }
  std::array<std::int64_t, 4> e_;
  tensor<bfloat16> x_, dy_, to_;
  tensor<float> scale_, offset_, mean_, inverse_deviation_;
};

/// Attention of one query for each sequence, whose keys are in pages in random order.
class decoding {
 public:
  struct extents {
    std::int64_t batch, heads, shared_heads, width, keys, page;
    std::int64_t pages() const noexcept { return keys / page; }
    std::int64_t pool() const noexcept { return batch * pages() * shared_heads * page * width; }
  };
  decoding(const device& gpu, const extents& e)
      : e_(e),
        q_(random_buffer<bfloat16>(gpu, e.batch * e.heads * e.width, 1), {e.batch, e.heads, 1, e.width}),
        k_(pool(gpu, 2)),
        v_(pool(gpu, 3)),
        y_(gpu.alloc<bfloat16>(static_cast<std::size_t>(e.batch * e.heads * e.width)), {e.batch, e.heads, 1, e.width}),
        order_(static_cast<std::size_t>(e.batch * e.pages())) {
    std::iota(order_.begin(), order_.end(), 0);
    std::shuffle(order_.begin(), order_.end(), std::mt19937(1));
    pages_ = tensor(gpu.upload(order_), {e.batch, e.pages()});
    const std::vector<std::int32_t> lengths(static_cast<std::size_t>(e.batch), static_cast<std::int32_t>(e.keys));
    lengths_ = tensor(gpu.upload(lengths), {e.batch});
  }
  double bytes() const noexcept { return 2. * static_cast<double>(e_.pool()) * sizeof(bfloat16); }
  dnn::computation request() const {
    dnn::attention_options how;
    how.pages = dnn::read(pages_);
    how.keys.lengths = dnn::read(lengths_);
    return {.graph = {write(attention(dnn::read(q_), dnn::read(k_), dnn::read(v_), how).y, y_)}};
  }

  /// Compares one head of a sequence with the definition.
  std::string difference(const device& gpu, std::int64_t sequence, std::int64_t head) const {
    const std::vector<float> q = repeated_numbers(q_.elements().value(), 1), k = repeated_numbers(e_.pool(), 2),
                             v = repeated_numbers(e_.pool(), 3);
    const auto number = [](const std::vector<float>& of, std::int64_t i) {
      return static_cast<double>(bfloat16(of[static_cast<std::size_t>(i) % of.size()]));
    };
    const std::int64_t row = (sequence * e_.heads + head) * e_.width;
    double sum = 0;
    std::vector<double> y(static_cast<std::size_t>(e_.width));
    for (std::int64_t key = 0; key < e_.keys; ++key) {
      const std::int64_t page = order_[static_cast<std::size_t>(sequence * e_.pages() + key / e_.page)],
                         shared = head / (e_.heads / e_.shared_heads),
                         at = ((page * e_.shared_heads + shared) * e_.page + key % e_.page) * e_.width;
      double score = 0;
      for (std::int64_t i = 0; i < e_.width; ++i) score += number(q, row + i) * number(k, at + i);
      const double weight = std::exp(score / std::sqrt(static_cast<double>(e_.width)));
      sum += weight;
      for (std::int64_t i = 0; i < e_.width; ++i) y[static_cast<std::size_t>(i)] += weight * number(v, at + i);
    }
    std::vector<bfloat16> expected;
    for (const double n : y) expected.push_back(bfloat16(static_cast<float>(n / sum)));
    const auto ours = gpu.download(y_.memory().slice(row, e_.width)).get().value();
    return element_difference(dtype::bf16, std::as_bytes(std::span(ours)), std::as_bytes(std::span(expected)));
  }

 private:
  tensor<bfloat16> pool(const device& gpu, std::uint64_t seed) const {
    return tensor(random_buffer<bfloat16>(gpu, e_.pool(), seed),
                  {e_.batch * e_.pages(), e_.shared_heads, e_.page, e_.width});
  }
  const extents e_;
  tensor<bfloat16> q_, k_, v_, y_;
  std::vector<std::int32_t> order_;
  tensor<std::int32_t> pages_, lengths_;
};

}  // namespace

figures run_dnn_norms(const settings& s) {
  const bool small = s.engine == "host";
  const dnn_sides on(s);
  const device& gpu = *on.gpu;
  case_list all(1e9, "GB/s");
  const auto add = [&](const auto& of, std::int64_t compared, const auto& graph_of) {
    for (const bool backward : {false, true}) {
      const double bytes = (backward ? 3 : 2) * of.bytes_of_one();
      const auto found = against_copies(s.rounds(11), on, {.graph = graph_of(backward, of.count())}, bytes);
      all.add(backward ? "backward" : "forward", bytes, 1, found,
              difference_from_reference(gpu, graph_of(backward, compared)));
    }
  };
  for (const std::int64_t width : {8192, 8191}) {
    const rows r(gpu, small ? 8 : 4096, small ? width - 8168 : width);
    for (const bool rms : {false, true}) {
      all.begin_line(cat(rms ? "rms norm" : "layer norm", width == 8192 ? "" : " of odd rows"));
      add(r, 2, [&](bool backward, std::int64_t n) { return backward ? r.backward(rms, n) : r.forward(rms, n); });
    }
  }
  const images i(gpu, small ? std::array<std::int64_t, 4>{3, 64, 2, 3} : std::array<std::int64_t, 4>{64, 256, 56, 56});
  all.begin_line("group norm and relu");
  add(i, 1, [&](bool backward, std::int64_t n) { return backward ? i.backward(n) : i.forward(n); });
  return all.total(dnn_norms.goal.limit);
}

figures run_dnn_attention_decode(const settings& s) {
  const bool small = s.engine == "host";
  const dnn_sides on(s);
  const device& gpu = *on.gpu;
  const decoding::extents e =
      small ? decoding::extents{2, 4, 2, 8, 32, 8} : decoding::extents{64, 32, 8, 128, 8192, 64};
  const decoding d(gpu, e);
  const pair_of_medians found = against_copies(s.rounds(11), on, d.request(), d.bytes());
  figures f{.ours = d.bytes() / found.ours / 1e9, .raw = d.bytes() / found.raw / 1e9};
  char text[60];
  std::snprintf(text, sizeof text, "%.1f us for each", found.ours * 1e6);
  f.note = text;
  for (const std::int64_t sequence : {std::int64_t{0}, e.batch - 1})
    for (const std::int64_t head : {std::int64_t{0}, e.heads - 1})
      if (f.objection.empty()) f.objection = d.difference(gpu, sequence, head);
  return f;
}

}  // namespace troupe::bench
