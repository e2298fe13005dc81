// RUN: dtrain-opt %s -split-input-file -verify-diagnostics --schedule-verify=solution=true

// A solution.
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

// expected-error @below {{expected a solved plan: run schedule-solve first}}
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  // expected-error @below {{expected a span}}
  schedule.body @b {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    // expected-error @below {{expected a span}}
    schedule.segment forward chunk 0 count 1 space <> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  // expected-error @below {{expected a footprint and a breakdown}}
  schedule.rank_class @s0 stage 0 devices 2 state <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  // expected-error @below {{expected a breakdown that sums to 3.0 s, found 2.5 s}}
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 2.5 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 1.0 s, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      // expected-error @below {{expected a cost}}
      %a = schedule.task "a" #schedule.work<class = memory_bound>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      // expected-error @below {{expected a start}}
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      // expected-error @below {{starts at 500.0 ms, before what it comes after ends, at 1.0 s}}
      %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 500.0 ms, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}

// -----

// A lane runs its tasks one at a time.
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> at <duration = 3.0 s> {
  schedule.body @b span <compute = 1.0 s> {
    %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> footprint <> breakdown <compute = 3.0 s> {
    schedule.segment forward chunk 0 count 1 space <> span <compute = 2.0 s> {
      %a = schedule.task "a" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <duration = 1.0 s>
      // expected-error @below {{expected a start at 1.0 s, found 500.0 ms}}
      %b = schedule.task "b" #schedule.work<class = memory_bound> cost <device = 1.0 s> at <start = 500.0 ms, duration = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> span <> {
    }
  }
}
