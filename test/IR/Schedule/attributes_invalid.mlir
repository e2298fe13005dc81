// RUN: dtrain-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected one of class, precision, contract, flops, read, written, gemm, attention, elements, kernels, grouped, dropout, found 'colour'}}
module attributes {a = #schedule.work<colour = 1>} {}

// -----

// Fields come in their order.
// expected-error @below {{expected one of kernels, grouped, dropout, found 'flops'}}
module attributes {a = #schedule.work<class = loss, elements = 1.0, flops = 1.0 FLOP>} {}

// -----

// expected-error @below {{mismatched unit 's': expected one of}}
module attributes {a = #schedule.work<class = loss, flops = 1.0 s>} {}

// -----

// expected-error @below {{expected one of contraction, attention, attention_backward, memory_bound, loss, loss_backward, accumulate, optimizer, move, found 'magic'}}
module attributes {a = #schedule.work<class = magic>} {}

// -----

// expected-error @below {{expected 4 extents, found 3}}
module attributes {a = #schedule.work<class = contraction, gemm = [1, 2, 3]>} {}

// -----

// expected-error @below {{expected '>', found 'extra'}}
module attributes {a = #schedule.comm<kind = send, axes = ["pp"], between = [0, 1], extra = 1>} {}

// -----

// expected-error @below {{expected one of all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, scatter, send, found 'shout'}}
module attributes {a = #schedule.comm<kind = shout>} {}

// -----

// expected-error @below {{expected one of data, tensor, sequence, context, expert, gradient, parameter, pipeline, found 'fun'}}
module attributes {a = #schedule.comm<kind = send, purpose = fun>} {}

// -----

// expected-error @below {{unknown unit 'batch': expected one of}}
func.func private @f() attributes {x = #schedule.work<class = contraction, flops = "2.0 batch seq">}

// -----

// expected-error @below {{expected the name of a size or a whole number, found '0'}}
func.func private @f() attributes {x = #schedule.work<class = contraction, flops = "2.0 FLOP 0">}

// -----

// expected-error @below {{expected a number and its unit, found 'seq'}}
func.func private @f() attributes {x = #schedule.work<class = contraction, flops = "2.0 FLOP + seq">}
