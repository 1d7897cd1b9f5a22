// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <troupe/base/text/cat.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/epilogue/op_definitions.hpp>
#include <troupe/epilogue/tree.hpp>

namespace troupe::epilogue {
namespace {

bool same(const expression::memory_operand& a, const expression::memory_operand& b) noexcept {
  return a.range.address == b.range.address && a.range.owner.get() == b.range.owner.get() && a.shape == b.shape &&
         a.type == b.type && a.mode == b.mode && a.batch == b.batch && a.batch_stride == b.batch_stride;
}

// Returns the index of the element that equals `one`. If there is none, adds `one`.
template <class T, class Same>
std::uint8_t find_or_add(std::vector<T>& all, const T& one, std::size_t most, bool& too_large, Same&& same) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const T& other) { return same(other, one); });
  if (at == all.end()) {
    if (all.size() == most) {
      too_large = true;
      return 0;
    }
    all.push_back(one);
    return static_cast<std::uint8_t>(all.size() - 1);
  }
  return static_cast<std::uint8_t>(at - all.begin());
}

}  // namespace

expression::expression(product_part part) { add({.what = part.what}); }
expression::expression(double number) { add({.what = op::number, .operand = add_number(number)}); }
expression::expression(const std::byte* encoded, std::size_t bytes) noexcept
    : encoded_(tree(encoded, bytes).empty() ? nullptr : encoded) {}
tree expression::encoded() const noexcept { return encoded_ == nullptr ? tree() : tree(encoded_); }

std::uint8_t expression::add(const node& n) {
  return find_or_add(parts_->nodes, n, most_nodes, parts_->too_large, std::equal_to<>{});
}
std::uint8_t expression::add_number(double value) {
  // Numbers are compared by their bits, so that 0 and -0 differ and a NaN equals itself.
  return find_or_add(parts_->numbers, value, most_numbers, parts_->too_large, [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  });
}
std::uint8_t expression::add_memory(const memory_operand& m) {
  return find_or_add(parts_->memory, m, most_memory, parts_->too_large, same);
}

// Adds all nodes of `other`. Returns the new index of the last of them, its result.
std::uint8_t expression::add_all(const expression& other) {
  std::array<std::uint8_t, most_nodes> new_index{};
  std::uint8_t last = 0;
  parts_->too_large |= other.parts_->too_large;
  for (std::size_t i = 0; i < other.nodes().size(); ++i) {
    node n = other.nodes()[i];
    for (std::size_t a = 0; a < info(n.what).arguments; ++a) n.arguments[a] = new_index[n.arguments[a]];
    if (n.what == op::number)
      n.operand = add_number(other.numbers()[n.operand]);
    else if (has_memory(n.what))
      n.operand = add_memory(other.memory()[n.operand]);
    last = new_index[i] = add(n);
  }
  return last;
}

// Returns the number if the expression is a number by value, or null.
const double* expression::constant() const noexcept {
  const auto all = nodes();
  return all.size() == 1 && all[0].what == op::number ? &numbers()[all[0].operand] : nullptr;
}

bool expression::writes() const noexcept {
  return std::any_of(nodes().begin(), nodes().end(),
                     [](const node& n) { return n.what == op::store || n.what == op::reduce; });
}

expression expression::of(op what, std::span<const expression* const> arguments) {
  const expression& x = *arguments[0];
  if (arguments.size() == 2) {
    const expression& y = *arguments[1];
    const auto is = [](const expression& e, double value) { return e.constant() != nullptr && *e.constant() == value; };
    if (what == op::multiply) {
      if (is(x, 1) || (is(y, 0) && !x.writes())) return is(x, 1) ? y : expression(0.0);
      if (is(y, 1) || (is(x, 0) && !y.writes())) return is(y, 1) ? x : expression(0.0);
    }
    if (what == op::add && is(x, 0)) return y;
    if ((what == op::add || what == op::subtract) && is(y, 0)) return x;
    if (what == op::divide && is(y, 1)) return x;
  }
  if (std::all_of(arguments.begin(), arguments.end(), [](const expression* e) { return e->constant() != nullptr; })) {
    std::array<double, 3> values{};
    for (std::size_t i = 0; i < arguments.size(); ++i) values[i] = *arguments[i]->constant();
    return value_of(what, values[0], values[1], values[2]);
  }
  expression out;
  node n{.what = what};
  for (std::size_t i = 0; i < arguments.size(); ++i) n.arguments[i] = out.add_all(*arguments[i]);
  out.add(n);
  return out;
}

expression expression::converted(const expression& x, dtype to) {
  expression out = x;
  const auto last = static_cast<std::uint8_t>(out.nodes().size() - 1);
  out.add({.what = op::convert, .type = to, .arguments = {last}});
  return out;
}

expression expression::reading(op what, memory_operand from) {
  expression out;
  from.mode = access_mode::read;
  out.add({.what = what, .operand = out.add_memory(from)});
  return out;
}

expression expression::writing(const expression& x, memory_operand to) {
  expression out = x;
  const auto last = static_cast<std::uint8_t>(out.nodes().size() - 1);
  to.mode = access_mode::write;
  out.add({.what = op::store, .operand = out.add_memory(to), .arguments = {last}});
  return out;
}

expression expression::reducing(const expression& x, reduction how, reduction_scope over, memory_operand to) {
  expression out = x;
  const auto last = static_cast<std::uint8_t>(out.nodes().size() - 1);
  to.mode = access_mode::write;
  out.add({.what = op::reduce, .combine = how, .over = over, .operand = out.add_memory(to), .arguments = {last}});
  return out;
}

namespace detail {

expression::memory_operand matrix_of(const memory_range& memory, const tensor_shape& s, dtype type) {
  expression::memory_operand out{.range = memory, .shape = {}, .type = type};
  if (s.rank != 2 && s.rank != 3) return out;  // the check refuses a shape of 0 x 0
  const std::size_t i = s.rank - 2;
  out.shape = {s.extents[i], s.extents[i + 1], s.strides[i], s.strides[i + 1]};
  if (s.rank == 3) out.batch = s.extents[0], out.batch_stride = s.strides[0];
  return out;
}

}  // namespace detail

std::size_t expression::encoded_bytes() const noexcept {
  return tree::encoded_bytes(nodes().size(), numbers().size(), memory().size());
}

void expression::encode(std::byte* to) const noexcept {
  const tree::head h{static_cast<std::uint32_t>(nodes().size()), static_cast<std::uint32_t>(numbers().size()),
                     static_cast<std::uint32_t>(memory().size()), 0};
  put_records(to, std::span(&h, 1));
  put_records(to, nodes());
  put_records(to, numbers());
  for (const memory_operand& m : memory()) {
    // All products of a batch share a single matrix.
    const std::int64_t stride = m.batch == 1 ? 0 : m.batch_stride;
    const epilogue::memory_operand operand{m.range.address, m.shape, stride, m.type, m.mode, {}};
    put_records(to, std::span(&operand, 1));
  }
}

namespace {

std::string text_of(const expression& e, std::size_t at) {
  const node& n = e.nodes()[at];
  const auto argument = [&](std::size_t i) { return text_of(e, n.arguments[i]); };
  const auto operand = [&] { return operands_in<expression>::text_of(e, &e.memory()[n.operand]).substr(1); };
  if (n.what == op::number) {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.9g", e.numbers()[n.operand]);
    return digits.data();
  }
  if (n.what == op::negate) return "-" + argument(0);
  if (n.what == op::convert) return cat("convert<", to_string(n.type), ">(", argument(0), ")");
  if (n.what == op::store || n.what == op::reduce) return cat(operand(), " = ", argument(0));
  if (has_memory(n.what)) return operand();
  const std::size_t count = info(n.what).arguments;
  if (count == 0) return std::string(to_string(n.what));
  constexpr std::string_view between[] = {" + ", " - ", " * ", " / "};
  if (n.what >= op::add && n.what <= op::divide)
    return cat("(", argument(0), between[static_cast<std::size_t>(n.what) - static_cast<std::size_t>(op::add)],
               argument(1), ")");
  std::string out = cat(to_string(n.what), "(");
  for (std::size_t i = 0; i < count; ++i) out += cat(i == 0 ? "" : ", ", argument(i));
  return out + ")";
}

}  // namespace

std::string to_string(const expression& e) {
  return e.nodes().empty() || e.is_too_large() ? "an epilogue" : text_of(e, e.nodes().size() - 1);
}

}  // namespace troupe::epilogue

namespace troupe {

std::string operands_in<epilogue::expression>::text_of(const epilogue::expression& e, const void* place) {
  const auto memory = e.memory();
  std::size_t found = 0;
  while (found < memory.size() && &memory[found] != place) ++found;
  // An operand's number is how many operands of its kind were added before it.
  std::string_view kind = "?";
  for (const epilogue::node& n : e.nodes())
    if (has_memory(n.what) && n.operand == found) kind = to_string(n.what);
  std::size_t number = 0;
  for (const epilogue::node& n : e.nodes())
    if (has_memory(n.what) && n.operand < found && to_string(n.what) == kind) ++number;
  return cat(".", kind, "[", number, "]");
}

}  // namespace troupe
