import Changesets
package import RealmState

/// Invents edits that mostly fit the state they are for.
package struct EditGenerator {
    let profile: SimulationProfile

    package init(profile: SimulationProfile) { self.profile = profile }

    /// A transaction's edits; each sees what the ones before it have done.
    package func edits(_ count: Int, on state: RealmState, _ random: inout SimulationRandom) -> [Edit] {
        var copy = state
        var transaction = RecordingTransaction(taking: &copy)
        var edits: [Edit] = []
        for _ in 0..<count {
            guard let edit = edit(transaction, &random) else { continue }
            transaction.make(edit)
            edits.append(edit)
            if edit.verb == .create, let written = defaulted(edit, transaction, &random) {
                transaction.make(written)
                edits.append(written)
            }
        }
        transaction.rollback(returningTo: &copy)
        return edits
    }

    private func edit(_ transaction: borrowing RecordingTransaction, _ random: inout SimulationRandom) -> Edit? {
        if random.below(100) < profile.schemaEdits { return schemaEdit(&random) }
        let tables = transaction.state.schema.tables.filter { $0.kind == .topLevel }
        // The first class has the most fields, and so it is written to most.
        guard let table = random.oneIn(2) ? tables.first : random.pick(tables), let keySchema = table.key else {
            return nil
        }
        let number = random.number(keySchema.nullable ? 0...profile.keys - 1 : 1...profile.keys)
        guard let key = table.objectKey(Int64(number)) else { return nil }
        let object = ObjectAddress(table.name, key)
        guard transaction.state.contains(object) else { return Edit(.create, table.name.string, Int64(number)) }
        if random.below(100) < profile.erasures { return Edit(.erase, table.name.string, Int64(number)) }
        guard let column = random.pick(table.columns) else { return nil }
        var edit = Edit(.set, table.name.string, Int64(number), column.name.string)
        var address = FieldAddress(object, column.name)
        while let step = step(transaction.state.value(at: address), address, transaction, &random) {
            switch step {
            case .index(let index): edit.steps.append(.index(index))
            case .key(let key): edit.steps.append(.key(key.string))
            }
            address = address.appending(step)
        }
        return complete(edit, address, transaction, &random)
    }

    /// A schema's default, which is written where an object is made and nowhere else.
    private func defaulted(
        _ creation: Edit, _ transaction: borrowing RecordingTransaction, _ random: inout SimulationRandom
    ) -> Edit? {
        guard random.oneIn(2), let table = transaction.state.schema.table(ByteString(creation.table)),
            let column = random.pick(table.columns.filter { $0.collection == .single }), column.element.type != .link
        else { return nil }
        var edit = creation
        edit.verb = .default
        edit.field = column.name.string
        edit.value = value(column.element, profile.depth, inSet: false, inList: false, transaction, &random)
        return edit
    }

    /// One step further in, or nil to stay.
    private func step(
        _ value: Value?, _ address: FieldAddress, _ transaction: borrowing RecordingTransaction,
        _ random: inout SimulationRandom
    ) -> PathStep? {
        guard !random.oneIn(4) else { return nil }
        switch value {
        case .list(let items): return .index(random.below(items.count + 1))
        case .dictionary: return .key(random.pick(["a", "b", "c"]) ?? "a")
        case .embedded:
            guard let element = try? transaction.place(address).element,
                let table = transaction.state.schema.embeddedTarget(of: element)
            else { return nil }
            return random.pick(table.columns).map { .key($0.name) }
        default: return nil
        }
    }

    private func complete(
        _ edit: Edit, _ address: FieldAddress, _ transaction: borrowing RecordingTransaction,
        _ random: inout SimulationRandom
    ) -> Edit? {
        guard let place = try? transaction.place(address) else { return nil }
        var edit = edit
        edit.verb = verb(place, &random)
        switch edit.verb {
        case .set, .insert, .include, .exclude:
            let isSet = place.kind == .set
            edit.value = value(
                place.element, place.depth, inSet: isSet, inList: place.kind == .slot, transaction, &random)
        case .add: edit.number = Int64(random.number(1...5))
        case .move: edit.number = Int64(random.below(max(1, place.listCount)))
        default: break
        }
        return edit
    }

    private func verb(_ place: RecordedPlace, _ random: inout SimulationRandom) -> Edit.Verb {
        switch (place.kind, place.content) {
        case (.list, _), (.dictionary, _): return .clear
        case (.set, _): return random.pick([(6, .include), (4, .exclude), (1, .clear)]) ?? .include
        case (.slot, .absent): return .insert
        case (.slot, let content):
            return random.pick([(4, .insert), (3, .set), (3, .remove), (2, .move), (Self.weight(content), .clear)])
                ?? .insert
        case (.entry, .absent): return .set
        case (.entry, let content): return random.pick([(6, .set), (3, .drop), (Self.weight(content), .clear)]) ?? .set
        case (.property, let content):
            let isNumber = place.element.type == .int || place.element.isMixed
            return random.pick([(6, .set), (isNumber ? 4 : 0, .add), (Self.weight(content), .clear)]) ?? .set
        }
    }

    /// Only what is a collection can be cleared.
    private static func weight(_ content: RecordedPlace.Content) -> Int {
        switch content {
        case .list, .dictionary: 2
        default: 0
        }
    }

    // MARK: Values

    private func value(
        _ element: ElementType, _ depth: Int, inSet: Bool, inList: Bool,
        _ transaction: borrowing RecordingTransaction, _ random: inout SimulationRandom
    ) -> SimulatedValue {
        let number = Int64(random.below(4))
        if element.isMixed { return mixed(depth, inSet: inSet, transaction, &random) }
        if element.nullable, !inSet || element.type != .link, random.oneIn(5) { return SimulatedValue(.null) }
        switch element.type {
        case .int: return SimulatedValue(.int, number)
        case .bool: return SimulatedValue(.bool, number % 2)
        case .string: return SimulatedValue(.string, number)
        case .binary: return SimulatedValue(.binary, number)
        case .timestamp: return SimulatedValue(.time, number - 1)
        case .float: return SimulatedValue(.float, twin(number, &random))
        case .double: return SimulatedValue(.double, twin(number, &random))
        // Without twins every number has one form only.
        case .decimal: return SimulatedValue(.decimal, profile.hasTwins || !inSet ? number : number * 2)
        case .objectID: return SimulatedValue(.oid, number)
        case .uuid: return SimulatedValue(.uuid, number)
        case .link:
            guard let target = element.target, let table = transaction.state.schema.table(target),
                table.kind == .topLevel
            else { return SimulatedValue(.object) }
            return link(to: table, &random)
        case .null, .set, .list, .dictionary, .erased, .objectValue, .globalKey: return SimulatedValue(.null)
        }
    }

    private func mixed(
        _ depth: Int, inSet: Bool, _ transaction: borrowing RecordingTransaction, _ random: inout SimulationRandom
    ) -> SimulatedValue {
        // A link to a class that the other side erases cannot be applied, by anybody (D7).
        let collections = inSet || depth >= profile.depth ? 0 : 4
        let number = Int64(random.below(4))
        let kind = random.pick([
            (1, SimulatedValue.Kind.null), (4, .int), (2, .string), (profile.erasesSchema ? 0 : 1, .link),
            (collections, .list),
            (collections, .dictionary), (inSet && !profile.hasTwins ? 0 : 1, .double), (inSet ? 0 : 1, .bool),
            (profile.hasTwins ? 3 : 0, .decimal),
        ])
        if kind == .double { return SimulatedValue(.double, twin(number, &random)) }
        if kind == .link {
            let tables = transaction.state.schema.tables.filter { $0.kind == .topLevel }
            return random.pick(tables).map { link(to: $0, &random) } ?? SimulatedValue(.null)
        }
        return SimulatedValue(kind ?? .null, kind == .bool ? number % 2 : kind?.hasNumber == true ? number : 0)
    }

    private func twin(_ number: Int64, _ random: inout SimulationRandom) -> Int64 {
        profile.hasTwins && random.oneIn(3) ? Int64(random.pick([0, 8, 9]) ?? 0) : number
    }

    private func link(to table: TableSchema, _ random: inout SimulationRandom) -> SimulatedValue {
        let low = table.key?.nullable == true ? 0 : 1
        return SimulatedValue(.link, Int64(low + random.below(profile.keys)), target: table.name.string)
    }

    // MARK: Schema

    /// Every name has one type, so that the sides never contradict each other.
    private func schemaEdit(_ random: inout SimulationRandom) -> Edit? {
        let tables = ["A", "P", "Q"]
        let fields: [(name: String, details: [String])] = [
            ("n", ["int?"]), ("l", ["int", "list"]), ("any", ["mixed"]), ("s", ["string", "set"]),
            ("p", ["link?", "P"]), ("q", ["link", "Q", "list"]), ("e", ["link?", "E"]),
        ]
        guard let table = random.pick(tables), let field = random.pick(fields) else { return nil }
        let erasing = profile.erasesSchema ? 1 : 0
        switch random.pick([(4, 0), (8, 1), (1, 2), (erasing, 3), (erasing, 4), (1, 5)]) {
        case 0:
            var edit = Edit(.table, table)
            edit.details = ["int"]
            return edit
        case 1:
            var edit = Edit(.column, table)
            edit.field = field.name
            edit.details = field.details
            return edit
        case 2: return Edit(.embedded, "E")
        case 3: return Edit(.eraseTable, random.pick(["P", "Q"]) ?? "P")
        case 4:
            var edit = Edit(.eraseColumn, table)
            edit.field = field.name
            return edit
        default:
            var edit = Edit(.column, "E")
            edit.field = "v"
            edit.details = ["int"]
            return edit
        }
    }
}
