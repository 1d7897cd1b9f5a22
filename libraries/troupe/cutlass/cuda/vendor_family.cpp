// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/cells/vendor_plans.hpp>
#include <troupe/cutlass/cuda/vendor_family.hpp>

namespace troupe::cutlass {
namespace {

std::string file_of_plug_in() {
  const char* const named = std::getenv("TROUPE_CUTLASS");
  if (named != nullptr && *named != '\0') return named;
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&file_of_plug_in), &self) == 0 || self.dli_fname == nullptr) return {};
  std::error_code ignored;
  const auto engine = std::filesystem::weakly_canonical(self.dli_fname, ignored);
  return engine.parent_path().parent_path() / "cutlass" / "vendor.so";
}

// `own(others)` returns the plans with others among them, and `vendors(cells)` those of CUTLASS.
template <class Own, class Vendors>
auto with_those_of(vendor_family& vendor, const plan& wanted, bool with_vendor, Own&& own, Vendors&& vendors)
    -> decltype(own(other_plans{})) {
  const bool ours = wanted.family == family::hopper || wanted.family == family::ampere;
  if (ours || (wanted.family == family::any && !with_vendor)) {
    auto found = own(other_plans{});
    if (found || ours) return found;
  }
  const auto cells = vendor.cells();
  return own(cells ? vendors(*cells) : other_plans{{}, cells.error().text()});
}

}  // namespace

vendor_family::vendor_family() : file_(file_of_plug_in()) {}

result<vendor::cells> vendor_family::cells() {
  const std::scoped_lock guard(lock_);
  if (!loaded_) loaded_ = vendor::cells::load(file_);
  return *loaded_;
}

result<void> vendor_family::check_parameters(const vendor::cell& c) {
  const std::scoped_lock guard(lock_);
  if (checked_.contains(&c)) return {};
  TROUPE_TRY(vendor::compare_parameters(c));
  checked_.insert(&c);
  return {};
}

std::string vendor_family::notes() {
  const auto all = cells();
  if (!all) return all.error().text();
  std::string out;
  for (const std::string& line : all->notes()) out += (out.empty() ? "" : "\n") + line;
  return out;
}

result<std::vector<candidate>> plans_of(const problem& p, const whole_form& f, const chip& on, const plan& wanted,
                                        bool with_vendor, vendor_family& vendor) {
  return with_those_of(
      vendor, wanted, with_vendor,
      [&](const other_plans& others) { return candidates_for(f, {p.m, p.n, p.k, p.batch}, on, wanted, others); },
      [&](const vendor::cells& cells) { return vendor_plans_of(p, f, on, wanted, cells); });
}

result<std::vector<convolution_way>> plans_of(const convolution_problem& p, const chip& on, const plan& wanted,
                                              bool with_vendor, vendor_family& vendor) {
  return with_those_of(
      vendor, wanted, with_vendor, [&](const other_plans& others) { return ways_for(p, on, wanted, others); },
      [&](const vendor::cells& cells) { return vendor_plans_of(p, on, wanted, cells); });
}

}  // namespace troupe::cutlass
