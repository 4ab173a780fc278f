#pragma once

#include "text.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield::detail::io
{
  /// The columns of a file from left to right: what they are, by known_name() or `_`, and what the file calls them.
  struct named_columns
  {
    std::vector<std::string> names = {};
    std::vector<std::string> titles = {};
  };

  /// Those that have these names in a file, of which some may say nothing.
  named_columns columns_named(std::vector<std::string_view> const& titles);

  /// Those of read_options.columns, each of which must be known.
  named_columns columns_given(read_options const& options, std::string const& file);

  /// n columns of a file that has no names.
  named_columns usual_columns(std::size_t n, int dim);

  /// `column 3`, for a column without a name; k from 0.
  std::string numbered(std::size_t k);

  /// The meaning of the fields of a row: of each kind, which they are.
  struct column_map : named_columns
  {
    std::vector<std::size_t> positions = {}, velocities = {}, masses = {}, inputs = {},
                             outputs = {}, types = {}, parameters = {};
    std::vector<std::string> input_names = {}, output_names = {}, parameter_names = {};
    bool are_momenta = false;  ///< the velocities, which are to be divided by masses
    bool lacks_masses = false; ///< the file has momenta that are left out for that
    /// v or mv: of the velocities or momenta that are left out since a component is missing; otherwise empty
    std::string incomplete = {};
  };

  column_map map_of(named_columns columns, read_options const& options, place const& where);

  /// A point set with these columns, without points.
  point_set empty_set(column_map const& map);

  /// A column of points, and the column of the file that fills it.
  struct filled_column
  {
    std::size_t from;
    std::vector<double>* to;
    bool may_be_infinite = false;
  };
  std::vector<filled_column> columns_to_fill(column_map const& map, point_set& points);

  /// Begins a report, unless null, of a format by what each column is.
  void describe(column_map const& map, std::string const& format, file_report* report);

  /// Types by their names, numbered as they first appear.
  class type_numbers
  {
  public:
    /// Of the next point. Throws nearfield::error for an empty name.
    void add(std::string_view name, place const& where);
    void move_to(point_set& points);

  private:
    std::vector<index_type> of_points_;
    std::vector<std::string> names_;
    std::map<std::string, index_type, std::less<>> numbers_; ///< of names
  };

  /// p / m. Throws nearfield::error if that is not finite.
  double velocity_of(double momentum, double mass, place const& where);
}
