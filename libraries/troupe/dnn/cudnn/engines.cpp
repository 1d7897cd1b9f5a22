// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/default_stream.hpp>
#include <troupe/dnn/cudnn/engines.hpp>
#include <troupe/dnn/cudnn/status.hpp>

namespace troupe::dnn::cudnn {
namespace {

using note = cudnnBackendNumericalNote_t;

// Returns the reason why an engine with these notes is rejected; "" if it is accepted.
std::string_view rejection_reason(std::span<const note> notes, const engine_constraints& constraints) noexcept {
  const auto has = [&](note n) { return std::ranges::find(notes, n) != notes.end(); };
  if (has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)) return "it rounds its inputs";
  if (has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) return "it rounds sums before they are complete";
  if (constraints.deterministic && has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) return "it is not deterministic";
  if (!constraints.exact) return "";
  // Tensor cores round inputs of f32 to TF32; Winograd and Fourier transforms lose digits.
  if (has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE)) return "it rounds f32 to TF32";
  if (has(CUDNN_NUMERICAL_NOTE_WINOGRAD) || has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4) ||
      has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6) || has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13) ||
      has(CUDNN_NUMERICAL_NOTE_FFT))
    return "its transforms lose digits of f32";
  return "";
}

std::string_view rejection_reason(const descriptor& configuration, const engine_constraints& constraints) {
  const descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.get();
  std::int64_t count = 0;
  if (calls().get_attribute(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                            &raw) != CUDNN_STATUS_SUCCESS)
    return "its description cannot be read";
  if (std::ranges::find(constraints.excluded_engines, engine.read_number<CUDNN_ATTR_ENGINE_GLOBAL_INDEX>()) !=
      constraints.excluded_engines.end())
    return "it computes wrong results for some shapes";
  std::array<note, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
  const std::int64_t has = engine.read<CUDNN_ATTR_ENGINE_NUMERICAL_NOTE>(std::span<note>(notes));
  return rejection_reason(
      std::span(notes).first(static_cast<std::size_t>(std::clamp<std::int64_t>(has, 0, notes.size()))), constraints);
}

// Why the search has found no plan so far, and whether a later search may find one.
struct search_failure {
  std::string why = "its heuristics recommend none";
  bool is_temporary = false;

  void note(std::string text, bool may_pass) {
    why = std::move(text);
    is_temporary = is_temporary || may_pass;
  }
  void note(const error& e) { note(e.text(), e.reaction() != reaction::unsupported); }
};

// Returns the engine configurations that cuDNN's heuristics recommend for a graph, the best first. If they cannot be
// read, returns none and notes the failure.
std::vector<descriptor> recommended(const descriptor& graph, cudnnBackendHeurMode_t mode, search_failure& failure) {
  descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set<CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH>(graph).set<CUDNN_ATTR_ENGINEHEUR_MODE>(mode);
  if (const auto valid = heuristics.finalize().check(); !valid) {
    failure.note(valid.error());
    return {};
  }
  const auto read_failed = [&](cudnnStatus_t s) {
    failure.note(refused("cudnnBackendGetAttribute(CUDNN_ATTR_ENGINEHEUR_RESULTS)", s));
    return std::vector<descriptor>();
  };
  std::int64_t count = 0;
  if (const cudnnStatus_t s = calls().get_attribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr);
      s != CUDNN_STATUS_SUCCESS)
    return read_failed(s);
  std::vector<descriptor> out;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < count; ++i) {
    out.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    raw.push_back(out.back().get());
  }
  if (const cudnnStatus_t s = calls().get_attribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                    CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, raw.data());
      s != CUDNN_STATUS_SUCCESS)
    return read_failed(s);
  out.erase(out.begin() + std::min(count, static_cast<std::int64_t>(out.size())), out.end());
  return out;
}

}  // namespace

result<cudnn_plan> choose_engine(cudnnHandle_t on, const descriptor& graph, const engine_constraints& constraints) {
  search_failure failure;
  std::optional<cudnn_plan> best;
  double best_time = 0;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    for (const descriptor& configuration : recommended(graph, mode, failure)) {
      if (const std::string_view reason = rejection_reason(configuration, constraints); !reason.empty()) {
        failure.note(std::string(reason), false);
        continue;
      }
      cudnn_plan out{.plan = descriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)};
      out.plan.set<CUDNN_ATTR_EXECUTION_PLAN_HANDLE>(on)
          .set<CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG>(configuration)
          .finalize();
      if (const auto valid = out.plan.check(); !valid) {
        if (!is_engine_failure(out.plan.status())) return valid.error();
        failure.note(valid.error());
        continue;
      }
      TROUPE_TRY(cuda::await_default_stream("dnn"));
      out.workspace = static_cast<std::uint64_t>(out.plan.read_number<CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE>());
      if (out.workspace > constraints.workspace) {
        failure.note(
            cat("it needs ", out.workspace, " bytes of workspace, and ", constraints.workspace, " are allowed"), false);
        continue;
      }
      const trial_result tried = constraints.try_plan ? TROUPE_TRY(constraints.try_plan(out)) : trial_result{};
      if (!tried.why_not.empty())
        failure.note(tried.why_not, tried.is_temporary);
      else if (!constraints.measured) {
        out.is_provisional = failure.is_temporary;
        return out;
      } else if (!best || tried.microseconds < best_time)
        best = std::move(out), best_time = tried.microseconds;
    }
    if (!best) continue;
    best->is_provisional = failure.is_temporary;
    return std::move(*best);
  }
  return error(failure.is_temporary ? reaction::retry_later : reaction::unsupported, "dnn",
               cat("no engine of cuDNN computes this graph; the last reason: ", failure.why));
}

}  // namespace troupe::dnn::cudnn
