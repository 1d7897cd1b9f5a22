// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bench/raw/cuda_calls.hpp>
#include <bench/raw/cuda_libraries.hpp>
#include <cstring>
#include <troupe/base/clock.hpp>
#include <troupe/dnn/cudnn/cudnn_kernel.hpp>
#include <troupe/dnn/cudnn/engines.hpp>
#include <troupe/dnn/cudnn/handle.hpp>
#include <troupe/dnn/cudnn/kernel_maker.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/steps/locations.hpp>
#include <vector>

namespace troupe::bench {

// Not in the unnamed namespace, where it would hide the overload for driver calls.
static void must(cudnnStatus_t s, const char* call) {
  if (s != CUDNN_STATUS_SUCCESS) throw bad_result(dnn::cudnn::failed(std::string("raw ") + call, s));
}

namespace {

using namespace dnn::cudnn;
using dnn::encoded_graph, dnn::encoded_node, dnn::encoded_tensor;

[[noreturn]] void unfit(std::string why) {
  throw bad_result(error(reaction::unsupported, "bench", "cuDNN's calls are not comparable: " + std::move(why)));
}

std::size_t bytes_of_memory(const encoded_tensor& t) {
  return static_cast<std::size_t>(dnn::spanned_elements_of(t.shape)) * bytes_of(t.type);
}

// A graph, its memory, and the calls of cuDNN that compute it.
class called_graph : public raw_graph {
 public:
  called_graph(std::span<const std::byte> encoded, cudnnHandle_t on, CUstream in)
      : words_((encoded.size() + 7) / 8), handle_(on), stream_(in) {
    std::memcpy(words_.data(), encoded.data(), encoded.size());
    graph_ = encoded_graph(reinterpret_cast<const std::byte*>(words_.data()), encoded.size());
    if (graph_.empty()) unfit("the graph is damaged");
    memory_.resize(graph_.memory().size());
    for (const encoded_tensor& t : graph_.tensors())
      if (t.where == encoded_tensor::place::memory) memory_[t.memory] = make_memory(bytes_of_memory(t));
  }
  void run() override {
    for (const prepared& c : calls_) must(calls().execute(handle_, c.plan->get(), c.pack.get()), "cudnnBackendExecute");
  }
  void synchronize() override { must(::cuStreamSynchronize(stream_), "cuStreamSynchronize"); }
  void upload(std::size_t memory, std::span<const std::byte> elements) override {
    must(::cuMemcpyHtoD(memory_.at(memory).get(), elements.data(), elements.size()), "cuMemcpyHtoD");
  }
  void download(std::size_t memory, std::span<std::byte> elements) override {
    synchronize();
    must(::cuMemcpyDtoH(elements.data(), memory_.at(memory).get(), elements.size()), "cuMemcpyDtoH");
  }

 protected:
  const encoded_graph& graph() const noexcept { return graph_; }
  cudnnHandle_t library() const noexcept { return handle_; }
  const encoded_tensor& tensor(std::uint16_t t) const noexcept { return graph_.tensors()[t]; }
  void* address(std::uint16_t t) const { return pointer(memory_.at(tensor(t).memory)); }
  void* more_memory(std::size_t bytes) {
    more_.push_back(make_memory(std::max<std::size_t>(bytes, 1)));
    return pointer(more_.back());
  }
  // The variant pack refers to constants in `v`, which must outlive this object.
  void add_call(const variant_pack& v, const cudnn_plan& plan, std::span<void* const> addresses) {
    calls_.push_back({&plan.plan, v.with(plan, addresses, more_memory(v.workspace_of(plan)))});
    must(calls_.back().pack.status(), "cudnnBackendFinalize of a variant pack");
  }

 private:
  static void* pointer(const device_memory& m) { return reinterpret_cast<void*>(m.get()); }
  struct prepared {
    const descriptor* plan;
    descriptor pack;
  };
  std::vector<std::uint64_t> words_;
  encoded_graph graph_;
  cudnnHandle_t handle_;
  CUstream stream_;
  std::vector<device_memory> memory_, more_;
  std::vector<prepared> calls_;
};

class one_call final : public called_graph {
 public:
  one_call(std::span<const std::byte> encoded, bool repeatable, kernel_maker& by, cudnnHandle_t on, CUstream in)
      : called_graph(encoded, on, in) {
    dnn::graph_analysis analysis(graph(), std::vector<bool>(graph().memory().size(), true));
    const auto how = repeatable ? dnn::repeatability::always : dnn::repeatability::not_needed;
    vendor_kernels_ = by.make_kernels(analysis, {.repeatability = how}).vendor_kernels;
    if (vendor_kernels_.size() != 1 || vendor_kernels_[0]->match().nodes.size() != graph().nodes().size())
      unfit("cuDNN does not compute the graph in one call");
    std::vector<void*> addresses;
    for (const auto* list : {&vendor_kernels_[0]->match().inputs, &vendor_kernels_[0]->match().outputs})
      for (const dnn::fusion_match::tensor& t : *list) {
        const encoded_tensor& is = tensor(t.number);
        if (is.where != encoded_tensor::place::memory || is.type != t.type || !dnn::same_layout(is.shape, t.shape))
          unfit("cuDNN needs a copy of an operand");
        addresses.push_back(address(t.number));
      }
    // All kernels that it makes have this type.
    const auto& planned = static_cast<const cudnn_kernel&>(*vendor_kernels_[0]);
    add_call(planned.pack(), planned.plan(), addresses);
  }

 private:
  std::vector<std::unique_ptr<dnn::vendor_kernel>> vendor_kernels_;
};

class fused_in_three final : public called_graph {
 public:
  fused_in_three(std::span<const std::byte> encoded, cudnnHandle_t on, CUstream in) : called_graph(encoded, on, in) {
    const auto nodes = graph().nodes();
    if (nodes.size() != 5 || nodes[0].what != dnn::op::convolution || nodes[4].what != dnn::op::write)
      unfit("the graph is not a convolution with bias, residual and relu");
    const std::uint16_t x = nodes[0].inputs[0], w = nodes[0].inputs[1], to = nodes[4].outputs[0],
                        bias = dnn::other_input(nodes[1], nodes[0].outputs[0]),
                        residual = dnn::other_input(nodes[2], nodes[1].outputs[0]);
    const encoded_tensor& y = tensor(to);
    void *const convolved = more_memory(bytes_of_memory(y)), *const summed = more_memory(bytes_of_memory(y));
    add(
        [&](operation_graph& o) {
          const auto a = given(o, x), b = given(o, w), c = given(o, to);
          o.convolution(dnn::op::convolution, nodes[0].attributes.as<dnn::convolution_attributes>(), dtype::f32, a, b,
                        c);
        },
        {address(x), address(w), convolved});
    add(
        [&](operation_graph& o) {
          const auto a = given(o, to), b = given(o, bias), c = given(o, to);
          o.pointwise({CUDNN_POINTWISE_ADD}, {a, b}, c);
        },
        {convolved, address(bias), summed});
    add(
        [&](operation_graph& o) {
          const auto a = given(o, to), b = given(o, residual), c = given(o, to);
          const auto sum = o.intermediate(y.shape);
          o.pointwise({CUDNN_POINTWISE_ADD}, {a, b}, sum);
          o.pointwise({CUDNN_POINTWISE_RELU_FWD}, {sum}, c);
        },
        {summed, address(residual), address(to)});
  }

 private:
  operation_graph::tensor_id given(operation_graph& o, std::uint16_t t) const {
    return o.argument(tensor(t).type, tensor(t).shape);
  }
  template <class Draw>
  void add(Draw&& draw, std::initializer_list<void*> addresses) {
    auto s = std::make_unique<candidate>();
    draw(s->graph);
    const descriptor whole = s->graph.make_descriptor(library()).value();
    packs_.push_back(std::make_unique<variant_pack>(*s));
    const std::span<void* const> all(addresses.begin(), addresses.size());
    const auto try_plan = [&](const cudnn_plan& p) -> result<dnn::cudnn::trial_result> {
      const device_memory room = p.workspace != 0 ? make_memory(p.workspace) : device_memory();
      const auto run = [&] {
        return packs_.back()->enqueue(p, library(), all, reinterpret_cast<void*>(room.get())) == CUDNN_STATUS_SUCCESS;
      };
      if (!run()) return dnn::cudnn::trial_result{.why_not = "it fails"};
      synchronize();
      constexpr int times = 20;
      const std::int64_t start = now_ns();
      for (int i = 0; i < times; ++i) run();
      synchronize();
      return dnn::cudnn::trial_result{.microseconds = static_cast<double>(now_ns() - start) / 1e3 / times};
    };
    auto plan = std::make_unique<cudnn_plan>(
        choose_engine(library(), whole, {.deterministic = true, .measured = true, .try_plan = try_plan}).value());
    add_call(*packs_.back(), *plan, all);
    plans_.push_back(std::move(plan));
  }
  std::vector<std::unique_ptr<variant_pack>> packs_;
  std::vector<std::unique_ptr<cudnn_plan>> plans_;
};

class cuda_dnn final : public raw_dnn {
 public:
  explicit cuda_dnn(int device) : stream_(make_stream()) {
    engine_context context{};
    context.device = device;
    context.lanes = 1;
    cudnn_ = kernel_maker::open(context, cuda::gpu_properties::of(device, "bench").value()).value();
    handle_ = make_handle().value();
    must(calls().set_stream(handle_.get(), stream_.get()), "cudnnSetStream");
  }
  std::unique_ptr<raw_graph> graph(std::span<const std::byte> encoded, bool repeatable) override {
    return std::make_unique<one_call>(encoded, repeatable, *cudnn_, handle_.get(), stream_.get());
  }
  std::unique_ptr<raw_graph> three_calls(std::span<const std::byte> encoded) override {
    return std::make_unique<fused_in_three>(encoded, handle_.get(), stream_.get());
  }
  double copy_rate(std::size_t bytes, int times) override {
    if (bytes != bytes_) from_ = make_memory(bytes), to_ = make_memory(bytes), bytes_ = bytes;
    const std::int64_t start = now_ns();
    for (int i = 0; i < times; ++i)
      must(::cuMemcpyDtoDAsync(to_.get(), from_.get(), bytes, stream_.get()), "cuMemcpyDtoDAsync");
    wait_for(stream_);
    return 2e9 * static_cast<double>(bytes) * times / static_cast<double>(now_ns() - start);
  }

 private:
  stream stream_;
  std::unique_ptr<kernel_maker> cudnn_;
  handle handle_;
  device_memory from_, to_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<raw_dnn> make_dnn(int device) { return std::make_unique<cuda_dnn>(device); }

}  // namespace troupe::bench
