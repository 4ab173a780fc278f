#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/nearfield.h>

#include <gmock/gmock.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>

/// \file
/// Handles that destroy themselves, and views of columns, for tests of the C interface.

namespace nearfield::test
{
  struct destroy
  {
    void operator()(nf_threads* handle) const { nf_threads_destroy(handle); }
    void operator()(nf_interaction* handle) const { nf_interaction_destroy(handle); }
    void operator()(nf_leaf_list* handle) const { nf_leaf_list_destroy(handle); }
    void operator()(nf_tree* handle) const { nf_tree_destroy(handle); }
    void operator()(nf_cells* handle) const { nf_cells_destroy(handle); }
    void operator()(nf_pair_list* handle) const { nf_pair_list_destroy(handle); }
    void operator()(nf_p2p_tasks* handle) const { nf_p2p_tasks_destroy(handle); }
    void operator()(nf_step* handle) const { nf_step_destroy(handle); }
  };

  /// What create(arguments..., &handle) makes, which must succeed.
  template <class Handle, class... Parameters, class... Arguments>
  std::unique_ptr<Handle, destroy> made(nf_status (*create)(Parameters...),
                                        Arguments const&... arguments)
  {
    Handle* handle = nullptr;
    EXPECT_EQ(create(arguments..., &handle), nf_ok) << nf_last_error();
    return std::unique_ptr<Handle, destroy>(handle);
  }

  /// The columns of a view for the C interface.
  template <class T, int N>
  struct c_columns
  {
    std::array<void*, N> pointers;
    nf_columns view;

    explicit c_columns(soa<T, N> const& of)
    {
      for (int c = 0; c < N; ++c) pointers[c] = const_cast<std::remove_const_t<T>*>(of[c]);
      view = nf_apart(std::same_as<std::remove_const_t<T>, float> ? nf_float32 : nf_float64,
                      pointers.data(), static_cast<std::int64_t>(of.size()), N);
    }
    c_columns(c_columns const&) = delete;
  };

  /// A struct with its size.
  template <class Options>
  Options options_with_size()
  {
    Options options{};
    options.size = sizeof options;
    return options;
  }

  /// That the last call has failed with this status, and with one line that holds all the words.
  template <class... Words>
  void expect_failure(nf_status found, nf_status expected, Words const&... words)
  {
    using testing::HasSubstr;
    EXPECT_EQ(found, expected);
    EXPECT_THAT(nf_last_error(),
                testing::AllOf(HasSubstr(words)..., testing::Not(HasSubstr("\n"))));
  }
}
