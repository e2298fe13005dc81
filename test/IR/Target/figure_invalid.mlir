// RUN: dtrain-opt %s -split-input-file -verify-diagnostics

// target.figure C1
// expected-error@+2 {{expected a number that is not negative, found '-1.0'}}
func.func private @figure_c1() attributes {
  a = #target.figure<-1.0 W, datasheet, "s">}

// -----

// target.figure C1
// expected-error@+2 {{expected a number that is not negative, found '-0.0'}}
func.func private @figure_c1() attributes {
  a = #target.figure<-0.0 W, datasheet, "s">}

// -----

// target.figure C1
// expected-error@+2 {{expected a finite number that is not negative}}
func.func private @figure_c1() attributes {
  a = #target.figure<1.0e300 EFLOP, datasheet, "s">}

// -----

// target.figure C1
// expected-error@+2 {{expected a number}}
func.func private @figure_c1() attributes {
  a = #target.figure<inf W, datasheet, "s">}

// -----

// target.figure C2
// expected-error@+2 {{unknown unit 'TBs'}}
func.func private @figure_c2() attributes {
  a = #target.figure<3.35 TBs, datasheet, "s">}

// -----

// target.figure C2
// expected-error@+2 {{expected a unit that is one identifier, such as GBps or USD_per_kWh, found '/'}}
func.func private @figure_c2() attributes {
  a = #target.figure<3.35 GB/s, datasheet, "s">}

// -----

// target.figure C3
// expected-error@+2 {{expected a source that is not empty: where the value comes from, or why it is assumed}}
func.func private @figure_c3() attributes {
  a = #target.figure<3.35 TBps, datasheet, "">}

// -----

// target.figure C3
// expected-error@+2 {{expected a source that is not empty}}
func.func private @figure_c3() attributes {
  a = #target.figure<3.35 TBps, datasheet, "  ">}

// -----

// target.figure C3
// expected-error@+2 {{expected ', "source"': where the value comes from, or why it is assumed}}
func.func private @figure_c3() attributes {
  a = #target.figure<3.35 TBps, datasheet>}

// -----

// target.figure C4
// expected-error@+2 {{expected a dense peak, found a sparse one: write the rate without sparsity and 'dense' (312.0 TFLOPps dense, if sparsity doubles it)}}
func.func private @figure_c4() attributes {
  a = #target.figure<624.0 TFLOPps sparse, datasheet, "s">}

// -----

// target.figure C4
// expected-error@+2 {{expected a one-way bandwidth, found a duplex one: write the bandwidth of one direction and 'one_way' (300.0 GBps one_way, if both are alike)}}
func.func private @figure_c4() attributes {
  a = #target.figure<600.0 GBps duplex, datasheet, "s">}

// -----

// target.figure basis
// expected-error@+2 {{expected how the value is known, one of datasheet, measured, derived, assumed, found 'guessed'}}
func.func private @figure_basis() attributes {
  a = #target.figure<3.35 TBps, guessed, "s">}

// -----

// target.figure basis
// expected-error@+2 {{expected how the value is known, one of datasheet, measured, derived, assumed}}
func.func private @figure_basis() attributes {
  a = #target.figure<3.35 TBps, "s">}

// -----

// target.figure basis
// expected-error@+2 {{expected ','}}
func.func private @figure_basis() attributes {
  a = #target.figure<3.35 TBps>}

// -----

// target.figure number
// expected-error@+2 {{expected a point before the exponent: write '1.0e9' for '1e9'}}
func.func private @figure_number() attributes {
  a = #target.figure<1e9 Bps, datasheet, "s">}

// -----

// target.figure number
// expected-error@+2 {{expected a point before the exponent: write '1.0e-9' for '1e-9'}}
func.func private @figure_number() attributes {
  a = #target.figure<1e-9 s, datasheet, "s">}

// -----

// target.figure number
// expected-error@+2 {{expected a decimal number, found '0x10'}}
func.func private @figure_number() attributes {
  a = #target.figure<0x10 W, datasheet, "s">}

// -----

// target.figure number
// expected-error@+2 {{expected a number that a double can hold, found '1.5e-999'}}
func.func private @figure_number() attributes {
  a = #target.figure<1.5e-999 W, datasheet, "s">}

// -----

// target.figure number
// expected-error@+2 {{expected a number}}
func.func private @figure_number() attributes {
  a = #target.figure<W, datasheet, "s">}

// -----

// target.figure number
// expected-error@+2 {{expected a number}}
func.func private @figure_number() attributes {
  a = #target.figure<"3" W, datasheet, "s">}

// -----

// target.figure words
// expected-error@+2 {{expected 'dense', 'one_way' or ',' after the unit, found 'peak'}}
func.func private @figure_words() attributes {
  a = #target.figure<3.0 W peak, datasheet, "s">}

// -----

// target.figure words
// expected-error@+2 {{expected ','}}
func.func private @figure_words() attributes {
  a = #target.figure<3.0 W dense dense, datasheet, "s">}

// -----

// target.fact C1
// expected-error@+2 {{expected a source that is not empty}}
func.func private @fact_c1() attributes {
  a = #target.fact<flash, assumed, "">}

// -----

// target.fact word
// expected-error@+2 {{expected valid keyword}}
func.func private @fact_word() attributes {
  a = #target.fact<1, assumed, "s">}
