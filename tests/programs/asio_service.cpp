// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A TCP service with Asio: 100 clients over loopback, some of which are late, wrong, or disconnect.
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <troupe/async_asio/adapter.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/faults/faults.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using asio::ip::tcp;

enum class wish : std::int32_t { squares, slow, nonsense };
struct question {
  wish what;
  std::int32_t count;
};
enum class status : std::int32_t { done, late, refused, broken };
struct reply_line {
  status how;
  float value;
};

status status_of(const error& why) {
  if (why.reaction() == reaction::retry_later) return status::late;
  return why.reaction() == reaction::caller_bug ? status::refused : status::broken;
}

asio::awaitable<void> hung_up(tcp::socket& socket) {
  co_await socket.async_wait(tcp::socket::wait_read, asio::use_awaitable);
}

std::atomic<int> gone = 0;

asio::awaitable<void> session(tcp::socket socket, device gpu) {
  try {
    while (true) {
      question q{};
      co_await asio::async_read(socket, asio::buffer(&q, sizeof q), asio::use_awaitable);
      std::vector<float> numbers(static_cast<std::size_t>(q.count));
      co_await asio::async_read(socket, asio::buffer(numbers), asio::use_awaitable);
      auto x = gpu.alloc<float>(numbers.size());
      gpu.upload(x, numbers);
      if (q.what == wish::slow) gpu.tell(faults::hang{.through = x.as<std::byte>(), .milliseconds = 150});
      const extent n = q.what == wish::nonsense ? extent(q.count + 1) : extent(q.count);
      const auto deadline = q.what == wish::slow ? 30ms : 8s;
      auto first = co_await (
          async_get(gpu.ask(blas::dot<float>{.x = x, .y = x, .n = n}, {.timeout = deadline}), asio::use_awaitable) ||
          hung_up(socket));
      if (first.index() == 1) {  // or has sent the next question early, which no client does here
        ++gone;
        co_return;
      }
      const result<float>& sum = std::get<0>(first);
      const reply_line line = sum ? reply_line{status::done, *sum} : reply_line{status_of(sum.error()), 0};
      co_await asio::async_write(socket, asio::buffer(&line, sizeof line), asio::use_awaitable);
    }
  } catch (const std::exception&) {  // the client has disconnected
  }
}

asio::awaitable<void> serve(tcp::acceptor& door, device gpu) {
  while (true) {
    tcp::socket socket = co_await door.async_accept(asio::use_awaitable);
    asio::co_spawn(door.get_executor(), session(std::move(socket), gpu), asio::detached);
  }
}

struct tally {
  int right = 0, late = 0, refused = 0, wrong = 0, left = 0;
};

asio::awaitable<void> client(int id, tcp::endpoint service, tally& all) {
  tcp::socket socket(co_await asio::this_coro::executor);
  co_await socket.async_connect(service, asio::use_awaitable);
  for (int i = 0; i < 10; ++i) {
    const bool leaves = id % 10 == 3 && i == 4, slow = id % 20 == 7 && i == 2, nonsense = id % 10 == 5 && i == 6;
    std::vector<float> numbers(static_cast<std::size_t>(100 + id));
    float expected = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      numbers[k] = static_cast<float>((k * 7 + static_cast<std::size_t>(id + i)) % 9);
      expected += numbers[k] * numbers[k];  // exact
    }
    const question q{leaves || slow ? wish::slow
                     : nonsense     ? wish::nonsense
                                    : wish::squares,
                     static_cast<std::int32_t>(numbers.size())};
    co_await asio::async_write(socket, asio::buffer(&q, sizeof q), asio::use_awaitable);
    co_await asio::async_write(socket, asio::buffer(numbers), asio::use_awaitable);
    if (leaves) {
      ++all.left;
      co_return;
    }
    reply_line line{};
    co_await asio::async_read(socket, asio::buffer(&line, sizeof line), asio::use_awaitable);
    if (slow) {
      ++(line.how == status::late ? all.late : all.wrong);
    } else if (nonsense) {
      ++(line.how == status::refused ? all.refused : all.wrong);
    } else {
      ++(line.how == status::done && line.value == expected ? all.right : all.wrong);
    }
  }
}

int main() {
  asio::io_context service, clients;  // first, because they outlive the threads that post to them
  runtime rt;
  const device gpu = rt.open_device({.when_full = when_full::refuse, .libraries = {"blas", "faults"}});
  if (const auto up = gpu.started().get(); !up) return std::fprintf(stderr, "%s\n", up.error().to_string().c_str()), 1;

  tcp::acceptor door(service, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  asio::co_spawn(service, serve(door, gpu), asio::detached);
  std::thread serving([&] { service.run(); });

  tally all;
  int lost = 0;
  for (int id = 0; id < 100; ++id)
    asio::co_spawn(clients, client(id, door.local_endpoint(), all),
                   [&](std::exception_ptr why) { lost += why != nullptr; });
  clients.run();

  asio::post(service, [&] { door.close(); });
  serving.join();
  std::printf("%d right, %d late, %d refused, %d left, %d wrong, %d lost; the service saw %d leave\n", all.right,
              all.late, all.refused, all.left, all.wrong, lost, gone.load());
  const bool right = all.right == 100 * 10 - 10 * 6 - 5 - 10 && all.late == 5 && all.refused == 10 && all.left == 10;
  return right && all.wrong == 0 && lost == 0 && gpu.statistics().faults == 0 ? 0 : 1;
}
