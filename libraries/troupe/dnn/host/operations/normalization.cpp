// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/host/sums.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/steps/geometry.hpp>
#include <troupe/dnn/steps/iteration_space.hpp>

namespace troupe::dnn::host {
namespace {

// The iteration space over x, and the number and size of its sets: a set is the elements that share a mean. Operand 0
// is x or another tensor of the same extents, operand 1 is a tensor of statistics, and operand 2 is scale and offset.
struct shapes {
  shapes(const normalization_attributes& a, const location& x, const location& statistics, const location* scale) {
    const auto split = [&](const location& l) { return grouped(l.shape, x.shape.extents[1], a.groups); };
    const tensor_shape full = split(x), of_sets = split(statistics);
    std::vector<axis_values> strides{dense_strides(full), broadcast_strides(of_sets, full.rank, full.extents)};
    if (scale != nullptr) strides.push_back(broadcast_strides(split(*scale), full.rank, full.extents));
    over = iteration_space(full.rank, full.extents, std::move(strides));
    sets = elements_of(statistics.shape);
    set_size = static_cast<double>(elements_of(x.shape) / sets);
  }
  iteration_space over;
  std::int64_t sets = 0;
  double set_size = 0;
};

// Returns the sums of `value(element, set)` over the elements that share an element of operand `set_operand`, which has
// `count` elements. `set` is the index of the element's set in the tensors of statistics.
template <class Value>
std::vector<double> sums_of(const execution_context& on, const shapes& s, std::size_t set_operand, std::int64_t count,
                            Value&& value) {
  const std::int64_t n = s.over.length();
  return sum_of_sets(
      on, s.over, set_operand, count, 0,
      [&](std::int64_t l, double* sums, std::int64_t stride) {
        const std::int64_t x = s.over.begin(0, l), set = s.over.begin(1, l), along = s.over.line_stride(1);
        if (stride == 0)
          *sums += sum_along(n, [&](std::int64_t i) { return value(x + i, set + i * along); });
        else
          for (std::int64_t i = 0; i < n; ++i) sums[i * stride] += value(x + i, set + i * along);
      },
      &add);
}

}  // namespace

template <class N>
void normalize(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<normalization_attributes>();
  const normalization_places at(a);
  const auto input = [&](std::size_t k) -> const N* { return on.elements<N>(step.input(k)); };
  const auto output = [&](std::size_t k) { return on.elements<N>(step.output(k)); };
  const shapes s(a, step.inputs[at.x], step.outputs[at.mean], step.input(at.scale));
  const N* const x = input(at.x);
  N *const y = output(at.y), *const mean = output(at.mean), *const deviation = output(at.deviation);
  std::vector<double> means(static_cast<std::size_t>(s.sets), 0.0);
  if (a.rms == 0) {
    means = sums_of(on, s, 1, s.sets, [&](std::int64_t i, std::int64_t) { return static_cast<double>(x[i]); });
    for (double& m : means) m /= s.set_size;
  }
  std::vector<double> squares = sums_of(on, s, 1, s.sets, [&](std::int64_t i, std::int64_t set) {
    const double d = static_cast<double>(x[i]) - means[static_cast<std::size_t>(set)];
    return d * d;
  });
  const N *const running_mean = input(at.running_mean), *const running_variance = input(at.running_variance);
  N *const next_mean = output(at.next_mean), *const next_variance = output(at.next_variance);
  for (std::int64_t i = 0; i < s.sets; ++i) {
    const double m = means[static_cast<std::size_t>(i)], sum = squares[static_cast<std::size_t>(i)];
    mean[i] = static_cast<N>(m);
    deviation[i] = static_cast<N>(1 / std::sqrt(sum / s.set_size + a.epsilon));
    if (running_mean == nullptr) continue;
    const double unbiased = sum / (s.set_size > 1 ? s.set_size - 1 : 1);
    next_mean[i] = static_cast<N>((1 - a.momentum) * static_cast<double>(running_mean[i]) + a.momentum * m);
    next_variance[i] =
        static_cast<N>((1 - a.momentum) * static_cast<double>(running_variance[i]) + a.momentum * unbiased);
  }
  const N *const scale = input(at.scale), *const offset = input(at.offset);
  for_each_line_of(on, s.over, [&](std::int64_t l) {
    const std::int64_t begin = s.over.begin(0, l), set = s.over.begin(1, l), along = s.over.line_stride(1),
                       n = s.over.length();
    for (std::int64_t i = 0; i < n; ++i)
      y[begin + i] = (x[begin + i] - mean[set + i * along]) * deviation[set + i * along];
    if (scale == nullptr) return;
    const std::int64_t scale_at = s.over.begin(2, l), stride = s.over.line_stride(2);
    if (offset != nullptr)
      for (std::int64_t i = 0; i < n; ++i)
        y[begin + i] = y[begin + i] * scale[scale_at + i * stride] + offset[scale_at + i * stride];
    else
      for (std::int64_t i = 0; i < n; ++i) y[begin + i] *= scale[scale_at + i * stride];
  });
}

template <class N>
void normalization_gradient(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<normalization_gradient_attributes>();
  const normalization_gradient_places at(a);
  const auto input = [&](std::size_t k) -> const N* { return on.elements<N>(step.input(k)); };
  const shapes s(a, step.inputs[at.x], step.inputs[at.mean], step.input(at.scale));
  const N *const x = input(at.x), *const dy = input(at.dy), *const mean = input(at.mean),
                 *const deviation = input(at.deviation);
  N* const dx = on.elements<N>(step.outputs[at.dx]);
  const auto normal = [&](std::int64_t i, std::int64_t set) {
    return static_cast<double>(x[i] - mean[set]) * static_cast<double>(deviation[set]);
  };
  // dx first holds g = dy * scale.
  const N* const scale = input(at.scale);
  for_each_line_of(on, s.over, [&](std::int64_t l) {
    const std::int64_t begin = s.over.begin(0, l), n = s.over.length();
    if (scale == nullptr) return std::copy_n(dy + begin, n, dx + begin), void();
    const std::int64_t scale_at = s.over.begin(2, l), stride = s.over.line_stride(2);
    for (std::int64_t i = 0; i < n; ++i) dx[begin + i] = dy[begin + i] * scale[scale_at + i * stride];
  });
  std::vector<double> means(static_cast<std::size_t>(s.sets), 0.0);
  if (a.rms == 0)
    means = sums_of(on, s, 1, s.sets, [&](std::int64_t i, std::int64_t) { return static_cast<double>(dx[i]); });
  std::vector<double> products = sums_of(
      on, s, 1, s.sets, [&](std::int64_t i, std::int64_t set) { return static_cast<double>(dx[i]) * normal(i, set); });
  for_each_line_of(on, s.over, [&](std::int64_t l) {
    const std::int64_t begin = s.over.begin(0, l), set = s.over.begin(1, l), along = s.over.line_stride(1),
                       n = s.over.length();
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t k = set + i * along;
      const auto each = static_cast<std::size_t>(k);
      dx[begin + i] = static_cast<N>(static_cast<double>(deviation[k]) *
                                     (static_cast<double>(dx[begin + i]) - means[each] / s.set_size -
                                      normal(begin + i, k) * products[each] / s.set_size));
    }
  });
  if (at.dscale == absent) return;
  const std::int64_t count = elements_of(step.outputs[at.dscale].shape);
  const auto store = [&](std::size_t output, const std::vector<double>& sums) {
    N* const out = on.elements<N>(step.outputs[output]);
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<N>(sums[static_cast<std::size_t>(i)]);
  };
  store(at.dscale, sums_of(on, s, 2, count, [&](std::int64_t i, std::int64_t set) {
          return static_cast<double>(dy[i]) * normal(i, set);
        }));
  if (at.doffset != absent)
    store(at.doffset,
          sums_of(on, s, 2, count, [&](std::int64_t i, std::int64_t) { return static_cast<double>(dy[i]); }));
}

TROUPE_HOST_STEP(normalize);
TROUPE_HOST_STEP(normalization_gradient);

}  // namespace troupe::dnn::host
