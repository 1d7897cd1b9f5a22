// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <troupe/dnn/onednn/convolution_primitives.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>

namespace troupe::dnn::onednn {
namespace {

using sizes = dnnl_dims_t;

layout layout_of(const tensor_shape& s) {
  sizes extents{}, strides{};
  for (std::size_t i = 0; i < s.rank; ++i) extents[i] = s.extents[i], strides[i] = s.strides[i];
  layout out{};
  (void)calls().layout_by_strides(&out, static_cast<int>(s.rank), extents, dnnl_f32, strides);
  return out;
}
layout any(const layout& l) {
  layout out{};
  (void)calls().layout_by_tag(&out, l.ndims, l.dims, dnnl_f32, dnnl_format_tag_any);
  return out;
}
// Returns oneDNN's layout of filters. If there are several groups, it has one more axis, the first one.
layout layout_of_filters(const tensor_shape& s, std::int64_t groups) {
  if (groups == 1) return layout_of(s);
  tensor_shape divided{.rank = s.rank + 1};
  divided.extents[0] = groups, divided.extents[1] = s.extents[0] / groups;
  divided.strides[0] = s.strides[0] * divided.extents[1], divided.strides[1] = s.strides[0];
  for (std::size_t i = 1; i < s.rank; ++i) divided.extents[i + 1] = s.extents[i], divided.strides[i + 1] = s.strides[i];
  return layout_of(divided);
}
layout layout_of_bias(std::int64_t channels) { return layout_of({.rank = 1, .extents = {channels}, .strides = {1}}); }
// Returns the layout of a tensor with one element for each channel of an image.
layout layout_of_channels(const tensor_shape& image) {
  tensor_shape s{.rank = image.rank};
  std::fill_n(s.extents.begin(), s.rank, 1);
  s.extents[1] = image.extents[1];
  s.strides = dense_strides(s);
  return layout_of(s);
}

class convolution_builder {
 public:
  convolution_builder(dnnl_engine_t on, const convolution_to_build& c)
      : on_(on),
        c_(c),
        image_(layout_of(c.image)),
        filters_(layout_of_filters(c.filters, c.attributes.groups)),
        result_(layout_of(c.result)) {
    for (std::size_t i = 0; i < windows::most_spatial; ++i) {
      const windows::slide& s = c.attributes.slides[i];
      stride_[i] = s.stride, dilation_[i] = s.dilation - 1;
      padding_before_[i] = s.padding_before, padding_after_[i] = s.padding_after;
    }
  }

  std::optional<primitive_list> build() {
    switch (c_.what) {
      case op::convolution:
        return forward();
      case op::convolution_data_gradient:
        return gradient(DNNL_ARG_DIFF_DST, result_, DNNL_ARG_WEIGHTS, filters_, DNNL_ARG_DIFF_SRC, image_);
      default:
        return gradient(DNNL_ARG_DIFF_DST, result_, DNNL_ARG_SRC, image_, DNNL_ARG_DIFF_WEIGHTS, filters_);
    }
  }

 private:
  using strategy = convolution_to_build::strategy;

  layout computed(const layout& stored, const tensor_shape& s) const {
    return c_.strategy_used == strategy::library_choice
               ? any(stored)
               : layout_of(with_dense_strides(s, c_.strategy_used == strategy::channels_last));
  }
  layout computed_filters() const {
    return c_.strategy_used == strategy::products
               ? layout_of_filters(with_dense_strides(c_.filters, false), c_.attributes.groups)
               : any(filters_);
  }

  std::optional<primitive_list> forward() {
    const layout bias = layout_of_bias(c_.result.extents[1]);
    const auto attributes = function_attributes();
    const description d = describe_forward(dnnl_forward_inference, c_.has_bias ? &bias : nullptr, attributes.get());
    if (!is_good(d)) return std::nullopt;
    primitive_list out(on_);
    std::size_t next = 0;
    std::vector<primitive_list::operand> operands;
    const auto x = out.with_layout(primitive_list::argument(next++, image_),
                                   *calls().query_layout(d.get(), dnnl_query_src_md, 0)),
               w = out.with_layout(primitive_list::argument(next++, filters_),
                                   *calls().query_layout(d.get(), dnnl_query_weights_md, 0));
    if (!x || !w) return std::nullopt;
    operands = {{DNNL_ARG_SRC, *x}, {DNNL_ARG_WEIGHTS, *w}};
    if (c_.has_bias) operands.push_back({DNNL_ARG_BIAS, primitive_list::argument(next++, bias)});
    const layout channels = layout_of_channels(c_.result);
    for (std::size_t i = 0; i < c_.functions.size(); ++i)
      if (c_.functions[i].has_other)
        operands.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1,
                            primitive_list::argument(next++, channels)});
    return finish(std::move(out), d, std::move(operands), DNNL_ARG_DST, dnnl_query_dst_md,
                  primitive_list::argument(next, result_));
  }

  std::optional<primitive_list> gradient(int first, const layout& a, int second, const layout& b, int third,
                                         const layout& to) {
    const auto attributes = user_scratchpad_attributes();
    const description hint = describe_forward(dnnl_forward_training, nullptr, attributes.get());
    if (!hint) return std::nullopt;
    dnnl_convolution_desc_t what{};
    const layout image = computed(image_, c_.image), filters = computed_filters(),
                 result = computed(result_, c_.result);
    const dnnl_status_t status =
        c_.what == op::convolution_data_gradient
            ? calls().backward_data(&what, dnnl_convolution_direct, &image, &filters, &result, stride_, dilation_,
                                    padding_before_, padding_after_)
            : calls().backward_weights(&what, dnnl_convolution_direct, &image, &filters, nullptr, &result, stride_,
                                       dilation_, padding_before_, padding_after_);
    if (status != dnnl_success) return std::nullopt;
    const description d = described(what, attributes.get(), hint.get());
    if (!is_good(d)) return std::nullopt;
    const auto query = [](int name) {
      return name == DNNL_ARG_DIFF_DST       ? dnnl_query_diff_dst_md
             : name == DNNL_ARG_WEIGHTS      ? dnnl_query_weights_md
             : name == DNNL_ARG_SRC          ? dnnl_query_src_md
             : name == DNNL_ARG_DIFF_WEIGHTS ? dnnl_query_diff_weights_md
                                             : dnnl_query_diff_src_md;
    };
    primitive_list out(on_);
    const auto left = out.with_layout(primitive_list::argument(0, a), *calls().query_layout(d.get(), query(first), 0)),
               right =
                   out.with_layout(primitive_list::argument(1, b), *calls().query_layout(d.get(), query(second), 0));
    if (!left || !right) return std::nullopt;
    return finish(std::move(out), d, {{first, *left}, {second, *right}}, third, query(third),
                  primitive_list::argument(2, to));
  }

  // Adds the described primitive, and stores the primitive's result in `to`.
  static std::optional<primitive_list> finish(primitive_list out, const description& d,
                                              std::vector<primitive_list::operand> operands, int name,
                                              dnnl_query_t which, const primitive_list::tensor& to) {
    const layout& made = *calls().query_layout(d.get(), which, 0);
    const bool is_in_place = calls().layouts_equal(&made, &to.format) != 0;
    const primitive_list::tensor at = is_in_place ? to : out.add_intermediate(made);
    operands.push_back({name, at});
    if (!out.add(d, std::move(operands))) return std::nullopt;
    if (!is_in_place && !out.copy(at, to)) return std::nullopt;
    return out;
  }

  description describe_forward(dnnl_prop_kind_t kind, const layout* bias, const_dnnl_primitive_attr_t how) const {
    dnnl_convolution_desc_t what{};
    const layout image = computed(image_, c_.image), filters = computed_filters(),
                 result = computed(result_, c_.result);
    if (how == nullptr || calls().forward(&what, kind, dnnl_convolution_direct, &image, &filters, bias, &result,
                                          stride_, dilation_, padding_before_, padding_after_) != dnnl_success)
      return {};
    return described(what, how, nullptr);
  }
  description described(const dnnl_convolution_desc_t& what, const_dnnl_primitive_attr_t how,
                        const_dnnl_primitive_desc_t hint) const {
    dnnl_primitive_desc_t made = nullptr;
    if (calls().describe(&made, &what, how, on_, hint) != dnnl_success) return {};
    return description(made);
  }

  attributes function_attributes() const {
    attributes out = user_scratchpad_attributes();
    if (!out || c_.functions.empty()) return out;
    dnnl_post_ops_t made = nullptr;
    if (calls().create_functions(&made) != dnnl_success) return {};
    const post_operations all(made);
    const layout channels = layout_of_channels(c_.result);
    for (const convolution_to_build::function& f : c_.functions) {
      const dnnl_status_t status = f.has_other ? calls().append_binary(made, f.kind, &channels)
                                               : calls().append_function(made, 1, f.kind, f.alpha, 0);
      if (status != dnnl_success) return {};
    }
    if (calls().set_functions(out.get(), made) != dnnl_success) return {};
    return out;
  }

  // Returns true if oneDNN's implementation is fast. It must not consist of reference loops. With the strategy
  // `products`, it must multiply matrices, and there must be no functions; with other strategies, it must not multiply
  // matrices.
  bool is_good(const description& d) const {
    if (!d) return false;
    const char* text = nullptr;
    if (calls().query(d.get(), dnnl_query_impl_info_str, 0, &text) != dnnl_success || text == nullptr) return false;
    const std::string_view name(text);
    if (c_.strategy_used == strategy::products) return name.find("gemm:jit") != name.npos && c_.functions.empty();
    return name.find("ref") == name.npos && name.find("gemm") == name.npos;
  }

  const dnnl_engine_t on_;
  const convolution_to_build& c_;
  const layout image_, filters_, result_;
  sizes stride_{}, dilation_{}, padding_before_{}, padding_after_{};
};

}  // namespace

std::optional<primitive_list> make_primitive_list(dnnl_engine_t on, const convolution_to_build& c) {
  return convolution_builder(on, c).build();
}

}  // namespace troupe::dnn::onednn
