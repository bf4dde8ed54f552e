// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// What the levels write on functions, operations and modules is verified.

// expected-error@+1 {{tw.role is a role, "input" or "state", but is "imput"}}
func.func @role(%x: tensor<2xf32> {tw.name = "x", tw.role = "imput"}) { return }

// -----

// expected-error@+1 {{tw.symbols is an array of dictionaries {name, min, max} of distinct names, with 0 <= min <= max, but is}}
func.func @symbols() attributes {tw.symbols = [{name = "s0", min = 1 : i64}]} { return }

// -----

// expected-error@+1 {{tw.symbols is an array of dictionaries {name, min, max} of distinct names, with 0 <= min <= max, but is}}
func.func @empty_range() attributes {tw.symbols = [{name = "s0", min = 2 : i64, max = 1 : i64}]} { return }

// -----

// expected-error@+1 {{tw.symbols is an array of dictionaries {name, min, max} of distinct names, with 0 <= min <= max, but is}}
func.func @twice() attributes {tw.symbols = [{name = "s0", min = 0, max = 1}, {name = "s0", min = 0, max = 2}]} { return }

// -----

// expected-error@+1 {{tw.symbols is an array of dictionaries {name, min, max} of distinct names, with 0 <= min <= max, but is}}
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

// expected-error@+1 {{tw.sizes of argument 1 has 1 size, but it is a 'tensor<?x3xf32>'}}
func.func @rank(%n: i64, %x: tensor<?x3xf32> {tw.sizes = #tw.sizes<["s0"] ()[s0] -> (s0)>})
    attributes {tw.symbols = [{name = "s0", min = 0, max = 1}]} { return }

// -----

// expected-error@+1 {{tw.sizes of argument 0 names "s1", which is none of tw.symbols}}
func.func @undeclared(%x: tensor<?xf32> {tw.sizes = #tw.sizes<["s1"] ()[s0] -> (s0)>})
    attributes {tw.symbols = [{name = "s0", min = 0, max = 1}]} { return }

// -----

// expected-error@+1 {{tw.sizes of result 0 names "s0", which is none of tw.symbols}}
func.func @result(%x: tensor<?xf32>) -> (tensor<?xf32> {tw.sizes = #tw.sizes<["s0"] ()[s0] -> (s0)>}) { return %x : tensor<?xf32> }

// -----

// expected-error@+1 {{tw.sizes of result 0 has 2 sizes, but it is a 'tensor<?xf32>'}}
func.func @result_rank(%x: tensor<?xf32>) -> (tensor<?xf32> {tw.sizes = #tw.sizes<["s0"] ()[s0] -> (s0, 3)>})
    attributes {tw.symbols = [{name = "s0", min = 0, max = 1}]} { return %x : tensor<?xf32> }

// -----

// expected-error@+1 {{tw.dtype is the name of a dtype, but is "byte"}}
func.func @dtype(%x: tensor<2xi8> {tw.name = "x", tw.role = "input", tw.dtype = "byte"}) { return }

// -----

// expected-error@+1 {{has an attribute tw.state, which does not belong on an argument of a function}}
func.func @place(%x: tensor<2xf32> {tw.state = "x"}) { return }

// -----

// expected-error@+1 {{tw.decisions is an array of #tw.decision, each with as many operators as its kind takes, no two of them about the same, but is}}
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

// -----

// expected-error@+1 {{tw.role is a role, "input" or "state", but is "output"}}
func.func @result_role(%x: tensor<2xf32> {tw.name = "x", tw.role = "output"}) { return }

// -----

// expected-error@+1 {{tw.role is a role, as "output" or "gradient", but is "input"}}
func.func @argument_role(%x: tensor<2xf32>) -> (tensor<2xf32> {tw.role = "input"}) { return %x : tensor<2xf32> }

// -----

// Names of arguments, before and after symbols are lowered.
func.func @named(%x: tensor<2xf32> {tw.name = "x", tw.role = "state"}, %n: i64 {tw.name = "n", tw.symbol = "s0"})
    -> (tensor<2xf32> {tw.state = "x"}, tensor<2xf32> {tw.of = "x"})
    attributes {tw.symbols = [{name = "s0", min = 0, max = 1}], tw.fixed_results = [{name = "none", position = 2 : i64}]} {
  return %x, %x : tensor<2xf32>, tensor<2xf32>
}
func.func @torch(%n: !torch.int {tw.name = "n", tw.symbol = "s0"}) {
  %s = torch.symbolic_int "s0" {min_val = 0, max_val = 1} : !torch.int
  return
}

// -----

// expected-error@+1 {{tw.state of result 0 is "y", which names no argument whose role is state}}
func.func @no_state(%x: tensor<2xf32> {tw.name = "x", tw.role = "state"}) -> (tensor<2xf32> {tw.state = "y"}) {
  return %x : tensor<2xf32>
}

// -----

// expected-error@+1 {{tw.state of result 0 is "x", which names no argument whose role is state}}
func.func @state_of_input(%x: tensor<2xf32> {tw.name = "x", tw.role = "input"}) -> (tensor<2xf32> {tw.state = "x"}) {
  return %x : tensor<2xf32>
}

// -----

// expected-error@+1 {{tw.input of result 0 is "y", which names no argument whose role is input}}
func.func @no_input(%x: tensor<2xf32> {tw.name = "x", tw.role = "input"}) -> (tensor<2xf32> {tw.input = "y"}) {
  return %x : tensor<2xf32>
}

// -----

// expected-error@+1 {{tw.of of result 0 is "y", which names no argument}}
func.func @gradient(%x: tensor<2xf32> {tw.name = "x"}) -> (tensor<2xf32> {tw.of = "y"}) { return %x : tensor<2xf32> }

// -----

// expected-error@+1 {{tw.symbol of argument 0 is "s1", which is no symbol of the function}}
func.func @symbol(%n: i64 {tw.symbol = "s1"}) attributes {tw.symbols = [{name = "s0", min = 0, max = 1}]} { return }

// -----

// expected-error@+1 {{tw.symbol of argument 0 is "s1", which is no symbol of the function}}
func.func @torch_symbol(%n: !torch.int {tw.symbol = "s1"}) {
  %s = torch.symbolic_int "s0" {min_val = 0, max_val = 1} : !torch.int
  return
}

// -----

// expected-error@+1 {{tw.fixed_results is an array of dictionaries {name, position}, maybe with a text, of distinct positions from 0 on, but is}}
func.func @negative() attributes {tw.fixed_results = [{name = "a", position = -4 : i64}]} { return }

// -----

// expected-error@+1 {{tw.fixed_results is an array of dictionaries {name, position}, maybe with a text, of distinct positions from 0 on, but is}}
func.func @one_place() attributes {tw.fixed_results = [{name = "a", position = 0 : i64}, {name = "b", position = 0 : i64}]} { return }

// -----

// expected-error@+1 {{tw.fixed_results has a result at position 2, but there are 2 in all}}
func.func @behind(%x: tensor<2xf32>) -> tensor<2xf32> attributes {tw.fixed_results = [{name = "a", position = 2 : i64}]} {
  return %x : tensor<2xf32>
}

// -----

func.func @while(%x: tensor<2xf32>) {
  // expected-error@+1 {{has an attribute tw.while, which only scf.for has}}
  %0 = math.exp %x {tw.while} : tensor<2xf32>
  return
}

// -----

func.func @flag(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{has an attribute tw.while, but carries no i1 last}}
  scf.for %i = %c0 to %n step %c1 {
  } {tw.while}
  return
}

// -----

func.func @arguments(%x: tensor<2xf32>) {
  // expected-error@+1 {{has an attribute tw.arguments, which only torch.operator has}}
  %0 = math.exp %x {tw.arguments = ["self"]} : tensor<2xf32>
  return
}

// -----

func.func @configured(%x: tensor<2xf32>) {
  // expected-error@+1 {{has an attribute tw.configured, which only tw.dispatch has}}
  %0 = math.exp %x {tw.configured = ["k0"]} : tensor<2xf32>
  return
}

// -----

func.func @values(%x: tensor<2xf32>) {
  // expected-error@+1 {{tw.values names result 7, but there are 1}}
  %0 = math.exp %x {tw.values = [#tw.value<7 is 0 : tensor<2xf32>>]} : tensor<2xf32>
  return
}

// -----

func.func @value_type(%x: tensor<2xf32>) {
  // expected-error@+1 {{tw.values: result 0 is 'tensor<2xf32>', but value 3 is 'tensor<2xi64>'}}
  %0 = math.exp %x {tw.values = [#tw.value<0 is 3 : tensor<2xi64>>]} : tensor<2xf32>
  return
}

// -----

// expected-error@+1 {{tw.wanted_decisions is an array of #tw.decision, each with as many operators as its kind takes, no two of them about the same, but is}}
module attributes {tw.wanted_decisions = [#tw.decision<fuse["a", "b"] true>, #tw.decision<fuse["a", "b"] false>]} {}

// -----

// expected-error@+1 {{tw.wanted_decisions is an array of #tw.decision, each with as many operators as its kind takes, no two of them about the same, but is}}
module attributes {tw.wanted_decisions = [#tw.decision<fuse["a"] true>]} {}

// -----

// expected-error@+1 {{tw.decisions is an array of #tw.decision, each with as many operators as its kind takes, no two of them about the same, but is}}
module attributes {tw.decisions = [#tw.decision<channels_last["a", "b"] true>]} {}

// -----

// Decisions about the same operators may be of two kinds.
module attributes {tw.decisions = [#tw.decision<fuse["a", "b"] true>, #tw.decision<recompute["a", "b"] true>]} {}

// -----

// expected-error@+1 {{tw.symbol of argument 0 is an integer, but the argument is 'tensor<2xf32>'}}
func.func @symbol_of_tensor(%x: tensor<2xf32> {tw.symbol = "s0"}) attributes {tw.symbols = [{name = "s0", min = 0, max = 1}]} { return }

// -----

// expected-error@+1 {{argument 0 has an attribute tw.trainable, but its role is not state}}
func.func @trainable(%x: tensor<2xf32> {tw.name = "x", tw.role = "input", tw.trainable}) { return }

// -----

// expected-error@+1 {{tw.dtype of argument 0 is "i64", but the type is 'tensor<2xf32>'}}
func.func @other_dtype(%x: tensor<2xf32> {tw.dtype = "i64"}) { return }

// -----

// expected-error@+1 {{tw.dtype of result 0 is "u8", but the type is 'tensor<2xi32>'}}
func.func @result_dtype(%x: tensor<2xi32>) -> (tensor<2xi32> {tw.dtype = "u8"}) { return %x : tensor<2xi32> }

// -----

func.func @byte(%x: tensor<2xi8> {tw.dtype = "u8"}) { return }

// -----

// expected-error@+1 {{tw.symbols is an array of dictionaries {name, min, max} of distinct names, with 0 <= min <= max, but is}}
func.func @negative_size() attributes {tw.symbols = [{name = "s0", min = -1 : i64, max = 1 : i64}]} { return }
