// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/base/containers/placed.hpp>
#include <troupe/device/device.hpp>
#include <troupe/kernel/program_block.hpp>
#include <troupe/kernel/program_core.hpp>
#include <troupe/request/encoding/encoded_field.hpp>

namespace troupe::kernel {

/// A program with kernels on a device: the base of `jit::program` and `module::image`. A handle, cheap to copy. The
/// program is unloaded when its last handle is destroyed and no request that uses it is outstanding.
class program {
 public:
  /// Makes an empty handle. Every request that uses it is refused.
  program() noexcept = default;
  explicit program(std::shared_ptr<program_core> core) noexcept : core_(std::move(core)) {}
  /// Makes a handle in the worker, from the address of the root.
  static program at(std::uint64_t address) noexcept {
    program p;
    p.address_ = address;
    return p;
  }

  explicit operator bool() const noexcept { return *core_ != nullptr; }
  const std::shared_ptr<program_core>& core() const noexcept { return *core_; }
  /// Returns the root, in the worker.
  const program_root& root() const noexcept {
    return *reinterpret_cast<const program_root*>(static_cast<std::uintptr_t>(address_));
  }
  std::uint64_t address() const noexcept { return *this ? core()->root().address : address_; }

 private:
  placed<std::shared_ptr<program_core>> core_;
  std::uint64_t address_ = 0;
};

/// A kernel or global variable of a program. A handle.
class symbol {
 public:
  symbol(program of, std::string name)
      : program_(std::move(of)), name_(std::make_shared<std::string>(std::move(name))) {}
  /// Makes a handle in the worker.
  symbol(program of, std::string_view name) noexcept : program_(std::move(of)), seen_name_(name) {}

  const program& of() const noexcept { return program_; }
  std::string_view name() const noexcept { return *name_ ? std::string_view(**name_) : seen_name_; }

 private:
  program program_;
  placed<std::shared_ptr<const std::string>> name_;
  std::string_view seen_name_;
};

/// A kernel.
class function : public symbol {
 public:
  using symbol::symbol;
};

/// A global variable: `__device__` or `__constant__`.
class global : public symbol {
 public:
  using symbol::symbol;
};

/// Appends " scale (scale.cu)" to the name of a request whose symbol is encoded at `at`.
struct encoded_symbol {
  static void add_name(const std::byte* at, const encoded_request& r, std::string& to);
};

}  // namespace troupe::kernel

namespace troupe {

/// The program's global variables are an operand of the request: read, unless its `check` says otherwise. An empty
/// handle has no operand, and `check` refuses it.
template <std::derived_from<kernel::program> P>
struct operands_in<P> : unnumbered_operands {
  template <class V>
  static void visit(const P& p, V&& f) {
    if (p) f(&p, p.core()->root(), 1, access_mode::read);
  }
};
template <std::derived_from<kernel::symbol> S>
struct operands_in<S> : unnumbered_operands {
  template <class V>
  static void visit(const S& s, V&& f) {
    if (s.of()) f(&s, s.of().core()->root(), 1, access_mode::read);
  }
};

template <std::derived_from<kernel::program> P>
struct field_codec<P> {
  using element = std::byte;
  static constexpr char kind = 'P';
  static constexpr std::size_t size = 8, align = 8;
  static constexpr std::size_t blob_bytes(const P&) noexcept { return 0; }
  static void encode(const P& p, std::byte* at, blob_cursor&) noexcept {
    const std::uint64_t address = p.address();
    std::memcpy(at, &address, sizeof address);
  }
  static P decode(const std::byte* at) noexcept {
    std::uint64_t address;
    std::memcpy(&address, at, sizeof address);
    return P(kernel::program::at(address));
  }
};

/// Encodes the program and the name. Most names are short enough for the fixed part.
template <std::derived_from<kernel::symbol> S>
struct field_codec<S> {
  using element = std::byte;
  static constexpr char kind = 'K';
  static constexpr std::size_t size = 80, align = 8, inline_bytes = size - 24;
  static std::size_t blob_bytes(const S& s) noexcept {
    return s.name().size() <= inline_bytes ? 0 : blob_cursor::padded(s.name().size());
  }
  static void encode(const S& s, std::byte* at, blob_cursor& blob) noexcept {
    const std::string_view name = s.name();
    const bool here = name.size() <= inline_bytes;
    const std::uint64_t raw[3] = {s.of().address(), here ? 0 : blob.address, name.size()};
    std::memcpy(at, raw, sizeof raw);
    std::memcpy(here ? at + sizeof raw : blob.host, name.data(), name.size());
    clear_rest(at, sizeof raw + (here ? name.size() : 0), size);
    if (!here) blob.advance(name.size());
  }
  static S decode(const std::byte* at) noexcept {
    std::uint64_t raw[3];
    std::memcpy(raw, at, sizeof raw);
    const auto* name = raw[1] == 0 ? reinterpret_cast<const char*>(at + sizeof raw)
                                   : reinterpret_cast<const char*>(static_cast<std::uintptr_t>(raw[1]));
    return S(kernel::program::at(raw[0]), std::string_view(name, raw[2]));
  }
};

/// Appends the names of the symbol and of its program to the request's name.
template <>
struct encoded_field<kernel::function> : kernel::encoded_symbol {};
template <>
struct encoded_field<kernel::global> : kernel::encoded_symbol {};

}  // namespace troupe
