// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Transforms through the worker, compared with the same library in this process: large ones, and a very small one.
#include <bench/host/direct.hpp>
#include <bench/measures.hpp>
#include <complex>
#include <cstdio>
#include <limits>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/threads/thread_team.hpp>
#include <troupe/fft/fft.hpp>
#include <troupe/fft/host/load_transforms.hpp>

namespace troupe::bench {
namespace {

// ducc0 on all cores of this process, as a worker uses it.
class ducc {
 public:
  explicit ducc(const settings& s) : by_(fft::load_transforms(s.runtime_folder + "/fft").value()) {
    static thread_team team(static_cast<std::size_t>(usable_cores()));
    static const fft::crew crew{
        .threads = team.threads(),
        .self = &team,
        .spread = [](void* self, std::size_t count, void (*part)(void*, std::size_t), void* job) {
          static_cast<thread_team*>(self)->spread(static_cast<std::int64_t>(count), 1,
                                                  [&](std::int64_t i) { part(job, static_cast<std::size_t>(i)); });
        }};
    by_->use(&crew);
  }

  template <class T>
  void forward(const fft::shape& n, std::size_t batch, const std::complex<T>* from, std::complex<T>* to,
               std::size_t threads) const {
    fft::array a{.data = nullptr, .rank = n.rank() + 1, .size = {batch}, .step = {}};
    for (std::size_t i = 0; i < n.rank(); ++i) a.size[i + 1] = static_cast<std::size_t>(n[i].value());
    std::ptrdiff_t step = 1;
    for (std::size_t i = a.rank; i-- > 0; step *= static_cast<std::ptrdiff_t>(a.size[i])) a.step[i] = step;
    fft::transform_job t{.input = a,
                         .output = a,
                         .first = 1,
                         .is_double = sizeof(T) == 8,
                         .forward = true,
                         .consumes_input = false,
                         .factor = 1,
                         .threads = threads};
    t.input.data = const_cast<std::complex<T>*>(from);
    t.output.data = to;
    char why[256] = "";
    if (by_->c2c(&t, why, sizeof why) != fft::outcome::done)
      throw bad_result(error(reaction::fatal, "bench", cat("ducc0, called here: ", why)));
  }

 private:
  const fft::transforms* by_;
};

struct totals {
  double logarithm_of_ours = 0, logarithm_of_raw = 0, least = std::numeric_limits<double>::infinity();
  int count = 0;
  std::string note = {}, wrong = {};
};

template <class T>
void compare(const settings& s, const ducc& bare, const device_under_test& gpu, const char* name, const fft::shape& n,
             std::int64_t batch, int times, totals& all) {
  using complex = basic_complex<T>;
  const std::int64_t points = n.count().value(), elements = points * batch;
  const auto numbers = random_values<T>(2 * elements, 1);
  std::vector<complex> x(static_cast<std::size_t>(elements)), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = complex(numbers[2 * i], numbers[2 * i + 1]);
  const auto from = uploaded(gpu, x), to = gpu->alloc<complex>(x.size());
  const auto bits = std::log2(static_cast<double>(points));
  const figures f =
      against(s, gpu, 11, times, 5. * static_cast<double>(elements) * bits,
              fft::c2c<complex>{.input = from, .output = to, .n = n, .batch = batch}, [&] {
                bare.forward<T>(n, static_cast<std::size_t>(batch), reinterpret_cast<const std::complex<T>*>(x.data()),
                                reinterpret_cast<std::complex<T>*>(y.data()), static_cast<std::size_t>(usable_cores()));
              });
  const auto ours = gpu->download(to).get().value();
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(std::abs(ours[i].real - y[i].real) <= T(1e-2) && std::abs(ours[i].imag - y[i].imag) <= T(1e-2)))
      all.wrong = cat(name, ": the results differ");
  char text[80];
  std::snprintf(text, sizeof text, "%s%s: %.1f, ratio %.3f", all.note.empty() ? "" : "; ", name, f.ours, f.ratio());
  all.note += text;
  all.logarithm_of_ours += std::log(f.ours);
  all.logarithm_of_raw += std::log(f.raw);
  all.least = std::min(all.least, f.ratio());
  ++all.count;
}

}  // namespace

figures run_fft_c2c(const settings& s) {
  const ducc bare(s);
  const device_under_test gpu(s, {.libraries = {"fft"}});
  totals all;
  compare<float>(s, bare, gpu, "8 of 2^20 in f32", 1 << 20, 8, 1, all);
  compare<double>(s, bare, gpu, "1000 of 1000 in f64", 1000, 1000, 4, all);
  compare<float>(s, bare, gpu, "128^3 in f32", {128, 128, 128}, 1, 4, all);
  compare<double>(s, bare, gpu, "1000003, a prime, in f64", 1'000'003, 1, 1, all);
  figures f{.ours = std::exp(all.logarithm_of_ours / all.count), .raw = std::exp(all.logarithm_of_raw / all.count)};
  f.note = all.note;
  f.objection = all.wrong;
  if (all.least < 0.9) f.missed = "every ratio to ducc0 alone >= 0.9";
  return f;
}

figures run_fft_ask(const settings& s) {
  constexpr int n = 8, each = 1000;
  const ducc bare(s);
  const device_under_test gpu(s, {.libraries = {"fft"}, .wait = wait_policy::latency});
  const auto from = gpu->alloc<complex64>(n), to = gpu->alloc<complex64>(n);
  gpu->upload(from, std::vector<complex64>{{1, 0}, {}, {}, {}, {}, {}, {}, {}});
  const fft::c2c<complex64> request{.input = from, .output = to, .n = n};
  const std::vector<std::complex<float>> x{1, 0, 0, 0, 0, 0, 0, 0};
  std::vector<std::complex<float>> y(n);
  std::vector<double> ours, raw;
  const pair_of_medians found = interleaved(
      s.rounds(31), [&] { return median_of_each(each, ours, [&] { gpu->ask(request).get().value(); }); },
      [&] { return median_of_each(each, raw, [&] { bare.forward<float>(n, 1, x.data(), y.data(), 1); }); });
  figures f{.ours = found.ours, .raw = found.raw};
  const auto result = gpu->download(to).get().value();
  for (const complex64 z : result)
    if (z != complex64(1, 0)) f.objection = "the transform of an impulse is not 1 everywhere";
  return f;
}

}  // namespace troupe::bench
