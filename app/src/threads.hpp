#pragma once

#include <nearfield/core/executor.hpp>

namespace nearfield::app
{
  /// Threads of this program, the calling one among them: each loop starts the others. For loops outside StarPU.
  class threads final : public executor
  {
  public:
    /// As many as there are processors, up to `most`.
    explicit threads(int most);

    [[nodiscard]] int workers() const override { return n_; }
    /// With fewer threads if the system refuses some.
    void run(int n, std::function<void(int)> const& f) override;

  private:
    int n_;
  };
}
