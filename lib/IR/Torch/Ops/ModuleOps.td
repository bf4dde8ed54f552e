// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects of TorchScript programs: modules with their classes, global slots, attributes and methods.
// Read and printed so that such text is not foreign; import refuses what it cannot compile by name.
include "IR/Torch/TorchBase.td"
include "mlir/IR/SymbolInterfaces.td"

def ClassTypeOp : TorchOp<"class_type", [
    Symbol, SingleBlockImplicitTerminator<"ClassTypeTerminatorOp">]> {
  let summary = "A class: its attributes and methods";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = "$sym_name $region attr-dict";
}
def ClassTypeTerminatorOp : TorchOp<"class_type_terminator", [
    Terminator, HasParent<"ClassTypeOp">]> {
  let assemblyFormat = "attr-dict";
}
def MethodOp : TorchOp<"method", [HasParent<"ClassTypeOp">]> {
  let summary = "A method of a class: a function that takes the object first";
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$function, UnitAttr:$isPrivate);
  let assemblyFormat = "(`private` $isPrivate^)? $name `,` $function attr-dict";
}
def AttrOp : TorchOp<"attr", [HasParent<"ClassTypeOp">]> {
  let summary = "An attribute of a class";
  let arguments = (ins StrAttr:$name, TypeAttr:$type, UnitAttr:$isPrivate);
  let assemblyFormat = "(`private` $isPrivate^)? $name `:` $type attr-dict";
}

def NnModuleOp : TorchOp<"nn_module", [SingleBlockImplicitTerminator<"NnModuleTerminatorOp">]> {
  let summary = "An object of a class with the values of its attributes";
  let results = (outs TorchNnModuleType:$result);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = "$region attr-dict `:` qualified(type($result))";
}
def NnModuleTerminatorOp : TorchOp<"nn_module_terminator", [
    Terminator, HasParent<"NnModuleOp">]> {
  let assemblyFormat = "attr-dict";
}
def SlotOp : TorchOp<"slot", [HasParent<"NnModuleOp">]> {
  let summary = "The value of one attribute";
  let arguments = (ins StrAttr:$name, AnyTorchType:$value);
  let assemblyFormat = "$name `,` $value attr-dict `:` qualified(type($value))";
}

def GlobalSlotOp : TorchOp<"global_slot", [Symbol]> {
  let summary = "A global variable";
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility,
                       TypeAttr:$typeBound);
  let assemblyFormat = "($sym_visibility^)? $sym_name attr-dict `:` $typeBound";
}
def GlobalSlotModuleInitializerOp : TorchOp<"global_slot.module_initializer", [
    IsolatedFromAbove, SingleBlockImplicitTerminator<"InitializeGlobalSlotsOp">]> {
  let summary = "Computes the first values of the global variables";
  let regions = (region SizedRegion<1>:$initializer);
  let assemblyFormat = "$initializer attr-dict";
}
def InitializeGlobalSlotsOp : TorchOp<"initialize.global_slots", [
    Terminator, HasParent<"GlobalSlotModuleInitializerOp">]> {
  let summary = "Gives all global variables their first values";
  let arguments = (ins ArrayAttr:$slotSymNames, Variadic<AnyTorchType>:$initialValues);
  // Only for the implicit terminator of an initializer that has none; there are no slots then.
  let builders = [OpBuilder<(ins), [{
    $_state.addAttribute("slotSymNames", $_builder.getArrayAttr({}));
  }]>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def GlobalSlotGetOp : TorchOp<"global_slot.get"> {
  let arguments = (ins FlatSymbolRefAttr:$slot);
  let results = (outs AnyTorchType:$result);
  let assemblyFormat = "$slot attr-dict `:` qualified(type($result))";
}
def GlobalSlotSetOp : TorchOp<"global_slot.set"> {
  let arguments = (ins FlatSymbolRefAttr:$slot, AnyTorchType:$value);
  let assemblyFormat = "$slot `=` $value attr-dict `:` qualified(type($value))";
}

def CreateObjectOp : TorchOp<"prim.CreateObject", [Pure]> {
  let results = (outs TorchNnModuleType:$result);
  let assemblyFormat = "attr-dict qualified(type($result))";
}
def GetAttrOp : TorchOp<"prim.GetAttr"> {
  let arguments = (ins StrAttr:$name, TorchNnModuleType:$receiver);
  let results = (outs AnyTorchType:$result);
  let assemblyFormat = [{
    $receiver `[` $name `]` attr-dict `:` qualified(type($receiver)) `->` qualified(type($result))
  }];
}
def SetAttrOp : TorchOp<"prim.SetAttr"> {
  let arguments = (ins StrAttr:$name, TorchNnModuleType:$receiver, AnyTorchType:$value);
  let assemblyFormat = [{
    $receiver `[` $name `]` `=` $value attr-dict
      `:` qualified(type($receiver)) `,` qualified(type($value))
  }];
}
def CallMethodOp : TorchOp<"prim.CallMethod"> {
  let arguments = (ins StrAttr:$name, TorchNnModuleType:$receiver,
                       Variadic<AnyTorchType>:$methodOperands);
  let results = (outs AnyTorchType:$result);
  let assemblyFormat = [{
    $receiver `[` $name `]` `(` $methodOperands `)` attr-dict
      `:` qualified(type($receiver)) `,` functional-type($methodOperands, $result)
  }];
}
def StoreOp : TorchOp<"prim.Store"> {
  let arguments = (ins StrAttr:$name, AnyTorchType:$value);
  let assemblyFormat = "$name `,` $value attr-dict `:` qualified(type($value))";
}
def LoadOp : TorchOp<"prim.Load"> {
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyTorchType:$result);
  let assemblyFormat = "$name attr-dict `:` qualified(type($result))";
}
def EnterOp : TorchOp<"prim.Enter"> {
  let arguments = (ins AnyTorchType:$inp);
  let results = (outs TorchNoneType:$result);
  let assemblyFormat = "$inp attr-dict `:` qualified(type($inp))";
}
def ExitOp : TorchOp<"prim.Exit"> {
  let arguments = (ins AnyTorchType:$inp);
  let results = (outs AnyTorchTensor:$result);
  let assemblyFormat = "$inp attr-dict `:` qualified(type($inp)) `->` qualified(type($result))";
}
