// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/damaged.hpp>
#include <troupe/cutlass/cuda/engine.hpp>

#include <algorithm>
#include <cstring>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cutlass/cuda/empty_reductions.hpp>
#include <troupe/cutlass/cuda/plans/timing_run.hpp>
#include <troupe/cutlass/variants/cutlass_library/cutlass_library_plans.hpp>
#include <troupe/cutlass/variants/recipe.hpp>

namespace troupe::cutlass {
namespace {

void append(std::string& to, const plan& p, const extents& e) {
  to.append(reinterpret_cast<const char*>(&p), sizeof p);
  to.append(reinterpret_cast<const char*>(&e), sizeof e);
}

extents extents_of(const problem& p) noexcept { return {p.m, p.n, p.k, p.batch}; }

bool is_empty(const problem& p) noexcept { return p.m == 0 || p.n == 0 || p.batch == 0; }

// The plan of a product with k = 0: the template for sm_80 applies the epilogue to sums of 0.
constexpr plan epilogue_only_plan{.family = family::ampere, .divided = decision::no};
request_options without_factors(request_options o) noexcept {
  o.plan = epilogue_only_plan;
  return o;
}
problem without_factors(problem p) noexcept {
  constexpr std::uint64_t aligned = 256;  // an address that is never read
  p.a = {aligned, p.a.type, 16, 1, 0}, p.b = {aligned, p.b.type, 16, 1, 0};
  p.a_scales = p.b_scales = {};
  return p;
}

// Writes the key of a request's execution plan. Requests that await the best plan have their own execution plans.
void write_key(std::string& key, const problem& p, const request_options& o) {
  key.assign(reinterpret_cast<const char*>(&o.workspace), sizeof o.workspace);
  key.append(reinterpret_cast<const char*>(&o.plan), sizeof o.plan);
  key += o.compiling == compiling::awaited ? '1' : '0';
  cutlass::write_key(key, p);
}

}  // namespace

cuda_engine::cuda_engine(std::unique_ptr<variant_store> variants, cuda::kernel_set packing, cuda::per_lane<lane> lanes,
                         cuda::gpu_properties gpu, const engine_context& context)
    : variants_(std::move(variants)),
      packing_(std::move(packing)),
      lanes_(std::move(lanes)),
      gpu_(std::move(gpu)),
      remarks_([context](const std::string& text) { remark(context, "cutlass: " + text); }),
      kept_(remarks_, {.depends_on = variants_->library().file(), .in_memory = true}),
      convolutions_(*variants_, gpu_, kept_),
      background_jobs_(static_cast<CUcontext>(context.native_context)) {}

result<std::unique_ptr<cuda_engine>> cuda_engine::make(const engine_context& context) {
  auto gpu = TROUPE_TRY(cuda::gpu_properties::of(context.device, "cutlass"));
  auto variants = TROUPE_TRY(variant_store::open(context, gpu));
  auto packing = TROUPE_TRY(load_packing());
  auto lanes = TROUPE_TRY(cuda::per_lane<lane>::make(context.lanes));
  return std::unique_ptr<cuda_engine>(
      new cuda_engine(std::move(variants), std::move(packing), std::move(lanes), std::move(gpu), context));
}

std::string cuda_engine::notes() const {
  return cat("plans: ", execution_plans_.count().plans, "\n", variants_->notes());
}

// Returns all plans that can compute the problem. The first is the measured plan, or else the cost model's first plan.
result<cuda_engine::choices> cuda_engine::choices_of(const product_kind& kind, const kernel_signature& f,
                                                     const request_options& o) {
  choices out;
  out.stored = kept_.find_value<stored_choice>(key_on_disk(kind.get(), f, o.plan));
  const bool stored_is_library = out.stored && out.stored->plan.family == family::vendor;
  out.all = TROUPE_TRY(plans_of(kind, f, gpu_, {o.plan, o.workspace, stored_is_library}, variants_->library()));
  const auto at = std::find_if(out.all.begin(), out.all.end(),
                               [&](const candidate& c) { return out.stored && c.plan == out.stored->plan; });
  if (at == out.all.end())
    out.stored.reset();
  else
    std::rotate(out.all.begin(), at, at + 1);
  return out;
}

// Returns the execution plan that `make` makes of the first plan for which the request's workspace suffices.
template <class Make>
result<std::shared_ptr<execution_plan>> cuda_engine::first_that_fits(const problem& p, const choices& from,
                                                                     const request_options& o, Make&& make) {
  const candidate& first = from.all.front();
  std::string smallest;
  std::uint64_t least = any_amount;
  const auto note = [&](const candidate& c, std::uint64_t bytes, std::string_view how) {
    if (bytes < least) least = bytes, smallest = cat(to_string(c), " needs ", how, bytes);
  };
  for (const candidate& c : from.all) {
    const std::uint64_t fewest = fewest_scratch_bytes(p, c);
    if (fewest > o.workspace && !(&c == &first && o.plan.divided == decision::yes)) {
      note(c, fewest, "at least ");
      continue;
    }
    auto made = TROUPE_TRY(make(c));
    if (made->scratch_bytes() <= o.workspace) {
      const bool is_stored = from.stored && made->info.plan == from.stored->plan;
      made->info.candidates = static_cast<std::uint32_t>(from.all.size());
      made->info.source = is_stored              ? plan_source::stored
                          : from.all.size() == 1 ? plan_source::given
                                                 : plan_source::predicted;
      if (is_stored) made->info.microseconds = from.stored->microseconds;
      return made;
    }
    note(c, made->scratch_bytes(), "");
    if (made->sums_bytes == 0) break;  // all bytes are for reductions, for which other plans need about as many
  }
  return error(reaction::unsupported, "cutlass",
               cat(o.request, ": workspace is ", o.workspace, " bytes; ", smallest,
                   " bytes, the fewest of the plans tried: raise options.workspace"));
}

result<std::shared_ptr<execution_plan>> cuda_engine::make_execution_plan(const product_kind& kind,
                                                                         const request_options& o,
                                                                         const std::string& key) {
  const problem& p = kind.get();
  const kernel_signature f = signature_of(p);
  const choices from = TROUPE_TRY(choices_of(kind, f, o));
  return first_that_fits(p, from, o,
                         [&](const candidate& best) { return known_execution_plan(p, f, from.all, best, o, key); });
}

// Returns the execution plan of the best plan. While its kernel is not compiled yet, returns that of another plan whose
// kernel exists and for which the workspace suffices.
result<std::shared_ptr<execution_plan>> cuda_engine::known_execution_plan(const problem& p, const kernel_signature& f,
                                                                          const std::vector<candidate>& all,
                                                                          const candidate& best,
                                                                          const request_options& o,
                                                                          const std::string& key) {
  if (o.compiling == compiling::awaited) return execution_plan_with_kernel(p, f, best, o.compiling);
  const absent_kernels::with_signature absent(absent_, f);
  // A request that forbids compiling looks again, because another process may have compiled the kernel meanwhile.
  if (o.compiling == compiling::forbidden || !absent.contains(best.plan)) {
    auto first = execution_plan_of(p, f, best, *variants_, compiling::forbidden);
    if (first || first.error().code() != missing_kernel) return first;
    absent.add(best.plan);
  }
  for (const candidate& other : all) {
    if (&other == &best || absent.contains(other.plan)) continue;
    auto execution = execution_plan_of(p, f, other, *variants_, compiling::forbidden);
    if (!execution && execution.error().code() == missing_kernel) absent.add(other.plan);
    if (!execution || (*execution)->scratch_bytes() > o.workspace) continue;
    if (o.compiling == compiling::allowed)
      background_jobs_.add([this, text = source_of_variant(f, best.plan), absent, chosen = best.plan, key,
                            stand_in = std::weak_ptr<execution_plan>(*execution)] {
        if (!variants_->get(text, compiling::allowed)) return;
        absent.remove(chosen);
        execution_plans_.drop(key, stand_in.lock());
      });
    return execution;
  }
  return execution_plan_with_kernel(p, f, best, o.compiling);
}

result<std::shared_ptr<execution_plan>> cuda_engine::execution_plan_with_kernel(const problem& p,
                                                                                const kernel_signature& f,
                                                                                const candidate& c, compiling how) {
  auto out = execution_plan_of(p, f, c, *variants_, how);
  if (out) absent_kernels::with_signature(absent_, f).remove(c.plan);
  return out;
}

// Returns the key of a measured choice, which all processes on this kind of GPU share.
std::string cuda_engine::key_on_disk(const problem& p, const kernel_signature& f, const plan& wanted) const {
  std::string key = cat("cutlass choice 2, ", gpu_.name, ", templates ", version_of_templates(), ", ");
  append(key, wanted, extents_of(p));
  f.write_key(key);
  return key;
}

bool cuda_engine::has_execution_plan(const problem& p, const request_options& o) {
  if (is_empty(p)) return true;
  thread_local std::string key;
  if (p.k == 0)
    write_key(key, without_factors(p), without_factors(o));
  else
    write_key(key, p, o);
  return execution_plans_.has(key);
}
bool cuda_engine::ready(const gemm_batched& r) {
  for (std::size_t i = 0; i < r.d.size(); ++i)
    if (!has_execution_plan(problem_of(r, i), options_of(r))) return false;
  return true;
}

// Computes one product, or groups of rows.
template <class R>
result<void> cuda_engine::compute(const R& r, const problem& p, std::uint64_t wrong, call& c) {
  if (p.tree.empty()) return damaged("cutlass", cat(R::request_name, ": the epilogue"));
  if (is_empty(p)) return write_empty_reductions(p, static_cast<CUstream>(c.stream));
  if (p.k != 0) return multiply(p, options_of(r), wrong, c);
  return multiply(without_factors(p), without_factors(options_of(r)), wrong, c);
}

result<void> cuda_engine::multiply(const problem& p, request_options o, std::uint64_t wrong, call& c) {
  lane* const on = TROUPE_TRY(lanes_.of(c));
  // A graph keeps the execution plan that it is recorded with.
  if (c.recording != nullptr && o.compiling == compiling::allowed) o.compiling = compiling::awaited;
  write_key(on->recent.key(), p, o);
  const auto found =
      on->recent.get(execution_plans_, [&] { return make_execution_plan(product_kind(p), o, on->recent.key()); });
  if (!found) return error_for_caller(found.error());
  const execution_plan& execution = ***found;
  const lane::workspace workspace = TROUPE_TRY(on->take(execution.scratch_bytes(), execution.arrivals, c));
  if (c.recording != nullptr) on->keep(**found);
  return enqueue(p, execution, *on, workspace.memory(), workspace.arrivals, wrong,
                 c.recording == nullptr ? overlap::early_launch : overlap::none, static_cast<CUstream>(c.stream));
}

result<void> cuda_engine::run(const gemm& r, call& c) { return compute(r, problem_of(r), 0, c); }
result<void> cuda_engine::run(const gemm_batched& r, call& c) {
  for (std::size_t i = 0; i < r.d.size(); ++i) TROUPE_TRY(compute(r, problem_of(r, i), 0, c));
  return {};
}
result<void> cuda_engine::run(const gemm_grouped& r, call& c) {
  const grouped_outcome fine{.partial_results = r.partial_results};
  if (c.reply != nullptr) std::memcpy(c.reply, &fine, sizeof fine);
  return compute(r, problem_of(r), reinterpret_cast<std::uint64_t>(c.reply), c);
}

template <class R>
result<plan_info> cuda_engine::run(const prepare<R>& r, call& c) {
  std::string log;
  const auto info = prepare_plan(r.request, {r.request.options, r.request_name}, r.measure, c, log);
  if (!info) return error_for_caller(info.error());
  if (r.options.log) TROUPE_TRY(send_log(*r.options.log, log, c));
  return info;
}

template <class R>
result<plan_info> cuda_engine::prepare_plan(const R& r, request_options o, std::int32_t measure, call& c,
                                            std::string& log) {
  return prepare_plan(problem_of(r), o, measure, c, log);
}

result<plan_info> cuda_engine::prepare_plan(const gemm_batched& r, const request_options& o, std::int32_t measure,
                                            call& c, std::string& log) {
  for (std::size_t i = 1; i < r.d.size(); ++i) {
    const problem p = problem_of(r, i);
    if (!has_execution_plan(p, o)) TROUPE_TRY(prepare_plan(p, o, measure, c, log));
  }
  return prepare_plan(problem_of(r, 0), o, measure, c, log);
}

result<plan_info> cuda_engine::prepare_plan(const problem& requested, request_options o, std::int32_t measure, call& c,
                                            std::string& log) {
  if (requested.tree.empty()) return damaged("cutlass", cat(o.request, ": the epilogue"));
  if (is_empty(requested)) {
    log = "the result has no elements: there is nothing to compute\n";
    return plan_info{.log_bytes = static_cast<std::uint32_t>(log.size() + 1)};
  }
  const bool has_terms = requested.k != 0;
  const problem p = has_terms ? requested : without_factors(requested);
  if (!has_terms) o = without_factors(o), measure = 0;
  const product_kind kind(p);
  const kernel_signature f = signature_of(p);
  log = cat(p.m, " x ", p.n, " x ", p.k, ", ", p.batch, " times, on ", gpu_.name, "\n");
  choices from;
  std::shared_ptr<execution_plan> best;
  if (measure > 1) {
    from.all = TROUPE_TRY(plans_of(kind, f, gpu_, {o.plan, o.workspace, true}, variants_->library()));
    const std::size_t most =
        order_for_measuring(from.all, static_cast<std::size_t>(measure), [](const candidate& x) -> auto& { return x; });
    if (most > 1) best = TROUPE_TRY(fastest_of(p, kind, f, std::span(from.all).first(most), o, c, log));
  }
  if (best == nullptr) {
    from = TROUPE_TRY(choices_of(kind, f, o));
    best = TROUPE_TRY(first_that_fits(kind.get(), from, o, [&](const candidate& x) {
      return execution_plan_with_kernel(kind.get(), f, x, o.compiling);
    }));
  }
  for (const candidate& x : from.all) log += cat(to_string(x), ": ", in_microseconds(x.microseconds), " expected\n");
  log += cat("chosen: ", to_string(best->info.plan), ", with ", best->scratch_bytes(), " bytes of memory\n");
  plan_info& info = best->info;
  info.candidates = static_cast<std::uint32_t>(from.all.size());
  info.log_bytes = static_cast<std::uint32_t>(log.size() + 1);
  const plan_info answer = info;
  if (answer.measured > 0) kept_.keep_value(key_on_disk(p, f, o.plan), stored_choice{info.plan, info.microseconds});
  for (const compiling how : {compiling::allowed, compiling::awaited}) {
    request_options later = o;
    later.compiling = how;
    std::string key;
    write_key(key, p, later);
    execution_plans_.put(key, best);
  }
  return answer;
}

// Measures plans on copies of the operands, and returns the fastest. Appends the results to the log.
result<std::shared_ptr<execution_plan>> cuda_engine::fastest_of(const problem& p, const product_kind& kind,
                                                                const kernel_signature& f,
                                                                std::span<const candidate> all,
                                                                const request_options& o, call& c, std::string& log) {
  lane* const on = TROUPE_TRY(lanes_.of(c));
  const CUstream stream = TROUPE_TRY(on->stream_of(c));
  auto timed = TROUPE_TRY(timing_run<problem>::make(p, c, stream));
  std::shared_ptr<execution_plan> best;
  double least = 0, first = 0, compile_seconds = 0;
  std::uint32_t tried = 0;
  for (const candidate& x : all) {
    auto made = execution_plan_with_kernel(kind.get(), f, x, o.compiling);
    if (!made || (*made)->scratch_bytes() > o.workspace) {
      log += cat(to_string(x), ": ", made ? "needs more than workspace" : made.error().text(), "\n");
      continue;
    }
    const execution_plan& execution = **made;
    compile_seconds += execution.info.compile_seconds;
    const double us = TROUPE_TRY(timed.time(execution.scratch_bytes(), execution.arrivals,
                                            [&](const problem& copy, std::uint64_t memory, std::uint64_t arrivals) {
                                              return enqueue(copy, execution, *on, memory, arrivals, 0,
                                                             overlap::early_launch, stream);
                                            }));
    log += cat(to_string(x), ": ", in_microseconds(us), " measured\n");
    if (tried++ == 0) first = us;
    if (best == nullptr || us < least) best = std::move(*made), least = us;
  }
  if (best == nullptr)
    return error(reaction::unsupported, "cutlass", cat(o.request, ": no plan could be measured:\n", log));
  plan_info& info = best->info;
  info.microseconds = static_cast<float>(least), info.first_microseconds = static_cast<float>(first);
  info.compile_seconds = static_cast<float>(compile_seconds), info.measured = tried;
  info.source = plan_source::measured;
  return best;
}

// Writes the log, as far as it fits.
result<void> cuda_engine::send_log(const out<std::byte>& to, const std::string& log, call& c) {
  lane* const on = TROUPE_TRY(lanes_.of(c));
  const CUstream stream = TROUPE_TRY(on->stream_of(c));
  const std::size_t bytes = std::min<std::size_t>(log.size() + 1, static_cast<std::size_t>(to.size()));
  TROUPE_TRY(cuda::done_on(stream, "cutlass", "cuMemcpyHtoDAsync",
                           ::cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(to.data()), log.c_str(), bytes, stream)));
  return cuda::done_on(stream, "cutlass", "cuStreamSynchronize", ::cuStreamSynchronize(stream));
}

// -- convolutions

template <class R>
result<void> cuda_engine::convolve(const R& r, call& c) {
  lane* const on = TROUPE_TRY(lanes_.of(c));
  const auto done = convolutions_.compute(problem_of(r), options_of(r), *on, c);
  return done ? done : error_for_caller(done.error());
}
result<void> cuda_engine::run(const conv_forward& r, call& c) { return convolve(r, c); }
result<void> cuda_engine::run(const conv_data_gradient& r, call& c) { return convolve(r, c); }
result<void> cuda_engine::run(const conv_weight_gradient& r, call& c) { return convolve(r, c); }
bool cuda_engine::ready(const conv_forward& r) {
  return convolutions_.has_execution_plan(problem_of(r), options_of(r));
}
bool cuda_engine::ready(const conv_data_gradient& r) {
  return convolutions_.has_execution_plan(problem_of(r), options_of(r));
}
bool cuda_engine::ready(const conv_weight_gradient& r) {
  return convolutions_.has_execution_plan(problem_of(r), options_of(r));
}

result<plan_info> cuda_engine::prepare_plan(const convolution_problem& p, const request_options& o,
                                            std::int32_t measure, call& c, std::string& log) {
  lane* const on = TROUPE_TRY(lanes_.of(c));
  log = cat(to_string(p.result), " of a convolution on ", gpu_.name, "\n");
  return convolutions_.prepare(p, o, measure, *on, c, log);
}

}  // namespace troupe::cutlass

using namespace troupe::cutlass;
using requests = troupe::with_slow<all_requests, prepare<gemm>, prepare<gemm_batched>, prepare<gemm_grouped>,
                                   prepare<conv_forward>, prepare<conv_data_gradient>, prepare<conv_weight_gradient>>;
TROUPE_ENGINE(cuda_engine, "cutlass", "cuda", requests)
