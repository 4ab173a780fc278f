#include "core/src/cuda/trace.hpp"
#include "search/search_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nearfield::test
{
  using names = std::vector<std::string>;

  TEST(search_trace, hears_of_every_stage_in_order)
  {
    std::size_t const n = 10000;
    auto const set = make_points<double, 3>(cloud::uniform, n);
    device_columns<double, 3> const x(set.view());
    double const cutoff = cutoff_for<3>(110, n);
    names stages, outer;
    {
      detail::stage_trace const before([&](char const* stage, cuda_stream)
                                       { outer.emplace_back(stage); });
      detail::stage_trace const trace(
          [&](char const* stage, cuda_stream stream)
          {
            EXPECT_EQ(stream, cuda.stream);
            stages.emplace_back(stage);
          });
      cuda_cell_list<double, 3> cells(cuda, x.view(), cutoff);
      names const build{"bounds", "histogram", "cells", "scatter"};
      EXPECT_EQ(stages, build);

      stages.clear();
      EXPECT_GT(radius_search(cuda, cells, count_pairs{}).total, n);
      EXPECT_EQ(stages, names{"count"});

      // items whose masks found no room are searched once more
      auto const without_fill = [&]
      {
        if (!stages.empty() && stages.back() == "fill") stages.pop_back();
        return stages;
      };
      stages.clear();
      EXPECT_GT(radius_search(cuda, cells, to_coo{}).size(), n);
      EXPECT_EQ(without_fill(), (names{"rank", "count", "scan and wait", "expand", "expand rows"}));

      stages.clear();
      EXPECT_EQ(radius_search(cuda, cells, to_csr{}).size(), n);
      EXPECT_EQ(without_fill(), (names{"count", "scan and wait", "expand rows"}));

      stages.clear();
      EXPECT_EQ(radius_search(cuda, cells, to_table{}).size(), n);
      EXPECT_EQ(stages, names{"fill"});

      stages.clear();
      cells.rebuild(x.view());
      EXPECT_EQ(stages, build);
    }
    EXPECT_EQ(outer, names{}) << "the newest one is called alone";

    stages.clear();
    cuda_cell_list<double, 3> cells(cuda, x.view(), cutoff);
    EXPECT_EQ(stages, names{}) << "the trace is gone";
  }
}
