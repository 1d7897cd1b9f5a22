// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace troupe::whole {
namespace {

template <class T>
struct axpy : sized<axpy<T>, blas::axpy<T>> {
  static blas::axpy<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .n = n, .alpha = 3};
  }
  static void expect_right(const device& gpu, const blas::axpy<T>& r, const result<reply_to<blas::axpy<T>>>&) {
    expect_holds(gpu, r.y, column, numerics::reference::sum(3, known<T>(column), 1, known<T>(column, 2)));
  }
};

template <class T>
struct axpby : sized<axpby<T>, blas::axpby<T>> {
  static blas::axpby<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .n = n, .alpha = 3, .beta = 4};
  }
  static void expect_right(const device& gpu, const blas::axpby<T>& r, const result<reply_to<blas::axpby<T>>>&) {
    expect_holds(gpu, r.y, column, numerics::reference::sum(3, known<T>(column), 4, known<T>(column, 2)));
  }
};

template <class T>
struct scal : sized<scal<T>, blas::scal<T>> {
  static blas::scal<T> make(const device& gpu, extent n) { return {.x = filled<T>(gpu, column), .n = n, .alpha = 5}; }
  static void expect_right(const device& gpu, const blas::scal<T>& r, const result<reply_to<blas::scal<T>>>&) {
    expect_holds(gpu, r.x, column, numerics::reference::scaled(5, known<T>(column)));
  }
};

template <class T>
struct copy : sized<copy<T>, blas::copy<T>> {
  static blas::copy<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .y = gpu.alloc<T>(size), .n = n};
  }
  static void expect_right(const device& gpu, const blas::copy<T>& r, const result<reply_to<blas::copy<T>>>&) {
    expect_holds(gpu, r.y, column, known<T>(column));
  }
};

template <class T>
struct exchange : sized<exchange<T>, blas::swap<T>> {
  static blas::swap<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .n = n};
  }
  // Expects that the vectors were swapped once, or twenty times, which restores them.
  static void expect_right(const device& gpu, const blas::swap<T>& r, const result<void>&) {
    const bool swapped = content(gpu, r.x)[0] != content_at<T>(0, 1);
    expect_holds(gpu, r.x, column, known<T>(column, swapped ? 2 : 1));
    expect_holds(gpu, r.y, column, known<T>(column, swapped ? 1 : 2));
  }
};

template <class T>
struct rot : sized<rot<T>, blas::rot<T>> {
  static blas::rot<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .n = n, .c = 0, .s = 1};
  }
  static void expect_right(const device& gpu, const blas::rot<T>& r, const result<reply_to<blas::rot<T>>>&) {
    expect_holds(gpu, r.x, column, known<T>(column, 2));
    expect_holds(gpu, r.y, column, numerics::reference::scaled(-1, known<T>(column)));
  }
};

template <class T>
struct rotg {
  using request = blas::rotg<T>;
  static request good(const device& gpu) {
    return {.a = filled<T>(gpu, single, 3), .b = filled<T>(gpu, single, 4), .r = gpu.alloc<T>(1)};
  }
  static request bad(const device& gpu) {
    request r = good(gpu);
    r.s = r.r;
    return r;
  }
  static constexpr const char* bad_field = "s overlaps r";
  static void expect_right(const device& gpu, const request& r, const result<blas::rotation<T>>& answer) {
    EXPECT_NEAR(answer->c, 0.6, 1e-6);
    EXPECT_NEAR(answer->s, 0.8, 1e-6);
    EXPECT_NEAR(content(gpu, *r.r)[0], 5, 1e-5);
  }
};

template <class T>
struct rotmg {
  using request = blas::rotmg<T>;
  static request good(const device& gpu) {
    return {.d1 = 1, .d2 = 1, .x1 = filled<T>(gpu, single, 3), .y1 = 0, .new_x1 = gpu.alloc<T>(1)};
  }
  static request bad(const device& gpu) {
    request r = good(gpu);
    r.new_d2 = r.new_x1;
    return r;
  }
  static constexpr const char* bad_field = "new_x1 overlaps new_d2";
  static void expect_right(const device& gpu, const request& r, const result<blas::rotmg_reply<T>>& answer) {
    EXPECT_EQ(answer->param.flag, -2) << "nothing to rotate";
    EXPECT_EQ(content(gpu, *r.new_x1)[0], 3);
  }
};

template <class T>
struct rotm : sized<rotm<T>, blas::rotm<T>> {
  static blas::rotm<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .n = n,
            .param = blas::modified_rotation<T>{-1, 0, 1, 2, 0}};
  }
  static void expect_right(const device& gpu, const blas::rotm<T>& r, const result<reply_to<blas::rotm<T>>>&) {
    expect_holds(gpu, r.x, column, numerics::reference::scaled(2, known<T>(column, 2)));
    expect_holds(gpu, r.y, column, known<T>(column));
  }
};

template <class T>
struct dot : sized<dot<T>, blas::dot<T>> {
  static blas::dot<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .n = n, .result = out<T>(gpu.alloc<T>(1))};
  }
  static void expect_right(const device& gpu, const blas::dot<T>& r, const result<reply_to<blas::dot<T>>>& answer) {
    const number want = numerics::reference::product(transposed(known<T>(column)), known<T>(column, 2))(0).value;
    expect_answer(answer, want);
    expect_elements(gpu, *r.result, single, [&](auto, auto) { return want; });
  }
};

template <class T>
struct dotu : sized<dotu<T>, blas::dotu<T>> {
  static blas::dotu<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .n = n, .result = out<T>(gpu.alloc<T>(1))};
  }
  static void expect_right(const device& gpu, const blas::dotu<T>& r, const result<reply_to<blas::dotu<T>>>& answer) {
    const number want = numerics::reference::product(transposed(known<T>(column)), known<T>(column, 2))(0).value;
    expect_answer(answer, want);
    expect_elements(gpu, *r.result, single, [&](auto, auto) { return want; });
  }
};

template <class T>
struct dotc : sized<dotc<T>, blas::dotc<T>> {
  static blas::dotc<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .n = n, .result = out<T>(gpu.alloc<T>(1))};
  }
  static void expect_right(const device& gpu, const blas::dotc<T>& r, const result<reply_to<blas::dotc<T>>>& answer) {
    const number want = numerics::reference::product(adjoint(known<T>(column)), known<T>(column, 2))(0).value;
    expect_answer(answer, want);
    expect_elements(gpu, *r.result, single, [&](auto, auto) { return want; });
  }
};

template <class T>
struct nrm2 : sized<nrm2<T>, blas::nrm2<T>> {
  static blas::nrm2<T> make(const device& gpu, extent n) { return {.x = filled<T>(gpu, column), .n = n}; }
  static void expect_right(const device&, const blas::nrm2<T>&, const result<reply_to<blas::nrm2<T>>>& answer) {
    expect_answer(answer, number(std::sqrt(30.0L)));
  }
};

template <class T>
struct asum : sized<asum<T>, blas::asum<T>> {
  static blas::asum<T> make(const device& gpu, extent n) { return {.x = filled<T>(gpu, column), .n = n}; }
  static void expect_right(const device&, const blas::asum<T>&, const result<reply_to<blas::asum<T>>>& answer) {
    expect_answer(answer, number(10));
  }
};

template <class T>
struct iamax : sized<iamax<T>, blas::iamax<T>> {
  static blas::iamax<T> make(const device& gpu, extent n) { return {.x = filled<T>(gpu, column), .n = n}; }
  static void expect_right(const device&, const blas::iamax<T>&, const result<reply_to<blas::iamax<T>>>& answer) {
    expect_answer(answer, number(3));
  }
};

template <class T>
struct iamin : sized<iamin<T>, blas::iamin<T>> {
  static blas::iamin<T> make(const device& gpu, extent n) { return {.x = filled<T>(gpu, column), .n = n}; }
  static void expect_right(const device&, const blas::iamin<T>&, const result<reply_to<blas::iamin<T>>>& answer) {
    expect_answer(answer, number(0));
  }
};

}  // namespace

using blas_level1_requests =
    testing::Types<axpy<float>, axpy<complex128>, axpby<float>, scal<float>, copy<float>, exchange<float>, rot<float>,
                   rotg<float>, rotmg<double>, rotm<float>, dot<float>, dot<double>, dotu<complex64>, dotc<complex64>,
                   nrm2<float>, asum<float>, iamax<float>, iamin<float>>;
static_assert(covers<blas_level1_requests, joined_requests<blas::all_level1, blas::all_rotations>>);
INSTANTIATE_TYPED_TEST_SUITE_P(blas_level1, library_actor, blas_level1_requests);

}  // namespace troupe::whole
