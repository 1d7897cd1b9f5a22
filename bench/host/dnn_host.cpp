// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares convolutions of ResNet-50 through the worker with oneDNN, which is called in this process.
#include <bench/case_list.hpp>
#include <bench/element_difference.hpp>
#include <bench/host/direct.hpp>
#include <bench/measures.hpp>
#include <bench/networks/local_graph.hpp>
#include <bench/networks/resnet50.hpp>
#include <bench/report.hpp>
#include <cmath>
#include <cstdlib>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/onednn/kernel_maker.hpp>
#include <troupe/dnn/steps/locations.hpp>

namespace troupe::bench {
namespace {

constexpr std::int64_t batch = 8;
// The operations of a round, which takes some ten milliseconds.
constexpr double operations_of_a_round = 3e9;

/// Opens oneDNN for all convolutions that it supports, including those for which the engine prefers its own loops.
std::unique_ptr<dnn::onednn::kernel_maker> open_onednn() {
  constexpr const char* name = "TROUPE_ONEDNN";
  const char* const set = std::getenv(name);
  const std::string before = set != nullptr ? set : "";
  ::setenv(name, "always", 1);
  auto made = dnn::onednn::kernel_maker::open(static_cast<std::size_t>(usable_cores()));
  set != nullptr ? ::setenv(name, before.c_str(), 1) : ::unsetenv(name);
  return std::move(made.value());
}

/// A graph in memory of this process, which oneDNN alone computes.
class onednn_graph {
 public:
  onednn_graph(dnn::onednn::kernel_maker& by, std::span<const std::byte> encoded)
      : graph_(encoded), vendor_kernels_(by.make_kernels(graph_.graph(), dnn::any_workspace)) {
    if (!is_complete()) return;
    const dnn::fusion_match& what = vendor_kernels_[0]->match();
    for (const auto* list : {&what.inputs, &what.outputs})
      for (const dnn::fusion_match::tensor& t : *list)
        addresses_.push_back(graph_.memory(graph_.graph().tensors()[t.number].memory).data());
    workspace_.resize(what.workspace + 64);
  }
  /// Returns true if oneDNN computes the complete graph, without copying operands before or after.
  bool is_complete() const {
    if (vendor_kernels_.size() != 1 || vendor_kernels_[0]->match().nodes.size() != graph_.graph().nodes().size())
      return false;
    const dnn::fusion_match& what = vendor_kernels_[0]->match();
    for (const auto* list : {&what.inputs, &what.outputs})
      for (const dnn::fusion_match::tensor& t : *list)
        if (!dnn::same_layout(t.shape, graph_.graph().tensors()[t.number].shape)) return false;
    return true;
  }
  std::span<std::byte> memory(std::size_t i) const noexcept { return graph_.memory(i); }
  void run() {
    std::byte* const at = workspace_.data() + (64 - reinterpret_cast<std::uintptr_t>(workspace_.data()) % 64) % 64;
    call none{};
    vendor_kernels_[0]->enqueue(addresses_, at, none).value();
  }

 private:
  local_graph graph_;
  std::vector<std::unique_ptr<dnn::vendor_kernel>> vendor_kernels_;
  std::vector<void*> addresses_;
  std::vector<std::byte> workspace_;
};

/// Compares all layers, one after the other.
class comparison {
 public:
  explicit comparison(const settings& s) : s_(s), onednn_(open_onednn()), gpu_(s, {.libraries = {"dnn"}}) {}

  void add(const convolution_layer& l) {
    const auto x = image(l.in, l.size, 1), dy = image(l.out, l.result(), 2), y = image(l.out, l.result(), 3),
               dx = image(l.in, l.size, 4);
    const auto w = filters(l, 5), dw = filters(l, 6);
    const dnn::convolution_options how{.padding = l.padding(), .stride = l.stride};
    all_.begin_line(l.text());
    compare("forward", l, {write(convolution(dnn::read(x), dnn::read(w), how), y)});
    compare("data gradient", l,
            {write(convolution_data_gradient(dnn::read(dy), dnn::read(w), {batch, l.in, l.size, l.size}, how), dx)});
    compare(
        "weight gradient", l,
        {write(convolution_weight_gradient(dnn::read(dy), dnn::read(x), {l.out, l.in, l.filter, l.filter}, how), dw)});
  }
  figures total() const {
    figures f = all_.total();
    if (left_out_ > 0) f.note += cat("; ", left_out_, " left out, for which oneDNN has no way of its own");
    return f;
  }

 private:
  static tensor<float> last(const buffer<float>& b, std::int64_t n, std::int64_t c, std::int64_t h) {
    return tensor<float>(b, {n, c, h, h}, {c * h * h, 1, h * c, c});
  }
  tensor<float> image(std::int64_t channels, std::int64_t size, std::uint64_t seed) const {
    return last(uploaded(gpu_, random_values<float>(batch * channels * size * size, seed)), batch, channels, size);
  }
  tensor<float> filters(const convolution_layer& l, std::uint64_t seed) const {
    return last(uploaded(gpu_, random_values<float>(l.out * l.in * l.filter * l.filter, seed)), l.out, l.in, l.filter);
  }
  std::vector<std::byte> downloaded(const dnn::graph::operand& o) const {
    return gpu_->download(buffer<std::byte>(o.range)).get().value();
  }

  void compare(const char* name, const convolution_layer& l, const dnn::graph& g) {
    std::vector<std::byte> encoded(g.encoded_bytes());
    g.encode(encoded.data());
    onednn_graph direct(*onednn_, encoded);
    if (!direct.is_complete()) {
      ++left_out_;
      return;
    }
    const auto memory = g.memory();
    for (std::size_t i = 0; i < memory.size(); ++i)
      if (memory[i].mode == access_mode::read) std::ranges::copy(downloaded(memory[i]), direct.memory(i).begin());
    const double work = l.operations() * static_cast<double>(batch);
    const int times = static_cast<int>(std::ceil(operations_of_a_round / work));
    const figures f = against(s_, gpu_, 5, times, work, dnn::computation{.graph = g}, [&] { direct.run(); });
    std::string wrong;
    for (std::size_t i = 0; i < memory.size() && wrong.empty(); ++i)
      if (memory[i].mode != access_mode::read)
        wrong = element_difference(memory[i].type, downloaded(memory[i]), direct.memory(i));
    all_.add(name, work, l.count, {work / f.ours / 1e9, work / f.raw / 1e9}, wrong);
  }

  const settings s_;
  const std::unique_ptr<dnn::onednn::kernel_maker> onednn_;
  const device_under_test gpu_;
  case_list all_{1e9, "GFLOP/s"};
  int left_out_ = 0;
};

}  // namespace

figures run_dnn_conv_host(const settings& s) {
  comparison all(s);
  for (std::size_t i = 0; i < std::size(resnet50); i += s.quick ? 6 : 1) all.add(resnet50[i]);
  return all.total();
}

}  // namespace troupe::bench
