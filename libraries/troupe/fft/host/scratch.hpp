// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <memory>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/base/half.hpp>
#include <troupe/fft/placement.hpp>

namespace troupe::fft {

/// Uninitialized memory. `reserve` allocates it, and returns false if memory is short.
template <class T>
class scratch {
 public:
  bool reserve(extent count) noexcept {
    data_.reset(static_cast<T*>(std::malloc(static_cast<std::size_t>(count.value()) * sizeof(T))));
    return data_ != nullptr;
  }
  T* data() noexcept { return data_.get(); }

 private:
  struct free_it {
    void operator()(T* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<T, free_it> data_;
};

/// Calls f(position) for each element, in the order of a layout without gaps.
template <class F>
void for_each_place(const placement& p, F&& f) {
  const std::size_t skip = shape::most - p.n.rank();
  std::int64_t n[shape::most] = {1, 1, 1}, step[shape::most] = {0, 0, 0};
  for (std::size_t i = 0; i < p.n.rank(); ++i) {
    n[skip + i] = p.n[i].value();
    step[skip + i] = p.stride[i].value();
  }
  for (std::int64_t b = 0; b < p.batch.value(); ++b)
    for (std::int64_t i = 0; i < n[0]; ++i)
      for (std::int64_t j = 0; j < n[1]; ++j) {
        const std::int64_t row = b * p.distance.value() + i * step[0] + j * step[1];
        for (std::int64_t k = 0; k < n[2]; ++k) f(row + k * step[2]);
      }
}

template <class To, class From>
To converted(const From& x) noexcept {
  if constexpr (std::is_same_v<From, real_of<From>>)
    return To(static_cast<float>(x));
  else
    return To(real_of<To>(static_cast<float>(x.real)), real_of<To>(static_cast<float>(x.imag)));
}

template <class From, class To>
void gather(const From* from, const placement& p, To* to) {
  for_each_place(p, [&](std::int64_t at) { *to++ = converted<To>(from[at]); });
}
template <class From, class To>
void scatter(const From* from, const placement& p, To* to) {
  for_each_place(p, [&](std::int64_t at) { to[at] = converted<To>(*from++); });
}

}  // namespace troupe::fft
