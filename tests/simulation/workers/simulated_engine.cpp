// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "simulated_engine.hpp"

#include <csignal>
#include <troupe/memory/requests.hpp>

#include <tests/simulation/requests.hpp>
#include "simulated_worker.hpp"

namespace troupe::simulation {
namespace {

using simulated::hash_of_words;
using simulated::word;

/// Each request reads everything, writes one half, then the other, with other steps before, between and after.
struct engine {
  simulated_worker& worker;

  static error gone() { return error(reaction::fatal, "simulation", "the worker is dead"); }

  template <class T, access_mode M>
  bool reach(const operand<T, M>& o) {
    return reach(o.range().address, o.range().bytes);
  }
  bool reach(std::uint64_t address, std::uint64_t bytes) {
    if (!worker.has_mapped(address, bytes)) worker.environment().record.fail("a request ran without its memory");
    return true;
  }
  void meanwhile() { worker.environment().run_meanwhile(worker); }

  template <class Work>
  result<std::uint64_t> run_in_steps(call& c, Work&& work) {
    if (worker.dead) return gone();
    worker.environment().request_started(c.ticket, worker);
    meanwhile();
    if (worker.dead) return gone();
    auto answer = work([&](std::span<word> to, std::span<const word> values) {
      if (!worker.can_write(reinterpret_cast<std::uint64_t>(to.data()), to.size_bytes())) {
        worker.environment().wrote_read_only_memory(c.ticket, worker);
        worker.die({exit_status::ending::signalled, SIGSEGV});
        return false;
      }
      const std::size_t half = values.size() / 2;
      std::copy_n(values.begin(), half, to.begin());
      meanwhile();
      if (worker.dead) return false;
      std::copy(values.begin() + static_cast<std::ptrdiff_t>(half), values.end(),
                to.begin() + static_cast<std::ptrdiff_t>(half));
      meanwhile();
      return !worker.dead;
    });
    if (worker.dead) return gone();
    if (answer)
      worker.environment().request_finished(c.ticket, worker);
    else
      worker.environment().request_failed(c.ticket, worker);
    return answer;
  }
  template <class Work>
  result<void> run_silently(call& c, Work&& work) {
    auto answer = run_in_steps(c, std::forward<Work>(work));
    return answer ? result<void>() : result<void>(answer.error());
  }
  static std::vector<word> words_of(const in<word>& o, extent n) { return {o.data(), o.data() + n.value()}; }

  result<void> move(call& c, const in<std::byte>& from, const out<std::byte>& to, extent bytes) {
    return run_silently(c, [&](auto write) -> result<std::uint64_t> {
      const auto n = static_cast<std::size_t>(bytes.value()) / sizeof(word);
      if (!reach(from) || !reach(to)) return gone();
      const auto* source = reinterpret_cast<const word*>(from.data());
      const std::vector<word> values(source, source + n);
      return write(std::span(reinterpret_cast<word*>(to.data()), n), values) ? result<std::uint64_t>(0) : gone();
    });
  }
  result<void> run(const memory::upload& r, call& c) { return move(c, r.source, r.target, r.bytes); }
  result<void> run(const memory::download& r, call& c) { return move(c, r.source, r.target, r.bytes); }
  result<void> run(const memory::copy& r, call& c) { return move(c, r.source, r.target, r.bytes); }
  result<void> run(const memory::fill& r, call& c) {
    return run_silently(c, [&](auto write) -> result<std::uint64_t> {
      if (!reach(r.target)) return gone();
      const auto n = static_cast<std::size_t>(r.bytes.value()) / sizeof(word);
      word one = 0;
      if (r.pattern_bytes == extent(sizeof one)) std::memcpy(&one, r.pattern.data(), sizeof one);
      const std::vector<word> values(n, one);
      return write(std::span(reinterpret_cast<word*>(r.target.data()), n), values) ? result<std::uint64_t>(0) : gone();
    });
  }
  // Like the host's engine.
  static word* words_at(std::uint64_t address) { return reinterpret_cast<word*>(address); }
  template <class R>
  static staging_plan plan_of(const R& r) {
    return {static_cast<std::uint64_t>(r.bytes.value()), static_cast<std::uint64_t>(r.chunk_bytes.value()),
            static_cast<std::uint64_t>(r.chunks.value())};
  }
  template <class Ready>
  bool await(call& c, Ready&& ready) {
    while (!worker.dead && !ready()) worker.environment().await_application(c.ticket, worker);
    return !worker.dead;
  }
  result<void> run(const memory::stream_in& r, call& c) {
    if (!reach(r.target) || !reach(r.progress) || !reach(r.staging, sizeof(sent_header))) return gone();
    auto& from = *reinterpret_cast<sent_header*>(r.staging);
    auto& h = *reinterpret_cast<staging_header*>(r.progress.data());
    const staging_plan plan = plan_of(r);
    const in_transfer here(worker, h);
    return run_silently(c, [&](auto write) -> result<std::uint64_t> {
      for (std::uint64_t i = 0; i < plan.count(); ++i) {
        if (!await(c, [&] { return from.filled.load() > i; })) return gone();
        const std::span<const word> chunk(reinterpret_cast<const word*>(plan.chunk(&from, i)),
                                          plan.size(i) / sizeof(word));
        std::vector<word> values;
        for (const word w : chunk) {
          values.push_back(w);
          meanwhile();
          if (worker.dead) return gone();
        }
        if (!write(std::span(words_at(r.target.range().address + i * plan.chunk_bytes), values.size()), values))
          return gone();
        if (from.begun.load() > i + plan.chunks) {
          worker.environment().chunk_was_overwritten(c.ticket, worker);
          return error(reaction::retry_later, "simulation", "a chunk was overwritten");
        }
        h.step(h.emptied, i + 1);
        meanwhile();
        if (worker.dead) return gone();
      }
      return 0;
    });
  }
  result<void> run(const memory::stream_out& r, call& c) {
    if (!reach(r.source) || !reach(r.staging, sizeof(staging_header))) return gone();
    auto& h = *reinterpret_cast<staging_header*>(r.staging);
    const staging_plan plan = plan_of(r);
    const in_transfer here(worker, h);
    return run_silently(c, [&](auto write) -> result<std::uint64_t> {
      for (std::uint64_t i = 0; i < plan.count(); ++i) {
        if (!await(c, [&] { return h.emptied.load() + plan.chunks > i; })) return gone();
        const word* const source = words_at(r.source.range().address + i * plan.chunk_bytes);
        const std::vector<word> values(source, source + plan.size(i) / sizeof(word));
        if (!write(std::span(reinterpret_cast<word*>(plan.chunk(&h, i)), values.size()), values)) return gone();
        h.step(h.filled, i + 1);
        meanwhile();
        if (worker.dead) return gone();
      }
      return 0;
    });
  }
  struct in_transfer {
    in_transfer(simulated_worker& of, staging_header& h) : w(of), mine(&h) { w.transfers.push_back(mine); }
    ~in_transfer() { std::erase(w.transfers, mine); }
    simulated_worker& w;
    staging_header* mine;
  };
  result<void> run(const memory::seal& r, call& c) { return protect(c, r.target.range(), r.bytes, true); }
  result<void> run(const memory::unseal& r, call& c) { return protect(c, r.target.range(), r.bytes, false); }
  result<void> protect(call& c, const memory_range& all, extent bytes, bool read_only) {
    return run_silently(c, [&](auto) -> result<std::uint64_t> {
      worker.protect(all.address, static_cast<std::uint64_t>(bytes.value()), read_only);
      meanwhile();
      return worker.dead ? gone() : result<std::uint64_t>(0);
    });
  }
  result<void> run(const memory::fence&, call& c) {
    return run_silently(c, [](auto) -> result<std::uint64_t> { return 0; });
  }
  result<std::uint64_t> run(const memory::ping& r, call& c) {
    return run_in_steps(c, [&](auto) -> result<std::uint64_t> { return r.value; });
  }

  result<std::uint64_t> run(const simulated::add& r, call& c) {
    return run_in_steps(c, [&](auto write) -> result<std::uint64_t> {
      if (!reach(r.x)) return gone();
      std::vector<word> values(r.x.data(), r.x.data() + r.n.value());
      hash_of_words h;
      h.mix(values);
      for (word& v : values) v += r.by;
      return write(std::span(r.x.data(), values.size()), values) ? result<std::uint64_t>(h.value) : gone();
    });
  }
  result<std::uint64_t> run(const simulated::combine& r, call& c) {
    return run_in_steps(c, [&](auto write) -> result<std::uint64_t> {
      if (!reach(r.a) || !reach(r.b) || !reach(r.y)) return gone();
      const std::vector<word> a = words_of(r.a, r.n), b = words_of(r.b, r.n);
      hash_of_words h;
      h.mix(a);
      h.mix(b);
      std::vector<word> values(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) values[i] = 31 * a[i] + b[i];
      return write(std::span(r.y.data(), values.size()), values) ? result<std::uint64_t>(h.value) : gone();
    });
  }
  result<std::uint64_t> run(const simulated::gather& r, call& c) {
    return run_in_steps(c, [&](auto write) -> result<std::uint64_t> {
      hash_of_words h;
      std::vector<word> sum{0};
      for (const auto& p : r.parts) {
        if (!reach(p)) return gone();
        h.mix(std::span(p.data(), 1));
        sum[0] += p.data()[0];
      }
      if (!reach(r.y)) return gone();
      return write(std::span(r.y.data(), 1), sum) ? result<std::uint64_t>(h.value) : gone();
    });
  }
  result<std::uint64_t> run(const simulated::look& r, call& c) {
    return run_in_steps(c, [&](auto) -> result<std::uint64_t> {
      if (!reach(r.a)) return gone();
      hash_of_words h;
      h.mix(words_of(r.a, r.n));
      return h.value;
    });
  }
  result<std::uint64_t> run(const simulated::spoil& r, call& c) {
    return run_in_steps(c, [&](auto write) -> result<std::uint64_t> {
      if (!reach(r.y)) return gone();
      const std::vector<word> half(static_cast<std::size_t>(r.n.value() + 1) / 2, 0xbad);
      if (!write(std::span(r.y.data(), half.size()), half)) return gone();
      return error(reaction::unsupported, "simulation", "spoiled");
    });
  }
};

struct holder : troupe_engine {
  engine work;
  std::vector<troupe_engine_operation> all;
};

template <class Request>
bool run_all(void* state, const void* const* payloads, const troupe_engine_call* calls, std::uint32_t count,
             troupe_engine_failure* failure, bool in_order) {
  simulated_worker& w = static_cast<engine*>(state)->worker;
  for (std::uint32_t i = 0; i < count; ++i) w.environment().request_joined_call(calls[i].ticket, w);
  bool ok = true;
  for (std::uint32_t n = 0; n < count; ++n) {
    const std::uint32_t i = in_order ? n : count - 1 - n;
    ok &= detail::run_operation<engine, Request>(state, payloads[i], &calls[i], failure);
  }
  return ok || w.dead;
}
bool run_adds(void* state, const void* const* payloads, const troupe_engine_call* calls, std::uint32_t count,
              troupe_engine_failure* failure) {
  return run_all<simulated::add>(state, payloads, calls, count, failure, false);
}
// Returns various numbers, so that calls are cut at various places.
std::uint64_t kind_of_combine(const void* payload) {
  return 1 + static_cast<std::uint64_t>(decode<simulated::combine>(static_cast<const std::byte*>(payload)).n.value());
}
// Some requests must run alone.
bool run_combines(void* state, const void* const* payloads, const troupe_engine_call* calls, std::uint32_t count,
                  troupe_engine_failure* failure) {
  if (calls[0].ticket % 4 != 0) return run_all<simulated::combine>(state, payloads, calls, count, failure, true);
  simulated_worker& w = static_cast<engine*>(state)->worker;
  for (std::uint32_t i = 0; i < count; ++i) w.environment().request_left_call(calls[i].ticket, w);
  return false;
}

}  // namespace

const troupe_engine& make_engine(simulated_worker& w) {
  const auto operations =
      operations_of<engine, uploads<memory::upload>, downloads<memory::download>, memory::copy, memory::fill,
                    uploads<memory::stream_in>, downloads<memory::stream_out>, memory::seal, memory::unseal,
                    fences<memory::fence>, memory::ping, simulated::add, simulated::combine, simulated::gather,
                    simulated::look, slow<simulated::spoil>>();
  auto* h = new holder{{.abi = troupe_engine_abi,
                        .library = "simulated",
                        .backend = "simulated",
                        .version = "1",
                        .operations = nullptr,
                        .operation_count = static_cast<std::uint32_t>(operations.size()),
                        .state = nullptr,
                        .close = [](const troupe_engine* self) { delete static_cast<const holder*>(self); },
                        .notes = nullptr},
                       {w},
                       {operations.begin(), operations.end()}};
  // Adds may share a call, in any order; so may those that combine, in their own.
  for (troupe_engine_operation& o : h->all) {
    o.in_order = o.opcode == opcode_of<simulated::combine> ? 1 : 0;
    if (o.in_order == 0 && o.opcode != opcode_of<simulated::add>) continue;
    o.group = o.in_order != 0 ? &kind_of_combine : [](const void*) -> std::uint64_t { return 1; };
    o.run_group = o.in_order != 0 ? &run_combines : &run_adds;
  }
  h->operations = h->all.data();
  h->state = &h->work;
  return *h;
}

}  // namespace troupe::simulation
