// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/completion/on_answer.hpp>
#include <troupe/device/completion/transfer.hpp>
#include <troupe/device/core/device_access.hpp>
#include <troupe/device/transfers/allocation.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::detail {

namespace {

error no_room(std::uint64_t bytes) {
  return error::retry_later("memory", ENOMEM,
                            cat("download: the application has no memory for a vector of ", bytes, " bytes"));
}

}  // namespace

void download(const device& gpu, const memory_range& from, pending_core& state, request_link& link,
              download_place where, download_finish finish, const call_options& o) {
  const std::shared_ptr<device_core>& core = device_access::core(gpu);
  if (core->admission.left()) {
    const error why = core->admission.refusal();
    return finish(state, &why);
  }
  const auto& scope = device_access::scope(gpu);
  const extent bytes = from.bytes;
  auto answer = new_answer(core);
  auto held = ref<pending_core>::share(&state);
  if (from.bytes <= core->staging.one_request) {
    const memory_range stage = from.bytes == 0 ? memory_range{} : allocate(*core, memory_kind::host, bytes, 1, {});
    const memory::download r{
        .source = in<std::byte>(from), .target = out<std::byte>(from.bytes == 0 ? from : stage), .bytes = bytes};
    checker c(r, &core->memory, core->memory.generation());
    r.check(c);
    core->mailbox.submit(info_of<memory::download>, &r, c, answer.get(), &link, o, scope);
    if (link.ticket != 0) core->downloads.begin(link.ticket);
    when_answered(answer,
                  [core = core.get(), ticket = link.ticket, held, where, finish, stage](const result<void>& done) {
                    std::byte* to = done ? where(*held, stage.bytes) : nullptr;
                    const bool is_empty = done && stage.bytes == 0;  // the pointer may be null if there are no bytes
                    if (to != nullptr && !is_empty) std::memcpy(to, stage.owner->host, stage.bytes);
                    if (to != nullptr || is_empty) {
                      finish(*held, nullptr);
                    } else {
                      const error why = done ? no_room(stage.bytes) : done.error();
                      finish(*held, &why);
                    }
                    core->downloads.end(ticket);
                  });
    return;
  }
  const staging_plan plan = staging_plan::for_bytes(from.bytes, core->staging);
  const memory_range stage = allocate(*core, memory_kind::host, plan.block_bytes(), 1, {});
  const memory::stream_out r{.source = in<std::byte>(from),
                             .bytes = bytes,
                             .staging = stage.address,
                             .chunk_bytes = plan.chunk_bytes,
                             .chunks = plan.chunks};
  checker c(r, &core->memory, core->memory.generation());
  r.check(c);
  if (stage.address == 0)
    c.fail(*why_stale(stage));
  else
    std::construct_at(reinterpret_cast<staging_header*>(stage.owner->host));
  if (c.finish()) {
    core->mailbox.submit(info_of<memory::stream_out>, &r, c, answer.get(), &link, o,
                         scope);  // refuses the failed range with its cause
    return finish(state, &answer->take().error());
  }
  std::byte* to = where(state, from.bytes);
  if (to == nullptr) {
    const error nowhere = no_room(from.bytes);
    return finish(state, &nowhere);
  }
  auto moving = std::make_shared<transfer>(stage.owner, plan, core->staging.piece, to, answer,
                                           transfer::caller{std::move(held), finish});
  core->downloads.add(moving);  // first, so that recovery finds the download as soon as its request is sent
  core->mailbox.submit(info_of<memory::stream_out>, &r, c, answer.get(), &link, o, scope, stage.owner);
  moving->ticket = link.ticket;
  if (link.ticket != 0) core->downloads.begin(link.ticket);
  core->to_reactor.wake();
  when_answered(answer, [moving](const result<void>& done) { moving->request_answered(done); });
  core->completion.drive();
}

pending<void> download(const device& gpu, const memory_range& from, std::span<std::byte> to, const call_options& o) {
  struct into_span final : asked<void> {
    using asked::asked;
    std::byte* to = nullptr;
  };
  if (to.size() < from.bytes) {
    return make_ready<void>(error(reaction::caller_bug, "memory",
                                  cat("download: the span holds ", to.size(), " bytes; expected at least ", from.bytes,
                                      ", the size of the buffer (or download a slice of it)")));
  }
  auto state = ref<into_span>::adopt(new into_span(device_access::core(gpu)));
  state->to = to.data();
  download(
      gpu, from, *state, state->link,
      [](pending_core& s, std::size_t) noexcept { return static_cast<into_span&>(s).to; },
      [](pending_core& s, const error* why) noexcept {
        auto& self = static_cast<into_span&>(s);
        if (why != nullptr)
          self.complete(*why);
        else
          self.complete({});
      },
      o);
  return pending<void>(std::move(state));
}

}  // namespace troupe::detail
