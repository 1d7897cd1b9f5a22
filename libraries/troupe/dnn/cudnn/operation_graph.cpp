// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cudnn/operation_graph.hpp>

namespace troupe::dnn::cudnn {
namespace {

// Returns a parameter of the window for each of cuDNN's spatial axes, of which there must be at least two.
std::vector<std::int64_t> spatial(const windows::slides& s, std::int64_t windows::slide::* parameter,
                                  std::size_t count) {
  std::vector<std::int64_t> out;
  if (count == 1) out.push_back(windows::slide().*parameter);
  for (std::size_t i = 0; i < count; ++i) out.push_back(s[i].*parameter);
  return out;
}

}  // namespace

std::optional<cudnnDataType_t> type_of(dtype t) noexcept {
  switch (t) {
    case dtype::f16:
      return CUDNN_DATA_HALF;
    case dtype::bf16:
      return CUDNN_DATA_BFLOAT16;
    case dtype::f32:
      return CUDNN_DATA_FLOAT;
    case dtype::f64:
      return CUDNN_DATA_DOUBLE;
    case dtype::i32:
      return CUDNN_DATA_INT32;
    case dtype::boolean:
      return CUDNN_DATA_BOOLEAN;
    default:
      return std::nullopt;
  }
}

// A descriptor of the graph. Each attribute that is set is appended to the description.
class operation_graph::graph_descriptor {
 public:
  graph_descriptor(operation_graph& graph, cudnnBackendDescriptorType_t kind) : graph_(graph), made_(kind) {
    graph_.describe(kind);
  }

  template <cudnnBackendAttributeName_t Name, class T>
  graph_descriptor& set(const T& value) {
    made_.set<Name>(value);
    graph_.describe(Name, value);
    return *this;
  }
  template <cudnnBackendAttributeName_t Name>
  graph_descriptor& set_all(std::span<const std::int64_t> values) {
    made_.set_all<Name>(values);
    graph_.describe(Name, values.size());
    for (const std::int64_t v : values) graph_.describe(v);
    return *this;
  }
  template <cudnnBackendAttributeName_t Name>
  graph_descriptor& refer(tensor_id t) {
    made_.refer<Name>(graph_.tensors_[static_cast<std::size_t>(t - 1)]);
    graph_.describe(Name, t);
    return *this;
  }
  /// Refers to the descriptor that was added before.
  template <cudnnBackendAttributeName_t Name>
  graph_descriptor& refer_to_last() {
    made_.refer<Name>(graph_.made_.back().get());
    graph_.describe(Name);
    return *this;
  }

  /// Adds the descriptor to the graph, and returns its handle.
  cudnnBackendDescriptor_t add() {
    if (auto valid = made_.finalize().check(); !valid && !graph_.failed_) graph_.failed_ = valid.error();
    graph_.made_.push_back(std::move(made_));
    return graph_.made_.back().get();
  }
  void add_operation() { graph_.operations_.push_back(add()); }

 private:
  operation_graph& graph_;
  descriptor made_;
};

operation_graph::tensor_id operation_graph::add(dtype type, const tensor_shape& s, place where) {
  std::array<std::int64_t, tensor_shape::max_rank + 1> extents{}, strides{};
  std::size_t rank = 0;
  const auto put = [&](std::int64_t extent, std::int64_t stride) { extents[rank] = extent, strides[rank++] = stride; };
  for (std::size_t i = 0; i < s.rank; ++i) {
    if (i == 2 && s.rank == 3) put(1, s.extents[2] * s.strides[2]);
    put(s.extents[i], s.strides[i]);
  }
  const auto name = static_cast<tensor_id>(tensors_.size() + 1);
  graph_descriptor p(*this, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  p.set<CUDNN_ATTR_TENSOR_UNIQUE_ID>(name)
      .set<CUDNN_ATTR_TENSOR_DATA_TYPE>(type_of(type).value_or(CUDNN_DATA_FLOAT))
      .set_all<CUDNN_ATTR_TENSOR_DIMENSIONS>({extents.data(), rank})
      .set_all<CUDNN_ATTR_TENSOR_STRIDES>({strides.data(), rank})
      .set<CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT>(std::int64_t{16});
  if (where == place::intermediate) p.set<CUDNN_ATTR_TENSOR_IS_VIRTUAL>(true);
  if (where == place::constant) p.set<CUDNN_ATTR_TENSOR_IS_BY_VALUE>(true);
  if (where == place::argument) arguments_.push_back(name), rank_ = std::max(rank_, s.rank);
  tensors_.push_back(p.add());
  return name;
}

operation_graph::tensor_id operation_graph::constant(double n, dtype type) {
  tensor_shape one{.rank = rank_};
  for (std::size_t i = 0; i < rank_; ++i) one.extents[i] = one.strides[i] = 1;
  const tensor_id name = add(type, one, place::constant);
  constant_names_.push_back(name);
  constants_.push_back(type == dtype::i32 ? std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(n))
                                          : std::bit_cast<std::uint32_t>(static_cast<float>(n)));
  describe(constants_.back());
  return name;
}

void operation_graph::convolution(op what, const convolution_attributes& attributes, dtype compute, tensor_id a,
                                  tensor_id b, tensor_id to) {
  const std::size_t count = rank_ - 2;
  const auto padding_before = spatial(attributes.slides, &windows::slide::padding_before, count),
             padding_after = spatial(attributes.slides, &windows::slide::padding_after, count),
             strides = spatial(attributes.slides, &windows::slide::stride, count),
             dilations = spatial(attributes.slides, &windows::slide::dilation, count);
  graph_descriptor parameters(*this, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  parameters.set<CUDNN_ATTR_CONVOLUTION_COMP_TYPE>(type_of(compute).value_or(CUDNN_DATA_FLOAT))
      .set<CUDNN_ATTR_CONVOLUTION_CONV_MODE>(CUDNN_CROSS_CORRELATION)
      .set<CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS>(static_cast<std::int64_t>(padding_before.size()))
      .set_all<CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS>(padding_before)
      .set_all<CUDNN_ATTR_CONVOLUTION_POST_PADDINGS>(padding_after)
      .set_all<CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES>(strides)
      .set_all<CUDNN_ATTR_CONVOLUTION_DILATIONS>(dilations)
      .add();
  // cuDNN derives the number of groups from the numbers of channels.
  const auto add_operation = [&]<auto Kind, auto Attributes, auto A, auto B, auto C, auto Alpha, auto Beta>() {
    graph_descriptor o(*this, Kind);
    o.template refer_to_last<Attributes>().template refer<A>(a).template refer<B>(b).template refer<C>(to);
    if (compute == dtype::f64)
      o.template set<Alpha>(1.0).template set<Beta>(0.0);
    else
      o.template set<Alpha>(1.0f).template set<Beta>(0.0f);
    o.add_operation();
  };
  // clang-format off
  if (what == op::convolution)
    add_operation.operator()<CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA>();
  else if (what == op::convolution_data_gradient)
    add_operation.operator()<CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA>();
  else
    add_operation.operator()<CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA>();
  // clang-format on
}

void operation_graph::pointwise(const function& f, std::initializer_list<tensor_id> in, tensor_id to) {
  graph_descriptor d(*this, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  d.set<CUDNN_ATTR_POINTWISE_MODE>(f.mode).set<CUDNN_ATTR_POINTWISE_MATH_PREC>(
      type_of(f.compute).value_or(CUDNN_DATA_FLOAT));
  if (f.mode == CUDNN_POINTWISE_RELU_FWD) d.set<CUDNN_ATTR_POINTWISE_NAN_PROPAGATION>(CUDNN_PROPAGATE_NAN);
  if (f.mode == CUDNN_POINTWISE_SWISH_FWD) d.set<CUDNN_ATTR_POINTWISE_SWISH_BETA>(1.0);
  if (f.axis >= 0) d.set<CUDNN_ATTR_POINTWISE_AXIS>(f.axis);
  d.add();
  graph_descriptor o(*this, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  o.refer_to_last<CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR>();
  const tensor_id* const x = in.begin();
  o.refer<CUDNN_ATTR_OPERATION_POINTWISE_XDESC>(x[0]);
  if (in.size() > 1) o.refer<CUDNN_ATTR_OPERATION_POINTWISE_BDESC>(x[1]);
  if (in.size() > 2) o.refer<CUDNN_ATTR_OPERATION_POINTWISE_TDESC>(x[2]);
  o.refer<CUDNN_ATTR_OPERATION_POINTWISE_YDESC>(to);
  o.add_operation();
}

void operation_graph::product(tensor_id a, tensor_id b, tensor_id to) {
  graph_descriptor d(*this, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  d.set<CUDNN_ATTR_MATMUL_COMP_TYPE>(CUDNN_DATA_FLOAT);
  d.add();
  graph_descriptor o(*this, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  o.refer_to_last<CUDNN_ATTR_OPERATION_MATMUL_DESC>()
      .refer<CUDNN_ATTR_OPERATION_MATMUL_ADESC>(a)
      .refer<CUDNN_ATTR_OPERATION_MATMUL_BDESC>(b)
      .refer<CUDNN_ATTR_OPERATION_MATMUL_CDESC>(to);
  o.add_operation();
}

void operation_graph::reduce(cudnnReduceTensorOp_t how, tensor_id x, tensor_id to) {
  graph_descriptor d(*this, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  d.set<CUDNN_ATTR_REDUCTION_OPERATOR>(how).set<CUDNN_ATTR_REDUCTION_COMP_TYPE>(CUDNN_DATA_FLOAT);
  d.add();
  graph_descriptor o(*this, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  o.refer_to_last<CUDNN_ATTR_OPERATION_REDUCTION_DESC>()
      .refer<CUDNN_ATTR_OPERATION_REDUCTION_XDESC>(x)
      .refer<CUDNN_ATTR_OPERATION_REDUCTION_YDESC>(to);
  o.add_operation();
}

void operation_graph::reshape(tensor_id x, tensor_id to) {
  graph_descriptor o(*this, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  o.refer<CUDNN_ATTR_OPERATION_RESHAPE_XDESC>(x).refer<CUDNN_ATTR_OPERATION_RESHAPE_YDESC>(to);
  o.add_operation();
}

result<descriptor> operation_graph::make_descriptor(cudnnHandle_t on) const {
  if (failed_) return *failed_;
  descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.refer_all<CUDNN_ATTR_OPERATIONGRAPH_OPS>(std::span<const cudnnBackendDescriptor_t>(operations_))
      .set<CUDNN_ATTR_OPERATIONGRAPH_HANDLE>(on);
  TROUPE_TRY(graph.finalize().check());
  return graph;
}

}  // namespace troupe::dnn::cudnn
