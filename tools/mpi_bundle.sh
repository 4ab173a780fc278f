#!/usr/bin/env bash
# mpi_bundle.sh DIR: starpu_mpi_bench in one directory, with the StarPU of ./dev starpu --mpi and the OpenMPI of this
# machine, its mpirun and its plug-ins for one machine, for another one where nothing can be installed: DIR/run, with
# the settings of bench/starpu_mpi_runs.sh. glibc and libstdc++ are that machine's, and must not be older than here.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail()
{
  echo "mpi_bundle.sh: $*" >&2
  exit 2
}

[ $# = 1 ] || fail "name the directory to make"
bundle=$(realpath -m "$1")
[ ! -e "$bundle" ] || [ -z "$(ls -A "$bundle")" ] || fail "'$bundle' holds something: name an empty or a new directory"
"$root/tools/starpu.sh" starpu --mpi >&2
cd "$root"
cmake --preset mpi -B build/mpi-bundle -DNEARFIELD_BUILD_BENCH=ON -DNEARFIELD_BUILD_TESTS=OFF \
  -DNEARFIELD_ENABLE_CUDA=OFF >&2
cmake --build build/mpi-bundle --parallel "$(nproc)" --target starpu_mpi_bench >&2

# path NAME: where this OpenMPI has it
path()
{
  ompi_info --path "$1" --parsable | cut -d : -f 3
}
mkdir -p "$bundle"/{bin,lib/openmpi,share,etc}
cp build/mpi-bundle/bin/starpu_mpi_bench bench/starpu_mpi_runs.sh "$bundle/bin"
cp -L "$(path bindir)/mpirun" "$(path bindir)/orted" "$bundle/bin"
cp -rL "$(path pkgdatadir)" "$bundle/share/openmpi"
# networks between machines would bring their drivers along
for plugin in "$(path pkglibdir)"/mca_*.so; do
  ldd "$plugin" | grep -qE 'lib(uc[pst]|fabric|psm|ibverbs|rdmacm)' || cp -L "$plugin" "$bundle/lib/openmpi"
done
theirs='^(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|util)\.so|ld-linux|linux-vdso)'
ldd "$bundle"/bin/{starpu_mpi_bench,mpirun,orted} "$bundle"/lib/openmpi/*.so |
  sed -n 's/^\t\([^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p' | sort -u -k 1,1 |
  while read -r name file; do
    [[ $name =~ $theirs ]] || cp -L "$file" "$bundle/lib/$name"
  done
cat >"$bundle/run" <<'RUN'
#!/usr/bin/env bash
# run FOLDER: bench/starpu_mpi_runs.sh with what lies here
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LD_LIBRARY_PATH=$here/lib PATH=$here/bin:$PATH
export OPAL_PREFIX=$here OPAL_BINDIR=$here/bin OPAL_LIBDIR=$here/lib OPAL_PKGLIBDIR=$here/lib/openmpi
export OPAL_PKGDATADIR=$here/share/openmpi OPAL_DATADIR=$here/share OPAL_SYSCONFDIR=$here/etc
# ranks of one machine
export PMIX_MCA_pcompress=^zlib STARPU_SILENT=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_plm=isolated
PROGRAM=$here/bin/starpu_mpi_bench MPIRUN=$here/bin/mpirun exec "$here/bin/starpu_mpi_runs.sh" "$@"
RUN
chmod +x "$bundle/run"
echo "$bundle: $(du -sm "$bundle" | cut -f 1) MiB; there: ./run FOLDER, and here bench/starpu_mpi_table.py FOLDER OUT.json"
