// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of cutlass.
#include <cerrno>
#include <new>
#include <troupe/base/cat.hpp>
#include <troupe/blas/host/support.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/host/convolutions.hpp>
#include <troupe/cutlass/host/packing.hpp>
#include <troupe/worker/engine.hpp>
#include <troupe/worker/plugins/openblas_kernels.hpp>

namespace troupe::cutlass {
namespace {

class host_engine {
 public:
  static result<std::unique_ptr<host_engine>> make(const engine_context&) { return std::make_unique<host_engine>(); }
  std::string notes() const {
    return cat("threads: ", team_.threads(),
               "\nslow: convolutions with a group for each channel, which are a small product each");
  }

  result<void> run(const conv_forward& r, call&) { return convolve(r); }
  result<void> run(const conv_data_gradient& r, call&) { return convolve(r); }
  result<void> run(const conv_weight_gradient& r, call&) { return convolve(r); }
  // There is one way to compute a convolution.
  result<plan_info> run(const prepare_convolution& r, call&) {
    if (r.log && r.log->size() > 0) *r.log->data() = std::byte{0};
    return plan_info{.log_bytes = 1};
  }
  result<void> run(const pack& r, call&) {
    host::pack(problem_of(r), team_);
    return {};
  }

 private:
  template <class R>
  result<void> convolve(const R& r) try {
    return host::convolve(problem_of(r), r.workspace, name_of<R>(), team_);
  } catch (const std::bad_alloc&) {
    return error::retry_later("cutlass", ENOMEM,
                              cat(name_of<R>(), ": out of memory for a panel of the product; convolve fewer channels"));
  }

  thread_team team_{static_cast<std::size_t>(openblas_get_num_threads())};
};

}  // namespace
}  // namespace troupe::cutlass

using namespace troupe::cutlass;
using requests = troupe::joined_requests<convolution_requests, weight_requests>;
TROUPE_ENGINE(host_engine, "cutlass", "host", requests)
