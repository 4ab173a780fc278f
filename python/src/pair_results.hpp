#pragma once

#include "arrays.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// \file
/// The columns of a list of pairs that letters name.

namespace nearfield::python
{
  struct index_kind
  {
    nb::dlpack::dtype type;
    std::uint8_t bytes;
  };
  inline index_kind index_of(char const* name)
  {
    if (std::strcmp(name, "int64") == 0) return {nb::dtype<std::int64_t>(), 8};
    if (std::strcmp(name, "int32") == 0) return {nb::dtype<std::int32_t>(), 4};
    if (std::strcmp(name, "uint64") == 0) return {nb::dtype<std::uint64_t>(), 8};
    if (std::strcmp(name, "uint32") == 0) return {nb::dtype<std::uint32_t>(), 4};
    throw nb::value_error(
        ("index is '" + std::string(name) + "'; give 'int32', 'int64', 'uint32' or 'uint64'")
            .c_str());
  }

  /// Columns of pairs, by letter.
  class pair_results
  {
  public:
    /// Throws ValueError for letters that do not exist or do not go together.
    pair_results(char const* quantities, index_kind index, nf_real real, int dim,
                 std::size_t n_rows)
        : quantities_(quantities), index_(index), real_(type_of(real)),
          width_(static_cast<std::size_t>(dim)), n_rows_(n_rows)
    {
      for (char const letter : quantities_) of(letter);
      if (has('P') && (has('i') || has('j')))
        throw nb::value_error("quantities: give P, or i and j");
    }

    [[nodiscard]] std::uint64_t bytes_of_pair() const
    {
      std::uint64_t const index = index_.bytes, real = real_.bits / 8;
      return has('i') * index + has('j') * index + has('P') * 2 * index + has('d') * real +
             (has('D') * real + has('S') * 4) * width_;
    }

    /// Makes room for n pairs. Throws MemoryError.
    void make(std::size_t n, nf_pair_columns& to)
    {
      for (std::optional<result>& column : columns_) column.reset();
      to.room = static_cast<std::int64_t>(n);
      to.index_bytes = index_.bytes;
      auto const made = [&](char letter, nb::dlpack::dtype type, std::size_t size,
                            std::size_t width = 1) -> void*
      {
        return has(letter) ? of(letter).emplace(type, size, width).data() : nullptr;
      };
      to.i = made('i', index_.type, n);
      to.j = made('j', index_.type, n);
      to.r = made('d', real_, n);
      to.to_j = made('D', real_, n, width_);
      to.images = static_cast<std::int32_t*>(made('S', nb::dtype<std::int32_t>(), n, width_));
      to.offsets = static_cast<std::uint64_t*>(made('o', nb::dtype<std::uint64_t>(), n_rows_ + 1));
      if (auto* const both = static_cast<char*>(made('P', index_.type, n, 2)))
      {
        to.i = both;
        to.j = both + index_.bytes;
        to.index_stride = 2;
      }
    }

    /// The arrays of the first n pairs, in the order of the letters: one, or a tuple.
    nb::object take(std::size_t n)
    {
      std::array<nb::object, letters.size()> arrays;
      auto const taken = [&](char letter)
      {
        nb::object& values = arrays[letters.find(letter)];
        if (!values)
          values = std::move(*of(letter))
                       .take(letter == 'o' ? n_rows_ + 1 : n,
                             letter == 'D' || letter == 'S' || letter == 'P');
        return values;
      };
      if (quantities_.size() == 1) return taken(quantities_[0]);
      nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(quantities_.size())));
      for (std::size_t k = 0; k < quantities_.size(); ++k)
        PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(k),
                        taken(quantities_[k]).release().ptr());
      return tuple;
    }

  private:
    static constexpr std::string_view letters = "ijdDSPo";

    [[nodiscard]] bool has(char letter) const
    {
      return quantities_.find(letter) != std::string_view::npos;
    }
    std::optional<result>& of(char letter)
    {
      auto const at = letters.find(letter);
      if (at == std::string_view::npos)
        throw nb::value_error(("quantities have the letter '" + std::string(1, letter) +
                               "'; give i, j, d, D, S, P or o")
                                  .c_str());
      return columns_[at];
    }

    std::string_view quantities_;
    index_kind index_;
    nb::dlpack::dtype real_;
    std::size_t width_, n_rows_;
    std::array<std::optional<result>, letters.size()> columns_;
  };
}
