// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <troupe/base/clock.hpp>
#include <troupe/base/files/trusted_file.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/fft/host/engine.hpp>
#include <troupe/fft/host/load_transforms.hpp>
#include <troupe/fft/host/scratch.hpp>
#include <troupe/fft/internal/factor.hpp>
#include <troupe/fft/placement.hpp>

namespace troupe::fft {
namespace {

// The folder `fft` is beside the folder of the engines.
result<const transforms*> load_own_transforms() {
  const std::filesystem::path engine = file_of_code(reinterpret_cast<const void*>(&load_own_transforms));
  if (engine.empty())
    return error(reaction::fatal, "fft",
                 "fft.host: the path of the plug-in is unknown, so the folder fft beside its folder cannot be found; "
                 "load the plug-in from a file");
  return load_transforms(engine.parent_path().parent_path() / "fft");
}

// Leaves out axes with one element, because a transform over them changes nothing. Keeps the last axis, because a real
// side has a different extent there.
array array_of(const void* data, const placement& p, const shape& n) {
  array out{.data = const_cast<void*>(data), .rank = 0, .size = {}, .step = {}};
  const auto add = [&out](extent size, extent step) {
    out.size[out.rank] = static_cast<std::size_t>(size.value());
    out.step[out.rank++] = static_cast<std::ptrdiff_t>(step.value());
  };
  if (p.batch > 1) add(p.batch, p.distance);
  for (std::size_t i = 0; i < n.rank(); ++i)
    if (n[i] > 1 || i + 1 == n.rank()) add(p.n[i], p.stride[i]);
  return out;
}

template <class T>
constexpr bool is_narrow = std::is_same_v<real_of<T>, half> || std::is_same_v<real_of<T>, bfloat16>;
// The type in which transforms of elements T are computed.
template <class T>
struct wide : std::type_identity<T> {};
template <class T>
  requires(is_narrow<T> && std::is_same_v<T, real_of<T>>)
struct wide<T> : std::type_identity<float> {};
template <class T>
  requires(is_narrow<T> && !std::is_same_v<T, real_of<T>>)
struct wide<T> : std::type_identity<complex64> {};

// With fewer elements, one thread finishes before another one has started.
constexpr std::int64_t worth_threads = 1 << 15;

}  // namespace

host_fft::host_fft(const transforms& by, unsigned threads, bool may_compile)
    : by_(by),
      crew_{.threads = threads,
            .self = this,
            .spread =
                [](void* self, std::size_t count, void (*part)(void*, std::size_t), void* job) {
                  static_cast<host_fft*>(self)->team_.spread(static_cast<std::int64_t>(count), 1, [&](std::int64_t i) {
                    part(job, static_cast<std::size_t>(i));
                  });
                }},
      team_(threads),
      callbacks_(may_compile),
      version_(cat("ducc0 ", by.version)) {
  by_.use(&crew_);
}

result<std::unique_ptr<host_fft>> host_fft::make(const engine_context& context) {
  const transforms* const by = TROUPE_TRY(load_own_transforms());
  return std::unique_ptr<host_fft>(
      new host_fft(*by, static_cast<unsigned>(usable_cores()), context.forbids_compiling == 0));
}

std::string host_fft::notes() const { return cat("threads: ", crew_.threads, "\nbuilt for: x86-64-", by_.family); }

result<void> host_fft::done(outcome o, const char* why, std::string_view request, std::uint64_t scratch) const {
  if (o == outcome::done) return {};
  if (o == outcome::out_of_memory)
    return error(reaction::retry_later, "fft",
                 cat(request, ": out of memory for ", scratch >> 20,
                     " MiB of scratch memory; transform a smaller batch at a time, or in place"));
  return error(reaction::fatal, "fft", cat(request, ": ducc0: ", why));
}

template <class In, class Out, class R>
result<void> host_fft::carry_out(const R& r, const placement& in, const placement& out, bool forward,
                                 bool consumes_input) {
  using in_wide = typename wide<In>::type;
  using out_wide = typename wide<Out>::type;
  const std::string_view request = name_of<R>();
  const bool calls = r.callbacks.address() != 0;
  const bool loads = calls && host_callbacks::loads(r.callbacks.root());
  const bool stores = calls && host_callbacks::stores(r.callbacks.root());
  const bool gathers = loads || is_narrow<In>, scatters = stores || is_narrow<Out>;
  const placement dense_in = placement_of({}, in.n, in.batch), dense_out = placement_of({}, out.n, out.batch);
  const auto bytes_of = [](const placement& p, std::size_t element) {
    return static_cast<std::uint64_t>(p.reach.value()) * element;
  };
  const std::uint64_t scratch_bytes =
      (gathers ? bytes_of(dense_in, sizeof(in_wide)) : 0) + (scatters ? bytes_of(dense_out, sizeof(out_wide)) : 0);
  scratch<in_wide> gathered;
  scratch<out_wide> to_scatter;
  if ((gathers && !gathered.reserve(dense_in.reach)) || (scatters && !to_scatter.reserve(dense_out.reach)))
    return done(outcome::out_of_memory, "", request, scratch_bytes);

  const void* from = r.input.data();
  if (loads)
    TROUPE_TRY(callbacks_.load(r.callbacks.root(), from, gathered.data(), in,
                               r.load_data ? r.load_data->data() : nullptr, request));
  else if constexpr (is_narrow<In>)
    gather(r.input.data(), in, gathered.data());
  transform_job t{.input = array_of(gathers ? gathered.data() : from, gathers ? dense_in : in, r.n),
                  .output = array_of(scatters ? static_cast<void*>(to_scatter.data()) : r.output.data(),
                                     scatters ? dense_out : out, r.n),
                  .first = in.batch > 1 ? std::size_t{1} : std::size_t{0},
                  .is_double = std::is_same_v<real_of<in_wide>, double>,
                  .forward = forward,
                  .consumes_input = consumes_input || gathers,
                  .factor = factor_of(r.normalization, forward, r.n),
                  .threads = r.n.count() * r.batch >= worth_threads ? crew_.threads : std::size_t{1}};
  char why[256] = "";
  const outcome o = std::is_same_v<real_of<In>, In>     ? by_.r2c(&t, why, sizeof why)
                    : std::is_same_v<real_of<Out>, Out> ? by_.c2r(&t, why, sizeof why)
                                                        : by_.c2c(&t, why, sizeof why);
  TROUPE_TRY(done(o, why, request, scratch_bytes));
  if (stores)
    return callbacks_.store(r.callbacks.root(), to_scatter.data(), r.output.data(), out,
                            r.store_data ? r.store_data->data() : nullptr, request);
  if constexpr (is_narrow<Out>) scatter(to_scatter.data(), out, r.output.data());
  return {};
}

template <class T>
result<void> host_fft::run(const c2c<T>& r, call&) {
  return carry_out<T, T>(r, placement_of(r.input_layout, r.n, r.batch), placement_of(r.output_layout, r.n, r.batch),
                         r.direction == direction::forward, false);
}
template <class T>
result<void> host_fft::run(const r2c<T>& r, call&) {
  return carry_out<T, basic_complex<T>>(r, placement_of(r.input_layout, r.n, r.batch),
                                        placement_of(r.output_layout, half_of(r.n), r.batch), true, false);
}
template <class T>
result<void> host_fft::run(const c2r<T>& r, call&) {
  return carry_out<basic_complex<T>, T>(r, placement_of(r.input_layout, half_of(r.n), r.batch),
                                        placement_of(r.output_layout, r.n, r.batch), false, r.consumes_input);
}

// Returns the scratch memory for the copies of half types; ducc0 makes its plans while it runs, so nothing else is
// known.
template <class T>
result<plan_info> host_fft::run(const prepare<T>& r, call&) {
  plan_info out{};
  if constexpr (is_narrow<T>) {
    const auto all = static_cast<std::uint64_t>((r.n.count() * r.batch).value());
    out.work_bytes = all * 2 * sizeof(typename wide<T>::type);
  }
  return out;
}

}  // namespace troupe::fft

using namespace troupe::fft;
TROUPE_ENGINE_OF_PARTS(
    host_fft, "fft", "host", (troupe::operations_of<host_fft, all_transforms>()),
    (troupe::operations_of<host_fft, troupe::slow<compile_callbacks_recipe>, read_summary, unload>()))
