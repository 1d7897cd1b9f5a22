// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cutlass/cuda/engine.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cutlass/cuda/rehearsal.hpp>

namespace troupe::cutlass {
namespace {

result<chip> chip_of(CUdevice device) {
  chip out;
  const auto attribute = [&](CUdevice_attribute which) -> result<int> {
    int value = 0;
    TROUPE_TRY(
        cuda::done_on(nullptr, "cutlass", "cuDeviceGetAttribute", ::cuDeviceGetAttribute(&value, which, device)));
    return value;
  };
  const int major = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)),
            minor = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  out.capability = major * 10 + minor;
  out.multiprocessors = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  out.shared_bytes = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  out.second_cache = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  out.gigahertz = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)) * 1e-6;
  const double memory_khz = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)),
               bits = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  out.memory_bytes_per_ns = 2 * memory_khz * 1e3 * bits / 8 * 1e-9;
  int driver = 0;
  TROUPE_TRY(cuda::done_on(nullptr, "cutlass", "cuDriverGetVersion", ::cuDriverGetVersion(&driver)));
  out.name = cat("a GPU of capability ", major, ".", minor, " with ", out.multiprocessors, " multiprocessors and ",
                 static_cast<int>(out.memory_bytes_per_ns), " GB/s, driver ", driver);
  return out;
}

void append(std::string& to, const plan& p, const extents& e) {
  to.append(reinterpret_cast<const char*>(&p), sizeof p);
  to.append(reinterpret_cast<const char*>(&e), sizeof e);
}
std::string in_microseconds(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f us", us);
  return text;
}

extents extents_of(const problem& p) noexcept { return {p.m, p.n, p.k, p.batch}; }

void write_key(std::string& key, const problem& p, const plan& wanted) {
  key.clear();
  append(key, wanted, extents_of(p));
  cutlass::write_key(key, p);
}

}  // namespace

cuda_engine::cuda_engine(std::unique_ptr<cell_store> cells, cuda::kernel_set packing, cuda::per_lane<lane> lanes,
                         chip on, const engine_context& context)
    : cells_(std::move(cells)),
      packing_(std::move(packing)),
      lanes_(std::move(lanes)),
      chip_(std::move(on)),
      remarks_([context](const std::string& text) { remark(context, "cutlass: " + text); }) {}

result<std::unique_ptr<cuda_engine>> cuda_engine::make(const engine_context& context) {
  auto on = TROUPE_TRY(chip_of(static_cast<CUdevice>(context.device)));
  auto cells = TROUPE_TRY(cell_store::open(context, on));
  auto packing = TROUPE_TRY(load_packing());
  auto lanes = TROUPE_TRY(cuda::per_lane<lane>::make(context.lanes));
  return std::unique_ptr<cuda_engine>(
      new cuda_engine(std::move(cells), std::move(packing), std::move(lanes), std::move(on), context));
}

std::string cuda_engine::notes() const { return cat("plans: ", routes_.count().plans, "\n", cells_->notes()); }

result<std::shared_ptr<route>> cuda_engine::make_route(const problem& p, const plan& wanted, compiling how) {
  const whole_form f = form_of(p);
  const auto all = TROUPE_TRY(candidates_for(f, extents_of(p), chip_, wanted));
  auto out = TROUPE_TRY(route_of(p, f, all.front(), chip_, *cells_, how));
  out->info.candidates = static_cast<std::uint32_t>(all.size());
  out->info.choice = all.size() == 1 ? choice_source::given : choice_source::model;
  return out;
}

bool cuda_engine::ready(const gemm& r) {
  thread_local std::string key;
  write_key(key, problem_of(r), r.plan);
  return routes_.has(key);
}

result<void> cuda_engine::run(const gemm& r, call& c) {
  if (r.epilogue.seen().empty()) return error(reaction::fatal, "cutlass", "cutlass.gemm: the epilogue is damaged");
  lane* const on = TROUPE_TRY(lanes_.of(c));
  const problem p = problem_of(r);
  write_key(on->next_key, p, r.plan);
  const std::uint64_t now = replaced_.load(std::memory_order_acquire);
  if (on->last_route == nullptr || on->known_since != now || on->last_key != on->next_key) {
    on->last_route = TROUPE_TRY(routes_.get(on->next_key, [&] { return make_route(p, r.plan, r.compiling); }));
    std::swap(on->last_key, on->next_key);
    on->known_since = now;
  }
  const route& way = *on->last_route;
  if (way.scratch_bytes() > r.workspace)
    return error(reaction::unsupported, "cutlass",
                 cat("cutlass.gemm: workspace is ", r.workspace, "; ", to_string(way.info.plan), " needs ",
                     way.scratch_bytes(), " bytes"));
  const auto stream = static_cast<CUstream>(c.stream);
  std::optional<cuda::scratch> memory;
  if (way.scratch_bytes() != 0) {
    auto taken = TROUPE_TRY(on->scratch().take(c, "cutlass", way.scratch_bytes()));
    memory.emplace(std::move(taken));
  }
  const std::uint64_t arrivals = way.arrivals == 0 ? 0 : TROUPE_TRY(on->arrivals(way.arrivals, c));
  if (c.recording != nullptr) on->keep(on->last_route);
  return enqueue(p, way, *on, memory ? memory->address() : 0, arrivals, c.recording == nullptr, stream);
}

result<plan_info> cuda_engine::run(const prepare& r, call& c) {
  if (r.epilogue.seen().empty()) return error(reaction::fatal, "cutlass", "cutlass.prepare: the epilogue is damaged");
  lane* const on = TROUPE_TRY(lanes_.of(c));
  const gemm product = r.product();
  const problem p = problem_of(product);
  const whole_form f = form_of(p);
  const auto all = TROUPE_TRY(candidates_for(f, extents_of(p), chip_, r.plan));
  std::string log = cat(p.m, " x ", p.n, " x ", p.k, ", ", p.batch, " times, on ", chip_.name, "\n");
  std::shared_ptr<route> best;
  double least = 0, first = 0, waited = 0;
  const std::size_t measured = std::min<std::size_t>(static_cast<std::size_t>(r.measure), all.size());
  const CUstream stream = TROUPE_TRY(on->stream_of(c));
  std::unique_ptr<rehearsal> stage;
  if (measured > 1) stage = TROUPE_TRY(rehearsal::make(p, c, stream));
  for (std::size_t i = 0; i < std::max<std::size_t>(1, measured); ++i) {
    auto way = route_of(p, f, all[i], chip_, *cells_, r.compiling);
    if (!way && (i > 0 || measured > 1)) {
      log += cat(to_string(all[i].plan), ": ", way.error().text(), "\n");
      continue;
    }
    if (!way) return way.error();
    waited += (*way)->info.compile_seconds;
    const double us = stage != nullptr ? TROUPE_TRY(stage->time(**way, *on)) : 0;
    log += cat(to_string(all[i].plan), ": ", in_microseconds(all[i].microseconds), " expected",
               stage != nullptr ? cat(", ", in_microseconds(us), " measured") : "", "\n");
    if (first == 0) first = us;
    if (best == nullptr || us < least) best = *way, least = us;
  }
  if (best == nullptr)
    return error(reaction::unsupported, "cutlass", "cutlass.prepare: no plan could be measured:\n" + log);
  for (std::size_t i = std::max<std::size_t>(1, measured); i < all.size(); ++i)
    log += cat(to_string(all[i].plan), ": ", in_microseconds(all[i].microseconds), " expected\n");
  plan_info& info = best->info;
  info.microseconds = static_cast<float>(least), info.first_microseconds = static_cast<float>(first);
  info.compile_seconds = static_cast<float>(waited);
  info.candidates = static_cast<std::uint32_t>(all.size()),
  info.measured = static_cast<std::uint32_t>(measured > 1 ? measured : 0);
  info.choice = measured > 1 ? choice_source::measured : all.size() == 1 ? choice_source::given : choice_source::model;
  info.log_bytes = static_cast<std::uint32_t>(log.size() + 1);
  best->log = log;
  if (r.log) {
    const std::size_t bytes = std::min<std::size_t>(log.size() + 1, static_cast<std::size_t>(r.log->size()));
    TROUPE_TRY(cuda::done_on(
        stream, "cutlass", "cuMemcpyHtoDAsync",
        ::cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(r.log->data()), best->log.c_str(), bytes, stream)));
  }
  stage.reset();
  TROUPE_TRY(cuda::done_on(stream, "cutlass", "cuStreamSynchronize", ::cuStreamSynchronize(stream)));
  std::string key;
  write_key(key, p, r.plan);
  const plan_info answer = info;
  routes_.put(key, std::move(best));
  replaced_.fetch_add(1, std::memory_order_acq_rel);
  return answer;
}

}  // namespace troupe::cutlass

using namespace troupe::cutlass;
using requests = troupe::with_slow<troupe::request_list<gemm, pack, prepare, read_statistics>, prepare>;
TROUPE_ENGINE(cuda_engine, "cutlass", "cuda", requests)
