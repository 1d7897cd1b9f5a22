// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests what devices do under each confinement. Tests beside confinement.cpp check what a confined process cannot do.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <troupe/worker/process/confinement.hpp>
#include <troupe/worker/process/file_rules.hpp>
#include <vector>

#include <tests/contract/kernels/jit_source.hpp>

namespace troupe::whole {
namespace {

namespace fs = std::filesystem;

bool on_host() { return engine_under_test() == "host"; }

float value_of(const device& gpu, jit::recipe r, const std::string& expression) {
  r.source += "__global__ void k(float* out) { out[0] = " + expression + "; }\n";
  const auto out = gpu.alloc<float>(1, {.zeroed = true});
  gpu.tell(jit::launch{
      .kernel = jit::compile(gpu, std::move(r)).kernel("k"), .grid = 1, .block = 1, .arguments = {inout(out)}});
  const auto got = gpu.download(out).get();
  EXPECT_OK(got);
  return got ? (*got)[0] : -1;
}

class confined_device : public testing::TestWithParam<enum confinement> {
 protected:
  device open(device_options o = {}) {
    o.confinement = GetParam();
    return runtime_.open_device(with_test_engines(std::move(o)));
  }
  runtime runtime_;
};

TEST_P(confined_device, compiles_computes_and_recovers) {
  const device gpu = open({.restarts = 5});
  for (int i = 0; i < 3; ++i) {
    // Each source is new, so it is not in the cache.
    const std::string value = std::to_string(::getpid() % 1000 + 1000 * i + static_cast<int>(GetParam()) * 10'000);
    EXPECT_EQ(value_of(gpu, {}, value), std::stof(value));
    const auto pid = gpu.statistics().worker_pid;
    ASSERT_TRUE(pid);
    ASSERT_EQ(::kill(*pid, SIGKILL), 0);
    while (gpu.statistics().worker_pid == pid) ::usleep(1000);
  }
  const auto x = uploaded(gpu, counting(1000));
  const auto got = gpu.download(x).get();
  ASSERT_OK(got);
  EXPECT_EQ(*got, counting(1000));
}

// A kernel on the host is native code. This one does what an attacker who has taken over a worker may try.
constexpr const char* attack = R"(
extern "C" int fork(); extern "C" int kill(int, int); extern "C" int getppid(); extern "C" void _exit(int);
extern "C" int socket(int, int, int); extern "C" int open(const char*, int, ...);
__global__ void attack(int* could, const char* memory) {
  const int child = fork();
  if (child == 0) _exit(0);
  could[0] = child > 0;
  could[1] = kill(getppid(), 0) == 0;
  could[2] = socket(2, 1, 0) >= 0;
  could[3] = open(memory, 2) >= 0;
}
)";

TEST_P(confined_device, keeps_kernels_on_the_host_from_other_processes_and_the_network) {
  if (!on_host()) return;  // a kernel on a GPU calls no system
  const device gpu = open();
  std::string path = "/proc/" + std::to_string(::getpid()) + "/mem";
  path += '\0';
  const auto memory = uploaded(gpu, std::vector<char>(path.begin(), path.end()));
  const auto could = gpu.alloc<int>(4, {.zeroed = true});
  const auto program = jit::compile(gpu, {.source = attack});
  gpu.tell(jit::launch{.kernel = program.kernel("attack"), .grid = 1, .block = 1, .arguments = {inout(could), memory}});
  const auto got = gpu.download(could).get();
  ASSERT_OK(got);
  const auto here = confinement_support::of_this_system();
  const bool off = GetParam() == confinement::off, calls = off || !here.filters;
  EXPECT_EQ((*got)[0], calls) << "fork";
  EXPECT_EQ((*got)[1], off || (!here.filters && here.landlock < landlock_with_scopes)) << "kill";
  EXPECT_EQ((*got)[2], calls) << "socket";
  EXPECT_FALSE(!off && here.landlock != 0 && (*got)[3]) << "the application's memory";
}

// Sets a flag of this program's standard output, and checks that the worker's standard output does not have it.
TEST_P(confined_device, has_a_worker_in_its_own_session_with_its_own_output) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const int before = ::dup(STDOUT_FILENO);
  ::dup2(ends[1], STDOUT_FILENO);
  const device gpu = open();
  const auto started = gpu.started().get();
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  ASSERT_OK(started);
  const int pid = gpu.statistics().worker_pid.value();
  EXPECT_EQ(::getsid(pid), pid);
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  std::ifstream info("/proc/" + std::to_string(pid) + "/fdinfo/1");
  std::string word, flags;
  while (info >> word)
    if (word == "flags:") info >> flags;
  ASSERT_FALSE(flags.empty());
  EXPECT_EQ(std::stol(flags, nullptr, 8) & O_NONBLOCK, 0) << flags;
  ::close(ends[0]);
  ::close(ends[1]);
}

std::vector<enum confinement> possible_levels() {
  std::vector<enum confinement> out{confinement::off, confinement::standard};
  if (on_host() && confinement_support::of_this_system().lacks().empty()) out.push_back(confinement::strict);
  return out;
}

INSTANTIATE_TEST_SUITE_P(each, confined_device, testing::ValuesIn(possible_levels()), [](const auto& i) {
  return std::string(i.param == confinement::off ? "off" : i.param == confinement::standard ? "standard" : "strict");
});

TEST(confinement, hides_folders_of_headers_that_are_not_named) {
  const bool hides = on_host() && confinement_support::of_this_system().landlock != 0;
  char pattern[] = "/var/tmp/troupe-headers-XXXXXX";
  ASSERT_NE(::mkdtemp(pattern), nullptr);
  const std::string room = pattern;
  std::ofstream(room + "/value.h") << "#define VALUE 5\n";
  const jit::recipe r{.source = "#include <value.h>\n", .include_paths = {room}};
  runtime rt;
  jit::recipe whole = r;
  whole.source += "__global__ void k(float* out) { out[0] = VALUE; }\n";
  const device gpu = rt.open_device(with_test_engines());
  const auto compiled = jit::compile(gpu, whole).summary().get();
  if (hides)
    EXPECT_TRUE(
        is_error(error_of(compiled), reaction::unsupported, {"include_paths", room.c_str(), "readable_folders"}));
  else
    EXPECT_OK(compiled);
  EXPECT_EQ(value_of(rt.open_device(with_test_engines({.readable_folders = {room}})), r, "VALUE"), 5);
  EXPECT_EQ(value_of(rt.open_device(with_test_engines({.confinement = confinement::off})), r, "VALUE"), 5);
  fs::remove_all(room);
}

TEST(confinement, is_refused_if_it_is_not_possible) {
  runtime rt;
  const auto why = [&](device_options o) {
    return error_of(rt.open_device(with_test_engines(std::move(o))).started().get());
  };
  EXPECT_TRUE(is_error(why({.isolation = isolation::thread, .confinement = confinement::strict}), reaction::unsupported,
                       {"confinement is strict", "isolation::process"}));
  EXPECT_TRUE(is_error(why({.readable_folders = {"/no/such/folder"}}), reaction::caller_bug,
                       {"readable_folders", "/no/such/folder"}));
  if (!on_host()) {
    EXPECT_TRUE(
        is_error(why({.confinement = confinement::strict}), reaction::unsupported, {"confinement is strict", "GPU"}));
  }
}

}  // namespace
}  // namespace troupe::whole
