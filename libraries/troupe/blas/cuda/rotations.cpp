// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/engine.hpp>
#include <troupe/blas/level1/rotations.hpp>

namespace troupe::blas {

namespace ka = kernel_arguments;

template <class T>
static void* place_of(const std::optional<out<T>>& place) noexcept {
  return place ? place->data() : nullptr;
}

// Uses one thread of our own kernel: cuBLAS needs all four values in the same kind of memory, and overwrites two of
// them.
template <class T>
static result<void> enqueue(const rotg<T>& r, job& j) {
  return j.launch(kernel<"rotg", T>, {}, {},
                  ka::rotation{.a = number_of(r.a),
                               .b = number_of(r.b),
                               .r = place_of(r.r),
                               .z = place_of(r.z),
                               .c = place_of(r.c),
                               .s = place_of(r.s),
                               .reply = j.reply()});
}
template <class T>
static result<void> enqueue(const rotmg<T>& r, job& j) {
  return j.launch(kernel<"rotmg", T>, {}, {},
                  ka::modified_rotation{.d1 = number_of(r.d1),
                                        .d2 = number_of(r.d2),
                                        .x1 = number_of(r.x1),
                                        .y1 = number_of(r.y1),
                                        .new_d1 = place_of(r.new_d1),
                                        .new_d2 = place_of(r.new_d2),
                                        .new_x1 = place_of(r.new_x1),
                                        .param = place_of(r.param),
                                        .reply = j.reply()});
}

template <class T, class S>
static result<void> enqueue(const rot<T, S>& r, job& j) {
  const auto [c, s] = TROUPE_TRY(j.factors(r.c, r.s));
  const auto turn = [&](const auto& routine) {
    return j(routine, r.n.value(), r.x.data(), step(r.incx), r.y.data(), step(r.incy), c, s);
  };
  if constexpr (std::is_same_v<S, T>)
    return turn(TROUPE_CUBLAS(rot_64));
  else
    return turn(of_type<T>(nullptr, nullptr, TROUPE_ROUTINE(cublasCsrot_64), TROUPE_ROUTINE(cublasZdrot_64)));
}

template <class T>
static result<void> enqueue(const rotm<T>& r, job& j) {
  const auto f = TROUPE_TRY(j.factors(r.param));
  const T* param = &std::get<0>(f)->flag;
  if (!r.param.by_value()) {
    TROUPE_TRY(j.launch(kernel<"check_flag", T>, {}, {}, ka::flag{.from = param, .to = j.partial_results()}));
    param = static_cast<const T*>(j.partial_results());
  }
  return j(TROUPE_CUBLAS_REAL(rotm_64), r.n.value(), r.x.data(), step(r.incx), r.y.data(), step(r.incy), param);
}

operations rotation_operations() noexcept { return operations_of<cublas, all_rotations>(); }

}  // namespace troupe::blas
