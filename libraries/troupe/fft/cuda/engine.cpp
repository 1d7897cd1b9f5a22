// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/fft/cuda/elements.hpp>
#include <troupe/fft/cuda/engine.hpp>
#include <troupe/fft/cuda/places.hpp>
#include <troupe/fft/internal/factor.hpp>
#include <troupe/kernel/engine/cuda/programs.hpp>

namespace troupe::fft {
namespace {

using cuda::kernel;

constexpr std::int64_t most_grouped = 8192;  // largest number of elements of a transform that may share a call

}  // namespace

result<std::unique_ptr<cufft>> cufft::make(const engine_context& context) {
  const auto limits = TROUPE_TRY(kernel::gpu_limits::of(context.device));
  auto kernels = TROUPE_TRY(load_kernels());
  auto lanes = TROUPE_TRY(cuda::per_lane<lane>::make(context.lanes));
  int version = 0;
  TROUPE_TRY(done(::cufftGetVersion(&version), "cufftGetVersion"));
  std::unique_ptr<cufft> out(new cufft(std::move(kernels), std::move(lanes), limits.major * 10 + limits.minor,
                                       context.forbids_compiling == 0));
  out->version_ = cat("cuFFT ", version / 1000, ".", version / 100 % 10, ".", version % 100);
  return out;
}

std::string cufft::notes() const {
  return cat("plans: ", plans_.count().plans, "\nkernels of our own: ", kernels_.size());
}

template <class A>
result<void> cufft::launch(cuda::kernel_id which, std::uint64_t elements, unsigned rows, CUstream stream,
                           const A& arguments) const {
  constexpr std::int64_t threads = 256, most_blocks = 16 * 1024;
  const cuda::grid blocks{cuda::at_most((static_cast<std::int64_t>(elements) + threads - 1) / threads, most_blocks),
                          rows, 1};
  return cuda::launch(kernels_, which, blocks, {threads, 1, 1}, stream, "fft", arguments);
}

// Returns null if the request has no callbacks.
template <class R>
result<gpu_callbacks::ref> cufft::callbacks_of(const R& r, const call& c) {
  if (r.callbacks.address() == 0) return gpu_callbacks::ref();
  if (c.recording == nullptr) return callbacks_.find(r.callbacks.root(), name_of<R>());
  return error(
      reaction::unsupported, "fft",
      cat(name_of<R>(),
          ": callbacks cannot be recorded, because a plan holds the address of their data; send it outside the "
          "recording, or record a transform without callbacks and your own kernels before and after it"));
}

template <class In, class Out, class R>
result<void> cufft::carry_out(const R& r, const shape& in_n, const shape& out_n, bool forward, bool consumes_input,
                              call& c) {
  using in_wide = wide<In>;
  using out_wide = wide<Out>;
  lane* const on = TROUPE_TRY(lanes_.of(c));
  const CUstream stream = on->stream();
  const placement in = placement_of(r.input_layout, in_n, r.batch), to = placement_of(r.output_layout, out_n, r.batch);
  const bool over = r.input.range().address == r.output.range().address;
  const double factor = factor_of(r.normalization, forward, r.n);

  const gpu_callbacks::ref code = TROUPE_TRY(callbacks_of(r, c));
  // True if cuFFT writes to scratch memory, which a kernel of ours then copies. Not with a store callback, which
  // chooses its own addresses.
  const bool callback_stores = code != nullptr && code->image().stores();
  const bool scratch_first =
      is_narrow<Out> || (!is_complex_element<Out> && !over && !callback_stores && writes_between_rows(to));
  const layout tight{};
  plan_key key = key_of(r.n, is_narrow<In> ? tight : r.input_layout, in_n, type_of<in_wide>(),
                        scratch_first ? tight : r.output_layout, out_n, type_of<out_wide>(), r.batch);
  if (code != nullptr) {
    key.callbacks = static_cast<std::int64_t>(r.callbacks.root().id);
    key.lane = c.lane + 1;
  }
  const auto plan = TROUPE_TRY(plans_.find(key, code == nullptr ? nullptr : &code->image()));
  void* const work = TROUPE_TRY(on->work(c, plan->work_bytes()));

  std::optional<cuda::scratch> in_side, out_side;
  const auto elements = [](const placement& p) { return static_cast<std::uint64_t>((p.n.count() * p.batch).value()); };
  const auto allocate = [&](std::optional<cuda::scratch>& side, std::uint64_t bytes) -> result<void> {
    auto made = TROUPE_TRY(cuda::scratch::make(c, "fft", bytes));
    side.emplace(std::move(made));
    return {};
  };
  const void* from = r.input.data();
  void* into = r.output.data();
  if constexpr (is_narrow<In>) {
    TROUPE_TRY(allocate(in_side, elements(in) * sizeof(in_wide)));
    from = in_side->as<void>();
    TROUPE_TRY(launch(cuda::kernel<"gather", In>, elements(in), 1, stream,
                      kernel_arguments::gathering{r.input.data(), in_side->as<void>(), in_kernel(in)}));
  } else if (!over && !consumes_input) {
    // Copies the input, because cuFFT may use the input of a transform to real elements as a work area. Copies all of
    // it if there are callbacks, which may read all of it.
    const std::uint64_t bytes =
        (code != nullptr ? r.input.size() : static_cast<std::uint64_t>(in.reach.value())) * sizeof(In);
    TROUPE_TRY(allocate(in_side, bytes));
    TROUPE_TRY(
        cuda::done_on(stream, "fft", "cuMemcpyDtoDAsync",
                      ::cuMemcpyDtoDAsync(in_side->address(), reinterpret_cast<CUdeviceptr>(from), bytes, stream)));
    from = in_side->as<void>();
  }
  if (scratch_first) {
    TROUPE_TRY(allocate(out_side, elements(to) * sizeof(out_wide)));
    into = out_side->as<void>();
  }
  if (code != nullptr) {
    const auto data = reinterpret_cast<const void**>(TROUPE_TRY(on->memory().claim(2 * sizeof(void*))));
    data[0] = r.load_data ? r.load_data->data() : nullptr;
    data[1] = r.store_data ? r.store_data->data() : nullptr;
    TROUPE_TRY(cuda::done_on(stream, "fft", "cuMemcpyHtoDAsync",
                             ::cuMemcpyHtoDAsync(plan->data(), data, 2 * sizeof(void*), stream)));
  }
  TROUPE_TRY(plan->run(stream, work, const_cast<void*>(from), into, forward, c.library_is_broken));
  if constexpr (is_narrow<Out> || !is_complex_element<Out>) {
    if (scratch_first)
      return launch(cuda::kernel<"scatter", Out>, elements(to), 1, stream,
                    kernel_arguments::scattering{into, r.output.data(), in_kernel(to), factor});
  }
  if constexpr (is_narrow<Out>) {
    return {};
  } else {
    if (factor == 1) return {};
    return launch(cuda::kernel<"scale", Out>, elements(to), 1, stream,
                  kernel_arguments::scaling{into, in_kernel(to), factor});
  }
}

template <class R>
std::uint64_t cufft::group_key(const R& r, std::uint64_t direction) noexcept {
  if constexpr (is_narrow<typename decltype(r.input)::element_type>) return 0;
  if (r.callbacks.address() != 0 || r.batch != extent(1) || r.n.count() > most_grouped || r.input_layout != layout{} ||
      r.output_layout != layout{})
    return 0;
  std::uint64_t h = direction * 4 + static_cast<std::uint64_t>(r.normalization) + 1;
  for (std::size_t i = 0; i < r.n.rank(); ++i) h = h * 16384 + static_cast<std::uint64_t>(r.n[i].value());
  return h == 0 ? 1 : h;
}

// Members that are adjacent in memory on both sides form a batch already. It is transformed in one call for each power
// of two in their number, so that few plans exist. Other members are collected into a batch whose size is a power of
// two; transforming the unused rest of that batch has no effect.
template <class In, class Out, class R>
result<void> cufft::carry_out_group(const group<R>& all, const R& r, const shape& in_n, const shape& out_n,
                                    bool forward, call& c) {
  if constexpr (is_narrow<In>) {
    return error(reaction::fatal, "fft",
                 cat(name_of<R>(), ": several transforms of half or bfloat16 came in one call; expected one; report ",
                     "this defect of Troupe"));
  } else {
    lane* const on = TROUPE_TRY(lanes_.of(c));
    const CUstream stream = on->stream();
    const auto members = static_cast<unsigned>(all.size());
    const auto in_each = static_cast<std::uint64_t>(in_n.count().value()),
               out_each = static_cast<std::uint64_t>(out_n.count().value());
    const auto from = reinterpret_cast<const In**>(TROUPE_TRY(on->memory().claim(members * sizeof(void*))));
    const auto to = reinterpret_cast<Out**>(TROUPE_TRY(on->memory().claim(members * sizeof(void*))));
    // For real elements, members are collected: cuFFT may use the input as a work area.
    bool side_by_side = is_complex_element<Out>;
    for (unsigned i = 0; i < members; ++i) {
      const R member = all[i];
      from[i] = member.input.data();
      to[i] = member.output.data();
      side_by_side &= from[i] == from[0] + i * in_each && to[i] == to[0] + i * out_each;
    }
    const double factor = factor_of(r.normalization, forward, r.n);
    // If a call fails, each member is transformed alone, so transforms in place are collected, too: they must not run
    // twice, not even partly.
    side_by_side &= static_cast<const void*>(from[0]) != to[0];
    const layout tight{};
    const auto find = [&](std::int64_t batch) {
      return plans_.find(key_of(r.n, tight, in_n, type_of<In>(), tight, out_n, type_of<Out>(), batch), nullptr);
    };
    if (side_by_side) {
      std::array<std::shared_ptr<plan>, 32> plans;  // one for each bit of `members`, from the highest
      std::size_t calls = 0;
      std::uint64_t work_bytes = 0;
      for (unsigned rest = members; rest != 0; rest -= std::bit_floor(rest)) {
        plans[calls] = TROUPE_TRY(find(std::bit_floor(rest)));
        work_bytes = std::max<std::uint64_t>(work_bytes, plans[calls++]->work_bytes());
      }
      void* const work = TROUPE_TRY(on->work(c, work_bytes));
      unsigned begun = 0;
      for (std::size_t i = 0; i < calls; ++i) {
        TROUPE_TRY(plans[i]->run(stream, work, const_cast<In*>(from[0] + begun * in_each), to[0] + begun * out_each,
                                 forward, c.library_is_broken));
        begun += std::bit_floor(members - begun);
      }
      if (factor == 1) return {};
      const placement all_of_it = placement_of(tight, out_n, members);
      return launch(cuda::kernel<"scale", Out>, out_each * members, 1, stream,
                    kernel_arguments::scaling{to[0], in_kernel(all_of_it), factor});
    }
    const std::int64_t batch = std::bit_ceil(members);
    const auto plan = TROUPE_TRY(find(batch));
    void* const work = TROUPE_TRY(on->work(c, plan->work_bytes()));
    const std::uint64_t in_bytes = (in_each * static_cast<std::uint64_t>(batch) * sizeof(In) + 255) / 256 * 256;
    const auto sides = TROUPE_TRY(
        cuda::scratch::make(c, "fft", in_bytes + out_each * static_cast<std::uint64_t>(batch) * sizeof(Out)));
    In* const in_side = sides.template as<In>();
    Out* const out_side = reinterpret_cast<Out*>(sides.template as<std::byte>() + in_bytes);
    TROUPE_TRY(launch(cuda::kernel<"collect", In>, in_each, members, stream,
                      kernel_arguments::members_to_side{reinterpret_cast<const void**>(from), in_side, in_each}));
    TROUPE_TRY(plan->run(stream, work, in_side, out_side, forward, c.library_is_broken));
    return launch(cuda::kernel<"distribute", Out>, out_each, members, stream,
                  kernel_arguments::side_to_members{out_side, reinterpret_cast<void**>(to), out_each, factor});
  }
}

template <class T>
result<plan_info> cufft::run(const prepare<T>& r, call&) {
  const bool forward = r.direction == direction::forward;
  const layout tight{};
  const layout &in = is_narrow<T> ? tight : r.input_layout, &to = is_narrow<T> ? tight : r.output_layout;
  plan_info out{};
  const auto find = [&]<class In, class Out>(const shape& in_n, const shape& out_n, const layout& l, In*,
                                             Out*) -> result<void> {
    const auto plan = TROUPE_TRY(
        plans_.find(key_of(r.n, in, in_n, type_of<wide<In>>(), l, out_n, type_of<wide<Out>>(), r.batch), nullptr));
    out.work_bytes = std::max(out.work_bytes, plan->work_bytes());
    return {};
  };
  T* const element = nullptr;
  if constexpr (is_complex_element<T>) {
    TROUPE_TRY(find(r.n, r.n, to, element, element));
  } else {
    basic_complex<T>* const complex_element = nullptr;
    if (forward) {
      TROUPE_TRY(find(r.n, half_of(r.n), to, element, complex_element));
    } else {
      TROUPE_TRY(find(half_of(r.n), r.n, to, complex_element, element));
      // A transform in place uses the first plan, and one with separate output uses the second.
      if (to != tight && writes_between_rows(placement_of(to, r.n, r.batch)))
        TROUPE_TRY(find(half_of(r.n), r.n, tight, complex_element, element));
    }
  }
  return out;
}

}  // namespace troupe::fft

// Runs on a helper thread, because making a plan can take as long as compiling.
using namespace troupe::fft;
TROUPE_ENGINE_OF_PARTS(
    cufft, "fft", "cuda", (troupe::operations_of<cufft, all_transforms>()),
    (troupe::operations_of<cufft, troupe::slow<compile_callbacks_recipe>, read_summary, troupe::slow<unload>>()))
