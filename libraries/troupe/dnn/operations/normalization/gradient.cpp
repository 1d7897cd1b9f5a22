// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/normalization/normalization.hpp>
#include <troupe/dnn/operations/operations.hpp>

namespace troupe::dnn::detail {

void differentiate_normalization(node_differentiation& d) {
  if (!d.only_first_has_gradient()) return;
  const auto f = d.attributes<normalization_attributes>();
  const normalization_places at(f);
  const std::optional<value> scale = at.scale != absent ? std::optional(d.in(at.scale)) : std::nullopt;
  const normalized of{d.out(at.y), d.out(at.mean), d.out(at.deviation)};
  const normalization_gradients g = f.rms != 0 ? rms_norm_gradient(d.dy(), d.in(at.x), of, scale)
                                               : normalization_gradient(d.dy(), d.in(at.x), of, scale);
  d.set(at.x, [&] { return g.dx; });
  if (at.scale != absent) d.set(at.scale, [&] { return g.dscale; });
  if (at.offset != absent) d.set(at.offset, [&] { return g.doffset; });
}

// Running averages do not change.
known_output normalization_of_nothing(const producer& p, std::size_t output) {
  const auto f = p.attributes.as<normalization_attributes>();
  const normalization_places at(f);
  if (output == at.next_mean) return input_or_zero(p, at.running_mean);
  if (output == at.next_variance) return input_or_zero(p, at.running_variance);
  return {output == at.mean && f.rms != 0 ? 0 : std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace troupe::dnn::detail
