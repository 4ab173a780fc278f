#include "comment_names.hpp"

#include "column_names.hpp"
#include "text.hpp"

#include <algorithm>

namespace nearfield::detail::io
{
  namespace
  {
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

  std::vector<std::string_view> names_in(std::string_view comment, std::optional<std::size_t> n,
                                         bool& mentions)
  {
    mentions = false;
    std::vector<std::string_view> words;
    auto text = trimmed(comment);
    if (auto rest = text; take_field(rest).ends_with(':')) text = trimmed(rest);
    for (char const delimiter : {delimiter_of(text), '\t', ' '})
    {
      split(text, delimiter, words);
      std::erase_if(words, is_unit);
      if (has_number(words)) continue;
      auto const at = x_before_y(words);
      bool const names_both =
          std::any_of(words.begin(), words.end(), [](auto w) { return known_name(w) == "x"; }) &&
          std::any_of(words.begin(), words.end(), [](auto w) { return known_name(w) == "y"; });
      if (names_both && (!n || words.size() == n) &&
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
    std::vector<std::string_view> words;
    split(comment, delimiter_of(comment), words);
    if (std::any_of(words.begin(), words.end(), is_prose)) return false;
    auto const known =
        std::count_if(words.begin(), words.end(),
                      [](auto word) { return !known_name(word).empty() || is_label(word); });
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
    std::vector<std::string_view> words;
    split(comment, delimiter_of(comment), words);
    return x_before_y(words) < words.size();
  }
}
