// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <troupe/base/cat.hpp>
#include <troupe/base/trusted_file.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/cells/vendor_plans.hpp>
#include <troupe/cutlass/cuda/vendor_family.hpp>
#include <troupe/cutlass/cuda/vendor_launch.hpp>

namespace troupe::cutlass {
namespace {

std::string file_of_plug_in() {
  const char* const named = ::secure_getenv("TROUPE_CUTLASS");
  if (named != nullptr && *named != '\0') return named;
  std::error_code ignored;
  const auto engine =
      std::filesystem::weakly_canonical(file_of_code(reinterpret_cast<const void*>(&file_of_plug_in)), ignored);
  return engine.parent_path().parent_path() / "cutlass" / "vendor.so";
}

// `own(others)` returns the plans with others among them, `vendors(cells)` those of CUTLASS, and `way_of` how such a
// plan is launched.
template <class Own, class Vendors, class WayOf>
auto with_those_of(vendor_family& vendor, const plan_wish& wish, Own&& own, Vendors&& vendors, WayOf&& way_of)
    -> decltype(own(other_plans{})) {
  const family wanted = wish.plan.family;
  const bool ours = wanted == family::hopper || wanted == family::ampere;
  if (ours || (wanted == family::any && !wish.with_vendor)) {
    auto found = own(other_plans{});
    if (found || ours) return found;
  }
  const auto cells = vendor.cells();
  if (!cells) return own(other_plans{{}, cells.error().text()});
  other_plans others = vendors(*cells);
  std::erase_if(others.all, [&](const candidate& c) {
    if (!has_wanted(c.plan, wish.plan)) return false;  // it may be the nearest
    const auto way = way_of(c);
    if (way && way->bytes <= wish.workspace) return false;
    others.why_not =
        way ? cat(c.cell->name, " needs ", way->bytes, " bytes of memory, and workspace is ", wish.workspace)
            : way.error().text();
    return true;
  });
  return own(others);
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

result<std::vector<candidate>> plans_of(const problem& p, const whole_form& f, const chip& on, const plan_wish& wish,
                                        vendor_family& vendor) {
  return with_those_of(
      vendor, wish,
      [&](const other_plans& others) { return candidates_for(f, {p.m, p.n, p.k, p.batch}, on, wish.plan, others); },
      [&](const vendor::cells& cells) { return vendor_plans_of(p, f, on, wish.plan, cells); },
      [&](const candidate& c) { return vendor_way_of(p, f, c, vendor); });
}

result<std::vector<convolution_way>> plans_of(const convolution_problem& p, const chip& on, const plan_wish& wish,
                                              vendor_family& vendor) {
  return with_those_of(
      vendor, wish, [&](const other_plans& others) { return ways_for(p, on, wish.plan, others); },
      [&](const vendor::cells& cells) { return vendor_plans_of(p, on, wish.plan, cells); },
      [&](const candidate& c) { return vendor_way_of(p, c, vendor); });
}

}  // namespace troupe::cutlass
