import Changesets

extension RecordingTransaction {
    // MARK: Lists

    /// Inserts into a list; the address is that of the new slot, its last step an index up to the list's size.
    package mutating func insert(_ value: Value, at address: FieldAddress) throws(RecordingError) {
        let place = try slot(address)
        try validate(value, place.element, depth: place.depth, at: address, isInList: true)
        try recordInsertion(value, at: address, priorSize: place.listCount, owner: place.owner)
        try fill(address, with: value, place.element)
    }

    /// Removes a list's slot.
    package mutating func remove(at address: FieldAddress) throws(RecordingError) {
        let place = try slot(address)
        guard place.content != .absent else { throw beyondEnd(address, place) }
        let path = path(address, owner: place.owner)
        let priorSize = UInt32(clamping: place.listCount)
        try record(.arrayErase(path, priorSize: priorSize), address.object.className, address.field)
    }

    /// Moves a slot so that it ends up at `index`.
    package mutating func move(_ address: FieldAddress, to index: Int) throws(RecordingError) {
        let place = try slot(address)
        guard place.content != .absent, index >= 0, index < place.listCount else { throw beyondEnd(address, place) }
        guard address.path.last != .index(index) else { return }
        let path = path(address, owner: place.owner)
        let instruction = Instruction.arrayMove(
            path, to: UInt32(clamping: index), priorSize: UInt32(clamping: place.listCount))
        try record(instruction, address.object.className, address.field)
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
        let place = try set(address)
        try validate(member, place.element, depth: place.depth, at: address, isInList: true)
        guard member.scalarType != nil || member == .null else {
            throw RecordingError(.wrongType, place.owner, address.field, "a set holds only scalars and links")
        }
        guard !isMember(member, address) else { return }
        let path = path(address, owner: place.owner)
        let payload = Payload(member, &encoder.strings)
        try record(.setInsert(path, value: payload), address.object.className, address.field)
    }

    /// Removes a member, if it is there.
    package mutating func removeFromSet(_ member: Value, in address: FieldAddress) throws(RecordingError) {
        let place = try set(address)
        guard isMember(member, address) else { return }
        let path = path(address, owner: place.owner)
        let payload = Payload(member, &encoder.strings)
        try record(.setErase(path, value: payload), address.object.className, address.field)
    }

    // MARK: Dictionaries

    /// Removes a dictionary's entry, if it is there; the address is that of the entry.
    package mutating func removeKey(_ address: FieldAddress) throws(RecordingError) {
        let place = try place(address)
        guard place.kind == .entry else {
            throw RecordingError(.wrongType, place.owner, address.field, "expected an entry of a dictionary")
        }
        guard place.content != .absent else { return }
        try erase(address, owner: place.owner)
    }

    // MARK: All

    /// Empties a collection.
    package mutating func clear(_ address: FieldAddress) throws(RecordingError) {
        let place = try place(address)
        switch (place.kind, place.content) {
        case (.list, .list(let count)): if count > 0 { try recordClear(address, .list, owner: place.owner) }
        case (.dictionary, .dictionary(let count)):
            if count > 0 { try recordClear(address, .dictionary, owner: place.owner) }
        case (.set, .set(let count)): if count > 0 { try recordClear(address, .set, owner: place.owner) }
        // In a mixed slot also when it is empty: convergence needs it (docs/merge.md, "Clear and sets").
        case (_, .list): try recordClear(address, .list, owner: place.owner)
        case (_, .dictionary): try recordClear(address, .dictionary, owner: place.owner)
        default: throw RecordingError(.wrongType, place.owner, address.field, "expected a collection")
        }
    }

    mutating func recordClear(
        _ address: FieldAddress, _ kind: CollectionType, owner: ByteString
    ) throws(RecordingError) {
        try record(
            .clear(path(address, owner: owner), collection: kind), address.object.className, address.field)
    }

    mutating func recordInsertion(
        _ value: Value, at address: FieldAddress, priorSize: Int, owner: ByteString
    ) throws(RecordingError) {
        let path = path(address, owner: owner)
        let payload = Payload(value, &encoder.strings)
        let instruction = Instruction.arrayInsert(path, value: payload, priorSize: UInt32(clamping: priorSize))
        try record(instruction, address.object.className, address.field)
    }

    private func slot(_ address: FieldAddress) throws(RecordingError) -> RecordedPlace {
        let place = try place(address)
        guard place.kind == .slot else {
            throw RecordingError(.wrongType, place.owner, address.field, "expected a slot of a list")
        }
        return place
    }

    private func set(_ address: FieldAddress) throws(RecordingError) -> RecordedPlace {
        let place = try place(address)
        guard place.kind == .set else {
            throw RecordingError(.wrongType, place.owner, address.field, "expected a set")
        }
        return place
    }

    private func isMember(_ member: Value, _ address: FieldAddress) -> Bool {
        guard case .set(let members) = state.value(at: address) else { return false }
        let position = members.partitioningIndex(before: member)
        return position < members.count && Value.compare(members[position], member) == 0
    }
}
