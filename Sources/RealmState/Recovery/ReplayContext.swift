import Changesets

/// The rules of replay (docs/resets.md, "Replay rules") for the instructions of one changeset.
struct ReplayContext {
    var trackers: ListTrackers
    var statistics: ReplayStatistics
    let strings: InternTable

    /// Applies an instruction in the form in which it still makes sense, or leaves it out.
    /// - Throws: `ReplayFailure`.
    mutating func apply(_ instruction: Instruction, _ transaction: inout RecordingTransaction) throws {
        do {
            try dispatch(instruction, &transaction)
            statistics.applied += 1
        } catch let drop as ReplayDrop {
            switch drop {
            case .missingObject: statistics.droppedMissingObject += 1
            case .path: statistics.droppedPath += 1
            case .link: statistics.droppedLink += 1
            case .ambiguousList: statistics.droppedAmbiguousList += 1
            }
        } catch let error as RecordingError {
            throw ReplayFailure(description: error.description)
        }
    }

    private mutating func dispatch(_ instruction: Instruction, _ transaction: inout RecordingTransaction) throws {
        switch instruction {
        // Emitted again even where nothing is missing, so that the server gets to know them. Differences fail.
        case .addTable, .addColumn: try transaction.replay(instruction, strings: strings)
        case .eraseTable, .eraseColumn:
            throw ReplayFailure(description: "a class or property was removed, which cannot be recovered")
        case .createObject(let table, let object):
            let address = try address(table, object)
            guard transaction.state.schema.table(address.className) != nil else {
                throw ReplayFailure.missing(address.className)
            }
            if !transaction.state.contains(address) { try transaction.createObject(address) }
        case .eraseObject(let table, let object):
            let address = try address(table, object)
            trackers.forget(address)
            guard transaction.state.contains(address) else { throw ReplayDrop.missingObject }
            try transaction.deleteObject(address)
        case .update(let update): try apply(update, &transaction)
        case .addInteger(let path, let delta):
            let place = try walk(path, transaction)
            guard case .int = place.value else { throw ReplayDrop.path }
            try replay(.addInteger(place.path, delta: delta), at: place, &transaction)
        case .arrayInsert(let path, let value, _): try insert(path, value, &transaction)
        case .arrayMove(let path, let to, _): try move(path, Int(to), &transaction)
        case .arrayErase(let path, _): try erase(path, &transaction)
        case .clear(let path, let collection): try clear(path, collection, &transaction)
        case .setInsert(let path, let value):
            let place = try walkToSet(path, transaction)
            guard try targetExists(value, transaction) else { throw ReplayDrop.link }
            try replay(.setInsert(place.path, value: value), at: place, &transaction)
        case .setErase(let path, let value):
            let place = try walkToSet(path, transaction)
            try replay(.setErase(place.path, value: value), at: place, &transaction)
        }
    }

    private func replay(
        _ instruction: Instruction, at place: ReplayPlace, _ transaction: inout RecordingTransaction
    ) throws {
        try transaction.replay(instruction, strings: strings, owner: place.place.owner)
    }

    // MARK: Paths

    /// Follows a path to its end, or `omitted` steps less far. At the end a dictionary's entry may be missing.
    /// - Throws: `ReplayDrop` if it leads nowhere any more, `ReplayFailure` if it leads to something else.
    private mutating func walk(
        _ path: FieldPath, omitting omitted: Int = 0, _ transaction: borrowing RecordingTransaction
    ) throws -> ReplayPlace {
        let address = try self.address(path.table, path.object)
        let field = try name(path.field)
        let cursor: FieldCursor
        do {
            cursor = try transaction.state.cursor(at: FieldAddress(address, field))
        } catch {
            switch error.code {
            case .noSuchObject: throw ReplayDrop.missingObject
            case .noSuchField: throw ReplayFailure.missing(error.className, field)
            default: throw ReplayFailure.missing(address.className)
            }
        }
        var place = ReplayPlace(
            FieldPath(table: path.table, object: path.object, field: path.field), cursor,
            tracked: ListPath(object: address, field: field, keys: []))
        for element in path.path.dropLast(omitted) { try step(into: &place, element) }
        if place.place.kind == .slot, place.value == nil { throw ReplayDrop.path }
        return place
    }

    private mutating func step(into place: inout ReplayPlace, _ element: PathElement) throws {
        switch element {
        case .key(let key): try place.step(element, .key(try name(key)))
        case .index(let index):
            var position = Int(index)
            if case .list = place.value { position = try track(place, untracked: position) { $0.update(at: position) } }
            try place.step(.index(UInt32(clamping: position)), .index(position))
        }
    }

    /// Lets the tracker of a list follow an operation.
    /// - Returns: the operation's position on the server's side, `untracked` in a list that only this side knows.
    private mutating func track<Position>(
        _ list: ReplayPlace, untracked: Position, _ operation: (inout ListTracker) -> Position?
    ) throws -> Position {
        guard let path = list.tracked else { return untracked }
        guard let position = trackers.track(path, operation) else { throw ReplayDrop.ambiguousList }
        return position
    }

    private func name(_ interned: InternedString) throws -> ByteString {
        guard let name = strings[interned] else { throw ReplayFailure(description: "a changeset is damaged") }
        return name
    }

    private func address(_ table: InternedString, _ object: PrimaryKey) throws -> ObjectAddress {
        guard let key = strings.resolve(object) else { throw ReplayFailure(description: "a changeset is damaged") }
        return ObjectAddress(try name(table), key)
    }

    // MARK: Updates

    private mutating func apply(_ update: Instruction.Update, _ transaction: inout RecordingTransaction) throws {
        let place = try walk(update.target, transaction)
        let targetExists = try targetExists(update.value, transaction)
        var update = update
        update.target = place.path
        if place.place.kind == .slot {
            guard targetExists else { throw ReplayDrop.link }
            update.qualifier = place.qualifier
        } else {
            if update.value == .erased, place.value == nil { throw ReplayDrop.path }
            // Both sides made the slot: the fields merge, those written here count.
            if update.value == .objectValue, case .embedded = place.value { return }
            if !targetExists { update.value = .null }
            forgetTrackers(at: place)
        }
        try replay(.update(update), at: place, &transaction)
    }

    /// What stood there is gone with its lists.
    private mutating func forgetTrackers(at place: ReplayPlace) {
        if let path = place.tracked { trackers.forget(below: path) }
    }

    // MARK: Lists

    /// The list that a path leads into, its size, and the index where the path ends.
    private mutating func walkToList(
        _ path: FieldPath, _ transaction: borrowing RecordingTransaction
    ) throws -> (list: ReplayPlace, size: Int, index: Int) {
        guard case .index(let index) = path.path.last else {
            throw ReplayFailure(description: "a list operation without an index")
        }
        let list = try walk(path, omitting: 1, transaction)
        guard case .list(let items) = list.value else {
            if list.isCollectionField { throw ReplayFailure.wrongContainer }
            throw ReplayDrop.path
        }
        return (list, items.count, Int(index))
    }

    private mutating func insert(
        _ path: FieldPath, _ value: Payload, _ transaction: inout RecordingTransaction
    ) throws {
        let (list, size, index) = try walkToList(path, transaction)
        // Check the link's target before the tracker records the insertion: without a target, no element is inserted.
        guard try targetExists(value, transaction) else { throw ReplayDrop.link }
        let position = try track(list, untracked: min(index, size)) { $0.insert(at: index, remoteSize: size) }
        try replay(
            .arrayInsert(list.path(to: position), value: value, priorSize: UInt32(clamping: size)), at: list,
            &transaction)
    }

    private mutating func erase(_ path: FieldPath, _ transaction: inout RecordingTransaction) throws {
        let (list, size, index) = try walkToList(path, transaction)
        let position = try track(list, untracked: index) { $0.erase(at: index) }
        guard position < size else { throw ReplayDrop.path }
        try replay(
            .arrayErase(list.path(to: position), priorSize: UInt32(clamping: size)), at: list, &transaction)
    }

    private mutating func move(_ path: FieldPath, _ to: Int, _ transaction: inout RecordingTransaction) throws {
        let (list, size, index) = try walkToList(path, transaction)
        let (source, target) = try track(list, untracked: (from: index, to: to)) { $0.move(from: index, to: to) }
        guard source < size, target < size else { throw ReplayDrop.path }
        guard source != target else { return }
        try replay(
            .arrayMove(list.path(to: source), to: UInt32(clamping: target), priorSize: UInt32(clamping: size)),
            at: list, &transaction)
    }

    // MARK: Clear and sets

    private mutating func clear(
        _ path: FieldPath, _ collection: CollectionType, _ transaction: inout RecordingTransaction
    ) throws {
        let place = try walk(path, transaction)
        if place.isCollectionField {
            guard place.place.kind.collection == collection else { throw ReplayFailure.wrongContainer }
        } else if place.value?.collection != collection {
            guard place.place.element.isMixed, collection == .list || collection == .dictionary else {
                throw ReplayDrop.path
            }
            let update = Instruction.Update(
                target: place.path, value: Payload(unlinked: collection.empty), qualifier: place.qualifier)
            try replay(.update(update), at: place, &transaction)
        }
        forgetTrackers(at: place)
        try replay(.clear(place.path, collection: collection), at: place, &transaction)
    }

    private mutating func walkToSet(
        _ path: FieldPath, _ transaction: borrowing RecordingTransaction
    ) throws -> ReplayPlace {
        let place = try walk(path, transaction)
        guard case .set = place.value else { throw ReplayFailure.wrongContainer }
        return place
    }

    // MARK: Links

    /// Whether a value is no link, or one to an object that exists.
    private func targetExists(_ value: Payload, _ transaction: borrowing RecordingTransaction) throws -> Bool {
        guard case .link(let table, let key) = value else { return true }
        return transaction.state.contains(try address(table, key))
    }
}
