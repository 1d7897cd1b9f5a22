// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/support/cases.hpp>

namespace troupe::dnn::support {
namespace {

void add_reductions(std::vector<support_case>& to) {
  using enum reduction_kind;
  constexpr std::pair<const char*, reduction_kind> kinds[] = {
      {"sum", sum},         {"mean", mean},   {"maximum", maximum}, {"minimum", minimum},
      {"product", product}, {"norm1", norm1}, {"norm2", norm2},     {"absolute_maximum", absolute_maximum}};
  for (const auto& [name, kind] : kinds)
    to.push_back({"reduce", name, op::reduction,
                  [kind = kind](tensors& t) { return results{{reduce(t.given({64, 64}), kind, {1})}}; }});
}

void add_softmax(std::vector<support_case>& to) {
  const extents e{64, 64};
  const auto add = [&](const char* name, op what, auto make) { to.push_back({name, "", what, make}); };
  add("softmax", op::softmax, [=](tensors& t) { return results{{softmax(t.given(e), 1)}}; });
  add("log_softmax", op::softmax, [=](tensors& t) { return results{{log_softmax(t.given(e), 1)}}; });
  add("softmax_gradient", op::softmax_gradient,
      [=](tensors& t) { return results{{softmax_gradient(t.given(e), t.given(e), 1)}}; });
  add("log_softmax_gradient", op::softmax_gradient,
      [=](tensors& t) { return results{{log_softmax_gradient(t.given(e), t.given(e), 1)}}; });
  add("cross_entropy", op::softmax,
      [=](tensors& t) { return results{{}, {cross_entropy(t.given(e), t.of(dtype::i32, {64, 1}), 1)}}; });
}

// Adds normalizations over rows of `width` elements.
void add_rows(std::vector<support_case>& to, std::int64_t width) {
  const extents x{32, width}, scale{1, width}, rows{32, 1};
  const auto add = [&](const char* name, op what, auto make) {
    to.push_back({name, cat("rows of ", width), what, make});
  };
  add("layer_norm", op::normalization, [=](tensors& t) {
    const normalized n = layer_norm(t.given(x), 1, 1e-5, affine{t.given(scale), t.given(scale)});
    return results{{n.y}, {n.mean, n.inverse_deviation}};
  });
  add("rms_norm", op::normalization, [=](tensors& t) {
    const normalized n = rms_norm(t.given(x), 1, 1e-5, t.given(scale));
    return results{{n.y}, {n.inverse_deviation}};
  });
  add("layer_norm's gradient", op::normalization_gradient, [=](tensors& t) {
    const value given = t.given(x);
    const normalized n{given, t.statistics(rows), t.statistics(rows)};
    const auto g = normalization_gradient(t.given(x), given, n, t.given(scale));
    return results{{g.dx}, {g.dscale, g.doffset}};
  });
  add("rms_norm's gradient", op::normalization_gradient, [=](tensors& t) {
    const value given = t.given(x);
    const normalized n{given, t.statistics(rows), t.statistics(rows)};
    const auto g = rms_norm_gradient(t.given(x), given, n, t.given(scale));
    return results{{g.dx}, {g.dscale}};
  });
}

// Adds batch normalizations of images with `channels` channels, which are last in memory if `last`.
void add_channels(std::vector<support_case>& to, std::int64_t channels, bool last) {
  const extents x{4, channels, 8, 8}, one{1, channels, 1, 1};
  const std::string variant = cat(channels, last ? " channels last" : " channels first");
  const auto image = [=](tensors& t) { return last ? t.channels_last(x) : t.given(x); };
  to.push_back({"batch_norm", variant, op::normalization, [=](tensors& t) {
                  const batch_normalized n = batch_norm(image(t), 1e-5, affine{t.given(one), t.given(one)},
                                                        running_averages{t.statistics(one), t.statistics(one)});
                  return results{{n.y}, {n.mean, n.inverse_deviation, n.next_mean, n.next_variance}, last};
                }});
  to.push_back({"batch_norm's gradient", variant, op::normalization_gradient, [=](tensors& t) {
                  const value given = image(t);
                  const normalized n{given, t.statistics(one), t.statistics(one)};
                  const auto g = normalization_gradient(image(t), given, n, t.given(one));
                  return results{{g.dx}, {g.dscale, g.doffset}, last};
                }});
}

void add_groups(std::vector<support_case>& to) {
  const extents x{4, 16, 8, 8}, one{1, 16, 1, 1}, of_each{4, 16, 1, 1}, of_groups{4, 4, 1, 1};
  to.push_back({"instance_norm", "", op::normalization, [=](tensors& t) {
                  return results{{instance_norm(t.given(x), 1e-5, affine{t.given(one), t.given(one)}).y}};
                }});
  to.push_back({"group_norm", "", op::normalization, [=](tensors& t) {
                  return results{{group_norm(t.given(x), 4, 1e-5, affine{t.given(one), t.given(one)}).y}};
                }});
  const auto gradient = [=](tensors& t, auto normalize) {
    const value given = t.given(x);
    const auto g = normalization_gradient(t.given(x), given, normalize(given), t.given(one));
    return results{{g.dx}, {g.dscale, g.doffset}};
  };
  to.push_back({"instance_norm's gradient", "", op::normalization_gradient,
                [=](tensors& t) { return gradient(t, [](const value& v) { return instance_norm(v, 1e-5); }); }});
  to.push_back({"group_norm's gradient", "", op::normalization_gradient,
                [=](tensors& t) { return gradient(t, [](const value& v) { return group_norm(v, 4, 1e-5); }); }});
}

void add_blocks(std::vector<support_case>& to) {
  for (const dtype elements : {dtype::f8e4m3, dtype::f8e5m2, dtype::f4e2m1})
    to.push_back({"quantize_blocks", cat("to ", to_string(elements)), op::block_quantization, [=](tensors& t) {
                    const block_scaled b = quantize_blocks(t.given({64, 64}), {.along = 1, .elements = elements});
                    return results{{}, {b.elements, b.scales}};
                  }});
  to.push_back({"dequantize_blocks", "", op::block_dequantization, [=](tensors& t) {
                  return results{{}, {dequantize_blocks(t.given({64, 64}), t.of(dtype::f8e8m0, {64, 2}), 1)}};
                }});
}

}  // namespace

std::vector<support_case> cases_of_sets() {
  std::vector<support_case> out;
  out.push_back({"product", "", op::product,
                 [](tensors& t) { return results{{product(t.given({4, 128, 96}), t.given({1, 96, 112}))}}; }});
  add_reductions(out);
  add_softmax(out);
  for (const std::int64_t width : {1024, 1020, 32768}) add_rows(out, width);
  add_channels(out, 16, true);
  add_channels(out, 12, true);
  add_channels(out, 16, false);
  add_groups(out);
  add_blocks(out);
  return out;
}

}  // namespace troupe::dnn::support
