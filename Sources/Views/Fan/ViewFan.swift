import Changesets
package import Query
package import RealmState
package import SyncModel

/// The sessions of a flexible realm at one gateway, which finds those that a commit concerns. Pure.
///
/// A session that follows stands, without hearing of it, wherever the fan stands: whatever concerns it up to there was handed out to it.
/// Sessions with the same queries and roles are one group, looked at once, and groups that want a property to have a certain value are
/// found by that value: a commit costs what the sessions cost that it concerns.
package struct ViewFan: Sendable {
    /// The sessions that a commit concerns, and what finding them has taken.
    package struct Outcome: Sendable {
        package struct Group: Sendable {
            package var sessions: [UInt64]
            package var view: View
            /// The objects that may have been in the view.
            package var slots: [ObjectSlot]

            package init(sessions: [UInt64], view: View, slots: [ObjectSlot]) {
                self.sessions = sessions
                self.view = view
                self.slots = slots
            }
        }

        package var groups: [Group] = []
        /// Sessions that have to ask their owner: they have missed something, or nobody here can tell what they get.
        package var lost: [UInt64] = []
        /// The steps that looking at objects has taken beyond what every group may.
        package var steps = 0
        /// Groups that took too much to be told here.
        package var tooDear = 0
    }

    /// The steps that the groups of a view may take of one commit.
    package struct Allowance: Sendable {
        /// The steps that one group may take, and those that each may take whatever the others take.
        var perGroup: Int
        var perGroupAtLeast: Int
        /// The steps that all groups together may take beyond that.
        var together: Int

        package init(_ limits: EvaluationLimits, together: Int) {
            perGroup = limits.stepsPerSet
            perGroupAtLeast = limits.stepsPerSetAtLeast
            self.together = together
        }

        package static let unlimited = Allowance(perGroup: .max, perGroupAtLeast: .max, together: 0)

        private init(perGroup: Int, perGroupAtLeast: Int, together: Int) {
            (self.perGroup, self.perGroupAtLeast, self.together) = (perGroup, perGroupAtLeast, together)
        }
    }

    /// A view that is to be made for those who follow: not while anybody waits for the fan.
    package struct Preparation: Sendable {
        fileprivate let definition: ViewDefinition
        fileprivate let version: SchemaVersion?
        fileprivate let schema: Schema
        fileprivate let stamp: UInt64
        fileprivate let queries: ViewQueries

        package func made() -> Prepared {
            var queries = queries
            let view = try? View(definition, schema: schema, version: version, isRead: true, sharing: &queries)
            return Prepared(view: view, stamp: stamp, queries: queries)
        }
    }

    package struct Prepared: Sendable {
        fileprivate let view: View?
        fileprivate let stamp: UInt64
        fileprivate let queries: ViewQueries
    }

    /// Groups have numbers, so that nothing but finding one's number goes over the text of its queries.
    private typealias GroupNumber = Int

    private struct Selection: Hashable {
        var queries: String
        var roles: String
        var version: SchemaVersion?
    }

    private struct Group {
        var selection: Selection
        var definition: ViewDefinition
        /// Nil while the schema is not known, or if the queries do not fit it.
        var view: View?
        /// Nobody has tried to make the view by the schema that is known.
        var isDue = true
        /// Whether the group took more than its due of the last commit: others come first.
        var isDear = false
        var sessions: Set<UInt64> = []
    }

    private struct Session {
        var group: GroupNumber
        var file: FileIdent
        /// The version where the session stands; it stands where the fan stands if that is further.
        var position: ServerVersion
    }

    /// A property of a class; its key without a column.
    private struct Field: Hashable {
        var table: TableID
        var column: ColumnID?
    }

    /// The number that tells the schema in `tables` from others; 0 before the first.
    package private(set) var stamp: UInt64 = 0
    private var tables: Schema?
    /// The newest version that was taken; nil before the first.
    package private(set) var position: ServerVersion?
    private var groups: [GroupNumber: Group] = [:]
    private var numbersOfGroups: [Selection: GroupNumber] = [:]
    private var lastGroup: GroupNumber = 0
    private var sessions: [UInt64: Session] = [:]
    private var byFile: [FileIdent: Set<UInt64>] = [:]
    /// Groups of which an object is only if a property has a certain value, by property and value.
    private var byValue: [Field: [Value: Set<GroupNumber>]] = [:]
    private var fields: [TableID: [Field]] = [:]
    /// The other groups that look at a class.
    private var byTable: [TableID: Set<GroupNumber>] = [:]
    /// Groups that nobody can tell of.
    private var unclear: Set<GroupNumber> = []
    private var queries = ViewQueries()

    /// The bytes of queries' texts that are read at once.
    private static let bytesReadAtOnce = 256 << 10

    package init() {}

    package var isEmpty: Bool { sessions.isEmpty }
    package var numbers: [UInt64] { Array(sessions.keys) }
    /// Nothing of any session is held.
    var isForgotten: Bool {
        groups.isEmpty && numbersOfGroups.isEmpty && queries.all.isEmpty && byFile.isEmpty && byValue.isEmpty
            && byTable.isEmpty && unclear.isEmpty
            && fields.values.allSatisfy(\.isEmpty)
    }

    // MARK: Sessions

    /// The bytes that a session's set takes in memory, about, whoever else has the same.
    package func bytes(of number: UInt64) -> Int {
        guard let session = sessions[number], let group = groups[session.group] else { return 0 }
        return 2 * (group.definition.queries.utf8.count + group.definition.roles.utf8.count) + (group.view?.bytes ?? 0)
    }

    /// The bytes that queries take in memory, about: each counts once.
    package var bytes: Int { queries.all.reduce(0) { $0 + $1.bytes } }

    /// The parts that have to be made for a session before it follows; nil for none.
    package func preparation(
        for number: UInt64, _ definition: ViewDefinition, of schemaVersion: SchemaVersion? = nil
    ) -> Preparation? {
        guard let tables else { return nil }
        if let group = group(of: number, definition, schemaVersion), groups[group]?.isDue == false { return nil }
        return Preparation(
            definition: definition, version: schemaVersion, schema: tables, stamp: stamp, queries: queries)
    }

    /// The group of a definition, the session's own if that is it.
    private func group(
        of number: UInt64, _ definition: ViewDefinition, _ version: SchemaVersion?
    ) -> GroupNumber? {
        // Texts of one origin are compared by where they are.
        if let own = sessions[number]?.group, let selection = groups[own]?.selection,
            selection.queries == definition.queries, selection.roles == definition.roles, selection.version == version
        {
            return own
        }
        return numbersOfGroups[
            Selection(queries: definition.queries, roles: definition.roles, version: version)]
    }

    /// A session has everything up to a version under a set in force, and will be told of what concerns it from where the fan stands.
    ///
    /// - Parameters:
    ///   - schemaVersion: of the client's copy.
    ///   - prepared: what was to be made for it; without it that is made now.
    /// - Returns: where the fan stands. If that is further, the session has to ask for what is between.
    package mutating func follow(
        _ number: UInt64, file: FileIdent, _ definition: ViewDefinition, of schemaVersion: SchemaVersion? = nil,
        at version: ServerVersion, prepared: Prepared? = nil
    ) -> ServerVersion {
        let known = group(of: number, definition, schemaVersion)
        if let known, let session = sessions[number], session.group == known, session.file == file {
            sessions[number]?.position = max(session.position, version)
            prepare(known, prepared)
        } else {
            leave(number)
            // Leaving may have been the group's end.
            var group = known.flatMap { groups[$0] == nil ? nil : $0 }
            if group == nil {
                lastGroup += 1
                group = lastGroup
                let selection = Selection(
                    queries: definition.queries, roles: definition.roles, version: schemaVersion)
                numbersOfGroups[selection] = lastGroup
                groups[lastGroup] = Group(selection: selection, definition: definition)
            }
            let here = group ?? lastGroup
            sessions[number] = Session(group: here, file: file, position: version)
            byFile[file, default: []].insert(number)
            groups[here]?.sessions.insert(number)
            prepare(here, prepared)
        }
        return position ?? 0
    }

    package mutating func leave(_ number: UInt64) {
        guard let session = sessions.removeValue(forKey: number) else { return }
        byFile[session.file]?.remove(number)
        if byFile[session.file]?.isEmpty == true { byFile[session.file] = nil }
        groups[session.group]?.sessions.remove(number)
        if groups[session.group]?.sessions.isEmpty == true {
            unindex(session.group)
            if let group = groups.removeValue(forKey: session.group) { numbersOfGroups[group.selection] = nil }
        }
    }

    // MARK: Schema

    /// The realm's schema, as the owner has told it. What changes it every session hears of from its owner: when it follows again, its view is
    /// made by the new schema, if that was too much to be done for all at once.
    package mutating func learn(_ schema: Schema, stamp: UInt64) {
        guard stamp != self.stamp else { return }
        (self.stamp, tables) = (stamp, schema)
        var bytes = Self.bytesReadAtOnce
        for (number, group) in groups {
            unindex(number)
            groups[number]?.isDue = true
            bytes -= group.definition.queries.utf8.count
            if bytes > 0 { prepare(number, nil) } else { unclear.insert(number) }
        }
    }

    /// Reads the queries of a group and puts it where objects find it.
    private mutating func prepare(_ number: GroupNumber, _ prepared: Prepared?) {
        guard let group = groups[number], group.isDue else { return }
        unclear.insert(number)
        guard let tables else { return }
        var view: View?
        if let prepared, prepared.stamp == stamp {
            view = prepared.view
            if let view { queries.adopt(view, of: prepared.queries) }
        } else {
            view = try? View(
                group.definition, schema: tables, version: group.selection.version, isRead: true, sharing: &queries)
        }
        groups[number]?.isDue = false
        guard let view else { return }
        unclear.remove(number)
        groups[number]?.view = view
        for subscribed in view.subscribed {
            let table = subscribed.table.id
            guard let anchor = subscribed.anchor else {
                byTable[table, default: []].insert(number)
                continue
            }
            // A view that can hold nothing is found by no object.
            guard !anchor.values.isEmpty else { continue }
            let field = Field(table: table, column: anchor.column)
            if byValue[field] == nil { fields[table, default: []].append(field) }
            for value in anchor.values { byValue[field, default: [:]][value, default: []].insert(number) }
        }
    }

    private mutating func unindex(_ number: GroupNumber) {
        unclear.remove(number)
        guard let view = groups[number]?.view else { return }
        groups[number]?.view = nil
        for subscribed in view.subscribed {
            let table = subscribed.table.id
            guard let anchor = subscribed.anchor else {
                byTable[table]?.remove(number)
                if byTable[table]?.isEmpty == true { byTable[table] = nil }
                continue
            }
            let field = Field(table: table, column: anchor.column)
            for value in anchor.values {
                byValue[field]?[value]?.remove(number)
                if byValue[field]?[value]?.isEmpty == true { byValue[field]?[value] = nil }
            }
            if byValue[field]?.isEmpty == true {
                byValue[field] = nil
                fields[table]?.removeAll { $0 == field }
            }
        }
    }

    // MARK: Commits

    /// The realm stands at a version, and nobody tells what has happened.
    ///
    /// - Parameter files: those of clients that are to be told in any case.
    package mutating func pass(to latest: ServerVersion, answering files: [FileIdent] = []) -> Outcome {
        let here = position ?? 0
        var lost = Set(files.flatMap { byFile[$0] ?? [] })
        if latest > here || position == nil {
            for (number, session) in sessions where max(session.position, here) < latest { lost.insert(number) }
            position = latest
        }
        return Outcome(lost: Array(lost))
    }

    /// - Parameters:
    ///   - schema: the number of the schema by which the images are, and the schema if the commit has changed it.
    ///   - allowance: whoever takes more has to ask its owner.
    package mutating func take(
        _ stretch: FannedStretch, schema: (stamp: UInt64, changed: Schema?), allowance: Allowance = .unlimited
    ) -> Outcome {
        var outcome = Outcome()
        if position.map({ $0 < stretch.follows }) ?? true {
            outcome = pass(to: stretch.follows)
        }
        let lost = Set(outcome.lost)
        guard let here = position, stretch.latest > here else {
            // Known already; those whom it answers may wait for it.
            outcome.lost += stretch.addressed.flatMap { byFile[$0] ?? [] }.filter { !lost.contains($0) }
            return outcome
        }
        position = stretch.latest
        guard schema.stamp == stamp else {
            // What changes the schema goes to everybody, and images say nothing by another.
            if let changed = schema.changed { learn(changed, stamp: schema.stamp) }
            outcome.lost += sessions.filter { !lost.contains($0.key) && $0.value.position < stretch.latest }.map(\.key)
            return outcome
        }
        let candidates = candidates(stretch)
        var authors: Set<UInt64> = []
        for file in stretch.addressed.union(stretch.authors.keys) {
            for number in byFile[file] ?? [] where authors.insert(number).inserted && !lost.contains(number) {
                // What it has written itself it may hold though nobody has it in view.
                let own = stretch.authors[file] ?? []
                tell([number], own.union(sessions[number].flatMap { candidates[$0.group] } ?? []), stretch, &outcome)
            }
        }
        func others(of group: Group) -> [UInt64] {
            group.sessions.filter { !authors.contains($0) && !lost.contains($0) }
        }
        let meter = EvaluationMeter()
        // The groups that took long the last time come after all others.
        let (last, first) = candidates.partitioned { groups[$0.key]?.isDear == true }
        for (number, slots) in [first, last].joined() {
            guard let group = groups[number], let view = group.view else { continue }
            let due = allowance.perGroupAtLeast
            let most = min(allowance.perGroup, due.saturatingSum(max(0, allowance.together - outcome.steps)))
            meter.restart(perObject: most, limit: most)
            let metered = view.metered(by: meter)
            let held = slots.filter { slot in
                stretch.states(of: slot).contains {
                    let place = metered.place(of: $0, slot)
                    return place == .inView || place.isUnclear
                }
            }
            outcome.steps += max(0, meter.steps - due)
            if group.isDear != (meter.steps > due) { groups[number]?.isDear.toggle() }
            if meter.overrun != nil {
                outcome.tooDear += 1
                outcome.lost += others(of: group)
            } else if !held.isEmpty {
                tell(others(of: group), held, stretch, &outcome)
            }
        }
        for selection in unclear {
            outcome.lost += (groups[selection]?.sessions ?? []).filter { !authors.contains($0) && !lost.contains($0) }
        }
        return outcome
    }

    /// - Parameter sessions: of one group.
    private func tell(
        _ sessions: some Collection<UInt64>, _ slots: Set<ObjectSlot>, _ stretch: FannedStretch,
        _ outcome: inout Outcome
    ) {
        guard let first = sessions.first.flatMap({ self.sessions[$0] }) else { return }
        guard let view = groups[first.group]?.view else { return outcome.lost += sessions }
        outcome.groups.append(.init(sessions: Array(sessions), view: view, slots: Array(slots)))
    }

    /// The groups to which touched objects may belong, or have belonged, and these objects.
    private func candidates(_ stretch: FannedStretch) -> [GroupNumber: Set<ObjectSlot>] {
        var found: [GroupNumber: Set<ObjectSlot>] = [:]
        for slot in stretch.touches.keys {
            for group in byTable[slot.table] ?? [] { found[group, default: []].insert(slot) }
            for field in fields[slot.table] ?? [] {
                guard let column = field.column else {
                    for group in byValue[field]?[Value(slot.key)] ?? [] { found[group, default: []].insert(slot) }
                    continue
                }
                let ifMissing = tables?.table(slot.table)?.columns.first { $0.id == column }?.defaultValue ?? .null
                for object in stretch.states(of: slot) {
                    if object.untold.contains(column) {
                        for groups in byValue[field]?.values ?? [:].values {
                            for group in groups { found[group, default: []].insert(slot) }
                        }
                        continue
                    }
                    for group in byValue[field]?[object[column] ?? ifMissing] ?? [] {
                        found[group, default: []].insert(slot)
                    }
                }
            }
        }
        return found
    }
}

extension Dictionary {
    /// Returns the elements that are so, and the others.
    fileprivate func partitioned(by isSo: (Element) -> Bool) -> ([Element], [Element]) {
        var (those, others): ([Element], [Element]) = ([], [])
        others.reserveCapacity(count)
        for element in self { if isSo(element) { those.append(element) } else { others.append(element) } }
        return (those, others)
    }
}

extension Int {
    fileprivate func saturatingSum(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
