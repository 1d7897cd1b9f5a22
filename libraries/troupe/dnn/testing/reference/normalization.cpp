// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <vector>

namespace troupe::dnn::detail {
namespace {

// The sets of a normalization: the elements of a set share a mean and a variance.
class normalized_sets {
 public:
  normalized_sets(const normalization_attributes& a, const tensor_shape& x) noexcept : elements_(x) {
    statistics_.rank = x.rank;
    for (std::size_t i = 0; i < x.rank; ++i) {
      const bool is_over = (a.over >> i & 1) != 0;
      const std::int64_t sets = !is_over ? x.extents[i] : i == 1 ? a.groups : 1;
      statistics_.extents[i] = sets;
      widths_[i] = x.extents[i] / sets;
    }
  }

  /// Returns the set of an element, as its index in the tensors of statistics.
  std::size_t set_of(const tensor_index& at) const noexcept {
    std::int64_t position = 0;
    for (std::size_t i = 0; i < elements_.rank; ++i) position = position * statistics_.extents[i] + at[i] / widths_[i];
    return static_cast<std::size_t>(position);
  }
  std::size_t size() const noexcept { return static_cast<std::size_t>(elements_of(statistics_)); }
  /// Returns the number of elements of each set.
  double count() const noexcept { return static_cast<double>(elements_of(elements_)) / static_cast<double>(size()); }

  /// Returns the mean of `value(index, set)` over the elements of each set.
  template <class F>
  std::vector<double> means(F value) const {
    std::vector<double> out(size());
    for_each_index(elements_, [&](const tensor_index& at) { out[set_of(at)] += value(at, set_of(at)); });
    for (double& m : out) m /= count();
    return out;
  }

 private:
  tensor_shape elements_, statistics_;
  tensor_index widths_{};
};

double next_average(const normalization_attributes& a, double running, double here) noexcept {
  return (1 - a.momentum) * running + a.momentum * here;
}

}  // namespace

void normalize(const normalization_attributes& a, inputs in, outputs out) {
  const normalization_places places(a);
  const input_values x = in[places.x];
  const output_values y = out[places.y], mean = out[places.mean], deviation = out[places.deviation];
  const normalized_sets sets(a, x.shape);
  const auto m =
      a.rms ? std::vector<double>(sets.size()) : sets.means([&](const tensor_index& at, std::size_t) { return x[at]; });
  const auto variance = sets.means([&](const tensor_index& at, std::size_t set) {
    const double d = x[at] - m[set];
    return d * d;
  });
  for (std::size_t set = 0; set < sets.size(); ++set) {
    mean.numbers[set] = m[set];
    deviation.numbers[set] = 1 / std::sqrt(variance[set] + a.epsilon);
  }
  for_each_index(x.shape, [&](const tensor_index& at) {
    const std::size_t set = sets.set_of(at);
    y[at] = (x[at] - m[set]) * deviation.numbers[set];
    if (places.scale != absent) y[at] *= in[places.scale][at];
    if (places.offset != absent) y[at] += in[places.offset][at];
  });
  if (!a.has_running) return;
  const double count = sets.count(), unbiased = count > 1 ? count / (count - 1) : 1;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    out[places.next_mean].numbers[set] = next_average(a, in[places.running_mean].numbers[set], m[set]);
    out[places.next_variance].numbers[set] =
        next_average(a, in[places.running_variance].numbers[set], variance[set] * unbiased);
  }
}

void find_normalization_gradient(const normalization_gradient_attributes& a, inputs in, outputs out) {
  const normalization_gradient_places places(a);
  const input_values dy = in[places.dy], x = in[places.x], m = in[places.mean], r = in[places.deviation];
  const normalized_sets sets(a, x.shape);
  const auto normalized = [&](const tensor_index& at, std::size_t set) {
    return (x[at] - m.numbers[set]) * r.numbers[set];
  };
  const auto scaled = [&](const tensor_index& at) { return a.has_affine ? dy[at] * in[places.scale][at] : dy[at]; };
  const auto mean = a.rms ? std::vector<double>(sets.size())
                          : sets.means([&](const tensor_index& at, std::size_t) { return scaled(at); });
  const auto mean_of_product =
      sets.means([&](const tensor_index& at, std::size_t set) { return scaled(at) * normalized(at, set); });
  for_each_index(x.shape, [&](const tensor_index& at) {
    const std::size_t set = sets.set_of(at);
    const double n = normalized(at, set);
    out[places.dx][at] = r.numbers[set] * (scaled(at) - mean[set] - n * mean_of_product[set]);
    // The gradients of a broadcast scale and offset are sums over all uses of each element.
    if (places.dscale != absent) out[places.dscale][at] += dy[at] * n;
    if (places.doffset != absent) out[places.doffset][at] += dy[at];
  });
}

}  // namespace troupe::dnn::detail
