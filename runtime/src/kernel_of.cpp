#include <nearfield/starpu/kernel_of.hpp>

#include <nearfield/kernels/any_interaction.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfield::starpu::detail
{
  int type_number(std::string_view type_name)
  {
    std::uint32_t hash = 2166136261u; // FNV-1a
    for (char const c : type_name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return static_cast<int>(hash >> 1);
  }

  template <class T>
  kernel_type<T> const& builtin_kernel_type(int number)
  {
    static auto const types = []
    {
      std::vector<kernel_type<T>> made;
      for (nearfield::detail::erased_type const& of : nearfield::detail::erased_types())
        made.push_back({{of.shape, "", of.number, true, ""},
                        [](int n) { return nearfield::detail::builtin_kernels<T>(n, isa::best); },
                        [](int n) { return nearfield::detail::builtin_kernels<T>(n, isa::scalar); },
#if defined(STARPU_USE_CUDA)
                        &nearfield::detail::builtin_cuda_kernels<T>,
#else
                        nullptr,
#endif
                        [](int n)
                        {
                          auto const& info = interaction_infos()[static_cast<std::size_t>(n)];
                          return kernel_of<T>(any_interaction(info.name, info.dim));
                        }});
      return made;
    }();
    return types[static_cast<std::size_t>(number)];
  }
  template kernel_type<float> const& builtin_kernel_type(int);
  template kernel_type<double> const& builtin_kernel_type(int);
}
