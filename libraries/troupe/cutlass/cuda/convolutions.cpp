// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/damaged.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cutlass/cuda/convolutions.hpp>
#include <troupe/cutlass/cuda/plans/timing_run.hpp>
#include <troupe/cutlass/variants/convolutions/window_maps.hpp>
#include <troupe/cutlass/variants/recipe.hpp>

namespace troupe::cutlass {
namespace {

bool is_empty(const convolution_problem& p) noexcept { return p.images == 0 && p.result != computed_tensor::dfilters; }

// The gradient of filters over one image of zeros, as large as a filter. It stands for a gradient without images.
struct image_of_zeros {
  explicit image_of_zeros(const convolution_problem& p) noexcept : problem(p) {
    for (std::size_t i = 0; i < windows::most_spatial; ++i) problem.set(i, p.window[i], 1, p.window[i], {});
    problem.images = 1;
    const std::uint64_t most = std::max(set_strides(problem.x, p.groups * p.channels_of_group, problem.in),
                                        set_strides(problem.y, p.groups * p.filters_of_group, problem.out));
    bytes = round_up(most, alignment);
    set_address(alignment);
  }
  void set_address(std::uint64_t zeros) noexcept { problem.x.address = problem.y.address = zeros; }

  convolution_problem problem;
  std::uint64_t bytes = 0;

 private:
  static constexpr std::uint64_t alignment = 256;
  // Sets the strides of a contiguous image. Returns its bytes.
  static std::uint64_t set_strides(placed_tensor& t, std::int64_t channels,
                                   const std::int64_t (&extents)[windows::most_spatial]) noexcept {
    std::int64_t stride = channels;
    t.channel = 1;
    for (std::size_t i = windows::most_spatial; i-- > 0; stride *= extents[i]) t.spatial[i] = stride;
    t.item = stride;
    return static_cast<std::uint64_t>(stride) * bytes_of(t.type);
  }
};

// Returns the index of the copy kernel for elements of 1, 2, 4 or 8 bytes.
std::size_t copy_index_of(std::size_t element_bytes) noexcept {
  return static_cast<std::size_t>(std::countr_zero(element_bytes));
}

result<void> copy(const tensor_copy& c, const convolution_execution_plan& execution, const cuda::gpu_properties& gpu,
                  CUstream stream) {
  kernels::copy_arguments a = arguments_of(c);
  const kernel_variant& kernel = *execution.copies[copy_index_of(c.element_bytes)];
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>(blocks_of(a), std::int64_t{8} * gpu.multiprocessors));
  void* parameters[] = {&a};
  return cuda::done_on(stream, "cutlass", "cuLaunchKernel",
                       ::cuLaunchKernel(reinterpret_cast<CUfunction>(kernel.kernel), blocks, 1, 1, kernel.threads, 1, 1,
                                        0, stream, parameters, nullptr));
}

}  // namespace

result<void> enqueue(const convolution_problem& p, const convolution_execution_plan& execution,
                     const cuda::gpu_properties& gpu, lane& on, std::uint64_t memory, std::uint64_t arrivals,
                     bool overlaps, CUstream stream) {
  if (execution.library) return enqueue(p, *execution.library, memory, stream);
  const convolution_work w = TROUPE_TRY(work_of(p, execution.candidate.choice, memory));
  const std::uint64_t own = memory + execution.candidate.bytes;
  for (const tensor_copy& c : w.before) TROUPE_TRY(copy(c, execution, gpu, stream));
  for (std::size_t i = 0; i < w.products.size(); ++i) {
    const convolution_product& x = w.products[i];
    const kernels::convolution_arguments* const arguments =
        w.signature.convolution == convolution_kind::none ? nullptr : &x.arguments;
    const problem q = product_as_copied(x, w.signature, execution.candidate.plan.plan);
    // Products write different results, but divided products share the memory for their sums.
    const bool independent =
        i > 0 && execution.products[i]->scratch_bytes() == 0 && execution.products[i]->arrivals == 0;
    TROUPE_TRY(enqueue(q, *execution.products[i], on, own, arrivals, 0,
                       !overlaps     ? overlap::none
                       : independent ? overlap::independent
                                     : overlap::early_launch,
                       stream, arguments));
  }
  for (const tensor_copy& c : w.between) TROUPE_TRY(copy(c, execution, gpu, stream));
  if (w.separate_epilogue)
    TROUPE_TRY(
        enqueue(*w.separate_epilogue, *execution.separate_epilogue, on, own, arrivals, 0, overlap::none, stream));
  for (const tensor_copy& c : w.after) TROUPE_TRY(copy(c, execution, gpu, stream));
  return {};
}

std::uint32_t arrivals_of(const convolution_execution_plan& execution) noexcept {
  std::uint32_t n = 0;
  for (const auto& r : execution.products) n = std::max(n, r->arrivals);
  return n;
}

void convolutions::write_key_of(std::string& key, const convolution_problem& p, const request_options& o) {
  key.assign(reinterpret_cast<const char*>(&o.plan), sizeof o.plan);
  key.append(reinterpret_cast<const char*>(&o.workspace), sizeof o.workspace);
  write_key(key, p);
}
std::string convolutions::key_on_disk(const convolution_problem_kind& kind, const request_options& o) const {
  std::string key;
  write_key_of(key, kind.get(), o);
  return cat("cutlass convolution 4, ", gpu_.name, ", templates ", version_of_templates(), ", ", key);
}
bool convolutions::has_execution_plan(const convolution_problem& p, const request_options& o) const {
  if (is_empty(p)) return true;
  thread_local std::string key;  // reuses its memory
  if (p.images == 0)
    write_key_of(key, image_of_zeros(p).problem, o);
  else
    write_key_of(key, p, o);
  return execution_plans_.has(key);
}

// Returns the execution plan of an epilogue that loads stored sums: of a product with k = 0.
result<std::shared_ptr<const execution_plan>> convolutions::separate_epilogue_plan(const problem& p, compiling how) {
  const kernel_signature f = signature_of(p);
  plan wanted;
  wanted.family = family::ampere, wanted.divided = decision::no;
  const auto plans = TROUPE_TRY(candidates_for(f, {p.m, p.n, p.k, p.batch}, gpu_, wanted));
  return std::shared_ptr<const execution_plan>(TROUPE_TRY(execution_plan_of(p, f, plans.front(), variants_, how)));
}

result<std::shared_ptr<convolution_execution_plan>> convolutions::execution_plan_for(
    const convolution_problem_kind& kind, const convolution_candidate& w, const request_options& o) {
  const convolution_problem& p = kind.get();
  auto out = std::make_shared<convolution_execution_plan>();
  out->candidate = w;
  if (w.plan.variant != nullptr) {
    out->library = TROUPE_TRY(cutlass_library_execution_plan_of(p, w.plan, variants_.library()));
    out->info = info_of(w.plan, kernel_source::vendor, out->scratch_bytes());
    return out;
  }
  const convolution_work work = TROUPE_TRY(work_of(p, w.choice, 0));
  const variant_source text = source_of_variant(work.signature, w.plan.plan);
  for (const convolution_product& x : work.products)
    out->products.push_back(
        TROUPE_TRY(execution_plan_of(product_as_copied(x, work.signature, w.plan.plan), work.signature.product, w.plan,
                                     text, variants_, o.compiling, &work.signature)));
  if (work.separate_epilogue)
    out->separate_epilogue = TROUPE_TRY(separate_epilogue_plan(*work.separate_epilogue, o.compiling));
  for (const auto* copies : {&work.before, &work.between, &work.after})
    for (const tensor_copy& c : *copies)
      if (auto& kernel = out->copies[copy_index_of(c.element_bytes)]; kernel == nullptr)
        kernel = TROUPE_TRY(variants_.get(copy_source(c.element_bytes), o.compiling));
  out->info = out->products[0]->info;
  for (const auto& r : out->products) out->own_bytes = std::max(out->own_bytes, r->scratch_bytes());
  if (out->separate_epilogue) out->own_bytes = std::max(out->own_bytes, out->separate_epilogue->scratch_bytes());
  out->info.expected_microseconds = static_cast<float>(w.microseconds);
  out->info.workspace = out->scratch_bytes();
  return out;
}

result<std::shared_ptr<convolution_execution_plan>> convolutions::best_execution_plan(
    const convolution_problem_kind& kind, const request_options& o) {
  const auto stored = kept_.find_value<stored_choice>(key_on_disk(kind, o));
  const bool stored_is_library = stored && stored->plan.family == family::vendor;
  auto candidates = TROUPE_TRY(plans_of(kind, gpu_, {o.plan, o.workspace, stored_is_library}, variants_.library()));
  const auto chosen = std::find_if(candidates.begin(), candidates.end(), [&](const convolution_candidate& w) {
    return stored && w.plan.plan == stored->plan && w.choice == stored->copies;
  });
  const bool use_stored = chosen != candidates.end();
  if (use_stored) std::rotate(candidates.begin(), chosen, chosen + 1);
  std::uint64_t least = any_amount;
  const convolution_candidate* smallest = nullptr;
  for (const convolution_candidate& w : candidates) {
    std::uint64_t bytes = w.bytes;
    if (bytes <= o.workspace) {
      auto made = TROUPE_TRY(execution_plan_for(kind, w, o));
      bytes = made->scratch_bytes();
      if (bytes <= o.workspace) {
        made->info.candidates = static_cast<std::uint32_t>(candidates.size());
        const bool is_stored = use_stored && &w == candidates.data();
        made->info.source = is_stored                ? plan_source::stored
                            : candidates.size() == 1 ? plan_source::given
                                                     : plan_source::predicted;
        if (is_stored) made->info.microseconds = stored->microseconds;
        return made;
      }
    }
    if (bytes < least || smallest == nullptr) least = bytes, smallest = &w;
  }
  return error(reaction::unsupported, "cutlass",
               cat(o.request, ": workspace is ", o.workspace, " bytes; ", to_string(*smallest), " needs ", least,
                   " bytes, and no other plan needs less: raise options.workspace"));
}

result<void> convolutions::compute(const convolution_problem& p, const request_options& o, lane& on, call& c) {
  if (p.tree.empty()) return damaged("cutlass", cat(o.request, ": the epilogue"));
  if (is_empty(p)) return {};
  if (p.images == 0) return compute_without_images(p, o, on, c);
  thread_local std::string key;
  write_key_of(key, p, o);
  const std::shared_ptr<const convolution_execution_plan> execution =
      TROUPE_TRY(execution_plans_.get(key, [&] { return best_execution_plan(convolution_problem_kind(p), o); }));
  const lane::workspace workspace = TROUPE_TRY(on.take(execution->scratch_bytes(), arrivals_of(*execution), c));
  if (c.recording != nullptr) on.keep(execution);
  return enqueue(p, *execution, gpu_, on, workspace.memory(), workspace.arrivals, c.recording == nullptr,
                 static_cast<CUstream>(c.stream));
}

result<void> convolutions::compute_without_images(const convolution_problem& p, const request_options& o, lane& on,
                                                  call& c) {
  image_of_zeros zeros(p);
  std::string key;
  write_key_of(key, zeros.problem, o);
  const std::shared_ptr<const convolution_execution_plan> execution = TROUPE_TRY(
      execution_plans_.get(key, [&] { return best_execution_plan(convolution_problem_kind(zeros.problem), o); }));
  const std::uint64_t needs = zeros.bytes + execution->scratch_bytes();
  if (needs > o.workspace)
    return error(
        reaction::unsupported, "cutlass",
        cat(o.request, ": workspace is ", o.workspace, " bytes; without images, expected at least ", needs, " bytes"));
  const lane::workspace workspace = TROUPE_TRY(on.take(needs, arrivals_of(*execution), c));
  if (c.recording != nullptr) on.keep(execution);
  const auto stream = static_cast<CUstream>(c.stream);
  TROUPE_TRY(cuda::done_on(stream, "cutlass", "cuMemsetD8Async",
                           ::cuMemsetD8Async(workspace.memory(), 0, zeros.bytes, stream)));
  zeros.set_address(workspace.memory());
  return enqueue(zeros.problem, *execution, gpu_, on, workspace.memory() + zeros.bytes, workspace.arrivals,
                 c.recording == nullptr, stream);
}

result<plan_info> convolutions::prepare(const convolution_problem& requested, const request_options& o, int measure,
                                        lane& on, call& c, std::string& log) {
  if (requested.tree.empty()) return damaged("cutlass", cat(o.request, ": the epilogue"));
  if (is_empty(requested)) {
    log += "there are no images: there is nothing to compute\n";
    return plan_info{.log_bytes = static_cast<std::uint32_t>(log.size() + 1)};
  }
  const convolution_problem p = requested.images == 0 ? image_of_zeros(requested).problem : requested;
  if (requested.images == 0) measure = 0;
  const convolution_problem_kind kind(p);
  auto candidates = TROUPE_TRY(plans_of(kind, gpu_, {o.plan, o.workspace, measure > 1}, variants_.library()));
  const std::size_t measured =
      order_for_measuring(candidates, static_cast<std::size_t>(measure),
                          [](const convolution_candidate& w) -> const candidate& { return w.plan; });
  const CUstream stream = TROUPE_TRY(on.stream_of(c));
  std::shared_ptr<convolution_execution_plan> best;
  double least = 0, first = 0, compile_seconds = 0;
  std::uint32_t tried = 0;
  if (measured > 1) {
    auto timed = TROUPE_TRY(timing_run<convolution_problem>::make(p, c, stream));
    for (const convolution_candidate& w : candidates) {
      if (tried == measured) break;
      auto made = w.bytes > o.workspace ? result<std::shared_ptr<convolution_execution_plan>>(nullptr)
                                        : execution_plan_for(kind, w, o);
      if (!made || *made == nullptr || (*made)->scratch_bytes() > o.workspace) {
        log += cat(to_string(w), ": ", made ? "needs more than workspace" : made.error().text(), "\n");
        continue;
      }
      compile_seconds += (*made)->info.compile_seconds;
      const convolution_execution_plan& execution = **made;
      const double us =
          TROUPE_TRY(timed.time(execution.scratch_bytes(), arrivals_of(execution),
                                [&](const convolution_problem& copy, std::uint64_t memory, std::uint64_t arrivals) {
                                  return enqueue(copy, execution, gpu_, on, memory, arrivals, true, stream);
                                }));
      log +=
          cat(to_string(w), ": ", in_microseconds(w.microseconds), " expected, ", in_microseconds(us), " measured\n");
      if (tried++ == 0) first = us;
      if (best == nullptr || us < least) best = *made, least = us;
    }
  }
  if (best == nullptr) {
    best = TROUPE_TRY(best_execution_plan(kind, o));
    compile_seconds += best->info.compile_seconds;
  }
  for (std::size_t i = tried; i < candidates.size(); ++i)
    log += cat(to_string(candidates[i]), ": ", in_microseconds(candidates[i].microseconds), " expected\n");
  log += cat("chosen: ", to_string(best->candidate), ", with ", best->scratch_bytes(), " bytes of memory\n");
  plan_info& info = best->info;
  if (tried > 0) {
    info.microseconds = static_cast<float>(least), info.first_microseconds = static_cast<float>(first);
    info.source = plan_source::measured;
    kept_.keep_value(key_on_disk(kind, o), stored_choice{best->candidate.choice, info.plan, info.microseconds});
  }
  info.compile_seconds = static_cast<float>(compile_seconds);
  info.candidates = static_cast<std::uint32_t>(candidates.size()), info.measured = tried;
  info.log_bytes = static_cast<std::uint32_t>(log.size() + 1);
  plan_info answer = info;
  if (requested.images == 0) answer.workspace += image_of_zeros(requested).bytes;
  std::string key;
  write_key_of(key, p, o);
  execution_plans_.put(key, std::move(best));
  return answer;
}

}  // namespace troupe::cutlass
