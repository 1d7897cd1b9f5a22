// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/base/text/cat.hpp>
#include <troupe/kernel/engine/match.hpp>

namespace troupe::kernel {
namespace {

using kind = argument::kind;

std::size_t aligned(std::size_t at, std::size_t alignment) noexcept {
  return alignment == 0 ? at : (at + alignment - 1) / alignment * alignment;
}

bool is_pointer(const parameter_attributes& p) noexcept {
  return p.passing == passing::pointer || p.passing == passing::const_pointer;
}
std::uint64_t size_of(const parameter_attributes& p) noexcept { return is_pointer(p) ? sizeof(void*) : p.bytes; }
std::uint64_t alignment_of(const parameter_attributes& p) noexcept {
  return is_pointer(p) ? alignof(void*) : p.alignment;
}

std::string type_text(dtype type, std::uint64_t bytes, std::uint64_t alignment) {
  if (is_known(type)) return std::string(to_string(type));
  return cat("a struct of ", bytes, " bytes", alignment == 0 ? "" : cat(", aligned to ", alignment));
}

// Returns an argument as text: "inout(f32[100])", "f32[100]", "i32".
std::string text_of(const arguments::decoded& a) {
  if (a.is == kind::value) return type_text(a.type, a.bytes, a.alignment);
  if (a.is == kind::map) return "a tensor map";
  if (a.is == kind::null) return "a null pointer";
  const std::string type = is_known(a.type) ? std::string(to_string(a.type)) : cat(a.bytes, "-byte struct");
  const std::string elements = cat(type, "[", a.elements, "]");
  if (a.is == kind::plain) return elements;
  return cat(a.is == kind::write ? "out(" : a.is == kind::read_write ? "inout(" : "in(", elements, ")");
}

// Rewrites the compiler's spelling of a type: "float *" becomes `float*`.
std::string spelling(const parameter_attributes& p) {
  if (p.passing == passing::unknown) return cat(p.bytes, " bytes of unknown type");
  std::string s = p.type;
  if (const std::size_t star = s.find(" *"); star != std::string::npos) s.erase(star, 1);
  return "`" + s + "`";
}

bool same_type(const arguments::decoded& a, const parameter_attributes& p) noexcept {
  if (is_known(a.type) && is_known(p.element)) return a.type == p.element;
  if (a.bytes != p.bytes) return false;
  return is_known(a.type) || is_known(p.element) || a.is != kind::value || p.alignment == 0 ||
         a.alignment == p.alignment;
}

bool takes_any_element(const parameter_attributes& p) noexcept {
  return p.bytes == 0 || p.element == dtype::u8 || p.element == dtype::i8;
}

// Returns what is wrong with passing `a` for `p`, worded to follow "but parameter 1 of saxpy is `float*`". Returns an
// empty text if nothing is wrong.
std::string mismatch(const arguments::decoded& a, const parameter_attributes& p) {
  if (a.is == kind::map) {
    const bool by_value = p.passing == passing::value || p.passing == passing::unknown;
    if (by_value && p.bytes == tensor_descriptor_bytes && !is_known(p.element)) return "";
    return "; expected `const __grid_constant__ CUtensorMap`";
  }
  if (p.passing == passing::unknown) {
    const std::uint64_t bytes = a.is == kind::value ? a.bytes : sizeof(void*);
    return bytes == p.bytes ? "" : cat("; ", bytes, " bytes do not fit");
  }
  const bool pointer = is_pointer(p);
  if (a.is == kind::value && pointer) return ", a pointer; pass a buffer";
  if (a.is != kind::value && !pointer) return ", a value; pass it by value";
  if (a.is == kind::value) return same_type(a, p) ? "" : "; expected " + type_text(p.element, p.bytes, p.alignment);
  if (a.is == kind::null) return "";
  if (a.is == kind::plain && p.passing == passing::pointer)
    return ", which it may write; pass inout(y) or out(y), or in(x) if this kernel only reads it";
  if (a.is != kind::read && a.is != kind::plain && p.passing == passing::const_pointer)
    return ", which it only reads; pass in(x)";
  if (takes_any_element(p) || same_type(a, p)) return "";
  return "; expected elements of " + type_text(p.element, p.bytes, p.alignment);
}

error refusal(std::string_view request, const std::string& text) {
  return error(reaction::caller_bug, "kernel", std::string(request) + ": " + text);
}

std::string parameter_list(const std::vector<parameter_attributes>& parameters) {
  std::string list;
  for (const parameter_attributes& p : parameters) list.append(list.empty() ? "" : ", ").append(spelling(p));
  return list.empty() ? "no parameters"
                      : cat(parameters.size(), parameters.size() == 1 ? " parameter (" : " parameters (", list, ")");
}

}  // namespace

std::optional<std::size_t> first_map_in(const arguments& given) {
  std::size_t i = 0;
  std::optional<std::size_t> found;
  given.for_each([&](const arguments::decoded& a) {
    if (a.is == kind::map && !found) found = i;
    ++i;
  });
  return found;
}

void argument_frame::make_room(const std::vector<parameter_attributes>& parameters) {
  std::size_t bytes = 0;
  // Tensor maps have this alignment, so a parameter that may be a tensor map is aligned like one.
  const auto alignment = [](const parameter_attributes& p) {
    return size_of(p) == tensor_descriptor_bytes ? tensor_descriptor_alignment : alignment_of(p);
  };
  for (const parameter_attributes& p : parameters) bytes = aligned(bytes, alignment(p)) + size_of(p);
  if (bytes > small_bytes) {
    large_.resize(bytes + most_alignment);
    values_ = large_.data() + (most_alignment - reinterpret_cast<std::uintptr_t>(large_.data()) % most_alignment);
  }
  if (parameters.size() > few) {
    many_.resize(parameters.size());
    addresses_ = many_.data();
  }
}

result<void> argument_frame::fill(const arguments& given, const std::string& kernel,
                                  const std::vector<parameter_attributes>& parameters, std::string_view request,
                                  map_maker make_map) {
  if (given.size() != parameters.size()) [[unlikely]]
    return refusal(request, cat(given.size(), given.size() == 1 ? " argument was" : " arguments were", " given, but ",
                                kernel, " has ", parameter_list(parameters)));
  make_room(parameters);
  std::size_t i = 0, at = 0;
  std::string wrong;
  given.for_each([&](const arguments::decoded& a) {
    const parameter_attributes& p = parameters[i];
    if (wrong.empty()) {
      wrong = mismatch(a, p);
      if (!wrong.empty()) [[unlikely]]
        wrong =
            cat("argument ", i, " is ", text_of(a), ", but parameter ", i, " of ", kernel, " is ", spelling(p), wrong);
    }
    if (!wrong.empty()) [[unlikely]]
      return;
    const bool map = a.is == kind::map;
    at = aligned(at, map ? tensor_descriptor_alignment : alignment_of(p));
    if (map) [[unlikely]] {
      std::uint64_t address;
      std::memcpy(&address, a.content, sizeof address);
      wrong = make_map(*a.map, address, values_ + at);
      if (!wrong.empty()) wrong.insert(0, cat("argument ", i, " "));
    } else {
      std::memcpy(values_ + at, a.content, size_of(p));  // for a buffer, its address
    }
    addresses_[i++] = values_ + at;
    at += size_of(p);
  });
  if (!wrong.empty()) [[unlikely]]
    return refusal(request, wrong);
  return {};
}

}  // namespace troupe::kernel
