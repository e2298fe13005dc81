// A GPT whose attention, normalisation and loss are ops of a dialect that no pass, kernel or price knows. What dtrain
// makes of them follows from their rules, op classes and interfaces, and is what it makes of its own ops.

// RUN: sed -e 's/dtrain.normalize<layer>/testmodel.standardize/' -e 's/dtrain.attention \(.*\) causal/testmodel.attend \1/' \
// RUN:   -e 's/dtrain.cross_entropy/testmodel.surprise/' %S/../../Transforms/Inputs/gpt-tiny.mlir > %t.foreign.mlir
// RUN: FileCheck %s --check-prefix=FOREIGN < %t.foreign.mlir
// FOREIGN-COUNT-2: testmodel.standardize
// FOREIGN-NOT: dtrain.normalize
// FOREIGN-NOT: dtrain.attention
// FOREIGN-NOT: dtrain.cross_entropy

// DEFINE: %{options} =
// DEFINE: %{pipeline} = --dtrain-pipeline="name=gpt target=a100-80gb-dgx-ib %{options}"
// DEFINE: %{names} = sed -e s/testmodel.attend/dtrain.attention/ -e s/testmodel.standardize/dtrain.normalize/ \
// DEFINE:   -e s/testmodel.surprise/dtrain.cross_entropy/
// DEFINE: %{same} = dtrain-opt %S/../../Transforms/Inputs/gpt-tiny.mlir %{pipeline} -o %t.own.plan \
// DEFINE:   && dtrain-test-opt %t.foreign.mlir %{pipeline} -o %t.foreign.plan \
// DEFINE:   && %{names} %t.foreign.plan > %t.renamed.plan && diff %t.own.plan %t.renamed.plan \
// DEFINE:   && dtrain-opt %t.own.plan --schedule-report=format=json -o /dev/null > %t.own.json \
// DEFINE:   && dtrain-test-opt %t.foreign.plan --schedule-report=format=json -o /dev/null > %t.foreign.json \
// DEFINE:   && %{names} %t.foreign.json > %t.renamed.json && diff %t.own.json %t.renamed.json

// Time, memory and energy to the digit, and the whole plan: every task, its work and when it runs.
// REDEFINE: %{options} = mesh=dp=1 optimizer=sgd
// RUN: %{same}
// REDEFINE: %{options} = mesh=tp=4 precision=fp32 micro-batches=2
// RUN: %{same}
// REDEFINE: %{options} = mesh=pp=2,dp=2,tp=2 micro-batches=4
// RUN: %{same}
// REDEFINE: %{options} = mesh=pp=2,dp=2,tp=2 micro-batches=4 recompute=full chunks=2 order=interleaved
// RUN: %{same}
// The names did differ, and there is something to compare.
// RUN: FileCheck %s --check-prefix=JSON < %t.foreign.json
// JSON: "name": "testmodel.attend"

// It computes what it should, on one device and on many.
// DEFINE: %{mesh} =
// DEFINE: %{train} = dtrain-test-opt %t.foreign.mlir --dtrain-differentiate=micro-batches=2 --dtrain-apply-optimizer \
// DEFINE:   --dtrain-recompute=mode=full --dtrain-verify-train
// DEFINE: %{place} = dtrain-test-opt --dtrain-seed-data-parallel=mesh=%{mesh} --dtrain-seed-tensor-parallel \
// DEFINE:   --dtrain-seed-pipeline-parallel --dtrain-propagate-placement --dtrain-verify-place \
// DEFINE:   --dtrain-materialize-reshards --dtrain-lower-reshards --dtrain-verify-communicate
// DEFINE: %{prove} = dtrain-test-opt --dtrain-check-equivalence -o /dev/null
// REDEFINE: %{mesh} = dp=2
// RUN: %{train} | %{place} | %{prove} 2>&1 | FileCheck %s --check-prefix=EQUAL
// REDEFINE: %{mesh} = tp=4
// RUN: %{train} | %{place} | %{prove} 2>&1 | FileCheck %s --check-prefix=EQUAL
// REDEFINE: %{mesh} = pp=2,dp=2,tp=2
// RUN: %{train} | %{place} | %{prove} 2>&1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: remark: equivalence: 49 results equal

// Kernels do what rules say, and expansions what kernels do.
// RUN: %{train} | dtrain-test-opt --dtrain-check-rules="trials=3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RULES
// RULES: remark: rules: {{[0-9]+}} ops agree with their rules
