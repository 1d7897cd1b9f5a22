// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>
#include <troupe/base/compiler/for_each.hpp>
#include <troupe/base/shared_libraries/library_helpers.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/threads/thread_team.hpp>
#include <troupe/base/try.hpp>
#include <troupe/blas/host/openblas_admission.hpp>
#include <troupe/blas/host/support.hpp>
#include <troupe/blas/internal/operations.hpp>
#include <troupe/worker/engine.hpp>
#include <troupe/worker/plugins/openblas_kernels.hpp>

namespace troupe::blas {

/// Keys for coalescing. Requests with the key `never` run alone; those with `one_by_one` share a call and run one after
/// the other; those with `worth_spreading` share a call and are spread over all cores.
inline constexpr std::uint64_t never = 0, one_by_one = 1, worth_spreading = 2;

/// Returns the key of a request whose number of multiplications is the product of `sizes`. The request may share a call
/// if sending it costs about as much as computing it, and if its extents fit in OpenBLAS's integers.
template <class R, class... E>
std::uint64_t key_of_work(const R& r, std::int64_t limit, const E&... sizes) noexcept {
  std::int64_t work = 1;
  for (const extent e : {extent(sizes)...}) {
    if (e > limit) return never;
    work *= e.value();
    if (work > limit) return never;
  }
  if (!R::visit_fields(r, [](std::string_view, const auto&... field) { return (countable(field) && ...); }))
    return never;
  return work <= 16 * 1024 ? one_by_one : worth_spreading;
}

/// The host engine of blas, on OpenBLAS. OpenBLAS is thread-safe, so lanes may call it in parallel; it chooses its own
/// number of threads.
///
/// Each source beside this one defines `compute(request)` for some requests, or `compute(request, thread_team&)` for
/// batches, and lists them at its end. Requests that may share a call also have `group_key(request)`.
class openblas {
 public:
  static result<std::unique_ptr<openblas>> make(const engine_context& context) {
    return std::make_unique<openblas>(TROUPE_TRY(openblas_admission::make("blas", context.lanes)));
  }
  explicit openblas(openblas_admission admission) : admission_(std::move(admission)) {}
  const char* version() const noexcept { return version_.c_str(); }
  std::string notes() const {
    return cat(admission_.threads_text(), "\nkernels: ", kernel_choice::here().text(openblas_get_corename()));
  }

  template <class R>
  result<reply_to<R>> run(const R& r, call&) {
    const auto turn = admission_.enter();
    if (may_be_shared(r)) keep_helpers_away(static_cast<std::size_t>(threads_ - 1));
    return run_here(r);
  }

  /// Runs requests of one kind in one call. On a processor, they may have different extents.
  template <class R>
    requires requires(const R& r) { group_key(r); }
  static std::uint64_t group_of(const R& r) {
    return group_key(r);
  }
  template <class R>
  result<void> run_group(const group<R>& all, call&) {
    const auto turn = admission_.enter();
    // No request fails here: requests that could fail have no key. No request may throw after others have run, because
    // each would then run again.
    const auto run_one = [&](std::int64_t index) noexcept {
      const auto i = static_cast<std::size_t>(index);
      const auto done = run_here(all[i]);
      if (!done) std::abort();
      if constexpr (!std::is_void_v<reply_to<R>>) all.answer(i, *done);
    };
    const auto count = static_cast<std::int64_t>(all.size());
    if (group_of(all[0]) == worth_spreading)
      team_.spread(count, 4, run_one);
    else
      for (std::int64_t i = 0; i < count; ++i) run_one(i);
    return {};
  }

 private:
  // True if OpenBLAS may use all its threads: not for requests that are small enough to share a call.
  template <class R>
  static bool may_be_shared(const R& r) noexcept {
    if constexpr (requires { group_key(r); })
      return group_key(r) == never;
    else
      return true;
  }
  template <class R>
  result<reply_to<R>> run_here(const R& r) {
    if constexpr (requires { compute(r, team_); })
      return compute(r, team_);
    else
      return compute(r);
  }

  const openblas_admission admission_;
  const int threads_ = openblas_get_num_threads();
  std::string version_ = openblas_get_config();
  thread_team team_{static_cast<std::size_t>(threads_)};
};

/// Defines compute(R<T>) for each request R of the list as FUNCTION<T>(request, ROUTINE(R)). ROUTINE(R) is OpenBLAS's
/// routine of that name; ROUTINE is TROUPE_CBLAS or another macro of routines.hpp.
#define TROUPE_COMPUTED_BY(FUNCTION, ROUTINE, ...) \
  TROUPE_FOR_EACH(TROUPE_COMPUTED_BY_ONE, (FUNCTION, ROUTINE), __VA_ARGS__)
#define TROUPE_COMPUTED_BY_ONE(HOW, R)                         \
  template <class T>                                           \
  static auto compute(const R<T>& r) {                         \
    return TROUPE_FIRST_OF HOW<T>(r, TROUPE_SECOND_OF HOW(R)); \
  }
/// The ROUTINE for requests without a routine of OpenBLAS: null.
#define TROUPE_NO_ROUTINE(NAME) nullptr

}  // namespace troupe::blas
