// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/fft/host/host_callbacks.hpp>
#include <troupe/jit/engine.hpp>

namespace troupe::fft {
namespace {

using kernel::host_programs;

// A layout, as the kernels of callbacks take it.
struct places_of_kernel {
  std::uint64_t n[4], step[4];
};

places_of_kernel in_kernel(const placement& p) {
  const auto number = [](extent e) { return static_cast<std::uint64_t>(e.value()); };
  places_of_kernel out{{number(p.batch), 1, 1, 1}, {number(p.distance), 0, 0, 0}};
  for (std::size_t i = 0; i < p.n.rank(); ++i) {
    out.n[i + 1] = number(p.n[i]);
    out.step[i + 1] = number(p.stride[i]);
  }
  return out;
}

callback_recipe recipe_at(const kernel::program_root& root) noexcept {
  return decode_callbacks(kernel::recipe_of(root)).value_or(callback_recipe{});
}

}  // namespace

host_callbacks::host_callbacks(bool may_compile)
    : builder_(may_compile), programs_([this](const kernel::program_root& root) -> host_programs::made {
        const auto recipe = decode_callbacks(kernel::recipe_of(root));
        return jit::make_program<host_programs>(builder_.images(), root, recipe ? recipe->encoded : std::string_view(),
                                                jit::host_builder::load);
      }) {}

bool host_callbacks::loads(const kernel::program_root& root) noexcept { return recipe_at(root).loads; }
bool host_callbacks::stores(const kernel::program_root& root) noexcept { return recipe_at(root).stores; }

result<void> host_callbacks::load(const kernel::program_root& root, const void* input, void* into,
                                  const placement& places, const void* data, std::string_view request) {
  return run(root, load_function, input, into, places, data, request);
}

result<void> host_callbacks::store(const kernel::program_root& root, const void* from, void* output,
                                   const placement& places, void* data, std::string_view request) {
  return run(root, store_function, from, output, places, data, request);
}

result<void> host_callbacks::run(const kernel::program_root& root, const char* kernel, const void* from, void* to,
                                 const placement& places, const void* data, std::string_view request) {
  constexpr std::uint64_t threads = 256, most_blocks = 4096;
  const auto found = TROUPE_TRY(programs_.find_kernel(root, kernel, request));
  places_of_kernel p = in_kernel(places);
  void* const arguments[] = {&from, &to, &p, &data};
  const auto count = static_cast<std::uint64_t>((places.n.count() * places.batch).value());
  const cuda_on_host::dim grid{
      static_cast<std::uint32_t>(std::clamp((count + threads - 1) / threads, std::uint64_t{1}, most_blocks))};
  return launcher_.launch(*found.kernel, grid, {threads}, 0, arguments,
                          {.flush_to_zero = found.image->flush_to_zero, .request = request.data()});
}

}  // namespace troupe::fft
