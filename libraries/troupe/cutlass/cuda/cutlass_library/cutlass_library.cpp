// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <troupe/base/files/trusted_file.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/cuda/cutlass_library/cutlass_library.hpp>
#include <troupe/cutlass/cuda/cutlass_library/cutlass_library_launch.hpp>
#include <troupe/cutlass/variants/cutlass_library/cutlass_library_plans.hpp>

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

// Returns own(library_plans), which adds CUTLASS's plans to those of our templates. Passes no plans of CUTLASS if the
// constraints exclude them. `library_plans_of(variants)` returns CUTLASS's plans; `execution_plan_of(candidate)`
// returns the execution plan of one of them.
template <class Own, class PlansOf, class ExecutionPlanOf>
auto with_library_plans(cutlass_library& library, const plan_constraints& constraints, Own&& own,
                        PlansOf&& library_plans_of, ExecutionPlanOf&& execution_plan_of)
    -> decltype(own(cutlass_library_plans{})) {
  const family wanted = constraints.plan.family;
  const bool ours = wanted == family::hopper || wanted == family::ampere;
  if (ours || (wanted == family::any && !constraints.with_cutlass_library)) {
    auto found = own(cutlass_library_plans{});
    if (found || ours) return found;
  }
  const auto variants = library.variants();
  if (!variants) return own(cutlass_library_plans{{}, variants.error().text()});
  cutlass_library_plans plans = library_plans_of(*variants);
  std::erase_if(plans.all, [&](const candidate& c) {
    if (!has_wanted(c.plan, constraints.plan)) return false;  // may be the nearest plan, which the error names
    const auto execution = execution_plan_of(c);
    if (execution && execution->bytes <= constraints.workspace) return false;
    plans.why_not = execution ? cat(c.variant->name, " needs ", execution->bytes, " bytes of memory, and workspace is ",
                                    constraints.workspace)
                              : execution.error().text();
    return true;
  });
  return own(plans);
}

}  // namespace

cutlass_library::cutlass_library() : file_(file_of_plug_in()) {}

result<vendor::kernel_variants> cutlass_library::variants() {
  const std::scoped_lock guard(lock_);
  if (!loaded_) loaded_ = vendor::kernel_variants::load(file_);
  return *loaded_;
}

result<void> cutlass_library::check_parameters(const vendor::kernel_variant& c) {
  const std::scoped_lock guard(lock_);
  if (checked_.contains(&c)) return {};
  TROUPE_TRY(vendor::compare_parameters(c));
  checked_.insert(&c);
  return {};
}

std::string cutlass_library::notes() {
  const auto all = variants();
  if (!all) return all.error().text();
  std::string out;
  for (const std::string& line : all->notes()) out += (out.empty() ? "" : "\n") + line;
  return out;
}

result<std::vector<candidate>> plans_of(const product_kind& kind, const kernel_signature& f,
                                        const cuda::gpu_properties& gpu, const plan_constraints& constraints,
                                        cutlass_library& library) {
  const problem& p = kind.get();
  return with_library_plans(
      library, constraints,
      [&](const cutlass_library_plans& plans) {
        return candidates_for(f, {p.m, p.n, p.k, p.batch}, gpu, constraints.plan, plans);
      },
      [&](const vendor::kernel_variants& variants) {
        return cutlass_library_plans_of(p, f, gpu, constraints.plan, variants);
      },
      [&](const candidate& c) { return cutlass_library_execution_plan_of(p, f, c, library); });
}

result<std::vector<convolution_candidate>> plans_of(const convolution_problem_kind& kind,
                                                    const cuda::gpu_properties& gpu,
                                                    const plan_constraints& constraints, cutlass_library& library) {
  const convolution_problem& p = kind.get();
  return with_library_plans(
      library, constraints,
      [&](const cutlass_library_plans& plans) { return convolution_candidates_for(p, gpu, constraints.plan, plans); },
      [&](const vendor::kernel_variants& variants) {
        return cutlass_library_plans_of(p, gpu, constraints.plan, variants);
      },
      [&](const candidate& c) { return cutlass_library_execution_plan_of(p, c, library); });
}

}  // namespace troupe::cutlass
