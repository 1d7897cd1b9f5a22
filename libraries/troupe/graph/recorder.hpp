// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/graph/recorded.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::graph {

/// Options of a recording.
struct options {
  text name = "graph";
  /// Most independent nodes that can run at the same time, on a GPU. 1: all nodes run in the order of recording. A
  /// child graph has its own limit.
  std::uint32_t branches = 4;
};

/// Records requests instead of sending them. Each request is checked as `device::ask` checks it, except for stale and
/// sealed buffers, which are checked at each launch. Not thread-safe.
///   graph::recorder rec(gpu);
///   rec.add(blas::gemm<float>{...});
///   rec.add(blas::axpy<float>{...});
///   graph::graph g = rec.finish();
class recorder {
 public:
  explicit recorder(const device& gpu, options o = {});
  recorder(const recorder&) = delete;
  ~recorder();

  /// Adds a request that uses device memory only. `label` appears in errors and in `graph::dot`.
  template <any_request R>
  node add(const R& r, std::string label = {}) {
    return add(recorded_step<R>::make(gpu(), r), std::move(label));
  }
  /// Adds the current state of another graph of this device.
  node add(const graph& child, std::string label = {});

  template <class T>
  node copy(const buffer<T>& to, const buffer<T>& from, std::string label = {}) {
    return add(
        memory::copy{
            .source = in<std::byte>(from.memory()), .target = out<std::byte>(to.memory()), .bytes = from.bytes()},
        std::move(label));
  }
  template <class T>
  node fill(const buffer<T>& to, std::type_identity_t<T> value, std::string label = {}) {
    static_assert(sizeof(T) <= 16, "fill repeats up to 16 bytes");
    memory::fill r{
        .target = out<std::byte>(to.memory()), .bytes = to.bytes(), .pattern = {}, .pattern_bytes = sizeof(T)};
    std::memcpy(r.pattern.data(), &value, sizeof(T));
    return add(r, std::move(label));
  }

  /// Runs what `then` records if the first element of `flag` is not 0 when the launch reaches this node, and otherwise
  /// what `otherwise` records. The device decides, without the application. Until these functions return, only the
  /// recorder that is passed to them can be used.
  template <class Then>
  node if_(const buffer<std::uint32_t>& flag, Then&& then) {
    return conditional(flag, false, recorded_by(then), nullptr);
  }
  template <class Then, class Otherwise>
  node if_(const buffer<std::uint32_t>& flag, Then&& then, Otherwise&& otherwise) {
    const body_recorder other = recorded_by(otherwise);
    return conditional(flag, false, recorded_by(then), &other);
  }
  /// Repeats what `body` records while the first element of `flag` is not 0.
  template <class Body>
  node while_(const buffer<std::uint32_t>& flag, Body&& body) {
    return conditional(flag, true, recorded_by(body), nullptr);
  }

  /// Returns the graph. Nothing can be recorded afterwards.
  graph finish();

 private:
  struct recording;
  struct turn;
  struct body_recorder {
    void* function;
    void (*call)(void* function, recorder& into);
  };
  template <class F>
  static body_recorder recorded_by(F& f) {
    return {const_cast<void*>(static_cast<const void*>(&f)),
            [](void* function, recorder& into) { (*static_cast<F*>(function))(into); }};
  }
  recorder(std::shared_ptr<recording> all, void* body) : all_(std::move(all)), body_(body) {}
  const device& gpu() const noexcept;
  std::optional<error> out_of_turn() const;
  node add(result<std::shared_ptr<const step>> made, std::string label);
  node conditional(const buffer<std::uint32_t>& flag, bool repeats, const body_recorder& then,
                   const body_recorder* otherwise);

  std::shared_ptr<recording> all_;
  void* body_;
};

}  // namespace troupe::graph
