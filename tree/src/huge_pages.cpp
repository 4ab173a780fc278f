#include "huge_pages.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace nearfield::detail
{
  void advise_huge_pages(void* memory, std::size_t bytes) noexcept
  {
#if defined(MADV_HUGEPAGE)
    constexpr std::size_t page = 4096, huge_page = std::size_t(2) << 20;
    if (bytes < huge_page) return;
    std::size_t const ahead = (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;
    // Without huge pages all is as before, so its result does not matter.
    madvise(static_cast<char*>(memory) + ahead, (bytes - ahead) / page * page, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
  }
}
