#include <nearfield/core/where.hpp>

#include "points.hpp"
#include "reference.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/p2p.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

// ctest runs this program once as it is, and once for every NEARFIELD_ISA (CMakeLists.txt): the variable
// is read once in the life of a program.

namespace nearfield::test
{
  namespace
  {
    using ::testing::AllOf;
    using ::testing::HasSubstr;
    using ::testing::Not;
    using ::testing::ThrowsMessage;

    constexpr isa all_isas[] = {isa::scalar, isa::sse2, isa::avx2, isa::avx512, isa::neon64};

    std::string wanted()
    {
      char const* const value = std::getenv("NEARFIELD_ISA");
      return value ? value : "";
    }

    bool is_available(std::string_view name)
    {
      return std::ranges::any_of(available_isas(), [&](isa a) { return name_of(a) == name; });
    }

    bool is_known(std::string_view name)
    {
      return std::ranges::any_of(all_isas, [&](isa a) { return name_of(a) == name; });
    }

    void run_simd(std::vector<double>& out)
    {
      auto const x = make_points<double, 3>(cloud::uniform, out.size());
      auto const q = make_values<double>(out.size());
      p2p_inner(simd, one_over_r<3>{}, x.view(), soa{q}, soa{out});
    }
  }

  TEST(isa, have_names_and_scalar_is_always_there)
  {
    std::vector<isa> const here = available_isas();
    ASSERT_FALSE(here.empty());
    EXPECT_EQ(here.front(), isa::scalar);
    EXPECT_TRUE(std::ranges::is_sorted(here)) << "narrowest first";
    EXPECT_EQ(name_of(isa::scalar), "scalar");
    EXPECT_EQ(name_of(isa::sse2), "sse2");
    EXPECT_EQ(name_of(isa::avx2), "avx2");
    EXPECT_EQ(name_of(isa::avx512), "avx512");
    EXPECT_EQ(name_of(isa::neon64), "neon64");
  }

  TEST(forced_isa, is_what_simd_runs_on)
  {
    if (!wanted().empty() && !is_known(wanted()))
      GTEST_SKIP() << "NEARFIELD_ISA=" << wanted() << " is no instruction set";
    if (!wanted().empty() && !is_available(wanted()))
      GTEST_SKIP() << "no " << wanted() << " in this build or on this machine";
    isa const expected = wanted().empty() ? available_isas().back() : []
    {
      for (isa const which : all_isas)
        if (name_of(which) == wanted()) return which;
      return isa::best;
    }();
    EXPECT_EQ(name_of(selected_isa()), name_of(expected));
    EXPECT_EQ((kernels_of<double, one_over_r<3>>(simd).mutual),
              (kernels_of<double, one_over_r<3>>(simd_backend{expected}).mutual));

    std::size_t const n = 100;
    std::vector<double> out(n);
    run_simd(out);
    auto const x = make_points<double, 3>(cloud::uniform, n);
    auto const q = make_values<double>(n);
    auto const sums = reference(one_over_r<3>{}, x.view(), x.view(), soa{q}, other_points);
    EXPECT_LE(error_of(soa<double, 1>{out}, sums), tolerance<double>);
  }

  TEST(forced_isa, is_refused_in_one_line_where_it_cannot_run)
  {
    if (wanted().empty() || is_available(wanted()))
      GTEST_SKIP() << "NEARFIELD_ISA='" << wanted() << "' can run here";
    auto const refused = ThrowsMessage<error>(
        AllOf(HasSubstr("NEARFIELD_ISA"), HasSubstr("'" + wanted() + "'"),
              HasSubstr("available are scalar"), Not(HasSubstr("\n")),
              HasSubstr(is_known(wanted()) ? "not " : "unknown instruction set")));
    std::vector<double> out(3);
    EXPECT_THAT([] { selected_isa(); }, refused);
    EXPECT_THAT([&] { run_simd(out); }, refused);
    EXPECT_EQ(out, std::vector<double>(3));
  }

  // Four instruction sets, or fewer: what each is called by is a kernel of its own.
  TEST(isa, kernels_are_different_functions)
  {
    std::vector<detail::p2p_function<float>> functions;
    for (isa const which : available_isas())
      functions.push_back(kernels_of<float, one_over_r<3>>(simd_backend{which}).one_sided);
    std::ranges::sort(functions);
    EXPECT_EQ(std::ranges::adjacent_find(functions), functions.end());
  }
}
