import FFmpegSource
import Foundation
import House
import Service
import TestSupport
import Testing

@testable import Library

/// Tests of lyrics with and without times.
@Suite struct LyricsTests {
  private typealias Line = LyricsContents.Line

  @Test func `lines with times are sorted, and each time of a line counts`() {
    let text = """
      [ar:Nina Simone]
      [00:12.50]Oh, Sinnerman
      [01:02.0][00:20]where you gonna run to?
      not sung
      [00:30.25]
      """
    #expect(
      Lyrics.parse(text).lines == [
        Line(text: "Oh, Sinnerman", atS: 12.5), Line(text: "where you gonna run to?", atS: 20),
        Line(text: "", atS: 30.25), Line(text: "where you gonna run to?", atS: 62),
      ])
  }

  @Test func `an offset moves all lines, none before the beginning`() {
    let lines = Lyrics.parse("[offset:+500]\r\n[00:10.00]a\r\n[00:00.10]b").lines
    #expect(lines == [Line(text: "b", atS: 0), Line(text: "a", atS: 9.5)])
  }

  @Test func `a text without times stays as it is`() {
    let lines = Lyrics.parse("[Chorus]\nOh [yes]\n\nEnd \u{1b}[2J").lines
    #expect(lines.map(\.text).prefix(3) == ["[Chorus]", "Oh [yes]", ""])
    #expect(lines.allSatisfy { $0.atS == nil && !$0.text.contains("\u{1b}") })
    #expect(Lyrics.parse(" \n\n").lines.isEmpty)
  }

  @Test(arguments: [
    "[99:99]x", "[1:2:3]x", "[-1:00]x", "[nan:inf]x", "[00:nan]x", "[", "[]", "[[[[", "]",
    "[offset:1e999]", "[00:1e9]x", String(repeating: "[", count: 100_000),
  ])
  func `what is no time is text`(text: String) {
    #expect(Lyrics.parse(text).lines.allSatisfy { $0.atS == nil })
  }

  @Test func `there is an end to lines`() {
    let stamps = String(repeating: "[00:01]", count: 10_000)
    #expect(Lyrics.parse(stamps + "x").lines.count == Lyrics.lineLimit)
    #expect(Lyrics.parse(String(repeating: "x\n", count: 10_000)).lines.count == Lyrics.lineLimit)
  }

  @Test func `lyrics come from the file beside a track, or from the track`() async throws {
    let bed = try LibraryBed()
    var inside = TaggedFile("Inside")
    inside.tags.append(("LYRICS", "[00:01.00]one\n[00:02.00]two"))
    try bed.write(inside, to: "a/inside.flac")
    try bed.write(TaggedFile("Beside"), to: "a/beside.flac")
    try bed.temporary.write(Array("[00:03]three".utf8), to: "Music/a/beside.lrc")
    try bed.write(TaggedFile("Out"), to: "a/out.flac")
    try bed.temporary.write(Array("secret".utf8), to: "secret.txt")
    try FileManager.default.createSymbolicLink(
      atPath: bed.path("a/out.lrc"), withDestinationPath: bed.temporary.file("secret.txt"))
    #expect(try FileTags.lyrics(path: bed.path("a/inside.flac")) == "[00:01.00]one\n[00:02.00]two")
    #expect(try FileTags.lyrics(path: bed.path("a/beside.flac")) == nil)
    #expect(Lyrics.beside(bed.path("a/beside.flac"), bed.folders) == "[00:03]three")
    #expect(Lyrics.beside(bed.path("a/inside.flac"), bed.folders) == nil)
    #expect(Lyrics.beside(bed.path("a/out.flac"), bed.folders) == nil)
  }
}
