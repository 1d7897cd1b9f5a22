// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/dnn/onednn/primitive_list.hpp>

namespace troupe::dnn::onednn {
namespace {

std::uint64_t bytes_of(const layout& l) noexcept { return round_up(calls().bytes_of_layout(&l), 64); }

}  // namespace

attributes user_scratchpad_attributes() {
  dnnl_primitive_attr_t made = nullptr;
  if (calls().create_attributes(&made) != dnnl_success) return {};
  attributes out(made);
  if (calls().set_scratchpad(made, dnnl_scratchpad_mode_user) != dnnl_success) return {};
  return out;
}

primitive_list::tensor primitive_list::add_intermediate(const layout& format) {
  const std::uint64_t at = intermediate_bytes_;
  intermediate_bytes_ += bytes_of(format);
  return {format, std::nullopt, at};
}

std::optional<primitive_list::tensor> primitive_list::with_layout(const tensor& t, const layout& format) {
  if (calls().layouts_equal(&t.format, &format) != 0) return t;
  const tensor copied = add_intermediate(format);
  if (!copy(t, copied)) return std::nullopt;
  return copied;
}

bool primitive_list::copy(const tensor& from, const tensor& to) {
  const onednn::attributes attributes = user_scratchpad_attributes();
  dnnl_primitive_desc_t made = nullptr;
  if (!attributes ||
      calls().describe_reorder(&made, &from.format, on_, &to.format, on_, attributes.get()) != dnnl_success)
    return false;
  return add(description(made), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

bool primitive_list::add(const description& what, std::vector<operand> operands) {
  dnnl_primitive_t made = nullptr;
  if (calls().create_primitive(&made, what.get()) != dnnl_success) return false;
  const layout* const scratch = calls().query_layout(what.get(), dnnl_query_scratchpad_md, 0);
  steps_.push_back({primitive(made), std::move(operands), scratch != nullptr ? *scratch : layout{}});
  scratch_bytes_ = std::max(scratch_bytes_, bytes_of(steps_.back().scratch));
  return true;
}

dnnl_status_t primitive_list::run(dnnl_stream_t in, std::span<void* const> arguments, std::byte* workspace) const {
  constexpr std::size_t most = 8;
  for (const step& s : steps_) {
    std::array<memory, most> held;
    std::array<dnnl_exec_arg_t, most> all{};
    std::size_t n = 0;
    dnnl_status_t status = dnnl_success;
    const auto add_argument = [&](int name, const layout& format, void* at) {
      if (status != dnnl_success) return;
      dnnl_memory_t made = nullptr;
      status = n < most ? calls().create_memory(&made, &format, on_, at) : dnnl_runtime_error;
      if (status != dnnl_success) return;
      held[n].reset(made);
      all[n++] = {name, made};
    };
    for (const operand& o : s.operands)
      add_argument(o.name, o.what.format, o.what.argument ? arguments[*o.what.argument] : workspace + o.what.offset);
    if (calls().bytes_of_layout(&s.scratch) != 0)
      add_argument(DNNL_ARG_SCRATCHPAD, s.scratch, workspace + intermediate_bytes_);
    if (status == dnnl_success) status = calls().execute(s.what.get(), in, static_cast<int>(n), all.data());
    if (status != dnnl_success) return status;
  }
  return dnnl_success;
}

}  // namespace troupe::dnn::onednn
