// The main function of benchmark programs without their own.

#include "run.hpp"

int main(int argc, char** argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  return bench::run_benchmarks();
}
