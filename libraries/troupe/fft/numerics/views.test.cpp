// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of transforms of tensors, compared with their definition in long double.
#include <troupe/fft/testing/numerics.hpp>

namespace troupe::fft {
namespace {

template <class T>
class complex_tensors : public fft_numerics {};
template <class T>
class real_tensors : public fft_numerics {};
TYPED_TEST_SUITE(complex_tensors, complex_elements, element_names);
TYPED_TEST_SUITE(real_tensors, real_elements, element_names);

// Returns the tensor shape of a placement, with an axis for the batch in front.
tensor_shape stored_as(const placement& p) {
  tensor_shape s{.rank = p.n.rank() + 1};
  s.extents[0] = p.batch.value();
  s.strides[0] = p.distance.value();
  for (std::size_t i = 0; i < p.n.rank(); ++i) {
    s.extents[i + 1] = p.n[i].value();
    s.strides[i + 1] = p.stride[i].value();
  }
  return s;
}
// Exchanges the first two axes of the transform.
tensor_shape transposed(tensor_shape s) {
  std::swap(s.extents[1], s.extents[2]);
  std::swap(s.strides[1], s.strides[2]);
  return s;
}

TYPED_TEST(complex_tensors, agree_with_the_definition) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const shape n = this->any_shape();
    const std::int64_t batch = this->random.between(1, 4);
    const bool forward = this->random.between(0, 1) == 0, turns = n.rank() > 1 && this->random.between(0, 1) == 0;
    side<T> input(placement_of(this->any_layout(n, batch), n, batch)),
        output(placement_of(this->any_layout(n, batch), n, batch));
    input.fill(this->random);
    const auto before = input.values();
    tensor_shape from = stored_as(input.places()), to = stored_as(output.places());
    if (turns) from = transposed(from), to = transposed(to);
    const complex_transform<T> r{.input = in_tensor<T>(in<T>(input), from),
                                 .output = out_tensor<T>(out<T>(output), to),
                                 .dimensions = n.rank(),
                                 .direction = forward ? direction::forward : direction::inverse,
                                 .normalization = this->any_normalization()};
    SCOPED_TRACE(this->story(r));
    this->run(r);
    this->template expect_transformed<T>(output, before, n, batch, forward, r.normalization);
    EXPECT_TRUE(input.untouched());
  }
}

TYPED_TEST(real_tensors, agree_with_the_definition_and_its_inverse) {
  using T = TypeParam;
  using C = basic_complex<T>;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const shape n = this->any_shape();
    const std::int64_t batch = this->random.between(1, 4);
    side<T> signal(placement_of(this->any_layout(n, batch), n, batch)),
        back(placement_of(this->any_layout(n, batch), n, batch));
    side<C> spectrum(placement_of(this->any_layout(half_of(n), batch), half_of(n), batch));
    signal.fill(this->random);
    const auto before = signal.values();
    const real_transform<T> forward{.input = in_tensor<T>(in<T>(signal), stored_as(signal.places())),
                                    .output = out_tensor<C>(out<C>(spectrum), stored_as(spectrum.places())),
                                    .dimensions = n.rank(),
                                    .normalization = normalization::forward};
    SCOPED_TRACE(this->story(forward));
    this->run(forward);
    this->template expect_transformed<T>(spectrum, before, n, batch, true, forward.normalization);
    EXPECT_TRUE(signal.untouched());
    this->run(real_inverse<T>{.input = in_tensor<C>(in<C>(spectrum), stored_as(spectrum.places())),
                              .output = out_tensor<T>(out<T>(back), stored_as(back.places())),
                              .dimensions = n.rank(),
                              .consumes_input = this->random.between(0, 1) == 0});
    const auto count = static_cast<wide_real>(n.count().value());
    this->template expect_close<T>(back.values(), before,
                                   2 * tolerance<T>(before, n.count().value(), 1 / std::sqrt(count)));
    EXPECT_TRUE(back.untouched_outside());
  }
}

}  // namespace
}  // namespace troupe::fft
