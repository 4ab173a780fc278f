#include "lammps_style.hpp"

#include "column_names.hpp"

#include <algorithm>

namespace nearfield::detail::io
{
  namespace
  {
    struct style_entry
    {
      std::string_view name;
      std::string_view columns;
    };

    // The columns of the Atoms section for each style, from LAMMPS's page on read_data; id, mol, type and
    // flags are integers. tdpd, whose columns depend on the simulation, is left out.
    constexpr style_entry styles[] = {
        {"angle", "id mol type x y z"},
        {"atomic", "id type x y z"},
        {"body", "id type bodyflag mass x y z"},
        {"bond", "id mol type x y z"},
        {"bpm/sphere", "id mol type diameter density x y z"},
        {"charge", "id type q x y z"},
        {"dielectric", "id type q x y z mux muy muz area ed em epsilon curvature"},
        {"dipole", "id type q x y z mux muy muz"},
        {"dpd", "id type theta x y z"},
        {"edpd", "id type edpd_temp edpd_cv x y z"},
        {"electron", "id type q spin radius x y z"},
        {"ellipsoid", "id type ellipsoidflag density x y z"},
        {"full", "id mol type q x y z"},
        {"line", "id mol type lineflag density x y z"},
        {"mdpd", "id type rho x y z"},
        {"meso", "id type rho energy cv x y z"},
        {"molecular", "id mol type x y z"},
        {"peri", "id type volume density x y z"},
        {"smd", "id type mol volume mass kradius cradius x0 y0 z0 x y z"},
        {"sph", "id type rho energy cv x y z"},
        {"sphere", "id type diameter density x y z"},
        {"spin", "id type x y z spx spy spz sp"},
        {"template", "id type mol template-index template-atom x y z"},
        {"tri", "id mol type triangleflag density x y z"},
        {"wavepacket", "id type q spin radius etag cs_re cs_im x y z"},
    };

    std::vector<std::string_view> columns_of_style(std::string_view name, place const& where)
    {
      for (auto const& entry : styles)
        if (entry.name == name) return fields_in(entry.columns, ' ');
      std::string known;
      for (auto const& entry : styles) known += std::string(entry.name) + " ";
      known.back() = ',';
      where.fail("atom style " + in_quotes(name),
                 "one of: " + known + " hybrid (or give --columns id,type,x,y,z)");
    }

    // hybrid: id, type, x, y and z, then what each style has beside these, once.
    std::vector<std::string_view> columns_of_hybrid(std::vector<std::string_view> const& names,
                                                    place const& where)
    {
      if (names.size() < 2)
        where.fail("atom style hybrid without its styles",
                   "these too (--atom-style 'hybrid sphere charge'), or --columns "
                   "id,type,x,y,z,...");
      std::vector<std::string_view> all{"id", "type", "x", "y", "z"};
      for (std::size_t s = 1; s < names.size(); ++s)
        for (auto const column : columns_of_style(names[s], where))
          if (std::find(all.begin(), all.end(), column) == all.end()) all.push_back(column);
      return all;
    }

    std::string_view without_prefix(std::string_view title)
    {
      for (std::string_view const prefix : {"atom-", "atom_"})
        if (title.starts_with(prefix)) title.remove_prefix(prefix.size());
      return title;
    }

    // Whether the words name columns, by the one rule for names, rather than a style.
    bool are_names(std::vector<std::string_view> const& words)
    {
      if (has_name(words, "x") && has_name(words, "y")) return true;
      bool const is_style = words[0] == "hybrid" ||
                            std::any_of(std::begin(styles), std::end(styles),
                                        [&](auto const& style) { return style.name == words[0]; });
      return !is_style && (is_label(words[0]) || !known_name(words[0]).empty());
    }

    void find_labels(atom_columns& atoms, std::vector<std::string> const& titles)
    {
      auto const n = titles.size();
      atoms.id = atoms.type = n;
      for (std::size_t c = 0; c < n; ++c)
      {
        auto const title = lower(titles[c]);
        auto const label = without_prefix(title);
        if (label == "id") atoms.id = std::min(atoms.id, c);
        if (label == "type") atoms.type = std::min(atoms.type, c);
        if (label == "id" || label == "mol" || label == "molecule-id" || label.ends_with("flag"))
          atoms.integers.push_back(c);
      }
    }
  }

  atom_columns columns_of_atoms(std::string_view comment, read_options const& options,
                                place const& where)
  {
    atom_columns atoms;
    place const or_columns{where.name, where.number, place::line, " (or give --columns)"};
    // of which z is to be one value if the points are read in 2D
    read_options const in_space{.dim = 3,
                                .columns = options.columns,
                                .types = options.types,
                                .parameters = options.parameters};
    if (!options.columns.empty())
    {
      atoms.style = "columns as given";
      atoms.map = map_of(columns_given(options, where.name), in_space, or_columns);
      find_labels(atoms, options.columns);
      return atoms;
    }
    auto const text = lower(options.atom_style.empty() ? comment : options.atom_style);
    auto words = fields_in(text, ' ');
    if (words.empty())
      where.fail("an Atoms section without a style",
                 "a comment 'Atoms # full' (or give --atom-style full)");
    for (auto& word : words)
      while (word.ends_with(':') || word.ends_with(',')) word.remove_suffix(1);
    bool const has_names = are_names(words);
    auto const columns = words[0] == "hybrid" ? columns_of_hybrid(words, where)
                         : has_names          ? words
                                              : columns_of_style(words[0], where);
    atoms.style = has_names ? "columns as its comment says" : "atom style " + std::string(words[0]);
    for (std::size_t w = 1; w < words.size() && words[0] == "hybrid"; ++w)
      atoms.style += " " + std::string(words[w]);
    auto named = columns_named(columns);
    find_labels(atoms, named.titles);
    atoms.map = map_of(std::move(named), in_space, or_columns);
    return atoms;
  }
}
