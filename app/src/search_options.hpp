#pragma once

#include "options.hpp"

#include <cstdint>

namespace nearfield::app
{
  /// What a search lists.
  enum class list_kind
  {
    half,  ///< every pair of points once
    full,  ///< both (i, j) and (j, i)
    count, ///< the number of neighbours of every point
    table  ///< that, and a fixed number of places for them
  };

  /// The command `nearfield search`.
  struct search_options
  {
    std::filesystem::path input = {};
    /// 0: as the file says
    int dim = 0;
    std::vector<std::string> columns = {};
    std::string atom_style = {};
    app::precision precision = precision::f64;
    app::backend backend = backend::automatic;
    /// StarPU's CPU workers that search; 0: the calling thread
    int workers = 0;
    /// pairs closer than this
    double radius = 0;
    list_kind list = list_kind::half;
    /// places of a row of a table; none: as many as the point with the most neighbours needs
    std::optional<std::uint32_t> width = std::nullopt;
    /// of every axis; 0: the default
    int cells_per_cutoff = 0;
    /// a length for every axis, 0 where it is open; none: all are
    std::vector<double> periodic = {};
    /// the most bytes of the list; none: as many as there are
    std::optional<std::uint64_t> max_memory = std::nullopt;
    std::optional<std::filesystem::path> output = std::nullopt;
    std::optional<std::filesystem::path> json = std::nullopt;
  };

  inline char const* name_of(list_kind kind)
  {
    switch (kind)
    {
    case list_kind::half:
      return "half";
    case list_kind::full:
      return "full";
    case list_kind::count:
      return "count";
    default:
      return "table";
    }
  }
}
