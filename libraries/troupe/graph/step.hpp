// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/device/library_access.hpp>
#include <troupe/graph/rebinding.hpp>
#include <troupe/kernel/program.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <vector>

namespace troupe::graph {

/// One recorded request of any type. Immutable. It keeps its buffers and programs alive.
class step {
 public:
  step() = default;
  step(const step&) = delete;
  virtual ~step() = default;

  virtual const request_info& info() const noexcept = 0;
  virtual std::size_t blob_bytes() const noexcept = 0;
  virtual void encode(std::byte* payload, blob_cursor blob) const noexcept = 0;
  virtual std::string describe() const = 0;
  /// Returns the operand that shares bytes with this memory, as text: "x, f32[100]@200000000000".
  virtual std::string operand_at(const memory_range& r) const = 0;
  /// Returns the step with moved operands, or null if none of them moves.
  virtual result<std::shared_ptr<const step>> rebound(const device& gpu, const rebinding& r) const = 0;

  const std::vector<checked_access>& accesses() const noexcept { return accesses_; }
  const std::vector<std::shared_ptr<kernel::program_core>>& programs() const noexcept { return programs_; }
  /// Returns the request's name: "jit.launch scale (scale.cu)".
  std::string name() const { return std::string(info().label) + about_; }

 protected:
  std::vector<checked_access> accesses_;
  std::vector<std::shared_ptr<kernel::program_core>> programs_;
  std::string about_;  // follows the label, such as " scale (scale.cu)"
};

namespace detail {

error refusal(std::string_view request, const std::string& text, reaction how = reaction::caller_bug);

/// Returns why a request of this type cannot be recorded, or an empty string.
template <class R>
std::string why_not_recorded(const R& r) {
  if constexpr (requires { R::not_recorded; }) return std::string(R::not_recorded);
  // A graph ignores replies that only inform.
  if constexpr (!std::is_void_v<reply_to<R>> && !requires { R::reply_informs; }) {
    if constexpr (requires { r.result.has_value(); }) {
      if (!r.result.has_value()) return "it returns a value, but a graph has no reply; set .result to a buffer";
    } else {
      return "it returns a value, but a graph has no reply";
    }
  }
  return {};
}

template <class F>
void add_name(const F& f, std::string& to) {
  if constexpr (std::derived_from<F, kernel::symbol>)
    if (f.of().core()) to.append(" ").append(f.name()).append(" (").append(f.of().core()->name()).append(")");
}

template <class F>
void collect_program(const F& f, std::vector<std::shared_ptr<kernel::program_core>>& into) {
  if constexpr (std::derived_from<F, kernel::program>) {
    if (f.core()) into.push_back(f.core());
  } else if constexpr (std::derived_from<F, kernel::symbol>) {
    if (f.of().core()) into.push_back(f.of().core());
  }
}

/// Returns an operand of this field as text: "f32[100]@200000000000".
template <class F>
std::string operand_text(const F& field, const void* place, const memory_range& r, std::uint64_t element_bytes) {
  if constexpr (requires { typename F::element_type; })
    return troupe::detail::text(element_name<typename F::element_type>(), r, r.bytes / element_bytes);
  if constexpr (std::is_same_v<F, kernel::arguments>)
    for (const kernel::argument& a : field.list())
      if (&a == place && is_known(a.type()))
        return troupe::detail::text(to_string(a.type()), r, r.bytes / element_bytes);
  return troupe::detail::text("bytes", r, r.bytes);
}

/// A request, and the request that is sent for it. Texts name the fields of `checked()`.
template <any_request R>
struct recorded_form {
  R made;
  const R& sent() const noexcept { return made; }
  const R& checked() const noexcept { return made; }
  auto check(const device& gpu) const { return library_access(gpu).check_for_later(made); }
};
template <ready_request R>
struct recorded_form<R> {
  explicit recorded_form(const R& r) : made(r), as(r.to_request()) {}
  R made;
  sent_as<R> as;
  const sent_as<R>& sent() const noexcept { return as; }
  const auto& checked() const noexcept { return troupe::detail::ready_and_sent<R>{made, as}.checked(); }
  auto check(const device& gpu) const { return library_access(gpu).check_for_later(made, as); }
};

}  // namespace detail

template <any_request R>
class recorded_step final : public step {
 public:
  static result<std::shared_ptr<const step>> make(const device& gpu, const R& r) {
    auto out = std::make_shared<recorded_step>(r);
    const auto& sent = out->request_.sent();
    if (const std::string why = detail::why_not_recorded(sent); !why.empty())
      return detail::refusal(name_of<R>(), "cannot be part of a graph, because " + why, reaction::unsupported);
    auto touched = out->request_.check(gpu);
    if (!touched) return touched.error();
    out->accesses_ = std::move(*touched);
    std::remove_cvref_t<decltype(sent)>::visit_fields(sent, [&](std::string_view, const auto&... f) {
      ((detail::collect_program(f, out->programs_), detail::add_name(f, out->about_)), ...);
    });
    return std::shared_ptr<const step>(std::move(out));
  }
  explicit recorded_step(const R& r) : request_{r} {}

  const request_info& info() const noexcept override { return troupe::detail::info_of<R>; }
  std::size_t blob_bytes() const noexcept override { return troupe::blob_bytes(request_.sent()); }
  void encode(std::byte* payload, blob_cursor blob) const noexcept override {
    troupe::encode(request_.sent(), payload, blob);
  }
  std::string describe() const override { return troupe::describe(request_.made); }

  std::string operand_at(const memory_range& r) const override {
    const auto& checked = request_.checked();
    using checked_request = std::remove_cvref_t<decltype(checked)>;
    std::string found;
    const auto look = [&]<class F>(const F& field) {
      if constexpr (operands_in<F>::any)
        operands_in<F>::visit(field, [&](const void* place, const memory_range& m, std::uint64_t bytes, access_mode) {
          if (found.empty() && m.address < r.address + r.bytes && r.address < m.address + m.bytes)
            found = field_name<checked_request>(&checked, place) + ", " + detail::operand_text(field, place, m, bytes);
        });
    };
    checked_request::visit_fields(checked, [&](std::string_view, const auto&... f) { (look(f), ...); });
    return found;
  }

  result<std::shared_ptr<const step>> rebound(const device& gpu, const rebinding& r) const override {
    R moved = request_.made;
    bool any = false;
    std::string wrong, field;
    R::visit_fields(moved, [&](std::string_view names, auto&... f) {
      std::size_t i = 0;
      const auto one = [&](auto& x) {
        const bool fine = wrong.empty();
        any |= detail::rebind_field(x, r, wrong);
        if (fine && !wrong.empty()) field = nth_name(names, i);
        ++i;
      };
      (one(f), ...);
    });
    if (!wrong.empty()) return detail::refusal(name_of<R>(), field + " " + wrong);
    if (!any) return std::shared_ptr<const step>();
    return make(gpu, moved);
  }

 private:
  detail::recorded_form<R> request_;
};

}  // namespace troupe::graph
