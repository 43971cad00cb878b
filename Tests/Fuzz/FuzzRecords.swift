import Disturbances

/// Feeds arbitrary files to what reads records of households, and checks what must hold of each. Started by run.sh.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRecords(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  if let record = try? DisturbanceRecord(parsing: bytes) {
    // A record is written in the words in which it is read again.
    let again = try? DisturbanceRecord(parsing: Array(record.text.utf8))
    precondition(again?.text == record.text)
    let own = record.only(group: 0)
    precondition((try? DisturbanceRecord(parsing: Array(own.text.utf8)))?.text == own.text)
  }
  if let (record, kept) = try? DisturbanceRecord.continued(bytes) {
    precondition(kept <= count)
    precondition((try? DisturbanceRecord(parsing: Array(record.text.utf8))) != nil)
  }
  return 0
}
