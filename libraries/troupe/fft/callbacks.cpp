// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/fft/callbacks.hpp>
#include <troupe/fft/internal/callback_recipe.hpp>
#include <troupe/kernel/program_requests.hpp>
#include <troupe/request/checker.hpp>

namespace troupe::fft {
namespace {

bool is_name(const std::string& s) { return s.find_first_of("\n\r\\\"';{}#") == std::string::npos; }

std::string why_refused(const jit::recipe& r, const callback_names& names) {
  if (names.load.empty() && names.store.empty())
    return "load and store are empty; expected the name of a function in the source for one of them, or for both";
  for (const auto* name : {&names.load, &names.store})
    if (!is_name(*name))
      return cat(name == &names.load ? "load is " : "store is ", troupe::detail::text(*name),
                 "; expected the name of a function, such as hann or ns::hann<256>");
  const auto given = [](const std::string& field) {
    return field + " is given; expected a recipe without it, because the functions become part of a transform";
  };
  if (!r.kernels.empty()) return given("kernels");
  if (!r.globals.empty()) return given("globals");
  if (!r.units.empty()) return given("units");
  if (!r.architecture.empty()) return given("architecture");
  if (r.relocatable) return given("relocatable");
  if (r.link_time_optimisation) return given("link_time_optimisation");
  return {};
}

error refusal(std::string text) {
  return error(error::details{.reaction = reaction::caller_bug,
                              .domain = "fft",
                              .text = "fft.compile_callbacks: " + std::move(text),
                              .request = {"fft.compile_callbacks", 0}});
}

}  // namespace

kernel::program detail::compile_callbacks(const device& gpu, jit::recipe r, const callback_names& names, dtype in,
                                          dtype out) {
  if (std::string wrong = why_refused(r, names); !wrong.empty())
    return kernel::refused(gpu, r.name, refusal(std::move(wrong)));
  if (auto fine = check(r); !fine) return kernel::refused(gpu, r.name, fine.error());
  r.source += wrapper(names.load, names.store, in, out);
  jit::make_absolute(r.include_paths);
  const std::string encoded = jit::encode(r);
  const callback_recipe all{!names.load.empty(), !names.store.empty(), in, out, encoded};
  return kernel::made_by<"fft", "compile_callbacks">(gpu, r.name, encode(all), r.log_bytes);
}

pending<void> detail::ready(const kernel::program& p) { return kernel::program_of<"fft">(p).ready(); }
pending<void> detail::unload(const kernel::program& p) { return kernel::program_of<"fft">(p).unload(); }

}  // namespace troupe::fft
