import DeviceSync

/// What a client's copy of its realm holds.
struct Copy: Equatable {
    var entries: [String: String] = [:]
    var count = 0
    var lines: [String] = []

    init(_ realm: Realm) {
        for entry in realm.dynamicObjects("Entry") {
            if let id = entry["_id"] as? String { entries[id] = entry["text"] as? String ?? "" }
        }
        guard let shared = realm.dynamicObject(ofType: "Shared", forPrimaryKey: "shared") else { return }
        count = shared["count"] as? Int ?? 0
        if let list = shared["lines"] as? DynamicList { lines = list.compactMap { $0 as? String } }
    }

    /// How it differs from another, in a line.
    func difference(from other: Copy) -> String {
        let mine = Set(entries.keys)
        let theirs = Set(other.entries.keys)
        return "\(entries.count) and \(other.entries.count) entries (\(mine.subtracting(theirs).count) and "
            + "\(theirs.subtracting(mine).count) of them unknown to the other), counts \(count) and \(other.count), "
            + "\(lines.count) and \(other.lines.count) lines"
    }
}
