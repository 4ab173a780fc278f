#include "column_names.hpp"

#include "text.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace nearfield::detail::io
{
  namespace
  {
    using word_list = std::span<std::string_view const>;

    constexpr std::string_view positions[]{"pos",    "position",   "positions",   "coord",
                                           "coords", "coordinate", "coordinates", "points"};
    constexpr std::string_view velocities[]{"v", "vel", "velo", "velocity", "velocities"};
    constexpr std::string_view momenta[]{"momenta", "momentum"};
    constexpr std::pair<char const*, word_list> vectors[]{
        {"", positions}, {"v", velocities}, {"mv", momenta}};
    constexpr std::string_view masses[]{"m", "mass", "masses"};
    constexpr std::string_view charges[]{"q",
                                         "charge",
                                         "charges",
                                         "initial_charge",
                                         "initial_charges",
                                         "partial_charge",
                                         "partial_charges"};
    constexpr std::string_view types[]{"type",    "types",   "atom-type", "atom_type",
                                       "species", "element", "symbol",    "symbols"};
    constexpr std::string_view labels[]{
        "id",   "ids",      "index",  "mol",     "molecule", "atom",        "name",
        "flag", "template", "radius", "atom-id", "atom_id",  "molecule-id", "molecule_id"};

    bool is_one_of(word_list known, std::string_view word)
    {
      return std::find(known.begin(), known.end(), word) != known.end();
    }

    // x of pos_x, pos.x, posx and x_pos, 0 of Points:0; 3 for other names
    std::size_t component_of(std::string_view name, word_list prefixes)
    {
      constexpr std::string_view separators = "_:.- ";
      for (auto const prefix : prefixes)
      {
        auto rest = name;
        if (name.starts_with(prefix))
          rest.remove_prefix(prefix.size());
        else if (prefix.size() > 1 && name.ends_with(prefix))
          rest.remove_suffix(prefix.size());
        else
          continue;
        bool const is_separated =
            rest.size() == 2 && (separators.find(rest[0]) != rest.npos ||
                                 (separators.find(rest[1]) != rest.npos && is_letter(rest[0])));
        if (rest.size() != 1 && !is_separated) continue;
        char const axis =
            rest.size() == 1 || separators.find(rest[0]) == rest.npos ? rest[0] : rest[1];
        auto const a = std::string_view(is_separated ? "xyz012" : "xyz").find(axis);
        if (a != rest.npos) return a % 3;
      }
      return 3;
    }

    // In lower case, without quotes, the number of a column in front and a unit behind (`x [nm]`).
    std::string plain(std::string_view name)
    {
      name = without_number(trimmed(unquoted(trimmed(name))));
      if (auto const unit = name.find_first_of("[(");
          unit != name.npos && unit > 0 && (name.back() == ']' || name.back() == ')'))
        name = trimmed(name.substr(0, unit));
      return lower(name);
    }

    bool is_output(std::string_view name)
    {
      return number_of(name, "phi") != 0 || number_of(name, "gx") != 0 ||
             number_of(name, "gy") != 0 || number_of(name, "gz") != 0 || axis_of(name, "a") < 3;
    }

    // The place of the first name for x that one for y follows; the number of words if there is none.
    std::size_t x_before_y(std::vector<std::string_view> const& words)
    {
      for (std::size_t w = 0; w + 1 < words.size(); ++w)
        if (known_name(words[w]) == "x" && known_name(words[w + 1]) == "y") return w;
      return words.size();
    }

    bool is_prose(std::string_view word)
    {
      for (auto const* each :
           {"and", "or", "of", "in", "the", "are", "is", "with", "for", "by", "to", "=", ":"})
        if (lower(word) == each) return true;
      return false;
    }

    bool is_unit(std::string_view word)
    {
      return (word.starts_with('[') || word.starts_with('(')) && without_number(word) == word;
    }
  }

  std::size_t number_of(std::string_view name, std::string_view prefix)
  {
    if (!name.starts_with(prefix)) return 0;
    name.remove_prefix(prefix.size());
    if (name.empty()) return 1;
    if (!is_digit(name[0]) || name[0] == '0') return 0;
    auto const k = static_cast<std::size_t>(integer_in(name).value_or(0));
    return k <= max_values_per_point ? k : 0;
  }

  std::size_t axis_of(std::string_view name, std::string_view prefix)
  {
    if (!name.starts_with(prefix) || name.size() != prefix.size() + 1) return 3;
    return std::min<std::size_t>(std::string_view("xyz").find(name.back()), 3);
  }

  std::string known_name(std::string_view name)
  {
    auto const word = plain(name);
    if (axis_of(word, "") < 3 || number_of(word, "q") != 0 || is_output(word)) return word;
    if (is_one_of(masses, word)) return "m";
    if (is_one_of(charges, word)) return "q";
    if (is_one_of(types, word)) return "type";
    for (auto const& [prefix, names] : vectors)
      if (auto const axis = component_of(word, names); axis < 3)
        return std::string(prefix) + "xyz"[axis];
    return {};
  }

  std::vector<std::string> known_names(std::string_view property, std::size_t count)
  {
    auto const word = plain(property);
    std::vector<std::string> names(count, "_");
    auto const vector = [&](std::string_view prefix)
    {
      for (std::size_t k = 0; k < count; ++k) names[k] = std::string(prefix) + "xyz"[k];
      return names;
    };
    if (count == 2 || count == 3)
    {
      for (auto const& [prefix, known] : vectors)
        if (is_one_of(known, word)) return vector(prefix);
      if (word == "xyz") return vector("");
      if (word == "gradient") return vector("g");
      if (word == "acceleration") return vector("a");
    }
    if (count == 1)
      if (auto const known = known_name(property); !known.empty()) return {known};
    if (count > 1 && is_one_of(charges, word))
      for (std::size_t k = 0; k < count; ++k) names[k] = "q" + std::to_string(k + 1);
    return names;
  }

  std::string_view without_number(std::string_view name)
  {
    auto rest = name;
    bool const is_in_brackets = rest.starts_with('[');
    if (is_in_brackets) rest.remove_prefix(1);
    auto const digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    rest.remove_prefix(digits);
    if (digits == 0 || !rest.starts_with(is_in_brackets ? ']' : ':')) return name;
    rest.remove_prefix(1);
    if (is_in_brackets && rest.starts_with('=')) rest.remove_prefix(1);
    return rest.empty() ? name : rest;
  }

  std::string one_of(std::vector<std::string> const& names, std::string_view title)
  {
    auto const found = std::find(names.begin(), names.end(), plain(title));
    return found == names.end() ? std::string() : *found;
  }

  bool is_label(std::string_view name)
  {
    return is_one_of(labels, plain(name));
  }

  bool has_name(std::vector<std::string_view> const& words, std::string_view name)
  {
    return std::any_of(words.begin(), words.end(),
                       [&](auto word) { return known_name(word) == name; });
  }

  std::vector<std::string_view> names_in(std::string_view comment, std::optional<std::size_t> n,
                                         bool& mentions)
  {
    mentions = false;
    auto text = trimmed(comment);
    if (auto rest = text; take_field(rest).ends_with(':')) text = trimmed(rest);
    for (char const delimiter : {delimiter_of(text), '\t', ' '})
    {
      auto words = fields_in(text, delimiter);
      std::erase_if(words, is_unit);
      if (has_number(words)) continue;
      auto const at = x_before_y(words);
      if (has_name(words, "x") && has_name(words, "y") && (!n || words.size() == n) &&
          std::none_of(words.begin(), words.end(), is_prose))
        return words;
      if (at == words.size()) continue;
      mentions = true;
      auto const says = [](std::string_view word)
      {
        return word == "_" || !known_name(word).empty() || is_label(word);
      };
      auto begin = at, end = at;
      while (begin > 0 && says(words[begin - 1])) --begin;
      while (end < words.size() && says(words[end])) ++end;
      // another name beside them would be that of a column
      bool const is_apart = (begin == 0 || is_prose(words[begin - 1])) &&
                            (end == words.size() || is_prose(words[end]));
      if (is_apart && (!n || end - begin == *n))
        return {words.begin() + static_cast<std::ptrdiff_t>(begin),
                words.begin() + static_cast<std::ptrdiff_t>(end)};
    }
    return {};
  }

  bool lists_names(std::string_view comment, std::size_t n)
  {
    auto const words = fields_in(comment, delimiter_of(comment));
    if (std::any_of(words.begin(), words.end(), is_prose)) return false;
    auto const known = std::count_if(words.begin(), words.end(), [](auto word)
                                     { return !known_name(word).empty() || is_label(word); });
    return known > 1 || (known == 1 && words.size() == n);
  }

  bool has_known_name(std::string_view text)
  {
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1)
    {
      end = begin;
      while (end < text.size() && (is_letter(text[end]) || text[end] == '_')) ++end;
      auto const word = text.substr(begin, end - begin);
      if (!word.empty() && (!known_name(word).empty() || is_label(word))) return true;
    }
    return false;
  }

  bool names_x_before_y(std::string_view comment)
  {
    auto const words = fields_in(comment, delimiter_of(comment));
    return x_before_y(words) < words.size();
  }
}
