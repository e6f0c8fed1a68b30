package import Changesets
import Query
package import RealmState
package import Rules

/// A role on the objects of one class, as stores keep them: a reference to what is there once, and a meter.
package struct TableRole: Sendable {
    private final class Parts: Sendable {
        let role: ClosedRole
        let columns: [ColumnID]
        /// The class as rules see it; its columns may have other names than the realm's.
        let table: TableSchema
        /// The class as the realm has it, whose names changesets use.
        let stored: TableSchema
        let hiddenColumns: Set<ColumnID>
        let readsAny: Bool
        let writesAny: Bool
        let origin: ClassOrigin

        init(_ role: ClosedRole, table stored: TableSchema, ruled: TableSchema?, origin: ClassOrigin) {
            let table = ruled ?? stored
            self.role = role
            self.origin = origin
            self.table = table
            self.stored = stored
            columns = role.properties.compactMap { table.column(ByteString($0))?.id }.sorted()
            let unreadable = table.columns.filter { !role.mayRead($0.name.string) }
            hiddenColumns = Set(unreadable.map(\.id))
            // An object of which nothing but the key may be read is not seen; one that has nothing else is.
            readsAny = table.columns.isEmpty ? role.mayRead("_id") : unreadable.count < table.columns.count
            // Nor is one made or erased by who may write nothing of it.
            writesAny =
                table.columns.isEmpty
                ? role.mayWrite("_id") : table.columns.contains { role.mayWrite($0.name.string) }
        }

        var explanation: String { "class \"\(stored.name.string)\": the conditions of role \"\(role.name)\"" }

        func holds(_ question: Question, _ object: StoredObject, _ key: ObjectKey, _ meter: EvaluationMeter?) -> Bool {
            let allowed = meter?.rest ?? .max
            var steps = RuleSteps(allowed)
            let values = values(of: object, key)
            let result =
                switch question {
                case .isVisible: role.isVisible(values, &steps)
                case .mayWrite: role.writeFilter.holds(values, &steps)
                case .insert: role.insert.holds(values, &steps)
                case .delete: role.delete.holds(values, &steps)
                }
            if let meter { meter.take(allowed - steps.left) }
            return result
        }

        private func values(of object: StoredObject, _ key: ObjectKey) -> (String) -> RuleValue? {
            { [self] name in
                let name = ByteString(name)
                if let column = table.column(name) { return RuleValue(object[column.id] ?? column.defaultValue) }
                return table.key?.name == name ? RuleValue(key) : nil
            }
        }
    }

    /// What a role is asked about an object.
    private enum Question: ByteString {
        // No query begins like that.
        case isVisible = "\0role: read"
        case mayWrite = "\0role: write"
        case insert = "\0role: insert"
        case delete = "\0role: delete"
    }

    private let parts: Parts
    /// Counts what deciding takes; nil: that is not bounded.
    private var meter: EvaluationMeter?

    /// - Parameter ruled: the class as rules see it, if that is otherwise than the realm has it.
    init(_ role: ClosedRole, table stored: TableSchema, ruled: TableSchema? = nil, origin: ClassOrigin) {
        parts = Parts(role, table: stored, ruled: ruled, origin: origin)
    }

    package var role: ClosedRole { parts.role }
    /// The properties that the role's conditions look at, in ascending order.
    package var columns: [ColumnID] { parts.columns }
    /// The properties that are never sent.
    package var hiddenColumns: Set<ColumnID> { parts.hiddenColumns }

    /// The same role, with a meter for all that it is asked.
    func metered(by meter: EvaluationMeter?) -> TableRole {
        var role = self
        role.meter = meter
        return role
    }

    /// Whether a property may be read of the objects that are seen.
    package func reads(_ column: ColumnID) -> Bool { !parts.hiddenColumns.contains(column) }

    package func isVisible(_ object: StoredObject, _ key: ObjectKey) -> Bool {
        parts.readsAny && holds(.isVisible, object, key)
    }

    /// The same within a trial of the object.
    func isVisible(_ object: StoredObject, _ key: ObjectKey, _ meter: EvaluationMeter?) -> Bool {
        parts.readsAny && parts.holds(.isVisible, object, key, meter)
    }

    /// Whether the write filter lets the user at an object.
    package func mayWrite(_ object: StoredObject, _ key: ObjectKey) -> Bool { holds(.mayWrite, object, key) }

    /// Nothing is allowed that cannot be decided: whoever has a meter looks whether it was used up, or has to wait.
    private func holds(_ question: Question, _ object: StoredObject, _ key: ObjectKey) -> Bool {
        guard let meter else { return parts.holds(question, object, key, nil) }
        let holds = meter.trial(
            { parts.holds(question, object, key, meter) }, explain: { explanation },
            elsewhere: { [parts] in
                LongTrial(
                    LongTrial.Subject(
                        className: parts.stored.name, query: question.rawValue, roles: parts.origin.roles,
                        version: parts.origin.version, schema: parts.origin.schema,
                        viewHash: parts.origin.viewHash ^ question.hashValue, key: key, object: object),
                    bytes: object.weight, { parts.holds(question, object, key, $0) },
                    explain: { _ in parts.explanation })
            })
        return holds ?? false
    }

    /// What takes too much where nothing but the role is looked at.
    var explanation: String { parts.explanation }

    /// The properties that must have one of some values for an object to be visible, with these values.
    var visibleValues: [(column: ColumnSchema, values: [RuleValue])] {
        parts.columns.compactMap { id in
            guard let column = parts.table.columns.first(where: { $0.id == id }), column.collection == .single,
                let values = parts.role.visibleValues(of: column.name.string)
            else { return nil }
            return (column, values)
        }
    }

    // MARK: Writes (docs/rules.md, "Roles")

    /// Whether the user may set some properties of objects that the write filter lets the user at. The key is not among them.
    ///
    /// - Parameter fields: all that a changeset sets of an object; none: it only makes or erases it.
    package func mayWrite(_ fields: Set<ByteString>) -> Bool {
        fields.isEmpty ? parts.writesAny : fields.allSatisfy { parts.role.mayWrite(ruledName($0)) }
    }

    /// Whether the user, who may write what the changeset sets, may do one step of it.
    ///
    /// - Parameters:
    ///   - last: the object as it was when it was last there, if that is known.
    ///   - memo: what the write filter said of the object before.
    package func allows(
        _ step: ObjectStep, _ key: ObjectKey, last: StoredObject? = nil, memo: inout FilterMemo
    ) -> Bool {
        switch step {
        case .make(let new, _): mayWrite(new, key, &memo) && holds(.insert, new, key)
        case .change(let old, let new): mayWrite(old, key, &memo) && mayWrite(new, key, &memo)
        case .erase(let old): mayErase(old, key, &memo)
        case .eraseNothing: last.map { mayErase($0, key, &memo) } ?? true
        }
    }

    package func allows(_ step: ObjectStep, _ key: ObjectKey, last: StoredObject? = nil) -> Bool {
        var memo = FilterMemo()
        return allows(step, key, last: last, memo: &memo)
    }

    private func mayErase(_ object: StoredObject, _ key: ObjectKey, _ memo: inout FilterMemo) -> Bool {
        mayWrite(object, key, &memo) && holds(.delete, object, key)
    }

    /// The write filter's answer for an object, as long as what it looks at is the same: many changes of one object mostly leave that alone.
    package struct FilterMemo: Sendable {
        private var seen: [Value?]?
        private var holds = false
        /// How often the filter was asked.
        package private(set) var asked = 0

        package init() {}

        fileprivate mutating func answer(_ seen: [Value?], _ ask: () -> Bool) -> Bool {
            if self.seen == seen { return holds }
            asked += 1
            holds = ask()
            self.seen = seen
            return holds
        }
    }

    private func mayWrite(_ object: StoredObject, _ key: ObjectKey, _ memo: inout FilterMemo) -> Bool {
        memo.answer(parts.columns.map { object[$0] }) { mayWrite(object, key) }
    }

    /// What rules call a property that changesets name.
    private func ruledName(_ field: ByteString) -> String {
        let ruled = parts.stored.column(field).flatMap { column in parts.table.columns.first { $0.id == column.id } }
        return (ruled?.name ?? field).string
    }
}

extension RuleValue {
    /// A property's value as rules compare it.
    init(_ value: Value) {
        switch value {
        case .int(let value): self = .number(RuleNumber(value))
        case .bool(let value): self = .bool(value)
        case .string(let value): self = .string(value.string)
        case .binary(let value): self = .binary(value)
        case .timestamp(let value):
            let (milliseconds, overflow) = value.seconds.multipliedReportingOverflow(by: 1_000)
            self = overflow ? .null : .date(milliseconds &+ Int64(value.nanoseconds / 1_000_000))
        case .float(let bits):
            self = RuleNumber(decimal: Float(bitPattern: bits).description).map { .number($0) } ?? .null
        case .double(let bits): self = RuleNumber(Double(bitPattern: bits)).map { .number($0) } ?? .null
        case .decimal(let value): self = RuleNumber(decimal: DecimalNumber(value).text).map { .number($0) } ?? .null
        case .objectID(let value): self = .objectID(Self.bytes(value.high, 8) + Self.bytes(UInt64(value.low), 4))
        case .uuid(let value): self = .uuid(Self.bytes(value.high, 8) + Self.bytes(value.low, 8))
        case .list(let items), .set(let items): self = .array(items.map { RuleValue($0) })
        case .null, .link, .dictionary, .embedded: self = .null
        }
    }

    init(_ key: ObjectKey) {
        switch key {
        case .null, .globalKey: self = .null
        case .int(let value): self = .number(RuleNumber(value))
        case .string(let value): self = .string(value.string)
        case .objectID(let value): self = RuleValue(Value.objectID(value))
        case .uuid(let value): self = RuleValue(Value.uuid(value))
        }
    }

    /// The lowest bytes of a number, the highest first.
    private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}
