#include <nearfield/search/page_array.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

namespace nearfield::detail
{
  namespace
  {
    constexpr std::size_t huge_page = std::size_t(2) << 20;

    // New pages cost an array system calls, and faults when they are first written. operator new has old ones.
    constexpr std::size_t least_mapped = huge_page;
    constexpr std::size_t line = 64;

    std::size_t whole_pages(std::size_t bytes)
    {
      constexpr std::size_t page = 4096;
      return (bytes + page - 1) / page * page;
    }

    // The first write to huge pages takes a fifth of the time that small ones take.
    void advise(void* pages, std::size_t bytes)
    {
#if defined(MADV_HUGEPAGE)
      if (bytes >= huge_page) madvise(pages, bytes, MADV_HUGEPAGE);
#else
      (void)pages, (void)bytes;
#endif
    }

    // Aligned operator new takes five times as long, and splits blocks. The word before the line is its result.
    void* new_lines(std::size_t bytes) noexcept
    {
      void* const memory = ::operator new(bytes + line, std::nothrow);
      if (!memory) return nullptr;
      auto const ahead = line - reinterpret_cast<std::uintptr_t>(memory) % line;
      void* const lines = static_cast<char*>(memory) + ahead;
      static_cast<void**>(lines)[-1] = memory;
      return lines;
    }
  }

  void* reserve_pages(std::size_t bytes) noexcept
  {
    if (bytes == 0) return nullptr;
    if (bytes < least_mapped) return new_lines(bytes);
    void* const pages = mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return nullptr;
    advise(pages, whole_pages(bytes));
    return pages;
  }

  void* resize_pages(void* pages, std::size_t from_bytes, std::size_t to_bytes) noexcept
  {
    if (std::min(from_bytes, to_bytes) < least_mapped)
    {
      void* const moved = reserve_pages(to_bytes);
      if (!moved) return nullptr;
      std::memcpy(moved, pages, std::min(from_bytes, to_bytes));
      release_pages(pages, from_bytes);
      return moved;
    }
    std::size_t const from = whole_pages(from_bytes), to = whole_pages(to_bytes);
    if (from == to) return pages;
#if defined(MREMAP_MAYMOVE)
    void* const moved = mremap(pages, from, to, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) return nullptr;
    if (to > from) advise(moved, to);
    return moved;
#else
    if (to < from)
    {
      munmap(static_cast<char*>(pages) + to, from - to);
      return pages;
    }
    void* const wider = reserve_pages(to);
    if (!wider) return nullptr;
    std::memcpy(wider, pages, from);
    munmap(pages, from);
    return wider;
#endif
  }

  void release_pages(void* pages, std::size_t bytes) noexcept
  {
    if (!pages) return;
    if (bytes < least_mapped)
      ::operator delete(static_cast<void**>(pages)[-1]);
    else
      munmap(pages, whole_pages(bytes));
  }
}
