// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Attacks with answers on the socket for questions about memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <troupe/protocol/memory_question.hpp>

#include "strategy.hpp"

namespace adversary {
namespace {

using namespace troupe;

bool answer_unasked(hostile_worker& w) {
  if (w.must_attack()) send_packet(w.questions, random_bytes(w, 64));
  return false;
}
bool flood_answers(hostile_worker& w) {
  while (w.must_attack() && send_packet(w.questions, random_bytes(w, 4000))) {
  }
  return false;
}
bool close_questions(hostile_worker& w) {
  if (w.must_attack()) ::shutdown(w.questions, SHUT_RDWR);
  return false;
}

// Returns the answer that the worker is about to send.
protocol::made_memory right_answer(const hostile_worker& w) {
  protocol::made_memory head{};
  std::memcpy(&head, w.message->msg_iov->iov_base, std::min(sizeof head, w.message->msg_iov->iov_len));
  return head;
}
bool send_answer(hostile_worker& w, const protocol::made_memory& head, std::span<const int> fds = {}) {
  send_packet(w.questions, protocol::packet_of(head, "text"), fds);
  return true;
}

bool answer_nothing(hostile_worker&) { return true; }
bool answer_another_question(hostile_worker& w) {
  protocol::made_memory head = right_answer(w);
  head.number += 1000;
  return send_answer(w, head);
}
bool answer_twice(hostile_worker& w) {
  send_answer(w, right_answer(w));
  return send_answer(w, right_answer(w));
}
bool answer_with_file(hostile_worker& w) {
  const int fd = ::memfd_create("wrong", MFD_CLOEXEC);  // has no size and no seals
  const bool swallowed = send_answer(w, right_answer(w), std::span(&fd, 1));
  ::close(fd);
  return swallowed;
}
bool answer_impossible_address(hostile_worker& w) {
  protocol::made_memory head = right_answer(w);
  head.made = 1;
  head.address = 0xffff'ffff'ffff'f000;
  return send_answer(w, head);
}
bool answer_impossible_enum(hostile_worker& w) {
  protocol::made_memory head = right_answer(w);
  head.made = 7;
  head.reaction = 0xffffffff;
  return send_answer(w, head);
}
bool answer_in_part(hostile_worker& w) {
  send_packet(w.questions, std::as_bytes(std::span("x", 1)));
  return true;
}

constexpr const char* ended = "a wrong answer about memory ends the worker";
constexpr strategy strategies[] = {
    {"answer_unasked", "memory", ended, moment::serving, answer_unasked, true},
    {"flood_answers", "memory", ended, moment::serving, flood_answers, true},
    {"close_questions", "memory", ended, moment::serving, close_questions, true},
    {"answer_nothing", "memory", "an allocation ends", moment::answer, answer_nothing, true, false, true},
    {"answer_another_question", "memory", ended, moment::answer, answer_another_question, true},
    {"answer_twice", "memory", ended, moment::answer, answer_twice, true},
    {"answer_with_file", "memory", ended, moment::answer, answer_with_file, true},
    {"answer_impossible_address", "memory", ended, moment::answer, answer_impossible_address},
    {"answer_impossible_enum", "memory", ended, moment::answer, answer_impossible_enum, true},
    {"answer_in_part", "memory", ended, moment::answer, answer_in_part, true},
};

}  // namespace

std::span<const strategy> memory_strategies() { return strategies; }

}  // namespace adversary
