/// Reads one changeset, in streaming or normalized form.
package struct ChangesetReader: Sendable {
    package private(set) var input: VarintReader
    package private(set) var strings = InternTable()
    private var instructions: [Instruction] = []
    private let limits: ChangesetLimits

    package init(_ bytes: [UInt8], limits: ChangesetLimits = .default) throws(ChangesetError) {
        guard bytes.count <= limits.maxBytes else {
            throw ChangesetError(
                .limitExceeded, "changeset of \(bytes.count) bytes, limit \(limits.maxBytes)", offset: 0)
        }
        input = VarintReader(bytes)
        self.limits = limits
    }

    package mutating func read() throws(ChangesetError) -> Changeset {
        while !input.isAtEnd {
            try readStep()
        }
        return Changeset(strings: strings, instructions: instructions.withoutSpareRoom())
    }

    static let internCode: UInt8 = 0x3F

    private mutating func readStep() throws(ChangesetError) {
        let code = try input.readUInt64()
        if code == UInt64(Self.internCode) {
            try readInternedString()
            return
        }
        guard instructions.count < limits.maxInstructions else {
            throw ChangesetError(
                .limitExceeded, "more than \(limits.maxInstructions) instructions", offset: input.position)
        }
        instructions.append(try readInstruction(code))
    }

    private mutating func readInternedString() throws(ChangesetError) {
        let index = try input.readUInt32()
        guard index == strings.count else {
            throw input.malformed("Unexpected intern index: expected \(strings.count), came \(index)")
        }
        guard strings.intern(try input.readString()).index == index else {
            throw input.malformed("Unexpected intern string: number \(index) repeats an earlier string")
        }
    }

    private mutating func readInstruction(_ code: UInt64) throws(ChangesetError) -> Instruction {
        switch code {
        case 0: return .addTable(try readAddTable())
        case 1: return .eraseTable(table: try readInterned())
        case 2: return .createObject(table: try readInterned(), object: try readKey())
        case 3: return .eraseObject(table: try readInterned(), object: try readKey())
        case 4: return .update(try readUpdate())
        case 5: return .addInteger(try readFieldPath(), delta: try input.readInt64())
        case 6: return .addColumn(try readAddColumn())
        case 7: return .eraseColumn(table: try readInterned(), field: try readInterned())
        case 8:
            let path = try readFieldPath(endingInIndexFor: "ArrayInsert")
            return .arrayInsert(path, value: try readPayload(), priorSize: try input.readUInt32())
        case 9:
            let path = try readFieldPath(endingInIndexFor: "ArrayMove")
            return .arrayMove(path, to: try input.readUInt32(), priorSize: try input.readUInt32())
        case 10:
            let path = try readFieldPath(endingInIndexFor: "ArrayErase")
            return .arrayErase(path, priorSize: try input.readUInt32())
        case 11: return .clear(try readFieldPath(), collection: try readCollectionType())
        case 12: return .setInsert(try readFieldPath(), value: try readPayload())
        case 13: return .setErase(try readFieldPath(), value: try readPayload())
        default: throw input.malformed("Unknown instruction type \(code)")
        }
    }

    private mutating func readAddTable() throws(ChangesetError) -> Instruction.AddTable {
        let table = try readInterned()
        let number = try input.readUInt8()
        guard let type = TableType(rawValue: number) else {
            throw input.malformed("AddTable: unknown table type \(number)")
        }
        guard type != .embedded else { return .init(table: table, kind: .embedded) }
        let keyField = try readInterned()
        let keyType = try input.readPayloadType()
        switch keyType {
        case .int, .string, .objectID, .uuid, .globalKey: break
        default: throw input.malformed("Invalid primary key type in AddTable: \(keyType)")
        }
        let kind = Instruction.AddTable.Kind.topLevel(
            keyField: keyField, keyType: keyType, keyNullable: try input.readBool(), asymmetric: type == .asymmetric)
        return .init(table: table, kind: kind)
    }

    private mutating func readAddColumn() throws(ChangesetError) -> Instruction.AddColumn {
        let table = try readInterned()
        let field = try readInterned()
        let type = try input.readPayloadType()
        guard type.rawValue >= 0 else { throw input.malformed("Unsupported data type of a column: \(type)") }
        let nullable = try input.readBool()
        let collection = try readCollectionType()
        let target = type == .link ? try readInterned() : nil
        let keyType = collection == .dictionary ? try input.readPayloadType() : nil
        return .init(
            table: table, field: field, type: type, nullable: nullable, collection: collection, linkTarget: target,
            keyType: keyType)
    }

    private mutating func readUpdate() throws(ChangesetError) -> Instruction.Update {
        let target = try readFieldPath()
        let value = try readPayload()
        if case .index = target.path.last {
            return .init(target: target, value: value, qualifier: .priorSize(try input.readUInt32()))
        }
        return .init(target: target, value: value, qualifier: .isDefault(try input.readBool()))
    }
}

extension [Instruction] {
    /// The same in a buffer of just that size: a history keeps very many changesets, and growing one leaves up to as much
    /// room as is used.
    fileprivate func withoutSpareRoom() -> [Instruction] {
        guard capacity > count + count / 8 else { return self }
        var exact: [Instruction] = []
        exact.reserveCapacity(count)
        exact += self
        return exact
    }
}

extension ChangesetReader {
    package mutating func readInterned() throws(ChangesetError) -> InternedString {
        let index = try input.readUInt32()
        guard index < strings.count else {
            throw input.malformed("Invalid interned string: number \(index), \(strings.count) are known")
        }
        return InternedString(index)
    }

    package mutating func readKey() throws(ChangesetError) -> PrimaryKey {
        let type = try input.readInt64()
        if type == PayloadType.string.rawValue { return .string(try readInterned()) }
        // Without a string, the key is the same inside and outside a changeset.
        return strings.intern(try input.readDetachedKey(of: type))
    }

    package mutating func readPayload() throws(ChangesetError) -> Payload {
        let type = try input.readPayloadType()
        guard type == .link else { return try input.readPayload(of: type) }
        return .link(table: try readInterned(), key: try readKey())
    }

    private mutating func readCollectionType() throws(ChangesetError) -> CollectionType {
        let number = try input.readUInt8()
        guard let type = CollectionType(rawValue: number) else {
            throw input.malformed("Unsupported collection type \(number)")
        }
        return type
    }

    private mutating func readFieldPath() throws(ChangesetError) -> FieldPath {
        let table = try readInterned()
        let object = try readKey()
        let field = try readInterned()
        return FieldPath(table: table, object: object, field: field, path: try readPath())
    }

    private mutating func readFieldPath(endingInIndexFor name: String) throws(ChangesetError) -> FieldPath {
        let path = try readFieldPath()
        guard case .index = path.path.last else { throw input.malformed("\(name) without an index") }
        return path
    }

    private mutating func readPath() throws(ChangesetError) -> PathElements {
        let count = try input.readUInt32()
        guard count > 0 else { return [] }
        guard count <= input.remaining else { throw input.malformed("truncated input: path of \(count) elements") }
        guard count <= limits.maxPathElements else {
            throw ChangesetError(
                .limitExceeded, "path of \(count) elements, limit \(limits.maxPathElements)", offset: input.position)
        }
        switch count {
        case 1: return PathElements(try readPathElement())
        case 2:
            let first = try readPathElement()
            return PathElements(first, try readPathElement())
        default:
            var path: [PathElement] = []
            path.reserveCapacity(Int(count))
            for _ in 0..<count { path.append(try readPathElement()) }
            return PathElements(path)
        }
    }

    private mutating func readPathElement() throws(ChangesetError) -> PathElement {
        let number = try input.readInt64()
        if number == -1 { return .key(try readInterned()) }
        guard let index = UInt32(exactly: number) else {
            throw input.malformed("path element \(number): expected an index, or -1 before a string")
        }
        return .index(index)
    }
}
