// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <troupe/base/cat.hpp>
#include <troupe/base/trusted_file.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/cuda/vendor_family.hpp>
#include <troupe/cutlass/cuda/vendor_launch.hpp>
#include <troupe/cutlass/variants/vendor_plans.hpp>

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

// `own(others)` returns the plans with others among them, `vendors(variants)` those of CUTLASS, and `execution_plan_of`
// the execution plan of such a plan.
template <class Own, class Vendors, class ExecutionPlanOf>
auto with_those_of(vendor_family& vendor, const plan_constraints& constraints, Own&& own, Vendors&& vendors,
                   ExecutionPlanOf&& execution_plan_of) -> decltype(own(other_plans{})) {
  const family wanted = constraints.plan.family;
  const bool ours = wanted == family::hopper || wanted == family::ampere;
  if (ours || (wanted == family::any && !constraints.with_vendor)) {
    auto found = own(other_plans{});
    if (found || ours) return found;
  }
  const auto variants = vendor.variants();
  if (!variants) return own(other_plans{{}, variants.error().text()});
  other_plans others = vendors(*variants);
  std::erase_if(others.all, [&](const candidate& c) {
    if (!has_wanted(c.plan, constraints.plan)) return false;  // it may be the nearest
    const auto execution = execution_plan_of(c);
    if (execution && execution->bytes <= constraints.workspace) return false;
    others.why_not = execution ? cat(c.variant->name, " needs ", execution->bytes,
                                     " bytes of memory, and workspace is ", constraints.workspace)
                               : execution.error().text();
    return true;
  });
  return own(others);
}

}  // namespace

vendor_family::vendor_family() : file_(file_of_plug_in()) {}

result<vendor::kernel_variants> vendor_family::variants() {
  const std::scoped_lock guard(lock_);
  if (!loaded_) loaded_ = vendor::kernel_variants::load(file_);
  return *loaded_;
}

result<void> vendor_family::check_parameters(const vendor::kernel_variant& c) {
  const std::scoped_lock guard(lock_);
  if (checked_.contains(&c)) return {};
  TROUPE_TRY(vendor::compare_parameters(c));
  checked_.insert(&c);
  return {};
}

std::string vendor_family::notes() {
  const auto all = variants();
  if (!all) return all.error().text();
  std::string out;
  for (const std::string& line : all->notes()) out += (out.empty() ? "" : "\n") + line;
  return out;
}

result<std::vector<candidate>> plans_of(const problem& p, const kernel_signature& f, const gpu_properties& gpu,
                                        const plan_constraints& constraints, vendor_family& vendor) {
  return with_those_of(
      vendor, constraints,
      [&](const other_plans& others) {
        return candidates_for(f, {p.m, p.n, p.k, p.batch}, gpu, constraints.plan, others);
      },
      [&](const vendor::kernel_variants& variants) { return vendor_plans_of(p, f, gpu, constraints.plan, variants); },
      [&](const candidate& c) { return vendor_execution_plan_of(p, f, c, vendor); });
}

result<std::vector<convolution_candidate>> plans_of(const convolution_problem& p, const gpu_properties& gpu,
                                                    const plan_constraints& constraints, vendor_family& vendor) {
  return with_those_of(
      vendor, constraints,
      [&](const other_plans& others) { return convolution_candidates_for(p, gpu, constraints.plan, others); },
      [&](const vendor::kernel_variants& variants) { return vendor_plans_of(p, gpu, constraints.plan, variants); },
      [&](const candidate& c) { return vendor_execution_plan_of(p, c, vendor); });
}

}  // namespace troupe::cutlass
