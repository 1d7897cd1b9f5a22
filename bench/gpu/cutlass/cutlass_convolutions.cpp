// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Convolutions of ResNet-50 and their gradients by cutlass, compared with cuDNN, called directly with the fastest
// engine that it recommends.
#include <algorithm>
#include <bench/element_difference.hpp>
#include <bench/gpu/cutlass/cutlass_pair.hpp>
#include <bench/gpu/graph_pair.hpp>
#include <bench/gpu/turns.hpp>
#include <bench/measures.hpp>
#include <bench/networks/resnet50.hpp>
#include <bench/ratio_list.hpp>
#include <troupe/cutlass/problems/convolution_problem.hpp>
#include <vector>

namespace troupe::bench {
namespace {

using cutlass::computed_tensor;

constexpr convolution_layer small_layers[] = {{8, 16, 6, 3, 2}, {16, 8, 5, 1}};

// Copies of the operands of a layer, more than the level-2 cache can hold.
struct layer_operands {
  layer_operands(const device& gpu, const convolution_layer& l, std::int64_t images) : layer(l), n(images) {
    const std::int64_t pixels = n * l.in * l.size * l.size, results = n * l.out * l.result() * l.result(),
                       elements = l.out * l.in * l.filter * l.filter;
    const int copies =
        copies_beyond_cache(static_cast<double>(sizeof(half)) * static_cast<double>(pixels + results + elements));
    for (int i = 0; i < copies; ++i) {
      x.push_back(channels_last(random_buffer<half>(gpu, pixels, 1), n, l.in, l.size, l.size));
      filters.push_back(channels_last(random_buffer<half>(gpu, elements, 2), l.out, l.in, l.filter, l.filter));
      y.push_back(channels_last(random_buffer<half>(gpu, results, 3), n, l.out, l.result(), l.result()));
    }
  }
  dnn::graph graph(computed_tensor r) const {
    const dnn::convolution_options how{.padding = layer.padding(), .stride = layer.stride};
    const auto &a = x.front(), &b = filters.front(), &c = y.front();
    if (r == computed_tensor::y) return {write(convolution(dnn::read(a), dnn::read(b), how), c)};
    if (r == computed_tensor::dx)
      return {
          write(convolution_data_gradient(dnn::read(c), dnn::read(b), {n, layer.in, layer.size, layer.size}, how), a)};
    return {write(
        convolution_weight_gradient(dnn::read(c), dnn::read(a), {layer.out, layer.in, layer.filter, layer.filter}, how),
        b)};
  }
  const tensor<half>& computed(computed_tensor r, std::size_t copy) const {
    return (r == computed_tensor::y ? y : r == computed_tensor::dx ? x : filters)[copy];
  }

  const convolution_layer layer;
  const std::int64_t n;
  std::vector<tensor<half>> x, filters, y;
};

template <computed_tensor R>
auto request_of(const layer_operands& o, std::size_t copy) {
  const auto set = [&](auto r) {
    r.padding = o.layer.padding(), r.stride = o.layer.stride;
    return r;
  };
  if constexpr (R == computed_tensor::y)
    return set(cutlass::conv_forward{.x = o.x[copy], .filters = o.filters[copy], .y = o.y[copy]});
  else if constexpr (R == computed_tensor::dx)
    return set(cutlass::conv_data_gradient{.dy = o.y[copy], .filters = o.filters[copy], .dx = o.x[copy]});
  else
    return set(cutlass::conv_weight_gradient{.dy = o.y[copy], .x = o.x[copy], .dfilters = o.filters[copy]});
}

// Returns cuDNN's graphs, each with its own memory, which contains the values of the operands.
std::vector<std::unique_ptr<raw_graph>> raw_graphs(const dnn_sides& on, const dnn::graph& g, std::size_t copies) {
  // Lets cuDNN's fastest plan be stored on disk, where the raw side finds it.
  constexpr dnn::computation_options how{.repeatability = dnn::repeatability::not_needed,
                                         .choice = dnn::choice::measured};
  on.gpu->ask(dnn::computation{.graph = g, .options = how}).get().value();
  std::vector<std::byte> encoded(g.encoded_bytes());
  g.encode(encoded.data());
  const auto memory = g.memory();
  std::vector<std::unique_ptr<raw_graph>> out;
  for (std::size_t c = 0; c < copies; ++c) {
    out.push_back(on.raw->graph(encoded, false));
    for (std::size_t i = 0; i < memory.size(); ++i)
      if (memory[i].mode == access_mode::read)
        out.back()->upload(i, on.gpu->download(buffer<std::byte>(memory[i].range)).get().value());
  }
  return out;
}

std::string difference(const dnn_sides& on, const dnn::graph& g, const tensor<half>& computed, raw_graph& raw) {
  const auto memory = g.memory();
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i].mode == access_mode::read) continue;
    const std::vector<half> ours = on.gpu->download(computed.memory()).get().value();
    std::vector<std::byte> theirs(ours.size() * sizeof(half));
    raw.download(i, theirs);
    if (const std::string wrong = element_difference(dtype::f16, std::as_bytes(std::span(ours)), theirs);
        !wrong.empty())
      return cat("the results differ: ", wrong);
  }
  return {};
}

template <computed_tensor R>
void compare_layer(const settings& s, const dnn_sides& on, const convolution_layer& l, std::int64_t images,
                   ratio_list& all) {
  const layer_operands o(*on.gpu, l, images);
  const std::size_t copies = o.x.size();
  const auto raw = raw_graphs(on, o.graph(R), copies);
  std::vector<decltype(request_of<R>(o, 0))> requests;
  for (std::size_t i = 0; i < copies; ++i) requests.push_back(request_of<R>(o, i));
  const auto info = on.gpu->ask(cutlass::prepare{requests.front(), measured_plans(s)}).get().value();
  const std::span<const typename decltype(requests)::value_type> each(requests);
  const pair_of_medians seconds = seconds_of_each(
      s.rounds(5), *on.gpu, each, times_of_turn(s, *on.gpu, each),
      [&](int i) { raw[static_cast<std::size_t>(i)]->run(); }, [&] { raw.back()->synchronize(); });
  const double operations = l.operations() * static_cast<double>(images);
  all.add(l.text(), {operations / seconds.ours / 1e12, operations / seconds.raw / 1e12},
          cat("; ", to_string(info.plan)), difference(on, o.graph(R), o.computed(R, copies - 1), *raw.back()));
}

template <computed_tensor R>
figures run(const settings& s) {
  const bool small = s.engine == "host";
  const dnn_sides on(s, {.libraries = {"dnn", "cutlass"}, .wait = wait_policy::latency});
  ratio_list all;
  const std::span<const convolution_layer> layers =
      small ? std::span<const convolution_layer>(small_layers) : std::span<const convolution_layer>(resnet50);
  for (std::size_t i = 0; i < layers.size(); i += s.quick && !small ? 6 : 1)
    compare_layer<R>(s, on, layers[i], small ? 2 : 64, all);
  figures f = all.mean();
  f.note += all.lines();
  return f;
}

}  // namespace

figures run_cutlass_conv_forward(const settings& s) { return run<computed_tensor::y>(s); }
figures run_cutlass_conv_data_gradient(const settings& s) { return run<computed_tensor::dx>(s); }
figures run_cutlass_conv_weight_gradient(const settings& s) { return run<computed_tensor::dfilters>(s); }

}  // namespace troupe::bench
