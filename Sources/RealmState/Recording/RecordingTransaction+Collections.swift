import Changesets

extension RecordingTransaction {
    // MARK: Lists

    /// Inserts into a list; the address is that of the new slot, its last step an index up to the list's size.
    package mutating func insert(_ value: Value, at address: FieldAddress) throws(RecordingError) {
        let place = try place(address, .slot, "a slot of a list")
        try validate(value, place.element, depth: place.depth, at: address, isInList: true)
        try recordInsertion(value, at: address, place, priorSize: place.listCount)
        try fill(address, with: value, place.element)
    }

    /// Removes a list's slot.
    package mutating func remove(at address: FieldAddress) throws(RecordingError) {
        let place = try place(address, .slot, "a slot of a list")
        guard place.content != .absent else { throw beyondEnd(address, place) }
        try record(address, place) { path, _ in .arrayErase(path, priorSize: UInt32(clamping: place.listCount)) }
    }

    /// Moves a slot so that it ends up at `index`.
    package mutating func move(_ address: FieldAddress, to index: Int) throws(RecordingError) {
        let place = try place(address, .slot, "a slot of a list")
        guard place.content != .absent, index >= 0, index < place.listCount else { throw beyondEnd(address, place) }
        guard address.path.last != .index(index) else { return }
        try record(address, place) { path, _ in
            .arrayMove(path, to: UInt32(clamping: index), priorSize: UInt32(clamping: place.listCount))
        }
    }

    /// Exchanges two slots of the list at `list`.
    package mutating func swap(_ list: FieldAddress, _ first: Int, _ second: Int) throws(RecordingError) {
        let low = min(first, second)
        let high = max(first, second)
        guard low != high else { return }
        try move(list.appending(.index(high)), to: low)
        if high != low + 1 { try move(list.appending(.index(low + 1)), to: high) }
    }

    // MARK: Sets

    /// Adds a member, unless it is there.
    package mutating func insertIntoSet(_ member: Value, in address: FieldAddress) throws(RecordingError) {
        let place = try place(address, .set, "a set")
        try validate(member, place.element, depth: place.depth, at: address, isInList: true)
        guard member.isPlain else {
            throw RecordingError(.wrongType, place.owner, address.field, "a set holds only scalars and links")
        }
        guard !isMember(member, address) else { return }
        try record(address, place) { path, strings in .setInsert(path, value: Payload(member, &strings)) }
    }

    /// Removes a member, if it is there.
    package mutating func removeFromSet(_ member: Value, in address: FieldAddress) throws(RecordingError) {
        let place = try place(address, .set, "a set")
        guard isMember(member, address) else { return }
        try record(address, place) { path, strings in .setErase(path, value: Payload(member, &strings)) }
    }

    // MARK: Dictionaries

    /// Removes a dictionary's entry, if it is there; the address is that of the entry.
    package mutating func removeKey(_ address: FieldAddress) throws(RecordingError) {
        let place = try place(address, .entry, "an entry of a dictionary")
        if place.content != .absent { try erase(address, place) }
    }

    // MARK: All

    /// Empties a collection.
    package mutating func clear(_ address: FieldAddress) throws(RecordingError) {
        let place = try place(address)
        let collection = place.content.collection
        guard collection != .single else {
            throw RecordingError(.wrongType, place.owner, address.field, "expected a collection")
        }
        // In a mixed slot also when it is empty: convergence needs it (docs/merge.md, "Clear and sets").
        guard place.content.count > 0 || place.kind.collection == .single else { return }
        try recordClear(address, collection, place)
    }

    mutating func recordClear(
        _ address: FieldAddress, _ collection: CollectionType, _ place: RecordedPlace
    ) throws(RecordingError) {
        try record(address, place) { path, _ in .clear(path, collection: collection) }
    }

    mutating func recordInsertion(
        _ value: Value, at address: FieldAddress, _ place: RecordedPlace, priorSize: Int
    ) throws(RecordingError) {
        try record(address, place) { path, strings in
            .arrayInsert(path, value: Payload(value, &strings), priorSize: UInt32(clamping: priorSize))
        }
    }

    private func place(
        _ address: FieldAddress, _ kind: RecordedPlace.Kind, _ expected: String
    ) throws(RecordingError) -> RecordedPlace {
        let place = try place(address)
        guard place.kind == kind else {
            throw RecordingError(.wrongType, place.owner, address.field, "expected \(expected)")
        }
        return place
    }

    private func isMember(_ member: Value, _ address: FieldAddress) -> Bool {
        guard case .set(let members) = state.value(at: address) else { return false }
        return members.position(of: member).isMember
    }
}
