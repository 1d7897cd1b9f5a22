// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/normalization/normalization.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;
using extents = std::array<std::int64_t, tensor_shape::max_rank>;

std::vector<std::size_t> last(std::size_t rank, std::size_t count) {
  std::vector<std::size_t> out(std::min(rank, count));
  std::iota(out.begin(), out.end(), rank - out.size());
  return out;
}
std::vector<std::size_t> all_but(std::size_t rank, std::initializer_list<std::size_t> without) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < rank; ++i)
    if (std::find(without.begin(), without.end(), i) == without.end()) out.push_back(i);
  return out;
}

struct norm_parameters {
  std::string_view name;
  std::span<const std::size_t> over;
  double epsilon = 0;
  std::int64_t groups = 1;
  bool rms = false;
  const value *scale = nullptr, *offset = nullptr;
  const running_averages* running = nullptr;
};

extents statistics_of(const value& x, std::int64_t over, std::int64_t groups) noexcept {
  extents out{};
  for (std::size_t i = 0; i < x.rank(); ++i) out[i] = (over >> i & 1) != 0 ? 1 : x.extents()[i];
  if (groups > 1) out[1] = groups;
  return out;
}

void check_scale(node_maker& m, std::string_view name, const value* v, const value& x) {
  if (v != nullptr && m.fine() && !detail::broadcasts(v->extents(), x.extents()))
    m.refuse_extents(name, *v, cat(node_maker::text_of(x.extents()), ", where each extent may be 1"));
}

std::vector<value> normalized_by(const value& x, const norm_parameters& r) {
  std::vector<value> inputs{x};
  if (r.scale != nullptr) inputs.push_back(*r.scale);
  if (r.offset != nullptr) inputs.push_back(*r.offset);
  if (r.running != nullptr) inputs.push_back(r.running->mean), inputs.push_back(r.running->variance);
  node_maker m(op::normalization, r.name, inputs);
  const std::size_t outputs = r.running != nullptr ? 5 : 3;
  if (!m.has_rank("x", x, 1, tensor_shape::max_rank)) return m.all(outputs);
  // Engines split the channel axis into two: the group, and the channel in it. That adds an axis.
  if (r.groups > 1 && !m.has_rank("x", x, 2, tensor_shape::max_rank - 1)) return m.all(outputs);
  const std::int64_t over = detail::bits_of(r.over, x.rank());
  if (over <= 0)
    m.refuse("over", over == 0 ? "is empty" : "has an axis that x does not have, or one twice", "axes of x, each once");
  if (!(r.epsilon >= 0) || !std::isfinite(r.epsilon))
    m.refuse("epsilon", "is " + std::to_string(r.epsilon), "0 or more");
  if (r.groups < 1 || (r.groups > 1 && (x.rank() < 2 || x.extents()[1] % r.groups != 0)))
    m.refuse("groups", cat("is ", r.groups), "a divisor of the channels");
  if (r.running != nullptr && !(r.running->momentum >= 0 && r.running->momentum <= 1))
    m.refuse("momentum", "is " + std::to_string(r.running->momentum), "0 to 1");
  check_scale(m, "scale", r.scale, x);
  check_scale(m, "offset", r.offset, x);
  if (m.fine() && r.offset != nullptr &&
      !std::equal(r.scale->extents().begin(), r.scale->extents().end(), r.offset->extents().begin()))
    m.refuse_extents("offset", *r.offset, cat(node_maker::text_of(r.scale->extents()), ", as the scale has"));
  if (!m.fine()) return m.all(outputs);
  const extents s = statistics_of(x, over, r.groups);
  const std::span<const std::int64_t> statistics(s.data(), x.rank());
  if (r.running != nullptr)
    for (const value* v : {&r.running->mean, &r.running->variance})
      if (m.fine() && !std::equal(v->extents().begin(), v->extents().end(), statistics.begin(), statistics.end()))
        m.refuse_extents("running average", *v, node_maker::text_of(statistics));
  m.with(normalization_attributes{.over = over,
                                  .groups = r.groups,
                                  .rms = r.rms,
                                  .has_affine = r.scale != nullptr,
                                  .has_running = r.running != nullptr,
                                  .epsilon = r.epsilon,
                                  .momentum = r.running != nullptr ? r.running->momentum : 0});
  const dtype type = detail::floating_type({x});
  m.add_output(type, x.extents());
  for (std::size_t i = 1; i < outputs; ++i) m.add_output(type, statistics);
  return m.all(outputs);
}

// Returns both as tensors, because engines read them as such.
std::optional<affine> as_tensors(const std::optional<affine>& a) {
  if (!a || (a->scale.rank() == 0) == (a->offset.rank() == 0)) return a;
  return a->scale.rank() == 0 ? affine{expand(a->scale, a->offset.extents()), a->offset}
                              : affine{a->scale, expand(a->offset, a->scale.extents())};
}

normalized with(const value& x, norm_parameters r, const std::optional<affine>& given) {
  const std::optional<affine> a = as_tensors(given);
  if (a) r.scale = &a->scale, r.offset = &a->offset;
  const std::vector<value> all = normalized_by(x, r);
  return {all[0], all[1], all[2]};
}

normalization_gradients gradient(const value& dy, const value& x, const normalized& of,
                                 const std::optional<value>& scale, bool rms) {
  const std::string_view name = rms ? "rms_norm_gradient" : "normalization_gradient";
  std::vector<value> inputs{dy, x, of.mean, of.inverse_deviation};
  if (scale) inputs.push_back(*scale);
  node_maker m(op::normalization_gradient, name, inputs);
  const std::size_t outputs = scale ? (rms ? 2 : 3) : 1;
  if (m.has_rank("x", x, 1, tensor_shape::max_rank)) {
    if (!std::equal(dy.extents().begin(), dy.extents().end(), x.extents().begin(), x.extents().end()))
      m.refuse_extents("dy", dy, cat(node_maker::text_of(x.extents()), ", as x has"));
    check_scale(m, "scale", scale ? &*scale : nullptr, x);
  }
  normalization_attributes a{};
  a.groups = 1, a.rms = rms, a.has_affine = scale.has_value();
  const auto statistics = of.inverse_deviation.extents();
  for (std::size_t i = 0; m.fine() && i < x.rank(); ++i) {
    const std::int64_t here = i < statistics.size() ? statistics[i] : 0, whole = x.extents()[i];
    const bool grouped = i == 1 && x.rank() < tensor_shape::max_rank && here > 1 && here < whole && whole % here == 0;
    if (statistics.size() != x.rank() || (here != 1 && here != whole && !grouped))
      m.refuse_extents("inverse_deviation", of.inverse_deviation,
                       cat("the extents of x, ", node_maker::text_of(x.extents()),
                           ", but 1 along each normalized axis, or the number of groups along axis 1"));
    // Along an axis on which x has the extent 1, statistics are the same whether they are taken over the axis or not.
    if (here == 1 || grouped) a.over |= std::int64_t{1} << i;
    if (grouped) a.groups = here;
  }
  if (m.fine() && !std::equal(statistics.begin(), statistics.end(), of.mean.extents().begin(), of.mean.extents().end()))
    m.refuse_extents("mean", of.mean, cat(node_maker::text_of(statistics), ", as inverse_deviation has"));
  m.with(a);
  const dtype type = detail::floating_type({dy, x});
  m.add_output(type, x.extents());
  for (std::size_t i = 1; i < outputs; ++i) m.add_output(type, scale->extents());
  std::vector<value> all = m.all(outputs);
  const auto missing = [&](std::string_view what) {
    return detail::not_computed(op::normalization_gradient, name, what, "a scale to be given");
  };
  return {all[0], outputs > 1 ? all[1] : missing("dscale"), outputs > 2 ? all[2] : missing("doffset")};
}

}  // namespace

normalized normalize(const value& x, std::span<const std::size_t> over, double epsilon,
                     const std::optional<affine>& a) {
  return with(x, {.name = "normalization", .over = over, .epsilon = epsilon}, a);
}
normalized layer_norm(const value& x, std::size_t count, double epsilon, const std::optional<affine>& a) {
  const auto over = last(x.rank(), count);
  return with(x, {.name = "layer_norm", .over = over, .epsilon = epsilon}, a);
}
normalized instance_norm(const value& x, double epsilon, const std::optional<affine>& a) {
  const auto over = all_but(x.rank(), {0, 1});
  return with(x, {.name = "instance_norm", .over = over, .epsilon = epsilon}, a);
}
normalized group_norm(const value& x, std::int64_t groups, double epsilon, const std::optional<affine>& a) {
  const auto over = all_but(x.rank(), {0});
  return with(x, {.name = "group_norm", .over = over, .epsilon = epsilon, .groups = groups}, a);
}
normalized rms_norm(const value& x, std::size_t count, double epsilon, const std::optional<value>& scale) {
  const auto over = last(x.rank(), count);
  const std::vector<value> all = normalized_by(
      x, {.name = "rms_norm", .over = over, .epsilon = epsilon, .rms = true, .scale = scale ? &*scale : nullptr});
  return {all[0], all[1], all[2]};
}

batch_normalized batch_norm(const value& x, double epsilon, const std::optional<affine>& given,
                            const std::optional<running_averages>& running) {
  const std::optional<affine> a = as_tensors(given);
  const auto over = all_but(x.rank(), {1});
  norm_parameters r{.name = "batch_norm", .over = over, .epsilon = epsilon};
  if (a) r.scale = &a->scale, r.offset = &a->offset;
  if (running) r.running = &*running;
  std::vector<value> all = normalized_by(x, r);
  if (!running)
    all.resize(5, detail::not_computed(op::normalization, "batch_norm", "next running average",
                                       "running averages to be given"));
  return {{all[0], all[1], all[2]}, all[3], all[4]};
}

value normalize_with(const value& x, const value& mean, const value& variance, double epsilon,
                     const std::optional<affine>& a) {
  node_maker m(op::pointwise, "normalize_with", {x, mean, variance});
  if (!(epsilon >= 0) || !std::isfinite(epsilon)) m.refuse("epsilon", "is " + std::to_string(epsilon), "0 or more");
  check_scale(m, "mean", &mean, x);
  check_scale(m, "variance", &variance, x);
  if (a && a->scale.rank() != 0) check_scale(m, "scale", &a->scale, x);
  if (a && a->offset.rank() != 0) check_scale(m, "offset", &a->offset, x);
  if (!m.fine()) return m.done();
  const value y = (x - mean) * (1 / sqrt(variance + epsilon));
  return a ? y * a->scale + a->offset : y;
}

normalization_gradients normalization_gradient(const value& dy, const value& x, const normalized& of,
                                               const std::optional<value>& scale) {
  return gradient(dy, x, of, scale, false);
}
normalization_gradients rms_norm_gradient(const value& dy, const value& x, const normalized& of,
                                          const std::optional<value>& scale) {
  return gradient(dy, x, of, scale, true);
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

void differentiate_normalization(node_differentiation& d) {
  if (!d.only_first_has_gradient()) return;
  const auto a = d.attributes<normalization_attributes>();
  const normalization_places at(a);
  const std::optional<value> scale = at.scale != absent ? std::optional(d.in(at.scale)) : std::nullopt;
  const normalized of{d.out(at.y), d.out(at.mean), d.out(at.deviation)};
  const normalization_gradients g = a.rms != 0 ? rms_norm_gradient(d.dy(), d.in(at.x), of, scale)
                                               : normalization_gradient(d.dy(), d.in(at.x), of, scale);
  d.set(at.x, [&] { return g.dx; });
  if (at.scale != absent) d.set(at.scale, [&] { return g.dscale; });
  if (at.offset != absent) d.set(at.offset, [&] { return g.doffset; });
}

// Without elements, running averages do not change.
known_output normalization_of_nothing(const producer& p, std::size_t output) {
  const auto a = p.attributes.as<normalization_attributes>();
  const normalization_places at(a);
  if (output == at.next_mean) return input_or_zero(p, at.running_mean);
  if (output == at.next_variance) return input_or_zero(p, at.running_variance);
  return {output == at.mean && a.rms != 0 ? 0 : std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace troupe::dnn::detail
