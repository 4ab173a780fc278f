// Stands in for a profiler: NVTX loads this library where NVTX_INJECTION64_PATH names it. Prints the names of
// all ranges when the program ends.

#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

namespace
{
  struct names_of_ranges
  {
    std::mutex mutex;
    std::map<std::string, int> pushed;
    int open = 0;

    ~names_of_ranges()
    {
      for (auto const& [name, times] : pushed)
        std::printf("range '%s': %d times\n", name.c_str(), times);
      std::printf("ranges left open: %d\n", open);
    }
  };
  names_of_ranges names;

  int push(char const* name)
  {
    std::lock_guard const lock(names.mutex);
    ++names.pushed[name];
    return names.open++;
  }

  int pop()
  {
    std::lock_guard const lock(names.mutex);
    return --names.open;
  }
}

extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t tables)
{
  auto const* const callbacks =
      static_cast<NvtxExportTableCallbacks const*>(tables(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned n = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &functions, &n))
    return 0;
  if (n <= NVTX_CBID_CORE_RangePop) return 0;
  *functions[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(&push);
  *functions[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(&pop);
  return 1;
}
