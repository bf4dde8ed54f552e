// A search with three rows changes the variant for up to four, here from a planted one, and leaves all else as it is.
// RUN: split-file %s %t
// RUN: tilewright tune %t/model.mlir --input=3x512xf32=random:1 --input=512x512xf32=random:2 --threads=1 --tuning-spec=%t/planted.mlir --knobs=columns --budget=10s -o %t/few.json --json > %t/report.json
// RUN: FileCheck %s --input-file=%t/report.json --check-prefix=REPORT
// REPORT: "kernels": [{"kernel": "k0", "variant": {"at_most": 4}, {{.*}}"changes": {"columns": [1, {{([2-9]|[1-9][0-9]+)}}]}
// Whether that is written, or the compiler's choice, is a matter of time: both have the same columns for three rows.
// RUN: %python -c "import json; c = json.load(open('%t/few.json'))['configurations']; print(*[(v['at_most'], v['rows'], v['columns']) for v in c[0]['kernels'][0]['variants']] if c else ['none'])" | FileCheck %s --check-prefix=FEW
// FEW: {{^none$|^\(1, 1, [0-9]+\) \(4, 3, ([2-9]|[1-9][0-9]+)\) \(16, 2, [0-9]+\)$}}
// RUN: tilewright check %t/model.mlir --config=%t/few.json --input=3x512xf32=random:1 --input=512x512xf32=random:2
// With as many rows as no variant is for, it is the kernel's own configuration. (Whether a spec is written then is a
// matter of time: planted and compiler's choice have the same for so many rows.)
// RUN: tilewright tune %t/model.mlir --input=100x512xf32=random:1 --input=512x512xf32=random:2 --threads=1 --tuning-spec=%t/planted.mlir --knobs=row_programs --budget=2s -o %t/many.mlir --json | FileCheck %s --check-prefix=OWN
// OWN: "kernels": [{"kernel": "k0", "ops":
// RUN: tilewright check %t/model.mlir --tuning-spec=%t/many.mlir --input=100x512xf32=random:1 --input=512x512xf32=random:2
// A profile shows the configuration that ran.
// RUN: tilewright compile %t/model.mlir --tuning-spec=%t/planted.mlir -o %t/model.so
// RUN: tilewright profile %t/model.so --input=4x512xf32=1 --input=512x512xf32=1 --repeat=3 | FileCheck %s --check-prefix=FOUR
// RUN: tilewright profile %t/model.so --input=10x512xf32=1 --input=512x512xf32=1 --repeat=3 | FileCheck %s --check-prefix=TEN
// FOUR: {{^ +contraction .*columns=1 .*rows=3; cpu}}
// TEN: {{^ +contraction .*rows=2; cpu}}

//--- model.mlir
func.func @main(%x: !torch.vtensor<[?,512],f32>, %y: !torch.vtensor<[512,512],f32>) -> !torch.vtensor<[?,512],f32> {
  %0 = torch.aten.mm %x, %y : !torch.vtensor<[?,512],f32>, !torch.vtensor<[512,512],f32> -> !torch.vtensor<[?,512],f32>
  return %0 : !torch.vtensor<[?,512],f32>
}

//--- planted.mlir
module attributes {transform.with_named_sequence, tuning.version = 4 : i64, tuning.target = "cpu"} {
  transform.named_sequence @product(%kernel: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    transform.tuning.match.kernel %kernel {kind = "contraction"} : !transform.any_op
    %configuration = transform.param.constant {kind = "contraction", variants = [{at_most = 1, kind = "contraction"},
        {at_most = 4, kind = "contraction", rows = 3, columns = 1}, {at_most = 16, kind = "contraction", rows = 2}]} -> !transform.any_param
    transform.yield %kernel, %configuration : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @configure(%kernel: !transform.any_op {transform.readonly},
      %configuration: !transform.any_param {transform.readonly}) {
    transform.annotate %kernel "configuration" = %configuration : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @__transform_main(%kernels: !transform.any_op {transform.consumed}) {
    %matched = transform.foreach_match in %kernels @product -> @configure : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
