import Foundation

/// Seeds of simulated runs: `few` of them in `make test`, all in `make test-long`.
package func seeds(_ few: UInt64, of all: UInt64) -> [UInt64] {
  Array(1...(ProcessInfo.processInfo.environment["TUTTI_LONG"] == nil ? few : all))
}
