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
        // Emitted again even where nothing is missing: the server has to hear of them. Differences fail.
        case .addTable, .addColumn: try transaction.replay(instruction, strings: strings)
        case .eraseTable, .eraseColumn:
            throw ReplayFailure(description: "a class or property was removed, which cannot be recovered")
        case .createObject(let table, let object):
            let address = try address(table, object)
            guard transaction.state.schema.table(address.className) != nil else {
                throw ReplayFailure(description: "class '\(address.className)' does not exist on the server")
            }
            if !transaction.state.contains(address) { try transaction.createObject(address) }
        case .eraseObject(let table, let object):
            let address = try address(table, object)
            trackers.forget(address)
            guard transaction.state.contains(address) else { throw ReplayDrop.missingObject }
            try transaction.deleteObject(address)
        case .update(let update): try apply(update, &transaction)
        case .addInteger(let path, let delta):
            let place = try walk(path, steps: path.path.count, transaction)
            guard case .int = place.value, !place.isCollectionField else { throw ReplayDrop.path }
            try transaction.replay(.addInteger(place.path, delta: delta), strings: strings, owner: place.owner)
        case .arrayInsert(let path, let value, _): try insert(path, value, &transaction)
        case .arrayMove(let path, let to, _): try move(path, Int(to), &transaction)
        case .arrayErase(let path, _): try erase(path, &transaction)
        case .clear(let path, let collection): try clear(path, collection, &transaction)
        case .setInsert(let path, let value):
            let place = try walkToSet(path, transaction)
            guard try targetExists(value, transaction) else { throw ReplayDrop.link }
            try transaction.replay(.setInsert(place.path, value: value), strings: strings, owner: place.owner)
        case .setErase(let path, let value):
            let place = try walkToSet(path, transaction)
            try transaction.replay(.setErase(place.path, value: value), strings: strings, owner: place.owner)
        }
    }

    // MARK: Updates

    private mutating func apply(_ update: Instruction.Update, _ transaction: inout RecordingTransaction) throws {
        switch update.target.path.last {
        case .index(let index): try updateSlot(update, Int(index), &transaction)
        case .key(let key): try updateEntry(update, key, &transaction)
        case nil:
            let place = try walk(update.target, steps: 0, transaction)
            try write(update, to: place, &transaction)
        }
    }

    private mutating func updateSlot(
        _ update: Instruction.Update, _ index: Int, _ transaction: inout RecordingTransaction
    ) throws {
        var (list, items) = try walkToList(update.target, transaction)
        let position = try translate(index, list)
        guard items.indices.contains(position) else { throw ReplayDrop.path }
        guard try targetExists(update.value, transaction) else { throw ReplayDrop.link }
        list.path.path.append(.index(UInt32(clamping: position)))
        let slot = Instruction.Update(
            target: list.path, value: update.value, qualifier: .priorSize(UInt32(clamping: items.count)))
        try transaction.replay(.update(slot), strings: strings, owner: list.owner)
    }

    private mutating func updateEntry(
        _ update: Instruction.Update, _ key: InternedString, _ transaction: inout RecordingTransaction
    ) throws {
        var parent = try walk(update.target, steps: update.target.path.count - 1, transaction)
        let name = try name(key)
        if case .embedded = parent.value {
            let place = try walk(update.target, steps: update.target.path.count, transaction)
            return try write(update, to: place, &transaction)
        }
        guard let entries = parent.entries else {
            if parent.isCollectionField {
                throw ReplayFailure(description: "a path ends in the wrong kind of container")
            }
            throw ReplayDrop.path
        }
        if update.value == .erased, entries[name] == nil { throw ReplayDrop.path }
        parent.value = entries[name]
        parent.isCollectionField = false
        parent.path.path.append(.key(key))
        parent.tracked = parent.tracked?.appending(name)
        try write(update, to: parent, &transaction)
    }

    /// Writes a property or dictionary entry.
    private mutating func write(
        _ update: Instruction.Update, to place: ReplayPlace, _ transaction: inout RecordingTransaction
    ) throws {
        var update = update
        update.target = place.path
        if update.value == .objectValue, case .embedded = place.value {
            // Both sides made the slot: the fields merge, those written here count.
            return
        }
        forgetTrackers(at: place)
        if try !targetExists(update.value, transaction) { update.value = .null }
        try transaction.replay(.update(update), strings: strings, owner: place.owner)
    }

    /// What stood there is gone with its lists.
    private mutating func forgetTrackers(at place: ReplayPlace) {
        if let path = place.tracked { trackers.forget(below: path) }
    }

    // MARK: Lists

    private mutating func walkToList(
        _ path: FieldPath, _ transaction: borrowing RecordingTransaction
    ) throws -> (ReplayPlace, [Value]) {
        let place = try walk(path, steps: path.path.count - 1, transaction)
        guard let items = place.items else {
            if place.isCollectionField {
                throw ReplayFailure(description: "a path ends in the wrong kind of container")
            }
            throw ReplayDrop.path
        }
        return (place, items)
    }

    private static func index(_ path: FieldPath) throws -> Int {
        guard case .index(let index) = path.path.last else {
            throw ReplayFailure(description: "a list operation without an index")
        }
        return Int(index)
    }

    private mutating func insert(
        _ path: FieldPath, _ value: Payload, _ transaction: inout RecordingTransaction
    ) throws {
        let index = try Self.index(path)
        var (list, items) = try walkToList(path, transaction)
        // Before the tracker hears of it: the element will never be.
        guard try targetExists(value, transaction) else { throw ReplayDrop.link }
        var position = min(index, items.count)
        if let tracked = list.tracked {
            guard let found = trackers.track(tracked, { $0.insert(at: index, remoteSize: items.count) }) else {
                throw ReplayDrop.ambiguousList
            }
            position = found
        }
        list.path.path.append(.index(UInt32(clamping: position)))
        try transaction.replay(
            .arrayInsert(list.path, value: value, priorSize: UInt32(clamping: items.count)), strings: strings,
            owner: list.owner)
    }

    private mutating func erase(_ path: FieldPath, _ transaction: inout RecordingTransaction) throws {
        let index = try Self.index(path)
        var (list, items) = try walkToList(path, transaction)
        var position = index
        if let tracked = list.tracked {
            guard let found = trackers.track(tracked, { $0.erase(at: index) }) else {
                throw ReplayDrop.ambiguousList
            }
            position = found
        }
        guard items.indices.contains(position) else { throw ReplayDrop.path }
        list.path.path.append(.index(UInt32(clamping: position)))
        try transaction.replay(
            .arrayErase(list.path, priorSize: UInt32(clamping: items.count)), strings: strings, owner: list.owner)
    }

    private mutating func move(_ path: FieldPath, _ to: Int, _ transaction: inout RecordingTransaction) throws {
        let index = try Self.index(path)
        var (list, items) = try walkToList(path, transaction)
        var (source, target) = (index, to)
        if let tracked = list.tracked {
            guard let found = trackers.track(tracked, { $0.move(from: index, to: to) }) else {
                throw ReplayDrop.ambiguousList
            }
            (source, target) = found
        }
        guard items.indices.contains(source), items.indices.contains(target) else { throw ReplayDrop.path }
        guard source != target else { return }
        list.path.path.append(.index(UInt32(clamping: source)))
        try transaction.replay(
            .arrayMove(list.path, to: UInt32(clamping: target), priorSize: UInt32(clamping: items.count)),
            strings: strings, owner: list.owner)
    }

    // MARK: Clear and sets

    private mutating func clear(
        _ path: FieldPath, _ collection: CollectionType, _ transaction: inout RecordingTransaction
    ) throws {
        var place: ReplayPlace
        var qualifier = Instruction.Update.Qualifier.isDefault(false)
        switch path.path.last {
        case .index(let index)?:
            let (list, items) = try walkToList(path, transaction)
            let position = try translate(Int(index), list)
            guard items.indices.contains(position) else { throw ReplayDrop.path }
            place = list
            place.path.path.append(.index(UInt32(clamping: position)))
            place.value = items[position]
            place.isCollectionField = false
            place.tracked = nil
            qualifier = .priorSize(UInt32(clamping: items.count))
        case .key(let key)?:
            let parent = try walk(path, steps: path.path.count - 1, transaction)
            if case .embedded = parent.value {
                place = try walk(path, steps: path.path.count, transaction)
            } else {
                guard let entries = parent.entries else { throw ReplayDrop.path }
                let name = try name(key)
                place = parent
                place.path.path.append(.key(key))
                place.value = entries[name]
                place.isCollectionField = false
                place.tracked = parent.tracked?.appending(name)
            }
        case nil: place = try walk(path, steps: 0, transaction)
        }
        if place.isCollectionField {
            guard place.collection == collection else {
                throw ReplayFailure(description: "a path ends in the wrong kind of container")
            }
        } else if !Self.holds(place.value, collection) {
            guard place.element.isMixed, let payload = Self.payload(collection) else { throw ReplayDrop.path }
            let update = Instruction.Update(target: place.path, value: payload, qualifier: qualifier)
            try transaction.replay(.update(update), strings: strings, owner: place.owner)
        }
        forgetTrackers(at: place)
        try transaction.replay(.clear(place.path, collection: collection), strings: strings, owner: place.owner)
    }

    private static func holds(_ value: Value?, _ collection: CollectionType) -> Bool {
        switch (value, collection) {
        case (.list, .list), (.dictionary, .dictionary), (.set, .set): true
        default: false
        }
    }

    private static func payload(_ collection: CollectionType) -> Payload? {
        switch collection {
        case .list: .list
        case .dictionary: .dictionary
        case .single, .set: nil
        }
    }

    private mutating func walkToSet(
        _ path: FieldPath, _ transaction: borrowing RecordingTransaction
    ) throws -> ReplayPlace {
        let place = try walk(path, steps: path.path.count, transaction)
        guard case .set = place.value else {
            throw ReplayFailure(description: "a path ends in the wrong kind of container")
        }
        return place
    }

    // MARK: Links

    /// Whether a value is no link, or one to an object that exists.
    private func targetExists(_ value: Payload, _ transaction: borrowing RecordingTransaction) throws -> Bool {
        guard case .link(let table, let key) = value else { return true }
        return transaction.state.contains(try address(table, key))
    }
}
