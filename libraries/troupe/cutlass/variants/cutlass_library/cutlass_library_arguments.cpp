// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <troupe/cutlass/variants/cutlass_library/cutlass_library_arguments.hpp>

namespace troupe::cutlass {
namespace {

const void* at(std::uint64_t address) noexcept { return reinterpret_cast<const void*>(address); }
bool is_row(const char* layout) noexcept { return std::string_view(layout) == "row"; }

// Returns the stride between lines, or `length` for a single line, whose stride has no effect.
long long stride_of(std::int64_t between, std::int64_t lines, std::int64_t length) noexcept {
  return lines == 1 ? length : between;
}

float number_of(const problem& p, std::uint8_t source) noexcept {
  return source == kernel_signature::one ? 1.0f : static_cast<float>(p.tree.numbers()[source]);
}

}  // namespace

placed_matrix operand_of(const problem& p, const kernel_signature& f, std::int8_t which) {
  const auto i = static_cast<std::size_t>(which);
  return p.memory(i, p.tree.nodes()[f.node_of_memory[i]]);
}

vendor::launch launch_of(const vendor::kernel_variant& c, const problem& p, const kernel_signature& f,
                         const cutlass_library_epilogue& e) {
  vendor::launch l{};
  l.m = static_cast<int>(p.m), l.n = static_cast<int>(p.n), l.k = static_cast<int>(p.k);
  l.batch = static_cast<int>(p.batch);
  l.a = at(p.a.address), l.b = at(p.b.address), l.d = reinterpret_cast<void*>(p.d.address);
  l.a_line = is_row(c.a_layout) ? stride_of(p.a.line, p.m, p.k) : stride_of(p.a.term, p.k, p.m);
  l.b_line = is_row(c.b_layout) ? stride_of(p.b.term, p.k, p.n) : stride_of(p.b.line, p.n, p.k);
  l.d_line = stride_of(p.d.row, p.m, p.n);
  const bool many = p.batch > 1;
  l.a_batch = many ? p.a.batch : 0, l.b_batch = many ? p.b.batch : 0, l.d_batch = many ? p.d.batch : 0;
  l.alpha = e.alpha_sign * number_of(p, e.alpha);
  // c is not read if beta is 0, but must have an address.
  l.c = l.d, l.c_line = l.d_line, l.c_batch = l.d_batch;
  if (e.c >= 0) {
    const placed_matrix m = operand_of(p, f, e.c);
    l.beta = e.beta_sign * number_of(p, e.beta);
    l.c = at(m.address), l.c_line = stride_of(m.row, p.m, p.n), l.c_batch = many ? m.batch : 0;
  }
  if (e.bias >= 0) l.bias = at(operand_of(p, f, e.bias).address);
  l.a_scales = at(p.a_scales.address), l.b_scales = at(p.b_scales.address);
  return l;
}

vendor::launch launch_of(const convolution_problem& p, const kernel_signature& f, const cutlass_library_epilogue& e) {
  const auto narrow = [](std::int64_t n) { return static_cast<int>(n); };
  const windows::geometry& w = p;
  vendor::launch l{};
  l.images = narrow(p.images), l.channels = narrow(p.channels_of_group), l.filters = narrow(p.filters_of_group);
  l.height = narrow(w.in[1]), l.width = narrow(w.in[2]);
  l.filter_height = narrow(w.window[1]), l.filter_width = narrow(w.window[2]);
  l.pad_height = narrow(w.padding_before[1]), l.pad_width = narrow(w.padding_before[2]);
  l.stride_height = narrow(w.stride[1]), l.stride_width = narrow(w.stride[2]);
  l.dilation_height = narrow(w.dilation[1]), l.dilation_width = narrow(w.dilation[2]);
  l.a = at(p.tensors().first(p.result).address), l.b = at(p.tensors().second(p.result).address);
  l.d = reinterpret_cast<void*>(p.computed().address);
  const problem q = as_product(p);
  l.alpha = e.alpha_sign * number_of(q, e.alpha), l.c = l.d;
  if (e.c >= 0) l.beta = e.beta_sign * number_of(q, e.beta), l.c = at(operand_of(q, f, e.c).address);
  return l;
}

}  // namespace troupe::cutlass
