// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <troupe/dnn/steps/fusion_matches.hpp>
#include <troupe/dnn/support/case.hpp>

namespace troupe::dnn::support {

void tensors::release::operator()(void* p) const noexcept { (void)::munmap(p, bytes); }

template <access_mode M>
any_operand<M> tensors::operand(const extents& e, dtype type, bool channels_last) {
  tensor_shape s{.rank = e.size()};
  std::copy(e.begin(), e.end(), s.extents.begin());
  s.strides = channels_last ? packed(s, true).strides : dense_strides(s);
  const std::size_t bytes = static_cast<std::size_t>(elements_of(s)) * bytes_of(type);
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  memory_.emplace_back(at, release{bytes});
  return {memory_range{{}, reinterpret_cast<std::uint64_t>(at), bytes}, s, type};
}

value tensors::integers(const extents& e, const std::vector<std::int32_t>& numbers) {
  const auto to = operand<access_mode::read>(e, dtype::i32);
  std::copy(numbers.begin(), numbers.end(), static_cast<std::int32_t*>(memory_.back().get()));
  return value(to);
}

written tensors::to_memory(const value& v, bool stored, bool channels_last) {
  const bool is_floating = v.type() == dtype::f32 || v.type() == dtype::f64;
  const extents e(v.extents().begin(), v.extents().end());
  return {v, operand<access_mode::write>(e, stored && is_floating ? type_ : v.type(), channels_last)};
}

template any_operand<access_mode::read> tensors::operand(const extents&, dtype, bool);

}  // namespace troupe::dnn::support
