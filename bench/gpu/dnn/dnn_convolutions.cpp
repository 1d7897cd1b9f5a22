// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Convolutions of ResNet-50 by dnn, compared with cuDNN called directly, with the channels last; and convolutions fused
// with the operations after them.
#include <bench/case_list.hpp>
#include <bench/gpu/graph_pair.hpp>
#include <bench/measures.hpp>
#include <bench/networks/resnet50.hpp>
#include <vector>

namespace troupe::bench {
namespace {

constexpr std::int64_t batch = 64;
// Layers for the host engine, which tests use: the reference computes them quickly.
constexpr convolution_layer small_layers[] = {{8, 16, 6, 3, 2, 2}};

std::vector<convolution_layer> layers(const settings& s) {
  if (s.engine == "host") return {std::begin(small_layers), std::end(small_layers)};
  std::vector<convolution_layer> out;
  for (std::size_t i = 0; i < std::size(resnet50); i += s.quick ? 6 : 1) out.push_back(resnet50[i]);
  return out;
}
std::int64_t images(const settings& s) { return s.engine == "host" ? 2 : batch; }

/// The tensors of a layer.
template <class T>
struct operands {
  operands(const device& gpu, const convolution_layer& l, std::int64_t n)
      : layer(l),
        x(image(random_buffer<T>(gpu, n * l.in * l.size * l.size, 1), n, l.in, l.size)),
        w(filters(random_buffer<T>(gpu, l.out * l.in * l.filter * l.filter, 2))),
        y(image(random_buffer<T>(gpu, n * l.out * l.result() * l.result(), 3), n, l.out, l.result())) {}

  static tensor<T> image(const buffer<T>& b, std::int64_t n, std::int64_t c, std::int64_t size) {
    return channels_last(b, n, c, size, size);
  }
  tensor<T> filters(const buffer<T>& b) const {
    return channels_last(b, layer.out, layer.in, layer.filter, layer.filter);
  }
  dnn::convolution_options options() const { return {.padding = layer.padding(), .stride = layer.stride}; }
  dnn::value forward() const { return convolution(dnn::read(x), dnn::read(w), options()); }

  const convolution_layer layer;
  const tensor<T> x, w, y;
};

template <class T>
void compare_layer(const settings& s, const dnn_sides& on, const convolution_layer& l, case_list& all) {
  const device& gpu = *on.gpu;
  const std::int64_t n = images(s);
  const operands<T> o(gpu, l, n);
  const tensor<T> dx =
      operands<T>::image(gpu.alloc<T>(static_cast<std::size_t>(o.x.elements().value())), n, l.in, l.size);
  const tensor<T> dw = o.filters(gpu.alloc<T>(static_cast<std::size_t>(o.w.elements().value())));
  const auto how = o.options();
  const auto compare = [&](const char* name, dnn::graph g) {
    add_case(all, name, l.operations() * static_cast<double>(n), l.count, s, on, {.graph = std::move(g)});
  };
  all.begin_line(cat(to_string(dtype_of<T>), " ", l.text()));
  // y contains random values, which serve as its gradient, until the last comparison writes to it.
  compare("data gradient",
          {write(convolution_data_gradient(dnn::read(o.y), dnn::read(o.w), {n, l.in, l.size, l.size}, how), dx)});
  compare(
      "weight gradient",
      {write(convolution_weight_gradient(dnn::read(o.y), dnn::read(o.x), {l.out, l.in, l.filter, l.filter}, how), dw)});
  compare("forward", {write(o.forward(), o.y)});
}

}  // namespace

figures run_dnn_conv_resnet50(const settings& s) {
  const dnn_sides on(s);
  case_list all(1e12, "TFLOP/s");
  for (const convolution_layer& l : layers(s)) compare_layer<half>(s, on, l, all);
  for (const convolution_layer& l : layers(s)) compare_layer<bfloat16>(s, on, l, all);
  return all.total(dnn_conv_resnet50.goal.limit);
}

figures run_dnn_conv_fused(const settings& s) {
  // Convolutions at the end of a block, where the residual is added, and others.
  constexpr convolution_layer ends[] = {{64, 256, 56, 1}, {256, 1024, 14, 1}, {64, 64, 56, 3}, {256, 256, 14, 3}};
  const bool small = s.engine == "host";
  const dnn_sides on(s);
  case_list all(1e12, "TFLOP/s");
  for (const convolution_layer& l :
       small ? std::span<const convolution_layer>(small_layers) : std::span<const convolution_layer>(ends)) {
    const std::int64_t n = images(s);
    const operands<half> o(*on.gpu, l, n);
    const auto bias = tensor(random_buffer<half>(*on.gpu, l.out, 4), {1, l.out, 1, 1});
    const std::int64_t elements = n * l.out * l.result() * l.result();
    const auto residual = operands<half>::image(random_buffer<half>(*on.gpu, elements, 5), n, l.out, l.result());
    all.begin_line(l.text());
    add_case(
        all, "fused", l.operations() * static_cast<double>(n), l.count, s, on,
        {.graph = {write(relu(o.forward() + dnn::read(bias) + dnn::read(residual)), o.y)},
         .options = {.fusion = small ? dnn::fusion::allowed : dnn::fusion::required, .choice = dnn::choice::measured}},
        raw_calls::three);
  }
  return all.total();
}

}  // namespace troupe::bench
