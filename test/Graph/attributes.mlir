// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// What the levels write on functions, operations and modules is verified.

// expected-error@+1 {{tw.role is a role, as "input" or "state", but is "imput"}}
func.func @role(%x: tensor<2xf32> {tw.name = "x", tw.role = "imput"}) { return }

// -----

// expected-error@+1 {{tw.symbols is an array of dictionaries {name, min, max} of distinct names, with min <= max, but is}}
func.func @symbols() attributes {tw.symbols = [{name = "s0", min = 1 : i64}]} { return }

// -----

// expected-error@+1 {{tw.symbols is an array of dictionaries {name, min, max} of distinct names, with min <= max, but is}}
func.func @empty_range() attributes {tw.symbols = [{name = "s0", min = 2 : i64, max = 1 : i64}]} { return }

// -----

// expected-error@+1 {{tw.symbols is an array of dictionaries {name, min, max} of distinct names, with min <= max, but is}}
func.func @twice() attributes {tw.symbols = [{name = "s0", min = 0, max = 1}, {name = "s0", min = 0, max = 2}]} { return }

// -----

// expected-error@+1 {{tw.symbols is an array of dictionaries {name, min, max} of distinct names, with min <= max, but is}}
func.func @no_name() attributes {tw.symbols = [{name = "s0 + 1", min = 0, max = 1}]} { return }

// -----

// expected-error@+1 {{tw.sizes is a #tw.sizes, but is ["s0", 3]}}
func.func @text(%x: tensor<?x3xf32> {tw.sizes = ["s0", 3]}) attributes {tw.symbols = [{name = "s0", min = 0, max = 1}]} { return }

// -----

// expected-error@+1 {{#tw.sizes has a map of 0 dimensions and 2 symbols, but names 1 symbols and has no dimensions}}
func.func @map(%x: tensor<?xf32> {tw.sizes = #tw.sizes<["s0"] ()[s0, s1] -> (s0 + s1)>}) { return }

// -----

// expected-error@+1 {{#tw.sizes names "s0 + 1", which cannot be a symbol's name}}
func.func @expression(%x: tensor<?xf32> {tw.sizes = #tw.sizes<["s0 + 1"] ()[s0] -> (s0)>}) { return }

// -----

// expected-error@+1 {{tw.sizes of argument 1 has 1 sizes, but it is a 'tensor<?x3xf32>'}}
func.func @rank(%n: i64, %x: tensor<?x3xf32> {tw.sizes = #tw.sizes<["s0"] ()[s0] -> (s0)>})
    attributes {tw.symbols = [{name = "s0", min = 0, max = 1}]} { return }

// -----

// expected-error@+1 {{tw.sizes of argument 0 names "s1", which is none of tw.symbols}}
func.func @undeclared(%x: tensor<?xf32> {tw.sizes = #tw.sizes<["s1"] ()[s0] -> (s0)>})
    attributes {tw.symbols = [{name = "s0", min = 0, max = 1}]} { return }

// -----

// expected-error@+1 {{has an attribute tw.sizes, which does not belong on a result of a function}}
func.func @result(%x: tensor<?xf32>) -> (tensor<?xf32> {tw.sizes = #tw.sizes<["s0"] ()[s0] -> (s0)>}) { return %x : tensor<?xf32> }

// -----

// expected-error@+1 {{tw.dtype is the name of a dtype, but is "byte"}}
func.func @dtype(%x: tensor<2xi8> {tw.name = "x", tw.role = "input", tw.dtype = "byte"}) { return }

// -----

// expected-error@+1 {{has an attribute tw.state, which does not belong on an argument of a function}}
func.func @place(%x: tensor<2xf32> {tw.state = "x"}) { return }

// -----

// expected-error@+1 {{tw.decisions is an array of #tw.decision, but is}}
module attributes {tw.decisions = ["fuse"]} {}

// -----

func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{tw.while is a unit, but is true}}
  scf.for %i = %c0 to %n step %c1 {
  } {tw.while = true}
  return
}

// -----

// expected-error@+1 {{has an attribute tw.unknown, which does not belong on a function}}
func.func @unknown() attributes {tw.unknown} { return }
