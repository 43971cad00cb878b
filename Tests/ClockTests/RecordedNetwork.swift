import Clock
import TestSupport
import Testing

/// Returns the rows of a recorded network, each with the sample that it tells of.
func recordedSamples(_ network: String) throws -> [(row: [Double], sample: TimeSample)] {
  try vectorRows("net_\(network)", in: .module).map { row in
    let sample = TimeSample(
      requestSentAt: LocalTime(nanoseconds: Int64(row[1])),
      requestReceivedAt: GroupTime(nanoseconds: Int64(row[2])),
      answerSentAt: GroupTime(nanoseconds: Int64(row[3])),
      answerReceivedAt: LocalTime(nanoseconds: Int64(row[4])))
    return (row, try #require(sample))
  }
}
