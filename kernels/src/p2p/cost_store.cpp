#include "cost_store.hpp"

#include <nearfield/core/numbers.hpp>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string_view>
#include <system_error>

namespace nearfield::detail
{
  namespace
  {
    constexpr std::uintmax_t most_bytes = 1 << 20; // hundreds of interactions

    // FNV-1a: the same in every build
    std::string number_of(std::string const& text)
    {
      std::uint32_t hash = 2166136261u;
      for (unsigned char const c : text) hash = (hash ^ c) * 16777619u;
      return std::to_string(hash);
    }

    /// Takes the word before the next separator off the front of `text`.
    std::string_view next_word(std::string_view& text, char separator)
    {
      auto const end = text.find(separator);
      auto const word = text.substr(0, end);
      text = end == text.npos ? std::string_view() : text.substr(end + 1);
      return word;
    }

    std::optional<std::vector<pair_cost::sample>> samples_in(std::string_view text)
    {
      std::vector<pair_cost::sample> samples;
      while (!text.empty())
      {
        double values[3];
        for (double& value : values)
          if (read_number(next_word(text, ' '), value) != number_status::good) return std::nullopt;
        samples.push_back({values[0], values[1], values[2]});
      }
      try
      {
        return pair_cost(std::move(samples), pair_cost::origin::kept).samples();
      }
      catch (error const&)
      {
        return std::nullopt;
      }
    }
  }

  cost_store::cost_store(std::filesystem::path const& folder, std::string const& machine)
      : first_line_("nearfield " NEARFIELD_VERSION
                    ", 4, seconds of leaves and of their sources on " +
                    machine)
  {
    if (!folder.empty()) file_ = folder / ("pair_cost_" + number_of(first_line_) + ".txt");
  }

  cost_store::entries cost_store::read(bool complains) const
  {
    entries found;
    if (file_.empty()) return found;
    auto const ignore = [&](char const* why)
    {
      if (complains)
        std::cerr << "nearfield: " << file_.string() << ": " << why
                  << "; ignored, and measured anew" << std::endl;
      return entries();
    };
    // a pipe would be waited for, and a device may have no end
    std::error_code unknown;
    auto const status = std::filesystem::status(file_, unknown);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
      return ignore("unreadable, not a regular file");
    if (std::filesystem::file_size(file_, unknown) > most_bytes && !unknown)
      return ignore("too large");
    std::ifstream stream(file_, std::ios::binary);
    if (!stream) return found;
    std::string bytes;
    try
    {
      bytes.assign(std::istreambuf_iterator<char>(stream), {});
    }
    catch (std::ios_base::failure const&)
    {
      return ignore("unreadable");
    }
    std::string_view text = bytes;
    if (next_word(text, '\n') != first_line_) return ignore("not of this version and machine");
    if (bytes.back() != '\n') return ignore("incomplete");
    while (!text.empty())
    {
      auto line = next_word(text, '\n');
      std::string const subject(next_word(line, ':'));
      auto samples = samples_in(line);
      if (!samples) return ignore("damaged");
      found[subject] = std::move(*samples);
    }
    return found;
  }

  std::optional<std::vector<pair_cost::sample>> cost_store::find(std::string const& subject) const
  {
    auto found = read(true);
    auto const at = found.find(subject);
    return at == found.end() ? std::nullopt : std::optional(std::move(at->second));
  }

  void cost_store::keep(std::string const& subject,
                        std::vector<pair_cost::sample> const& samples) const
  {
    if (file_.empty()) return;
    auto all = read(false); // another process may have added to it
    all[subject] = samples;
    std::string text = first_line_ + "\n";
    for (auto const& [name, of_name] : all)
    {
      char separator = ':';
      text += name;
      for (auto const& sample : of_name)
        for (double const value : {sample.targets, sample.seconds, sample.seconds_per_source})
        {
          text += separator;
          append_number(text, value);
          separator = ' ';
        }
      text += '\n';
    }
    std::error_code failed;
    std::filesystem::create_directories(file_.parent_path(), failed);
    auto temporary = file_;
    temporary += "." + std::to_string(std::random_device()());
    bool written = false;
    {
      std::ofstream stream(temporary, std::ios::binary);
      written = static_cast<bool>(stream << text << std::flush);
    }
    if (written) std::filesystem::rename(temporary, file_, failed);
    if (!written || failed) std::filesystem::remove(temporary, failed);
  }

  std::filesystem::path cost_folder()
  {
    auto const value_of = [](char const* name)
    {
      char const* const value = std::getenv(name);
      return std::string(value ? value : "");
    };
    if (std::string const named = value_of("NEARFIELD_CACHE"); !named.empty())
      return named == "no" ? "" : named;
    if (std::string const cache = value_of("XDG_CACHE_HOME"); cache.starts_with('/'))
      return cache + "/nearfield";
    std::string const home = value_of("HOME");
    return home.empty() ? "" : home + "/.cache/nearfield";
  }
}
