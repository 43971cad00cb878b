import Sender
import Testing

@Suite struct TextSearchTests {
  @Test(arguments: [
    ("http://a/b", "://", "http"), ("://", "://", ""), ("aab", "ab", "a"),
    ("Grüße an Ann", "an", "Grüße "),
    ("anything", "", ""),
  ])
  func `a text is found where it stands first`(_ text: String, _ wanted: String, _ before: String)
    throws
  {
    let place = try #require(text.place(of: wanted))
    #expect(text[..<place.lowerBound] == before)
    #expect(text[place] == wanted)
    #expect(text.holds(wanted))
    #expect(text.dropFirst(0).holds(wanted))
  }

  @Test(arguments: [("", "a"), ("ab", "abc"), ("a:/b", "://"), ("Ann", "ann")])
  func `a text that is not there is not found`(_ text: String, _ wanted: String) {
    #expect(!text.holds(wanted))
  }
}
