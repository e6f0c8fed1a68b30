import Changesets

extension Value {
    /// The value without dictionaries' entries that no dictionary may have, and with texts that can be read.
    package var mended: Value {
        switch self {
        case .string(let text): return text.textFault == nil ? self : .string(ByteString(text.string))
        case .list(let items): return .list(items.map(\.mended))
        case .set(let members):
            let mended = members.map(\.mended)
            // Members that were apart may be equal now.
            return mended == members ? self : mended.reduce(into: .set([])) { $0.add(member: $1) }
        case .dictionary(let entries):
            return .dictionary(entries.filter { $0.key.dictionaryKeyFault == nil }.mapValues(\.mended))
        case .embedded(let object):
            var values: [ColumnID: Value] = [:]
            for entry in object.entries { values[entry.column] = entry.value.mended }
            return .embedded(StoredObject(values))
        default: return self
        }
    }

    private mutating func add(member: Value) {
        guard case .set(var members) = self else { return }
        let position = members.position(of: member)
        if !position.isMember { members.insert(member, at: position.index) }
        self = .set(members)
    }
}
