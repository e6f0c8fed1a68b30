import Foundation
import Storage

extension RestoreRecord {
    /// Returns the record for a state that is put back now.
    static func now() -> RestoreRecord {
        let at = UnixTime.milliseconds
        let stamp = Printing.time(ofUnixMilliseconds: at).filter { $0.isLetter || $0.isNumber }.lowercased()
        return RestoreRecord(id: "restore-\(stamp)-\(String(UInt16.random(in: .min ... .max), radix: 16))", at: at)
    }
}

enum UnixTime {
    static var milliseconds: UInt64 { UInt64(max(0, Date().timeIntervalSince1970 * 1_000)) }
}
