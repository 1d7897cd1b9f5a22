// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/support/cases.hpp>

namespace troupe::dnn::support {
namespace {

// A convolution of images with 32 channels.
struct convolution_case {
  std::string variant;
  extents image, filters;
  convolution_options options;
};
std::vector<convolution_case> convolution_cases() {
  return {{"1-D", {2, 32, 96}, {32, 32, 3}, {.padding = 1}},
          {"2-D", {2, 32, 14, 14}, {32, 32, 3, 3}, {.padding = 1}},
          {"3-D", {2, 32, 6, 6, 6}, {32, 32, 3, 3, 3}, {.padding = 1}},
          {"in groups", {2, 32, 14, 14}, {32, 16, 3, 3}, {.padding = 1, .groups = 2}},
          {"of single channels", {2, 32, 14, 14}, {32, 1, 3, 3}, {.padding = 1, .groups = 32}}};
}

void add_convolutions(std::vector<support_case>& to) {
  for (const convolution_case& c : convolution_cases())
    to.push_back({"convolution", c.variant, op::convolution,
                  [=](tensors& t) { return results{{convolution(t.given(c.image), t.given(c.filters), c.options)}}; }});
  for (const convolution_case& c : convolution_cases())
    to.push_back({"convolution_data_gradient", c.variant, op::convolution_data_gradient, [=](tensors& t) {
                    return results{
                        {convolution_data_gradient(t.given(c.image), t.given(c.filters), c.image, c.options)}};
                  }});
  for (const convolution_case& c : convolution_cases())
    to.push_back({"convolution_weight_gradient", c.variant, op::convolution_weight_gradient, [=](tensors& t) {
                    return results{
                        {convolution_weight_gradient(t.given(c.image), t.given(c.image), c.filters, c.options)}};
                  }});
}

void add_pooling(std::vector<support_case>& to) {
  for (std::size_t spatial = 1; spatial <= most_spatial; ++spatial) {
    extents image{2, 8}, small = image;
    for (std::size_t i = 0; i < spatial; ++i) image.push_back(16), small.push_back(8);
    const auto add = [&](const char* name, op what, auto make) {
      to.push_back({name, cat(spatial, "-D"), what, make});
    };
    add("max_pool", op::pooling, [=](tensors& t) { return results{{max_pool(t.given(image), 2)}}; });
    add("max_pool_gradient", op::pooling_gradient,
        [=](tensors& t) { return results{{max_pool_gradient(t.given(small), t.given(image), 2)}}; });
    add("mean_pool", op::pooling, [=](tensors& t) { return results{{mean_pool(t.given(image), 2)}}; });
    add("mean_pool_gradient", op::pooling_gradient,
        [=](tensors& t) { return results{{mean_pool_gradient(t.given(small), image, 2)}}; });
    add("max_pool_with_indexes", op::pooling_with_indexes, [=](tensors& t) {
      const pooled p = max_pool_with_indexes(t.given(image), 2);
      return results{{p.y}, {p.indexes}};
    });
    add("max_pool_index_gradient", op::pooling_index_gradient, [=](tensors& t) {
      return results{{max_pool_index_gradient(t.given(small), t.of(dtype::i32, small), image, 2)}};
    });
  }
}

void add_resampling(std::vector<support_case>& to) {
  constexpr std::pair<const char*, resampling_kind> kinds[] = {
      {"nearest", resampling_kind::nearest}, {"linear", resampling_kind::linear}, {"cubic", resampling_kind::cubic}};
  for (const auto& [name, kind] : kinds)
    to.push_back({"resample", name, op::resampling, [kind = kind](tensors& t) {
                    return results{{resample(t.given({2, 8, 8, 8}), {16, 16}, {.kind = kind})}};
                  }});
  for (const auto& [name, kind] : kinds)
    to.push_back({"resample_gradient", name, op::resampling_gradient, [kind = kind](tensors& t) {
                    return results{{resample_gradient(t.given({2, 8, 16, 16}), {8, 8}, {.kind = kind})}};
                  }});
}

}  // namespace

std::vector<support_case> cases_of_images() {
  const extents image{2, 8, 8, 8};
  std::vector<support_case> out;
  add_convolutions(out);
  add_pooling(out);
  add_resampling(out);
  out.push_back({"local_response_norm", "", op::local_response_norm,
                 [=](tensors& t) { return results{{local_response_norm(t.given(image))}}; }});
  out.push_back({"local_response_norm_gradient", "", op::local_response_norm_gradient,
                 [=](tensors& t) { return results{{local_response_norm_gradient(t.given(image), t.given(image))}}; }});
  return out;
}

}  // namespace troupe::dnn::support
