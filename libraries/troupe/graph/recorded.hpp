// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/base/containers/placed.hpp>
#include <troupe/graph/step.hpp>

namespace troupe::graph {

class core;
struct version;

/// Identifies a node of a graph, for later changes. Cheap to copy.
class node {
 public:
  node(std::uint64_t graph, std::uint32_t number) noexcept : graph_(graph), number_(number) {}
  explicit node(class error why) : error_(std::move(why)) {}

  /// Returns false if the node could not be recorded. Its graph then cannot be launched; the error of the first such
  /// node says why.
  explicit operator bool() const noexcept { return !error_; }
  /// Precondition: the node could not be recorded.
  const class error& error() const noexcept { return *error_; }
  /// The number in error texts and `graph::dot`: nodes are counted from 0 in the order of recording.
  std::uint32_t number() const noexcept { return number_; }
  std::uint64_t graph() const noexcept { return graph_; }

 private:
  std::uint64_t graph_ = 0;
  std::uint32_t number_ = 0;
  std::optional<class error> error_;
};

/// Recorded requests of a device that run as one: see `recorder` and `launch`. A handle, cheap to copy, that stays
/// valid when the device restarts. The graph keeps the buffers and programs that its requests use. After the last
/// handle is destroyed, they are released once the launches have completed.
///
/// A graph can be changed; launches that were sent before run the graph as it was. All functions are thread-safe.
class graph {
 public:
  /// Makes an empty handle. Every use of it is refused.
  graph() noexcept = default;
  explicit graph(std::shared_ptr<core> c) noexcept : core_(std::move(c)) {}

  explicit operator bool() const noexcept { return core_ != nullptr; }
  const std::string& name() const noexcept;
  /// Returns the number of nodes, including those in bodies and child graphs.
  std::size_t size() const;

  /// Replaces a recorded request with another one of the same type, with other values or other buffers.
  template <any_request R>
  result<void> set(const node& n, const R& r) const {
    if (!*this) return empty();
    auto made = recorded_step<R>::make(gpu(), r);
    if (!made) return made.error();
    return replace(n, std::move(*made));
  }
  /// Replaces a child graph with the current state of another one.
  result<void> set(const node& n, const graph& child) const;

  /// Replaces the buffer `from`, and slices of it, with `to`, which must have the same size, in all nodes, including
  /// those of child graphs. If one of them cannot be replaced, nothing changes.
  template <class T>
  result<void> rebind(const buffer<T>& from, const std::type_identity_t<buffer<T>>& to) const {
    return rebind(rebinding{from.memory(), to.memory()});
  }
  template <class T>
  result<void> rebind(const host_buffer<T>& from, const std::type_identity_t<host_buffer<T>>& to) const {
    return rebind(rebinding{from.memory(), to.memory()});
  }

  /// Returns the graph as text for Graphviz, with the dependencies of its nodes and the nodes inside others.
  std::string dot() const;

  const std::shared_ptr<core>& shared() const noexcept { return core_; }

 private:
  static error empty();
  const device& gpu() const noexcept;
  result<void> replace(const node& n, std::shared_ptr<const step> with) const;
  result<void> rebind(const rebinding& r) const;

  std::shared_ptr<core> core_;
};

/// A graph as it is at one moment: a field of a launch.
class snapshot {
 public:
  snapshot(const graph& g);
  /// Makes the snapshot in the worker.
  snapshot(std::uint64_t root, std::uint64_t recipe) noexcept : root_(root), recipe_(recipe) {}

  /// A range of memory that a launch reads or writes, and the first node that writes it; if none writes it, the first
  /// that reads it.
  struct use {
    memory_range where;
    access_mode mode;
    std::string node;
  };
  /// Returns all accesses of the launch. For the application. Empty for an empty graph, and if `wrong` returns an
  /// error.
  const std::vector<use>& uses() const noexcept;
  /// Returns why the graph cannot be launched, or nullopt.
  std::optional<error> wrong() const;
  /// Returns why the graph cannot be launched now: a node reads stale memory that no earlier node has replaced.
  /// Otherwise returns nothing.
  std::optional<error> stale_input() const;

  std::uint64_t root() const noexcept;
  std::uint64_t recipe() const noexcept;

 private:
  placed<std::shared_ptr<core>> of_;  // keeps the graph from being unloaded before the launch is sent
  placed<std::shared_ptr<const version>> version_;
  placed<std::optional<error>> why_;
  std::uint64_t root_ = 0, recipe_ = 0;
};

}  // namespace troupe::graph

namespace troupe {

/// The operands of a snapshot are all of the memory that its nodes access.
template <>
struct operands_in<graph::snapshot> : unnumbered_operands {
  template <class V>
  static void visit(const graph::snapshot& s, V&& f) {
    for (const auto& u : s.uses()) f(&u, u.where, 1, u.mode);
  }
  static std::string text_of(const graph::snapshot&, const void* place) {
    const auto& u = *static_cast<const graph::snapshot::use*>(place);
    return ": what " + u.node + (u.mode == access_mode::read ? " reads" : " writes");
  }
};
template <>
struct field_codec<graph::snapshot> {
  using element = std::byte;
  static constexpr char kind = 'G';
  static constexpr std::size_t size = 16, align = 8;
  static constexpr std::size_t blob_bytes(const graph::snapshot&) noexcept { return 0; }
  static void encode(const graph::snapshot& s, std::byte* at, blob_cursor&) noexcept {
    const std::uint64_t raw[2] = {s.root(), s.recipe()};
    std::memcpy(at, raw, sizeof raw);
  }
  static graph::snapshot decode(const std::byte* at) noexcept {
    std::uint64_t raw[2];
    std::memcpy(raw, at, sizeof raw);
    return {raw[0], raw[1]};
  }
};

/// The name of a launch includes the name of its graph; if the worker has died, also that of the node that was running.
template <>
struct encoded_field<graph::snapshot> {
  static void add_name(const std::byte* at, const encoded_request& r, std::string& to);
};

}  // namespace troupe
