// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/base/threads/thread_team.hpp>
#include <troupe/fft/host/host_callbacks.hpp>
#include <troupe/fft/host/transforms.hpp>
#include <troupe/fft/transforms.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::fft {

/// The host engine of fft: ducc0, compiled for this processor's family. Half types are computed in float, and callbacks
/// run as kernels before and after a transform.
class host_fft {
 public:
  static result<std::unique_ptr<host_fft>> make(const engine_context&);
  host_fft(const host_fft&) = delete;
  host_fft& operator=(const host_fft&) = delete;
  const char* version() const noexcept { return version_.c_str(); }
  std::string notes() const;

  template <class T>
  result<void> run(const c2c<T>& r, call& c);
  template <class T>
  result<void> run(const r2c<T>& r, call& c);
  template <class T>
  result<void> run(const c2r<T>& r, call& c);
  template <class T>
  result<plan_info> run(const prepare<T>& r, call&);

  result<void> run(const compile_callbacks_recipe& r, call&) { return callbacks_.make(kernel::root_at(r.root.data())); }
  result<kernel::build_summary> run(const read_summary& r, call&) {
    return callbacks_.summary(kernel::root_at(r.root));
  }
  result<void> run(const unload& r, call&) {
    callbacks_.unload(kernel::root_at(r.root.data()));
    return {};
  }
  // After a restart, the first request that needs callbacks compiles them, but on a thread for which no lane waits.
  template <class R>
    requires requires(const R& r) { r.callbacks; }
  bool ready(const R& r) {
    return r.callbacks.address() == 0 || callbacks_.is_known(r.callbacks.root());
  }
  bool ready(const read_summary& r) { return callbacks_.is_known(kernel::root_at(r.root)); }

 private:
  host_fft(const transforms& by, unsigned threads, bool may_compile);
  template <class In, class Out, class R>
  result<void> carry_out(const R& r, const placement& in, const placement& out, bool forward, bool consumes_input);
  result<void> done(outcome o, const char* why, std::string_view request, std::uint64_t scratch) const;

  const transforms& by_;
  crew crew_;
  thread_team team_;
  host_callbacks callbacks_;
  std::string version_;
};

}  // namespace troupe::fft
