#pragma once

#include "compute.hpp"

#include <nearfield/core/error.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace nearfield::app
{
  /// Points that a time loop moves, wherever they are, by leapfrog steps: kick, drift, kick,
  ///
  ///     v += dt/2 a(x),   x += dt v,   v += dt/2 a(x),
  ///
  /// in double. Of second order in dt, and reversible: with -v the same steps lead back. (L. Verlet, Phys. Rev. 159,
  /// 98, 1967, doi:10.1103/PhysRev.159.98, in the form with velocities)
  class motion
  {
  public:
    explicit motion(double dt) : dt_(dt) {}
    virtual ~motion() = default;

    /// One step. Throws nearfield::error for a coordinate or an acceleration that is not finite, and leaves the
    /// velocities at half a step.
    void step()
    {
      kick(dt_ / 2);
      drift(dt_);
      accelerate();
      kick(dt_ / 2);
    }
    /// Brings positions, velocities and accelerations (outputs) to the points of the host, if they are elsewhere.
    virtual void fetch() = 0;
    /// Completes the report, at the end.
    virtual void finish() {}

    /// Of the last near field; seconds and tasks of all of them.
    [[nodiscard]] run_result const& report() const { return report_; }
    /// From positions to accelerations, in all.
    [[nodiscard]] double seconds() const { return seconds_; }

  protected:
    /// Counts a near field that took `seconds` from positions to accelerations.
    void count(run_result&& field, double seconds);
    [[nodiscard]] run_result& last() { return report_; }

  private:
    virtual void kick(double h) = 0;  ///< v += h a
    virtual void drift(double h) = 0; ///< x += h v
    virtual void accelerate() = 0;    ///< a = a(x)

    double dt_;
    run_result report_;
    double seconds_ = 0;
  };

  /// Throws nearfield::error, naming the point, for a value that is not finite.
  void check_finite(named_points const& of, std::vector<std::vector<double>> const& columns,
                    char const* what);

  /// What moves `of`, which outlives it, in the host's memory; points without velocities are at rest. `near_field()` gives
  /// that of the present positions; `factors` make accelerations of its outputs. `finish` completes the report.
  std::unique_ptr<motion> make_host_motion(ranks const& all, named_points& of, double dt,
                                           std::vector<double> factors,
                                           std::function<run_result()> near_field,
                                           std::function<void(run_result&)> finish = {});
  /// The same on a GPU alone, where the points stay.
  std::unique_ptr<motion> make_gpu_motion(run_options const& options, execution_options const& step,
                                          named_points& of, cut_options const& cut,
                                          std::vector<double> factors);
}
