// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/async/promise.hpp>
#include <troupe/kernel/internal/listing.hpp>
#include <troupe/kernel/program_of.hpp>
#include <troupe/kernel/requests.hpp>
#include <troupe/request/encoding/describe.hpp>

/// Defines the functions that the program handles of all libraries share.
namespace troupe::kernel {

inline std::optional<error> why_unusable(const program& p, std::string_view request) {
  std::string wrong;
  if (!p)
    wrong = "the program is empty (default-constructed, or moved from); expected a program returned by compile or load";
  else if (p.core()->unloaded())
    wrong = p.core()->name() + " was unloaded; compile or load it again";
  else
    return std::nullopt;
  return error(error::details{.reaction = reaction::caller_bug,
                              .domain = "kernel",
                              .text = std::string(request) + ": " + wrong,
                              .request = {std::string(request), 0}});
}

/// Tells a worker to build a program, by the request "LIBRARY.VERB".
template <fixed_string Library, fixed_string Verb>
program made_by(const device& gpu, const std::string& name, std::string_view recipe, std::uint64_t log_bytes) {
  const auto core = std::make_shared<program_core>(gpu, name, recipe, log_bytes, [](const program_core& last) {
    // The reply is not awaited: if the device has stopped or its mailbox is full, the worker keeps the program until
    // the worker ends.
    (void)last.gpu().tell(unload<Library>{.root = out<std::byte>(last.root()), .state = out<std::byte>(last.state())},
                          {.waits_for_room = false});
  });
  // Sent with tell: if it is refused, the program's memory becomes stale, with the reason as the cause.
  (void)gpu.tell(make_program<Library, Verb>{.recipe = in<std::byte>(core->recipe()),
                                             .root = out<std::byte>(core->root()),
                                             .state = out<std::byte>(core->state_and_log())});
  return program(core);
}
/// Returns a program for which every request is refused with `why`.
inline program refused(const device& gpu, const std::string& name, const error& why) {
  return program(std::make_shared<program_core>(gpu, name, why));
}

template <fixed_string Library>
pending<build_summary> program_of<Library>::summary() const {
  using request = read_summary<Library>;
  if (auto why = why_unusable(*this, name_of<request>())) return make_ready<build_summary>(*why);
  return core()->gpu().ask(request{.recipe = in<std::byte>(core()->recipe()),
                                   .state = inout<std::byte>(core()->state()),
                                   .root = core()->root().address});
}

template <fixed_string Library>
pending<void> program_of<Library>::ready() const {
  return summary().then([core = core()](const result<build_summary>& r) -> result<void> {
    if (r) return {};
    return core ? core->with_log(r.error()) : r.error();
  });
}

/// Asks again with a larger buffer if the reply did not fit. Every worker returns the same size.
template <class Request>
void ask_attributes(const program& p, const std::string& kernel, extent capacity, promise<attributes> answer,
                    bool last = false) {
  const device& gpu = p.core()->gpu();
  auto listing = gpu.alloc_host<std::byte>(capacity);
  auto asked = gpu.ask(Request{.root = in<std::byte>(p.core()->root()), .kernel = kernel, .listing = listing});
  std::move(asked).then(
      [p, kernel, capacity, last, listing,
       answer = std::make_shared<promise<attributes>>(std::move(answer))](const result<attributes_head>& head) {
        if (!head) return void(answer->set(head.error()));
        if (extent(head->listing_bytes) > capacity && !last)
          return ask_attributes<Request>(p, kernel, head->listing_bytes, std::move(*answer), true);
        auto read = unpack_listing(*head, {reinterpret_cast<const char*>(listing.data()), listing.bytes()});
        if (!read)
          return void(answer->set(error(reaction::fatal, "kernel",
                                        "the worker's list of the parameters of kernel " + kernel +
                                            " cannot be read; report this defect of Troupe")));
        answer->set(std::move(*read));
      });
}
template <fixed_string Library>
pending<attributes> program_of<Library>::attributes(const std::string& kernel) const {
  using request = read_attributes<Library>;
  if (auto why = why_unusable(*this, name_of<request>())) return make_ready<troupe::kernel::attributes>(*why);
  promise<troupe::kernel::attributes> answer;
  auto answered = answer.get_pending();
  ask_attributes<request>(*this, kernel, 4096, std::move(answer));
  return answered;
}

template <fixed_string Library>
pending<occupancy> program_of<Library>::occupancy(const std::string& kernel, const dimensions& block,
                                                  extent shared_bytes, const dimensions& cluster) const {
  using request = read_occupancy<Library>;
  if (auto why = why_unusable(*this, name_of<request>())) return make_ready<troupe::kernel::occupancy>(*why);
  return core()->gpu().ask(request{.root = in<std::byte>(core()->root()),
                                   .kernel = kernel,
                                   .block = block,
                                   .shared_bytes = shared_bytes,
                                   .cluster = cluster});
}

template <fixed_string Library>
pending<void> program_of<Library>::unload() const {
  using request = troupe::kernel::unload<Library>;
  if (auto why = why_unusable(*this, name_of<request>())) return make_ready<void>(*why);
  if (!core()->claim_unload()) return make_ready<void>(*why_unusable(*this, name_of<request>()));
  auto asked =
      core()->gpu().ask(request{.root = out<std::byte>(core()->root()), .state = out<std::byte>(core()->state())});
  // If the request was refused, for example because the mailbox was full, the program is still loaded.
  return std::move(asked).then([core = core()](const result<void>& r) {
    if (!r && r.error().reaction() == reaction::retry_later)
      core->cancel_unload();
    else
      core->mark_unloaded();
    return r;
  });
}

}  // namespace troupe::kernel
