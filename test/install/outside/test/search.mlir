// What is declared is compiled to an artifact, and its distances are those of the definition.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: dist-opt %s --convert-dist-to-annudf -o metric.mlir
// RUN: annudf compile metric.mlir --metric wl3 --arch sm_90 -q -o wl3.annudf
// RUN: annudf compile metric.mlir --metric cheap --arch sm_90 -q -o cheap.annudf
// RUN: %python %S/vectors.py write
// RUN: annudf build --base base.fbin --lists 1 -q -o base.ivf
// RUN: annudf search --index base.ivf --queries queries.fbin --metric wl3.annudf --capture w=w.fbin \
// RUN:   --filter cheap.annudf --filter-capture price=price.fbin -k 3 --probes 1 -q -o found
// RUN: %python %S/vectors.py check

dist.weighted_sum @wl3 power 3 weights "w" order <min> root
dist.at_most @cheap "price" 20.0
