// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/base/placed.hpp>
#include <troupe/graph/step.hpp>

namespace troupe::graph {

class core;
struct version;

/// One of the things that a graph does, to name it later. Cheap to copy.
class node {
 public:
  node(std::uint64_t graph, std::uint32_t number) noexcept : graph_(graph), number_(number) {}
  explicit node(class error why) : error_(std::move(why)) {}

  /// False when it could not be recorded: then the whole graph cannot be launched, for the reason of the first of them.
  explicit operator bool() const noexcept { return !error_; }
  /// Only then.
  const class error& error() const noexcept { return *error_; }
  /// As error texts and `graph::dot` show it: counted from 0, in the order of recording.
  std::uint32_t number() const noexcept { return number_; }
  std::uint64_t graph() const noexcept { return graph_; }

 private:
  std::uint64_t graph_ = 0;
  std::uint32_t number_ = 0;
  std::optional<class error> error_;
};

/// Requests of a device that were recorded, to run as one: see `recorder` and `launch`. A handle, cheap to copy, valid
/// through every restart of the device. It holds the buffers and programs that its requests use; when the last handle
/// goes, they are let go of, after what was launched.
///
/// It can be changed: launches that were asked for before do what it was then. All functions are thread safe.
class graph {
 public:
  /// Empty: refused wherever one is needed.
  graph() noexcept = default;
  explicit graph(std::shared_ptr<core> c) noexcept : core_(std::move(c)) {}

  explicit operator bool() const noexcept { return core_ != nullptr; }
  const std::string& name() const noexcept;
  /// How many nodes it has, those in bodies and child graphs among them.
  std::size_t size() const;

  /// Another request of the same type in the place of what was recorded: other numbers, other buffers.
  template <request R>
  result<void> set(const node& n, const R& r) const {
    if (!*this) return empty();
    auto made = recorded_step<R>::make(gpu(), r);
    if (!made) return made.error();
    return replace(n, std::move(*made));
  }
  /// Another child graph, as it is now, in the place of one.
  result<void> set(const node& n, const graph& child) const;

  /// Everywhere, child graphs included: what was done with `from`, or with slices of it, is done with `to`, which is of
  /// the same size. All or nothing.
  template <class T>
  result<void> rebind(const buffer<T>& from, const std::type_identity_t<buffer<T>>& to) const {
    return rebind(rebinding{from.memory(), to.memory()});
  }
  template <class T>
  result<void> rebind(const host_buffer<T>& from, const std::type_identity_t<host_buffer<T>>& to) const {
    return rebind(rebinding{from.memory(), to.memory()});
  }

  /// The graph as a text for Graphviz: what needs what, and what is inside of what.
  std::string dot() const;

  const std::shared_ptr<core>& shared() const noexcept { return core_; }

 private:
  static error empty();
  const device& gpu() const noexcept;
  result<void> replace(const node& n, std::shared_ptr<const step> with) const;
  result<void> rebind(const rebinding& r) const;

  std::shared_ptr<core> core_;
};

/// A graph as it is at this moment. Made of one where it is launched.
class snapshot {
 public:
  snapshot(const graph& g);
  /// For the worker.
  snapshot(std::uint64_t root, std::uint64_t recipe) noexcept : root_(root), recipe_(recipe) {}

  /// One stretch of memory that a launch reads or writes, and the node that did so first.
  struct use {
    memory_range where;
    access_mode mode;
    std::string node;
  };
  /// In the application. Empty for an empty graph, and where `wrong` says that it cannot be launched.
  const std::vector<use>& uses() const noexcept;
  /// Why it cannot be launched.
  std::optional<error> wrong() const;

  std::uint64_t root() const noexcept;
  std::uint64_t recipe() const noexcept;

 private:
  placed<std::shared_ptr<core>> of_;  // no unloading before this was sent
  placed<std::shared_ptr<const version>> version_;
  placed<std::optional<error>> why_;
  std::uint64_t root_ = 0, recipe_ = 0;
};

}  // namespace troupe::graph

namespace troupe {

/// All that its nodes touch.
template <>
struct operands_in<graph::snapshot> {
  static constexpr bool any = true;
  static constexpr bool list = false;
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

}  // namespace troupe
