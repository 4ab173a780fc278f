#pragma once

#include <nearfield/core/config.hpp>

#include <stdexcept>
#include <string>

namespace nearfield
{
  /// What went wrong, for callers that decide what to do next.
  enum class error_kind
  {
    invalid_argument, ///< an argument, option or environment variable: correct the call
    invalid_data,     ///< the content of a file: correct the file
    file,             ///< the system cannot open, read or write a file; the message has its reason
    out_of_memory, ///< too little host or GPU memory, or a limit such as max_bytes: take a smaller problem
    not_available, ///< no GPU, instruction set or StarPU worker for this: run elsewhere, or build with it
    cuda_failure,  ///< a CUDA function or kernel failed
    starpu_failure ///< a StarPU function failed
  };

  /// The exception that nearfield throws. Its message is one line that names the argument, the
  /// value found and the remedy.
  class NEARFIELD_API error : public std::runtime_error
  {
  public:
    /// Keeps the message unchanged.
    explicit error(std::string const& what, error_kind kind = error_kind::invalid_argument,
                   int code = 0)
        : std::runtime_error(what), kind_(kind), code_(code)
    {}

    /// What went wrong.
    [[nodiscard]] error_kind kind() const noexcept { return kind_; }
    /// The cudaError_t that CUDA returned, or the negative errno that StarPU returned; 0 if neither failed. The
    /// kind is then cuda_failure, starpu_failure, out_of_memory or not_available.
    [[nodiscard]] int code() const noexcept { return code_; }

  private:
    error_kind kind_;
    int code_;
  };
}
