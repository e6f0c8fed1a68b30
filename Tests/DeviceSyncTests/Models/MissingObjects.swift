import Changesets
import RealmState

extension RecordingTransaction {
    /// Takes an object away and leaves the links to it, as when it goes out of a flexible realm's view.
    mutating func replayDeletion(of address: ObjectAddress) throws {
        var strings = InternTable()
        let table = strings.intern(address.className)
        let key = strings.intern(address.key)
        try replay(.eraseObject(table: table, object: key), strings: strings)
    }
}
