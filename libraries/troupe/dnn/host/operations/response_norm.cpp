// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/processor/for_each_processor.hpp>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/operations/response_norm/attributes.hpp>
#include <troupe/epilogue/host/runs.hpp>
#include <vector>

namespace troupe::dnn::host {
namespace {

// The elements at `count` consecutive positions of an image, in all of its channels.
template <class N>
struct position_run {
  const N *x, *dy;
  N* to;
  std::int64_t channels, between, count;  // `between` is the stride between neighboring channels
};

template <class N>
TROUPE_INLINE void divisors_here(const position_run<N>& s, const local_response_norm_attributes& a,
                                 std::int64_t channel, N* out) {
  const std::int64_t first = std::max<std::int64_t>(0, channel - (a.size - 1) / 2),
                     last = std::min(s.channels, channel - (a.size - 1) / 2 + a.size);
  for (std::int64_t i = 0; i < s.count; ++i) out[i] = 0;
  for (std::int64_t c = first; c < last; ++c) {
    const N* const x = s.x + c * s.between;
    for (std::int64_t i = 0; i < s.count; ++i) out[i] += x[i] * x[i];
  }
  const N k = static_cast<N>(a.k), factor = static_cast<N>(a.alpha / static_cast<double>(a.size));
  for (std::int64_t i = 0; i < s.count; ++i) out[i] = k + factor * out[i];
}
// Computes dx = dy * power - factor * x * sum. The sum adds the products of those channels whose sums of squares
// contain this channel.
template <class N>
TROUPE_INLINE void gradient_here(const position_run<N>& s, const local_response_norm_attributes& a,
                                 std::int64_t channel, const N* power, const N* products, N* sum) {
  const std::int64_t before = (a.size - 1) / 2, first = std::max<std::int64_t>(0, channel - (a.size - 1 - before)),
                     last = std::min(s.channels, channel + before + 1);
  for (std::int64_t i = 0; i < s.count; ++i) sum[i] = 0;
  for (std::int64_t c = first; c < last; ++c)
    for (std::int64_t i = 0; i < s.count; ++i) sum[i] += products[c * s.count + i];
  const N factor = static_cast<N>(2 * a.alpha * a.beta / static_cast<double>(a.size));
  const N *const dy = s.dy + channel * s.between, *const x = s.x + channel * s.between;
  N* const to = s.to + channel * s.between;
  for (std::int64_t i = 0; i < s.count; ++i) to[i] = dy[i] * power[i] - factor * x[i] * sum[i];
}

// Functions that are compiled for several kinds of processor; templates cannot be.
#define TROUPE_DNN_RESPONSES(N)                                                                                    \
  TROUPE_FOR_EACH_PROCESSOR                                                                                        \
  void divisors(const position_run<N>& s, const local_response_norm_attributes& a, std::int64_t c, N* out) {       \
    divisors_here(s, a, c, out);                                                                                   \
  }                                                                                                                \
  TROUPE_FOR_EACH_PROCESSOR                                                                                        \
  void gradient(const position_run<N>& s, const local_response_norm_attributes& a, std::int64_t c, const N* power, \
                const N* products, N* sum) {                                                                       \
    gradient_here(s, a, c, power, products, sum);                                                                  \
  }
TROUPE_DNN_RESPONSES(float)
TROUPE_DNN_RESPONSES(double)
#undef TROUPE_DNN_RESPONSES

template <class N>
void normalize_run(const position_run<N>& s, const local_response_norm_attributes& a) {
  const auto count = static_cast<std::size_t>(s.count);
  std::vector<N> power(count), exponent(count, static_cast<N>(-a.beta));
  for (std::int64_t c = 0; c < s.channels; ++c) {
    divisors(s, a, c, power.data());
    epilogue::host::apply(epilogue::op::power, power.data(), power.data(), exponent.data(), power.data(), s.count);
    epilogue::host::apply(epilogue::op::multiply, s.to + c * s.between, s.x + c * s.between, power.data(), power.data(),
                          s.count);
  }
}

template <class N>
void gradient_of_run(const position_run<N>& s, const local_response_norm_attributes& a) {
  using epilogue::op, epilogue::host::apply;
  const auto count = static_cast<std::size_t>(s.count), all = count * static_cast<std::size_t>(s.channels);
  std::vector<N> power(all), products(all), exponent(count, static_cast<N>(-a.beta)), sum(count);
  for (std::int64_t c = 0; c < s.channels; ++c) {
    N *const p = power.data() + c * s.count, *const product = products.data() + c * s.count;
    divisors(s, a, c, product);
    apply(op::power, p, product, exponent.data(), p, s.count);
    apply(op::divide, product, p, product, p, s.count);
    apply(op::multiply, product, product, s.x + c * s.between, p, s.count);
    apply(op::multiply, product, product, s.dy + c * s.between, p, s.count);
  }
  for (std::int64_t c = 0; c < s.channels; ++c)
    gradient(s, a, c, power.data() + c * s.count, products.data(), sum.data());
}

// Calls `f(run)` for runs of positions that cover all images.
template <class N, class F>
void for_each_position_run(const execution_context& on, const N* x, const N* dy, N* to, const tensor_shape& shape,
                           F f) {
  constexpr std::int64_t shortest = 64, longest = 1024, together = 1 << 15;
  const std::int64_t channels = shape.extents[1], between = elements_of(shape) / shape.extents[0] / channels,
                     length = std::clamp(together / channels, shortest, longest), parts = (between - 1) / length + 1;
  on.team.spread(shape.extents[0] * parts, std::max<std::int64_t>(1, together / (channels * std::min(length, between))),
                 [&](std::int64_t i) {
                   const std::int64_t begin = i % parts * length, at = i / parts * channels * between + begin;
                   f(position_run<N>{.x = x + at,
                                     .dy = dy != nullptr ? dy + at : nullptr,
                                     .to = to + at,
                                     .channels = channels,
                                     .between = between,
                                     .count = std::min(length, between - begin)});
                 });
}

}  // namespace

template <class N>
void normalize_responses(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<local_response_norm_attributes>();
  const location &x = step.inputs[0], &y = step.outputs[0];
  for_each_position_run<N>(on, on.elements<N>(x), nullptr, on.elements<N>(y), x.shape,
                           [&](const position_run<N>& s) { normalize_run(s, a); });
}

template <class N>
void response_gradient(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<local_response_norm_attributes>();
  const location &dy = step.inputs[0], &x = step.inputs[1], &dx = step.outputs[0];
  for_each_position_run<N>(on, on.elements<N>(x), on.elements<N>(dy), on.elements<N>(dx), x.shape,
                           [&](const position_run<N>& s) { gradient_of_run(s, a); });
}

TROUPE_HOST_STEP(normalize_responses);
TROUPE_HOST_STEP(response_gradient);

}  // namespace troupe::dnn::host
