// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/request/request_refusal.hpp>

namespace troupe {

void request_refusal::refuse(const void* field, std::string_view value, std::string_view expected) {
  if (why_) return;
  std::string text(name_);
  text.append(": ").append(field_name(field)).append(" ").append(value).append("; expected ").append(expected);
  why_.emplace(error::details{.reaction = reaction::caller_bug,
                              .domain = "request",
                              .text = std::move(text),
                              .request = {std::string(name_), 0}});
}

void request_refusal::refuse_less(const void* field, extent value, extent low, std::string_view hint) {
  std::string expected = "at least " + detail::text(low);
  if (low.overflowed()) expected = "a shape whose size fits 64 bits";
  refuse(field, "is " + detail::text(value), expected.append(hint));
}

void request_refusal::refuse_short(const operand_use& u, extent count, std::string_view shape) {
  const std::uint64_t have = u.range->bytes / u.element_bytes;
  const std::string holds = cat("holds ", have, u.element_bytes == 1 ? " byte" : " element", have == 1 ? "" : "s");
  if (!count.overflowed()) return refuse(u.field, holds, "at least " + detail::text(count).append(shape));
  const std::string_view product = shape.empty() ? "it" : shape.substr(2, shape.size() - 3);  // without " (" and ")"
  refuse(u.field, cat(holds, ", and the size asked for is too large: ", product, " does not fit 64 bits"),
         cat("at most ", have));
}

void request_refusal::refuse_unknown(const void* field, std::int64_t value, std::string_view names) {
  refuse(field, cat("is ", value), detail::joined_with_or(names));
}

void request_refusal::blame(std::string_view what) {
  if (!why_)
    why_.emplace(error::details{.reaction = reaction::fatal,
                                .domain = "request",
                                .text = std::string(name_).append(": its check() ").append(what),
                                .request = {std::string(name_), 0}});
}

void request_refusal::pass_on(const error& cause, bool is_stale) {
  fail(cause.passed_on_to({std::string(name_), 0}), is_stale);
}

// A request adds its name only to an error that names none yet: otherwise each refusal would add one to the stale
// data's error.
void request_refusal::refuse_to_keep(const void* field, const error& cause) {
  if (why_) return;
  constexpr std::string_view keeps_the_rest = " and keeps the rest, so all of ";
  error::details why = cause.passed_on_to({std::string(name_), 0}).all();
  if (why.text.find(keeps_the_rest) == std::string::npos)
    why.text += cat("; ", name_, " writes only a part of ", field_name(field), keeps_the_rest, field_name(field),
                    " must be valid: upload or fill it first");
  fail(error(std::move(why)), true);
}

}  // namespace troupe
