// The main function of benchmark programs without their own.

#include "peaks.hpp"
#include "run.hpp"

int main(int argc, char** argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::add_peaks_of_cores();
  return bench::run_benchmarks();
}
