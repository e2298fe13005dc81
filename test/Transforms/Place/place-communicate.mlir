// Which communications a strategy needs follows from the rules; these are the closed forms of data, tensor and
// pipeline parallelism on a GPT of four layers, 16 parameters of which the embedding is tied to the head.

// DEFINE: %{train} = dtrain-opt %S/../Inputs/gpt-tiny.mlir --dtrain-differentiate=micro-batches=2 --dtrain-apply-optimizer
// DEFINE: %{mesh} =
// DEFINE: %{chunks} = 1
// DEFINE: %{communicate} = dtrain-opt --dtrain-seed-data-parallel=mesh=%{mesh} --dtrain-seed-tensor-parallel \
// DEFINE:   --dtrain-seed-pipeline-parallel=chunks=%{chunks} --dtrain-propagate-placement --dtrain-verify-place \
// DEFINE:   --dtrain-materialize-reshards --dtrain-lower-reshards --dtrain-verify-communicate

// One all_reduce per parameter after the last micro-batch, and one of the loss.
// REDEFINE: %{mesh} = dp=2
// RUN: %{train} | %{communicate} | FileCheck %s --check-prefix=DP
// DP-NOT:     dtrain.comm.all_reduce
// DP:         dtrain.repeat @microbatch
// DP-COUNT-17: dtrain.comm.all_reduce {{.*}} over "dp"
// DP-NOT:     dtrain.comm.all_reduce
// DP:         return

// Four all_reduces per layer, two forward and two backward; three of one element per token for the loss, one for the
// embedding and one for the head's input; none for weights.
// REDEFINE: %{mesh} = tp=2
// RUN: %{train} | %{communicate} | FileCheck %s --check-prefix=TP
// TP-LABEL:   func.func private @layer(
// TP-COUNT-2: dtrain.comm.all_reduce {{.*}} over "tp"
// TP-NOT:     dtrain.comm.all_reduce
// TP-LABEL:   func.func private @layer_backward(
// TP-COUNT-2: dtrain.comm.all_reduce {{.*}} over "tp" {{.*}} origin backward
// TP-NOT:     dtrain.comm.all_reduce
// TP-LABEL:   func.func private @microbatch(
// TP-COUNT-5: dtrain.comm.all_reduce {{.*}} over "tp"
// TP-NOT:     dtrain.comm.all_reduce
// TP-LABEL:   func.func @main(
// TP-NOT:     dtrain.comm.all_reduce

// p - 1 sends each way; the tied embedding is on the first and the last stage, and its gradient is summed over both.
// REDEFINE: %{mesh} = pp=4
// RUN: %{train} | %{communicate} | FileCheck %s --check-prefix=PP
// PP-LABEL:   func.func private @microbatch(
// PP:         dtrain.repeat @layer 0 to 1 {{.*}} pinned "pp" = 0
// PP-NEXT:    dtrain.comm.send
// PP-NEXT:    dtrain.repeat @layer 1 to 2 {{.*}} pinned "pp" = 1
// PP-NEXT:    dtrain.comm.send
// PP-NEXT:    dtrain.repeat @layer 2 to 3 {{.*}} pinned "pp" = 2
// PP-NEXT:    dtrain.comm.send
// PP-NEXT:    dtrain.repeat @layer 3 to 4 {{.*}} pinned "pp" = 3
// PP-COUNT-3: dtrain.comm.send {{.*}} origin backward
// PP-NOT:     dtrain.comm.send
// PP-LABEL:   func.func @main(
// PP-SAME:    tensor<12x8xf32, #[[TIED:[a-z0-9]+]]> {dtrain.name = "wte"
// PP:         dtrain.comm.all_reduce {{.*}} over "pp" {{.*}} -> tensor<12x8xf32, #[[TIED]]>
// PP-NOT:     dtrain.comm.all_reduce

// Interleaved: p * v - 1 sends each way.
// REDEFINE: %{mesh} = pp=2
// REDEFINE: %{chunks} = 2
// RUN: %{train} | %{communicate} | FileCheck %s --check-prefix=INTERLEAVED
// INTERLEAVED-LABEL:   func.func private @microbatch(
// INTERLEAVED:         dtrain.repeat @layer 2 to 3 {{.*}} pinned "pp" = 0
// INTERLEAVED-COUNT-4: dtrain.comm.send
// INTERLEAVED-NOT:     dtrain.comm.send
// INTERLEAVED-LABEL:   func.func @main(
