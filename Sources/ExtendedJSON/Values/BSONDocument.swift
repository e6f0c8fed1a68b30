package import Changesets

/// A BSON document: members in their order, each key once.
package struct BSONDocument: Sendable {
    package struct Member: Hashable, Sendable {
        package var key: ByteString
        package var value: BSONValue
    }

    package private(set) var members: [Member] = []
    /// The places of the keys, once there are many: most documents have few.
    private var positions: [ByteString: Int] = [:]
    private static let fewMembers = 16

    package init() {}

    /// The members in their order; of a key that stands twice the last value counts.
    package init(_ members: some Sequence<(ByteString, BSONValue)>) {
        for (key, value) in members { self[key] = value }
    }

    package var count: Int { members.count }
    package var isEmpty: Bool { members.isEmpty }
    package var keys: some Sequence<ByteString> { members.lazy.map(\.key) }

    /// The value of a key. A key that is new goes to the end; nil takes it away.
    package subscript(_ key: ByteString) -> BSONValue? {
        get { position(of: key).map { members[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?): members[position].value = value
            case (nil, let value?): add(Member(key: key, value: value))
            case (let position?, nil):
                members.remove(at: position)
                positions = [:]
                indexIfMany()
            case (nil, nil): break
            }
        }
    }

    /// Adds a member at the end.
    ///
    /// - Returns: false, and nothing is added, if the document has the key.
    package mutating func append(_ key: ByteString, _ value: BSONValue) -> Bool {
        guard position(of: key) == nil else { return false }
        add(Member(key: key, value: value))
        return true
    }

    private func position(of key: ByteString) -> Int? {
        if members.count > Self.fewMembers { return positions[key] }
        return members.firstIndex { $0.key == key }
    }

    private mutating func add(_ member: Member) {
        members.append(member)
        indexIfMany()
    }

    private mutating func indexIfMany() {
        guard members.count > Self.fewMembers else { return }
        // The first time, those before it too.
        for position in positions.count..<members.count { positions[members[position].key] = position }
    }
}

extension BSONDocument: Hashable, Sequence, ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral members: (ByteString, BSONValue)...) { self.init(members) }

    package func makeIterator() -> IndexingIterator<[Member]> { members.makeIterator() }

    /// Documents are equal if their members are, in the same order.
    package static func == (left: BSONDocument, right: BSONDocument) -> Bool { left.members == right.members }

    package func hash(into hasher: inout Hasher) { hasher.combine(members) }
}
