package import Changesets

/// A field of an object, and the way from there inwards: what a path instruction addresses, by name.
package struct FieldAddress: Hashable, Sendable {
    package var object: ObjectAddress
    package var field: ByteString
    package var path: [PathStep]

    package init(_ object: ObjectAddress, _ field: ByteString, _ path: [PathStep] = []) {
        self.object = object
        self.field = field
        self.path = path
    }

    package func appending(_ step: PathStep) -> FieldAddress {
        var result = self
        result.path.append(step)
        return result
    }
}

extension FieldPath {
    /// Interns the names in their order within an instruction (docs/changesets.md, "Two forms").
    package init(_ address: FieldAddress, _ strings: inout InternTable) {
        self.init(
            table: strings.intern(address.object.className), object: strings.intern(address.object.key),
            field: strings.intern(address.field))
        for step in address.path {
            switch step {
            case .index(let index): path.append(.index(UInt32(clamping: index)))
            case .key(let key): path.append(.key(strings.intern(key)))
            }
        }
    }
}

extension Payload {
    /// The payload of a value; for collections and embedded objects the marker that creates an empty one.
    package init(_ value: Value, _ strings: inout InternTable) {
        if case .link(let target) = value {
            self = .link(table: strings.intern(target.className), key: strings.intern(target.key))
        } else {
            self = Payload(unlinked: value)
        }
    }

    /// The payload of a value that names no object; null for a link.
    package init(unlinked value: Value) {
        self =
            switch value {
            case .null, .link: .null
            case .int(let value): .int(value)
            case .bool(let value): .bool(value)
            case .string(let value): .string(value)
            case .binary(let value): .binary(value)
            case .timestamp(let value): .timestamp(value)
            case .float(let bits): .float(bits: bits)
            case .double(let bits): .double(bits: bits)
            case .decimal(let value): .decimal(value)
            case .objectID(let value): .objectID(value)
            case .uuid(let value): .uuid(value)
            case .list: .list
            case .dictionary: .dictionary
            case .set: .set
            case .embedded: .objectValue
            }
    }
}

extension ColumnSchema {
    /// The instruction that adds this column; strings in the recorder's order, without its stray "".
    func addition(to table: ByteString, _ strings: inout InternTable) -> Instruction {
        let table = strings.intern(table)
        let field = strings.intern(name)
        let target = element.type == .link ? strings.intern(element.target ?? "") : nil
        return .addColumn(
            .init(
                table: table, field: field, type: element.type, nullable: element.nullable, collection: collection,
                linkTarget: target, keyType: collection == .dictionary ? keyType ?? .string : nil))
    }
}
