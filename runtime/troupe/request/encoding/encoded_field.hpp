// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <troupe/request/encoding/codec.hpp>
#include <vector>

/// Reads encoded requests in the application, for the texts of errors about requests that failed.
namespace troupe {

/// Memory that the application shares with workers, found by its address in workers.
class sent_memory {
 public:
  void add(std::uint64_t address, std::span<const std::byte> here) { parts_.push_back({address, here}); }
  /// Returns the application's bytes from the worker's `address` on; empty if the application does not have them.
  std::span<const std::byte> at(std::uint64_t address) const noexcept;

 private:
  struct part {
    std::uint64_t address;
    std::span<const std::byte> here;
  };
  std::vector<part> parts_;
};

/// An encoded request, with the memory and the reply that belong to it.
struct encoded_request {
  std::span<const std::byte> payload;
  sent_memory memory = {};
  std::uint64_t ticket = 0;
  /// The reply as far as the worker has written it. It is not trusted. Empty unless the worker died of this request.
  std::span<const std::byte> reply = {};
};

/// An operand of an encoded request.
struct encoded_operand {
  std::string name;       ///< "c", "parts[2]", "argument 1"
  std::string_view type;  ///< "f32", or "bytes"
  std::uint64_t address = 0, bytes = 0, element_bytes = 1;
};
/// Returns "c (f32[100])".
std::string to_string(const encoded_operand& o);

/// Reads one kind of field of an encoded request. A specialization may have either function, both or none:
/// `add_name(at, request, to)` appends to the request's name the subject of the request, such as a kernel's name;
/// `list_operands(at, field, to)` appends the field's operands. `at` is the field's encoding, in which addresses of
/// lists are those of the application. The primary template lists the operands that `operands_in` visits.
template <class F>
struct encoded_field {};
template <class F>
  requires(operands_in<F>::any && !field_group<F>)
struct encoded_field<F> {
  static void list_operands(const std::byte* at, std::string_view field, std::vector<encoded_operand>& to) {
    const F f = field_codec<F>::decode(at);
    std::string_view type = element_name<typename field_codec<F>::element>();
    if constexpr (requires {
                    { f.type() } -> std::same_as<dtype>;
                  })
      type = to_string(f.type());
    operands_in<F>::visit(f, [&, i = std::size_t{0}](const void*, const memory_range& range,
                                                     std::uint64_t element_bytes, const auto&) mutable {
      to.push_back({std::string(field), type, range.address, range.bytes, element_bytes});
      if (operands_in<F>::list) to.back().name += detail::index_text(i);
      ++i;
    });
  }
};

/// The offset of a request's field in the payload, and the functions of its `encoded_field`; null if it lacks one.
struct encoded_field_info {
  std::uint32_t offset;
  void (*add_name)(const std::byte* at, const encoded_request& r, std::string& to);
  void (*list_operands)(const std::byte* at, std::string_view field, std::vector<encoded_operand>& to);
};

namespace detail {

template <class F>
constexpr encoded_field_info encoded_field_at(std::size_t offset) noexcept {
  encoded_field_info out{static_cast<std::uint32_t>(offset), nullptr, nullptr};
  if constexpr (requires { &encoded_field<F>::add_name; }) out.add_name = &encoded_field<F>::add_name;
  if constexpr (requires { &encoded_field<F>::list_operands; }) out.list_operands = &encoded_field<F>::list_operands;
  return out;
}

template <class R, class... F, std::size_t... I>
constexpr std::array<encoded_field_info, sizeof...(F)> encoded_fields(field_list<F...>,
                                                                      std::index_sequence<I...>) noexcept {
  return {encoded_field_at<std::remove_cv_t<F>>(offsets_of<R>[I])...};
}

}  // namespace detail

template <class R>
inline constexpr auto encoded_fields_of =
    detail::encoded_fields<R>(fields_of<R>{}, std::make_index_sequence<fields_of<R>::count>{});

template <field_group G>
  requires(operands_in<G>::any)
struct encoded_field<G> {
  static void list_operands(const std::byte* at, std::string_view field, std::vector<encoded_operand>& to) {
    std::size_t i = 0;
    for (const encoded_field_info& f : encoded_fields_of<G>) {
      const std::string name = std::string(field).append(".").append(nth_name(G::request_fields, i++));
      if (f.list_operands != nullptr) f.list_operands(at + f.offset, name, to);
    }
  }
};

/// Appends the subject of the request to `to`, the request's name.
void add_names(std::span<const encoded_field_info> fields, const encoded_request& r, std::string& to);
/// Returns the operands of an encoded request. `blob` holds its lists, which workers have at `blob_address`.
std::vector<encoded_operand> operands_of(std::span<const encoded_field_info> fields, std::string_view names,
                                         std::span<const std::byte> payload, std::uint64_t blob_address,
                                         std::span<const std::byte> blob);

}  // namespace troupe
