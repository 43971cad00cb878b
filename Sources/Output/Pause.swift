package import Clock
import Glibc

/// Sleeps on the machine's monotonic clock.
package func pause(for span: Nanoseconds) {
  var time = timespec(
    tv_sec: Int(span.count / 1_000_000_000), tv_nsec: Int(span.count % 1_000_000_000))
  nanosleep(&time, nil)
}
