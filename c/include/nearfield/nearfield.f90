!> The Fortran interface of nearfield: sums over pairs of points, trees, and pairs within a radius (docs/c.md).
!>
!> Points, inputs and outputs are views of arrays: nf_view(x) of x(3, n), which holds point after point, or of q(n). The arrays
!> are contiguous, have the attribute `target`, and are all real(real32) or all real(real64). Indices count from 1.
!>
!> Every subroutine that may fail has a last argument `stat`, which becomes nf_ok or another status; nf_error() then has one
!> line about it. Without `stat` an error stops the program with that line.
module nearfield
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64, error_unit
  implicit none
  private

  integer(int32), parameter, public :: nf_ok = 0, nf_invalid_argument = 1, nf_out_of_memory = 2, &
    nf_not_available = 3, nf_no_room = 4, nf_cuda_failure = 5, nf_failure = 6
  integer(int32), parameter, public :: nf_one_sided = 0, nf_mutual = 1, nf_automatic = 2
  integer(int32), parameter, public :: nf_by_cell = 0, nf_by_row = 1, nf_sorted = 2
  integer(int32), parameter :: abi_version = 1

  !> Columns of an array, as in <nearfield/nearfield.h>; nf_view() makes one.
  type, bind(c), public :: nf_columns
    type(c_ptr) :: first, columns
    integer(c_int64_t) :: n_points, stride, column_stride
    integer(c_int32_t) :: n_columns, real
  end type

  !> Threads of this library, for arguments `threads`.
  type, public :: nf_threads
    type(c_ptr), private :: handle = c_null_ptr
  end type
  !> An interaction with values of its parameters.
  type, public :: nf_interaction
    type(c_ptr), private :: handle = c_null_ptr
  end type
  !> Leaves of points that are sorted by leaf, and the leaves that each one meets.
  type, public :: nf_leaf_list
    type(c_ptr), private :: handle = c_null_ptr
  end type
  !> A tree of one set of points, or of targets and sources.
  type, public :: nf_tree
    type(c_ptr), private :: handle = c_null_ptr
  end type
  !> Points sorted for a search.
  type, public :: nf_cells
    type(c_ptr), private :: handle = c_null_ptr
    integer(c_int32_t), private :: dim = 0, real = 0
  end type

  !> A box: vectors(:, a) is vector a, which repeats where periodic(a) is 1. By default it is open.
  type, bind(c), public :: nf_box
    real(c_double) :: vectors(3, 3) = 0
    integer(c_int32_t) :: periodic(3) = 0
    real(c_double) :: origin(3) = 0
  end type

  type, bind(c) :: c_place
    integer(c_size_t) :: bytes
    type(c_ptr) :: threads = c_null_ptr, stream = c_null_ptr
    integer(c_int32_t) :: backend = 0
  end type
  type, bind(c) :: c_leaf_list_options
    integer(c_size_t) :: bytes
    integer(c_int64_t) :: n_leaves
    type(c_ptr) :: offsets, source_offsets = c_null_ptr, neighbour_offsets, neighbours, shift_of = c_null_ptr
    integer(c_int64_t) :: n_shifts = 0
    type(c_ptr) :: shifts = c_null_ptr
  end type
  type, bind(c) :: c_tree_options
    integer(c_size_t) :: bytes
    integer(c_int32_t) :: max_leaf_size = 0, is_uniform = 0, level = 0, has_root = 0
    real(c_double) :: root_centre(3) = 0, root_half_width = 0
    type(nf_box) :: box
  end type
  type, bind(c) :: c_cells_options
    integer(c_size_t) :: bytes
    integer(c_int32_t) :: closed = 0
    type(nf_box) :: box
    integer(c_int32_t) :: cells_per_cutoff(3) = 0, skin_is_each = 0
    real(c_double) :: skin = 0
    integer(c_int64_t) :: n_systems = 0
    type(c_ptr) :: offsets = c_null_ptr, order = c_null_ptr, source_offsets = c_null_ptr, source_order = c_null_ptr
    type(c_ptr) :: cutoffs = c_null_ptr, boxes = c_null_ptr
  end type
  type, bind(c) :: c_near_field_options
    integer(c_size_t) :: bytes
    integer(c_int32_t) :: accumulate = 0, form = nf_one_sided, ranges_may_coincide = 0
  end type
  type, bind(c) :: c_pair_columns
    integer(c_size_t) :: bytes
    integer(c_int32_t) :: which = 0, order = nf_by_cell
    integer(c_int64_t) :: room
    integer(c_int32_t) :: index_bytes, index_base = 1
    type(c_ptr) :: i, j
    integer(c_int64_t) :: index_stride = 0
    type(c_ptr) :: r2 = c_null_ptr, r = c_null_ptr, d = c_null_ptr, to_j = c_null_ptr, images = c_null_ptr
    integer(c_int64_t) :: vector_stride = 0, vector_column_stride = 0
    type(c_ptr) :: offsets = c_null_ptr
  end type

  public :: nf_view, nf_create, nf_destroy, nf_p2p, nf_near_field, nf_count, nf_find, nf_update, nf_error, nf_version

  !> The columns of x(n_columns, n), point after point, or of q(n).
  interface nf_view
    module procedure view_1_real32, view_2_real32, view_1_real64, view_2_real64
  end interface

  !> nf_create(threads [, most])
  !> nf_create(interaction, name, dim [, names, values])
  !> nf_create(leaves, offsets, neighbour_offsets, neighbours [, source_offsets]): leaf b has the points offsets(b) ...
  !>   offsets(b + 1) - 1, and meets the leaves neighbours(neighbour_offsets(b)) ... neighbours(neighbour_offsets(b + 1) - 1)
  !> nf_create(tree, x [, y, max_leaf_size, level, box, threads])
  !> nf_create(cells, x, cutoff [, y, box, closed, skin, threads])
  interface nf_create
    module procedure create_threads, create_interaction, create_leaves, create_tree, create_cells
  end interface

  !> Frees what nf_create made.
  interface nf_destroy
    module procedure destroy_threads, destroy_interaction, destroy_leaves, destroy_tree, destroy_cells
  end interface

  !> nf_near_field(k, leaves, x, q, out [, y, accumulate, form, threads]) over an nf_leaf_list, an nf_tree or nf_cells:
  !> out_i = sum_j K(x_i - x_j) q_j, or over the sources y, of all leaves that the leaf of i meets
  interface nf_near_field
    module procedure near_field_of_leaves, near_field_of_tree, near_field_of_cells
  end interface

  !> nf_find(cells, i, j, n [, half, order, r2, d, images, threads]): writes pairs to i(:) and j(:), and their number to n.
  !> nf_no_room: n exceeds the arrays, which hold the first pairs. d = x_i - (x_j + sum_a images(a) vectors(:, a)).
  interface nf_find
    module procedure find_int32, find_int64
  end interface

  interface
    function c_abi_version() bind(c, name='nf_abi_version') result(version)
      import
      integer(c_int32_t) :: version
    end function
    function c_version() bind(c, name='nf_version') result(text)
      import
      type(c_ptr) :: text
    end function
    function c_last_error() bind(c, name='nf_last_error') result(text)
      import
      type(c_ptr) :: text
    end function
    function c_fail(status, message) bind(c, name='nf_fail') result(same)
      import
      integer(c_int32_t), value :: status
      character(kind=c_char) :: message(*)
      integer(c_int32_t) :: same
    end function
    function strlen(text) bind(c) result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function

    function c_threads_create(most, threads) bind(c, name='nf_threads_create') result(status)
      import
      integer(c_int32_t), value :: most
      type(c_ptr) :: threads
      integer(c_int32_t) :: status
    end function
    function c_interaction_create(name, dim, n_parameters, names, values, interaction) &
        bind(c, name='nf_interaction_create') result(status)
      import
      character(kind=c_char) :: name(*)
      integer(c_int32_t), value :: dim, n_parameters
      type(c_ptr) :: names(*), interaction
      real(c_double) :: values(*)
      integer(c_int32_t) :: status
    end function
    function c_leaf_list_create(where, options, leaves) bind(c, name='nf_leaf_list_create') result(status)
      import
      type(c_place) :: where
      type(c_leaf_list_options) :: options
      type(c_ptr) :: leaves
      integer(c_int32_t) :: status
    end function
    function c_tree_create(where, x, y, options, tree) bind(c, name='nf_tree_create') result(status)
      import
      type(c_place) :: where
      type(nf_columns), value :: x
      type(nf_columns), optional :: y
      type(c_tree_options) :: options
      type(c_ptr) :: tree
      integer(c_int32_t) :: status
    end function
    function c_cells_create(where, x, y, cutoff, options, cells) bind(c, name='nf_cells_create') result(status)
      import
      type(c_place) :: where
      type(nf_columns), value :: x
      type(nf_columns), optional :: y
      real(c_double), value :: cutoff
      type(c_cells_options) :: options
      type(c_ptr) :: cells
      integer(c_int32_t) :: status
    end function
    function c_cells_update(cells, x, y, rebuilt) bind(c, name='nf_cells_update') result(status)
      import
      type(c_ptr), value :: cells
      type(nf_columns), value :: x
      type(nf_columns), optional :: y
      integer(c_int32_t) :: rebuilt
      integer(c_int32_t) :: status
    end function

    subroutine c_threads_destroy(handle) bind(c, name='nf_threads_destroy')
      import
      type(c_ptr), value :: handle
    end subroutine
    subroutine c_interaction_destroy(handle) bind(c, name='nf_interaction_destroy')
      import
      type(c_ptr), value :: handle
    end subroutine
    subroutine c_leaf_list_destroy(handle) bind(c, name='nf_leaf_list_destroy')
      import
      type(c_ptr), value :: handle
    end subroutine
    subroutine c_tree_destroy(handle) bind(c, name='nf_tree_destroy')
      import
      type(c_ptr), value :: handle
    end subroutine
    subroutine c_cells_destroy(handle) bind(c, name='nf_cells_destroy')
      import
      type(c_ptr), value :: handle
    end subroutine

    function c_p2p_inner(where, k, x, q, out) bind(c, name='nf_p2p_inner') result(status)
      import
      type(c_place) :: where
      type(c_ptr), value :: k
      type(nf_columns), value :: x, q, out
      integer(c_int32_t) :: status
    end function
    function c_p2p_inner_mutual(where, k, x, q, out) bind(c, name='nf_p2p_inner_mutual') result(status)
      import
      type(c_place) :: where
      type(c_ptr), value :: k
      type(nf_columns), value :: x, q, out
      integer(c_int32_t) :: status
    end function
    function c_p2p_outer(where, k, x, y, q, out) bind(c, name='nf_p2p_outer') result(status)
      import
      type(c_place) :: where
      type(c_ptr), value :: k
      type(nf_columns), value :: x, y, q, out
      integer(c_int32_t) :: status
    end function
    function c_near_field_of_leaves(where, k, leaves, x, y, q, out, options) &
        bind(c, name='nf_near_field_of_leaves') result(status)
      import
      type(c_place) :: where
      type(c_ptr), value :: k, leaves
      type(nf_columns), value :: x, q, out
      type(nf_columns), optional :: y
      type(c_near_field_options) :: options
      integer(c_int32_t) :: status
    end function
    function c_near_field_of_tree(where, k, leaves, x, y, q, out, options) &
        bind(c, name='nf_near_field_of_tree') result(status)
      import
      type(c_place) :: where
      type(c_ptr), value :: k, leaves
      type(nf_columns), value :: x, q, out
      type(nf_columns), optional :: y
      type(c_near_field_options) :: options
      integer(c_int32_t) :: status
    end function
    function c_near_field_of_cells(where, k, leaves, x, y, q, out, options) &
        bind(c, name='nf_near_field_of_cells') result(status)
      import
      type(c_place) :: where
      type(c_ptr), value :: k, leaves
      type(nf_columns), value :: x, q, out
      type(nf_columns), optional :: y
      type(c_near_field_options) :: options
      integer(c_int32_t) :: status
    end function
    function c_count_pairs(where, cells, which, n_pairs, per_point) bind(c, name='nf_count_pairs') result(status)
      import
      type(c_place) :: where
      type(c_ptr), value :: cells
      integer(c_int32_t), value :: which
      integer(c_int64_t) :: n_pairs
      integer(c_int32_t), optional :: per_point(*)
      integer(c_int32_t) :: status
    end function
    function c_find_pairs(where, cells, to, n_pairs) bind(c, name='nf_find_pairs') result(status)
      import
      type(c_place) :: where
      type(c_ptr), value :: cells
      type(c_pair_columns) :: to
      integer(c_int64_t) :: n_pairs
      integer(c_int32_t) :: status
    end function
  end interface

contains

  function text_of(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(pointer, letters, [strlen(pointer)])
    allocate (character(len=size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  !> One line about the last call of this thread that has failed.
  function nf_error() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_last_error())
  end function

  !> The version of nearfield.
  function nf_version() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_version())
  end function

  subroutine report(status, stat)
    integer(c_int32_t), intent(in) :: status
    integer(int32), intent(out), optional :: stat
    if (present(stat)) then
      stat = status
    else if (status /= nf_ok) then
      write (error_unit, '(2a)') 'nearfield: ', nf_error()
      error stop 1
    end if
  end subroutine

  subroutine refuse(message, stat)
    character(len=*), intent(in) :: message
    integer(int32), intent(out), optional :: stat
    call report(c_fail(nf_invalid_argument, message//c_null_char), stat)
  end subroutine

  function place_of(threads) result(place)
    type(nf_threads), intent(in), optional :: threads
    type(c_place) :: place
    place = c_place(0)
    place%bytes = c_sizeof(place)
    if (present(threads)) place%threads = threads%handle
  end function

  function flag(given) result(number)
    logical, intent(in), optional :: given
    integer(c_int32_t) :: number
    number = 0
    if (present(given)) number = merge(1, 0, given)
  end function

  ! A view is how a result leaves: arrays without an intent here, and views with the attribute `target` where they are results,
  ! keep optimisers (gfortran at -O1) from taking those arrays for unchanged.
  function view_of(first, n_columns, n_points, real) result(view)
    type(c_ptr), intent(in) :: first
    integer, intent(in) :: n_columns, real
    integer(int64), intent(in) :: n_points
    type(nf_columns) :: view
    view = nf_columns(first, c_null_ptr, n_points, max(n_columns, 1), 1_int64, n_columns, real)
  end function
  function view_1_real32(a) result(view)
    real(real32), contiguous, target :: a(:)
    type(nf_columns) :: view
    view = view_of(c_loc(a), 1, size(a, kind=int64), 1)
  end function
  function view_2_real32(a) result(view)
    real(real32), contiguous, target :: a(:, :)
    type(nf_columns) :: view
    view = view_of(c_loc(a), size(a, 1), size(a, 2, kind=int64), 1)
  end function
  function view_1_real64(a) result(view)
    real(real64), contiguous, target :: a(:)
    type(nf_columns) :: view
    view = view_of(c_loc(a), 1, size(a, kind=int64), 2)
  end function
  function view_2_real64(a) result(view)
    real(real64), contiguous, target :: a(:, :)
    type(nf_columns) :: view
    view = view_of(c_loc(a), size(a, 1), size(a, 2, kind=int64), 2)
  end function

  subroutine create_threads(threads, most, stat)
    type(nf_threads), intent(out) :: threads
    integer(int32), intent(in), optional :: most
    integer(int32), intent(out), optional :: stat
    integer(c_int32_t) :: limit
    if (c_abi_version() /= abi_version) error stop 'nearfield: the library has another version than its Fortran module'
    limit = 0
    if (present(most)) limit = most
    call report(c_threads_create(limit, threads%handle), stat)
  end subroutine

  subroutine create_interaction(k, name, dim, names, values, stat)
    type(nf_interaction), intent(out) :: k
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: dim
    character(len=*), intent(in), optional :: names(:)
    real(real64), intent(in), optional :: values(:)
    integer(int32), intent(out), optional :: stat
    character(kind=c_char, len=80), allocatable, target :: ended(:)
    type(c_ptr), allocatable :: pointers(:)
    real(real64), allocatable :: numbers(:)
    integer :: p
    if (c_abi_version() /= abi_version) error stop 'nearfield: the library has another version than its Fortran module'
    allocate (pointers(0), numbers(0))
    if (present(names) .and. present(values)) then
      if (size(names) /= size(values)) then
        call refuse('nf_create: names and values differ in size', stat)
        return
      end if
      numbers = values
      allocate (ended(size(names)))
      do p = 1, size(names)
        ended(p) = trim(names(p))//c_null_char ! longer ones are unknown, and stay so
      end do
      pointers = [(c_loc(ended(p)), p=1, size(names))]
    end if
    call report(c_interaction_create(trim(name)//c_null_char, dim, size(numbers), pointers, numbers, k%handle), stat)
  end subroutine

  subroutine create_leaves(leaves, offsets, neighbour_offsets, neighbours, source_offsets, stat)
    type(nf_leaf_list), intent(out) :: leaves
    integer(int64), intent(in) :: offsets(:), neighbour_offsets(:), neighbours(:)
    integer(int64), intent(in), optional :: source_offsets(:)
    integer(int32), intent(out), optional :: stat
    integer(int64), allocatable, target :: from_0(:, :), met(:)
    type(c_leaf_list_options) :: options
    integer :: n
    n = size(offsets)
    if (n < 1 .or. size(neighbour_offsets) /= n) then
      call refuse('nf_create: offsets and neighbour_offsets differ in size', stat)
      return
    end if
    if (neighbour_offsets(n) > size(neighbours) + 1) then
      call refuse('nf_create: neighbour_offsets ends beyond neighbours', stat)
      return
    end if
    allocate (from_0(n, 3))
    from_0(:, 1) = offsets - 1
    from_0(:, 2) = neighbour_offsets - 1
    met = neighbours - 1
    options = c_leaf_list_options(0, n - 1, c_loc(from_0(1, 1)), c_null_ptr, c_loc(from_0(1, 2)), c_loc(met))
    options%bytes = c_sizeof(options)
    if (present(source_offsets)) then
      if (size(source_offsets) /= n) then
        call refuse('nf_create: offsets and source_offsets differ in size', stat)
        return
      end if
      from_0(:, 3) = source_offsets - 1
      options%source_offsets = c_loc(from_0(1, 3))
    end if
    call report(c_leaf_list_create(place_of(), options, leaves%handle), stat)
  end subroutine

  subroutine create_tree(tree, x, y, max_leaf_size, level, box, threads, stat)
    type(nf_tree), intent(out) :: tree
    type(nf_columns), intent(in) :: x
    type(nf_columns), intent(in), optional :: y
    integer(int32), intent(in), optional :: max_leaf_size, level
    type(nf_box), intent(in), optional :: box
    type(nf_threads), intent(in), optional :: threads
    integer(int32), intent(out), optional :: stat
    type(c_tree_options) :: options
    options = c_tree_options(0, box=nf_box())
    options%bytes = c_sizeof(options)
    if (present(max_leaf_size)) options%max_leaf_size = max_leaf_size
    if (present(level)) then
      options%is_uniform = 1
      options%level = level
    end if
    if (present(box)) options%box = box
    call report(c_tree_create(place_of(threads), x, y, options, tree%handle), stat)
  end subroutine

  subroutine create_cells(cells, x, cutoff, y, box, closed, skin, threads, stat)
    type(nf_cells), intent(out) :: cells
    type(nf_columns), intent(in) :: x
    real(real64), intent(in) :: cutoff
    type(nf_columns), intent(in), optional :: y
    type(nf_box), intent(in), optional :: box
    logical, intent(in), optional :: closed
    real(real64), intent(in), optional :: skin
    type(nf_threads), intent(in), optional :: threads
    integer(int32), intent(out), optional :: stat
    type(c_cells_options) :: options
    options = c_cells_options(0, box=nf_box())
    options%bytes = c_sizeof(options)
    options%closed = flag(closed)
    if (present(box)) options%box = box
    if (present(skin)) options%skin = skin
    cells%dim = x%n_columns
    cells%real = x%real
    call report(c_cells_create(place_of(threads), x, y, cutoff, options, cells%handle), stat)
  end subroutine

  !> The same points after they moved: sorts them again if one has moved further than the skin allows.
  subroutine nf_update(cells, x, y, rebuilt, stat)
    type(nf_cells), intent(inout) :: cells
    type(nf_columns), intent(in) :: x
    type(nf_columns), intent(in), optional :: y
    logical, intent(out), optional :: rebuilt
    integer(int32), intent(out), optional :: stat
    integer(c_int32_t) :: is_new
    is_new = 0
    call report(c_cells_update(cells%handle, x, y, is_new), stat)
    if (present(rebuilt)) rebuilt = is_new /= 0
  end subroutine

  subroutine destroy_threads(threads)
    type(nf_threads), intent(inout) :: threads
    call c_threads_destroy(threads%handle)
    threads%handle = c_null_ptr
  end subroutine
  subroutine destroy_interaction(k)
    type(nf_interaction), intent(inout) :: k
    call c_interaction_destroy(k%handle)
    k%handle = c_null_ptr
  end subroutine
  subroutine destroy_leaves(leaves)
    type(nf_leaf_list), intent(inout) :: leaves
    call c_leaf_list_destroy(leaves%handle)
    leaves%handle = c_null_ptr
  end subroutine
  subroutine destroy_tree(tree)
    type(nf_tree), intent(inout) :: tree
    call c_tree_destroy(tree%handle)
    tree%handle = c_null_ptr
  end subroutine
  subroutine destroy_cells(cells)
    type(nf_cells), intent(inout) :: cells
    call c_cells_destroy(cells%handle)
    cells%handle = c_null_ptr
  end subroutine

  !> out_i += sum_{j /= i} K(x_i - x_j) q_j or, with sources y, sum_j K(x_i - y_j) q_j. Mutual: K is evaluated once for each
  !> pair of one set.
  subroutine nf_p2p(k, x, q, out, y, mutual, threads, stat)
    type(nf_interaction), intent(in) :: k
    type(nf_columns), intent(in) :: x, q
    type(nf_columns), intent(in), target :: out
    type(nf_columns), intent(in), optional :: y
    logical, intent(in), optional :: mutual
    type(nf_threads), intent(in), optional :: threads
    integer(int32), intent(out), optional :: stat
    type(c_place) :: place
    place = place_of(threads)
    if (flag(mutual) == 1 .and. present(y)) then
      call refuse('nf_p2p: the mutual form is for one set; leave y out', stat)
    else if (present(y)) then
      call report(c_p2p_outer(place, k%handle, x, y, q, out), stat)
    else if (flag(mutual) == 1) then
      call report(c_p2p_inner_mutual(place, k%handle, x, q, out), stat)
    else
      call report(c_p2p_inner(place, k%handle, x, q, out), stat)
    end if
  end subroutine

  function near_field_options_of(accumulate, form) result(options)
    logical, intent(in), optional :: accumulate
    integer(int32), intent(in), optional :: form
    type(c_near_field_options) :: options
    options = c_near_field_options(0)
    options%bytes = c_sizeof(options)
    options%accumulate = flag(accumulate)
    if (present(form)) options%form = form
  end function
  subroutine near_field_of_leaves(k, leaves, x, q, out, y, accumulate, form, threads, stat)
    type(nf_interaction), intent(in) :: k
    type(nf_leaf_list), intent(in) :: leaves
    type(nf_columns), intent(in) :: x, q
    type(nf_columns), intent(in), target :: out
    type(nf_columns), intent(in), optional :: y
    logical, intent(in), optional :: accumulate
    integer(int32), intent(in), optional :: form
    type(nf_threads), intent(in), optional :: threads
    integer(int32), intent(out), optional :: stat
    call report(c_near_field_of_leaves(place_of(threads), k%handle, leaves%handle, x, y, q, out, &
                                       near_field_options_of(accumulate, form)), stat)
  end subroutine
  subroutine near_field_of_tree(k, tree, x, q, out, y, accumulate, form, threads, stat)
    type(nf_interaction), intent(in) :: k
    type(nf_tree), intent(in) :: tree
    type(nf_columns), intent(in) :: x, q
    type(nf_columns), intent(in), target :: out
    type(nf_columns), intent(in), optional :: y
    logical, intent(in), optional :: accumulate
    integer(int32), intent(in), optional :: form
    type(nf_threads), intent(in), optional :: threads
    integer(int32), intent(out), optional :: stat
    call report(c_near_field_of_tree(place_of(threads), k%handle, tree%handle, x, y, q, out, &
                                     near_field_options_of(accumulate, form)), stat)
  end subroutine
  subroutine near_field_of_cells(k, cells, x, q, out, y, accumulate, form, threads, stat)
    type(nf_interaction), intent(in) :: k
    type(nf_cells), intent(in) :: cells
    type(nf_columns), intent(in) :: x, q
    type(nf_columns), intent(in), target :: out
    type(nf_columns), intent(in), optional :: y
    logical, intent(in), optional :: accumulate
    integer(int32), intent(in), optional :: form
    type(nf_threads), intent(in), optional :: threads
    integer(int32), intent(out), optional :: stat
    call report(c_near_field_of_cells(place_of(threads), k%handle, cells%handle, x, y, q, out, &
                                      near_field_options_of(accumulate, form)), stat)
  end subroutine

  !> The number of pairs and, in per_point(:), of each target.
  subroutine nf_count(cells, n, half, per_point, threads, stat)
    type(nf_cells), intent(in) :: cells
    integer(int64), intent(out) :: n
    logical, intent(in), optional :: half
    integer(int32), intent(out), contiguous, optional :: per_point(:)
    type(nf_threads), intent(in), optional :: threads
    integer(int32), intent(out), optional :: stat
    call report(c_count_pairs(place_of(threads), cells%handle, flag(half), n, per_point), stat)
  end subroutine

  subroutine find(cells, i, j, bytes, room, n, half, order, r2, d, images, threads, stat)
    type(nf_cells), intent(in) :: cells
    type(c_ptr), intent(in) :: i, j
    integer, intent(in) :: bytes
    integer(int64), intent(in) :: room
    integer(int64), intent(out) :: n
    logical, intent(in), optional :: half
    integer(int32), intent(in), optional :: order
    type(nf_columns), intent(in), target, optional :: r2, d
    integer(int32), intent(out), contiguous, target, optional :: images(:, :)
    type(nf_threads), intent(in), optional :: threads
    integer(int32), intent(out), optional :: stat
    type(c_pair_columns) :: to
    logical :: fits
    fits = .true.
    to = c_pair_columns(0, room=room, index_bytes=bytes, i=i, j=j)
    to%bytes = c_sizeof(to)
    to%which = flag(half)
    if (present(order)) to%order = order
    if (present(r2)) then
      to%r2 = r2%first
      fits = r2%n_points >= room .and. r2%n_columns == 1 .and. r2%real == cells%real
    end if
    if (present(d)) then
      to%d = d%first
      fits = fits .and. d%n_points >= room .and. d%n_columns == cells%dim .and. d%real == cells%real
    end if
    if (present(images)) then
      to%images = c_loc(images)
      fits = fits .and. size(images, 2, kind=int64) >= room .and. size(images, 1) == cells%dim
    end if
    if (fits) then
      call report(c_find_pairs(place_of(threads), cells%handle, to, n), stat)
    else
      call refuse('nf_find: give r2(:), d(dim, :) and images(dim, :) the length of i, and r2 and d the kind of the points', stat)
    end if
  end subroutine
  subroutine find_int32(cells, i, j, n, half, order, r2, d, images, threads, stat)
    type(nf_cells), intent(in) :: cells
    integer(int32), intent(out), contiguous, target :: i(:), j(:)
    integer(int64), intent(out) :: n
    logical, intent(in), optional :: half
    integer(int32), intent(in), optional :: order
    type(nf_columns), intent(in), target, optional :: r2, d
    integer(int32), intent(out), contiguous, target, optional :: images(:, :)
    type(nf_threads), intent(in), optional :: threads
    integer(int32), intent(out), optional :: stat
    call find(cells, c_loc(i), c_loc(j), 4, min(size(i, kind=int64), size(j, kind=int64)), n, half, order, r2, d, images, &
              threads, stat)
  end subroutine
  subroutine find_int64(cells, i, j, n, half, order, r2, d, images, threads, stat)
    type(nf_cells), intent(in) :: cells
    integer(int64), intent(out), contiguous, target :: i(:), j(:)
    integer(int64), intent(out) :: n
    logical, intent(in), optional :: half
    integer(int32), intent(in), optional :: order
    type(nf_columns), intent(in), target, optional :: r2, d
    integer(int32), intent(out), contiguous, target, optional :: images(:, :)
    type(nf_threads), intent(in), optional :: threads
    integer(int32), intent(out), optional :: stat
    call find(cells, c_loc(i), c_loc(j), 8, min(size(i, kind=int64), size(j, kind=int64)), n, half, order, r2, d, images, &
              threads, stat)
  end subroutine
end module
