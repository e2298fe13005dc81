// RUN: dtrain-opt --dtrain-roll-layers=min-trips=1 --verify-diagnostics %s

// expected-error@+1 {{expected at least 2 trips, found 1}}
module {
}
