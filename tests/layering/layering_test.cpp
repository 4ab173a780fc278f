// What the build does not hold (docs/design.md, "Components"): each foreign library is seen by the one that stands
// for it, whether or not the compiler finds its headers; public headers keep no state; and device memory is allocated
// in one place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace
{
  namespace fs = std::filesystem;

  struct source_file
  {
    std::string path; // from the repository's root
    std::vector<std::string> includes;
  };

  bool is_xsimd(std::string const& include)
  {
    return include.starts_with("xsimd");
  }

  struct foreign_library
  {
    std::regex includes, may_be_in;
    std::string why;
  };

  // Tests, examples and benchmarks see everything, but CUDA.
  std::vector<foreign_library> const foreign_libraries{
      {std::regex("^(cuda|nvtx|cub/|thrust/|cooperative_groups|device_launch_parameters).*"),
       std::regex(R"(.*\.(cuh|cu|cpp|in)$)"), "CUDA stays in .cuh, .cu and .cpp files"},
      {std::regex("^starpu(_(?!mpi)|\\.).*"), std::regex("^(runtime|tests|examples|bench)/.*"),
       "only runtime/ knows StarPU"},
      {std::regex("^(mpi|starpu_mpi)\\.h$"),
       std::regex("^(runtime/mpi|app/src/mpi|tests|examples|bench)/.*"),
       "only runtime/mpi and app/src/mpi know MPI"},
      {std::regex("^zlib\\.h$"), std::regex("^(io/src|tests)/.*"), "only the readers know zlib"},
      {std::regex("^xsimd.*"),
       std::regex(
           "^(kernels/include/nearfield/(simd/|p2p/simd\\.hpp)|kernels/src/|search/src/|tests/|"
           "examples/|bench/).*"),
       "xsimd stays in nearfield/simd, nearfield/p2p/simd.hpp, kernels/src and search/src"}};

  // One line for each include of the file that its place does not allow.
  std::vector<std::string> violations(source_file const& file)
  {
    std::vector<std::string> found;
    for (auto const& include : file.includes)
      for (auto const& [includes, may_be_in, why] : foreign_libraries)
        if (std::regex_match(include, includes) && !std::regex_match(file.path, may_be_in))
          found.push_back(file.path + " includes <" + include + ">: " + why);
    return found;
  }

  std::vector<std::string> includes_of(std::istream& text)
  {
    std::vector<std::string> found;
    for (std::string line; std::getline(text, line);)
    {
      auto const hash = line.find_first_not_of(" \t");
      if (hash == std::string::npos || line[hash] != '#') continue;
      auto const word = line.find_first_not_of(" \t", hash + 1);
      if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
      auto const open = line.find_first_of("<\"", word);
      if (open == std::string::npos) continue;
      auto const close = line.find_first_of(">\"", open + 1);
      found.push_back(line.substr(open + 1, close - open - 1));
    }
    return found;
  }

  std::vector<source_file> all_sources()
  {
    std::vector<source_file> files;
    fs::path const root = NEARFIELD_SOURCE_DIR;
    for (auto const* room : {"core", "kernels", "tree", "search", "c", "adapters", "io", "runtime",
                             "app", "examples", "bench", "tests"})
    {
      if (!fs::exists(root / room)) continue;
      for (auto const& entry : fs::recursive_directory_iterator(root / room))
      {
        static std::set<std::string> const sources{".hpp", ".cpp", ".cuh", ".cu", ".in"};
        if (!entry.is_regular_file() || !sources.contains(entry.path().extension().string()))
          continue;
        std::ifstream text{entry.path()};
        files.push_back({fs::relative(entry.path(), root).generic_string(), includes_of(text)});
      }
    }
    return files;
  }

  // The names <nearfield/...> and others that a header brings in, itself or through what it includes.
  std::set<std::string> reached_from(std::string const& header,
                                     std::vector<source_file> const& files)
  {
    std::set<std::string> reached;
    std::vector<std::string> open{header};
    while (!open.empty())
    {
      auto const name = open.back();
      open.pop_back();
      if (!reached.insert(name).second) continue;
      auto const file = std::find_if(files.begin(), files.end(), [&](auto const& f)
                                     { return f.path.ends_with("/include/" + name); });
      if (file != files.end())
        open.insert(open.end(), file->includes.begin(), file->includes.end());
    }
    return reached;
  }

  // A variable that lives as long as the program, and changes: `x = ...`, `(*f)(...) = ...`, `x;`.
  bool is_state(std::string line)
  {
    line = std::regex_replace(line, std::regex{R"(\s*//.*)"}, "");
    // scratch: what it holds is of one call, so a copy in each library does no harm
    if (line.ends_with("thread_local std::vector<T> memory;")) return false;
    static std::regex const variable{R"(^\s*(template\s*<.*>\s*)?(inline|static|thread_local)\s+)"
                                     R"(([^(]*[^=]=[^=]|.*\(\*\w+\)\(.*\)\s*=|[^()]*;$))"};
    static std::regex const other{
        R"(\b(constexpr|namespace|operator)\b|\bconst \w+(\[\w*\])?\s*[={])"};
    return std::regex_search(line, variable) && !std::regex_search(line, other);
  }

  TEST(layering, foreign_libraries_stay_in_their_rooms)
  {
    auto const files = all_sources();
    ASSERT_GT(files.size(), 20U) << "the sources were not found below " NEARFIELD_SOURCE_DIR;
    for (auto const& file : files) EXPECT_THAT(violations(file), testing::IsEmpty());
  }

  // A .cu file includes the vocabulary and the interactions, and nvcc cannot read xsimd.
  TEST(layering, vocabulary_and_interactions_never_reach_xsimd)
  {
    auto const files = all_sources();
    for (auto const& file : files)
    {
      auto const at = file.path.find("/include/nearfield/");
      if (at == std::string::npos) continue;
      auto const name = file.path.substr(at + 9);
      if (!name.starts_with("nearfield/core/") && !name.starts_with("nearfield/kernels/")) continue;
      for (auto const& reached : reached_from(name, files))
        EXPECT_FALSE(is_xsimd(reached)) << name << " reaches <" << reached << ">";
    }
  }

  // Symbols of headers are hidden in shared libraries (core/config.hpp): each would have a copy of its own.
  TEST(layering, public_headers_keep_no_state)
  {
    std::size_t n_headers = 0;
    for (auto const& file : all_sources())
    {
      if (file.path.find("/include/nearfield/") == std::string::npos) continue;
      ++n_headers;
      std::ifstream text{fs::path(NEARFIELD_SOURCE_DIR) / file.path};
      for (std::string line; std::getline(text, line);)
        EXPECT_FALSE(is_state(line)) << file.path << ": " << line;
    }
    EXPECT_GT(n_headers, 50U);
    for (auto const* state :
         {"    inline void (*stage_hook)(char const* stage, cuda_stream stream) = nullptr;",
          "  inline int n_calls = 0;", "  static std::map<int, int> known;",
          "  thread_local bool busy{}; // since the last call",
          "  template <class T> inline T last = T(0);"})
      EXPECT_TRUE(is_state(state)) << state;
    for (auto const* other :
         {"  inline constexpr int width = 4;", "  static T const value = f(x);",
          "  static K const k{};", "  static auto* const made = new codelet;",
          "  static int count(unsigned mask = 0);", "  inline char const* name_of(kind k)",
          "  static void run(K const& k) { f(k); }"})
      EXPECT_FALSE(is_state(other)) << other;
  }

  // An allocator of the user's (set_device_memory) serves all of them.
  TEST(layering, device_memory_is_allocated_in_one_file)
  {
    std::regex const elsewhere("^(bench|examples|tests)/.*");
    std::regex const call(
        R"(\bcuda(Malloc|Free)(Async|FromPoolAsync|Managed|Pitch|3D)?\(|device_vector)");
    std::set<std::string> found;
    for (auto const& file : all_sources())
    {
      if (std::regex_match(file.path, elsewhere)) continue;
      std::ifstream text{fs::path(NEARFIELD_SOURCE_DIR) / file.path};
      for (std::string line; std::getline(text, line);)
        if (std::regex_search(line, call)) found.insert(file.path);
    }
    EXPECT_THAT(found, testing::ElementsAre("core/src/cuda/pool.cpp"));
  }

  TEST(layering, a_planted_line_is_judged)
  {
    struct
    {
      std::string path, line;
      bool allowed;
    } const planted[]{
        {"runtime/src/step.cpp", "#include <starpu.h>", true},
        {"kernels/src/near_field.cpp", "  #  include <starpu.h>", false},
        {"app/main.cpp", "#include <starpu.h>", false},
        {"app/main.cpp", "#include <nearfield/starpu/runtime.hpp>", true},
        {"runtime/include/nearfield/starpu/x.hpp", "#include <cuda_runtime.h>", false},
        {"core/include/nearfield/cuda/device.hpp", "#include <cuda_runtime.h>", false},
        {"core/include/nearfield/core/x.hpp", "#include <nearfield/cuda/device.hpp>", true},
        {"core/src/cuda/device.cpp", "#include <cuda_runtime_api.h>", true},
        {"kernels/include/nearfield/p2p/cuda.cuh", "#include <cuda_runtime.h>", true},
        {"core/include/nearfield/core/math.hpp", "#include <xsimd/xsimd.hpp>", false},
        {"search/src/registers.hpp", "#include <xsimd/xsimd.hpp>", true},
        {"search/include/nearfield/search/pairs.hpp", "#include \"xsimd/xsimd.hpp\"", false},
        {"kernels/include/nearfield/simd/rsqrt.hpp", "#include <xsimd/xsimd.hpp>", true},
        {"runtime/src/step.cpp", "#include <xsimd/xsimd.hpp>", false},
        {"runtime/mpi/src/step.cpp", "#include <starpu_mpi.h>", true},
        {"runtime/src/step.cpp", "#include <mpi.h>", false},
        {"app/src/mpi/run.cpp", "#include <mpi.h>", true},
        {"app/src/mpi/run.cpp", "#include <starpu.h>", false},
        {"app/src/run.cpp", "#include <starpu_mpi.h>", false},
        {"io/src/gzip.cpp", "#include <zlib.h>", true},
        {"app/src/run.cpp", "#include <zlib.h>", false},
    };
    for (auto const& [path, line, is_allowed] : planted)
    {
      std::istringstream text{line};
      EXPECT_EQ(violations({path, includes_of(text)}).empty(), is_allowed) << path << ": " << line;
    }
  }
}
