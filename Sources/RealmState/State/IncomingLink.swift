package import Changesets

/// One step below a field, with the key itself.
package enum PathStep: Hashable, Sendable {
    case index(Int)
    case key(ByteString)
}

/// Where a link stands that points to some object.
package struct IncomingLink: Hashable, Sendable {
    package enum Holder: Hashable, Sendable {
        case property, listSlot, dictionaryEntry, setMember
    }
    package var source: ObjectAddress
    package var field: ByteString
    /// The way to the slot; for a member of a set, to the set.
    package var path: [PathStep]
    package var holder: Holder
    /// Whether the slot is mixed, so that null can take the link's place in any collection.
    package var isMixed: Bool
}
