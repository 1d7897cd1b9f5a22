// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Awaits every request, recipe and options struct as a temporary inside co_await, as users do. g++ 12 copies the
// members of such a temporary byte by byte and destroys both copies. Members that are not designed for that are freed
// twice, which the address sanitizer and usually malloc detect; a reference that is released twice shows in the count
// of its block.
#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <troupe/actor/stage.hpp>
#include <troupe/actor/supervisor.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/device/sharing.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/events/events.hpp>
#include <troupe/events/requests.hpp>
#include <troupe/faults/faults.hpp>
#include <troupe/faults/requests.hpp>
#include <troupe/fft/fft.hpp>
#include <troupe/graph/graph.hpp>
#include <troupe/interop/dlpack.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/memory/managed.hpp>
#include <troupe/memory/requests.hpp>
#include <troupe/module/module.hpp>
#include <troupe/worker/engine.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

const char* const long_text = "a text that is too long to lie in the string itself";

// One instance of each request of the libraries that come with Troupe. The test
// `every_request_of_an_engine_is_in_the_list` detects missing ones.
using dense_algebra = request_list<
    blas::axpy<float>, blas::axpby<float>, blas::scal<float>, blas::copy<float>, blas::swap<float>, blas::dot<float>,
    blas::dotu<complex64>, blas::dotc<complex64>, blas::nrm2<float>, blas::asum<float>, blas::iamax<float>,
    blas::iamin<float>, blas::gemv<float>, blas::gbmv<float>, blas::symv<float>, blas::hemv<complex64>,
    blas::sbmv<float>, blas::hbmv<complex64>, blas::spmv<float>, blas::hpmv<complex64>, blas::symm<float>,
    blas::hemm<complex64>, blas::syrk<float>, blas::herk<complex64>, blas::syr2k<float>, blas::her2k<complex64>,
    blas::syrkx<float>, blas::herkx<complex64>, blas::trmm<float>, blas::trsm<float>, blas::trmv<float>,
    blas::trsv<float>, blas::tbmv<float>, blas::tbsv<float>, blas::tpmv<float>, blas::tpsv<float>, blas::ger<float>,
    blas::geru<complex64>, blas::gerc<complex64>, blas::syr<float>, blas::her<complex64>, blas::spr<float>,
    blas::hpr<complex64>, blas::syr2<float>, blas::her2<complex64>, blas::spr2<float>, blas::hpr2<complex64>,
    blas::rotg<float>, blas::rot<float>, blas::rotmg<float>, blas::rotm<float>, blas::gemv_batched<float>,
    blas::gemv_strided_batched<float>, blas::trsm_batched<float>, blas::getrf_batched<float>,
    blas::getrs_batched<float>, blas::getri_batched<float>, blas::matinv_batched<float>, blas::geqrf_batched<float>,
    blas::gels_batched<float>, blas::geam<float>, blas::dgmm<float>, blas::gemm<float>,
    blas::gemm_strided_batched<float>, blas::gemm_batched<float>, blas::gemm_grouped<float>,
    blas::multiplication<float>, blas::addition<float>, blas::triangular_solution<float>>;
using spectra =
    joined_requests<matmul::all_requests, dnn::all_requests, dnn::ready_requests, fft::all_transforms, fft::all_views,
                    request_list<fft::compile_callbacks_recipe, fft::read_summary, fft::unload>>;
using compiled_products = cutlass::all_requests;
using programs = joined_requests<jit::requests, module::requests>;
using parts_of_longer_work =
    request_list<graph::unload, events::record, events::record_all, events::hold_back, events::reach,
                 events::elapsed_time, events::share, events::open, events::forget, faults::segmentation_fault,
                 faults::abort, faults::abort_in_helper, faults::illegal_instruction, faults::floating_point_trap,
                 faults::exit, faults::stack_overflow, faults::failed_assertion, faults::shared_memory_overflow,
                 faults::hang, faults::exhaust_memory, faults::wild_write, faults::garbage>;

template <class F>
inline constexpr bool is_list_of_operands = false;
template <class T, access_mode M>
inline constexpr bool is_list_of_operands<list<operand<T, M>>> = true;
template <class F>
inline constexpr bool is_optional_operand = false;
template <class T, access_mode M>
inline constexpr bool is_optional_operand<std::optional<operand<T, M>>> = true;
template <class F>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<list<T>> = true;
template <class F>
inline constexpr bool is_scalar = false;
template <class T>
inline constexpr bool is_scalar<scalar<T>> = true;

struct large_struct {
  double values[9] = {};
};

// Returns a value, for a field of any type, that owns as much as possible.
struct bench {
  device gpu;
  buffer<complex128> memory = gpu.alloc<complex128>(256);
  jit::program program = jit::compile(gpu, {.source = "__global__ void a_kernel_with_a_long_name_k(float*) {}"});

  template <class T>
  buffer<T> of() const {
    return memory.as<T>();
  }

  template <class F>
  F value() const {
    if constexpr (is_operand<F>) {
      return F(of<typename F::element_type>());
    } else if constexpr (requires { typename F::shape_type; }) {
      const matrix<typename F::element_type> two_by_two(of<typename F::element_type>(), 2, 2);
      return F(two_by_two);
    } else if constexpr (std::is_same_v<F, in_any> || std::is_same_v<F, out_any>) {
      return F(matrix(of<float>(), 2, 2));
    } else if constexpr (std::is_same_v<F, std::optional<in_any>> || std::is_same_v<F, std::optional<out_any>> ||
                         std::is_same_v<F, std::optional<inout_any>>) {
      return typename F::value_type(matrix(of<float>(), 2, 2));
    } else if constexpr (std::is_same_v<F, dnn::graph>) {
      return {dnn::write(dnn::relu(dnn::read(of<float>())), of<float>())};
    } else if constexpr (std::is_same_v<F, epilogue::expression>) {
      return relu(epilogue::acc + epilogue::row(of<float>()));
    } else if constexpr (is_optional_operand<F>) {
      return typename F::value_type(of<typename F::value_type::element_type>());
    } else if constexpr (is_list_of_operands<F>) {
      return {of<typename F::value_type::element_type>(), of<typename F::value_type::element_type>()};
    } else if constexpr (is_list<F>) {
      using one = typename F::value_type;
      if constexpr (std::is_constructible_v<one, matrix<float>>)
        return {one(matrix(of<float>(), 2, 2)), one(matrix(of<float>(), 2, 2))};
      else if constexpr (requires { one{.m = 2, .n = 2, .k = 2, .count = 1}; })
        return {one{.m = 2, .n = 2, .k = 2, .count = 1}, one{.m = 2, .n = 2, .k = 2, .count = 1}};
      else if constexpr (operands_in<F>::any)
        return {one{matrix(of<float>(), 2, 2), matrix(of<float>(), 2, 2)}};
      else
        return {one{}, one{}, one{}};
    } else if constexpr (is_scalar<F>) {
      return F(memory_range(memory.memory()));
    } else if constexpr (std::is_same_v<F, text>) {
      return long_text;
    } else if constexpr (std::is_same_v<F, extent>) {
      return 2;
    } else if constexpr (std::is_same_v<F, kernel::dimensions> || std::is_same_v<F, fft::shape>) {
      return 1;
    } else if constexpr (std::is_same_v<F, kernel::arguments>) {
      return {of<float>(), 2, large_struct{}};
    } else if constexpr (std::derived_from<F, kernel::symbol>) {
      return {program, std::string("a_kernel_with_a_long_name_k")};
    } else if constexpr (std::derived_from<F, kernel::program>) {
      return F(program);
    } else if constexpr (field_group<F>) {
      return group<F>(fields_of<F>{});
    } else {
      return F{};
    }
  }
  template <class G, class... F>
  G group(field_list<F...>) const {
    return {value<F>()...};
  }
};

template <class R, class... F>
task<void> ask_in_place(device gpu, const bench& with, field_list<F...>) {
  (void)co_await as_result(gpu.ask(R{with.value<F>()...}));
  (void)co_await as_result(gpu.ask(R{with.value<F>()...}, {.timeout = 10s, .retries = 1}));
}

template <class R>
void ask_in_place(const device& gpu, const bench& with) {
  SCOPED_TRACE(std::string(R::request_name));
  EXPECT_TRUE(sync_wait(ask_in_place<R>(gpu, with, fields_of<R>{})).has_value());
}

template <class... R>
void ask_all(const device& gpu, const bench& with, request_list<R...>) {
  (ask_in_place<R>(gpu, with), ...);
}

template <class... R>
void note_names(std::set<std::string>& names, request_list<R...>) {
  (names.emplace(R::request_name), ...);
}

std::uint32_t handles_of(const buffer<complex128>& b) {
  return b.memory().owner->references.load(std::memory_order_relaxed);
}

class awaited_in_place : public testing::Test {
 protected:
  runtime rt;
  // Opened without a standby, because that opens descriptors whenever it is started.
  device gpu = rt.open_device({.standbys = 0, .run_timeout = 20s});
};

TEST_F(awaited_in_place, a_request_releases_its_operands_once) {
  bench with{gpu};
  ask_all(gpu, with, dense_algebra{});
  ask_all(gpu, with, spectra{});
  ask_all(gpu, with, compiled_products{});
  ask_all(gpu, with, programs{});
  EXPECT_OK(gpu.sync().get());
  EXPECT_EQ(handles_of(with.memory), 1u);
}

// Requests that would end the worker or wait for others are awaited on a device that refuses all requests.
TEST_F(awaited_in_place, a_refused_request_releases_its_operands_once) {
  bench with{gpu};
  EXPECT_OK(gpu.close().get());
  ask_all(gpu, with, dense_algebra{});
  ask_all(gpu, with, spectra{});
  ask_all(gpu, with, compiled_products{});
  ask_all(gpu, with, programs{});
  ask_all(gpu, with, parts_of_longer_work{});
  EXPECT_EQ(handles_of(with.memory), 1u);
}

TEST_F(awaited_in_place, every_request_of_an_engine_is_in_the_list) {
  std::set<std::string> known;
  note_names(known, dense_algebra{});
  note_names(known, spectra{});
  note_names(known, compiled_products{});
  note_names(known, programs{});
  note_names(known, parts_of_longer_work{});
  known.emplace("graph.launch");  // contains a snapshot of a graph: see below
  int found = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(TROUPE_RUNTIME_DIR) / "engines")) {
    const std::string name = file.path().filename();
    if (!name.ends_with(".host.so") || name.starts_with("memory.")) continue;
    void* const library = ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    const auto open = reinterpret_cast<troupe_engine_open_fn>(::dlsym(library, "troupe_engine_open"));
    ASSERT_NE(open, nullptr) << name;
    const troupe_engine_neighbours none{};
    const troupe_engine_context context{
        .abi = troupe_engine_abi, .device = 0, .native_context = nullptr, .lanes = 1, .neighbours = &none};
    troupe_engine_failure failure{};
    const troupe_engine* const engine = open(&context, &failure);
    ASSERT_NE(engine, nullptr) << name;
    for (std::uint32_t i = 0; i < engine->operation_count; ++i, ++found) {
      const std::string operation = engine->operations[i].name;
      EXPECT_TRUE(known.contains(operation.substr(0, operation.find('<')))) << operation << " is awaited in no test";
    }
    engine->close(engine);
  }
  EXPECT_GT(found, 20);
}

task<result<void>> batches(device gpu, buffer<float> a, buffer<float> c) {
  const std::vector<in<float>> sources{a, a};
  co_await gpu.ask(blas::gemm_batched<float>{.a = {a, a}, .b = sources, .c = {c}, .m = 2, .n = 2, .k = 2});
  co_return {};
}

// `c` has fewer elements than `a`, so the first request is refused, and the following ones do not run.
TEST_F(awaited_in_place, lists_in_braces_and_vectors_arrive_complete) {
  const auto a = gpu.alloc<float>(4), c = gpu.alloc<float>(4);
  const auto wrong = sync_wait(batches(gpu, a, c));
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(is_error(wrong.error(), reaction::caller_bug, {"blas.gemm_batched"}));
  EXPECT_EQ(a.memory().owner->references.load(), 1u);
  EXPECT_EQ(c.memory().owner->references.load(), 1u);
}

task<result<std::string>> compiled_in_place(device gpu) {
  const auto first = co_await as_result(
      jit::compile(gpu, {.source = "__global__ void f(float*) {}", .name = "a_name_longer_than_fifteen.cu"}).ready());
  if (!first) co_return first.error();
  const auto second =
      co_await as_result(jit::compile(gpu, {.source = "#include \"a_header_of_ours.h\"\nTEMPLATES",
                                            .name = "another_name_longer_than_fifteen.cu",
                                            .kernels = {"a_template_of_ours<float>", "a_template_of_ours<double>"},
                                            .headers = {{"a_header_of_ours.h",
                                                         "template <class T> __global__ void "
                                                         "a_template_of_ours(T* p) { *p = 1; }"}},
                                            .include_paths = {"/nowhere/that/there/is"},
                                            .definitions = {{"TEMPLATES", ""}, {"ANOTHER_DEFINITION", "1"}},
                                            .options = {}})
                             .ready());
  if (!second) co_return second.error();
  const auto units =
      co_await as_result(jit::compile(gpu, {.source = long_text,
                                            .units = {{.name = "a_unit_with_a_long_name.cu", .source = long_text},
                                                      {.name = "a_unit_with_a_long_name.cu", .source = long_text}}})
                             .ready());
  co_return units ? "no error at all" : units.error().to_string();
}

TEST_F(awaited_in_place, all_fields_of_a_recipe_arrive) {
  const auto text = sync_wait(compiled_in_place(gpu));
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_NE(text->find("a_unit_with_a_long_name.cu"), std::string::npos) << *text;
}

// Returns members of public structs that g++ 12 would destroy twice.
std::vector<std::string> unsafe_members(const std::string& header) {
  static const std::regex begin("struct (\\w*(options|recipe|unit)) \\{"), comment("//[^\n]*"), end("\n *\\};");
  static const std::regex member("std::(string|vector|function|map|set|shared_ptr|unique_ptr|stop_token)\\b[^(]*;");
  const std::string text = std::regex_replace(header, comment, "");
  std::vector<std::string> out;
  for (std::sregex_iterator m(text.begin(), text.end(), begin); m != std::sregex_iterator(); ++m) {
    const std::string rest = m->suffix();
    std::smatch last;
    if (!std::regex_search(rest, last, end)) continue;
    std::istringstream body(last.prefix());
    for (std::string line; std::getline(body, line);)
      if (std::regex_search(line, member) && line.find("list<") == line.npos && line.find("placed<") == line.npos)
        out.push_back((*m)[1].str() + ":" + line);
  }
  return out;
}

// Returns the headers that cmake/troupe_install_headers.cmake prints.
std::vector<std::string> installed_headers() {
  std::vector<std::string> out;
  std::FILE* const from = ::popen("cmake -P " TROUPE_TEST_SOURCES "/cmake/troupe_install_headers.cmake", "r");
  char line[4096];
  while (from != nullptr && std::fgets(line, sizeof line, from) != nullptr)
    out.emplace_back(line, std::strcspn(line, "\n"));
  if (from != nullptr) ::pclose(from);
  return out;
}

TEST(public_structs, have_no_member_that_gpp_12_destroys_twice) {
  EXPECT_EQ(
      unsafe_members("struct some_options {\n  std::string a;  // b\n  text c;\n  list<std::string> d;\n};\n").size(),
      1u);
  std::size_t headers = 0;
  for (const std::string& path : installed_headers()) {
    if (path.find("/worker/") != path.npos) continue;  // headers for engines, which await nothing
    ++headers;
    std::ifstream in(path);
    for (const std::string& unsafe : unsafe_members({std::istreambuf_iterator<char>(in), {}}))
      ADD_FAILURE() << path << ": " << unsafe;
  }
  EXPECT_GT(headers, 80u);
}

task<result<std::string>> loaded_in_place(device gpu) {
  const std::vector<std::byte> none(64);
  const auto plainly = co_await as_result(module::load(gpu, none).ready());
  const auto named =
      co_await as_result(module::load(gpu, none, {.name = "an image with a long name of its own"}).ready());
  co_return plainly.error().to_string() + "; " + named.error().to_string();
}

TEST_F(awaited_in_place, all_options_of_an_image_arrive) {
  const auto text = sync_wait(loaded_in_place(gpu));
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_NE(text->find("an image with a long name of its own"), std::string::npos) << *text;
}

task<result<std::string>> opened_in_place(runtime& rt, const std::string& folder) {
  device there = rt.open_device({.name = "a name that does not fit in place",
                                 .libraries = {"memory", "faults"},
                                 .worker_cores = {0, 0},
                                 .black_box_folder = folder,
                                 .engine_folders = {"/nowhere/at/all/that/is/there", "/nor/there/is/anything"}});
  co_await there.started();
  const auto started = co_await as_result(
      rt.open_device({.name = "another name that does not fit in place", .libraries = {"a_library_that_is_missing"}})
          .started());
  if (started) co_return std::string("no error at all");
  co_await there.sync();
  co_return there.name() + "; " + started.error().to_string();
}

TEST_F(awaited_in_place, all_options_of_a_device_arrive) {
  const auto text = sync_wait(opened_in_place(rt, testing::TempDir()));
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_NE(text->find("a name that does not fit in place; "), std::string::npos) << *text;
  EXPECT_NE(text->find("a_library_that_is_missing"), std::string::npos) << *text;
}

task<result<std::vector<float>>> with_quotas(device gpu, memory_quota quota, buffer<float>* kept) {
  *kept = gpu.alloc<float>(16, {.quota = quota});
  co_await gpu.fill(gpu.alloc<float>(16, {.zeroed = true, .quota = quota}), 1.f, {.timeout = 10s});
  co_return co_await gpu.download(gpu.alloc<float>(16, {.zeroed = true, .quota = quota}), {.run_timeout = 10s});
}

TEST_F(awaited_in_place, a_quota_is_released_once) {
  buffer<float> kept;
  {
    const memory_quota quota(1 << 20);
    const auto values = sync_wait(with_quotas(gpu, quota, &kept));
    ASSERT_TRUE(values) << values.error().to_string();
    EXPECT_EQ(*values, std::vector<float>(16));
    EXPECT_OK(gpu.sync().get());
    EXPECT_EQ(quota.used(), 256u);
  }
  kept = {};
}

task<result<std::vector<float>>> imported(device gpu, file_descriptor fd) {
  co_return co_await gpu.download(
      import_memory<float>(gpu, {.descriptor = std::move(fd), .bytes = 64, .allocation_bytes = 8192}));
}

TEST_F(awaited_in_place, a_descriptor_is_closed_once) {
  const auto from = gpu.alloc_host<float>(16);
  const auto fill = gpu.fill(buffer<float>(from.memory()), 2.f).get();
  auto shared = export_memory(gpu, from);
  if (!shared) GTEST_FAIL() << shared.error().to_string();
  const int number = shared->descriptor.get();
  const auto values = sync_wait(imported(gpu, std::move(shared->descriptor).take()));
  EXPECT_FALSE(shared->descriptor);
  EXPECT_OK(values);
  // Whatever has this descriptor number now, the descriptor was closed at most once.
  const file_descriptor again(::dup(0));
  EXPECT_LE(again.get(), number);
  EXPECT_OK(gpu.ping(1).get());
}

task<result<std::string>> launched_in_place(device gpu, buffer<float> x) {
  auto program = jit::compile(gpu, {.source = "struct s { double v[9]; };\n__global__ void add(float* x, s by, int n) "
                                              "{ if (threadIdx.x < n) x[threadIdx.x] += (float)by.v[8]; }",
                                    .name = "a_name_longer_than_fifteen.cu"});
  co_await gpu.ask(jit::launch{.kernel = program.kernel("add"),
                               .grid = 1,
                               .block = 32,
                               .arguments = {inout(x), large_struct{{0, 0, 0, 0, 0, 0, 0, 0, 3}}, 16}});
  graph::recorder rec(gpu, {.name = "a graph with a long name of its own"});
  rec.add(blas::scal<float>{.x = x, .n = 16, .alpha = 2.f}, "a node with a long name of its own");
  const graph::graph g = rec.finish();
  co_await gpu.ask(graph::launch{g});
  co_await gpu.ask(graph::launch{.graph = g});
  const auto values = co_await gpu.download(x);
  co_return std::to_string(values[0]) + " " + std::to_string(values[15]);
}

TEST_F(awaited_in_place, launches_of_kernels_and_graphs_work) {
  auto x = gpu.alloc<float>(16);
  gpu.fill(x, 1.f);
  const auto text = sync_wait(launched_in_place(gpu, x));
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_EQ(*text, "16.000000 16.000000");
}

task<result<std::size_t>> stormed(device gpu) {
  const auto done = [](const faults::storm& s) { return make_ready<std::size_t>(s.count()); };
  co_return co_await done(faults::storm(
      gpu, {.kinds = {faults::kind::kill_standby, faults::kind::kill_worker, faults::kind::kill_all}, .most = 0}));
}

TEST_F(awaited_in_place, options_of_a_storm_are_released_once) { EXPECT_EQ(sync_wait(stormed(gpu)).value(), 0u); }

struct named_child {
  result<int> handle(int x) { return x; }
};

task<result<std::string>> supervised_in_place(stage& on) {
  auto boss = on.spawn<supervisor>({.name = "a supervisor with a long name of its own"}, supervisor_options{},
                                   std::vector<child_spec>{});
  co_await boss.ask(start_child{{.id = "a child with a long name of its own", .start = [](const spawner& s) {
                                   return s.spawn<named_child>({.name = "an actor with a long name of its own"});
                                 }}});
  co_await boss.ask(terminate_child{.id = "a child with a long name of its own"});
  co_await boss.ask(restart_child{.id = "a child with a long name of its own"});
  co_await boss.ask(terminate_child{"a child with a long name of its own"});
  co_await boss.ask(delete_child{.id = "a child with a long name of its own"});
  const auto gone = co_await as_result(boss.ask(restart_child{.id = "a child with a long name of its own"}));
  co_return gone ? std::string("no error at all") : gone.error().to_string();
}

TEST_F(awaited_in_place, all_fields_of_messages_to_supervisors_arrive) {
  stage on;
  const auto text = sync_wait(supervised_in_place(on));
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_NE(text->find("a child with a long name of its own"), std::string::npos) << *text;
}

}  // namespace
}  // namespace troupe::whole
