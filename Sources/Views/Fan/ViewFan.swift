import Changesets
package import RealmState
package import SyncModel

/// Which of a flexible realm's sessions at one gateway a commit concerns. Pure.
///
/// A session that follows stands, without hearing of it, wherever the fan stands: whatever concerns it up to there was handed out to it.
/// Sessions with the same queries and roles are one group, looked at once, and groups that want a property to have a certain value are
/// found by that value: a commit costs what the sessions cost that it concerns.
package struct ViewFan: Sendable {
    /// Whom a commit concerns.
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
    }

    private struct Selection: Hashable {
        var queries: String
        var roles: String
        var version: SchemaVersion?
    }

    private struct Group {
        var definition: ViewDefinition
        /// Nil while the schema is not known, or if the queries do not fit it.
        var view: View?
        var sessions: Set<UInt64> = []
    }

    private struct Session {
        var group: Selection
        var file: FileIdent
        /// It stands here, or where the fan stands if that is further.
        var position: ServerVersion
    }

    /// A property of a class; its key without a column.
    private struct Field: Hashable {
        var table: TableID
        var column: ColumnID?
    }

    /// Which schema `tables` is; 0 before the first.
    package private(set) var stamp: UInt64 = 0
    private var tables: Schema?
    /// The newest version that was taken; nil before the first.
    package private(set) var position: ServerVersion?
    private var groups: [Selection: Group] = [:]
    private var sessions: [UInt64: Session] = [:]
    private var byFile: [FileIdent: Set<UInt64>] = [:]
    /// Groups of which an object is only if a property has a certain value, by property and value.
    private var byValue: [Field: [Value: Set<Selection>]] = [:]
    private var fields: [TableID: [Field]] = [:]
    /// The other groups that look at a class.
    private var byTable: [TableID: Set<Selection>] = [:]
    /// Groups that nobody can tell of.
    private var unclear: Set<Selection> = []

    package init() {}

    package var isEmpty: Bool { sessions.isEmpty }
    package var numbers: [UInt64] { Array(sessions.keys) }
    /// Nothing of any session is held.
    var isForgotten: Bool {
        groups.isEmpty && byFile.isEmpty && byValue.isEmpty && byTable.isEmpty && unclear.isEmpty
            && fields.values.allSatisfy(\.isEmpty)
    }

    // MARK: Sessions

    /// A session has everything up to a version under a set in force, and will be told of what concerns it from where the fan stands.
    ///
    /// - Parameter schemaVersion: of the client's copy.
    /// - Returns: where the fan stands. If that is further, the session has to ask for what is between.
    package mutating func follow(
        _ number: UInt64, file: FileIdent, _ definition: ViewDefinition, of schemaVersion: SchemaVersion? = nil,
        at version: ServerVersion
    ) -> ServerVersion {
        let selection = Selection(
            queries: definition.queries, roles: definition.roles, version: schemaVersion)
        if let known = sessions[number], known.group == selection, known.file == file {
            sessions[number]?.position = max(known.position, version)
        } else {
            leave(number)
            sessions[number] = Session(group: selection, file: file, position: version)
            byFile[file, default: []].insert(number)
            if groups[selection] == nil {
                groups[selection] = Group(definition: definition)
                prepare(selection)
            }
            groups[selection]?.sessions.insert(number)
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
            groups[session.group] = nil
        }
    }

    // MARK: Schema

    /// The realm's schema, as the owner has told it.
    package mutating func learn(_ schema: Schema, stamp: UInt64) {
        guard stamp != self.stamp else { return }
        (self.stamp, tables) = (stamp, schema)
        for selection in groups.keys {
            unindex(selection)
            prepare(selection)
        }
    }

    /// Reads the queries of a group and puts it where objects find it.
    private mutating func prepare(_ selection: Selection) {
        guard let tables, let definition = groups[selection]?.definition,
            let view = try? View(definition, schema: tables, version: selection.version, isRead: true)
        else {
            unclear.insert(selection)
            return
        }
        groups[selection]?.view = view
        for subscribed in view.subscribed {
            let table = subscribed.table.id
            guard let anchor = subscribed.anchor else {
                byTable[table, default: []].insert(selection)
                continue
            }
            // A view that can hold nothing is found by no object.
            guard !anchor.values.isEmpty else { continue }
            let field = Field(table: table, column: anchor.column)
            if byValue[field] == nil { fields[table, default: []].append(field) }
            for value in anchor.values { byValue[field, default: [:]][value, default: []].insert(selection) }
        }
    }

    private mutating func unindex(_ selection: Selection) {
        unclear.remove(selection)
        guard let view = groups[selection]?.view else { return }
        groups[selection]?.view = nil
        for subscribed in view.subscribed {
            let table = subscribed.table.id
            guard let anchor = subscribed.anchor else {
                byTable[table]?.remove(selection)
                if byTable[table]?.isEmpty == true { byTable[table] = nil }
                continue
            }
            let field = Field(table: table, column: anchor.column)
            for value in anchor.values {
                byValue[field]?[value]?.remove(selection)
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

    /// - Parameter schema: the number of the schema by which the images are, and the schema if the commit has changed it.
    package mutating func take(_ stretch: FannedStretch, schema: (stamp: UInt64, changed: Schema?)) -> Outcome {
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
        for (selection, slots) in candidates {
            guard let group = groups[selection], let view = group.view else { continue }
            let held = slots.filter { slot in
                stretch.states(of: slot).contains { view.contains($0, slot.table, slot.key) }
            }
            guard !held.isEmpty else { continue }
            tell(group.sessions.filter { !authors.contains($0) && !lost.contains($0) }, held, stretch, &outcome)
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
    private func candidates(_ stretch: FannedStretch) -> [Selection: Set<ObjectSlot>] {
        var found: [Selection: Set<ObjectSlot>] = [:]
        for slot in stretch.touches.keys {
            for group in byTable[slot.table] ?? [] { found[group, default: []].insert(slot) }
            for field in fields[slot.table] ?? [] {
                guard let column = field.column else {
                    for group in byValue[field]?[Value(slot.key)] ?? [] { found[group, default: []].insert(slot) }
                    continue
                }
                let ifMissing = tables?.table(slot.table)?.columns.first { $0.id == column }?.defaultValue ?? .null
                for object in stretch.states(of: slot) {
                    for group in byValue[field]?[object[column] ?? ifMissing] ?? [] {
                        found[group, default: []].insert(slot)
                    }
                }
            }
        }
        return found
    }
}
