import Testing

@testable import Receiver

@Suite struct RenderedGapsTests {
  private func gaps(_ spans: (device: Int64, end: Int64, stream: Int64)...) -> RenderedGaps {
    var gaps = RenderedGaps()
    for span in spans {
      gaps.note(RenderedGap(device: span.device, end: span.end, stream: span.stream))
    }
    return gaps
  }

  private func spans(_ gaps: RenderedGaps) -> [[Int64]] {
    (0..<gaps.count).map { [gaps[$0].device, gaps[$0].end, gaps[$0].stream] }
  }

  @Test func `a gap that goes on grows, and one elsewhere in the stream is another`() {
    let found = gaps((100, 200, 1100), (200, 300, 1200), (300, 400, 9000), (500, 600, 9200))
    #expect(spans(found) == [[100, 300, 1100], [300, 400, 9000], [500, 600, 9200]])
  }

  @Test func `what is rendered again is forgotten`() {
    var found = gaps((100, 300, 1100), (400, 600, 1400))
    found.rewind(to: 500)
    #expect(spans(found) == [[100, 300, 1100], [400, 500, 1400]])
    found.rewind(to: 400)
    #expect(spans(found) == [[100, 300, 1100]])
    found.rewind(to: 50)
    #expect(found.count == 0)
  }

  @Test func `what was heard is told once and forgotten`() {
    var found = gaps((100, 300, 1100), (400, 600, 1400))
    let told = [90, 150, 300, 350, 410].map { found.hear(upTo: $0) }
    #expect(told == [false, true, true, false, true])
    #expect(spans(found) == [[410, 600, 1410]])
  }

  @Test func `more gaps than there is room for make the last one longer`() {
    var found = RenderedGaps()
    for index in 0..<12 as Range<Int64> {
      found.note(RenderedGap(device: index * 100, end: index * 100 + 10, stream: index * 1000))
    }
    #expect(found.count == 8)
    #expect(spans(found).last == [700, 1110, 7000])
  }
}
