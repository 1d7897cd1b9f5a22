// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Runs ducc0 on the threads of a crew. Compiled once for each family of processors; TROUPE_FFT_FAMILY is its name.
#include <ducc0/fft/fft.h>
#include <ducc0/fft/fftnd_impl.h>
#include <algorithm>
#include <complex>
#include <cstdio>
#include <new>
#include <troupe/fft/host/transforms.hpp>

namespace DUCC0_NAMESPACE {
namespace detail_threading {
namespace {

class crew_pool : public thread_pool {
 public:
  const troupe::fft::crew* crew = nullptr;
  std::size_t nthreads() const override { return crew != nullptr ? crew->threads : 1; }
  std::size_t adjust_nthreads(std::size_t wanted) const override {
    return wanted == 0 ? nthreads() : std::min(wanted, nthreads());
  }
  void submit(std::function<void()> work) override { work(); }
  void parallel_for(std::size_t count, std::function<void(std::size_t)> work) override {
    const auto part = [](void* job, std::size_t i) { (*static_cast<std::function<void(std::size_t)>*>(job))(i); };
    if (count <= 1 || crew == nullptr)
      for (std::size_t i = 0; i < count; ++i) work(i);
    else
      crew->spread(crew->self, count, part, &work);
  }
};

crew_pool& the_pool() {
  static crew_pool pool;
  return pool;
}

}  // namespace

// All callers share one pool, so there is nothing to set.
thread_pool* set_active_pool(thread_pool*) { return &the_pool(); }
thread_pool* get_active_pool() { return &the_pool(); }
std::size_t available_hardware_threads() { return the_pool().nthreads(); }

void use(const troupe::fft::crew* c) { the_pool().crew = c; }

}  // namespace detail_threading
}  // namespace DUCC0_NAMESPACE

namespace {

namespace ducc = DUCC0_NAMESPACE;
using troupe::fft::array;
using troupe::fft::outcome;
using troupe::fft::transform_job;

ducc::fmav_info::shape_t sizes_of(const array& a) { return {a.size, a.size + a.rank}; }
ducc::fmav_info::stride_t steps_of(const array& a) { return {a.step, a.step + a.rank}; }

template <class T>
ducc::cfmav<T> read(const array& a) {
  return {static_cast<const T*>(a.data), sizes_of(a), steps_of(a)};
}
template <class T>
ducc::vfmav<T> written(const array& a) {
  return {static_cast<T*>(a.data), sizes_of(a), steps_of(a)};
}

ducc::fmav_info::shape_t axes_of(const transform_job& t) {
  ducc::fmav_info::shape_t axes;
  for (std::size_t i = t.first; i < t.input.rank; ++i) axes.push_back(i);
  return axes;
}

template <class F>
outcome guarded(char* why, std::size_t bytes, F&& f) noexcept {
  try {
    f();
    return outcome::done;
  } catch (const std::bad_alloc&) {
    return outcome::out_of_memory;
  } catch (const std::exception& e) {
    std::snprintf(why, bytes, "%s", e.what());
  } catch (...) {
    std::snprintf(why, bytes, "ducc0 has thrown an exception that is not a std::exception");
  }
  return outcome::failed;
}

template <class T>
void complex_to_complex(const transform_job& t) {
  ducc::c2c(read<std::complex<T>>(t.input), written<std::complex<T>>(t.output), axes_of(t), t.forward,
            static_cast<T>(t.factor), t.threads);
}
template <class T>
void real_to_complex(const transform_job& t) {
  ducc::r2c(read<T>(t.input), written<std::complex<T>>(t.output), axes_of(t), true, static_cast<T>(t.factor),
            t.threads);
}
template <class T>
void complex_to_real(const transform_job& t) {
  if (t.consumes_input)
    ducc::c2r_mut(written<std::complex<T>>(t.input), written<T>(t.output), axes_of(t), false, static_cast<T>(t.factor),
                  t.threads);
  else
    ducc::c2r(read<std::complex<T>>(t.input), written<T>(t.output), axes_of(t), false, static_cast<T>(t.factor),
              t.threads);
}

outcome c2c(const transform_job* t, char* why, std::size_t bytes) {
  return guarded(why, bytes, [t] { t->is_double ? complex_to_complex<double>(*t) : complex_to_complex<float>(*t); });
}
outcome r2c(const transform_job* t, char* why, std::size_t bytes) {
  return guarded(why, bytes, [t] { t->is_double ? real_to_complex<double>(*t) : real_to_complex<float>(*t); });
}
outcome c2r(const transform_job* t, char* why, std::size_t bytes) {
  return guarded(why, bytes, [t] { t->is_double ? complex_to_real<double>(*t) : complex_to_real<float>(*t); });
}

constexpr troupe::fft::transforms all{
    TROUPE_FFT_FAMILY, TROUPE_FFT_DUCC_VERSION, ducc::detail_threading::use, c2c, r2c, c2r};

}  // namespace

extern "C" __attribute__((visibility("default"))) const troupe::fft::transforms* troupe::fft::troupe_fft_transforms() {
  return &all;
}
