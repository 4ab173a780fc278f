#pragma once

#include "io/src/point_lists.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/io/points.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nearfield::app
{
  using nearfield::detail::number_text;

  /// Of a run, and of the numbers in its files.
  using precision = write_options::precision_type;

  /// The kind of result of a search.
  enum class list_kind
  {
    half,  ///< every pair of points once
    full,  ///< both (i, j) and (j, i)
    count, ///< the number of neighbours of every point
    table  ///< the same, and rows of fixed width with the neighbours
  };

  /// What moves the points.
  enum class force
  {
    gravity, ///< a_i = sum_j m_j (x_j - x_i) / |x_j - x_i|^3
    charges  ///< a_i = q_i / m_i sum_j q_j (x_i - x_j) / |x_i - x_j|^3
  };

  /// A time loop.
  struct motion_options
  {
    app::force force = force::gravity;
    std::uint64_t steps = 1;
    double dt = 0; ///< positive
    /// the steps from one frame to the next; none: no frames
    std::optional<std::uint64_t> frames = std::nullopt;
  };

  /// An interaction as given on the command line.
  struct interaction_choice
  {
    std::string name = "one_over_r";
    /// names and values of --param, which hold for all pairs
    std::vector<std::pair<std::string, double>> parameters = {};
    /// those of points, for all points of a file without that column
    std::vector<std::pair<std::string, double>> point_parameters = {};
  };

  /// Where and how one near-field step runs.
  struct execution_options
  {
    /// automatic: cuda where there are GPUs (gpu_alone() says how), simd elsewhere
    nearfield::backend backend = nearfield::backend::automatic;
    pair_form form = pair_form::automatic;
    /// StarPU's CPU workers; 0: the calling thread, without StarPU; none: StarPU's default if built in
    std::optional<int> workers = std::nullopt;
    /// none: STARPU_NCUDA, or all; without StarPU, one
    std::optional<int> gpus = std::nullopt;
    std::optional<int> leaves_per_group = std::nullopt;
    /// empty: StarPU's default
    std::string scheduler = {};
    /// number of runs of the step; the fastest is reported
    int repetitions = 1;
    /// whether the calling thread is faster than StarPU's start, and workers is 0 for that; none: not looked at yet
    std::optional<bool> is_small = std::nullopt;

    /// Whether one of them is for tasks alone.
    [[nodiscard]] bool ask_for_tasks() const
    {
      return workers || gpus || leaves_per_group || !scheduler.empty();
    }
  };

  /// The box that --cell and --pbc give.
  struct cell_choice
  {
    /// --cell file: that of INPUT, which settle_box() takes
    bool is_of_file = false;
    /// its vectors, one after the other, or its lengths along the axes, 0 for an open one; empty: none yet
    std::vector<double> numbers = {};
    /// whether it repeats along each vector; empty: along all
    std::vector<bool> pbc = {};
    std::vector<double> origin = {}; ///< a corner; empty: zeros

    [[nodiscard]] bool is_given() const { return is_of_file || !numbers.empty(); }
  };

  /// How the command reads a file, and what it writes.
  struct file_options
  {
    std::filesystem::path input = {};
    /// 0: as the file says
    int dim = 0;
    std::vector<std::string> columns = {};
    std::string atom_style = {};
    /// of a file with several
    std::optional<std::int64_t> frame = std::nullopt;
    /// empty: by the name of the file
    std::string format = {};
    app::precision precision = precision::f64;
    /// the period of every axis, 0 for an open one; empty: all axes are open
    std::vector<double> periodic = {};
    cell_choice cell = {};
    std::optional<std::filesystem::path> output = std::nullopt;
    std::optional<std::filesystem::path> json = std::nullopt;
  };

  /// The command `nearfield run`.
  struct run_options : file_options
  {
    std::optional<std::filesystem::path> sources = std::nullopt;
    std::vector<std::string> source_columns = {};
    interaction_choice interaction = {};
    /// none: points at rest
    std::optional<motion_options> motion = std::nullopt;
    execution_options step = {};
    std::optional<int> level = std::nullopt;
    int max_leaf_size = 64; ///< or automatic
    /// seconds of each leaf, for the automatic size
    std::optional<double> far_field_cost = std::nullopt;
    /// centre, then half width
    std::vector<double> box = {};
    /// the number of targets to check
    std::size_t check = 0;
    /// of files; f64 if an origin is subtracted before rounding to f32, so that they keep coordinates
    app::precision written = precision::f64;
  };

  /// The cutoff of pairs of points of two types, by their names.
  struct type_cutoff
  {
    std::array<std::string, 2> types = {};
    double cutoff = 0; ///< 0: such pairs never count
  };

  /// Which of the pairs within the radius count.
  struct pair_choice
  {
    /// of points: `file`, those of INPUT, or the name of another file; empty: none
    std::string types = {};
    std::vector<type_cutoff> cutoffs = {};
    /// a file of pairs that do not count
    std::optional<std::filesystem::path> exclude = std::nullopt;

    // what settle_pairs() finds
    std::vector<double> matrix = {};            ///< the cutoffs of all types, row by row
    nearfield::detail::pair_rows excluded = {}; ///< of the points of this process
    std::uint64_t n_excluded = 0;               ///< of all

    [[nodiscard]] bool is_all() const { return types.empty() && !exclude; }
    [[nodiscard]] bool has_types_of_input() const { return types == "file"; }
    [[nodiscard]] std::optional<std::filesystem::path> file_of_types() const
    {
      if (types.empty() || has_types_of_input()) return std::nullopt;
      return types;
    }
  };

  /// The command `nearfield search`.
  struct search_options : file_options
  {
    nearfield::backend backend = nearfield::backend::automatic;
    /// StarPU's CPU workers that search; 0: the calling thread
    int workers = 0;
    /// pairs closer than this
    double radius = 0;
    pair_choice pairs = {};
    list_kind list = list_kind::half;
    /// width of a table; none: the largest number of neighbours
    std::optional<std::uint32_t> width = std::nullopt;
    /// on every axis; 0: the default
    int cells_per_cutoff = 0;
    /// also which image of j a pair has
    bool shifts = false;
    /// upper limit for the bytes of the list; none: the available memory
    std::optional<std::uint64_t> max_memory = std::nullopt;
  };

  /// The command `nearfield info`.
  struct info_options
  {
    /// of these interactions all that is known, or of all
    std::vector<std::string> names = {};
    bool all_interactions = false;
  };

  /// The command `nearfield demo`.
  struct demo_options
  {
    int repetitions =
        10; ///< runs of each row, the fastest of which is reported; at most 3 for scalar
    std::filesystem::path folder = "nearfield-demo";
  };

  inline char const* name_of(precision p)
  {
    return p == precision::f32 ? "f32" : "f64";
  }

  inline char const* name_of(force f)
  {
    return f == force::gravity ? "gravity" : "charges";
  }

  inline char const* name_of(backend b)
  {
    return std::array{"auto", "scalar", "simd", "cuda"}.at(static_cast<std::size_t>(b));
  }

  inline char const* name_of(list_kind kind)
  {
    return std::array{"half", "full", "count", "table"}.at(static_cast<std::size_t>(kind));
  }

  /// f<T, Dim>() for the precision and the dimension of a run.
  template <class F>
  auto with_types(precision p, int dim, F const& f)
  {
    if (p == precision::f32)
      return dim == 2 ? f.template operator()<float, 2>() : f.template operator()<float, 3>();
    return dim == 2 ? f.template operator()<double, 2>() : f.template operator()<double, 3>();
  }

  inline bool is_of_cpu(backend b)
  {
    return b == backend::scalar || b == backend::simd;
  }
}
