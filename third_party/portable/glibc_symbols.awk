# From what readelf --dyn-syms says of a library of glibc, the assembly of a library with the same symbols and nothing
# behind them, each in its newest version that is not newer than NEWEST. The versions themselves go to NODES.
function number(version,  parts) {
  split(version, parts, ".")
  return parts[1] * 1000000 + parts[2] * 1000 + parts[3]
}

BEGIN { limit = number(newest) }

$7 == "UND" || $7 == "ABS" || $8 !~ /@+GLIBC_[0-9.]+$/ { next }
{
  split($8, halves, /@+GLIBC_/)
  name = halves[1]
  if (number(halves[2]) > limit || (name in version && number(version[name]) > number(halves[2]))) next
  version[name] = halves[2]
  address[name] = $2
  size[name] = $3
  data[name] = $4 == "OBJECT"
  weak[name] = $5 == "WEAK"
}

END {
  for (name in version) {
    nodes_seen[version[name]]
    label = "symbol_" ++count
    # Names of the same data stay at one place: the linker copies it for all of them.
    place = data[name] ? address[name] : "code"
    bytes = data[name] ? size[name] : 1
    if (bytes > room[place]) room[place] = bytes
    labels[place] = labels[place] sprintf(".%s %s\n.type %s, %%%s\n.size %s, %s\n.symver %s, %s@@GLIBC_%s, remove\n%s:\n",
        weak[name] ? "weak" : "globl", label, label, data[name] ? "object" : "function", label, bytes,
        label, name, version[name], label)
  }
  for (place in labels) {
    printf "%s%s.skip %s\n", place == "code" ? ".text\n" : ".data\n.balign 32\n", labels[place], room[place]
  }
  print ".section .note.GNU-stack,\"\",%progbits"
  for (node in nodes_seen) printf "GLIBC_%s {};\n", node > nodes
}
