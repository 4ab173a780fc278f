! Sums, a tree and a neighbour list from Fortran. docs/c.md shows the parts.
program from_fortran
  use nearfield
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  implicit none
  integer, parameter :: n = 1000
  real(real64), target :: x(3, n), q(n), sums(4, n), near_sums(4, n), x_eps(4, n), fields(4, n)
  real(real64), allocatable, target :: d(:, :)
  integer(int32), allocatable, target :: i(:), j(:)
  integer(int64) :: n_pairs
  integer(int32) :: stat
  integer :: t, s
  real(real64) :: value, error
  type(nf_interaction) :: k, gauss, gravity, unknown
  type(nf_threads) :: threads
  type(nf_tree) :: tree
  type(nf_cells) :: cells
  type(nf_box) :: box
  logical :: is_right

  call random_number(x)
  call random_number(q)
  sums = 0

  ! [fortran_sum]
  call nf_create(k, 'val_grad_one_over_r', 3)
  call nf_p2p(k, nf_view(x), nf_view(q), nf_view(sums)) ! x(3, n), q(n), sums(4, n)
  ! [fortran_sum]

  x_eps(1:3, :) = x
  x_eps(4, :) = 0
  fields = 0
  ! [fortran_parameters]
  call nf_create(gauss, 'gaussian', 3, names=['sigma'], values=[0.1d0])
  call nf_create(gravity, 'individual_plummer_gravity', 3)
  call nf_p2p(gravity, nf_view(x_eps), nf_view(q), nf_view(fields)) ! x_eps(4, n): x, y, z, eps
  ! [fortran_parameters]

  ! [fortran_tree]
  call nf_create(threads)
  call nf_create(tree, nf_view(x), max_leaf_size=32, threads=threads)
  call nf_near_field(k, tree, nf_view(x), nf_view(q), nf_view(near_sums), threads=threads)
  ! [fortran_tree]

  ! [fortran_search]
  box%vectors(:, 1) = [1d0, 0d0, 0d0]
  box%vectors(:, 2) = [0.3d0, 1d0, 0d0]
  box%periodic = [1, 1, 0]
  call nf_create(cells, nf_view(x), 0.1d0, box=box)
  call nf_count(cells, n_pairs)
  allocate (i(n_pairs), j(n_pairs), d(3, n_pairs))
  call nf_find(cells, i, j, n_pairs, d=nf_view(d)) ! indices count from 1
  ! [fortran_search]

  error = 0
  do t = 1, n
    value = 0
    do s = 1, n
      if (s /= t) value = value + q(s)/norm2(x(:, t) - x(:, s))
    end do
    error = max(error, abs(value - sums(1, t))/value)
  end do
  is_right = error < 1d-13 .and. all(near_sums(1, :) <= sums(1, :)) .and. all(sum(d**2, 1) < 0.1d0**2)
  ! without softening it is 1/r with its gradient
  is_right = is_right .and. all(abs(fields - sums) <= 1d-13*maxval(abs(sums)))
  is_right = is_right .and. minval(i) >= 1 .and. maxval(i) <= n
  ! in the open direction no image is near
  is_right = is_right .and. all(d(3, :) == x(3, i) - x(3, j))

  ! [fortran_errors]
  call nf_create(unknown, 'one_over_rr', 3, stat=stat)
  if (stat == nf_invalid_argument) print '(a)', nf_error()
  ! [fortran_errors]
  is_right = is_right .and. stat == nf_invalid_argument

  print '(3a, es8.1, a, i0, a)', 'nearfield ', nf_version(), ': error', error, ', ', n_pairs, ' pairs'
  call nf_destroy(cells)
  call nf_destroy(tree)
  call nf_destroy(threads)
  call nf_destroy(gauss)
  call nf_destroy(gravity)
  call nf_destroy(k)
  if (.not. is_right) error stop 'a result is wrong'
end program
