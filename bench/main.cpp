// The main of benchmark programs that have none of their own.

#include "run.hpp"

int main(int argc, char** argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  return bench::run_benchmarks();
}
