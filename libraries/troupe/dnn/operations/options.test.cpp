// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that each option of operations on images, elements and blocks changes the results.
#include <troupe/dnn/testing/option_cases.hpp>

namespace troupe::dnn::testing {
namespace {

struct convolution_case {
  TROUPE_OPTIONS(convolution_options, padding, padding_after, stride, dilation, groups)
  static options make(value_source&) {
    return {.padding = {1, 0}, .padding_after = {2, 1}, .stride = {2, 1}, .dilation = {1, 2}, .groups = 2};
  }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const value x = t({2, 4, 6, 5}), filters = t({6, 2, 3, 2}), dy = t({2, 6, 4, 4});
    return {{"convolution", {convolution(x, filters, o)}},
            {"its gradient of x", {convolution_data_gradient(dy, filters, {2, 4, 6, 5}, o)}},
            {"its gradient of filters", {convolution_weight_gradient(dy, x, {6, 2, 3, 2}, o)}},
            {"transposed convolution", {transposed_convolution(dy, filters, o, {1, 0})}}};
  }
  static std::vector<change<options>> changes(value_source&) {
    return {TROUPE_SET(padding, {2, 0}),       TROUPE_SET(padding, {0, 1}), TROUPE_SET(padding, -1),
            TROUPE_SET(padding_after, {1, 1}), TROUPE_NONE(padding_after),  TROUPE_SET(stride, {1, 1}),
            TROUPE_SET(stride, {2, 2}),        TROUPE_SET(stride, 0),       TROUPE_SET(dilation, {1, 1}),
            TROUPE_SET(dilation, 0),           TROUPE_SET(groups, 1),       TROUPE_SET(groups, 0)};
  }
};
// Filters that allow any number of groups, so that another number changes the results instead of being refused.
struct ungrouped_filters_case {
  struct options_of_groups {
    std::int64_t groups;
  };
  TROUPE_OPTIONS(options_of_groups, groups)
  static options make(value_source&) { return {1}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const value x = t({2, 4, 5}), dy = t({2, 4, 3});
    const std::int64_t of_group = o.groups > 0 ? 4 / o.groups : 4;
    return {{"convolution", {convolution(x, slice(t({4, 4, 3}), 1, 0, of_group), {.groups = o.groups})}},
            {"its gradient of filters", {convolution_weight_gradient(dy, x, {4, of_group, 3}, {.groups = o.groups})}}};
  }
  static std::vector<change<options>> changes(value_source&) {
    return {TROUPE_SET(groups, 2), TROUPE_SET(groups, 4), TROUPE_SET(groups, 3), TROUPE_SET(groups, 0)};
  }
};

struct pooling_case {
  TROUPE_OPTIONS(pooling_options, padding, padding_after, stride, dilation)
  static options make(value_source&) {
    return {.padding = {1, 0}, .padding_after = {2, 1}, .stride = {2, 1}, .dilation = {1, 2}};
  }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const value x = t({2, 3, 7, 6}), like = mean_pool(x, {3, 2}, o);
    const auto e = like.extents();
    // dy has the extents that follow from the options, so that changed options are not refused because of dy.
    const value dy = e.empty() ? x : t({e.begin(), e.end()});
    const pooled p = max_pool_with_indexes(x, {3, 2}, o);
    return {{"maximum", {max_pool(x, {3, 2}, o)}},
            {"mean", {mean_pool(x, {3, 2}, o)}},
            {"mean of the image", {mean_pool(x, {3, 2}, o, false)}},
            {"maximum with indexes", {p.y, p.indexes}},
            {"gradient of a maximum", {max_pool_gradient(dy, x, {3, 2}, o)}},
            {"gradient of a mean", {mean_pool_gradient(dy, {{2, 3, 7, 6}}, {3, 2}, o)}},
            {"gradient from indexes", {max_pool_index_gradient(dy, p.indexes, {{2, 3, 7, 6}}, {3, 2}, o)}}};
  }
  static std::vector<change<options>> changes(value_source&) {
    return {TROUPE_SET(padding, {2, 0}), TROUPE_SET(padding, 3),  TROUPE_SET(padding_after, {0, 0}),
            TROUPE_NONE(padding_after),  TROUPE_SET(stride, 1),   TROUPE_NONE(stride),
            TROUPE_SET(stride, 0),       TROUPE_SET(dilation, 1), TROUPE_SET(dilation, {1, 2, 1})};
  }
};

struct response_norm_case {
  TROUPE_OPTIONS(response_norm_options, size, alpha, beta, k)
  static options make(value_source&) { return {.size = 3, .alpha = 0.5, .beta = 0.8, .k = 1.5}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const value x = t({2, 6, 3}), dy = t({2, 6, 3});
    return {{"local_response_norm", {local_response_norm(x, o)}},
            {"its gradient", {local_response_norm_gradient(dy, x, o)}}};
  }
  static std::vector<change<options>> changes(value_source&) {
    return {TROUPE_SET(size, 4),   TROUPE_SET(size, 0),        TROUPE_SET(alpha, 0.6), TROUPE_SET(alpha, -1),
            TROUPE_SET(beta, 0.7), TROUPE_SET(beta, INFINITY), TROUPE_SET(k, 1),       TROUPE_SET(k, 0)};
  }
};

struct resampling_case {
  TROUPE_OPTIONS(resampling_options, kind, coordinates, rounding)
  static options make(value_source&) { return {}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const value x = t({2, 1, 4, 5}), dy = t({2, 1, 7, 3});
    resampling_options nearest = o;
    nearest.kind = resampling_kind::nearest;
    return {{"to extents", {resample(x, {7, 3}, o)}, {"kind", "coordinates"}},
            {"by factors", {resample_by(x, {1.8, 0.7}, o)}, {"kind", "coordinates"}},
            {"gradient", {resample_gradient(dy, {4, 5}, o)}, {"kind", "coordinates"}},
            {"to the nearest elements", {resample(x, {6, 2}, nearest)}, {"coordinates", "rounding"}},
            {"gradient of the nearest", {resample_gradient(dy, {4, 5}, nearest)}, {"coordinates", "rounding"}}};
  }
  static std::vector<change<options>> changes(value_source&) {
    return {TROUPE_SET(kind, resampling_kind::nearest), TROUPE_SET(kind, resampling_kind::cubic),
            TROUPE_SET(coordinates, resampling_coordinates::align_corners),
            TROUPE_SET(coordinates, resampling_coordinates::asymmetric), TROUPE_SET(rounding, nearest_rounding::floor)};
  }
};

struct quantization_case {
  TROUPE_OPTIONS(block_options, along, block, elements, scales)
  static options make(value_source&) { return {.along = 1, .block = 4}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const block_scaled b = quantize_blocks(t({6, 8}), o);
    return {{"quantize_blocks", {b.elements, b.scales}}};
  }
  static std::vector<change<options>> changes(value_source&) {
    return {TROUPE_SET(along, 0),
            TROUPE_SET(along, 2),
            TROUPE_SET(block, 3),
            TROUPE_SET(block, 0),
            TROUPE_SET(elements, dtype::f8e5m2),
            TROUPE_SET(elements, dtype::f4e2m1),
            TROUPE_SET(elements, dtype::f16),
            TROUPE_SET(scales, dtype::f8e4m3),
            TROUPE_SET(scales, dtype::f32),
            TROUPE_SET(scales, dtype::f16)};
  }
};
struct dequantization_case {
  struct arguments {
    std::size_t along;
    std::int64_t block;
  };
  TROUPE_OPTIONS(arguments, along, block)
  static options make(value_source&) { return {1, 4}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const value elements = t({4, 4});
    extents e{4, 4};
    if (o.along < 2 && o.block > 0) e[o.along] = (4 + o.block - 1) / o.block;
    return {{"dequantize_blocks", {dequantize_blocks(elements, t(e), o.along, o.block)}}};
  }
  static std::vector<change<options>> changes(value_source&) {
    return {TROUPE_SET(along, 0), TROUPE_SET(along, 2), TROUPE_SET(block, 2), TROUPE_SET(block, 0)};
  }
};

struct cumulative_case {
  TROUPE_OPTIONS(cumulative_options, exclusive, reversed)
  static options make(value_source&) { return {}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    return {{"cumulative_sum", {cumulative_sum(t({3, 4}), 1, o)}}};
  }
  static std::vector<change<options>> changes(value_source&) {
    return {TROUPE_SET(exclusive, true), TROUPE_SET(reversed, true)};
  }
};
struct selection_case {
  TROUPE_OPTIONS(top_k_options, smallest)
  static options make(value_source&) { return {}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const selected s = top_k(t({3, 4}), 1, 2, o);
    return {{"top_k", {s.values, s.indexes}}};
  }
  static std::vector<change<options>> changes(value_source&) { return {TROUPE_SET(smallest, true)}; }
};
struct rotary_case {
  TROUPE_OPTIONS(rotary_options, width, interleaved, base)
  static options make(value_source&) { return {}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const value x = t({2, 3, 8}), table = t({3, o.width > 0 ? o.width / 2 : 4});
    return {{"rotary", {rotary(x, t.whole({3}, {1, 5, 7}), o)}},
            {"rotary by tables", {rotary(x, table, 2 * table, o)}, {"width", "interleaved"}}};
  }
  static std::vector<change<options>> changes(value_source&) {
    return {TROUPE_SET(width, 6), TROUPE_SET(width, 5), TROUPE_SET(width, 10), TROUPE_SET(interleaved, true),
            TROUPE_SET(base, 50)};
  }
};
struct cross_entropy_case {
  TROUPE_OPTIONS(cross_entropy_options, label_smoothing, ignored)
  static options make(value_source&) { return {}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    return {{"cross_entropy", {cross_entropy(t({3, 4}), t.whole({3, 1}, {2, 0, 3}), 1, o)}}};
  }
  static std::vector<change<options>> changes(value_source&) {
    return {TROUPE_SET(label_smoothing, 0.1), TROUPE_SET(label_smoothing, 2), TROUPE_SET(ignored, 0)};
  }
};

struct random_case {
  struct seeds {
    std::uint64_t seed, offset;
    std::optional<value> words;
    double probability;
    random_seed all() const { return words ? random_seed(*words, offset) : random_seed(seed, offset); }
  };
  TROUPE_OPTIONS(seeds, seed, offset, words, probability)
  static options make(value_source&) { return {7, 3, {}, 0.4}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    return {{"random_bernoulli", {random_bernoulli({90}, o.probability, o.all())}},
            {"dropout", {dropout(t({90}), o.probability, o.all())}},
            {"its gradient", {dropout_gradient(t({90}), o.probability, o.all())}},
            {"random_uniform", {random_uniform({90}, o.all())}, {"seed", "offset", "words"}},
            {"random_normal", {random_normal({90}, o.all())}, {"seed", "offset", "words"}}};
  }
  static std::vector<change<options>> changes(value_source& t) {
    const value two = t.whole({2}, {7, 1}), four = t.whole({4}, {7, 0, 5, 0}), three = t.whole({3}, {7, 0, 5});
    return {TROUPE_SET(seed, 8),      TROUPE_SET(seed, 7 + (std::uint64_t{1} << 32)),
            TROUPE_SET(offset, 4),    TROUPE_SET(offset, 3 + (std::uint64_t{1} << 40)),
            TROUPE_SET(words, two),   TROUPE_SET(words, four),
            TROUPE_SET(words, three), TROUPE_SET(probability, 0.6)};
  }
};

struct normalization_case {
  struct arguments {
    double epsilon;
    value scale, offset;
  };
  TROUPE_OPTIONS(arguments, epsilon, scale, offset)
  static options make(value_source& t) { return {1e-2, t({1, 4, 1}), t({1, 4, 1})}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const value x = t({3, 4, 5}), dy = t({3, 4, 5});
    const affine a{o.scale, o.offset};
    const normalized over_images = normalize(x, std::vector<std::size_t>{0, 2}, o.epsilon, a);
    const running_averages r{t({1, 4, 1}), t({1, 4, 1}), 0.3};
    const auto g = normalization_gradient(dy, x, layer_norm(x, 2, o.epsilon), o.scale),
               s = rms_norm_gradient(dy, x, rms_norm(x, 2, o.epsilon), o.scale);
    return {{"normalize", {over_images.y}},
            {"batch_norm", {batch_norm(x, o.epsilon, a, r).y}},
            {"layer_norm", {layer_norm(x, 2, o.epsilon, a).y}},
            {"group_norm", {group_norm(x, 2, o.epsilon, a).y}},
            {"instance_norm", {instance_norm(x, o.epsilon, a).y}},
            {"rms_norm", {rms_norm(x, 2, o.epsilon, o.scale).y}, {"epsilon", "scale"}},
            {"gradient", {g.dx, g.dscale, g.doffset}, {"epsilon", "scale"}},
            {"gradient of rms_norm", {s.dx, s.dscale}, {"epsilon", "scale"}}};
  }
  static std::vector<change<options>> changes(value_source& t) {
    const value other = t({1, 4, 1}), wrong = t({1, 3, 1});
    return {TROUPE_SET(epsilon, 1),   TROUPE_SET(epsilon, -1),   TROUPE_SET(scale, other),
            TROUPE_SET(scale, wrong), TROUPE_SET(offset, other), TROUPE_SET(offset, wrong)};
  }
};
struct running_averages_case {
  TROUPE_OPTIONS(running_averages, mean, variance, momentum)
  static options make(value_source& t) { return {t({1, 4, 1}), t({1, 4, 1}), 0.3}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const batch_normalized n = batch_norm(t({3, 4, 5}), 1e-2, {}, o);
    return {{"batch_norm", {n.next_mean, n.next_variance}}};
  }
  static std::vector<change<options>> changes(value_source& t) {
    const value other = t({1, 4, 1}), wrong = t({1, 3, 1});
    return {TROUPE_SET(mean, other),     TROUPE_SET(mean, wrong),   TROUPE_SET(variance, other),
            TROUPE_SET(variance, wrong), TROUPE_SET(momentum, 0.4), TROUPE_SET(momentum, 2)};
  }
};
// Axes, groups and kinds, which functions have as arguments instead of fields of a struct.
struct axes_case {
  struct arguments {
    std::size_t over;
    reduction_kind kind;
    std::int64_t groups;
    std::size_t count;
  };
  TROUPE_OPTIONS(arguments, over, kind, groups, count)
  static options make(value_source&) { return {1, reduction_kind::sum, 2, 1}; }
  static std::vector<operation> operations(value_source& t, const options& o) {
    const value x = t({4, 4, 4}) - 0.8, y = t({4, 4, 4});
    const std::vector<std::size_t> over{o.over};
    return {{"reduce", {reduce(x, o.kind, over)}, {"over", "kind"}},
            {"softmax", {softmax(x, o.over)}, {"over"}},
            {"log_softmax", {log_softmax(x, o.over)}, {"over"}},
            {"gradient of softmax", {softmax_gradient(x, y, o.over)}, {"over"}},
            {"gradient of log_softmax", {log_softmax_gradient(x, y, o.over)}, {"over"}},
            {"normalize", {normalize(x, over, 0.1).y}, {"over"}},
            {"group_norm", {group_norm(x, o.groups, 0.1).y}, {"groups"}},
            {"layer_norm", {layer_norm(x, o.count, 0.1).y}, {"count"}},
            {"rms_norm", {rms_norm(x, o.count, 0.1).y}, {"count"}}};
  }
  static std::vector<change<options>> changes(value_source&) {
    std::vector<change<options>> out{TROUPE_SET(over, 2),   TROUPE_SET(over, 3),  TROUPE_SET(groups, 4),
                                     TROUPE_SET(groups, 3), TROUPE_SET(count, 2), TROUPE_SET(count, 4)};
    for (auto k = reduction_kind::sum;; k = static_cast<reduction_kind>(static_cast<int>(k) + 1)) {
      if (k != reduction_kind::sum) out.push_back(TROUPE_SET(kind, k));
      if (!is_known(k)) return out;
    }
  }
};

using cases =
    ::testing::Types<convolution_case, ungrouped_filters_case, pooling_case, response_norm_case, resampling_case,
                     quantization_case, dequantization_case, random_case, normalization_case, running_averages_case,
                     axes_case, cumulative_case, selection_case, rotary_case, cross_entropy_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(dnn, option_cases, cases);

}  // namespace
}  // namespace troupe::dnn::testing
