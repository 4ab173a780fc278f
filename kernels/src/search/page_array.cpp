#include <nearfield/search/page_array.hpp>

#include <sys/mman.h>

namespace nearfield::detail
{
  void* reserve_pages(std::size_t bytes) noexcept
  {
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
  }

  void* resize_pages(void* pages, std::size_t from_bytes, std::size_t to_bytes) noexcept
  {
    void* const moved = mremap(pages, from_bytes, to_bytes, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? nullptr : moved;
  }

  void release_pages(void* pages, std::size_t bytes) noexcept
  {
    if (pages) munmap(pages, bytes);
  }
}
