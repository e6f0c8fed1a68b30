package import Changesets
package import RealmState
import SyncModel

extension SchemaMapping {
    /// Why what a client has written cannot be brought into its realm.
    package enum Refusal: Error, Equatable {
        /// The client adds to its schema what its version does not have.
        case schema(String)
        /// The changeset is none that a client of the version can make.
        case malformed(String)
    }

    /// A changeset of the realm's history, or of its state, as the version's clients get it. No string of what they do not get comes along.
    package func outgoing(_ changeset: Changeset) throws(ChangesetError) -> ChangesetSelection {
        var selection = ChangesetSelection()
        var strings = changeset.strings
        for instruction in changeset.instructions {
            guard let instruction = outgoing(instruction, &strings) else { continue }
            try selection.append(instruction, from: strings)
            guard case .createObject(let table, let object) = instruction, let className = strings[table] else {
                continue
            }
            // At the client nothing is set that could be null; in the realm it has the type's default.
            for (name, conversion) in shownRelaxed(className) {
                let path = FieldPath(table: table, object: object, field: strings.intern(name))
                try selection.append(
                    .update(.init(target: path, value: conversion.payload, qualifier: .isDefault(true))), from: strings)
            }
        }
        return selection
    }

    /// A client's changeset as the realm has it.
    package func incoming(_ changeset: Changeset) throws(Refusal) -> Changeset {
        var incoming = IncomingMapping(mapping: self, changeset)
        for instruction in changeset.instructions { try incoming.add(instruction) }
        return incoming.result
    }

    /// The instructions for what a client's own copy has otherwise than the realm after its changeset: properties that the client has set to null,
    /// or not set at all in an object that it made, and that have their type's default in the realm.
    ///
    /// - Parameters:
    ///   - changeset: as it has become part of the realm.
    ///   - now: an object as it is with it.
    package func told(
        of changeset: Changeset, now: (ObjectAddress) -> StoredObject?
    ) throws(ChangesetError) -> Changeset {
        var told = ChangesetSelection()
        guard hasConversions else { return told.changeset }
        var addresses = TargetAddresses(strings: changeset.strings)
        var strings = changeset.strings
        var seen: Set<FieldPath> = []
        for instruction in changeset.instructions {
            let target = instruction.target
            guard let key = target.object else { continue }
            let address = try addresses.next(target.table, key)
            let field = target.field.flatMap { strings[$0] }
            var isCreation = false
            if case .createObject = instruction { isCreation = true }
            for (name, conversion) in relaxed(address.className) where isCreation || field == name {
                let path = FieldPath(table: target.table, object: key, field: strings.intern(name))
                guard seen.insert(path).inserted, let object = now(address),
                    object[conversion.column.id] ?? conversion.value == conversion.value
                else { continue }
                try told.append(
                    .update(.init(target: path, value: conversion.payload, qualifier: .isDefault(false))), from: strings
                )
            }
        }
        return told.changeset
    }

    // MARK: Outgoing

    private func outgoing(_ instruction: Instruction, _ strings: inout InternTable) -> Instruction? {
        guard let className = strings[instruction.target.table], !hides(className) else { return nil }
        switch instruction {
        case .addTable, .eraseTable, .createObject, .eraseObject: return instruction
        case .addColumn(var addColumn):
            if let target = addColumn.linkTarget.flatMap({ strings[$0] }), hides(target) { return nil }
            guard let name = strings[addColumn.field] else { return nil }
            if let step = outgoing(className, name) {
                guard let shown = step.name else { return nil }
                addColumn.field = strings.intern(shown)
                addColumn.nullable = step.nullable ?? addColumn.nullable
            }
            return .addColumn(addColumn)
        case .eraseColumn(let table, let field):
            guard let name = strings[field] else { return nil }
            guard let step = outgoing(className, name) else { return instruction }
            return step.name.map { .eraseColumn(table: table, field: strings.intern($0)) }
        default: break
        }
        guard let path = instruction.fieldPath else { return instruction }
        var walk = PathWalk(path, strings)
        while let (owner, name) = walk.next {
            let step = outgoing(owner, name)
            if let step {
                guard let shown = step.name else { return nil }
                walk.rename(shown, &strings)
            }
            walk.descend(by: stored.table(owner)?.column(name), in: stored)
            if walk.next == nil, walk.isProperty, case .update(var update) = instruction, update.value == .null,
                let conversion = step?.conversion, conversion.isTightened
            {
                update.target = walk.path
                update.value = conversion.payload
                return .update(update)
            }
        }
        return withoutHiddenLink(instruction.with(walk.path), strings)
    }

    /// An instruction without a link to an object of a class that the version does not have.
    private func withoutHiddenLink(_ instruction: Instruction, _ strings: InternTable) -> Instruction? {
        guard case .link(let table, _) = instruction.payload, let target = strings[table], hides(target) else {
            return instruction
        }
        switch instruction {
        case .update(var update):
            update.value = .null
            return .update(update)
        case .arrayInsert(let path, _, let priorSize): return .arrayInsert(path, value: .null, priorSize: priorSize)
        default: return nil
        }
    }
}

/// A client's changeset on its way into the realm.
private struct IncomingMapping {
    typealias Refusal = SchemaMapping.Refusal
    private struct Property: Hashable {
        var className: ByteString
        var name: ByteString
    }

    let mapping: SchemaMapping
    var result: Changeset
    /// Properties that the changeset adds to the realm's schema, by the realm's names.
    private var added: [Property: ColumnSchema] = [:]
    /// The added properties that the client may set to null, and the realm may not.
    private var relaxed: [Property: SchemaMapping.Conversion] = [:]

    init(mapping: SchemaMapping, _ changeset: Changeset) {
        self.mapping = mapping
        result = Changeset(strings: changeset.strings)
    }

    private var stored: Schema { mapping.stored }
    private var versionName: String { "schema version \(mapping.version?.number ?? 0)" }

    mutating func add(_ instruction: Instruction) throws(Refusal) {
        guard let className = result.strings[instruction.target.table] else {
            throw .malformed("an instruction names a string that the changeset does not have")
        }
        if mapping.hides(className) {
            let reason = "class \(className.string) is not in \(versionName)"
            if case .addTable = instruction { throw .schema(reason) }
            throw .malformed(reason)
        }
        switch instruction {
        case .addTable, .eraseTable, .createObject, .eraseObject: result.instructions.append(instruction)
        case .addColumn(let addColumn): try add(addColumn, className)
        case .eraseColumn(let table, let field):
            let name = try self.name(field)
            guard let step = mapping.incoming(className, name) else { return result.instructions.append(instruction) }
            guard let column = step.name else { throw .malformed(reason(className, name)) }
            result.instructions.append(.eraseColumn(table: table, field: result.strings.intern(column)))
        default: try addWrite(instruction)
        }
    }

    private mutating func add(_ addColumn: Instruction.AddColumn, _ className: ByteString) throws(Refusal) {
        let name = try self.name(addColumn.field)
        if let target = addColumn.linkTarget.flatMap({ result.strings[$0] }), mapping.hides(target) {
            throw .schema(
                "class \(target.string), to which \(className.string).\(name.string) links, is not in \(versionName)")
        }
        guard let step = mapping.incoming(className, name) else {
            result.instructions.append(.addColumn(addColumn))
            note(addColumn, className, name)
            return
        }
        guard let column = step.name else { throw .schema(reason(className, name)) }
        if let known = stored.table(className)?.column(column) {
            guard known.element.type == addColumn.type, known.collection == addColumn.collection,
                known.element.target == addColumn.linkTarget.flatMap({ result.strings[$0] })
            else {
                throw .schema("\(className.string).\(name.string) has another type in \(versionName)")
            }
        }
        var renamed = addColumn
        renamed.field = result.strings.intern(column)
        renamed.nullable = step.nullable ?? addColumn.nullable
        result.instructions.append(.addColumn(renamed))
        note(renamed, className, column)
        if addColumn.nullable, !renamed.nullable, let known = added[Property(className: className, name: column)] {
            relaxed[Property(className: className, name: column)] = .init(
                column: known, isTightened: false, value: known.element.defaultValue)
        }
    }

    private mutating func note(_ addColumn: Instruction.AddColumn, _ className: ByteString, _ column: ByteString) {
        guard stored.table(className)?.column(column) == nil else { return }
        added[Property(className: className, name: column)] = ColumnSchema(
            id: ColumnID(rawValue: .max), name: column,
            element: ElementType(
                type: addColumn.type, nullable: addColumn.nullable,
                target: addColumn.linkTarget.flatMap { result.strings[$0] }),
            collection: addColumn.collection, keyType: addColumn.keyType)
    }

    private mutating func addWrite(_ instruction: Instruction) throws(Refusal) {
        guard let path = instruction.fieldPath else { return result.instructions.append(instruction) }
        var walk = PathWalk(path, result.strings)
        var instruction = instruction
        while let (owner, name) = walk.next {
            var column = name
            if let step = mapping.incoming(owner, name) {
                guard let other = step.name else { throw .malformed(reason(owner, name)) }
                column = other
                walk.rename(other, &result.strings)
            }
            let property = Property(className: owner, name: column)
            walk.descend(by: stored.table(owner)?.column(column) ?? added[property], in: stored)
            guard walk.next == nil, walk.isProperty, case .update(var update) = instruction, update.value == .null,
                let conversion = mapping.relaxed(owner).first(where: { $0.name == column })?.conversion
                    ?? relaxed[property]
            else { continue }
            update.value = conversion.payload
            instruction = .update(update)
        }
        result.instructions.append(instruction.with(walk.path))
    }

    private func name(_ string: InternedString) throws(Refusal) -> ByteString {
        guard let name = result.strings[string] else {
            throw .malformed("an instruction names a string that the changeset does not have")
        }
        return name
    }

    private func reason(_ className: ByteString, _ name: ByteString) -> String {
        "property \(name.string) of class \(className.string) is not in \(versionName)"
    }
}

/// The properties that a path goes through, the outermost first: that of the object, and those of embedded objects in it.
private struct PathWalk {
    private(set) var path: FieldPath
    /// The class and property that come next; nil at the end.
    private(set) var next: (className: ByteString, name: ByteString)?
    /// Whether the path ends at a property itself, and not in a collection.
    private(set) var isProperty = false
    /// The position in the path of the name that comes next; nil for the object's field.
    private var position: Int?
    private let strings: InternTable

    init(_ path: FieldPath, _ strings: InternTable) {
        self.path = path
        self.strings = strings
        if let className = strings[path.table], let name = strings[path.field] { next = (className, name) }
    }

    /// Calls the property that comes next otherwise.
    mutating func rename(_ name: ByteString, _ strings: inout InternTable) {
        let interned = strings.intern(name)
        if let position { path.path[position] = .key(interned) } else { path.field = interned }
    }

    /// Goes on to the property after the next.
    ///
    /// - Parameter column: the next property; nil if it is not known: then nothing is known of what follows.
    mutating func descend(by column: ColumnSchema?, in schema: Schema) {
        next = nil
        isProperty = false
        guard let column else { return }
        var rest = position.map { $0 + 1 } ?? 0
        isProperty = column.collection == .single && rest == path.path.count
        if column.collection != .single { rest += 1 }
        guard rest < path.path.count, let target = schema.embeddedTarget(of: column.element)?.name,
            case .key(let key) = path.path[rest], let name = strings[key]
        else { return }
        position = rest
        next = (target, name)
    }
}

extension SchemaMapping.Conversion {
    /// The default as instructions have it.
    fileprivate var payload: Payload {
        var strings = InternTable()
        return Payload(value, &strings)
    }
}

extension Instruction {
    /// The instruction with another path; itself if it has none.
    fileprivate func with(_ path: FieldPath) -> Instruction {
        switch self {
        case .update(var update):
            update.target = path
            return .update(update)
        case .addInteger(_, let delta): return .addInteger(path, delta: delta)
        case .arrayInsert(_, let value, let priorSize): return .arrayInsert(path, value: value, priorSize: priorSize)
        case .arrayMove(_, let to, let priorSize): return .arrayMove(path, to: to, priorSize: priorSize)
        case .arrayErase(_, let priorSize): return .arrayErase(path, priorSize: priorSize)
        case .clear(_, let collection): return .clear(path, collection: collection)
        case .setInsert(_, let value): return .setInsert(path, value: value)
        case .setErase(_, let value): return .setErase(path, value: value)
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn: return self
        }
    }
}
