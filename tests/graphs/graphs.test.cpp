// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Random request graphs against a plain serial interpreter.
//   TROUPE_GRAPHS=10000   sets how many
//   TROUPE_GRAPHS_FROM=n  repeats the graphs of that run
//   TROUPE_SEED=n         runs only the graph of this seed, TROUPE_GRAPHS times (once by default)
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <thread>
#include <troupe/base/compiler/sanitizers.hpp>
#include <troupe/runtime/runtime.hpp>

#include "retry_while_full.hpp"
#include "walker.hpp"

namespace graph_test {
namespace {

#if TROUPE_ADDRESS_SANITIZER || TROUPE_THREAD_SANITIZER
constexpr std::uint64_t usual_count = 150;
#else
constexpr std::uint64_t usual_count = 1512;
#endif

std::optional<std::uint64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? std::optional(std::strtoull(text, nullptr, 0)) : std::nullopt;
}

// A step in the order in which the device must have executed it.
struct event {
  enum class what : std::uint8_t { step, refusal_begins, refusal_ends } what;
  std::size_t thread, index;
};

class graph_run {
 public:
  graph_run(troupe::device gpu, const graph_plan& plan, bool may_be_full)
      : gpu_(std::move(gpu)), plan_(plan), model_(plan, may_be_full) {}

  /// Returns what went wrong; empty if nothing did.
  std::string run() {
    fill_buffers();
    walk();
    std::string wrong = replay();
    return wrong.empty() ? compare() : wrong;
  }

 private:
  void fill_buffers() {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      const buffer_plan& b = plan_.buffers[i];
      buffers_.push_back(held_buffer::make(gpu_, b.bytes, b.host));
      auto& bytes = model_.bytes(static_cast<int>(i));
      bytes = pattern(plan_.seed + i, b.bytes);
      const auto ask = [&] { return gpu_.upload(buffers_[i].bytes, bytes); };
      if (ask().ready()) (void)retry_while_full(ask);  // this early, it may have been refused
    }
  }

  void walk() {
    for (const thread_plan& t : plan_.threads) walkers_.push_back(std::make_unique<walker>(gpu_, t, buffers_, clock_));
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < walkers_.size(); ++i) threads.emplace_back([this, i] { walkers_[i]->walk(); });
    walkers_[0]->walk();
    for (std::thread& t : threads) t.join();
  }

  const step& step_of(const event& e) const { return plan_.threads[e.thread].steps[e.index]; }
  const outcome& outcome_of(const event& e) const { return walkers_[e.thread]->outcomes()[e.index]; }
  static bool asks(const step& s) {
    return s.what != kind::await && s.what != kind::cancel && s.what != kind::renew && s.what != kind::look;
  }

  // Threads that share nothing they write run one after another. Otherwise in mailbox order.
  std::vector<event> order() const {
    std::vector<event> out, accepted;
    for (std::size_t t = 0; t < walkers_.size(); ++t)
      for (std::size_t i = 0; i < plan_.threads[t].steps.size(); ++i) out.push_back({event::what::step, t, i});
    if (!plan_.shared) return out;
    std::copy_if(out.begin(), out.end(), std::back_inserter(accepted),
                 [this](const event& e) { return outcome_of(e).ticket != 0; });
    std::sort(accepted.begin(), accepted.end(),
              [this](const event& x, const event& y) { return outcome_of(x).ticket < outcome_of(y).ticket; });
    // A refusal comes after everything that had been accepted when it was asked, and before everything that was asked
    // after it had been answered.
    std::vector<std::vector<event>> begins(accepted.size() + 1), ends(accepted.size() + 1);
    for (const event& e : out) {
      const outcome& o = outcome_of(e);
      if (o.ticket != 0 || !asks(step_of(e))) continue;
      std::size_t first = 0, last = accepted.size();
      while (first < accepted.size() && outcome_of(accepted[first]).after < o.before) ++first;
      while (last > 0 && outcome_of(accepted[last - 1]).before > o.after) --last;
      begins[std::min(first, last)].push_back({event::what::refusal_begins, e.thread, e.index});
      ends[last].push_back({event::what::refusal_ends, e.thread, e.index});
    }
    out.clear();
    for (std::size_t i = 0; i <= accepted.size(); ++i) {
      const auto by_time = [this](const event& x, const event& y) {
        return outcome_of(x).before < outcome_of(y).before;
      };
      std::sort(begins[i].begin(), begins[i].end(), by_time);
      std::sort(ends[i].begin(), ends[i].end(), by_time);
      // Refusals that begin here come before others that end here:
      // a refusal may be in both lists, or overlap another.
      out.insert(out.end(), begins[i].begin(), begins[i].end());
      out.insert(out.end(), ends[i].begin(), ends[i].end());
      if (i < accepted.size()) out.push_back(accepted[i]);
    }
    return out;
  }

  std::string replay() {
    done_ = order();
    std::map<std::pair<std::size_t, std::size_t>, int> refusals;
    std::vector<std::uint64_t> last(walkers_.size());
    for (std::size_t n = 0; n < done_.size(); ++n) {
      const event& e = done_[n];
      const step& s = step_of(e);
      const outcome& o = outcome_of(e);
      std::string wrong;
      switch (e.what) {
        case event::what::step:
          if (o.ticket != 0 && o.ticket <= std::exchange(last[e.thread], o.ticket))
            wrong = "its ticket is not above those of earlier requests";
          else
            wrong = model_.run(s, o);
          break;
        case event::what::refusal_begins:
          refusals[{e.thread, e.index}] = model_.begin_refusal(s, o);
          break;
        case event::what::refusal_ends:
          wrong = model_.end_refusal(refusals[{e.thread, e.index}]);
          break;
      }
      if (!wrong.empty()) return wrong + "\n" + around(n);
    }
    return {};
  }

  // The memory as a whole, once everything has been answered.
  std::string compare() {
    if (auto all = retry_while_full([this] { return gpu_.sync(); }); !all) return "sync: " + all.error().to_string();
    std::string wrong;
    for (int b = 0; b < static_cast<int>(buffers_.size()) && wrong.empty(); ++b) {
      int looks = 0;
      model_.runs(b, [&](std::size_t first, std::size_t count, interpreter::condition c) {
        if (wrong.empty() && ++looks <= 12) wrong = compare(b, first, count, c);
      });
      if (!wrong.empty()) wrong += "\n" + writers(b);
    }
    return wrong;
  }

  std::string compare(int b, std::size_t first, std::size_t count, interpreter::condition c) {
    const held_buffer& held = buffers_[static_cast<std::size_t>(b)];
    const auto part = held.bytes.slice(first, count);
    const std::string where = "buffer #" + std::to_string(b) + ", bytes " + std::to_string(first) + " to " +
                              std::to_string(first + count) + ": ";
    if (c == interpreter::condition::unknown) return {};
    const auto cause = part.cause();
    if (c == interpreter::condition::spoiled) {
      if (!cause) return where + "valid, but was spoiled";
      return model_.explains({b, first, count}, *cause) ? std::string()
                                                        : where + "stale for another reason: " + cause->to_string();
    }
    if (cause) return where + "stale, but nothing has spoiled it: " + cause->to_string();
    auto seen = gpu_.download(part).get();
    if (!seen) return where + "cannot be read: " + seen.error().to_string();
    if (held.host && !std::equal(seen->begin(), seen->end(), held.host.begin() + first))
      return where + "the application sees other bytes than the device";
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte expected = model_.bytes(b)[first + i];
      if ((*seen)[i] != expected)
        return where + "byte " + std::to_string(first + i) + " is " + std::to_string(std::to_integer<int>((*seen)[i])) +
               "; expected " + std::to_string(std::to_integer<int>(expected));
    }
    return {};
  }

  std::string line(std::size_t n) const {
    const event& e = done_[n];
    const outcome& o = outcome_of(e);
    std::string out =
        "  thread " + std::to_string(e.thread) + ", ticket " + std::to_string(o.ticket) + ": " + describe(step_of(e));
    if (e.what != event::what::step)
      out += e.what == event::what::refusal_begins ? " [may be refused from here]" : " [was refused before]";
    return out + (!o.answered ? " -> not answered" : o.why ? " -> " + o.why->to_string() : " -> ok") + "\n";
  }
  std::string around(std::size_t n) const {
    std::string out;
    const step& s = step_of(done_[n]);
    // The steps that used the same buffers before, and the step itself.
    for (std::size_t i = n >= 400 ? n - 400 : 0; i <= n; ++i) {
      const step& other = step_of(done_[i]);
      const auto shares = [&](const use& x) {
        const auto uses = uses_of(s);
        return std::any_of(uses.begin(), uses.end(), [&](const use& y) { return x.where.buffer == y.where.buffer; });
      };
      const auto uses = uses_of(other);
      const bool near = i + 4 > n || other.what == kind::renew || std::any_of(uses.begin(), uses.end(), shares);
      if (near) out += line(i);
    }
    return out;
  }
  std::string writers(int b) const {
    std::string out;
    for (std::size_t i = 0; i < done_.size(); ++i) {
      const auto uses = uses_of(step_of(done_[i]));
      if (std::any_of(uses.begin(), uses.end(), [b](const use& u) { return u.where.buffer == b; })) out += line(i);
    }
    return out;
  }

  troupe::device gpu_;
  const graph_plan& plan_;
  interpreter model_;
  std::vector<held_buffer> buffers_;
  std::vector<std::unique_ptr<walker>> walkers_;
  std::vector<event> done_;
  std::atomic<std::uint64_t> clock_{1};
};

std::string run_graph(const troupe::device& gpu, std::uint64_t seed, const troupe::device_options& options) {
  const graph_plan plan = plan_of(seed);
  std::string wrong = graph_run(gpu, plan, options.when_full == troupe::when_full::refuse).run();
  if (wrong.empty()) return {};
  return "TROUPE_SEED=" + std::to_string(seed) + " (" + std::to_string(plan.threads.size()) + " threads" +
         (plan.shared ? " that share buffers" : "") + ", " + describe(options) + ")\n" + wrong;
}

TEST(request_graphs, leave_the_same_memory_as_a_serial_interpreter) {
  const auto replayed = number_from("TROUPE_SEED");
  const std::uint64_t count = number_from("TROUPE_GRAPHS").value_or(replayed ? 1 : usual_count);
  const std::uint64_t base =
      replayed.value_or(number_from("TROUPE_GRAPHS_FROM")
                            .value_or(std::random_device()() * std::uint64_t{0x100000001} ^ std::random_device()()));
  std::cout << count << (replayed ? " times the graph of seed " : " graphs from seed ") << base << std::endl;

  const auto began = std::chrono::steady_clock::now();
  troupe::runtime rt;
  std::uint64_t graphs = 0, failures = 0;
  for (std::uint64_t set = 0; set < option_sets && failures < 3; ++set) {
    if (replayed && *replayed % option_sets != set) continue;
    troupe::device_options options = options_of(set);
    options.engine_folders = {GRAPH_ENGINE_FOLDER};
    options.libraries = {"flow"};
    const troupe::device gpu = rt.open_device(options);
    // If all threads spin and outnumber the processors, they take long: fewer graphs there.
    const bool spins = options.wait == troupe::wait_policy::latency;
    const std::uint64_t few = std::max<std::uint64_t>(1, count / (10 * option_sets)), spinning = few * option_sets / 3;
    const std::uint64_t many = count > spinning ? (count - spinning) * 3 / (2 * option_sets) + 1 : 1;
    const std::uint64_t here = replayed ? count : std::min(spins ? few : many, count - graphs);
    random seeds(base + set);
    const auto set_began = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < here && failures < 3; ++i, ++graphs) {
      const std::uint64_t seed = replayed ? *replayed : (seeds.next() >> 8) / option_sets * option_sets + set;
      const std::string wrong = run_graph(gpu, seed, options);
      if (wrong.empty()) continue;
      ++failures;
      ADD_FAILURE() << wrong;
    }
    if (std::getenv("TROUPE_GRAPHS_VERBOSE") != nullptr)
      std::cout << set << ": "
                << std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - set_began).count() /
                       static_cast<double>(here)
                << " ms each; " << describe(options) << std::endl;
    const auto closed = gpu.close().get();
    EXPECT_TRUE(closed) << closed.error().to_string() << "\n" << describe(options);
  }
  std::cout << graphs << " graphs in "
            << std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() << " s" << std::endl;
}

}  // namespace
}  // namespace graph_test
