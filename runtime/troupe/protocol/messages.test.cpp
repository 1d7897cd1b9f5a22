// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <troupe/protocol/crash_note.hpp>
#include <troupe/protocol/message_budget.hpp>
#include <troupe/protocol/protected_places.hpp>
#include <troupe/protocol/shared_memory.hpp>
#include <troupe/protocol/testing/hostile.hpp>

namespace troupe::protocol {
namespace {

TEST(control, a_memory_message_and_its_text_are_read_as_written) {
  control_message m{};
  m.kind = message::map;
  m.memory = {.address = 4096, .bytes = 8192, .number = 7, .read_only = 1};
  const auto got = parse_message(packet_of(m, "a text"));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->head.kind, message::map);
  EXPECT_EQ(got->head.memory, m.memory);
  EXPECT_EQ(got->text, "a text");
}

TEST(control, the_message_serve_is_read_as_written) {
  control_message m{};
  m.kind = message::serve;
  m.serving = {.next_ticket = 1, .last_report = 2, .kept = 3, .generation = 4, .segments = 5};
  const auto got = parse_message(packet_of(m));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->head.kind, message::serve);
  EXPECT_EQ(got->head.serving, m.serving);
  EXPECT_EQ(got->text, "");
}

TEST(control, a_packet_that_is_shorter_than_its_header_is_refused) {
  const auto packet = packet_of(control_message{});
  for (std::size_t n = 0; n < packet.size(); ++n) EXPECT_FALSE(parse_message(std::span(packet).first(n))) << n;
}

TEST(control, a_library_name_is_short_and_contains_no_path) {
  EXPECT_TRUE(is_library_name("blas"));
  for (const std::string& text :
       {std::string(), std::string("../blas"), std::string("blas\ncuda"), std::string(65, 'x')})
    EXPECT_FALSE(is_library_name(text)) << text;
}

TEST(message_budget, admits_a_burst_and_then_a_fixed_number_each_second) {
  constexpr std::int64_t second = 1'000'000'000;
  message_budget b(1000, 100);
  std::int64_t now = 5 * second;
  const auto flood = [&] {
    int admitted = 0;
    while (b.admit(now)) ++admitted;
    return admitted;
  };
  EXPECT_EQ(flood(), 1000);
  now += second;
  EXPECT_EQ(flood(), 100);
  now += 5 * second / 1000;
  EXPECT_EQ(flood(), 0);
  now += 5 * second / 1000;
  EXPECT_EQ(flood(), 1);
  now += 3600 * second;
  EXPECT_EQ(flood(), 1000) << "what was not used is not saved up";
}

// Application and worker are built from the same structs, so only these tests detect a changed layout. A field can move
// without a change of the struct's size if there was padding.
TEST(version, is_raised_with_each_field_that_moves) {
#define AT(field) offsetof(struct_, field)
  std::vector<std::size_t> places;
  const auto add = [&](std::initializer_list<std::size_t> of_one) { places.insert(places.end(), of_one); };
  {
    using struct_ = worker_settings;
    add({AT(version),      AT(capacity),        AT(wait),          AT(lanes),
         AT(coalesce),     AT(pool_lanes),      AT(helpers),       AT(ordinal),
         AT(parent),       AT(reserve_begin),   AT(reserve_bytes), AT(device_bytes),
         AT(inline_bytes), AT(longest_task_ns), AT(memory_limit),  AT(core_dumps),
         AT(compile),      AT(confinement),     AT(gpu),           AT(quiet),
         AT(cores)});
  }
  {
    using struct_ = control_message;
    add({AT(kind), AT(reaction), AT(settings), AT(memory), AT(serving)});
  }
  {
    using struct_ = memory_place;
    add({AT(address), AT(bytes), AT(number), AT(read_only)});
  }
  {
    using struct_ = service;
    add({AT(next_ticket), AT(last_report), AT(kept), AT(generation), AT(segments)});
  }
  {
    using struct_ = wanted_memory;
    add({AT(what), AT(bytes), AT(address), AT(number)});
  }
  {
    using struct_ = made_memory;
    add({AT(made), AT(reaction), AT(address), AT(number)});
  }
  {
    using struct_ = command_header;
    add({AT(opcode), AT(library), AT(generation), AT(reports_seen), AT(segments), AT(access_count), AT(flags),
         AT(payload_bytes)});
  }
  {
    using struct_ = report_header;
    add({AT(number), AT(ticket), AT(cause_ticket), AT(code), AT(slot), AT(reaction), AT(chain)});
  }
  {
    using struct_ = progress_page;
    add({AT(epoch), AT(idle_epoch), AT(pump_sleeps), AT(pump_core), AT(lanes), AT(reports), AT(note), AT(free),
         AT(probe), AT(repeated)});
  }
  {
    using struct_ = application_page;
    add({AT(sleepers), AT(idle_sleepers), AT(curious), AT(retired), AT(shared_core)});
  }
  {
    using struct_ = workers_page;
    add({AT(questions), AT(asked), AT(signs)});
  }
#undef AT
  const std::vector<std::size_t> expected = {
      0,  4,  8,  9,   10,  12,  16,   20,   24,   32,   40,   48, 56, 64, 72, 80,  81, 82, 83,
      84, 88, 0,  4,   8,   8,   8,    0,    8,    16,   20,   0,  8,  16, 20, 24,  0,  8,  16,
      24, 0,  4,  8,   16,  0,   8,    12,   16,   24,   28,   29, 30, 0,  8,  16,  24, 32, 36,
      37, 0,  64, 128, 192, 256, 1280, 1344, 1408, 1472, 1480, 0,  4,  8,  64, 128, 0,  8,  16};
  EXPECT_EQ(places, expected) << "raise protocol::version, which is " << version << ", and put the new places here";
}

TEST(version, is_raised_with_each_change_of_a_size) {
  const std::size_t sizes[] = {sizeof(control_message), sizeof(worker_settings),  sizeof(memory_place),
                               sizeof(service),         sizeof(protected_place),  sizeof(wanted_memory),
                               sizeof(made_memory),     sizeof(command_header),   sizeof(report_header),
                               sizeof(progress_page),   sizeof(application_page), sizeof(crash_note),
                               sizeof(workers_page)};
  const std::vector<std::size_t> expected = {224, 216, 24, 32, 16, 32, 24, 32, 40, 1536, 192, 40, 24};
  EXPECT_EQ(std::vector<std::size_t>(std::begin(sizes), std::end(sizes)), expected)
      << "raise protocol::version, which is " << version << ", and put the new sizes here";
  EXPECT_EQ(version, 26u) << "put the new version here";
}

TEST(wanted, is_the_latest_request_of_its_slot_that_was_noted) {
  std::atomic<std::uint64_t> noted{0};
  note_wanted(noted, 5);
  EXPECT_EQ(noted.load(), 5u);
  note_wanted(noted, 3);  // by a late thread: the slot has a newer request by now
  EXPECT_EQ(noted.load(), 5u);
  note_wanted(noted, 8);
  EXPECT_EQ(noted.load(), 8u);
}

TEST(crash_note, keeps_the_words_of_the_first_thread_that_dies) {
  crash_note note;
  EXPECT_EQ(note.read(), last_words());
  const last_words first{.signal = 11,
                         .from_outside = true,
                         .accessed = fault_address::known,
                         .address = 64,
                         .ticket = 7,
                         .xid = 43,
                         .work_ended = true};
  note.write(first);
  note.write({.signal = 6, .ticket = 8});
  EXPECT_EQ(note.read(), first);
}

TEST(crash_note, an_invalid_fault_address_is_read_as_unknown) {
  crash_note note;
  note.write({.signal = 11, .accessed = static_cast<fault_address>(77), .address = 64});
  EXPECT_EQ(note.read().accessed, fault_address::unknown);
}

TEST(core_set, has_the_layout_of_the_systems_cpu_set) {
  core_set cores{};
  EXPECT_TRUE(cores.empty());
  cores.add(0);
  cores.add(65);
  cores.add(core_set::most - 1);
  EXPECT_EQ(cores.bits[0], 1u);
  EXPECT_EQ(cores.bits[1], 2u);
  EXPECT_EQ(cores.bits[15], std::uint64_t{1} << 63);
  EXPECT_FALSE(cores.empty());
}

TEST(control, a_text_that_does_not_fit_is_cut) {
  const auto packet = packet_of(control_message{}, std::string(2 * most_message_bytes, 'x'));
  EXPECT_EQ(packet.size(), most_message_bytes);
}

TEST(control, an_invalid_reaction_is_read_as_fatal) {
  control_message m{};
  m.reaction = static_cast<std::uint32_t>(reaction::retry_later);
  EXPECT_EQ(reaction_of(m), reaction::retry_later);
  m.reaction = 1000;
  EXPECT_EQ(reaction_of(m), reaction::fatal);
}

greeting whole() {
  return {.settings = {.version = version, .capacity = 64, .helpers = 2},
          .backend = "cuda",
          .gpu_core_stem = "/tmp/my cores/x-",
          .folders = {"/one folder", "/two"},
          .libraries = {"blas", "fft"},
          .readable_folders = {"/headers"},
          .plug_ins = {"/two/blas.cuda.so"}};
}

TEST(greeting, is_read_as_it_was_written) {
  const greeting g = whole();
  const auto got = parse_greeting(g.settings, text_of(g));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(*got, g);
}

TEST(greeting, is_refused_with_both_versions_if_they_differ) {
  greeting g = whole();
  g.settings.version = version + 1;
  const auto got = parse_greeting(g.settings, text_of(g));
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().text().find(std::to_string(version + 1)), std::string::npos) << got.error().text();
  EXPECT_NE(got.error().text().find("install application and worker from the same version"), std::string::npos);
}

TEST(greeting, is_refused_if_it_is_truncated_anywhere) {
  const greeting g = whole();
  for (const char* text :
       {"", "cuda\n", "cuda\n/stem\n", "cuda\n/stem\nmany\n", "cuda\n/stem\n3\n/one\n/two\n", "cuda\n/stem\n0\n0\n1\n"})
    EXPECT_FALSE(parse_greeting(g.settings, text)) << text;
}

TEST(gpu_core_file, is_named_by_its_stem_and_the_worker) { EXPECT_EQ(gpu_core_file("/tmp/x-", 7), "/tmp/x-7.gpucore"); }

TEST(gpu_core_file, is_not_written_without_a_stem) { EXPECT_EQ(gpu_core_file("", 7), ""); }

TEST(memory_question, and_its_answer_are_read_as_they_were_written) {
  const wanted_memory question{.what = wanted::managed, .bytes = 5, .address = 6, .number = 7};
  const auto asked = parse_question(packet_of(question));
  ASSERT_TRUE(asked);
  EXPECT_EQ(*asked, question);
  const made_memory refused{
      .made = 0, .reaction = static_cast<std::uint32_t>(reaction::retry_later), .address = 0, .number = 7};
  const auto answer = parse_answer(packet_of(refused, "no room\x1b"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->head, refused);
  EXPECT_EQ(answer->text, "no room?") << "without control characters";
}

TEST(memory_question, is_refused_if_its_kind_is_unknown) {
  EXPECT_FALSE(
      parse_question(packet_of(wanted_memory{.what = static_cast<wanted>(3), .bytes = 1, .address = 0, .number = 1})));
  EXPECT_FALSE(parse_answer(packet_of(made_memory{.made = 2, .reaction = 0, .address = 0, .number = 1})));
  EXPECT_FALSE(parse_answer(packet_of(made_memory{.made = 0, .reaction = 99, .address = 0, .number = 1})));
}

TEST(gpu_description, is_read_as_it_was_written) {
  const gpu_description gpu{.name = "NVIDIA H200",
                            .pci = "0000:3B:00.0",
                            .driver = "13.0",
                            .capability_major = 12,
                            .capability_minor = 1,
                            .multiprocessors = 132,
                            .memory_bytes = 150110011392,
                            .peers = {{"0000:3C:00.0", true, true, 0}, {"0000:5a:00.0", false, false, 2}}};
  EXPECT_EQ(parse_gpu_description(text_of(gpu)), gpu);
  EXPECT_EQ(parse_gpu_description(text_of(gpu) + "temperature 40\n"), gpu) << "unknown keys are skipped";
}

TEST(worker_description, is_read_as_it_was_written_with_a_gpu_and_without) {
  const engine_info blas{"blas", "cuda", "cuBLAS 13.0, with its tensor cores"}, fft{"fft", "host", "1"};
  for (const worker_description& worker :
       {worker_description{.gpu = "name NVIDIA H200\ndriver 13.0\n", .engines = {blas, fft}},
        worker_description{.gpu = "", .engines = {fft}}, worker_description{.gpu = "name NVIDIA H200\n", .engines = {}},
        worker_description{}})
    EXPECT_EQ(parse_worker_description(text_of(worker)), worker) << text_of(worker);
}

TEST(worker_description, skips_lines_that_describe_no_engine) {
  EXPECT_TRUE(parse_worker_description("").engines.empty());
  EXPECT_EQ(parse_worker_description("\nblas\nblas host\n").engines.size(), 0u);
  EXPECT_EQ(parse_worker_description("blas\nfft host FFTW 3\nblas host\n").engines.size(), 1u);
}

TEST(protected_places, are_read_as_they_were_written) {
  const std::vector<protected_place> places = {{.address = 4096, .bytes = 1}, {.address = 1 << 30, .bytes = 1 << 20}};
  const auto list = list_of(places);
  ASSERT_TRUE(list) << list.error().text();
  const auto got = parse_list(*list, places.size() * sizeof(protected_place));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(*got, places);
}

TEST(protected_places, are_refused_if_they_are_truncated_or_exceed_the_file) {
  const auto list = list_of(std::vector<protected_place>{{.address = 4096, .bytes = 1}});
  ASSERT_TRUE(list) << list.error().text();
  EXPECT_TRUE(parse_list(*list, 16));
  EXPECT_FALSE(parse_list(*list, 24));
  const auto got = parse_list(*list, list->size() + 16);
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().text().find("expected a multiple of 16, at most the 4096 bytes of its file"), std::string::npos)
      << got.error().text();
}

// Does for a while what the fuzz targets do: parses damaged messages and random bytes.
TEST(messages, random_bytes_and_random_damage_never_cause_an_access_outside) {
  const char* set = std::getenv("TROUPE_SEED");
  const std::uint64_t seed = set != nullptr ? std::strtoull(set, nullptr, 0) : std::random_device{}();
  std::printf("again with TROUPE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);  // printed before a defect aborts the test
  std::mt19937_64 random(seed);
  const auto bytes_of = [](const auto& all) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(all.data());
    return std::vector<std::uint8_t>(data, data + all.size());
  };
  const std::vector<std::uint8_t> sound[] = {
      bytes_of(packet_of(control_message{.kind = message::ready}, "blas cuda 13.0\n")),
      bytes_of(text_of(whole())),
      bytes_of(packet_of(wanted_memory{.what = wanted::memory, .bytes = 1, .address = 2, .number = 3})),
      bytes_of(packet_of(made_memory{.made = 0, .reaction = 1, .address = 2, .number = 3}, "no room")),
      bytes_of(text_of(gpu_description{
          .name = "a GPU", .pci = "0000:3B:00.0", .driver = "13.0", .peers = {{"0000:3C:00.0", true, true, 0}}})),
      bytes_of(text_of(worker_description{.gpu = "name a GPU\n", .engines = {{"blas", "cuda", "13.0"}}}))};
  for (int i = 0; i < 50'000; ++i) {
    std::vector<std::uint8_t> input = sound[random() % std::size(sound)];
    if (random() % 4 == 0) input.resize(random() % 300);
    for (std::uint64_t hits = random() % 6; hits > 0 && !input.empty(); --hits)
      input[random() % input.size()] = static_cast<std::uint8_t>(random());
    troupe::testing::parse_hostile_control(input);
    troupe::testing::parse_hostile_greeting(input);
    troupe::testing::parse_hostile_memory_question(input);
    troupe::testing::parse_hostile_gpu_description(input);
    troupe::testing::parse_hostile_worker_description(input);
    troupe::testing::parse_hostile_command(input);
    if (i % 16 == 0) troupe::testing::parse_hostile_protected_places(input);  // rarely, because of its system call
  }
}

}  // namespace
}  // namespace troupe::protocol
