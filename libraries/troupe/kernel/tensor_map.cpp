// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/containers/value_for.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/kernel/tensor_map.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::kernel {
namespace {

constexpr std::int64_t most_size = std::int64_t{1} << 32, stride_limit = std::int64_t{1} << 40, most_box = 256,
                       most_step = 8;

// Properties of the types before of_the_elements, in their order.
struct type_info {
  std::int64_t bits;
  bool floating;
  bool packed = false;
};
constexpr type_info types[] = {{8, false},       {16, false},      {32, false},     {32, false},
                               {64, false},      {64, false},                                    // u8 to i64
                               {16, true},       {32, true},       {64, true},      {16, true},  // f16 to bf16
                               {32, true},       {32, true},       {32, true},                   // f32_ftz to tf32_ftz
                               {4, false, true}, {4, false, true}, {6, false, true}};            // of 4 or 6 bits
static_assert(std::size(types) == static_cast<std::size_t>(tensor_type::of_the_elements));
const type_info& info_of(tensor_type t) noexcept { return types[static_cast<std::size_t>(t)]; }

// Returns nullopt if the accelerator has no type for these elements.
std::optional<tensor_type> type_for(dtype element) noexcept {
  using found = std::optional<tensor_type>;
  static constexpr std::pair<dtype, found> by_name[] = {
      {dtype::f16, tensor_type::f16}, {dtype::bf16, tensor_type::bf16}, {dtype::f32, tensor_type::f32},
      {dtype::f64, tensor_type::f64}, {dtype::i32, tensor_type::i32},   {dtype::i64, tensor_type::i64},
      {dtype::u32, tensor_type::u32}};
  static constexpr std::pair<std::size_t, found> by_size[] = {
      {1, tensor_type::u8}, {2, tensor_type::u16}, {8, tensor_type::u64}};
  return value_for(element, by_name, value_for(bytes_of(element), by_size, {}));
}

std::string numbered(const char* list, std::size_t i, extent value) {
  return cat(list, "[", i, "] is ", detail::text(value));
}
std::string multiple_of(std::int64_t n) { return cat("a multiple of ", n); }
std::string span(std::int64_t low, std::int64_t high) { return cat(low, " to ", high); }

using complaint = std::optional<tensor_complaint>;

// Checks one tensor. Each check relies on the checks before it.
class tensor_checker {
 public:
  tensor_checker(const tiles& t, dtype element, std::uint64_t address, std::uint64_t bytes)
      : t_(t), element_(element), address_(address), bytes_(bytes) {}

  complaint run() {
    for (const auto question :
         {&tensor_checker::choices, &tensor_checker::rank, &tensor_checker::type, &tensor_checker::address,
          &tensor_checker::sizes, &tensor_checker::strides, &tensor_checker::box, &tensor_checker::steps,
          &tensor_checker::swizzle, &tensor_checker::fill, &tensor_checker::check_extent})
      if (auto found = (this->*question)()) return found;
    return std::nullopt;
  }

 private:
  bool padded() const noexcept { return type_ == tensor_type::u4x16_align16 || type_ == tensor_type::u6x16_align16; }
  bool wide() const noexcept { return t_.interleave == tensor_interleave::bytes_32 || padded(); }
  // Returns the bytes of `elements` elements along the first axis.
  std::int64_t row_bytes(std::int64_t elements) const noexcept { return elements * info_of(type_).bits / 8; }
  std::string why_wide() const {
    return padded() ? ", because type is " + std::string(to_string(type_)) : ", because interleave is bytes_32";
  }

  complaint choices() {
    const auto unknown = []<class E>(E value, const char* name) -> complaint {
      if (is_known(value)) return std::nullopt;
      return tensor_complaint{cat(name, " is ", static_cast<int>(value)), one_of<E>()};
    };
    if (auto c = unknown(t_.type, "type")) return c;
    if (auto c = unknown(t_.interleave, "interleave")) return c;
    if (auto c = unknown(t_.swizzle, "swizzle")) return c;
    if (auto c = unknown(t_.promotion, "promotion")) return c;
    return unknown(t_.fill, "fill");
  }

  complaint rank() {
    const std::size_t rank = t_.sizes.size(), least = t_.interleave == tensor_interleave::none ? 1 : 3;
    if (rank < least || rank > tensor_layout::most_rank)
      return tensor_complaint{"sizes has " + counted(rank, "axis", "axes"),
                              cat(least, " to 5", least == 3 ? ", because it is interleaved" : "")};
    const auto other = [&](const char* list, std::size_t has, std::size_t expected, bool optional) -> complaint {
      if (has == expected || (optional && has == 0)) return std::nullopt;
      return tensor_complaint{
          cat(list, " has ", counted(has, "entry", "entries")),
          cat(expected, optional ? ", or none" : "", ", because sizes has ", counted(rank, "axis", "axes"))};
    };
    if (auto c = other("box", t_.box.size(), rank, false)) return c;
    if (auto c = other("strides", t_.strides.size(), rank - 1, true)) return c;
    return other("steps", t_.steps.size(), rank, true);
  }

  complaint type() {
    const auto own = type_for(element_);
    if (t_.type == tensor_type::of_the_elements) {
      if (!own)
        return tensor_complaint{"buffer has elements of type " + std::string(to_string(element_)),
                                "a type that the accelerator supports, or field type set to one"};
      type_ = *own;
      return std::nullopt;
    }
    type_ = t_.type;
    const bool packed = info_of(type_).packed;
    const std::int64_t has = static_cast<std::int64_t>(bytes_of(element_)),
                       expected = packed ? 1 : info_of(type_).bits / 8;
    if (has != expected)
      return tensor_complaint{"type is " + std::string(to_string(type_)) + ", but the buffer's elements are " +
                                  std::string(to_string(element_)),
                              cat("elements of ", expected, expected == 1 ? " byte" : " bytes")};
    if (type_ == tensor_type::u6x16_align16 && t_.interleave != tensor_interleave::none)
      return tensor_complaint{"type is u6x16_align16, and interleave is not none", "interleave none"};
    return std::nullopt;
  }

  complaint address() {
    const std::uint64_t alignment = wide() ? 32 : 16;
    if (address_ % alignment == 0) return std::nullopt;
    return tensor_complaint{
        cat("buffer begins ", address_ % alignment, " bytes after a multiple of ", alignment),
        "a buffer, or a slice, that begins at such a multiple" + (wide() ? why_wide() : std::string())};
  }

  complaint sizes() {
    for (std::size_t i = 0; i < t_.sizes.size(); ++i)
      if (t_.sizes[i] < 1 || t_.sizes[i] > most_size)
        return tensor_complaint{numbered("sizes", i, t_.sizes[i]), span(1, most_size)};
    const std::int64_t of = padded() ? 128 : type_ == tensor_type::u4x16_align8 ? 2 : 1;
    if (t_.sizes[0].value() % of != 0)
      return tensor_complaint{numbered("sizes", 0, t_.sizes[0]),
                              multiple_of(of) + ", because type is " + std::string(to_string(type_))};
    return std::nullopt;
  }

  complaint strides() {
    const std::int64_t of = wide() ? 32 : 16;
    extent tight = row_bytes(t_.sizes[0].value());
    for (std::size_t i = 0; i + 1 < t_.sizes.size(); ++i) {
      const bool given = !t_.strides.empty();
      const extent stride = given ? t_.strides[i] : tight;
      const std::string text =
          given ? numbered("strides", i, stride)
                : cat("strides is empty, which means ", detail::text(stride), " bytes along axis ", i + 1);
      if (stride < 1 || stride >= stride_limit) return tensor_complaint{text, span(of, stride_limit - of)};
      if (stride.value() % of != 0)
        return tensor_complaint{text, multiple_of(of) + (wide() ? why_wide() : std::string())};
      // The driver's documentation requires this for all types, but packed numbers cannot meet it.
      if (stride < t_.sizes[i] && !info_of(type_).packed)
        return tensor_complaint{text, "at least " + detail::text(t_.sizes[i]) + ", the extent of the axis before it"};
      tight = stride * t_.sizes[i + 1];
    }
    return std::nullopt;
  }

  complaint box() {
    for (std::size_t i = 0; i < t_.box.size(); ++i)
      if (t_.box[i] < 1 || t_.box[i] > most_box)
        return tensor_complaint{numbered("box", i, t_.box[i]), span(1, most_box)};
    const std::int64_t inner = t_.box[0].value();
    if (padded() && inner != 128)
      return tensor_complaint{numbered("box", 0, inner), "128, because type is " + std::string(to_string(type_))};
    if (t_.interleave == tensor_interleave::none && inner * info_of(type_).bits % 128 != 0)
      return tensor_complaint{numbered("box", 0, inner) + " of " + std::string(to_string(type_)),
                              cat("a multiple of 16 bytes, ", 128 / info_of(type_).bits, " elements")};
    return std::nullopt;
  }

  complaint steps() {
    // Without interleaving, the accelerator ignores a step along the first axis, and reports no error.
    for (std::size_t i = 0; i < t_.steps.size(); ++i) {
      if (t_.steps[i] < 1 || t_.steps[i] > most_step)
        return tensor_complaint{numbered("steps", i, t_.steps[i]), span(1, most_step)};
      if (i == 0 && t_.interleave == tensor_interleave::none && t_.steps[0] != 1)
        return tensor_complaint{numbered("steps", 0, t_.steps[0]), "1, because it is not interleaved"};
    }
    return std::nullopt;
  }

  complaint swizzle() {
    using enum tensor_swizzle;
    const tensor_swizzle s = t_.swizzle;
    if (t_.interleave == tensor_interleave::bytes_32 && s != bytes_32)
      return tensor_complaint{"interleave is bytes_32, and swizzle is not", "swizzle bytes_32"};
    const bool fits = s == none || s == bytes_128 || s == bytes_128_atoms_32 ||
                      (s == bytes_128_atoms_64 && type_ == tensor_type::u6x16_align16);
    if (padded() && !fits)
      return tensor_complaint{"type is " + std::string(to_string(type_)) + ", which this swizzle does not fit",
                              type_ == tensor_type::u6x16_align16
                                  ? "none, bytes_128, bytes_128_atoms_32 or bytes_128_atoms_64"
                                  : "none, bytes_128 or bytes_128_atoms_32"};
    if (s == none || t_.interleave != tensor_interleave::none) return std::nullopt;
    const std::int64_t most = s == bytes_32 ? 32 : s == bytes_64 ? 64 : 128, has = row_bytes(t_.box[0].value());
    if (has <= most) return std::nullopt;
    return tensor_complaint{cat(numbered("box", 0, t_.box[0]), ", ", has, " bytes"),
                            cat("at most ", most, " bytes, because of swizzle")};
  }

  complaint fill() {
    if (t_.fill == tensor_fill::zero || info_of(type_).floating) return std::nullopt;
    return tensor_complaint{"fill is nan_for_zero_fma and type is " + std::string(to_string(type_)),
                            "zero, or a type of floating-point numbers"};
  }

  // Without this check, the accelerator would read and write outside the buffer.
  complaint check_extent() {
    extent last = row_bytes(t_.sizes[0].value()), tight = last;
    for (std::size_t i = 1; i < t_.sizes.size(); ++i) {
      const extent stride = t_.strides.empty() ? tight : t_.strides[i - 1];
      last = last + stride * (t_.sizes[i] - 1);
      tight = stride * t_.sizes[i];
    }
    if (!last.overflowed() && static_cast<std::uint64_t>(last.value()) <= bytes_) return std::nullopt;
    return tensor_complaint{cat("buffer holds ", bytes_, " bytes"),
                            "the " + detail::text(last) + " bytes that sizes and strides span"};
  }

  const tiles& t_;
  const dtype element_;
  const std::uint64_t address_, bytes_;
  tensor_type type_ = tensor_type::u8;
};

}  // namespace

std::optional<tensor_complaint> complaint_about(const tiles& t, dtype element, std::uint64_t address,
                                                std::uint64_t bytes) {
  return tensor_checker(t, element, address, bytes).run();
}

tensor_layout layout_of(const tiles& t, dtype element) {
  tensor_layout out{};
  out.type = t.type == tensor_type::of_the_elements ? type_for(element).value_or(tensor_type::u8) : t.type;
  out.interleave = t.interleave;
  out.swizzle = t.swizzle;
  out.promotion = t.promotion;
  out.fill = t.fill;
  const std::size_t rank = std::min(t.sizes.size(), tensor_layout::most_rank);
  out.rank = static_cast<std::uint8_t>(rank);
  extent tight = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    out.sizes[i] = static_cast<std::uint64_t>(t.sizes[i].value());
    out.box[i] = i < t.box.size() ? static_cast<std::uint32_t>(t.box[i].value()) : 0;
    out.steps[i] = i < t.steps.size() ? static_cast<std::uint32_t>(t.steps[i].value()) : 1;
    if (i == 0) {
      tight = extent(t.sizes[0].value() * info_of(out.type).bits / 8);
      continue;
    }
    const extent stride = i - 1 < t.strides.size() ? t.strides[i - 1] : tight;
    out.strides[i - 1] = static_cast<std::uint64_t>(stride.value());
    tight = stride * t.sizes[i];
  }
  return out;
}

}  // namespace troupe::kernel
