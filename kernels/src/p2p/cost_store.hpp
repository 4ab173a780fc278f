#pragma once

#include <nearfield/p2p/pair_cost.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nearfield::detail
{
  /// Costs on disk: a text file for each kind of machine in a folder. Its first line names version and machine, and each
  /// other one a subject and its samples. It is replaced by renaming, so readers see whole files, and of two processes
  /// that write at once one may have to measure again.
  class cost_store
  {
  public:
    /// An empty folder: nothing is kept.
    cost_store(std::filesystem::path const& folder, std::string const& machine);

    /// The samples of a subject, if the file has them. A file that is damaged, or of another machine or version, is
    /// ignored, with one line on stderr, until it is written again.
    [[nodiscard]] std::optional<std::vector<pair_cost::sample>>
    find(std::string const& subject) const;
    /// Adds a subject, or replaces it. What cannot be written is not kept.
    void keep(std::string const& subject, std::vector<pair_cost::sample> const& samples) const;

    /// Its file; empty if nothing is kept.
    [[nodiscard]] std::filesystem::path const& file() const { return file_; }

  private:
    using entries = std::map<std::string, std::vector<pair_cost::sample>>;
    [[nodiscard]] entries read(bool complains) const;

    std::filesystem::path file_;
    std::string first_line_;
  };

  /// The folder that the environment names: NEARFIELD_CACHE (empty for `no`), else $XDG_CACHE_HOME/nearfield, else
  /// ~/.cache/nearfield; empty if there is none of these.
  std::filesystem::path cost_folder();
}
